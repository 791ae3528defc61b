/**
 * What models of sentences share: ids in, logits out, training on labels, decoding.
 */

import { AttentionError } from './error.js';
import { checkNames, integer, number, required, seed } from './options.js';
import { reshape, toTensor } from './tensor.js';
import { checkTraining, TrainableModel } from './trainable.js';

/** @typedef {import('./engine.js').Core} Core */
/** @typedef {import('./override.js').Override} Override */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').TensorLike} TensorLike */
/**
 * @typedef {object} SequenceInput
 * @property {TensorLike} [source]  ids [Ts] or [B, Ts]
 * @property {TensorLike} [sourceLens]  [B]; tokens from there on are padding
 * @property {TensorLike} [target]  ids [Tt] or [B, Tt]
 * @property {TensorLike} [targetLens]  [B]
 * @property {Override[]} [overrides]  of this pass alone
 */

/**
 * @typedef {object} DecodeOptions
 * @property {'greedy' | 'beam' | 'sample'} [method]  default 'greedy'
 * @property {'none' | 'representations' | 'keys-values'} [cache]  what stays from token to token: nothing, the
 *   inputs of self-attention (as D2L teaches), projected keys and values (default); the result is the same
 * @property {'correct' | 'as-d2l'} [positions]  as-d2l: with a cache every new token stands at position 0
 * @property {number} [maxLength]  of new tokens, default 10
 * @property {number} [prefill]  tokens of the target that the first step reads, the others come one by one; 0
 *   (default): all of them
 * @property {number} [bos]  the first token where the input has no target
 * @property {number} [eos]  ends a sentence; without it all reach maxLength
 * @property {number} [beams]  of beam, default 4
 * @property {number} [lengthPenalty]  of beam, default 0.75: a sentence of L tokens, the end counted, is worth
 *   its log-probability ÷ L^lengthPenalty
 * @property {number} [temperature]  of sample, default 1
 * @property {number} [topK]  of sample: among the k likeliest
 * @property {number} [topP]  of sample: among the fewest that have this probability together
 * @property {number} [seed]  of sample, default 0
 */
/**
 * @typedef {object} Decoded
 * @property {number[]} tokens  the new ones, without the end
 * @property {number} score  log-probability, of beam ÷ L^lengthPenalty
 * @property {boolean} finished  whether the end came
 * @property {Omit<Decoded, 'beams'>[]} [beams]  of beam: all, best first
 */
/** @typedef {ArrayLike<number>} Ids  of one sentence */
/**
 * @template T
 * @typedef {{ source: T } | { source?: undefined, target: T }} Of  input whose sentences are given so
 */
/** @typedef {{ ids: Tensor, length: number }} Sentence  [1, T], from length on padding */
/** @typedef {{ ids: Tensor, lens?: Tensor }} Sentences  [B, T], [B] */
/** @typedef {'source' | 'target'} Side */

const BATCH = ['source', 'sourceLens', 'target', 'targetLens'];
const DECODE = [
  ...['method', 'cache', 'positions', 'maxLength', 'prefill', 'bos', 'eos', 'beams'],
  ...['lengthPenalty', 'temperature', 'topK', 'topP', 'seed'],
];

/**
 * Ids as [B, T].
 * @param {TensorLike} value
 * @param {string} option
 * @returns {Tensor}
 */
export function sentences(value, option) {
  const ids = toTensor(value, option);
  if (ids.shape.length === 1) return reshape(ids, [1, ids.shape[0]]);
  if (ids.shape.length === 2) return ids;
  throw new AttentionError(
    'BAD_SHAPE',
    `${option} has the shape [${ids.shape}]; ids must be [T] or [B, T]`,
    { option },
  );
}

/**
 * @param {TensorLike} value
 * @param {string} option
 * @param {Tensor} ids  [B, T], whose lengths they are
 * @returns {Tensor}  [B]
 */
function lengths(value, option, { shape: [batch, width] }) {
  const tensor = toTensor(value, option);
  const lens = tensor.shape.length === 0 ? reshape(tensor, [1]) : tensor;
  if (lens.shape.length !== 1 || lens.shape[0] !== batch) {
    throw new AttentionError(
      'BAD_SHAPE',
      `${option} has the shape [${lens.shape}]; for ${batch} sentences it must be [${batch}]`,
      { option },
    );
  }
  const bad = lens.data.findIndex(
    (length) => !Number.isInteger(length) || length < 0 || length > width,
  );
  if (bad < 0) return lens;
  throw new AttentionError(
    'BAD_VALUE',
    `${option} holds ${lens.data[bad]} for sentence ${bad}; it must be a whole number from 0 to its ` +
      `${width} tokens`,
    { option },
  );
}

/**
 * @param {number} id
 * @param {number} batch
 * @returns {Tensor}  [B, 1]
 */
const repeated = (id, batch) => ({
  shape: [batch, 1],
  data: new Float32Array(batch).fill(id),
});

/**
 * Row b with its padding.
 * @param {Sentences} sentences
 * @param {number} b
 * @returns {Sentence}
 */
function sentence({ ids: { shape, data }, lens }, b) {
  const width = shape[1];
  return {
    ids: { shape: [1, width], data: data.subarray(b * width, (b + 1) * width) },
    length: lens ? lens.data[b] : width,
  };
}

/**
 * @param {Sentence} sentence
 * @returns {Tensor}  [1, length]
 */
export const withoutPadding = ({ ids, length }) => ({
  shape: [1, length],
  data: ids.data.subarray(0, length),
});

/** @abstract */
export class SequenceModel extends TrainableModel {
  #forward;
  #sides;

  /**
   * @param {Core} core  its own
   * @param {{ create: () => number, forward: string, sides: Side[] }} model  forward: the core's function;
   *   sides: of the input that it looks at, the one with the logits last
   */
  constructor(core, { create, forward, sides }) {
    super(core, create);
    this.#forward = forward;
    this.#sides = sides;
  }

  /** The side whose tokens have logits. */
  get #answered() {
    return this.#sides[this.#sides.length - 1];
  }

  /**
   * Continues one sentence, on the tape.
   * @protected
   * @abstract
   * @param {Sentence | undefined} _source
   * @param {number} _prefix  on the tape: [1, P]
   * @param {number} _options
   * @returns {number}  what the core's function for it returned
   */
  continue(_source, _prefix, _options) {
    throw new Error('each model has its own');
  }

  /**
   * @param {SequenceInput} input
   * @returns {{ logits: Tensor }}  [B, T, V], [T, V] for ids [T]: of each next target token, of an encoder's
   *   source tokens
   */
  forward(input) {
    checkNames('forward', input, [...BATCH, 'overrides']);
    const { overrides, ...batch } = input;
    return this.record(overrides, () => {
      const logits = this.core.read(
        this.core.call(this.#forward, this.pointer, this.#batch(batch), 0, 0),
      );
      const ids = toTensor(input[this.#answered], this.#answered);
      return { logits: ids.shape.length === 1 ? reshape(logits, logits.shape.slice(1)) : logits };
    });
  }

  /**
   * One step of training; the tape then holds its tensors, for tensor() to read.
   * @param {SequenceInput & { labels: TensorLike }} batch  labels: the ids that should have come out, [B, T];
   *   -1 is not counted, nor is what lies behind the lengths
   * @param {import('./trainable.js').TrainOptions} [options]
   * @returns {import('./trainable.js').TrainResult & { tokens: number }}  tokens: that were counted
   */
  trainStep(batch, options = {}) {
    checkTraining(options);
    return this.#lossOf('trainStep', batch, options, 1, (loss) => ({
      ...this.descend(loss, options),
      tokens: this.core.call('counted_tokens', loss),
    }));
  }

  /**
   * What trainStep() would call the loss, without dropout and without learning.
   * @param {SequenceInput & { labels: TensorLike }} batch
   * @param {{ loss?: import('./trainable.js').TrainOptions['loss'] }} [options]
   * @returns {{ loss: number, tokens: number }}
   */
  loss(batch, options = {}) {
    checkNames('loss', options, ['loss']);
    return this.#lossOf('loss', batch, options, 0, (loss) => ({
      loss: this.core.read(loss).data[0],
      tokens: this.core.call('counted_tokens', loss),
    }));
  }

  /**
   * @template T
   * @param {string} what
   * @param {SequenceInput & { labels: TensorLike }} batch
   * @param {{ loss?: import('./trainable.js').TrainOptions['loss'] }} options
   * @param {0 | 1} training
   * @param {(loss: number) => T} use
   * @returns {T}
   */
  #lossOf(what, batch, { loss = 'mean' }, training, use) {
    checkNames(what, batch, [...BATCH, 'labels', 'overrides']);
    const { core } = this;
    return this.record(batch.overrides, () => {
      const fields = this.#batch(batch);
      const logits = core.call(this.#forward, this.pointer, fields, training, this.steps);
      const lengths = core.field(fields, 'transformer_batch', `${this.#answered}_lengths`);
      const labels = core.input('labels', sentences(batch.labels, 'labels'), ['B', 'T']);
      const reduction = core.choice('reduction', loss, 'loss');
      return use(core.call('cross_entropy', core.text('loss'), logits, labels, lengths, reduction));
    });
  }

  /**
   * Continues each sentence token by token. The tape then holds the last step of the last sentence.
   * @overload
   * @param {SequenceInput & Of<ArrayLike<Ids>>} input  target: tokens that are there already, by default bos alone
   * @param {DecodeOptions} [options]
   * @returns {Decoded[]}
   */
  /**
   * @overload
   * @param {SequenceInput & Of<Ids>} input
   * @param {DecodeOptions} [options]
   * @returns {Decoded}
   */
  /**
   * @overload
   * @param {SequenceInput} input
   * @param {DecodeOptions} [options]
   * @returns {Decoded | Decoded[]}  one for ids [T], a list for [B, T]
   */
  /**
   * @param {SequenceInput} input
   * @param {DecodeOptions} [options]
   * @returns {Decoded | Decoded[]}
   */
  decode(input, options = {}) {
    checkNames('decode', input, [...BATCH, 'overrides']);
    checkNames('decode', options, DECODE);
    if (this.#answered === 'source') {
      throw new AttentionError('BAD_VALUE', 'an encoder by itself cannot decode');
    }
    const { source, ...given } = this.#read(input);
    const count = source?.ids.shape[0] ?? 1;
    const target = given.target ?? {
      ids: repeated(required(integer(options.bos, 'bos'), 'bos'), count),
    };
    const beginnings = target.ids.shape[0];
    if (source && beginnings !== count) {
      throw new AttentionError(
        'BAD_SHAPE',
        `there are ${count} source sentences and ${beginnings} beginnings; they must agree`,
        { option: 'target' },
      );
    }
    const results = Array.from({ length: beginnings }, (_, b) =>
      this.record(input.overrides, () =>
        this.#decodeOne(source && sentence(source, b), sentence(target, b), {
          ...options,
          seed: ((seed(options.seed) ?? 0) + b) % 2 ** 32,
        }),
      ),
    );
    const first = source ? input.source : input.target;
    return toTensor(first ?? [], 'target').shape.length > 1 ? results : results[0];
  }

  /**
   * @param {Sentence | undefined} source
   * @param {Sentence} prefix
   * @param {DecodeOptions} options
   * @returns {Decoded}
   */
  #decodeOne(source, prefix, options) {
    const { core } = this;
    const end = integer(options.eos, 'eos') ?? -1;
    const fields = core.struct('decode_options', {
      method: options.method,
      cache: options.cache,
      positions: options.positions,
      max_length: integer(options.maxLength, 'maxLength', 1),
      prefill: integer(options.prefill, 'prefill'),
      end,
      beams: integer(options.beams, 'beams', 1),
      length_penalty: number(options.lengthPenalty, 'lengthPenalty'),
      temperature: number(options.temperature, 'temperature'),
      top_k: integer(options.topK, 'topK'),
      top_p: number(options.topP, 'topP'),
      seed: options.seed,
    });
    const tokens = core.input('prefix', withoutPadding(prefix), ['B', 'T']);
    const decoded = this.continue(source, tokens, fields);
    const { shape, data } = core.read(decoded);
    const scores = core.tensor('decoded_scores').data;
    const sentences = Array.from({ length: shape[0] }, (_, i) => {
      const row = Array.from(data.subarray(i * shape[1], (i + 1) * shape[1])).filter(
        (id) => id >= 0,
      );
      const finished = row.at(-1) === end;
      return { tokens: finished ? row.slice(0, -1) : row, score: scores[i], finished };
    }).filter(({ score }) => score > -Infinity);
    return options.method === 'beam' ? { ...sentences[0], beams: sentences } : sentences[0];
  }

  /**
   * What of the input this model looks at.
   * @param {SequenceInput} input
   * @returns {Partial<Record<Side, Sentences>>}
   */
  #read(input) {
    /** @type {Partial<Record<Side, Sentences>>} */
    const read = {};
    for (const side of this.#sides) {
      const value = input[side];
      if (value === undefined) continue;
      const ids = sentences(value, side);
      const lens = input[`${side}Lens`];
      read[side] = lens === undefined ? { ids } : { ids, lens: lengths(lens, `${side}Lens`, ids) };
    }
    return read;
  }

  /** @param {SequenceInput} input */
  #batch(input) {
    const { core } = this;
    /** @type {Record<string, number>} */
    const fields = {};
    for (const [side, { ids, lens }] of Object.entries(this.#read(input))) {
      fields[side] = core.input(side, ids, ['B', 'T']);
      if (lens) fields[`${side}_lengths`] = core.input(`${side}_lengths`, lens, ['B']);
    }
    return core.struct('transformer_batch', fields);
  }
}
