// Training as the page does it, the default Transformer on the English–French corpus: what the numbers shown
// on the way cost, and whether memory stays as it is.

import { createEngine } from '../../wasm/attention.js';
import { batchesOf, train } from '../../wasm/epochs.js';
import { createEvaluator } from '../../wasm/evaluate.js';
import { lessons } from '../../web/lessons/index.js';

const STEPS = 60;
const ROUNDS = 5;
const engine = await createEngine();
const { defaults, reduce, request } = lessons.transformer;

/** @param {number} steps @param {object} [more] */
const asked = (steps, more) =>
  request(reduce(defaults, { type: 'load', values: { step: steps, dropout: 0.1, ...more } }));

function plain() {
  const { config, training } = asked(STEPS);
  const { pairs = {}, plan } = /** @type {NonNullable<typeof training>} */ (training);
  const model = engine.transformer(config);
  const run = train(engine, model, batchesOf(pairs), { ...plan, epochs: STEPS });
  const start = performance.now();
  while (model.steps < STEPS) run.next();
  return performance.now() - start;
}

let words = 0;
async function shown() {
  const evaluate = createEvaluator(engine);
  await evaluate({ ...asked(0), unseen: undefined });
  const start = performance.now();
  await evaluate({ ...asked(STEPS), unseen: undefined }, { progress: () => (words += 1) });
  return performance.now() - start;
}

const median = (/** @type {number[]} */ list) => list.sort((a, b) => a - b)[list.length >> 1];
const ratios = [];
const seconds = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const alone = plain();
  const live = await shown();
  ratios.push(live / alone);
  seconds.push(live / 1000);
}
const perSecond = words / ROUNDS / median(seconds);
console.log('training as the page does it');
console.log(
  `  with all weights told ${perSecond.toFixed(0)} times a second      ${median(ratios).toFixed(3)} of the time without (1.1 allowed)`,
);

const model = engine.transformer({
  sourceVocab: 9,
  targetVocab: 9,
  hiddens: 8,
  heads: 2,
  layers: 1,
});
const batch = { source: [[4, 5, 3]], target: [[2, 6]], labels: [[6, 3]] };
for (let step = 0; step < 10; step += 1) model.trainStep(batch);
const before = model.memory;
for (let step = 0; step < 10_000; step += 1) model.trainStep(batch);
console.log(`  memory after 10,000 steps more      ${model.memory} bytes, before ${before}`);
