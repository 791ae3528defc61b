/**
 * The functions of an engine. Everything here is a plain call: tensors in, copies of tensors out. Tensors
 * are { shape, data } or nested arrays. A call that fails throws an AttentionError and changes nothing;
 * the next call works.
 */

import { Core } from './engine.js';
import { AttentionError, show } from './error.js';
import { KernelRegression } from './kernel-regression.js';
import { AttentionLayer } from './models.js';
import {
  ATTENTION_OPTIONS,
  attentionFields,
  checkNames,
  checkParts,
  integer,
  MASK_OPTIONS,
  multiHeadFields,
  number,
  required,
  scoreFields,
  seed,
  text,
  weightFields,
} from './options.js';
import {
  attentionResult,
  fourAxes,
  multiHeadResult,
  rowFlags,
  sequences,
  withAxes,
} from './results.js';
import { Seq2seq } from './seq2seq.js';
import { checkRank, reshape, toTensor } from './tensor.js';
import { Transformer } from './transformer.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').TensorLike} TensorLike */
/** @typedef {import('./engine.js').TensorInfo} TensorInfo */
/** @typedef {import('./override.js').Override} Override */
/** @typedef {import('./options.js').MaskOptions} MaskOptions */
/** @typedef {import('./options.js').AttentionOptions} AttentionOptions */
/** @typedef {import('./models.js').AttentionLayerConfig} AttentionLayerConfig */
/** @typedef {{ weight: TensorLike, bias?: TensorLike }} Linear  weight [out, in], bias [out] */
/** @typedef {{ query: Linear, key: Linear, value: Linear, output: Linear }} MultiHeadParams */
/** @typedef {{ weight: TensorLike }} Weight */
/**
 * @typedef {{ query: Weight, key: Weight, value: Weight } | Weight | { width?: TensorLike }} ScoreParams
 *   of the scores additive, general and gaussian
 */
/** @typedef {'halves' | 'interleaved'} Pairing */
/** @typedef {Pairing | { pairing: Pairing, base?: number }} Rotary */
/**
 * @typedef {{ overrides?: Override[] }} WithOverrides  by the names and axes of tensors(): there, query,
 *   key, scores and weights always have four axes
 */
/** @typedef {import('./results.js').WeightsResult} WeightsResult */
/** @typedef {import('./results.js').AttentionResult} AttentionResult */
/** @typedef {import('./results.js').MultiHeadResult} MultiHeadResult */
/**
 * @template {AttentionResult} T
 * @typedef {import('./results.js').Whole<T>} Whole
 */
/**
 * @template T
 * @typedef {import('./results.js').WantsWeights<T>} WantsWeights
 */
/** @typedef {'relu' | 'gelu' | 'gelu-tanh'} Activation */
/** @typedef {AttentionOptions & WithOverrides & { params?: ScoreParams }} AttentionCall */
/**
 * @typedef {AttentionOptions & WithOverrides & {
 *   heads: number, params: MultiHeadParams, headMask?: TensorLike, scoreParams?: ScoreParams,
 *   rotary?: Rotary }} MultiHeadCall
 */
/**
 * @typedef {Omit<MultiHeadCall, 'params'> & {
 *   norm?: 'post' | 'pre', activation?: Activation, eps?: number,
 *   params: { attention: MultiHeadParams, norm1?: Linear, norm2?: Linear, linear1: Linear,
 *     linear2: Linear } }} EncoderLayerCall
 */

/** Letters of a linear layer's axes. @param {string} out @param {string} width of what comes in */
const linear = (out, width) => ({ weight: [out, width], bias: [out] });
const PROJECTION = linear('H', 'H');
const MULTI_HEAD = { query: PROJECTION, key: PROJECTION, value: PROJECTION, output: PROJECTION };
const FEED_FORWARD = { linear1: linear('F', 'H'), linear2: linear('H', 'F') };
const NORM = { weight: ['H'], bias: ['H'] };
const NORMS = { norm1: NORM, norm2: NORM };

export class Engine {
  #core;
  /** Whether the SIMD binary runs. */
  simd;

  /**
   * Use createEngine().
   * @param {Core} core
   */
  constructor(core) {
    this.#core = core;
    this.simd = core.simd;
  }

  /** @returns {number}  a hash over all functions, equal on every build and device */
  selfTest() {
    return this.#core.selfTest();
  }

  /** @returns {TensorInfo[]}  every tensor of the last call, in the order of computation */
  tensors() {
    return this.#core.tensors();
  }

  /**
   * @param {string} name  one of tensors()
   * @returns {Tensor}
   */
  tensor(name) {
    return this.#core.tensor(name);
  }

  /**
   * softmax over the last axis with masks. (D2L masked_softmax.)
   * @param {TensorLike} scores  [Tk], [Tq, Tk], [B, Tq, Tk] or [B, h, Tq, Tk]
   * @param {MaskOptions & WithOverrides} [options]
   * @returns {WeightsResult}
   */
  maskedSoftmax(scores, options = {}) {
    checkNames('maskedSoftmax', options, [...MASK_OPTIONS, 'overrides']);
    const given = toTensor(scores, 'scores');
    const shape = fourAxes(given, 'scores');
    const core = this.#core;
    return core.record(options.overrides, () => {
      const pointer = core.input('scores', reshape(given, shape), ['B', 'h', 'Tq', 'Tk']);
      const fields = attentionFields(core, options, {
        batched: given.shape.length > 2,
        heads: shape[1],
      });
      const weights = core.call(
        'masked_softmax',
        pointer,
        core.struct('attention_options', fields),
      );
      return { weights: reshape(core.read(weights), given.shape), ...rowFlags(core) };
    });
  }

  /**
   * Attention of queries over keys and values. (Vaswani et al. 2017 §3.2.1; torch
   * scaled_dot_product_attention; D2L "Attention Scoring Functions".)
   * @overload
   * @param {TensorLike} q  [Tq, D], [B, Tq, D] or [B, h, Tq, D]
   * @param {TensorLike} k  the same axes, Tk long
   * @param {TensorLike} v  the same axes, Tk long, any width
   * @param {WantsWeights<AttentionCall>} [options]  params by score:
   *   additive { query: { weight [A, Dq] }, key: { weight [A, Dk] }, value: { weight [1, A] } },
   *   general { weight [Dq, Dk] }, gaussian { width }, which multiplies distances
   * @returns {Whole<AttentionResult>}  with the axes of q
   */
  /**
   * @overload
   * @param {TensorLike} q
   * @param {TensorLike} k
   * @param {TensorLike} v
   * @param {AttentionCall} options
   * @returns {AttentionResult}
   */
  /**
   * @param {TensorLike} q
   * @param {TensorLike} k
   * @param {TensorLike} v
   * @param {AttentionCall} [options]
   * @returns {AttentionResult}
   */
  attention(q, k, v, options = {}) {
    checkNames('attention', options, [...ATTENTION_OPTIONS, 'params', 'overrides']);
    const core = this.#core;
    const [query, key, value] = [toTensor(q, 'q'), toTensor(k, 'k'), toTensor(v, 'v')];
    const rank = query.shape.length;
    if (rank < 2 || rank > 4 || key.shape.length !== rank || value.shape.length !== rank) {
      throw new AttentionError(
        'BAD_SHAPE',
        `q, k and v have the shapes [${query.shape}], [${key.shape}] and [${value.shape}]; ` +
          'all must be [T, D], [B, T, D] or [B, h, T, D]',
      );
    }
    return core.record(options.overrides, () => {
      const inputs = [
        core.input('query', reshape(query, fourAxes(query, 'q')), ['B', 'h', 'Tq', 'D']),
        core.input('key', reshape(key, fourAxes(key, 'k')), ['B', 'h', 'Tk', 'D']),
        core.input('value', reshape(value, fourAxes(value, 'v')), ['B', 'h', 'Tk', 'D']),
      ];
      const fields = {
        ...attentionFields(core, options, {
          batched: rank > 2,
          heads: rank === 4 ? query.shape[1] : 1,
        }),
        ...scoreFields(core, options.score, options.params, 'params'),
      };
      const output = core.call('attention', ...inputs, core.struct('attention_options', fields));
      return {
        output: withAxes(core.read(output), rank),
        ...attentionResult(core, options, rank),
      };
    });
  }

  /**
   * (Vaswani et al. 2017 §3.2.2; torch nn.MultiheadAttention; D2L "Multi-Head Attention".)
   * @overload
   * @param {TensorLike} q  [Tq, Dq] or [B, Tq, Dq]
   * @param {TensorLike} k  [Tk, Dk] or [B, Tk, Dk]
   * @param {TensorLike} v  [Tk, Dv] or [B, Tk, Dv]
   * @param {WantsWeights<MultiHeadCall>} options  headMask [h] multiplies the heads' outputs
   * @returns {Whole<MultiHeadResult>}
   */
  /**
   * @overload
   * @param {TensorLike} q
   * @param {TensorLike} k
   * @param {TensorLike} v
   * @param {MultiHeadCall} options
   * @returns {MultiHeadResult}
   */
  /**
   * @param {TensorLike} q
   * @param {TensorLike} k
   * @param {TensorLike} v
   * @param {MultiHeadCall} options
   * @returns {MultiHeadResult}
   */
  multiHeadAttention(q, k, v, options) {
    checkNames('multiHeadAttention', options, [
      ...ATTENTION_OPTIONS,
      ...['heads', 'params', 'headMask', 'scoreParams', 'rotary', 'overrides'],
    ]);
    const core = this.#core;
    const tensors = [toTensor(q, 'q'), toTensor(k, 'k'), toTensor(v, 'v')];
    const batched = sequences(tensors, ['q', 'k', 'v']);
    return core.record(options.overrides, () => {
      const [queries, keys, values] = tensors.map((tensor, i) =>
        core.input(
          ['queries', 'keys', 'values'][i],
          reshape(tensor, batched ? tensor.shape : [1, ...tensor.shape]),
          ['B', i ? 'Tk' : 'Tq', 'D'],
        ),
      );
      const weights = core.struct(
        'multi_head_weights',
        weightFields(core, options.params, MULTI_HEAD),
      );
      const fields = multiHeadFields(core, options, batched);
      const output = core.call(
        'multi_head_attention',
        ...[queries, keys, values, weights, core.struct('attention_options', fields)],
      );
      if (options.needWeights !== false) {
        core.call('mean_heads', core.text('mean_weights'), core.find('weights'));
      }
      return multiHeadResult(core, core.read(output), options, batched);
    });
  }

  /**
   * (torch nn.TransformerEncoderLayer.)
   * @overload
   * @param {TensorLike} x  [T, H] or [B, T, H]
   * @param {WantsWeights<EncoderLayerCall>} options
   * @returns {Whole<MultiHeadResult>}  output [B, T, H]
   */
  /**
   * @overload
   * @param {TensorLike} x
   * @param {EncoderLayerCall} options
   * @returns {MultiHeadResult}
   */
  /**
   * @param {TensorLike} x
   * @param {EncoderLayerCall} options
   * @returns {MultiHeadResult}
   */
  encoderLayer(x, options) {
    checkNames('encoderLayer', options, [
      ...ATTENTION_OPTIONS,
      ...['heads', 'params', 'headMask', 'scoreParams', 'rotary', 'overrides'],
      ...['norm', 'activation', 'eps'],
    ]);
    const core = this.#core;
    const input = toTensor(x, 'x');
    const batched = sequences([input], ['x']);
    checkParts('params', options.params, [
      ...['attention', ...Object.keys(NORMS), ...Object.keys(FEED_FORWARD)],
    ]);
    return core.record(options.overrides, () => {
      const pointer = core.input('x', batched ? input : reshape(input, [1, ...input.shape]), [
        ...['B', 'T', 'H'],
      ]);
      const { attention, linear1, linear2, norm1, norm2 } = options.params;
      const weights = core.struct('encoder_layer_weights', {
        attention: weightFields(core, attention, MULTI_HEAD, 'attention.', 'params.attention'),
        ...weightFields(core, { norm1, norm2 }, NORMS),
        feed_forward: weightFields(core, { linear1, linear2 }, FEED_FORWARD),
      });
      const fields = {
        attention: multiHeadFields(core, options, batched),
        norm: options.norm,
        activation: options.activation,
        eps: number(options.eps, 'eps'),
      };
      const output = core.call(
        'encoder_layer',
        ...[pointer, weights, core.struct('encoder_layer_options', fields)],
      );
      if (options.needWeights !== false) {
        core.call(
          'mean_heads',
          core.text('attention.mean_weights'),
          core.find('attention.weights'),
        );
      }
      return multiHeadResult(core, core.read(output), options, batched, 'attention.');
    });
  }

  /**
   * activation(x W1ᵀ + b1) W2ᵀ + b2. (Vaswani et al. 2017 §3.3; D2L PositionWiseFFN.)
   * @param {TensorLike} x  […, H]
   * @param {{ params: { linear1: Linear, linear2: Linear }, activation?: Activation } & WithOverrides
   *   } options
   * @returns {Tensor}
   */
  feedForward(x, options) {
    checkNames('feedForward', options, ['params', 'activation', 'overrides']);
    const { params, activation = 'relu' } = options;
    return this.#rows(x, options, (core, pointer) =>
      core.call(
        'feed_forward',
        pointer,
        core.struct('feed_forward_weights', weightFields(core, params, FEED_FORWARD)),
        core.choice('activation', activation, 'activation'),
      ),
    );
  }

  /**
   * Over the last axis, with the biased variance. (Ba et al. 2016; torch layer_norm.)
   * @param {TensorLike} x  […, H]
   * @param {{ weight?: TensorLike, bias?: TensorLike, eps?: number } & WithOverrides} [options]  [H]; eps
   *   default 1e-5
   * @returns {Tensor}
   */
  layerNorm(x, options = {}) {
    checkNames('layerNorm', options, ['weight', 'bias', 'eps', 'overrides']);
    const { weight, bias, eps = 1e-5 } = options;
    return this.#rows(x, options, (core, pointer) =>
      core.call(
        'layer_norm',
        core.text('output'),
        pointer,
        weight === undefined ? 0 : core.input('weight', toTensor(weight, 'weight'), ['H']),
        bias === undefined ? 0 : core.input('bias', toTensor(bias, 'bias'), ['H']),
        number(eps, 'eps') ?? eps,
      ),
    );
  }

  /**
   * (Hendrycks and Gimpel 2016; torch gelu.)
   * @param {TensorLike} x  any shape
   * @param {{ form?: 'erf' | 'tanh' } & WithOverrides} [options]  default 'erf', the exact one
   * @returns {Tensor}
   */
  gelu(x, options = {}) {
    checkNames('gelu', options, ['form', 'overrides']);
    const { form = 'erf' } = options;
    if (form !== 'erf' && form !== 'tanh') {
      throw new AttentionError('BAD_VALUE', `form ${show(form)} must be "erf" or "tanh"`, {
        option: 'form',
      });
    }
    return this.#rows(x, options, (core, pointer) =>
      core.call(
        'activate',
        core.text('output'),
        pointer,
        core.choice('activation', form === 'erf' ? 'gelu' : 'gelu-tanh', 'form'),
      ),
    );
  }

  /**
   * [length, hiddens]: sines in even columns, cosines in odd ones. (Vaswani et al. 2017 §3.5; D2L
   * "Positional Encoding".)
   * @param {{ kind?: 'sinusoidal', length: number, hiddens: number, offset?: number }} options
   * @returns {Tensor}
   */
  positionalEncoding(options) {
    checkNames('positionalEncoding', options, ['kind', 'length', 'hiddens', 'offset']);
    const { kind = 'sinusoidal', length, hiddens, offset = 0 } = options;
    if (kind !== 'sinusoidal') {
      throw new AttentionError('BAD_VALUE', `kind ${show(kind)} must be "sinusoidal"`, {
        option: 'kind',
      });
    }
    const core = this.#core;
    return core.record([], () => {
      return core.read(
        core.call(
          'sinusoidal',
          core.text('output'),
          required(integer(length, 'length'), 'length'),
          required(integer(hiddens, 'hiddens', 1), 'hiddens'),
          integer(offset, 'offset') ?? 0,
        ),
      );
    });
  }

  /**
   * Turns each row by its position. (Su et al. 2021.)
   * @param {TensorLike} x  […, T, D], D even
   * @param {{ positions?: number | TensorLike, pairing?: 'halves' | 'interleaved', base?: number } &
   *   WithOverrides} [options]  positions [T], or the first one (default 0); pairing default 'halves';
   *   base default 10000
   * @returns {Tensor}
   */
  rotary(x, options = {}) {
    checkNames('rotary', options, ['positions', 'pairing', 'base', 'overrides']);
    const { positions = 0, pairing = 'halves', base = 10000 } = options;
    const offset = typeof positions === 'number';
    if (pairing !== 'halves' && pairing !== 'interleaved') {
      throw new AttentionError(
        'BAD_VALUE',
        `pairing ${show(pairing)} must be "halves" or "interleaved"`,
        { option: 'pairing' },
      );
    }
    return this.#rows(x, options, (core, pointer) =>
      core.call(
        'rotary',
        core.text('output'),
        pointer,
        offset ? 0 : core.input('positions', toTensor(positions, 'positions'), ['T']),
        offset ? (integer(positions, 'positions', -(2 ** 30), 2 ** 30) ?? 0) : 0,
        core.choice('pairing', pairing, 'pairing'),
        number(base, 'base') ?? base,
      ),
    );
  }

  /**
   * Counter-based random numbers: they depend on seed and name alone, and are the same everywhere.
   * @param {{ shape: number[], seed?: number, name?: string,
   *   distribution?: 'normal' | 'uniform' | 'xavier' }} options  normal (default): mean 0, variance 1;
   *   uniform: [0, 1); xavier: uniform ±√(6 ÷ (in + out)) for a shape [out, in]
   * @returns {Tensor}
   */
  random(options) {
    checkNames('random', options, ['shape', 'seed', 'name', 'distribution']);
    const { shape: sizes, seed: from = 0, name = 'random', distribution = 'normal' } = options;
    if (!Array.isArray(sizes)) {
      throw new AttentionError('BAD_SHAPE', `shape ${show(sizes)} must be a list of sizes`, {
        option: 'shape',
      });
    }
    for (const size of sizes) required(integer(size, 'shape'), 'shape');
    checkRank(sizes, 'shape');
    const core = this.#core;
    return core.record([], () => {
      const shape = core.shape(sizes, ['A', 'B', 'C', 'D']);
      return core.read(
        core.call(
          'random_tensor',
          ...[core.text(text(name, 'name')), shape.rank, shape.shape, shape.axes, seed(from) ?? 0],
          core.choice('distribution', distribution, 'distribution'),
        ),
      );
    });
  }

  /**
   * The model of the multi-head lesson: tokens, embeddings, positions, one multi-head attention.
   * @param {AttentionLayerConfig} [config]
   * @returns {AttentionLayer}
   */
  attentionLayer(config = {}) {
    return new AttentionLayer(new Core(this.#core.module), config);
  }

  /**
   * A model to train, decode with and look into.
   * @param {import('./transformer.js').TransformerConfig} config
   * @returns {Transformer}
   */
  transformer(config) {
    return new Transformer(new Core(this.#core.module), config);
  }

  /**
   * Recurrent units, by a fixed context or by Bahdanau's attention.
   * @param {import('./seq2seq.js').Seq2seqConfig} config
   * @returns {Seq2seq}
   */
  seq2seq(config) {
    return new Seq2seq(new Core(this.#core.module), config);
  }

  /**
   * @param {import('./kernel-regression.js').KernelRegressionConfig} [config]
   * @returns {KernelRegression}
   */
  kernelRegression(config = {}) {
    return new KernelRegression(new Core(this.#core.module), config);
  }

  /**
   * A function of one tensor x that returns one tensor.
   * @param {TensorLike} x
   * @param {WithOverrides} options
   * @param {(core: Core, pointer: number) => number} run
   * @returns {Tensor}
   */
  #rows(x, options, run) {
    const input = toTensor(x, 'x');
    const core = this.#core;
    return core.record(options.overrides, () => {
      const letters = ['B', 'h', 'T', 'D'].slice(-Math.max(1, input.shape.length));
      const output = run(core, core.input('x', input, letters));
      return core.read(output);
    });
  }
}
