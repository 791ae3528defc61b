// What the property tests draw: problems of random sizes and the masks that lie on them.
//
// The seed is fixed, so that a run can be repeated; FAST_CHECK_SEED=n tries others.

import fc from 'fast-check';
import { filled, mapCells, onEachEngine, randomTensor, seeded } from './helpers.js';

fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 20240917), numRuns: 60 });

export const size = (max) => fc.integer({ min: 1, max });

/** Mostly short, at times longer than the fused path's tiles of 64. */
const length = (max, min = 1) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min, max }) },
    { weight: 1, arbitrary: fc.integer({ min: 60, max: 150 }) },
  );
export const anySeed = fc.integer({ min: 0, max: 2 ** 32 - 1 });

/** Query, key and value of [B, h, T, D]. */
export const problems = fc
  .record({
    batch: size(3),
    heads: size(3),
    queries: length(20),
    keys: length(40),
    width: size(20),
    values: size(9),
    seed: anySeed,
  })
  .map(({ batch, heads, queries, keys, width, values, seed }) => {
    const random = seeded(seed);
    return {
      random,
      q: randomTensor(random, batch, heads, queries, width),
      k: randomTensor(random, batch, heads, keys, width),
      v: randomTensor(random, batch, heads, keys, values),
    };
  });

/** The same with as many queries as keys, and at least two. */
export const squares = fc
  .record({
    heads: size(2),
    length: length(40, 2),
    width: size(12),
    seed: anySeed,
  })
  .map(({ heads, length, width, seed }) => {
    const random = seeded(seed);
    const [q, k, v] = [1, 2, 3].map(() => randomTensor(random, 1, heads, length, width));
    return { random, length, q, k, v };
  });

/** Which masks are on; the numbers come from the problem's own random generator. */
export const maskKinds = fc.record({
  validLens: fc.constantFrom('none', 'batch', 'query'),
  causal: fc.constantFrom(false, true, 'top-left'),
  window: fc.option(
    fc.oneof(
      size(5),
      fc
        .tuple(size(6), size(3), fc.nat(3))
        .map(([left, right, global]) => ({ left, right, global })),
    ),
    { nil: undefined },
  ),
  cells: fc.boolean(),
  bias: fc.boolean(),
});

export function masksOf({ validLens, causal, window, cells, bias }, { random, q, k }) {
  const [batch, heads, queries] = q.shape;
  const keys = k.shape[2];
  const length = () => Math.floor(random() * (keys + 1));
  const options = { causal, window };
  if (validLens === 'batch') options.validLens = Array.from({ length: batch }, length);
  if (validLens === 'query') {
    options.validLens = Array.from({ length: batch }, () =>
      Array.from({ length: queries }, length),
    );
  }
  if (cells) {
    options.mask = mapCells(filled([batch, heads, queries, keys], 0), () => Number(random() < 0.7));
  }
  if (bias) {
    options.bias = mapCells(filled([batch, 1, queries, keys], 0), () =>
      random() < 0.1 ? -Infinity : random() * 2 - 1,
    );
  }
  return options;
}

export const bothPaths = [{ needWeights: true }, { needWeights: false }];

/** Checks a property on each binary. */
export function holds(name, ...given) {
  const check = given.pop();
  onEachEngine(name, (engine) => {
    fc.assert(fc.property(...given, (...values) => check(engine, ...values)));
  });
}
