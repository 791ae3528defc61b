/**
 * The multi-head lesson: what comes out, as the elements draw it.
 *
 * A result is what the core computed for one state: { state, tensors, values }. Everything here is
 * read from it and nothing is computed again, except sums and products that are only shown: the
 * terms q_i·k_j of a score, the sum of a row, the mean of entropies.
 */
import { evenEntropy, short } from '../draw/format.js';
import { queries } from './multi-head.js';
import { tensors } from './multi-head-tensors.js';

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('./state.js').Edit} Edit
 * @typedef {{ name: string, shape: number[], axes: string[], op: string, inputs: string[],
 *   sumsToOne: number | null }} TensorInfo
 * @typedef {{ state: State, tensors: TensorInfo[],
 *   values: Record<string, { shape: number[], data: Float32Array }> }} Result
 *
 * @typedef {object} Matrix one map: a view into the numbers of a tensor
 * @property {string} tensor
 * @property {number | null} head null where the tensor has no head axis
 * @property {Float32Array} data rows × columns
 * @property {number} rows
 * @property {number} columns
 * @property {string} rowAxis a letter of the axis
 * @property {string} columnAxis
 */

/**
 * The steps of the pipeline from left to right and the formula of each.
 * @param {State} state
 */
export function steps(state) {
  return [
    { name: 'dot', tensor: 'attention.raw_scores', formula: `score-${state.score}` },
    { name: 'scale', tensor: 'attention.scores', formula: scaleFormula(state) },
    { name: 'mask', tensor: 'attention.masked_scores', formula: `mask-${state.fill}` },
    { name: 'normalise', tensor: 'attention.weights', formula: `normalise-${state.normalise}` },
    { name: 'value', tensor: 'attention.heads', formula: 'heads' },
    { name: 'output', tensor: 'attention.output', formula: 'output' },
  ];
}

/** @param {State} state */
function scaleFormula(state) {
  const root = state.scale === 'auto' && state.score === 'scaled-dot';
  return root ? 'scale-root' : typeof state.scale === 'number' ? 'scale-number' : 'scale-none';
}

/** The formula of tensors that are no step of the pipeline. */
const otherFormulas = {
  'attention.query': 'query',
  'attention.key': 'key',
  'attention.value': 'value',
  'attention.mean_weights': 'mean',
  'attention.entropy': 'entropy',
  'source.input': 'input',
  'target.input': 'input',
  'source.position': 'position',
  'target.position': 'position',
};

/**
 * @param {State} state
 * @param {string} tensor
 * @returns {string | undefined} a name in formulas.js
 */
export function formulaOf(state, tensor) {
  return (
    steps(state).find((step) => step.tensor === tensor)?.formula ??
    otherFormulas[/** @type {keyof typeof otherFormulas} */ (tensor)]
  );
}

/**
 * @param {Result} result
 * @param {string} tensor
 * @param {number} head
 * @returns {Matrix | null} null when the result does not hold the tensor
 */
export function matrixOf(result, tensor, head) {
  const value = Object.hasOwn(result.values, tensor) ? result.values[tensor] : undefined;
  if (!value) return null;
  const { axes } = tensors[tensor];
  const [rowAxis, columnAxis] = axes.slice(-2);
  const [rows, columns] = value.shape.slice(-2);
  const heads = axes.length === 3 ? (value.shape.at(-3) ?? 1) : null;
  const start = heads === null ? 0 : Math.min(head, heads - 1) * rows * columns;
  return {
    tensor,
    head: heads === null ? null : head,
    data: value.data.subarray(start, start + rows * columns),
    rows,
    columns,
    rowAxis,
    columnAxis,
  };
}

/**
 * What stands along an axis: the tokens for Tq and Tk, numbers from 1 for the others.
 * @param {State} state
 * @param {string} axis
 * @param {number} size
 * @returns {string[]}
 */
export function labelsOf(state, axis, size) {
  if (axis === 'Tq') return queries(state);
  if (axis === 'Tk') return state.source;
  return Array.from({ length: size }, (_, index) => String(index + 1));
}

/**
 * Why each cell of a head is masked: bits as in the language files, 0 where it may attend.
 * @param {Result} result
 * @param {number} head
 * @returns {Uint8Array}
 */
export function reasonsOf(result, head) {
  const mask = matrixOf(result, 'attention.mask', head);
  return mask ? Uint8Array.from(mask.data) : new Uint8Array();
}

/**
 * The flags of each row of a head: bit 1 no key allowed, bit 2 NaN or +∞.
 * @param {Result} result
 * @param {number} head
 */
export function rowFlags(result, head) {
  const { shape, data } = result.values['attention.row_flags'];
  const rows = shape.at(-1) ?? 0;
  return data.subarray(head * rows, (head + 1) * rows);
}

/**
 * The reasons all queries share for not seeing a key, as bits; 0 when some query sees it.
 * @param {Uint8Array} reasons rows × columns
 * @param {number} columns
 * @returns {number[]} one for each key
 */
export function hiddenKeys(reasons, columns) {
  const rows = reasons.length / columns;
  return Array.from({ length: columns }, (_, column) => {
    let union = 0;
    for (let row = 0; row < rows; row++) {
      const reason = reasons[row * columns + column];
      if (reason === 0) return 0;
      union |= reason;
    }
    return union;
  });
}

/**
 * @param {Result} result
 * @returns {number[]} for each key token why no query sees it, 0 when one does
 */
export function hiddenTokens(result) {
  return hiddenKeys(reasonsOf(result, 0), result.state.source.length);
}

/**
 * Whether a map of the tensor shows which cells are masked: from the mask on, not before it.
 * @param {string} tensor
 */
export function isMasked(tensor) {
  return ['masked_scores', 'weights', 'mean_weights', 'mask'].some(
    (name) => tensor === `attention.${name}`,
  );
}

/**
 * @param {State} state
 * @param {Matrix} matrix
 * @returns {[row: number, column: number][]} the edited cells of one map
 */
export function editedCells(state, matrix) {
  return state.edits
    .filter(
      (/** @type {Edit} */ edit) =>
        edit.name === matrix.tensor && (matrix.head === null || edit.at[0] === matrix.head),
    )
    .map((/** @type {Edit} */ edit) => edit.at.slice(-2));
}

/**
 * Where a cell of a map lies in its tensor, as an edit names it.
 * @param {Matrix} matrix
 * @param {number} row
 * @param {number} column
 */
export function placeOf(matrix, row, column) {
  return matrix.head === null ? [row, column] : [matrix.head, row, column];
}

/**
 * The mean entropy of the rows of each head, in nats, and over all heads; rows without a key do not
 * count.
 * @param {Result} result
 * @returns {{ mean: number, heads: number[] }}
 */
export function entropies(result) {
  const { shape, data } = result.values['attention.entropy'];
  const { data: flags } = result.values['attention.row_flags'];
  const rows = shape.at(-1) ?? 0;
  const heads = Array.from({ length: shape.at(-2) ?? 0 }, (_, head) => {
    let sum = 0;
    let count = 0;
    for (let at = head * rows; at < (head + 1) * rows; at++) {
      if (flags[at] & 1) continue;
      sum += data[at];
      count += 1;
    }
    return sum / count;
  });
  const counted = heads.filter((value) => !Number.isNaN(value));
  return { mean: counted.reduce((sum, value) => sum + value, 0) / counted.length, heads };
}

/**
 * The mean entropy and the most it could be, as words.
 * @param {Result} result
 */
export function entropyWords(result) {
  const { mean } = entropies(result);
  return { entropy: short(mean), most: short(evenEntropy(result.state.source.length)) };
}

/** Scores whose terms are the products of a query's and a key's numbers. */
const productScores = ['scaled-dot', 'dot', 'cosine'];

/**
 * Everything the inspector says about one cell of an attention map.
 * @param {Result} result
 * @param {number} head
 * @param {number} row
 * @param {number} column
 */
export function readCell(result, head, row, column) {
  /** @param {string} tensor */
  const line = (tensor, at = row) => {
    const matrix = matrixOf(result, tensor, head);
    if (!matrix) return new Float32Array();
    return matrix.data.subarray(at * matrix.columns, (at + 1) * matrix.columns);
  };
  const query = line('attention.query');
  const key = line('attention.key', column);
  const weights = line('attention.weights');
  return {
    terms: productScores.includes(result.state.score)
      ? Array.from(query, (value, term) => ({
          query: value,
          key: key[term],
          product: Math.fround(value * key[term]),
        }))
      : null,
    rawScore: line('attention.raw_scores')[column],
    score: line('attention.scores')[column],
    maskedScore: line('attention.masked_scores')[column],
    weight: weights[column],
    weights,
    rowSum: weights.reduce((sum, weight) => sum + weight, 0),
    reasons: line('attention.mask')[column],
    entropy: line('attention.entropy', head)[row],
    flags: rowFlags(result, head)[row],
  };
}
