/**
 * The multi-head lesson: its controls, their one-line summaries, and experiments to try.
 */
import { fill } from '../draw/format.js';
import {
  divisors,
  drawing,
  headsOf,
  queries,
  sizes,
  table,
  variantOf,
  variants,
} from './multi-head.js';
import { entropyWords } from './multi-head-view.js';

/** @typedef {import('./state.js').State} State */

/**
 * The controls of each group in reading order. `field` is what a control sets; `read` and `write`
 * where it shows something else than the field itself; `choices`, `min` and `max` where they depend
 * on the state; `when` where it is not always shown.
 * @type {Record<string, import('./index.js').Control[]>}
 */
export const controls = {
  variant: [
    {
      as: 'radios',
      name: 'variant',
      choices: () => Object.keys(variants),
      read: variantOf,
      write: (value) => variants[/** @type {keyof typeof variants} */ (value)],
    },
  ],
  masks: [
    { as: 'check', name: 'causal' },
    {
      as: 'slider',
      name: 'validLength',
      word: 'all',
      max: (state) => state.source.length,
      start: (state) => Math.max(1, state.source.length - 1),
    },
    {
      as: 'slider',
      name: 'window',
      words: (state) => (state.cross ? 'windowAcross' : 'window'),
      values: () => ({}),
      word: 'off',
      start: () => 1,
      max: (state) => Math.max(queries(state).length, state.source.length) - 1,
    },
    { as: 'cells', name: 'closed', draw: drawing },
    { as: 'radios', name: 'fill' },
  ],
  heads: [
    { as: 'radios', name: 'heads', choices: (state) => divisors(state.hiddens), read: headsOf },
    { as: 'slider', name: 'hiddens', step: 4, values: sizeValues },
    { as: 'readout', name: 'entropy', results: entropyWords },
  ],
  scoring: [
    { as: 'select', name: 'score' },
    {
      as: 'radios',
      name: 'scale',
      choices: () => ['auto', 'off', 'number'],
      read: (state) => (typeof state.scale === 'number' ? 'number' : state.scale),
      write: (value) => ({ scale: value === 'number' ? 1 : value }),
    },
    {
      as: 'slider',
      name: 'scale',
      stops: [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5],
      when: (state) => typeof state.scale === 'number',
    },
    {
      as: 'slider',
      name: 'temperature',
      stops: [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10],
    },
    { as: 'radios', name: 'normalise' },
  ],
  vectors: [
    { as: 'radios', name: 'position' },
    { as: 'seed', name: 'seed' },
  ],
};

/** Options of the core that have another name as a field. @type {Record<string, string>} */
const renamed = { validLens: 'validLength', mask: 'closed' };

/**
 * The field whose control answers for an option of the core.
 * @param {string} option
 * @returns {string | null}
 */
export function fieldOf(option) {
  const field = renamed[option] ?? option;
  const shown = Object.values(controls).some((group) => group.some(({ name }) => name === field));
  return shown ? field : null;
}

/** @param {State} state */
function sizeValues(state) {
  const { min = 0, max = 0 } = table.hiddens;
  return { min, max, size: sizes(state).D };
}

/**
 * A group in a few words, for when it is folded.
 * @param {string} group
 * @param {State} state
 * @param {import('../i18n/index.js').Strings} strings
 * @returns {string[]}
 */
export function summary(group, state, { summaries, controls: words }) {
  const size = sizes(state);
  const count = state.closed.join('').replaceAll('0', '').length;
  /** @type {Record<string, () => (string | false)[]>} */
  const parts = {
    variant: () => [words.variant.choices[variantOf(state)]],
    masks: () => {
      const set = [
        state.causal && summaries.causal,
        state.validLength !== 'all' && fill(summaries.validLength, { value: state.validLength }),
        state.window !== 'off' && fill(summaries.window, { value: state.window }),
        count > 0 && fill(summaries.closed, { count }),
      ];
      return set.some(Boolean) ? set : [summaries.noMask];
    },
    heads: () => [
      fill(size.h === 1 ? summaries.oneHead : summaries.heads, { heads: size.h, size: size.D }),
    ],
    scoring: () => [
      words.score.choices[/** @type {keyof typeof words.score.choices} */ (state.score)],
      state.temperature !== 1 && fill(summaries.temperature, { value: state.temperature }),
      state.normalise !== 'softmax' && state.normalise,
    ],
    vectors: () => [
      state.position === 'none' ? summaries.noPosition : words.position.choices.sinusoidal,
      fill(summaries.seed, { value: state.seed }),
    ],
  };
  return parts[group]().filter((part) => typeof part === 'string');
}

/** The causal mask leaves one key to the first row, and the reader's own cell closes it. */
const emptyFirstRow = { causal: true, closed: ['1'], fill: 'd2l', cell: [0, 0] };

/**
 * Small changes of the state that are worth a look, each with a sentence of its name in the
 * language files. Chinese readers get Chinese tokens.
 * @type {import('./index.js').Experiment[]}
 */
export const experiments = [
  {
    name: 'order',
    values: { source: ['dog', 'bites', 'man'], heads: 2 },
    chinese: { source: ['狗', '咬', '人'] },
  },
  {
    name: 'twins',
    values: { source: ['the', 'cat', 'saw', 'the', 'dog'], position: 'sinusoidal' },
    chinese: { source: ['猫', '看见', '另', '一', '只', '猫'] },
  },
  {
    name: 'future',
    values: { source: ['we', 'only', 'look', 'back'], causal: true },
    chinese: { source: ['我们', '只', '看', '过去'] },
  },
  {
    name: 'saturation',
    values: { hiddens: 128, heads: 1, scale: 'off' },
    chinese: { source: ['猫', '坐', '在', '垫子', '上'] },
  },
  {
    name: 'empty',
    values: { source: ['a', 'b', 'c', 'd'], ...emptyFirstRow },
    chinese: { source: ['甲', '乙', '丙', '丁'] },
  },
];

/**
 * The differences from the defaults that an experiment sets.
 * @param {import('./index.js').Experiment} experiment
 * @param {boolean} chinese
 * @returns {State}
 */
export function experimentValues({ name, values, chinese: own = {} }, chinese) {
  return { ...values, ...(chinese ? own : {}), experiment: name };
}
