// The scalar twin: each vector instruction that it knows gives the bits of the vector instruction, and
// what it does not know is refused. That the whole core gives the same bits is in properties-same.test.js.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import fc from 'fast-check';
import { immediates, leb, Reader, VECTOR } from '../../wasm/instructions.js';
import { SCALAR_MARK, scalarTwin } from '../../wasm/scalar.js';

const VECTORS = 3; // in memory, from address 0; the result behind them
const [LOAD, STORE, SHUFFLE, ANY_TRUE] = [0, 11, 13, 83];
const SHIFTS = [171, 172, 173];
const SPLATS = [17, 19]; // of integers, of floats
const EXTRACTS = [27, 31];
const REPLACES = [28, 32];
const FLOATS = [224, 225, 227, 228, 229, 230, 231, 250, 251];
const COMPARISONS = Array.from({ length: 16 }, (_, at) => 55 + at);
const OTHERS = [78, 80, 81, 174, 177, 181, 201, 202, 213, 222, 223, 234, 235, ...COMPARISONS];
const ONE_OPERAND = [201, 202, 224, 225, 227, 250, 251];

const section = (id, bytes) => [id, ...leb(bytes.length), ...bytes];
const vector = (opcode, ...immediates) => [0xfd, ...leb(opcode), ...immediates];
const load = (at) => [0x41, 0, ...vector(LOAD, 0, 16 * at)];
const plainLoad = (opcode, at) => [0x41, 0, opcode, 0, 16 * at];

/** A module with one function of nothing, `run`, and a memory. */
const moduleOf = (code) =>
  Uint8Array.from([
    ...[0, 97, 115, 109, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 0, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, 3, ...Buffer.from('run'), 0, 0, 6, ...Buffer.from('memory'), 2, 0]),
    ...section(10, [1, ...leb(code.length + 2), 0, ...code, 0x0b]),
  ]);

/** What lies behind the operands once it ran. */
function run(wasm, words) {
  const { run, memory } = new WebAssembly.Instance(new WebAssembly.Module(wasm)).exports;
  new Uint32Array(memory.buffer).set(words);
  run();
  return new Uint32Array(memory.buffer, 16 * VECTORS, 4).slice();
}

/** One number for all that are none: their signs and payloads are not promised. */
const withoutPayload = (words) => {
  const floats = new Float32Array(words.buffer);
  return words.map((word, at) => (Number.isNaN(floats[at]) ? 0x7fc00000 : word));
};

const special = fc.constantFrom(0, 1, 0x80000000, 0x7fffffff, 0xffffffff, 0x7f800000, 0x7fc00000);
const float = fc.float().map((value) => new Uint32Array(Float32Array.of(value).buffer)[0]);
const word = fc.oneof(special, float, fc.integer({ min: 0, max: 0xffffffff }));
const operands = fc.array(word, { minLength: 4 * VECTORS, maxLength: 4 * VECTORS });

/** Code that leaves a vector, or what `store` stores, leaves the same in both. */
function same(name, code, store = vector(STORE, 0, 16 * VECTORS), settle = (words) => words) {
  const wasm = moduleOf([0x41, 0, ...code, ...store]);
  const scalar = scalarTwin(wasm);
  fc.assert(
    fc.property(operands, (words) => {
      assert.deepEqual(settle(run(scalar, words)), settle(run(wasm, words)), name);
    }),
  );
}

const storeInteger = [0x36, 0, 16 * VECTORS];
const storeFloat = [0x38, 0, 16 * VECTORS];

test('each operation on lanes gives the same bits', () => {
  for (const opcode of [...OTHERS, ...FLOATS]) {
    const given = ONE_OPERAND.includes(opcode) ? load(0) : [...load(0), ...load(1)];
    const settle = FLOATS.includes(opcode) ? withoutPayload : undefined;
    same(`instruction ${opcode}`, [...given, ...vector(opcode)], undefined, settle);
  }
  same('bitselect', [...load(0), ...load(1), ...load(2), ...vector(82)]);
});

test('so do shifts, whatever the count', () => {
  for (const opcode of SHIFTS) {
    same(`instruction ${opcode}`, [...load(0), ...plainLoad(0x28, 1), ...vector(opcode)]);
  }
});

test('so do lanes taken out, put in, spread and shuffled', () => {
  for (const [at, opcode] of [0x28, 0x2a].entries()) {
    same('splat', [...plainLoad(opcode, 0), ...vector(SPLATS[at])]);
    for (const lane of [0, 1, 2, 3]) {
      same('extract', [...load(0), ...vector(EXTRACTS[at], lane)], at ? storeFloat : storeInteger);
      same('replace', [...load(0), ...plainLoad(opcode, 1), ...vector(REPLACES[at], lane)]);
    }
  }
  for (const lane of [0, 1, 2, 3]) {
    same('load a lane', [0x41, 0, ...load(0), ...vector(86, 0, 20, lane)]);
    same('store a lane', load(0), vector(90, 0, 16 * VECTORS + 4, lane));
  }
  same('any', [...load(0), ...vector(ANY_TRUE)], storeInteger);
  for (const opcode of [9, 92, 93]) same(`load ${opcode}`, [0x41, 0, ...vector(opcode, 0, 4)]);
  same('a constant', vector(12, ...Array.from({ length: 16 }, (_, at) => 15 * at)));
  const pattern = fc.array(fc.nat(31), { minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(pattern, (bytes) => {
      same(`${bytes}`, [...load(0), ...load(1), ...vector(SHUFFLE, ...bytes)]);
    }),
    { numRuns: 20 },
  );
});

test('a vector that a branch takes along is dropped whole where it stays', () => {
  const branch = [...load(0), ...plainLoad(0x28, 1), 0x0d, 0, 0x1a];
  same('br_if', [0x02, 0x7b, ...branch, ...load(2), 0x0b]);
});

/** How many vector instructions a module has. @param {Uint8Array} wasm */
function vectorsIn(wasm) {
  let vectors = 0;
  const reader = new Reader(wasm);
  reader.take(8);
  while (reader.more) {
    const isCode = reader.byte() === 10;
    const section = reader.part();
    for (let left = isCode ? section.number() : 0; left > 0; left--) {
      const body = section.part();
      body.list(() => [body.number(), body.byte()]);
      while (body.more) {
        const opcode = body.opcode();
        vectors += Number(opcode >= VECTOR);
        for (const kind of immediates(opcode)) body.skip(kind);
      }
    }
  }
  return vectors;
}

test('it has no vector instruction, and a mark by which it is known', () => {
  const wasm = readFileSync(new URL('../../dist/attention.wasm', import.meta.url));
  for (const [bytes, isScalar] of [
    [wasm, false],
    [scalarTwin(wasm), true],
  ]) {
    const marks = WebAssembly.Module.customSections(new WebAssembly.Module(bytes), SCALAR_MARK);
    assert.equal(marks.length === 1, isScalar);
    assert.equal(vectorsIn(bytes) === 0, isScalar);
  }
});

test('an instruction without a scalar form is refused by its number', () => {
  const code = [0x41, 0, ...load(0), ...load(1), ...vector(110), ...vector(STORE, 0, 48)]; // i8x16.add
  assert.throws(() => scalarTwin(moduleOf(code)), /vector instruction 110/);
});
