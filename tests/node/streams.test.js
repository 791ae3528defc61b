// The core taken apart into streams comes together again as it was.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { scalarTwin } from '../../wasm/scalar.js';
import { join, split } from '../../wasm/streams.js';

const wasm = new Uint8Array(readFileSync(new URL('../../dist/attention.wasm', import.meta.url)));

for (const [name, module] of Object.entries({
  'the core': wasm,
  'its scalar twin': scalarTwin(wasm),
})) {
  test(`${name} comes together again as it was`, () => {
    const streams = split(module);
    const lengths = streams.map(({ length }) => length);
    assert.deepEqual(join(Buffer.concat(streams), lengths), module);
  });
}

test('each byte of the code lies in one stream, but for what can be counted again', () => {
  const streams = split(wasm);
  const bytes = streams.reduce((sum, { length }) => sum + length, 0);
  assert.ok(bytes < wasm.length && bytes > 0.97 * wasm.length, `${bytes} of ${wasm.length}`);
  assert.ok(streams.filter(({ length }) => length > 0).length > 12);
});
