/**
 * Training over epochs, one step at a time: whoever pulls the steps can stop, wait, show and go on.
 *
 * The order of an epoch comes from the core and depends on the seed and the epoch alone, and so does the
 * dropout of a step. A run that goes on from a saved epoch is therefore the run that was never stopped.
 */

/** @typedef {import('./functions.js').Engine} Engine */
/** @typedef {import('./trainable.js').TrainOptions} TrainOptions */
/** @typedef {import('./trainable.js').TrainResult & { tokens?: number }} TrainResult */
/**
 * @typedef {object} Batches
 * @property {number} size  pairs
 * @property {(order: number[], batchSize: number) => Iterable<any>} batches  of one epoch
 */
/**
 * @typedef {object} TrainingPlan
 * @property {number} epochs  in all, with those the model has behind it
 * @property {number} [batchSize]  default 64
 * @property {number} [seed]  of the orders, default 0
 * @property {TrainOptions} step  what each step is told
 */
/**
 * What a model gives of a step, and where in the run it was.
 * @template R
 * @typedef {R & { epoch: number, last: boolean }} Step  last: of its epoch
 */

/**
 * A permutation of 0 … size − 1.
 * @param {Engine} engine
 * @param {number} size
 * @param {number} seed
 * @param {number} epoch
 * @returns {number[]}
 */
export function shuffle(engine, size, seed, epoch) {
  const { data } = engine.random({
    shape: [size],
    seed,
    name: `order.${epoch}`,
    distribution: 'uniform',
  });
  return Array.from(data.keys()).sort((a, b) => data[a] - data[b] || a - b);
}

/**
 * A batch of all pairs, from which an epoch takes its batches row by row.
 * @param {Record<string, any[]>} all  each list has one entry a pair
 * @returns {Batches}
 */
export function batchesOf(all) {
  const lists = Object.entries(all);
  return {
    size: lists[0][1].length,
    *batches(order, batchSize) {
      for (let from = 0; from < order.length; from += batchSize) {
        const rows = order.slice(from, from + batchSize);
        yield Object.fromEntries(lists.map(([name, list]) => [name, rows.map((row) => list[row])]));
      }
    },
  };
}

/**
 * Goes on from the steps that the model has behind it, also in the middle of an epoch.
 * @template {TrainResult} R
 * @param {Engine} engine  of the orders
 * @param {{ steps: number, trainStep(batch: any, options: TrainOptions): R }} model
 * @param {Batches} pairs
 * @param {TrainingPlan} plan
 * @returns {Generator<Step<R>, void, undefined>}
 */
export function* train(engine, model, pairs, plan) {
  const { epochs, batchSize = 64, seed = 0, step } = plan;
  const perEpoch = Math.ceil(pairs.size / batchSize);
  for (let epoch = Math.floor(model.steps / perEpoch); epoch < epochs; epoch += 1) {
    const behind = model.steps - epoch * perEpoch;
    let done = 0;
    for (const batch of pairs.batches(shuffle(engine, pairs.size, seed, epoch), batchSize)) {
      done += 1;
      if (done <= behind) continue;
      yield { ...model.trainStep(batch, step), epoch, last: done === perEpoch };
    }
  }
}
