// What holds for any input between the two binaries, which give the same bits, and between two calls,
// which do not touch each other.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { anySeed, bothPaths, holds, maskKinds, masksOf, problems, size } from './arbitraries.js';
import {
  assertSame,
  assertSameResults,
  engines,
  filled,
  randomLayer,
  randomTensor,
  seeded,
  tensor,
} from './helpers.js';

// ---- the same everywhere -------------------------------------------------------------------------

/** Checks a property of the two binaries together. */
function same(name, ...given) {
  const check = given.pop();
  test(`both binaries give the same bits: ${name}`, () => {
    fc.assert(fc.property(...given, (...values) => check(engines.simd, engines.scalar, ...values)));
  });
}

same('attention', problems, maskKinds, (simd, scalar, problem, kinds) => {
  const { q, k, v } = problem;
  const options = masksOf(kinds, problem);
  for (const path of bothPaths) {
    assertSameResults(
      simd.attention(q, k, v, { ...options, ...path }),
      scalar.attention(q, k, v, { ...options, ...path }),
    );
  }
});

same(
  'scores and normalisers',
  problems,
  fc.constantFrom('scaled-dot', 'dot', 'additive', 'general', 'cosine', 'gaussian'),
  fc.constantFrom('softmax', 'sigmoid', 'relu'),
  fc.constantFrom(0, 0.3),
  (simd, scalar, { random, q, k, v }, score, normalise, dropout) => {
    const width = q.shape[3];
    const params = {
      additive: {
        query: { weight: randomTensor(random, 5, width) },
        key: { weight: randomTensor(random, 5, width) },
        value: { weight: randomTensor(random, 1, 5) },
      },
      general: { weight: randomTensor(random, width, width) },
      gaussian: { width: random() },
    }[score];
    for (const path of bothPaths) {
      const options = { score, params, normalise, dropout, seed: 1, ...path };
      assertSameResults(simd.attention(q, k, v, options), scalar.attention(q, k, v, options));
    }
  },
);

same(
  'blocks and positions',
  size(4),
  size(5),
  size(17),
  anySeed,
  (simd, scalar, heads, half, length, seed) => {
    const random = seeded(seed);
    const hiddens = 2 * half * heads;
    const params = randomLayer(random, hiddens, 7);
    const x = randomTensor(random, 2, length, hiddens);
    const calls = [
      (engine) => engine.rotary(x, { pairing: 'halves', positions: seed % 5000 }),
      (engine) => engine.rotary(x, { pairing: 'interleaved' }),
      (engine) =>
        engine.positionalEncoding({ kind: 'sinusoidal', length, hiddens, offset: seed % 5000 }),
      (engine) => engine.layerNorm(x, params.norm1),
      (engine) => engine.gelu(x, { form: 'erf' }),
      (engine) => engine.gelu(x, { form: 'tanh' }),
      (engine) =>
        engine.random({ shape: [length, hiddens], seed, name: 'x', distribution: 'normal' }),
      (engine) => engine.multiHeadAttention(x, x, x, { heads, params: params.attention }).output,
      (engine) =>
        engine.multiHeadAttention(x, x, x, { heads, params: params.attention, alibi: true })
          .weights,
      (engine) => engine.encoderLayer(x, { heads, params, activation: 'gelu' }).output,
      (engine) =>
        engine.encoderLayer(x, { heads, params, norm: 'pre', activation: 'gelu-tanh' }).output,
    ];
    for (const call of calls) assertSame(call(scalar), call(simd), String(call));
  },
);

// ---- calls do not touch each other ---------------------------------------------------------------

holds('no input is changed', problems, maskKinds, (engine, problem, kinds) => {
  const { q, k, v } = problem;
  const options = masksOf(kinds, problem);
  const copy = structuredClone([q, k, v, options]);
  for (const path of bothPaths) engine.attention(q, k, v, { ...options, ...path });
  assert.deepEqual([q, k, v, options], copy);
});

holds(
  'a result stays as it was, and the same call gives it again',
  problems,
  problems,
  (engine, first, second) => {
    const run = ({ q, k, v }) => engine.attention(q, k, v);
    const result = run(first);
    const copy = structuredClone(result);
    run(second);
    assertSameResults(result, copy);
    result.output.data.fill(7);
    result.weights.data.fill(7);
    result.emptyRows.fill(7);
    assertSameResults(run(first), copy);
  },
);

holds(
  'after an error the next call is as if nothing had been',
  problems,
  fc.nat(5),
  (engine, { q, k, v }, kind) => {
    const before = engine.attention(q, k, v);
    const long = tensor([40000, 1], new Float32Array(40000));
    const bad = [
      () => engine.attention(q, k, v, { temperature: NaN }),
      () => engine.attention(q, k, v, { masc: 1 }),
      () => engine.attention(q, k, filled([1], 1)),
      () => engine.attention(long, long, long),
      () => engine.attention(q, k, v, { overrides: [{ name: 'nothing', at: [], value: 0 }] }),
      () => engine.multiHeadAttention(q, k, v, { heads: 0 }),
    ][kind];
    assert.throws(bad);
    assertSameResults(engine.attention(q, k, v), before);
  },
);
