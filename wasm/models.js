/**
 * Models: named tensors, overrides, forward. Each has a WebAssembly instance of its own.
 */

import { AttentionError, show } from './error.js';
import {
  ATTENTION_OPTIONS,
  attentionFields,
  checkNames,
  flag,
  integer,
  seed,
  text,
} from './options.js';
import { checkOverride, overridesOf } from './override.js';
import { toTensor } from './tensor.js';

/** @typedef {import('./engine.js').Core} Core */
/** @typedef {import('./override.js').Override} Override */
/** @typedef {import('./engine.js').TensorInfo} TensorInfo */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./options.js').AttentionOptions} AttentionOptions */
/** @typedef {'none' | 'sinusoidal' | 'learned' | 'rotary' | 'alibi'} Position */

/** What all models share: the tape of the last forward pass, read by name and overridden by name. */
export class Model {
  /** @type {Override[]} */
  #overrides = [];

  /** @param {Core} core  its own */
  constructor(core) {
    /** @protected */
    this.core = core;
  }

  /** Bytes of the model's memory: parameters and the largest pass so far. */
  get memory() {
    return this.core.memory;
  }

  /** @returns {TensorInfo[]}  of the last forward pass, in the order of computation */
  tensors() {
    return this.core.tensors();
  }

  /**
   * @param {string} name
   * @returns {Tensor}  a copy
   */
  tensor(name) {
    return this.core.tensor(name);
  }

  /**
   * @param {readonly string[] | 'all'} names
   * @returns {Record<string, Tensor>}  copies by name, without those that there are not
   */
  values(names) {
    if (
      names !== 'all' &&
      !(Array.isArray(names) && names.every((name) => typeof name === 'string'))
    ) {
      throw new AttentionError(
        'BAD_VALUE',
        `values takes "all" or a list of names; ${show(names)} is neither`,
        { option: 'names' },
      );
    }
    return this.core.values(names);
  }

  /**
   * From the next forward pass on, this cell has this value and what follows is computed from it. Name and
   * axes are checked here against the last pass; without one, after a failure too, the next pass checks
   * them. A pass with too few tokens for the cell fails and says so, and the override stays for the next one.
   * @param {string} name  of a tensor of forward passes; parameters are changed by load()
   * @param {{ at: (number | null)[], value: number }} cell  an index for each axis; null: all of it
   */
  override(name, cell) {
    const override = checkOverride({ ...cell, name });
    this.#checkFits(override);
    this.#overrides.push(override);
  }

  clearOverrides() {
    this.#overrides = [];
  }

  /** @param {Override} override */
  #checkFits({ name, at }) {
    const computed = this.core.computed();
    if (computed.length === 0) return;
    const info = computed.find((tensor) => tensor.name === name);
    if (!info) {
      throw new AttentionError(
        'NOT_FOUND',
        `an override names "${name}"; the last pass computed ${computed.map((tensor) => tensor.name).join(', ')}`,
        { option: 'overrides' },
      );
    }
    if (at.length !== info.shape.length) {
      throw new AttentionError(
        'BAD_SHAPE',
        `an override of ${name} names ${at.length} axes; it has ${info.shape.length}, [${info.axes}]`,
        { option: 'overrides' },
      );
    }
  }

  /**
   * @protected
   * @template T
   * @param {Override[] | undefined} overrides  of this pass alone
   * @param {() => T} compute
   * @returns {T}
   */
  record(overrides, compute) {
    return this.core.record([...this.#overrides, ...overridesOf(overrides)], compute);
  }
}

/**
 * @typedef {object} AttentionLayerConfig
 * @property {number} [hiddens]  H, default 16
 * @property {number} [heads]  default 1
 * @property {number} [seed]  of embeddings and weights, default 0
 * @property {Position} [position]  default 'none'
 * @property {boolean} [bias]  of the four projections, default false
 */
/**
 * @typedef {{ source: string[], target?: string[], heads?: number, headMask?:
 *   import('./tensor.js').TensorLike, overrides?: Override[] } & AttentionOptions} AttentionLayerInput
 *   target: the queries' tokens of cross-attention; overrides: of this pass alone
 */

const CONFIG = ['hiddens', 'heads', 'seed', 'position', 'bias'];
const INPUT = ['source', 'target', 'heads', 'headMask', 'overrides', ...ATTENTION_OPTIONS];

/**
 * Tokens → embeddings (equal texts, equal vectors) → positions → multi-head attention. Tensors:
 * source.embedding, source.input, attention.query, attention.weights, attention.output and so on.
 */
export class AttentionLayer extends Model {
  #config;

  /**
   * @param {Core} core
   * @param {AttentionLayerConfig} config
   */
  constructor(core, config) {
    super(core);
    checkNames('attentionLayer', config, CONFIG);
    this.#config = {
      hiddens: integer(config.hiddens, 'hiddens', 1),
      parameter_seed: seed(config.seed),
      position: config.position,
      bias: flag(config.bias, 'bias') ? 1 : 0,
    };
    this.heads = integer(config.heads, 'heads', 1) ?? 1;
    this.forward({ source: [] }); // the core refuses sizes that do not fit
  }

  /**
   * @overload
   * @param {AttentionLayerInput & { needWeights?: true }} input
   * @returns {{ output: Tensor, weights: Tensor }}  [1, Tq, H], [1, h, Tq, Tk]
   */
  /**
   * @overload
   * @param {AttentionLayerInput} input
   * @returns {{ output: Tensor, weights?: Tensor }}
   */
  /**
   * @param {AttentionLayerInput} input
   * @returns {{ output: Tensor, weights?: Tensor }}
   */
  forward(input) {
    checkNames('forward', input, INPUT);
    const { core } = this;
    const source = tokens(input.source, 'source');
    const target = input.target === undefined ? undefined : tokens(input.target, 'target');
    const heads = integer(input.heads, 'heads', 1) ?? this.heads;
    return this.record(input.overrides, () => {
      const options = core.struct('attention_layer_options', {
        ...this.#config,
        attention: {
          ...attentionFields(core, input, { batched: false, heads }),
          heads,
          head_mask:
            input.headMask === undefined
              ? undefined
              : core.input('head_mask', toTensor(input.headMask, 'headMask'), ['h']),
        },
      });
      const output = core.call(
        'attention_layer',
        core.texts(source),
        target ? core.texts(target) : 0,
        options,
      );
      const weights = core.find('attention.weights');
      return { output: core.read(output), ...(weights ? { weights: core.read(weights) } : {}) };
    });
  }

  /** @returns {Record<string, Tensor>}  of the last forward pass, by name; layouts as in PyTorch */
  parameters() {
    const names = this.tensors().filter(({ name }) => /\.(weight|bias)$/.test(name));
    return Object.fromEntries(names.map(({ name }) => [name, this.tensor(name)]));
  }
}

/**
 * @param {unknown} list
 * @param {string} option
 * @returns {string[]}
 */
function tokens(list, option) {
  if (!Array.isArray(list)) {
    throw new AttentionError('BAD_VALUE', `${option} ${show(list)} must be a list of strings`, {
      option,
    });
  }
  return Array.from(list, (token, i) => text(token, `${option}[${i}]`));
}
