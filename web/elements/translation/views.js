/**
 * What the figure of the translation lessons asks of its lesson, and names for it.
 *
 * A block is one attention of the model: its weights are a tensor [h, Tq, Tk]. Head −1 stands for the
 * mean of a block's heads.
 */
import { fill } from '../../draw/format.js';

/**
 * @typedef {import('../../lessons/state.js').State} State
 * @typedef {import('../../lessons/multi-head-view.js').Matrix} Matrix
 * @typedef {'encoder' | 'decoder' | 'cross' | 'alignment'} Kind
 * @typedef {{ block: string, tensor: string, kind: Kind, layer: number, heads: number }} Block
 * @typedef {{ tokens: string[], score: number, finished: boolean }} Sentence
 *
 * @typedef {object} Result
 * @property {State} state
 * @property {import('../../lessons/multi-head-view.js').TensorInfo[]} tensors
 * @property {Record<string, { shape: number[], data: Float32Array }>} values
 * @property {import('../run.js').RunView} [run]
 *
 * @typedef {object} Corpus
 * @property {import('../../text/pairs.js').Pair[]} training
 * @property {import('../../text/pairs.js').Pair[]} heldOut
 * @property {import('../../text/pairs.js').Problem[]} problems
 * @property {import('../../text/vocabulary.js').Vocabulary} sourceVocabulary
 * @property {import('../../text/vocabulary.js').Vocabulary} targetVocabulary
 * @property {import('../../text/tokenise.js').Unit | 'lexicon'} sourceUnit
 * @property {import('../../text/tokenise.js').Unit | 'lexicon'} targetUnit
 * @property {number} steps tokens of the longest sentence, its end counted
 *
 * @typedef {object} Views
 * @property {(state: State) => Corpus} corpusOf
 * @property {(result: Result) => Block[]} blocks in reading order
 * @property {(result: Result, tensor: string, head: number) => Matrix | null} matrixOf
 * @property {(result: Result, axis: string, tensor: string, size: number) => string[]} labelsOf
 * @property {(result: Result, tensor: string, head: number) => Uint8Array | null} maskOf
 * @property {(result: Result) => (Sentence & { beams?: Sentence[] }) | null} decodedOf
 * @property {(result: Result) => { token: string, probability: number }[]} candidates
 * @property {(result: Result) => { tensor: string, matrix: Matrix }[]} cacheOf
 *
 * @typedef {import('../../lessons/index.js').Lesson & import('../training/panel.js').Trains & Views} Lesson
 * @typedef {import('../parts/controls.js').Context<Lesson>} Context
 * @typedef {import('../parts/controls.js').Model<Result>} Model
 * @typedef {import('../../i18n/index.js').Strings['translation']} Words
 */

export const MEAN = -1;

/**
 * @param {Words} words
 * @param {number} head
 */
export const headWords = (words, head) =>
  head === MEAN ? words.mean : fill(words.head, { head: head + 1 });

/**
 * @param {Words} words
 * @param {Block} block
 * @param {number} head
 */
export function tileWords(words, { kind, layer, heads }, head) {
  if (heads === 1) return words.kinds[kind];
  return fill(words.tile, {
    kind: words.kinds[kind],
    layer: layer + 1,
    head: headWords(words, head),
  });
}

/** @param {State} state @param {Block} block @param {number} head */
export function isSilenced(state, { block }, head) {
  return state.silenced.includes(`${block}/${head}`);
}
