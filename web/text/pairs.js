/**
 * Pairs of sentences: from a tab-separated file, from what somebody types, and into two parts.
 *
 * A file has a pair on each line, source and target in the first two columns, as Anki and Tatoeba
 * write them; a third column (who wrote it) is left out. A byte order mark, any line end and empty
 * lines are fine. Every other line is named with its number and what is wrong with it, and left out.
 *
 * A sentence is cut in one of three ways:
 *   words       as D2L does: lower case, a space before , . ! ? and cut at spaces
 *   characters  for writing without spaces: each grapheme is a token
 *   lexicon     as words; one that the vocabulary does not have is cut into the longest words that it
 *               has (l'oiseau, 一本书)
 */

import { joinTokens, tokenise } from './tokenise.js';

/** @typedef {import('./vocabulary.js').Vocabulary} Vocabulary */
/** @typedef {import('./tokenise.js').Unit} Unit */
/**
 * @typedef {object} Pair
 * @property {string[]} source  tokens
 * @property {string[]} target
 * @property {[number, number][]} [alignment]  [source, target] places that mean the same; a place in none
 *   of them is a function word of its own language
 */
/** @typedef {keyof typeof REASONS} Reason */
/** @typedef {{ line: number, reason: Reason }} Problem  line: counted from 1 */

/** What can be wrong with a line. */
export const REASONS = Object.freeze({
  'one-column': 'no tab between two sentences',
  'many-columns': 'more than 3 columns',
  'empty-source': 'the source sentence is empty',
  'empty-target': 'the target sentence is empty',
  'not-utf8': 'signs that are not UTF-8',
});

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * @param {string} text  of the file
 * @param {object} [options]
 * @param {boolean} [options.swap]  the second column is the source
 * @param {number} [options.limit]  stop after so many pairs
 * @param {Unit} [options.sourceUnit]  default: characters where most sentences are written without spaces
 * @param {Unit} [options.targetUnit]
 * @returns {{ pairs: Pair[], problems: Problem[], sourceUnit: Unit, targetUnit: Unit }}
 */
export function readPairs(text, { swap = false, limit = Infinity, ...units } = {}) {
  /** @type {string[][]} */
  const rows = [];
  /** @type {Problem[]} */
  const problems = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (let at = 0; at < lines.length && rows.length < limit; at += 1) {
    if (lines[at].trim() === '') continue;
    const columns = lines[at].split('\t');
    const [source, target] = swap ? [columns[1], columns[0]] : columns;
    const reason = problemOf(columns.length, source, target);
    if (reason) problems.push({ line: at + 1, reason });
    else rows.push([source, target]);
  }
  const sourceUnit = units.sourceUnit ?? unitOf(rows.map(([source]) => source));
  const targetUnit = units.targetUnit ?? unitOf(rows.map(([, target]) => target));
  const pairs = rows.map(([source, target]) => ({
    source: cut(source, sourceUnit),
    target: cut(target, targetUnit),
  }));
  return { pairs, problems, sourceUnit, targetUnit };
}

/**
 * @param {number} columns
 * @param {string | undefined} source
 * @param {string | undefined} target
 * @returns {Reason | null}
 */
function problemOf(columns, source, target) {
  if (columns < 2) return 'one-column';
  if (columns > 3) return 'many-columns';
  if (!source?.trim()) return 'empty-source';
  if (!target?.trim()) return 'empty-target';
  return /[\uFFFD\0]/.test(source + target) ? 'not-utf8' : null;
}

/** @param {string[]} sentences @returns {Unit} */
function unitOf(sentences) {
  const unspaced = sentences.filter((sentence) => UNSPACED.test(sentence)).length;
  return unspaced * 2 > sentences.length ? 'characters' : 'words';
}

/**
 * @param {string} text
 * @param {Unit} unit
 * @returns {string[]}
 */
function cut(text, unit) {
  const lower = text.toLowerCase();
  if (unit === 'characters') return tokenise(lower, unit).filter((token) => token !== ' ');
  return lower
    .replace(/[^ ](?=[,.!?])/g, '$& ')
    .split(/\s+/)
    .filter((word) => word !== '');
}

/**
 * The tokens of a typed sentence.
 * @param {string} text
 * @param {Unit | 'lexicon'} unit
 * @param {Vocabulary} vocabulary
 */
export function tokensOf(text, unit, vocabulary) {
  if (unit !== 'lexicon') return cut(text, unit);
  const longest = vocabulary.tokens.reduce((most, { length }) => Math.max(most, length), 1);
  const words = cut(text.replace(/’/g, "'"), 'words');
  return words.flatMap((word) => cutKnown(word, vocabulary, longest));
}

/**
 * The longest known word first, then on behind it. A word of an alphabet that leaves a rest is one
 * unknown token; in writing without spaces each unknown character is.
 * @param {string} word
 * @param {Vocabulary} vocabulary
 * @param {number} longest  word of it
 */
function cutKnown(word, vocabulary, longest) {
  const signs = [...word];
  const parts = [];
  let complete = true;
  for (let from = 0; from < signs.length; ) {
    let to = Math.min(signs.length, from + longest);
    while (to > from + 1 && !vocabulary.has(signs.slice(from, to).join(''))) to -= 1;
    const part = signs.slice(from, to).join('');
    complete &&= vocabulary.has(part);
    parts.push(part);
    from = to;
  }
  return complete || UNSPACED.test(word) ? parts : [word];
}

/**
 * Tokens as a reader of the language writes them.
 * @param {readonly string[]} tokens
 * @param {Unit | 'lexicon'} unit
 */
export function textOf(tokens, unit) {
  const text = joinTokens(tokens, unit === 'characters' ? unit : 'words');
  return text.replace(/(^|\s)(qu|[cdjlmnst])' /gi, "$1$2'");
}

/**
 * Every fifth source sentence, in the order of a hash, is held out: the same ones on every machine,
 * whatever the order of the pairs. All translations of a sentence are in the same part.
 * @param {readonly Pair[]} pairs
 * @returns {{ training: Pair[], heldOut: Pair[] }}  each in the given order
 */
export function splitPairs(pairs) {
  const keyOf = (/** @type {Pair} */ pair) => pair.source.join(' ');
  const keys = [...new Set(pairs.map(keyOf))];
  const hashes = new Map(keys.map((key) => [key, hash(key)]));
  const hashOf = (/** @type {string} */ key) => /** @type {number} */ (hashes.get(key));
  keys.sort((a, b) => hashOf(a) - hashOf(b) || (a < b ? -1 : 1));
  const held = new Set(keys.filter((_, at) => at % 5 === 4));
  return {
    training: pairs.filter((pair) => !held.has(keyOf(pair))),
    heldOut: pairs.filter((pair) => held.has(keyOf(pair))),
  };
}

/**
 * FNV-1a over UTF-16 units, its bits mixed once more so that close texts lie far apart.
 * @param {string} text
 */
export function hash(text) {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  }
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}
