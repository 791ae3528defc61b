/**
 * The Transformer: ids in, logits and every tensor on the way out. (Vaswani et al. 2017; torch
 * nn.Transformer; D2L "The Transformer Architecture".)
 */

import { AttentionError } from './error.js';
import { checkNames, flag, integer, number, seed } from './options.js';
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

const CONFIG = [
  ...['kind', 'sourceVocab', 'targetVocab', 'hiddens', 'heads', 'layers', 'feedForward', 'norm'],
  ...['finalNorm', 'activation', 'position', 'maxLength', 'bias', 'attentionBias'],
  ...['embeddingScale', 'dropout', 'initialiser', 'seed'],
];
const BATCH = ['source', 'sourceLens', 'target', 'targetLens'];
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
