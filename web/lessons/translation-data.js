/**
 * The pairs of sentences that a translation lesson learns from: the project's own two corpora, made by a
 * grammar, or what the reader brought along as tab-separated text. Four fifths are learned, the rest is
 * kept back to be tried on.
 */
import { englishChinese } from '../text/corpora/english-chinese.js';
import { englishFrench } from '../text/corpora/english-french.js';
import { DataSet } from '../text/data-set.js';
import { hash, readPairs, splitPairs, tokensOf } from '../text/pairs.js';

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('../text/pairs.js').Pair} Pair
 *
 * @typedef {object} Data
 * @property {string} key names these pairs and their vocabularies
 * @property {readonly Pair[]} pairs
 * @property {import('../text/pairs.js').Problem[]} problems of lines that were left out
 * @property {'words' | 'characters'} sourceUnit
 * @property {'words' | 'characters' | 'lexicon'} targetUnit lexicon: words without spaces between them
 * @property {DataSet} training
 * @property {DataSet | null} unseen null where there are too few pairs to keep some back
 */

/** Longer sentences of a reader's own are cut. */
const MOST_STEPS = 32;
/** Of a reader's own text, in UTF-16 units and in pairs. */
export const MOST_TEXT = 400_000;
export const MOST_PAIRS = 5000;

const corpora = {
  'english-french': { make: englishFrench, targetUnit: /** @type {const} */ ('words') },
  'english-chinese': { make: englishChinese, targetUnit: /** @type {const} */ ('lexicon') },
};

/**
 * @param {string} key
 * @param {Omit<Data, 'key' | 'training' | 'unseen'>} read
 * @param {number} minFrequency
 * @returns {Data}
 */
function split(key, read, minFrequency) {
  const { training, heldOut } = splitPairs(read.pairs);
  const longest = Math.max(
    ...read.pairs.flatMap(({ source, target }) => [source.length, target.length]),
  );
  const steps = Math.min(longest + 1, MOST_STEPS);
  const all = new DataSet(read.pairs, { minFrequency, steps });
  const { sourceVocabulary, targetVocabulary } = all;
  const shared = { sourceVocabulary, targetVocabulary, steps };
  const seen = new DataSet(training, shared);
  return {
    key,
    ...read,
    training: seen,
    unseen: heldOut.length > 0 ? new DataSet(heldOut, shared) : null,
  };
}

/** The newest first. @type {Data[]} */
let known = [];
/** A long text is named once. */
let named = { text: '', print: 0 };

/**
 * @param {State} state
 * @returns {Data | null} null where the reader's own text has no pair
 */
export function dataOf({ corpus, own, minFrequency }) {
  const ours = corpora[/** @type {keyof typeof corpora} */ (corpus)];
  if (!ours && named.text !== own) named = { text: own, print: hash(own) };
  const key = ours ? corpus : `own ${own.length} ${named.print} ${minFrequency}`;
  const found = known.find((data) => data.key === key);
  if (found) return found;
  const { make, targetUnit } = ours ?? {};
  const read = make
    ? { pairs: make(), problems: [], sourceUnit: /** @type {const} */ ('words'), targetUnit }
    : readPairs(own, { limit: MOST_PAIRS });
  if (read.pairs.length === 0) return null;
  const data = split(key, read, ours ? 1 : minFrequency);
  known = [data, ...known].slice(0, 3);
  return data;
}

/**
 * A typed sentence as tokens of the source, cut as the corpus is cut.
 * @param {Data} data
 * @param {string} sentence
 */
export function sourceTokens({ sourceUnit, training }, sentence) {
  return tokensOf(sentence, sourceUnit, training.sourceVocabulary).slice(0, MOST_STEPS - 1);
}

/**
 * The pair of the corpus with this source, if there is one.
 * @param {Data} data
 * @param {readonly string[]} tokens
 * @returns {Pair | undefined}
 */
export function pairOf({ pairs }, tokens) {
  const wanted = tokens.join(' ');
  return pairs.find(({ source }) => source.join(' ') === wanted);
}
