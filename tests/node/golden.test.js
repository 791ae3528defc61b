// The engine against the vectors of tests/golden, which say where each came from: every case on both
// binaries, and a second time without asking for the weights, which takes the fused path.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { assertClose, assertFlags, onEachEngine, tensor } from './helpers.js';

const folder = new URL('../golden/', import.meta.url);
const families = readdirSync(folder).filter((name) => name.endsWith('.json'));

/** Tensors become { shape, data: Float32Array }, "NaN" and "-Infinity" numbers. */
function revive(_key, value) {
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
  return Array.isArray(value?.shape) && 'data' in value ? tensor(value.shape, value.data) : value;
}

function check(actual, expected) {
  if ('data' in expected) return assertClose(actual, expected);
  for (const [name, value] of Object.entries(expected)) {
    if (Array.isArray(value)) assertFlags(actual[name], value, name);
    else assertClose(actual[name], value, name);
  }
}

test('every family of golden vectors is there', () => {
  assert.equal(families.length, 8, families.join());
});

for (const family of families) {
  const cases = JSON.parse(readFileSync(new URL(family, folder), 'utf8'), revive);
  for (const { name, call, args, options, expect, fused } of cases) {
    onEachEngine(`${family}: ${name}`, (engine) => {
      check(engine[call](...args, options), expect);
      if (!fused) return;
      const result = engine[call](...args, { ...options, needWeights: false });
      assert.equal(result.weights, undefined, 'weights were not asked for');
      check(result, { output: expect.output });
    });
  }
}
