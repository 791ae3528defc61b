/**
 * One question to the core and its whole answer, as plain data that can be posted between threads. A
 * request says everything it depends on, so that it can be sent again to a new worker.
 */

import { AttentionError } from './error.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */
/**
 * @typedef {object} Request
 * @property {'attentionLayer'} model
 * @property {object} config
 * @property {object} input  of the model's forward()
 * @property {import('./engine.js').Override[]} [overrides]
 * @property {string[]} [read]  names of tensors; those the tape lacks are left out
 */
/**
 * @typedef {object} Answer
 * @property {import('./engine.js').TensorInfo[]} tensors
 * @property {Record<string, Tensor>} values
 */

const MODELS = ['attentionLayer'];

/**
 * Remembers the model of the last request: the next one usually has the same configuration.
 * @param {import('./functions.js').Engine} engine
 * @returns {(request: Request) => Answer}
 */
export function createEvaluator(engine) {
  let key = '';
  /** @type {import('./models.js').AttentionLayer | undefined} */
  let model;

  return ({ model: kind, config, input, overrides = [], read = [] }) => {
    if (!MODELS.includes(kind)) {
      throw new AttentionError('NOT_FOUND', `there is no model "${kind}"; there is ${MODELS}`);
    }
    const wanted = JSON.stringify([kind, config]);
    if (!model || key !== wanted) {
      model = engine[kind](config);
      key = wanted;
    }
    model.forward(/** @type {any} */ ({ ...input, overrides }));
    const tensors = model.tensors();
    const present = new Set(tensors.map(({ name }) => name));
    const values = read
      .filter((name) => present.has(name))
      .map((name) => [name, model?.tensor(name)]);
    return { tensors, values: Object.fromEntries(values) };
  };
}
