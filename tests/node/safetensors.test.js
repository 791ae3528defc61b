// The safetensors files that a model writes and reads: the bytes as the format has them, and files that
// lie about themselves.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { decodeSafetensors, encodeSafetensors } from '../../wasm/safetensors.js';
import {
  assertEqual,
  assertFails,
  assertSame,
  engines,
  tensor,
  UNKNOWN,
  VALUE,
} from './helpers.js';

const TENSORS = {
  'a.weight': tensor([2, 3], [1, 2, 3, -4, 0.5, Number.NaN]),
  'a.bias': tensor([2], [7, -Infinity]),
  empty: tensor([0, 4], []),
  one: tensor([], [9]),
};

/** A file with this header and this many bytes of numbers. */
function file(header, bytes = 0, announced = undefined) {
  const text = new TextEncoder().encode(
    typeof header === 'string' ? header : JSON.stringify(header),
  );
  const out = new Uint8Array(8 + text.length + bytes);
  new DataView(out.buffer).setBigUint64(0, BigInt(announced ?? text.length), true);
  out.set(text, 8);
  return out;
}

const entry = (shape, start, end, dtype = 'F32') => ({
  dtype,
  shape,
  data_offsets: [start, end],
});

test('safetensors: what looks like a name twice is read', () => {
  const odd = { 'a"': entry([1], 0, 4), 'a\\"': entry([1], 4, 8), a: entry([1], 8, 12) };
  const metadata = { a: '"a": {', dtype: 'x' };
  const { tensors } = decodeSafetensors(file({ ...odd, __metadata__: metadata }, 12));
  assert.deepEqual(Object.keys(tensors), Object.keys(odd));
});

test('safetensors: metadata may be long', () => {
  for (const sign of ['x', '"']) {
    const notes = sign.repeat(2 ** 24);
    const { metadata } = decodeSafetensors(file({ __metadata__: { notes } }));
    assert.ok(metadata.notes === notes);
  }
});

test('safetensors: what was written is read again', () => {
  const bytes = encodeSafetensors(TENSORS, { from: 'here' });
  const { tensors, metadata } = decodeSafetensors(bytes);
  assert.deepEqual(Object.keys(tensors), Object.keys(TENSORS));
  for (const [name, expected] of Object.entries(TENSORS)) assertSame(tensors[name], expected, name);
  assert.deepEqual(metadata, { from: 'here' });
});

test('safetensors: the bytes stand where the format says', () => {
  const bytes = encodeSafetensors({ x: tensor([1], [1]) });
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  assert.equal(length % 8, 0, 'the numbers are aligned');
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  assert.deepEqual(header, { x: entry([1], 0, 4) });
  assert.deepEqual([...bytes.subarray(8 + length)], [0, 0, 0x80, 0x3f]);
});

test('safetensors: a file may start anywhere in its buffer', () => {
  const bytes = encodeSafetensors(TENSORS);
  const moved = new Uint8Array(bytes.length + 3);
  moved.set(bytes, 3);
  const { tensors } = decodeSafetensors(moved.subarray(3));
  assertSame(tensors['a.weight'], TENSORS['a.weight']);
  assertSame(decodeSafetensors(bytes.buffer).tensors.one, TENSORS.one);
});

test('safetensors: names that objects inherit are names like others', () => {
  const header = '{"__proto__":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}';
  const { tensors } = decodeSafetensors(file(header, 4));
  assert.deepEqual(Object.keys(tensors), ['__proto__']);
});

for (const [what, bytes, ...words] of [
  ['nothing', new Uint8Array(0), 0],
  ['seven bytes', new Uint8Array(7), 7],
  ['a header of 2 GB', file({}, 0, 2 ** 31), 2147483648, 2],
  ['a header of 2^63 bytes', file({}, 0, 2n ** 63n), 'a header of 92233720368547'],
  ['a header that is no JSON', file('{"x":'), 'header'],
  ['a header that is no UTF-8', file('{}', 0).fill(0xff, 8), 'header'],
  ['a header that is a list', file('[]'), '"[]"', '{'],
  ['a header behind a byte order mark', file('\ufeff{}'), 'header'],
  ['a header behind spaces', file('  {}'), '"  {}"', '{'],
  ['an HTML page', new TextEncoder().encode('<!doctype html><title>404</title>'), 'header'],
  ['a tensor that is a number', file({ x: 3 }), '"x"', 3],
  ['half precision', file({ x: entry([2], 0, 4, 'F16') }, 4), 'x', '"F16"', 'F32'],
  ['no dtype', file({ x: { shape: [1], data_offsets: [0, 4] } }, 4), 'x', 'undefined'],
  ['a negative size', file({ x: entry([-1], 0, 4) }, 4), 'x', '[-1]'],
  ['a size that is no number', file({ x: entry(['1'], 0, 4) }, 4), 'x', '["1"]'],
  ['a size beyond counting', file({ x: entry([2 ** 30, 2 ** 30], 0, 4) }, 4), 'x', 4],
  ['offsets that are none', file({ x: entry([1], 0) }, 4), 'x'],
  ['offsets that run back', file({ x: entry([1], 4, 0) }, 4), 'x', -4, 4],
  ['a shape that needs more', file({ x: entry([3], 0, 8) }, 8), 'x', 8, 12],
  ['numbers behind the end', file({ x: entry([2], 0, 8) }, 4), 'x', 8, 4],
  ['an overlap', file({ x: entry([2], 0, 8), y: entry([2], 4, 12) }, 12), 'y', 'overlap', 4, 8],
  ['the same place twice', file({ x: entry([1], 0, 4), y: entry([1], 0, 4) }, 4), 'overlap'],
  ['numbers that no tensor has', file({ x: entry([1], 0, 4) }, 8), 4, 8],
  [
    'a name twice',
    file(`{"x":${JSON.stringify(entry([1], 0, 4))},"x":${JSON.stringify(entry([1], 4, 8))}}`, 8),
    ...['"x" twice'],
  ],
  [
    'a name twice for the same numbers',
    file(
      `{"x":${JSON.stringify(entry([1], 0, 4))},"\\u0078":${JSON.stringify(entry([1], 0, 4))}}`,
      4,
    ),
    ...['"x" twice'],
  ],
  [
    'a dtype twice',
    file('{"x":{"dtype":"F16","dtype" :"F32","shape":[1],"data_offsets":[0,4]}}', 4),
    ...['"dtype" twice'],
  ],
  ['a hole', file({ x: entry([1], 0, 4), y: entry([1], 8, 12) }, 12), 'y', 'hole', 8, 4],
]) {
  test(`safetensors: ${what} is refused and named`, () => {
    assertFails(() => decodeSafetensors(bytes), 'BAD_FILE', ...words);
    const model = engines.simd.transformer({ sourceVocab: 3, targetVocab: 3, hiddens: 4 });
    assertFails(() => model.load(bytes), 'BAD_FILE', ...words);
  });
}

test('safetensors: what a model cannot save is refused and named', () => {
  const model = engines.simd.kernelRegression({ learned: true });
  const saved = model.save({ training: false, metadata: { from: 'here' } });
  assert.deepEqual(decodeSafetensors(saved).metadata, { from: 'here' });
  for (const [options, code, ...words] of [
    [null, VALUE, 'save', 'null'],
    [7, VALUE, 'save', 7],
    [{ metdata: {} }, UNKNOWN, 'metdata', 'metadata'],
    [{ training: 1 }, VALUE, 'training', 1],
    [{ training: 'no' }, VALUE, 'training', 'no'],
    [{ metadata: 'here' }, VALUE, 'metadata', 'here'],
    [{ metadata: null }, VALUE, 'metadata', 'null'],
    [{ metadata: ['here'] }, VALUE, 'metadata', 'here'],
    [{ metadata: new Map() }, VALUE, 'metadata'],
    [{ metadata: { epoch: 3 } }, VALUE, 'metadata.epoch', 3],
  ]) {
    assertFails(() => model.save(options), code, ...words);
  }
});

test('safetensors: a file from PyTorch gives its model', () => {
  const path = new URL('../golden/models/transformer.safetensors', import.meta.url);
  const bytes = readFileSync(path);
  const golden = JSON.parse(
    readFileSync(new URL('../golden/models/transformer.json', import.meta.url), 'utf8'),
  );
  const model = engines.simd.transformer(golden.cases[0].config);
  model.load(bytes, { names: 'torch' });
  const parameters = model.parameters({ names: 'torch' });
  assert.deepEqual(Object.keys(parameters).sort(), Object.keys(golden.parameters).sort());
  for (const [name, { shape, data }] of Object.entries(golden.parameters)) {
    assertEqual(parameters[name], tensor(shape, data), name);
  }
  const { tensors } = decodeSafetensors(model.save({ names: 'torch' }));
  for (const [name, expected] of Object.entries(decodeSafetensors(bytes).tensors)) {
    assertSame(tensors[name], expected, name);
  }
});
