/**
 * The Transformer: ids in, logits and every tensor on the way out. (Vaswani et al. 2017; torch
 * nn.Transformer; D2L "The Transformer Architecture".)
 */

import { AttentionError } from './error.js';
import { checkNames, flag, integer, number, required, seed } from './options.js';
import { reshape, toTensor } from './tensor.js';
import { checkTraining, TrainableModel } from './trainable.js';

/** @typedef {import('./engine.js').Core} Core */
/** @typedef {import('./engine.js').Override} Override */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').TensorLike} TensorLike */
/**
 * @typedef {object} TransformerConfig
 * @property {'encoder-decoder' | 'encoder' | 'decoder'} [kind]  default 'encoder-decoder'
 * @property {number} [sourceVocab]  ids of the source; needed but for a decoder
 * @property {number} [targetVocab]  ids of the target; needed but for an encoder
 * @property {number} [hiddens]  H, default 32
 * @property {number} [heads]  default 4
 * @property {number | { encoder?: number, decoder?: number }} [layers]  default 2 of each
 * @property {number} [feedForward]  F, default 64
 * @property {'post' | 'pre'} [norm]  default 'post'
 * @property {boolean} [finalNorm]  a norm behind each stack of layers; by default with norm 'pre'
 * @property {'relu' | 'gelu' | 'gelu-tanh'} [activation]  default 'relu'
 * @property {import('./models.js').Position} [position]  default 'sinusoidal'
 * @property {number} [maxLength]  that sinusoidal and learned positions reach, default 1000
 * @property {boolean} [bias]  of linear layers and norms, default true
 * @property {boolean} [attentionBias]  of the projections of attention, by default as bias
 * @property {boolean} [embeddingScale]  embeddings × √H, default true
 * @property {number | { embedding?: number, attention?: number, feedForward?: number,
 *   residual?: number }} [dropout]  everywhere or by place, default 0
 * @property {'torch' | 'xavier'} [initialiser]  as nn.Transformer (default), or each matrix by itself as D2L
 * @property {number} [seed]  of parameters and dropout, default 0
 */
/**
 * @typedef {object} TransformerInput
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
/**
 * @typedef {object} Consistency
 * @property {{ name: string, differences: Float32Array }[]} layers  for each token the largest difference between
 *   the full pass and decoding step by step
 * @property {number} largest
 */

const CONFIG = [
  ...['kind', 'sourceVocab', 'targetVocab', 'hiddens', 'heads', 'layers', 'feedForward', 'norm'],
  ...['finalNorm', 'activation', 'position', 'maxLength', 'bias', 'attentionBias'],
  ...['embeddingScale', 'dropout', 'initialiser', 'seed'],
];
const BATCH = ['source', 'sourceLens', 'target', 'targetLens'];
const DECODE = [
  ...['method', 'cache', 'positions', 'maxLength', 'bos', 'eos', 'beams', 'lengthPenalty'],
  ...['temperature', 'topK', 'topP', 'seed'],
];
const PLACES = ['embedding', 'attention', 'feedForward', 'residual'];

/**
 * A number for all of these names, or one for each.
 * @template {string} Name
 * @param {unknown} given
 * @param {string} option
 * @param {Name[]} names
 * @returns {Partial<Record<Name, any>>}
 */
function spreadOver(given, option, names) {
  if (typeof given !== 'object' || given === null) {
    return /** @type {any} */ (Object.fromEntries(names.map((name) => [name, given])));
  }
  checkNames(option, given, names);
  return given;
}

/** @param {boolean | undefined} value @param {string} option */
const switchOf = (value, option) => {
  const on = flag(value, option);
  return on === undefined ? undefined : Number(on);
};

/** @param {TransformerConfig} config */
function configFields(config) {
  checkNames('transformer', config, CONFIG);
  const layers = spreadOver(config.layers, 'layers', ['encoder', 'decoder']);
  const dropout = spreadOver(config.dropout, 'dropout', PLACES);
  return {
    kind: config.kind,
    source_vocab: integer(config.sourceVocab, 'sourceVocab', 1),
    target_vocab: integer(config.targetVocab, 'targetVocab', 1),
    hiddens: integer(config.hiddens, 'hiddens', 1),
    heads: integer(config.heads, 'heads', 1),
    encoder_layers: integer(layers.encoder, 'layers', 1),
    decoder_layers: integer(layers.decoder, 'layers', 1),
    feed_forward: integer(config.feedForward, 'feedForward', 1),
    norm: config.norm,
    final_norm: switchOf(config.finalNorm, 'finalNorm') ?? Number(config.norm === 'pre'),
    activation: config.activation,
    position: config.position,
    max_length: integer(config.maxLength, 'maxLength', 1),
    bias: switchOf(config.bias, 'bias'),
    attention_bias: switchOf(config.attentionBias ?? config.bias, 'attentionBias'),
    embedding_scale: switchOf(config.embeddingScale, 'embeddingScale'),
    embedding_dropout: number(dropout.embedding, 'dropout.embedding'),
    attention_dropout: number(dropout.attention, 'dropout.attention'),
    feed_forward_dropout: number(dropout.feedForward, 'dropout.feedForward'),
    residual_dropout: number(dropout.residual, 'dropout.residual'),
    initialiser: config.initialiser,
    seed: seed(config.seed),
  };
}

/**
 * Ids as [B, T].
 * @param {TensorLike} value
 * @param {string} option
 * @returns {Tensor}
 */
function sentences(value, option) {
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
 * @returns {Tensor}  [B]
 */
function lengths(value, option) {
  const lens = toTensor(value, option);
  return lens.shape.length === 0 ? reshape(lens, [1]) : lens;
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
 * Row b without its padding: [1, length].
 * @param {Tensor} ids  [B, T]
 * @param {Tensor | undefined} lens
 * @param {number} b
 * @returns {Tensor}
 */
function sentence({ shape: [batch, width], data }, lens, b) {
  const length = lens ? lens.data[b] : width;
  if (lens && lens.data.length !== batch) {
    throw new AttentionError(
      'BAD_SHAPE',
      `there are ${lens.data.length} lengths for ${batch} sentences; there must be as many`,
    );
  }
  if (!Number.isInteger(length) || length < 0 || length > width) {
    throw new AttentionError(
      'BAD_VALUE',
      `the length ${length} of sentence ${b} is not a whole number from 0 to its ${width} tokens`,
    );
  }
  return { shape: [1, length], data: data.subarray(b * width, b * width + length) };
}

export class Transformer extends TrainableModel {
  /**
   * Use engine.transformer().
   * @param {Core} core
   * @param {TransformerConfig} config
   */
  constructor(core, config) {
    const fields = configFields(config);
    super(core, () => core.call('transformer', core.struct('transformer_config', fields)));
  }

  /**
   * @param {TransformerInput} input
   * @returns {{ logits: Tensor }}  [B, T, V], [T, V] for ids [T]: of each next target token, of an encoder's
   *   source tokens
   */
  forward(input) {
    checkNames('forward', input, [...BATCH, 'overrides']);
    const { overrides, ...batch } = input;
    return this.record(overrides, () => {
      const logits = this.core.read(
        this.core.call('transformer_forward', this.pointer, this.#batch(batch), 0, 0),
      );
      const ids = toTensor(input.target ?? input.source ?? [], 'target');
      return { logits: ids.shape.length === 1 ? reshape(logits, logits.shape.slice(1)) : logits };
    });
  }

  /**
   * One step of training; the tape then holds its tensors, for tensor() to read.
   * @param {TransformerInput & { labels: TensorLike }} batch  labels: the ids that should have come out, [B, T];
   *   -1 is not counted, nor is what lies behind the lengths
   * @param {import('./trainable.js').TrainOptions} [options]
   * @returns {import('./trainable.js').TrainResult}
   */
  trainStep(batch, options = {}) {
    checkTraining(options);
    return this.#lossOf('trainStep', batch, options, 1, (loss) => this.descend(loss, options));
  }

  /**
   * What trainStep() would call the loss, without dropout and without learning.
   * @param {TransformerInput & { labels: TensorLike }} batch
   * @param {{ loss?: import('./trainable.js').TrainOptions['loss'] }} [options]
   * @returns {{ loss: number, tokens: number }}
   */
  loss(batch, options = {}) {
    checkNames('loss', options, ['loss']);
    return this.#lossOf('loss', batch, options, 0, (loss) => this.measure(loss));
  }

  /**
   * @template T
   * @param {string} what
   * @param {TransformerInput & { labels: TensorLike }} batch
   * @param {{ loss?: import('./trainable.js').TrainOptions['loss'] }} options
   * @param {0 | 1} training
   * @param {(loss: number) => T} use
   * @returns {T}
   */
  #lossOf(what, batch, options, training, use) {
    checkNames(what, batch, [...BATCH, 'labels', 'overrides']);
    const { core } = this;
    return this.record(batch.overrides, () => {
      const fields = this.#batch(batch);
      const logits = core.call('transformer_forward', this.pointer, fields, training, this.steps);
      const lens = batch.target === undefined ? 'source_lengths' : 'target_lengths';
      const lengths = core.field(fields, 'transformer_batch', lens);
      const labels = sentences(batch.labels, 'labels');
      return use(this.crossEntropy(logits, labels, lengths, options.loss));
    });
  }

  /**
   * Continues each sentence token by token. The tape then holds the last step of the last sentence.
   * @param {TransformerInput} input  target: tokens that are there already, by default bos alone
   * @param {DecodeOptions} [options]
   * @returns {Decoded | Decoded[]}  one for ids [T], a list for [B, T]
   */
  decode(input, options = {}) {
    checkNames('decode', input, [...BATCH, 'overrides']);
    checkNames('decode', options, DECODE);
    const batched = toTensor(input.source ?? input.target ?? [], 'source').shape.length > 1;
    const source = input.source === undefined ? undefined : sentences(input.source, 'source');
    const { sourceLens, targetLens } = input;
    const sourceLengths = sourceLens === undefined ? undefined : lengths(sourceLens, 'sourceLens');
    const targetLengths = targetLens === undefined ? undefined : lengths(targetLens, 'targetLens');
    const count = source?.shape[0] ?? 1;
    const target =
      input.target === undefined
        ? repeated(required(integer(options.bos, 'bos'), 'bos'), count)
        : sentences(input.target, 'target');
    if (source && target.shape[0] !== count) {
      throw new AttentionError(
        'BAD_SHAPE',
        `there are ${count} source sentences and ${target.shape[0]} beginnings; they must agree`,
        { option: 'target' },
      );
    }
    const results = Array.from({ length: target.shape[0] }, (_, b) =>
      this.record(input.overrides, () =>
        this.#decodeOne(
          source && sentence(source, sourceLengths, b),
          sentence(target, targetLengths, b),
          { ...options, seed: ((seed(options.seed) ?? 0) + b) % 2 ** 32 },
        ),
      ),
    );
    return batched ? results : results[0];
  }

  /**
   * @param {Tensor | undefined} source  [1, Ts]
   * @param {Tensor} prefix  [1, P]
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
      end,
      beams: integer(options.beams, 'beams', 1),
      length_penalty: number(options.lengthPenalty, 'lengthPenalty'),
      temperature: number(options.temperature, 'temperature'),
      top_k: integer(options.topK, 'topK'),
      top_p: number(options.topP, 'topP'),
      seed: options.seed,
    });
    const decoded = core.call(
      'decode',
      this.pointer,
      source ? core.input('source', source, ['B', 'T']) : 0,
      core.input('prefix', prefix, ['B', 'T']),
      fields,
    );
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
   * Whether decoding token by token computes what the full causal pass does, layer by layer.
   * @param {{ source?: TensorLike, target: TensorLike }} input  one sentence [T] each
   * @param {{ cache?: DecodeOptions['cache'], positions?: DecodeOptions['positions'], prefill?: number
   *   }} [options]  prefill: tokens that the first step reads, default 1
   * @returns {Consistency}
   */
  consistency(input, options = {}) {
    checkNames('consistency', input, ['source', 'target']);
    checkNames('consistency', options, ['cache', 'positions', 'prefill']);
    const { cache = 'keys-values', positions = 'correct' } = options;
    const { core } = this;
    return this.record(undefined, () => {
      const report = core.read(
        core.call(
          'consistency',
          this.pointer,
          input.source === undefined
            ? 0
            : core.input('source', sentences(input.source, 'source'), ['B', 'T']),
          core.input('target', sentences(input.target, 'target'), ['B', 'T']),
          integer(options.prefill, 'prefill', 1) ?? 1,
          core.choice('cache', cache, 'cache'),
          core.choice('decode_positions', positions, 'positions'),
        ),
      );
      const [rows, length] = report.shape;
      const layers = Array.from({ length: rows }, (_, i) => ({
        name: i + 1 < rows ? `decoder.${i}.output` : 'logits',
        differences: report.data.slice(i * length, (i + 1) * length),
      }));
      return { layers, largest: report.data.reduce((most, x) => Math.max(most, x), 0) };
    });
  }

  /** @param {TransformerInput} input */
  #batch({ source, sourceLens, target, targetLens }) {
    const { core } = this;
    /** @param {TensorLike | undefined} value @param {string} option */
    const ids = (value, option) =>
      value === undefined ? undefined : core.input(option, sentences(value, option), ['B', 'T']);
    /** @param {TensorLike | undefined} value @param {string} option @param {string} name */
    const lens = (value, option, name) =>
      value === undefined ? undefined : core.input(name, lengths(value, option), ['B']);
    return core.struct('transformer_batch', {
      source: ids(source, 'source'),
      source_lengths: lens(sourceLens, 'sourceLens', 'source_lengths'),
      target: ids(target, 'target'),
      target_lengths: lens(targetLens, 'targetLens', 'target_lengths'),
    });
  }
}
