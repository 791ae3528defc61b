/**
 * Training over epochs, one step at a time: whoever pulls the steps can stop, wait, show and go on.
 *
 * The order of an epoch comes from the core and depends on the seed and the epoch alone, and so does the
 * dropout of a step. A run that goes on from a saved epoch is therefore the run that was never stopped.
 */

/** @typedef {import('./functions.js').Engine} Engine */
/** @typedef {import('./trainable.js').TrainOptions} TrainOptions */
/** @typedef {import('./trainable.js').TrainResult & { tokens: number }} TrainResult */
/** @typedef {import('./transformer.js').Transformer | import('./seq2seq.js').Seq2seq} SequenceModel */
/** @typedef {import('./sequences.js').SequenceInput & { labels: number[][] }} Batch */
/**
 * @typedef {object} Batches
 * @property {number} size  pairs
 * @property {(order: ArrayLike<number>, batchSize: number) => Iterable<Batch>} batches  of one epoch
 */
/**
 * @typedef {object} TrainingPlan
 * @property {number} epochs  in all
 * @property {number} [from]  epochs that the model has behind it, default 0
 * @property {number} [batchSize]  default 64
 * @property {number} [seed]  of the orders, default 0
 * @property {TrainOptions} step  what each step is told
 */
/** @typedef {TrainResult & { epoch: number, last: boolean }} Step  last: of its epoch */

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
 * @param {Engine} engine  of the orders
 * @param {SequenceModel} model
 * @param {Batches} pairs
 * @param {TrainingPlan} plan
 * @returns {Generator<Step, void, undefined>}
 */
export function* train(engine, model, pairs, plan) {
  const { epochs, from = 0, batchSize = 64, seed = 0, step } = plan;
  const steps = Math.ceil(pairs.size / batchSize);
  for (let epoch = from; epoch < epochs; epoch += 1) {
    let done = 0;
    for (const batch of pairs.batches(shuffle(engine, pairs.size, seed, epoch), batchSize)) {
      done += 1;
      yield { ...model.trainStep(batch, step), epoch, last: done === steps };
    }
  }
}
