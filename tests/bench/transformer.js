// D2L's translation Transformer: a step of training, forward passes, a cached step of decoding.

import { createEngine } from '../../wasm/attention.js';

const [BATCH, LENGTH] = [64, 10];
const engine = await createEngine();
const model = engine.transformer({
  ...{ sourceVocab: 184, targetVocab: 201, hiddens: 32, heads: 4, layers: 2, feedForward: 64 },
  ...{ attentionBias: false, initialiser: 'xavier' },
  dropout: { embedding: 0.1, attention: 0.1, residual: 0.1 },
});

const ids = (/** @type {number} */ vocabulary, /** @type {number} */ salt) =>
  Array.from({ length: BATCH }, (_, b) =>
    Array.from({ length: LENGTH }, (_, t) => (b * 7 + t * 13 + salt) % vocabulary),
  );
const lens = Array.from({ length: BATCH }, (_, b) => 3 + (b % 7));
const input = { source: ids(184, 0), sourceLens: lens, target: ids(201, 1), targetLens: lens };
const batch = { ...input, labels: ids(201, 14) };
const one = { source: input.source[0], target: input.target[0] };

/** The median and the least of many runs, in ms. */
function time(/** @type {number} */ runs, /** @type {() => void} */ run) {
  const times = Array.from({ length: runs }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  }).sort((a, b) => a - b);
  return { median: times[runs >> 1], least: times[0] };
}

function say(/** @type {string} */ what, /** @type {{ median: number, least: number }} */ found) {
  const ms = (/** @type {number} */ value) => value.toFixed(3).padStart(9);
  console.log(`  ${what.padEnd(58)}${ms(found.median)} ms, at best${ms(found.least)} ms`);
}

console.log("D2L's Transformer, batch 64, 10 + 10 tokens");
const training = { learningRate: 0.005, clip: 1, loss: /** @type {const} */ ('d2l-v1') };
say(
  'a step of training',
  time(80, () => model.trainStep(batch, training)),
);
say(
  'forward',
  time(80, () => model.forward(input)),
);
say(
  'forward, batch 1',
  time(800, () => model.forward(one)),
);
for (const cache of /** @type {const} */ (['none', 'representations', 'keys-values'])) {
  const decode = (/** @type {number} */ maxLength) =>
    time(400, () => model.decode({ source: one.source }, { bos: 2, maxLength, cache }));
  const [short, long] = [decode(1), decode(21)];
  say(`a token more, cache ${cache}`, {
    median: (long.median - short.median) / 20,
    least: (long.least - short.least) / 20,
  });
}
