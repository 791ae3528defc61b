/**
 * The kernel regression lesson: what comes out, as the elements draw it.
 *
 * A result is what the core computed for one state. Everything here is read from it and nothing is
 * computed again, except the products weight · value, which are only shown.
 */
import { order, placeOfQuery, QUERIES } from './kernel-regression.js';

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('./kernel-regression.js').Point} Point
 * @typedef {import('../../wasm/evaluate.js').Answer & { state: State,
 *   run?: import('../elements/run.js').RunView }} Result
 */

/** One row of the maps for so many queries of the curve. */
export const EVERY = 10;

/**
 * The points of a result from left to right, as its maps have them.
 * @param {Result} result
 * @returns {{ index: number, x: number, y: number }[]}
 */
export function pointsOf({ state }) {
  return order(state).map((index) => {
    const [x, y] = state.points[index];
    return { index, x, y };
  });
}

/**
 * The predicted curve: a place for each query, NaN where no key is within the kernel's reach.
 * @param {Result} result
 * @returns {Float32Array}
 */
export function curveOf({ values }) {
  const { output, row_flags: flags } = values;
  return output.data.map((value, query) => (flags.data[query] & 1 ? NaN : value));
}

/** @param {Result} result the width in use: learned so far, or set by hand */
export const widthOf = ({ values }) => values.w.data[0];

/**
 * @param {Result} result
 * @param {number} query
 * @returns {Float32Array} the weights of its row, one for each point from left to right
 */
export function weightsOf({ values }, query) {
  const { shape, data } = values.weights;
  const keys = shape[shape.length - 1];
  return data.subarray(query * keys, (query + 1) * keys);
}

/**
 * Everything the inspector says about one query.
 * @param {Result} result
 * @param {number} query
 */
export function readQuery(result, query) {
  const weights = weightsOf(result, query);
  const { output, row_flags: flags } = result.values;
  return {
    x: placeOfQuery(query),
    prediction: output.data[query],
    empty: (flags.data[query] & 1) === 1,
    terms: pointsOf(result).map(({ index, x, y }, at) => ({
      index,
      key: x,
      value: y,
      weight: weights[at],
      product: Math.fround(weights[at] * Math.fround(y)),
    })),
  };
}

/**
 * The value of a point added at a query: the prediction, or where there is none the mean of the nearest
 * values, to its left and to its right.
 * @param {Result} result
 * @param {number} query
 * @returns {number}
 */
export function valueToAdd(result, query) {
  const { x, prediction, empty } = readQuery(result, query);
  if (!empty) return prediction;
  const points = pointsOf(result);
  const right = points.findIndex((point) => point.x > x);
  const left = right < 0 ? points.length - 1 : right - 1;
  const near = [points[left], points[right]].filter((point) => point !== undefined);
  return near.reduce((sum, { y }) => sum + y, 0) / near.length;
}

/**
 * A map of queries and keys: every tenth query of the curve.
 * @param {Result} result
 * @param {string} tensor weights or raw_scores
 */
export function mapOf(result, tensor) {
  const { shape, data } = result.values[tensor];
  const columns = shape[shape.length - 1];
  const rows = Math.floor((QUERIES - 1) / EVERY) + 1;
  const numbers = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    const start = row * EVERY * columns;
    numbers.set(data.subarray(start, start + columns), row * columns);
  }
  return { rows, columns, data: numbers };
}

/**
 * The largest weight of all queries, the end of the scale for map and stems.
 * @param {Result} result
 */
export function largestWeight({ values }) {
  return values.weights.data.reduce((most, weight) => Math.max(most, weight), 0);
}
