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
 * `retokenise` keeps the tokens of the other cases, such as a name with a space inside, while the
 * text around them is typed.
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
  return cut(text.trim(), unit);
}

/** @param {string} text @param {Unit} unit */
function cut(text, unit) {
  const clean = text.replace(/\s+/gu, ' ');
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
 * The tokens of a text that was typed from another. Where that text alone did not give its tokens,
 * those outside the stretch that changed stay as they are, and only the stretch is cut.
 * @param {string} text
 * @param {Unit} unit
 * @param {{ text: string, tokens: readonly string[] }} before
 */
export function retokenise(text, unit, before) {
  if (sameTokens(tokenise(before.text, unit), before.tokens)) return tokenise(text, unit);
  const shorter = Math.min(before.text.length, text.length);
  let head = 0;
  while (head < shorter && before.text[head] === text[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.text.at(-1 - tail) === text.at(-1 - tail)) tail += 1;
  const shift = text.length - before.text.length;
  const apart = (/** @type {number} */ at) => standApart(text.slice(0, at), text.slice(at), unit);
  const places = placesOf(before);
  let first = 0;
  while (first < places.length && places[first].end <= head) first += 1;
  if (first > 0 && !apart(places[first - 1].end)) first -= 1;
  let last = places.length;
  while (last > first && places[last - 1].start >= before.text.length - tail) last -= 1;
  if (last < places.length && !apart(places[last].start + shift)) last += 1;
  const from = first > 0 ? places[first - 1].end : 0;
  const to = last < places.length ? places[last].start + shift : text.length;
  let stretch = text.slice(from, to);
  if (from === 0) stretch = stretch.trimStart();
  if (to === text.length) stretch = stretch.trimEnd();
  return [...before.tokens.slice(0, first), ...cut(stretch, unit), ...before.tokens.slice(last)];
}

/**
 * Whether a token ends where one text goes on into another.
 * @param {string} left
 * @param {string} right
 * @param {Unit} unit
 */
function standApart(left, right, unit) {
  const pair = `${[...left].pop() ?? ' '}${[...right.slice(0, 2)][0] ?? ' '}`;
  return /\s/.test(pair) || tokenise(pair, unit).length > 1;
}

/**
 * Where each token stands in its text. A text field writes every line end as one sign, and a token of
 * white space stands for any run of it.
 * @param {{ text: string, tokens: readonly string[] }} cut
 */
function placesOf({ text, tokens }) {
  let end = 0;
  return tokens.map((token) => {
    const written = token.replace(/\r\n?/g, '\n');
    const found =
      token.trim() === '' ? text.slice(end).search(/\s/) + end : text.indexOf(written, end);
    const start = Math.max(found, end);
    end = start + written.length;
    return { start, end };
  });
}

/** @param {readonly string[]} a @param {readonly string[]} b */
export function sameTokens(a, b) {
  return a.length === b.length && a.every((token, at) => token === b[at]);
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
