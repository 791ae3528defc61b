/**
 * The kernel regression lesson: its controls, their one-line summaries, and experiments to try.
 */
import { fill, short } from '../draw/format.js';
import { defaults, learns, MAX_STEPS, table } from './kernel-regression.js';
import { widthOf } from './kernel-regression-view.js';

/** @typedef {import('./state.js').State} State */

/** @type {Record<string, import('./index.js').Control[]>} */
export const controls = {
  kernel: [
    { as: 'select', name: 'kernel' },
    {
      as: 'slider',
      name: 'width',
      stops: [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50],
      words: (state) => (learns(state) ? 'startWidth' : 'width'),
      values: (state, result) => {
        const width = learns(state) && result ? widthOf(result) : state.width;
        return { width: short(width), reach: short(1 / width) };
      },
      when: ({ kernel }) => kernel !== 'average',
    },
  ],
  learning: [
    { as: 'check', name: 'learned' },
    {
      as: 'slider',
      name: 'rate',
      stops: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
      when: learns,
    },
    { as: 'slider', name: 'step', max: () => MAX_STEPS, when: learns },
  ],
  points: [{ as: 'check', name: 'truth' }],
};

/** Options of the core that have another name as a field. @type {Record<string, string>} */
const renamed = { learningRate: 'rate', keys: 'points', values: 'points' };

/**
 * The field whose control answers for an option of the core.
 * @param {string} option
 * @returns {string | null}
 */
export function fieldOf(option) {
  const field = renamed[option] ?? option;
  return Object.hasOwn(table, field) && table[field].control ? field : null;
}

/**
 * A group in a few words, for when it is folded.
 * @param {string} group
 * @param {State} state
 * @param {import('../i18n/index.js').Strings} strings
 * @returns {string[]}
 */
export function summary(group, state, { summaries, controls: words }) {
  const { width, step, kernel } = state;
  const wide = learns(state) ? summaries.startWidth : summaries.width;
  const name = words.kernel.choices[/** @type {keyof typeof words.kernel.choices} */ (kernel)];
  /** @type {Record<string, () => string[]>} */
  const parts = {
    kernel: () => (kernel === 'average' ? [name] : [name, fill(wide, { value: width })]),
    learning: () => [learns(state) ? fill(summaries.step, { value: step }) : summaries.notLearned],
    points: () => [fill(summaries.points, { count: state.points.length })],
  };
  return parts[group]();
}

/** A point far from the others, for which a narrow kernel bends. */
const outlier = [...defaults.points, [2.6, -0.8]];

/** @type {import('./index.js').Experiment[]} */
export const experiments = [
  { name: 'average', values: { kernel: 'average' } },
  { name: 'narrow', values: { width: 20 } },
  { name: 'reach', values: { kernel: 'boxcar', width: 4, points: gapped(), query: 110 } },
  { name: 'learned', values: { learned: true, step: 5 } },
  { name: 'outlier', values: { points: outlier, width: 5, query: 130 } },
];

/** The default points without those between 1.8 and 2.7. */
function gapped() {
  return defaults.points.filter((/** @type {number[]} */ [x]) => x < 1.8 || x > 2.7);
}

/**
 * The differences from the defaults that an experiment sets; numbers are the same in every language.
 * @param {import('./index.js').Experiment} experiment
 * @returns {State}
 */
export function experimentValues({ name, values }) {
  return { ...values, experiment: name };
}
