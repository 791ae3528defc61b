/**
 * The Transformer: ids in, logits and every tensor on the way out. (Vaswani et al. 2017; torch
 * nn.Transformer; D2L "The Transformer Architecture".)
 */

import { checkNames, checkParts, integer, number, seed, switchOf } from './options.js';
import { SequenceModel, sentences, withoutPadding } from './sequences.js';
import { torchStacks } from './torch-names.js';

/** @typedef {import('./engine.js').Core} Core */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').TensorLike} TensorLike */
/** @typedef {import('./sequences.js').DecodeOptions} DecodeOptions */
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
/** @type {Record<string, import('./sequences.js').Side[]>} */
const SIDES = {
  'encoder-decoder': ['source', 'target'],
  encoder: ['source'],
  decoder: ['target'],
};
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
  checkParts(option, given, names);
  return given;
}

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

export class Transformer extends SequenceModel {
  /**
   * Use engine.transformer().
   * @param {Core} core
   * @param {TransformerConfig} config
   */
  constructor(core, config) {
    const fields = configFields(config);
    super(core, {
      create: () => core.call('transformer', core.struct('transformer_config', fields)),
      forward: 'transformer_forward',
      sides: SIDES[config.kind ?? 'encoder-decoder'],
    });
  }

  /**
   * @protected
   * @override
   * @param {string[]} names
   */
  torchStacks(names) {
    return torchStacks(names);
  }

  /**
   * @protected
   * @override
   * @param {import('./sequences.js').Sentence | undefined} source
   * @param {number} prefix
   * @param {number} options
   */
  continue(source, prefix, options) {
    const { core } = this;
    const tokens = source ? core.input('source', withoutPadding(source), ['B', 'T']) : 0;
    return core.call('decode', this.pointer, tokens, prefix, options);
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
}
