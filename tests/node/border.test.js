// The two binaries by themselves, without the library: what they export, need and say about themselves.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const MIB = 2 ** 20;
const EXPORTS = `memory
  reset keep status message option take first input input_ready override overrides_check
  describe self_test training_test load_test load_test_answer
  attention_options encoder_layer_options attention_layer_options transformer_config
  training_options schedule learning_rate cross_entropy counted_tokens
  squared_error new_training restart_training train_step
  decode_options decode seq2seq_translate consistency
  transformer transformer_forward seq2seq_config seq2seq seq2seq_forward
  kernel_regression_config kernel_regression kernel_regression_forward
  masked_softmax attention multi_head_attention encoder_layer feed_forward attention_layer
  layer_norm activate sinusoidal rotary alibi_slopes random_tensor mean_heads`.split(/\s+/);

const header = readFileSync(new URL('../../src/attn.h', import.meta.url), 'utf8');
/** @param {string} name */
const answer = (name) => Number(new RegExp(`${name} (0x[0-9a-f]+)u`).exec(header)?.[1]);

const modules = ['attention.wasm', 'attention-scalar.wasm'].map((name) => ({
  name,
  module: new WebAssembly.Module(readFileSync(new URL(`../../dist/${name}`, import.meta.url))),
}));

/** What the core says about itself, parsed. */
function describe(core) {
  core.reset();
  const start = core.describe(); // may grow the memory, so the view comes after it
  const bytes = new Uint8Array(core.memory.buffer);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(start, bytes.indexOf(0, start))));
}

for (const { name, module } of modules) {
  const start = () => new WebAssembly.Instance(module, {}).exports;

  test(`${name} needs nothing and exports what is listed`, () => {
    assert.deepEqual(WebAssembly.Module.imports(module), []);
    const exported = WebAssembly.Module.exports(module);
    assert.deepEqual(exported.map((entry) => entry.name).sort(), [...EXPORTS].sort());
    for (const entry of exported) {
      assert.equal(entry.kind, entry.name === 'memory' ? 'memory' : 'function', entry.name);
    }
  });

  test(`${name} gives the known answers`, () => {
    const core = start();
    core.reset();
    assert.equal(core.self_test() >>> 0, answer('ATTN_SELF_TEST_ANSWER'));
    assert.equal(core.training_test() >>> 0, answer('ATTN_TRAINING_TEST_ANSWER'));
    assert.equal(core.load_test() >>> 0, core.load_test_answer() >>> 0);
  });

  test(`${name} starts with at most 4 MiB and never passes 512`, () => {
    const { memory } = start();
    assert.ok(memory.buffer.byteLength <= 4 * MIB, `${memory.buffer.byteLength / MIB} MiB`);
    const rest = (512 * MIB - memory.buffer.byteLength) / 65536;
    assert.throws(() => memory.grow(rest + 1), RangeError);
    memory.grow(rest);
    assert.equal(memory.buffer.byteLength, 512 * MIB);
  });

  test(`${name} describes its codes, choices and structs`, () => {
    const { status, choices, structs } = describe(start());
    assert.equal(status.OK, 0);
    for (const code of ['BAD_SHAPE', 'BAD_VALUE', 'TOO_BIG', 'NO_MEMORY', 'NOT_FOUND']) {
      assert.ok(status[code] < 0, code);
    }
    assert.ok(Object.values(choices).every((names) => new Set(names).size === names.length));
    assert.ok('tensor' in structs && 'attention_options' in structs);
    for (const [struct, { size, fields }] of Object.entries(structs)) {
      const offsets = Object.values(fields).map(([offset]) => offset);
      assert.equal(new Set(offsets).size, offsets.length, `fields of ${struct} lie apart`);
      assert.ok(Math.max(...offsets) < size, `fields of ${struct} lie inside`);
    }
  });
}

test('the two binaries describe themselves alike', () => {
  const [simd, scalar] = modules.map(({ module }) =>
    describe(new WebAssembly.Instance(module, {}).exports),
  );
  assert.deepEqual(simd, scalar);
});
