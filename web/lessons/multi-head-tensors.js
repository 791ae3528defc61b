/**
 * The multi-head lesson: the tensors of its model, their axes, and how a map of each is coloured.
 */

/** @typedef {import('./state.js').State} State */

const cross = (/** @type {State} */ state) => state.cross;
const placed = (/** @type {State} */ state) => state.position !== 'none';
const placedCross = (/** @type {State} */ state) => cross(state) && placed(state);
const silenced = (/** @type {State} */ state) => state.silenced.length > 0;
const additive = (/** @type {State} */ state) => state.score === 'additive';
const general = (/** @type {State} */ state) => state.score === 'general';
const featured = (/** @type {State} */ state) => additive(state) || general(state);

/**
 * @typedef {object} TensorWords
 * @property {string[]} axes letters without the batch
 * @property {'signed' | 'weights' | 'mask'} kind how a map of it is coloured
 * @property {boolean} [fixed] true: its numbers are not edited, since a control sets them or they
 *   only sum up others
 * @property {(state: State) => boolean} [when] it exists only then
 */

/**
 * @param {string[]} axes
 * @param {(state: State) => boolean} [when]
 * @returns {TensorWords}
 */
const signed = (axes, when) => ({ axes, kind: 'signed', when });

/**
 * The tensors of the model in the order of computation.
 * @type {Record<string, TensorWords>}
 */
export const tensors = {
  'source.embedding': signed(['Tk', 'H']),
  'source.position': signed(['Tk', 'H'], placed),
  'source.positioned': signed(['Tk', 'H'], placed),
  'source.input': signed(['Tk', 'H']),
  'target.embedding': signed(['Tq', 'H'], cross),
  'target.position': signed(['Tq', 'H'], placedCross),
  'target.positioned': signed(['Tq', 'H'], placedCross),
  'target.input': signed(['Tq', 'H'], cross),
  'attention.query.weight': signed(['H', 'H']),
  'attention.key.weight': signed(['H', 'H']),
  'attention.value.weight': signed(['H', 'H']),
  'attention.output.weight': signed(['H', 'H']),
  'attention.score.weight': signed(['D', 'D'], general),
  'attention.score.query.weight': signed(['A', 'D'], additive),
  'attention.score.key.weight': signed(['A', 'D'], additive),
  'attention.score.value.weight': signed(['1', 'A'], additive),
  'attention.query_projection': signed(['Tq', 'H']),
  'attention.query': signed(['h', 'Tq', 'D']),
  'attention.key_projection': signed(['Tk', 'H']),
  'attention.key': signed(['h', 'Tk', 'D']),
  'attention.value_projection': signed(['Tk', 'H']),
  'attention.value': signed(['h', 'Tk', 'D']),
  'attention.query_features': signed(['h', 'Tq', 'A'], additive),
  'attention.key_features': signed(['h', 'Tk', 'A'], featured),
  'attention.raw_scores': signed(['h', 'Tq', 'Tk']),
  'attention.scores': signed(['h', 'Tq', 'Tk']),
  'attention.mask': { axes: ['h', 'Tq', 'Tk'], kind: 'mask', fixed: true },
  'attention.masked_scores': signed(['h', 'Tq', 'Tk']),
  'attention.row_flags': { axes: ['h', 'Tq'], kind: 'mask', fixed: true },
  'attention.weights': { axes: ['h', 'Tq', 'Tk'], kind: 'weights' },
  'attention.heads': signed(['h', 'Tq', 'D']),
  'attention.masked_heads': signed(['h', 'Tq', 'D'], silenced),
  'attention.merged_heads': signed(['Tq', 'H']),
  'attention.output': signed(['Tq', 'H']),
  'attention.mean_weights': { axes: ['Tq', 'Tk'], kind: 'weights', fixed: true },
  'attention.entropy': { axes: ['h', 'Tq'], kind: 'signed', fixed: true },
};

/** @param {string} tensor @param {State} state */
export function exists(tensor, state) {
  return tensors[tensor].when?.(state) ?? true;
}

/** Whether rows are queries and columns keys, so that masks and a row's read-out apply. */
export function isAttentionMap(/** @type {string} */ tensor) {
  const { axes } = tensors[tensor];
  return axes.at(-2) === 'Tq' && axes.at(-1) === 'Tk';
}

/**
 * Embeddings, positions and parameters have no batch axis, what follows from them has.
 * @param {string} tensor
 */
export function hasBatch(tensor) {
  return tensor.endsWith('.input') || /^attention\.\w+$/.test(tensor);
}
