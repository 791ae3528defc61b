/**
 * The kernel regression lesson: what goes in.
 *
 *   keys x_j, values y_j: the points            queries: a grid over 0 to 5
 *   weights a(x, x_j) = K(|x − x_j| w) ÷ Σ_l K(|x − x_l| w),  prediction f(x) = Σ_j a(x, x_j) y_j
 *
 * The width w is set by hand, or learned from the points: each is predicted from all others, and SGD
 * lowers the sum of the squared errors, every step with all points. This file is the state table, what
 * an intent does to a state, and the request that asks the core for numbers. Its controls are in
 * kernel-regression-controls.js, what is drawn is in kernel-regression-view.js.
 */
import { defaultState } from './state.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {readonly [x: number, y: number]} Point */

export const name = 'kernel-regression';
export const MAX_POINTS = 64;
/** Steps of training at most; from some step on the width hardly moves. */
export const MAX_STEPS = 100;
/** The smallest and the largest place of a point. @type {[Point, Point]} */
export const box = [
  [0, -1],
  [5, 5],
];
/** Queries to a unit of x. */
const DENSITY = 50;
export const QUERIES = box[1][0] * DENSITY + 1;

const kernels = ['average', 'gaussian', 'boxcar', 'triangular', 'epanechnikov', 'tricube'];
/** Kernels whose weights do not change with a small change of the width. */
const flat = ['average', 'boxcar'];

/** Random numbers of the core, to two digits; the values are 2 sin x + x^0.8 and noise of deviation 0.5. */
const keys = [
  0.39, 0.6, 0.68, 1.03, 1.42, 1.57, 1.63, 1.73, 1.77, 1.92, 1.99, 2.25, 2.53, 2.72, 3.01, 3.06,
  3.24, 3.38, 3.42, 3.53, 3.61, 3.77, 3.79, 4.13, 4.2, 4.31, 4.51, 4.59, 4.65, 4.78,
];
const values = [
  1.42, 1.55, 1.21, 2.92, 3.17, 2.71, 3.1, 3.94, 4.75, 3.44, 3.24, 3.51, 3.15, 2.87, 2.85, 2.26,
  3.02, 1.63, 1.97, 2.85, 2.09, 1.88, 2.12, 1.12, 2.26, 0.85, 1.52, 1.37, 1.53, 2.07,
];
const points = keys.map((x, at) => [x, values[at]]);

/** @type {import('./state.js').Table} */
export const table = {
  points: { type: 'points', min: 1, max: MAX_POINTS, box, default: points, control: 'points' },
  kernel: { type: 'choice', choices: kernels, default: 'gaussian', control: 'kernel' },
  width: { type: 'number', min: 0.01, max: 100, default: 1, control: 'kernel' },
  learned: { type: 'flag', default: false, control: 'learning' },
  rate: { type: 'number', min: 0.0001, max: 100, default: 0.5, control: 'learning' },
  step: { type: 'integer', min: 0, max: MAX_STEPS, default: 0, control: 'learning' },
  query: {
    type: 'integer',
    min: 0,
    max: QUERIES - 1,
    default: 2.4 * DENSITY,
    view: true,
    undoable: false,
  },
  truth: { type: 'flag', default: true, view: true, control: 'points' },
  show: { type: 'choice', choices: ['weights', 'raw_scores'], default: 'weights', view: true },
  experiment: {
    type: 'choice',
    choices: ['', 'average', 'narrow', 'reach', 'learned', 'outlier'],
    default: '',
    view: true,
  },
};

/** The control groups in reading order; an embedding page chooses among these names. */
export const groups = ['kernel', 'learning', 'points'];

export const panels = [
  ...['experiments', ...groups, 'map'],
  ...['inspector', 'shapes', 'torch', 'export'],
];

export const defaults = defaultState(table);

/** The tensors of the model in the order of computation. */
export const tensors = {
  w: true,
  queries: true,
  keys: true,
  values: true,
  raw_scores: true,
  mask: true,
  masked_scores: true,
  weights: true,
  row_flags: true,
  output: true,
};

export const everything = () => Object.keys(tensors);

/** @param {number} query its place in the grid */
export const placeOfQuery = (query) => query / DENSITY;

/**
 * The query nearest to a place.
 * @param {number} x
 */
export function queryAt(x) {
  return Math.min(QUERIES - 1, Math.max(0, Math.round(x * DENSITY)));
}

/**
 * Indexes of the points from left to right: the order of keys in the model and in every map.
 * @param {State} state
 * @returns {number[]}
 */
export function order({ points }) {
  return Array.from(points.keys(), Number).sort((a, b) => points[a][0] - points[b][0] || a - b);
}

/**
 * Whether the width is a parameter: of some kernels it cannot be learned.
 * @param {State} state
 */
export const learns = ({ learned, kernel }) => learned && !flat.includes(kernel);

/** @param {State} state @returns {State} */
export const settle = (state) => state;

/** @returns {string[]} no field depends on another */
export const misfits = () => [];

/**
 * What a reader does to a state:
 *   set     values of fields
 *   move    a point to another place
 *   add     one more point, if there is room
 *   remove  one point; the last one stays
 *   load    a state by its differences from the defaults
 * @typedef {{ type: 'set', values: State }
 *   | { type: 'move', index: number, to: Point }
 *   | { type: 'add', to: Point }
 *   | { type: 'remove', index: number }
 *   | { type: 'load', values: State }} Intent
 */

/**
 * @param {State} state
 * @param {Intent} intent
 * @returns {State}
 */
export function reduce(state, intent) {
  const { points } = state;
  switch (intent.type) {
    case 'set':
      return { ...state, ...intent.values };
    case 'move':
      return {
        ...state,
        points: points.map((/** @type {Point} */ point, /** @type {number} */ index) =>
          index === intent.index ? within(intent.to) : point,
        ),
      };
    case 'add':
      return points.length < MAX_POINTS
        ? { ...state, points: [...points, within(intent.to)] }
        : state;
    case 'remove':
      return points.length > 1
        ? {
            ...state,
            points: points.filter(
              (/** @type {Point} */ _, /** @type {number} */ index) => index !== intent.index,
            ),
          }
        : state;
    case 'load':
      return { ...defaults, ...intent.values };
  }
}

/**
 * The nearest place inside the box, to two digits; adding 0 takes the sign from −0.
 * @param {Point} point
 * @returns {Point}
 */
function within([x, y]) {
  const [[left, bottom], [right, top]] = box;
  const round = (/** @type {number} */ value) => Math.round(value * 100) / 100 + 0;
  return [round(Math.min(right, Math.max(left, x))), round(Math.min(top, Math.max(bottom, y)))];
}

/**
 * What names the run of training and how long it is.
 * @param {State} state
 */
export function plan(state) {
  const { points, kernel, width, rate } = state;
  return { key: JSON.stringify([points, kernel, width, rate]), steps: MAX_STEPS, perEpoch: 1 };
}

/**
 * What the core is asked for.
 * @param {State} state
 * @returns {import('../../wasm/evaluate.js').Request}
 */
export function request(state) {
  const sorted = order(state).map((index) => state.points[index]);
  const keys = sorted.map(([x]) => x);
  const values = sorted.map(([, y]) => y);
  const learned = learns(state);
  const queries = Array.from({ length: QUERIES }, (_, query) => placeOfQuery(query));
  return {
    model: 'kernelRegression',
    config: { kernel: state.kernel, width: state.width, learned },
    ...(learned && {
      training: {
        batch: { queries: keys, keys, values, labels: values, leaveOneOut: true },
        plan: { step: { loss: 'sum', optimiser: 'sgd', learningRate: state.rate } },
        steps: state.step,
        watch: 'w',
      },
    }),
    input: { queries, keys, values },
    read: ['w', 'raw_scores', 'weights', 'row_flags', 'output'],
  };
}
