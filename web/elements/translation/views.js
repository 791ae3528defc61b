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
 * What an axis is called; one that has no name keeps its letter.
 * @param {import('../../i18n/index.js').Strings} strings
 * @param {string} axis
 */
export function axisWords({ stage: { axes } }, axis) {
  return /** @type {Record<string, string>} */ (axes)[axis] ?? axis;
}

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

/**
 * The heads of a block as they are shown: their mean first where there are several.
 * @param {Block} block
 */
export const shownHeads = ({ heads }) =>
  heads === 1 ? [0] : [MEAN, ...Array.from({ length: heads }, (_, head) => head)];

/**
 * Which of them a state shows.
 * @param {Block} block
 * @param {State} state
 */
export const shownHead = ({ heads }, { head }) => (heads === 1 ? 0 : Math.min(head, heads - 1));

/** @param {State} state @param {Block} block @param {number} head */
export function isSilenced(state, { block }, head) {
  return state.silenced.includes(`${block}/${head}`);
}
