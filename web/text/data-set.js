/**
 * Pairs as the numbers a translation model trains on. For T steps:
 *
 *   source  words <eos> <pad> …         sourceLens  how many are not <pad>
 *   target  <bos> words …               the decoder's input: the labels one step later
 *   labels  words <eos> <pad> …         targetLens  how many are not <pad>
 *
 * A longer sentence is cut at T and then has no <eos>, as D2L cuts it.
 */

import { BOS, countVocabulary, EOS, PAD } from './vocabulary.js';

/** @typedef {import('./pairs.js').Pair} Pair */
/** @typedef {import('./vocabulary.js').Vocabulary} Vocabulary */
/**
 * @typedef {object} Batch  ids are [B][T]
 * @property {number[][]} source
 * @property {number[]} sourceLens  [B]
 * @property {number[][]} target
 * @property {number[]} targetLens  [B]
 * @property {number[][]} labels
 */

/**
 * One sentence of the encoder, or the labels of one.
 * @param {readonly string[]} tokens
 * @param {Vocabulary} vocabulary
 * @param {number} steps  T
 * @returns {{ ids: number[], length: number }}  ids: [T]
 */
export function encode(tokens, vocabulary, steps) {
  const ids = [...tokens.map((token) => vocabulary.id(token)), EOS].slice(0, steps);
  const length = ids.length;
  return { ids: ids.concat(Array(steps - length).fill(PAD)), length };
}

/**
 * Ids that a model wrote, up to <eos>, as tokens.
 * @param {Iterable<number>} ids
 * @param {Vocabulary} vocabulary
 */
export function decode(ids, vocabulary) {
  const tokens = [];
  for (const id of ids) {
    if (id === EOS) break;
    tokens.push(vocabulary.token(id));
  }
  return tokens;
}

export class DataSet {
  #rows;

  /**
   * @param {readonly Pair[]} pairs
   * @param {object} [options]
   * @param {Vocabulary} [options.sourceVocabulary]  default: of these pairs
   * @param {Vocabulary} [options.targetVocabulary]
   * @param {number} [options.minFrequency]  of a token of these vocabularies, default 1
   * @param {number} [options.steps]  T, default: what the longest sentence and its <eos> need
   */
  constructor(pairs, { sourceVocabulary, targetVocabulary, minFrequency = 1, steps } = {}) {
    if (pairs.length === 0) throw new RangeError('a data set has 0 pairs; it needs at least 1');
    if (steps !== undefined && !(Number.isInteger(steps) && steps >= 1)) {
      throw new RangeError(`steps is ${steps}; it has to be a whole number from 1`);
    }
    const sources = pairs.map((pair) => pair.source);
    const targets = pairs.map((pair) => pair.target);
    this.pairs = pairs;
    this.steps =
      steps ??
      1 + [...sources, ...targets].reduce((most, tokens) => Math.max(most, tokens.length), 0);
    this.sourceVocabulary = sourceVocabulary ?? countVocabulary(sources, minFrequency);
    this.targetVocabulary = targetVocabulary ?? countVocabulary(targets, minFrequency);
    this.#rows = pairs.map((pair) => {
      const source = encode(pair.source, this.sourceVocabulary, this.steps);
      const labels = encode(pair.target, this.targetVocabulary, this.steps);
      return { source, labels, target: [BOS, ...labels.ids.slice(0, -1)] };
    });
  }

  get size() {
    return this.pairs.length;
  }

  /**
   * @param {Iterable<number>} places  of the pairs in it
   * @returns {Batch}
   */
  batch(places) {
    const rows = Array.from(places, (place) => {
      const row = this.#rows[place];
      if (row) return row;
      throw new RangeError(`pair ${place} is not in a data set of ${this.size} pairs`);
    });
    return {
      source: rows.map((row) => row.source.ids),
      sourceLens: rows.map((row) => row.source.length),
      target: rows.map((row) => row.target),
      targetLens: rows.map((row) => row.labels.length),
      labels: rows.map((row) => row.labels.ids),
    };
  }

  /**
   * One epoch. The last batch holds what is left.
   * @param {ArrayLike<number>} order  a permutation of all places, from the core
   * @param {number} batchSize
   * @returns {Generator<Batch, void, undefined>}
   */
  *batches(order, batchSize) {
    if (!(Number.isInteger(batchSize) && batchSize >= 1)) {
      throw new RangeError(`the batch size is ${batchSize}; it has to be a whole number from 1`);
    }
    const places = Array.from(order);
    if (places.length !== this.size || new Set(places).size !== this.size) {
      throw new RangeError(`an order of ${places.length} is no permutation of ${this.size} pairs`);
    }
    for (let from = 0; from < places.length; from += batchSize) {
      yield this.batch(places.slice(from, from + batchSize));
    }
  }
}
