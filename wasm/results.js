/**
 * Shapes of what callers give and get: axes they left out are added on the way in and taken off on the
 * way out.
 */

import { AttentionError } from './error.js';
import { reshape } from './tensor.js';

/** @typedef {import('./engine.js').Core} Core */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/**
 * @typedef {object} WeightsResult
 * @property {Tensor} weights  shaped as the scores
 * @property {Uint8Array} emptyRows  1 for each row with no key allowed
 * @property {Uint8Array} notFiniteRows  1 for each row with NaN or +Infinity among its scores
 */
/**
 * @typedef {object} AttentionResult
 * @property {Tensor} output
 * @property {Tensor} [weights]  absent with needWeights false, as the next two
 * @property {Tensor} [scores]  after scale and temperature, before bias and masks
 * @property {Tensor} [droppedWeights]  with dropout: what was multiplied with the values
 * @property {Uint8Array} emptyRows
 * @property {Uint8Array} notFiniteRows
 */
/**
 * @typedef {AttentionResult & { heads: Tensor, meanWeights?: Tensor }} MultiHeadResult  output
 *   [B, Tq, out], weights and scores [B, h, Tq, Tk], meanWeights [B, Tq, Tk], heads [B, h, Tq, D]
 */

/**
 * @template {AttentionResult} T
 * @typedef {T & Required<Pick<T, 'weights' | 'scores' | Extract<keyof T, 'meanWeights'>>>} Whole  where weights
 *   are wanted
 */
/**
 * @template T
 * @typedef {T & { needWeights?: true }} WantsWeights  options
 */

/**
 * [T, D], [B, T, D] and [T] with the axes they lack.
 * @param {Tensor} tensor
 * @param {string} name
 * @returns {number[]}
 */
export function fourAxes({ shape }, name) {
  if (shape.length === 4) return shape;
  if (shape.length === 3) return [shape[0], 1, shape[1], shape[2]];
  if (shape.length === 2) return [1, 1, ...shape];
  if (shape.length === 1) return [1, 1, 1, shape[0]];
  throw new AttentionError('BAD_SHAPE', `${name} has ${shape.length} axes; it must have 1 to 4`);
}

/**
 * Whether [B, T, D] (true) or [T, D] (false) was given; all alike.
 * @param {Tensor[]} tensors
 * @param {string[]} names
 */
export function sequences(tensors, names) {
  const rank = tensors[0].shape.length;
  if ((rank === 2 || rank === 3) && tensors.every(({ shape }) => shape.length === rank)) {
    return rank === 3;
  }
  const shapes = tensors.map(({ shape }) => `[${shape}]`).join(', ');
  throw new AttentionError(
    'BAD_SHAPE',
    `${names.join(', ')} ${names.length > 1 ? 'have the shapes' : 'has the shape'} ${shapes}; ` +
      `${names.length > 1 ? 'all must be' : 'it must be'} [T, D] or [B, T, D]`,
  );
}

/**
 * A result of rank 4 with the axes of a query of this rank.
 * @param {Tensor} tensor
 * @param {number} rank
 */
export function withAxes(tensor, rank) {
  const [batch, , ...rest] = tensor.shape;
  if (rank === 4) return tensor;
  return reshape(tensor, rank === 3 ? [batch, ...rest] : rest);
}

/**
 * @param {Core} core
 * @param {string} [prefix]
 * @returns {{ emptyRows: Uint8Array, notFiniteRows: Uint8Array }}
 */
export function rowFlags(core, prefix = '') {
  const { data } = core.tensor(`${prefix}row_flags`);
  const { empty, notFinite } = core.layout.rowFlags;
  return {
    emptyRows: Uint8Array.from(data, (flags) => (flags & empty ? 1 : 0)),
    notFiniteRows: Uint8Array.from(data, (flags) => (flags & notFinite ? 1 : 0)),
  };
}

/**
 * @param {Core} core
 * @param {import('./options.js').AttentionOptions} options
 * @param {number} rank
 * @param {string} [prefix]
 * @returns {Omit<AttentionResult, 'output'>}
 */
export function attentionResult(core, options, rank, prefix = '') {
  /** @type {{ weights?: Tensor, scores?: Tensor, droppedWeights?: Tensor }} */
  const tensors = {};
  if (options.needWeights !== false) {
    tensors.weights = withAxes(core.tensor(`${prefix}weights`), rank);
    tensors.scores = withAxes(core.tensor(`${prefix}scores`), rank);
    if (core.find(`${prefix}dropped_weights`)) {
      tensors.droppedWeights = withAxes(core.tensor(`${prefix}dropped_weights`), rank);
    }
  }
  return { ...tensors, ...rowFlags(core, prefix) };
}

/**
 * @param {Core} core
 * @param {Tensor} output  [B, Tq, out]
 * @param {import('./options.js').AttentionOptions} options
 * @param {boolean} batched
 * @param {string} [prefix]
 */
export function multiHeadResult(core, output, options, batched, prefix = '') {
  /** @param {Tensor} tensor */
  const strip = (tensor) => (batched ? tensor : reshape(tensor, tensor.shape.slice(1)));
  const { emptyRows, notFiniteRows, ...attention } = attentionResult(core, options, 4, prefix);
  /** @type {Record<string, Tensor>} */
  const tensors = { ...attention, heads: core.tensor(`${prefix}heads`), output };
  if (options.needWeights !== false) {
    tensors.meanWeights = core.tensor(`${prefix}mean_weights`);
  }
  const stripped = Object.entries(tensors).map(([name, tensor]) => [name, strip(tensor)]);
  return /** @type {MultiHeadResult} */ ({
    ...Object.fromEntries(stripped),
    emptyRows,
    notFiniteRows,
  });
}
