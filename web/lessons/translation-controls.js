/**
 * The translation lessons: their controls, their one-line summaries, and experiments to try.
 */
import { fill } from '../draw/format.js';
import { divisors } from './multi-head.js';
import { headsOf } from './transformer.js';

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('./index.js').Control} Control
 * @typedef {import('./index.js').Experiment} Experiment
 */

/** A note says the limits alone. */
const values = () => ({});

/** @type {Control[]} */
const vectors = [
  { as: 'slider', name: 'dropout', stops: [0, 0.05, 0.1, 0.2, 0.3, 0.5] },
  { as: 'seed', name: 'seed' },
];

/** @type {Record<string, Control[]>} */
const shared = {
  training: [
    {
      as: 'slider',
      name: 'epochs',
      stops: [1, 2, 5, 10, 20, 30, 40, 60, 80, 100, 150, 200, 300],
      values,
    },
    {
      as: 'slider',
      name: 'learningRate',
      stops: [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1],
    },
    { as: 'radios', name: 'schedule' },
    { as: 'slider', name: 'warmUp', stops: [0, 10, 20, 50, 100, 200, 500, 1000] },
    { as: 'slider', name: 'batchSize', stops: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] },
    {
      as: 'slider',
      name: 'clip',
      word: 'off',
      stops: [0.1, 0.2, 0.5, 1, 2, 5, 10],
      start: () => 1,
    },
  ],
  decoding: [
    { as: 'radios', name: 'method' },
    { as: 'slider', name: 'beams', when: ({ method }) => method === 'beam' },
    {
      as: 'slider',
      name: 'temperature',
      stops: [0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 5],
      when: ({ method }) => method === 'sample',
    },
  ],
};

/** @type {Record<string, Record<string, Control[]>>} */
const own = {
  transformer: {
    model: [
      {
        as: 'slider',
        name: 'hiddens',
        step: 8,
        values: (state) => ({ size: state.hiddens / headsOf(state) }),
      },
      {
        as: 'radios',
        name: 'heads',
        choices: ({ hiddens }) => divisors(hiddens).filter((heads) => heads <= 16),
        read: headsOf,
      },
      { as: 'slider', name: 'layers', values },
      { as: 'slider', name: 'feedForward', stops: [8, 16, 32, 64, 128, 256, 512] },
      { as: 'select', name: 'position' },
      { as: 'radios', name: 'norm' },
      { as: 'radios', name: 'activation' },
      ...vectors,
    ],
    training: shared.training,
    decoding: [
      ...shared.decoding,
      { as: 'radios', name: 'cache' },
      { as: 'radios', name: 'positions', when: ({ cache }) => cache !== 'none' },
    ],
  },
  bahdanau: {
    model: [
      { as: 'radios', name: 'attention' },
      { as: 'slider', name: 'hiddens', step: 4, words: () => 'units', values },
      { as: 'slider', name: 'embedding', step: 4, values },
      { as: 'slider', name: 'layers', values },
      ...vectors,
    ],
    ...shared,
  },
};

/** Trained to the end of the default plan on either corpus. */
const trained = { step: 420 };

/** @type {Record<string, Experiment[]>} */
const tries = {
  transformer: [
    {
      name: 'crossing',
      values: { ...trained, aligned: true },
      chinese: { sentence: 'is that cat white?' },
    },
    { name: 'placeless', values: { step: 70, position: 'none' } },
    {
      name: 'headless',
      values: {
        ...trained,
        silenced: [0, 1, 2, 3].map((head) => `decoder.1.cross_attention/${head}`),
      },
    },
    {
      name: 'positionZero',
      values: { step: 70, positions: 'as-d2l', sentence: 'did you hide three yellow scarves ?' },
      chinese: { sentence: '' },
    },
    { name: 'tooFast', values: { learningRate: 0.1, clip: 'off', step: 210 } },
  ],
  bahdanau: [
    {
      name: 'looksBack',
      values: { step: 700, sentence: 'she bought three yellow hats.', aligned: true },
      chinese: { sentence: 'is that cat white?', seed: 1 },
    },
    { name: 'oneVector', values: { step: 700, attention: 'none' } },
  ],
};

/** Chinese readers get the corpus with Chinese in it. */
const chinese = { corpus: 'english-chinese' };

/** Options of the core that have another name as a field. @type {Record<string, string>} */
const renamed = { maxLength: 'token', lengths: 'sentence' };

/** @param {'transformer' | 'bahdanau'} lesson */
export function translationControls(lesson) {
  const controls = own[lesson];
  const groups = Object.keys(controls);
  return {
    groups,
    panels: [
      ...['experiments', 'corpus', 'sentence', ...groups, 'run', 'translation'],
      ...['inspector', 'shapes', 'torch', 'export'],
    ],
    controls,
    experiments: tries[lesson],

    /** @param {Experiment} experiment @param {boolean} inChinese */
    experimentValues: ({ name, values, chinese: own = {} }, inChinese) => ({
      ...values,
      ...(inChinese ? { ...chinese, ...own } : {}),
      experiment: name,
    }),

    /** @param {string} option @returns {string | null} */
    fieldOf(option) {
      const field = renamed[option] ?? option;
      const shown = Object.values(controls).flat();
      return shown.some(({ name }) => name === field) ? field : null;
    },

    /**
     * A group in a few words, for when it is folded.
     * @param {string} group
     * @param {State} state
     * @param {import('../i18n/index.js').Strings} strings
     * @returns {string[]}
     */
    summary(group, state, { summaries, controls: words }) {
      /** @param {keyof typeof words} name */
      const choice = (name) =>
        /** @type {Record<string, string>} */ (/** @type {any} */ (words[name]).choices)[
          state[name]
        ];
      /** @type {Record<string, () => string[]>} */
      const parts = {
        model: () =>
          lesson === 'transformer'
            ? [
                fill(summaries.size, { hiddens: state.hiddens, layers: state.layers }),
                fill(summaries.headCount, { heads: headsOf(state) }),
                choice('position'),
              ]
            : [
                fill(summaries.size, { hiddens: state.hiddens, layers: state.layers }),
                choice('attention'),
              ],
        training: () => [
          fill(summaries.epochs, { epochs: state.epochs }),
          fill(summaries.learningRate, { rate: state.learningRate }),
        ],
        decoding: () => [choice('method'), ...('cache' in state ? [choice('cache')] : [])],
      };
      return parts[group]();
    },
  };
}
