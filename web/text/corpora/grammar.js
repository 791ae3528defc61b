/**
 * What a parallel corpus is made of: sentences written word by word in two languages, with the keys
 * that say which words mean the same.
 *
 *   pairOf('i/s drew/vt a/d red/a bird/n ./p',
 *          "j'/s ai/t dessiné/v un/d oiseau/n rouge/a ./p")
 *
 * A word is `text/keys`, each key one letter; two words that share a key are aligned. A word without
 * keys belongs to its own language alone.
 *
 *   s subject   v verb   t tense   x negation   q question   d determiner   a adjective   n noun   p end
 */

import { hash } from '../pairs.js';

/** @typedef {Required<import('../pairs.js').Pair>} AlignedPair */
/** @typedef {typeof FORMS[number]} Form */

export const FORMS = /** @type {const} */ (['statement', 'negation', 'question']);

/**
 * An English sentence. A question begins with its auxiliary, and `not` follows it.
 * @param {Form} form
 * @param {string} subject
 * @param {string} auxiliary  '' where the verb stands alone
 * @param {string} rest
 */
export function english(form, subject, auxiliary, rest) {
  if (form === 'question') return `${auxiliary}q ${subject} ${rest} ?/p`;
  return `${subject} ${auxiliary} ${form === 'negation' ? 'not/x' : ''} ${rest} ./p`;
}

/**
 * @param {string} source
 * @param {string} target
 * @returns {AlignedPair}
 */
export function pairOf(source, target) {
  const [from, to] = [source, target].map(
    (text) => text.match(/\S+/g)?.map((word) => word.split('/')) ?? [],
  );
  /** @type {[number, number][]} */
  const alignment = [];
  from.forEach(([, left = ''], i) => {
    to.forEach(([, right = ''], j) => {
      if ([...left].some((key) => right.includes(key))) alignment.push([i, j]);
    });
  });
  return { source: from.map(([word]) => word), target: to.map(([word]) => word), alignment };
}

/**
 * So many of the phrases, by a hash of the English sentence that each makes: it spreads them evenly, and
 * is the same on every machine.
 * @template T
 * @param {Iterable<T>} phrases
 * @param {number} count
 * @param {(phrase: T) => string} sentenceOf
 * @returns {T[]}
 */
export function choose(phrases, count, sentenceOf) {
  return Array.from(phrases, (phrase) => ({ phrase, rank: hash(sentenceOf(phrase)) }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ phrase }) => phrase);
}
