/**
 * The Transformer lesson: an encoder and a decoder learn to translate, and all three kinds of their
 * weights are to be seen: the encoder's, the decoder's masked ones, and those across.
 * (Vaswani et al. 2017; D2L "The Transformer Architecture".)
 */
import { divisors } from './multi-head.js';
import { translationLesson } from './translation.js';

/** @typedef {import('./state.js').State} State */

/** @param {State} state */
export const headsOf = ({ hiddens, heads }) =>
  Math.max(...divisors(hiddens).filter((count) => count <= heads));

/** @param {State} state */
const layersOf = ({ layers }) => Array.from({ length: layers }, (_, layer) => layer);

/** @param {State} state */
const blocks = (state) => [
  ...layersOf(state).map((layer) => `encoder.${layer}.attention`),
  ...layersOf(state).map((layer) => `decoder.${layer}.self_attention`),
  ...layersOf(state).map((layer) => `decoder.${layer}.cross_attention`),
];

export const transformer = translationLesson({
  name: 'transformer',
  model: 'transformer',
  table: {
    hiddens: { type: 'integer', min: 8, max: 128, default: 32 },
    heads: { type: 'integer', min: 1, max: 16, default: 4 },
    layers: { type: 'integer', min: 1, max: 4, default: 2 },
    feedForward: { type: 'integer', min: 8, max: 512, default: 64 },
    norm: { type: 'choice', choices: ['post', 'pre'], default: 'post' },
    activation: { type: 'choice', choices: ['relu', 'gelu'], default: 'relu' },
    position: {
      type: 'choice',
      choices: ['sinusoidal', 'learned', 'rotary', 'alibi', 'none'],
      default: 'sinusoidal',
    },
    cache: {
      type: 'choice',
      choices: ['keys-values', 'representations', 'none'],
      default: 'keys-values',
    },
    positions: { type: 'choice', choices: ['correct', 'as-d2l'], default: 'correct' },
  },
  config: (state) => ({
    hiddens: state.hiddens,
    heads: headsOf(state),
    layers: state.layers,
    feedForward: state.feedForward,
    norm: state.norm,
    activation: state.activation,
    position: state.position,
  }),
  blocks,
  heads: headsOf,
  shown: ({ layers }) => `decoder.${layers - 1}.cross_attention.weights`,
  has(state, tensor) {
    const [, layer = '0'] = /^(?:encoder|decoder)\.(\d+)\./.exec(tensor) ?? [];
    return Number(layer) < state.layers;
  },
  overrideOf: ({ name, at, value }) => ({ name, at: [0, ...at], value }),
  padded: false,
  masks: (state) => blocks(state).map((block) => `${block}.mask`),
  caches: (state) => {
    const kept = { 'keys-values': ['key', 'value'], representations: ['inputs'], none: [] };
    const names = kept[/** @type {keyof typeof kept} */ (state.cache)];
    return layersOf(state).flatMap((layer) =>
      names.map((name) => `decoder.${layer}.self_attention.${name}`),
    );
  },
});
