/**
 * Names for what the figure of the translation lessons shows.
 *
 * A block is one attention of the model: its weights are a tensor [h, Tq, Tk]. Head −1 stands for the
 * mean of a block's heads.
 */
import { fill } from '../../draw/format.js';

/**
 * @typedef {import('../../lessons/state.js').State} State
 * @typedef {import('../../lessons/multi-head-view.js').Matrix} Matrix
 * @typedef {import('../../lessons/translation-view.js').Block} Block
 * @typedef {import('../../lessons/translation-view.js').Result} Result
 * @typedef {import('../../lessons/index.js').Translation} Lesson
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
 */
export const kindWords = (words, { block, kind }) =>
  words.kinds[block === 'decoder.attention' ? 'alignment' : kind];

/**
 * @param {Words} words
 * @param {Block} block
 * @param {number} head
 */
export function tileWords(words, block, head) {
  const kind = kindWords(words, block);
  if (block.block === 'decoder.attention') return kind;
  return fill(words.tile, { kind, layer: block.layer + 1, head: headWords(words, head) });
}

/** @param {State} state @param {Block} block @param {number} head */
export function isSilenced(state, { block }, head) {
  return state.silenced.includes(`${block}/${head}`);
}
