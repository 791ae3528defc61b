/**
 * What callers write as options, turned into what the core's structs hold.
 */

import { AttentionError, show } from './error.js';
import { reshape, toTensor } from './tensor.js';

/** @typedef {import('./engine.js').Core} Core */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').TensorLike} TensorLike */

/**
 * @typedef {object} MaskOptions
 * @property {TensorLike | number} [validLens]  [B] or [B, Tq]: keys from there on are masked
 * @property {TensorLike} [mask]  [Tq, Tk], [B, Tq, Tk] or [B, h, Tq, Tk], sizes of 1 spread; true
 *   may attend
 * @property {TensorLike} [bias]  same shapes; added to the scores, -Infinity masks
 * @property {boolean | 'bottom-right' | 'top-left'} [causal]  true is bottom-right: the last query
 *   stands at the last key
 * @property {'exclude' | number} [fill]  masked cells take no part (default), or get this score: -1e6
 *   as D2L, -Infinity as PyTorch
 * @property {number | { left?: number, right?: number, global?: number }} [window]  keys at most that
 *   far from the query's position; the first `global` tokens see and are seen everywhere
 * @property {boolean | TensorLike} [alibi]  linear biases by distance, with the paper's slopes or these [h]
 */
/**
 * @typedef {object} AttentionFields
 * @property {'scaled-dot' | 'dot' | 'additive' | 'general' | 'cosine' | 'gaussian'} [score]
 * @property {boolean | number} [scale]  true: 1/√D for scaled-dot, 1 for the others; false: 1
 * @property {number} [temperature]  above 0, default 1: scores are divided by it
 * @property {'softmax' | 'sigmoid' | 'relu'} [normalise]
 * @property {number} [dropout]  of the weights, 0 (default) to below 1
 * @property {number} [seed]  of the dropout, a whole number from 0 to 2^32 - 1
 * @property {boolean} [needWeights]  false: no weights in the result, and no Tq × Tk tensor where the
 *   score allows it
 */
/** @typedef {MaskOptions & AttentionFields} AttentionOptions */

export const MASK_OPTIONS = ['validLens', 'mask', 'bias', 'causal', 'fill', 'window', 'alibi'];
export const ATTENTION_OPTIONS = [
  ...MASK_OPTIONS,
  ...['score', 'scale', 'temperature', 'normalise', 'dropout', 'seed', 'needWeights'],
];

/**
 * @param {unknown} value
 * @returns {value is Record<string, any>}  not for lists, bytes, maps
 */
export const isPlain = (value) => Object.prototype.toString.call(value) === '[object Object]';

/**
 * @param {string} what  the function, for the message
 * @param {unknown} options
 * @param {string[]} known
 */
export function checkNames(what, options, known) {
  if (!isPlain(options)) {
    throw new AttentionError(
      'BAD_VALUE',
      `${what} takes an object with ${known.join(', ')}; ${show(options)} is none`,
    );
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new AttentionError(
      'UNKNOWN_OPTION',
      `${what} has no option "${name}"; it has ${known.join(', ') || 'none'}`,
      { option: name },
    );
  }
}

/**
 * @param {unknown} value
 * @param {string} option
 * @param {string} allowed
 * @returns {never}
 */
function refuse(value, option, allowed) {
  throw new AttentionError('BAD_VALUE', `${option} ${show(value)} must be ${allowed}`, {
    option: option.split('.')[0],
  });
}

/**
 * An option that is an object itself.
 * @param {string} option
 * @param {unknown} value
 * @param {string[]} known
 */
export function checkParts(option, value, known) {
  const wanted = `an object with ${known.join(', ') || 'nothing'}`;
  if (value === undefined) {
    throw new AttentionError('BAD_VALUE', `${option} is missing; it must be ${wanted}`, {
      option: option.split('.')[0],
    });
  }
  if (!isPlain(value)) refuse(value, option, wanted);
  checkNames(option, value, known);
}

/**
 * @template T
 * @param {T | undefined} value
 * @param {string} option
 * @returns {T | undefined}
 */
export function number(value, option) {
  if (value === undefined) return value;
  if (typeof value !== 'number') return refuse(value, option, 'a number');
  const float = Math.fround(value);
  if ((float === 0 && value !== 0) || (Number.isFinite(value) && !Number.isFinite(float))) {
    return refuse(value, option, 'within the range of float32');
  }
  return value;
}

/**
 * @param {number | undefined} value
 * @param {string} option
 * @returns {number | undefined}
 */
export function notNegative(value, option) {
  if (value === undefined || (value >= 0 && value < Infinity)) return number(value, option);
  return refuse(value, option, 'a number that is at least 0');
}

/**
 * @param {unknown} value
 * @param {string} option
 * @param {number} [low]
 * @param {number} [high]
 * @returns {number | undefined}
 */
export function integer(value, option, low = 0, high = 2 ** 31 - 1) {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) {
    return value;
  }
  return refuse(value, option, `a whole number from ${low} to ${high}`);
}

/**
 * @param {unknown} value
 * @param {string} option
 * @returns {boolean | undefined}
 */
export function flag(value, option) {
  if (value !== undefined && typeof value !== 'boolean') refuse(value, option, 'true or false');
  return /** @type {boolean | undefined} */ (value);
}

/**
 * A flag as the core has it.
 * @param {unknown} value
 * @param {string} option
 * @returns {number | undefined}
 */
export function switchOf(value, option) {
  const on = flag(value, option);
  return on === undefined ? undefined : Number(on);
}

/**
 * @param {unknown} value
 * @param {string} option
 * @returns {string}
 */
export function text(value, option) {
  return typeof value === 'string' ? value : refuse(value, option, 'a string');
}

/** @param {unknown} value */
export const seed = (value, option = 'seed') => integer(value, option, 0, 2 ** 32 - 1);

/**
 * To [B, h, Tq, Tk].
 * @param {Tensor} tensor
 * @param {string} option
 */
function spread({ shape, data }, option) {
  /** @type {Record<number, number[]>} */
  const to = {
    2: [1, 1, shape[0], shape[1]],
    3: [shape[0], 1, shape[1], shape[2]],
    4: shape,
  };
  const four = to[shape.length];
  if (!four) {
    throw new AttentionError(
      'BAD_SHAPE',
      `${option} has the shape [${shape}]; it must be [Tq, Tk], [B, Tq, Tk] or [B, h, Tq, Tk]`,
      { option },
    );
  }
  return { shape: four, data };
}

/**
 * Valid lengths as [B, 1] or [B, Tq]; without a batch axis they are one number, [1] or [Tq].
 * @param {Tensor} tensor
 * @param {boolean} batched
 */
function lengths(tensor, batched) {
  const { shape } = tensor;
  if (shape.length === 2) return tensor;
  if (shape.length === 0) return reshape(tensor, [1, 1]);
  if (shape.length > 2) {
    throw new AttentionError(
      'BAD_SHAPE',
      `validLens has the shape [${shape}]; it must be [B] or [B, Tq]`,
      { option: 'validLens' },
    );
  }
  return reshape(tensor, batched ? [shape[0], 1] : [1, shape[0]]);
}

/**
 * A float mask of PyTorch's, 0 and -Infinity, read as booleans would say the opposite.
 * @param {Tensor} mask
 */
function booleans(mask) {
  const other = mask.data.find((cell) => cell !== 0 && cell !== 1);
  if (other === undefined) return mask;
  return refuse(other, 'mask', 'true or false, 1 or 0; numbers to add to the scores go to bias');
}

/** @param {AttentionOptions['scale']} scale */
function scaleFields(scale) {
  if (scale === undefined || scale === true) return {};
  if (scale === false) return { scale_mode: 'off' };
  return { scale_mode: 'given', scale: number(scale, 'scale') };
}

/** @param {MaskOptions['fill']} fill */
function fillFields(fill) {
  if (fill === undefined || fill === 'exclude') return {};
  if (typeof fill !== 'number') return refuse(fill, 'fill', '"exclude" or a number');
  return { fill_mode: 'given', fill };
}

/** @param {MaskOptions['causal']} causal */
function causalField(causal) {
  if (causal === undefined || causal === false) return 'none';
  if (causal === true) return 'bottom-right';
  if (causal === 'bottom-right' || causal === 'top-left') return causal;
  return refuse(causal, 'causal', 'true, false, "bottom-right" or "top-left"');
}

/** @param {MaskOptions['window']} window */
function windowFields(window) {
  if (window === undefined || window === null) return {};
  if (typeof window === 'object') {
    checkParts('window', window, ['left', 'right', 'global']);
    return {
      window_left: integer(window.left, 'window.left'),
      window_right: integer(window.right, 'window.right'),
      global_tokens: integer(window.global, 'window.global'),
    };
  }
  const size = integer(window, 'window');
  return { window_left: size, window_right: size };
}

/**
 * The fields of attention_options. Writes the tensors among the options onto the tape.
 * @param {Core} core
 * @param {AttentionOptions} options
 * @param {{ batched: boolean, heads: number }} sizes
 */
export function attentionFields(core, options, { batched, heads }) {
  /** @param {'mask' | 'bias'} name @param {(tensor: Tensor) => Tensor} check */
  const cells = (name, check) =>
    options[name] === undefined
      ? undefined
      : core.input(`options.${name}`, check(spread(toTensor(options[name], name), name)), [
          ...['B', 'h', 'Tq', 'Tk'],
        ]);
  const { validLens } = options;
  return {
    score: options.score,
    normalise: options.normalise,
    causal: causalField(options.causal),
    ...windowFields(options.window),
    ...scaleFields(options.scale),
    ...fillFields(options.fill),
    temperature: number(options.temperature, 'temperature'),
    dropout: number(options.dropout, 'dropout'),
    seed: seed(options.seed),
    need_weights: flag(options.needWeights, 'needWeights') === false ? 0 : 1,
    valid_lengths:
      validLens === undefined
        ? undefined
        : core.input('options.valid_lengths', lengths(toTensor(validLens, 'validLens'), batched), [
            'B',
            'Tq',
          ]),
    mask: cells('mask', booleans),
    bias: cells('bias', (bias) => bias),
    alibi_slopes: alibiField(core, options.alibi, heads),
  };
}

/** @param {Core} core @param {MaskOptions['alibi']} alibi @param {number} heads */
function alibiField(core, alibi, heads) {
  if (alibi === undefined || alibi === false) return undefined;
  if (alibi === true) return core.call('alibi_slopes', core.text('alibi_slopes'), heads);
  if (typeof alibi === 'object' && alibi !== null)
    return core.input('alibi_slopes', toTensor(alibi, 'alibi'), ['h']);
  return refuse(alibi, 'alibi', 'true, false, or a slope for each head');
}

/**
 * Weights named as in PyTorch, { query: { weight, bias } }, as the fields query_weight, query_bias.
 * @param {Core} core
 * @param {unknown} params
 * @param {Record<string, Record<string, string[]>>} layers  the letters of each part a layer may have
 * @param {string} [prefix]  of the tensors' names
 * @param {string} [option]  where the caller wrote them
 */
export function weightFields(core, params, layers, prefix = '', option = 'params') {
  checkParts(option, params, Object.keys(layers));
  /** @type {Record<string, number>} */
  const fields = {};
  for (const [layer, parts] of Object.entries(layers)) {
    const given = /** @type {any} */ (params)[layer];
    if (given === undefined) continue;
    checkParts(`${option}.${layer}`, given, Object.keys(parts));
    for (const [part, axes] of Object.entries(parts)) {
      if (given[part] === undefined) continue;
      const name = `${prefix}${layer}.${part}`;
      const tensor = toTensor(given[part], `${option}.${layer}.${part}`);
      fields[`${layer}_${part}`] = core.input(name, tensor, axes);
    }
  }
  return fields;
}

const ADDITIVE = {
  query: { weight: ['A', 'D'] },
  key: { weight: ['A', 'D'] },
  value: { weight: ['1', 'A'] },
};

/**
 * @template T
 * @param {T | undefined} value
 * @param {string} option
 * @returns {T}
 */
export function required(value, option) {
  if (value !== undefined) return value;
  throw new AttentionError('BAD_VALUE', `${option} is missing`, { option });
}

/**
 * @param {Core} core
 * @param {string | undefined} score
 * @param {any} params
 * @param {string} option  where the caller wrote them
 */
export function scoreFields(core, score, params, option) {
  if (params === undefined) return {};
  if (score === 'general') {
    checkParts(option, params, ['weight']);
    const weight = toTensor(params.weight, `${option}.weight`);
    return { score_weight: core.input('score.weight', weight, ['D', 'D']) };
  }
  if (score === 'gaussian') {
    checkParts(option, params, ['width']);
    if (params.width === undefined) return {};
    const width = toTensor(params.width, `${option}.width`);
    return { score_width: core.input('score.width', reshape(width, [width.data.length]), ['1']) };
  }
  const fields = weightFields(core, params, score === 'additive' ? ADDITIVE : {}, 'score.', option);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [`score_${name}`, value]),
  );
}

/**
 * @param {Core} core
 * @param {any} options
 * @param {boolean} batched
 */
export function multiHeadFields(core, options, batched) {
  const heads = required(integer(options.heads, 'heads', -(2 ** 31)), 'heads');
  const { headMask, rotary } = options;
  const asObject = typeof rotary === 'object' && rotary !== null;
  if (asObject) checkParts('rotary', rotary, ['pairing', 'base']);
  const { pairing = 'halves', base } = asObject ? rotary : { pairing: rotary ?? 'none' };
  return {
    ...attentionFields(core, options, { batched, heads: Math.max(heads, 1) }),
    ...scoreFields(core, options.score, options.scoreParams, 'scoreParams'),
    heads,
    rotary: pairing,
    rotary_base: number(base, 'rotary.base'),
    head_mask:
      headMask === undefined
        ? undefined
        : core.input('head_mask', toTensor(headMask, 'headMask'), ['h']),
  };
}
