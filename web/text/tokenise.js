/**
 * Text to tokens and back.
 *
 * A token is a word or a character as a reader of the language sees it: `Intl.Segmenter` finds
 * Chinese words and keeps a flag emoji in one piece. Browsers carry different dictionaries, so what
 * a figure stores, and a link carries, is the list of tokens and never the text it came from.
 *
 *   words:       white space separates and is dropped; punctuation marks are tokens
 *   characters:  every grapheme is a token; a run of white space is one token, ' '
 *
 * `joinTokens` writes a text that reads naturally and gives the same tokens back in the usual cases.
 * Where `Intl.Segmenter` is missing, letters and digits form words and each ideograph is a word.
 */

/** @typedef {'words' | 'characters'} Unit */

const WORD_OR_SIGN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+(?:['’_.-][\p{L}\p{M}\p{N}]+)*|[^\s]/gu;
const GRAPHEME = /\P{M}\p{M}*/gu;
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3000-\\u303f\\uff00-\\uffef';
const ENDS_UNSPACED = new RegExp(`[${UNSPACED}]$`, 'u');
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');
const CLOSES = /^[\p{Pe}\p{Pf}.,;:!?…%]/u;
const OPENS = /[\p{Ps}\p{Pi}$¿¡]$/u;

/** @type {Map<string, Intl.Segmenter>} */
const segmenters = new Map();

/**
 * @param {'word' | 'grapheme'} granularity
 * @returns {Intl.Segmenter | null}
 */
function segmenter(granularity) {
  if (typeof Intl.Segmenter !== 'function') return null;
  let found = segmenters.get(granularity);
  if (!found) {
    found = new Intl.Segmenter(undefined, { granularity });
    segmenters.set(granularity, found);
  }
  return found;
}

/**
 * @param {string} text
 * @param {'word' | 'grapheme'} granularity
 * @param {RegExp} fallback
 */
function segments(text, granularity, fallback) {
  const splitter = segmenter(granularity);
  if (!splitter) return text.match(fallback) ?? [];
  return Array.from(splitter.segment(text), (part) => part.segment);
}

/**
 * @param {string} text
 * @param {Unit} unit
 * @returns {string[]}
 */
export function tokenise(text, unit) {
  const clean = text.trim().replace(/\s+/gu, ' ');
  if (unit === 'characters') return segments(clean, 'grapheme', GRAPHEME);
  return segments(clean, 'word', WORD_OR_SIGN).filter((word) => word.trim() !== '');
}

/**
 * @param {readonly string[]} tokens
 * @param {Unit} unit
 */
export function joinTokens(tokens, unit) {
  if (unit === 'characters') return tokens.join('');
  let text = '';
  for (const token of tokens) {
    const together =
      text === '' ||
      CLOSES.test(token) ||
      OPENS.test(text) ||
      (ENDS_UNSPACED.test(text) && STARTS_UNSPACED.test(token));
    text += together ? token : ` ${token}`;
  }
  return text;
}

/**
 * For each new token the place of the old token it continues, or -1. Typing changes one stretch of a
 * text, so the tokens before and after that stretch are the old ones; what hangs on a token (its mask
 * cells, its edited numbers) moves with it.
 * @param {readonly string[]} before
 * @param {readonly string[]} after
 * @returns {number[]}
 */
export function matchTokens(before, after) {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (
    tail < shorter - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail += 1;
  }
  // A stretch replaced by one of equal length is the same places with new words.
  const samePlaces = before.length === after.length;
  return after.map((_, index) => {
    if (index < head || samePlaces) return index;
    const fromEnd = after.length - index;
    return fromEnd <= tail ? before.length - fromEnd : -1;
  });
}
