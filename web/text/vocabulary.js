/**
 * A vocabulary: tokens ↔ ids 0 … V−1.
 *
 * Ids come in the order of D2L's `Vocab`: first the special tokens <unk> <pad> <bos> <eos>, then the
 * tokens that occur at least `minFrequency` times, the most frequent first and among equals the one
 * seen first. A token that is not in it has the id of <unk>. The list of tokens is all there is to
 * store: `new Vocabulary(tokens)` is the same vocabulary again.
 */

export const SPECIAL_TOKENS = Object.freeze(['<unk>', '<pad>', '<bos>', '<eos>']);
export const [UNK, PAD, BOS, EOS] = SPECIAL_TOKENS.keys();

export class Vocabulary {
  /** @type {Map<string, number>} */
  #ids;

  /** @param {readonly string[]} tokens  by id */
  constructor(tokens) {
    SPECIAL_TOKENS.forEach((token, id) => {
      if (tokens[id] === token) return;
      throw new RangeError(`token ${id} of a vocabulary is "${tokens[id]}"; it has to be ${token}`);
    });
    this.tokens = Object.freeze([...tokens]);
    this.#ids = new Map(tokens.map((token, id) => [token, id]));
    if (this.#ids.size < tokens.length) {
      const twice = tokens.find((token, id) => this.#ids.get(token) !== id);
      throw new RangeError(`a vocabulary has the token "${twice}" twice`);
    }
  }

  /** V */
  get size() {
    return this.tokens.length;
  }

  /** How many of the tokens are words of the sentences. */
  get words() {
    return this.size - SPECIAL_TOKENS.length;
  }

  /** @param {string} token */
  has(token) {
    return this.#ids.has(token);
  }

  /** @param {string} token */
  id(token) {
    return this.#ids.get(token) ?? UNK;
  }

  /** @param {number} id */
  token(id) {
    const token = this.tokens[id];
    if (token === undefined) {
      throw new RangeError(`id ${id} is not in a vocabulary of ${this.size} tokens`);
    }
    return token;
  }
}

/**
 * @param {Iterable<readonly string[]>} sentences
 * @param {number} [minFrequency]  rarer tokens become <unk>
 */
export function countVocabulary(sentences, minFrequency = 1) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const sentence of sentences) {
    for (const token of sentence) counts.set(token, (counts.get(token) ?? 0) + 1);
  }
  for (const token of SPECIAL_TOKENS) counts.delete(token);
  const frequent = [...counts].filter(([, count]) => count >= minFrequency);
  frequent.sort(([, a], [, b]) => b - a); // stable: the one seen first stays first
  return new Vocabulary([...SPECIAL_TOKENS, ...frequent.map(([token]) => token)]);
}
