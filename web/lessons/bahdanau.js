/**
 * The Bahdanau lesson: recurrent units read and write, and before each word the decoder looks back at the
 * source with additive attention; without it (attention "none") one fixed vector has to carry all.
 * (Bahdanau et al. 2015; D2L "The Bahdanau Attention Mechanism".)
 */
import { translationLesson } from './translation.js';

/** @typedef {import('./state.js').State} State */

const WEIGHTS = 'decoder.attention.weights';

export const bahdanau = translationLesson({
  name: 'bahdanau',
  model: 'seq2seq',
  table: {
    attention: { type: 'choice', choices: ['bahdanau', 'none'], default: 'bahdanau' },
    embedding: { type: 'integer', min: 4, max: 128, default: 32 },
    hiddens: { type: 'integer', min: 4, max: 128, default: 32 },
    layers: { type: 'integer', min: 1, max: 4, default: 2 },
    epochs: { type: 'integer', min: 1, max: 1000, default: 100 },
  },
  config: ({ attention, embedding, hiddens, layers }) => ({
    attention,
    embedding,
    hiddens,
    layers,
  }),
  blocks: ({ attention }) => (attention === 'none' ? [] : ['decoder.attention']),
  heads: () => 1,
  shown: ({ attention }) => (attention === 'none' ? 'decoder.hidden' : WEIGHTS),
  has: ({ attention }, tensor) => attention === 'bahdanau' || !tensor.includes('attention'),
  // The rows of the map are computed one after the other, each in a tensor of its own.
  overrideOf: ({ name, at, value }) =>
    name === WEIGHTS
      ? { name: `decoder.${at[1]}.attention.weights`, at: [0, 0, 0, at[2]], value }
      : { name, at: [0, ...at], value },
  padded: true,
  masks: ({ attention }) => (attention === 'none' ? [] : ['decoder.0.attention.mask']),
  caches: () => [],
});
