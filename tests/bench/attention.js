// Attention under Node, T = 512, one head of width 64, as ratios within one run:
//
//   fused, causal ÷ fused, unmasked     what skipping emptied tiles saves; 1.6 × faster is asked
//   fused ÷ through weights             what never storing Tq × Tk saves

import { createEngine } from '../../wasm/attention.js';

const LENGTH = 512;
const WIDTH = 64;
const ROUNDS = 60;

const engine = await createEngine();
const [q, k, v] = ['q', 'k', 'v'].map((name) => engine.random({ shape: [LENGTH, WIDTH], name }));

const contests = {
  'through weights': {},
  'through weights, causal': { causal: true },
  fused: { needWeights: false },
  'fused, causal': { needWeights: false, causal: true },
};

/** @type {Record<string, number[]>} milliseconds */
const times = Object.fromEntries(Object.keys(contests).map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, options] of Object.entries(contests)) {
    const start = performance.now();
    engine.attention(q, k, v, options);
    times[name].push(performance.now() - start);
  }
}

const median = (/** @type {number[]} */ list) =>
  list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
const medians = Object.fromEntries(
  Object.entries(times).map(([name, list]) => [name, median(list)]),
);

console.log(`attention, T = ${LENGTH}, D = ${WIDTH}, median of ${ROUNDS}`);
for (const [name, time] of Object.entries(medians)) {
  console.log(`  ${name.padEnd(24)} ${time.toFixed(2).padStart(6)} ms`);
}
const ratio = (/** @type {string} */ slow, /** @type {string} */ fast) =>
  (medians[slow] / medians[fast]).toFixed(2);
console.log(
  `  causal is ${ratio('fused', 'fused, causal')} × faster than unmasked, fused (1.6 asked)`,
);
console.log(`  fused is ${ratio('through weights', 'fused')} × faster than through weights`);
