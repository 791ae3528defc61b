/**
 * What models with learned parameters share: reading, loading and saving them, gradients, steps of
 * training. A model keeps its parameters in its own core; the tape of each pass lies above them.
 */

import { AttentionError, show } from './error.js';
import { Model } from './models.js';
import { checkNames } from './options.js';
import { decodeSafetensors, encodeSafetensors } from './safetensors.js';
import { toTensor } from './tensor.js';
import { part, torchStacks, toTorch } from './torch-names.js';

/** @typedef {import('./engine.js').Core} Core */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').TensorLike} TensorLike */
/** @typedef {'own' | 'torch'} Names */
/** @typedef {Record<string, TensorLike> | ArrayBuffer | ArrayBufferView} StateDict  or safetensors bytes */

const NAMES = ['own', 'torch'];

export class TrainableModel extends Model {
  /** By name, in the order of the tape. @type {Map<string, number>} */
  #parameters;

  /**
   * @param {Core} core  its own
   * @param {() => number} create  declares the parameters; returns the core's model
   */
  constructor(core, create) {
    super(core);
    core.begin();
    /** @protected */
    this.pointer = create();
    core.keep();
    this.#parameters = core.written('parameter');
  }

  /**
   * @param {{ names?: Names }} [options]  'own' (default), or as in PyTorch
   * @returns {Record<string, Tensor>}  copies; layouts as in PyTorch
   */
  parameters(options = {}) {
    return this.#collect('parameters', options, (pointer) => this.core.read(pointer));
  }

  /**
   * @param {string} what
   * @param {{ names?: Names }} options
   * @param {(pointer: number) => Tensor} read
   */
  #collect(what, options, read) {
    checkNames(what, options, ['names']);
    const own = Object.fromEntries(
      Array.from(this.#parameters, ([name, pointer]) => [name, read(pointer)]),
    );
    return namesOf(options) === 'torch' ? toTorch(own) : own;
  }

  /**
   * Takes these parameters; nothing is changed unless all fit.
   * @param {StateDict} stateDict  exactly this model's parameters, by name or as a safetensors file
   * @param {{ names?: Names }} [options]
   */
  load(stateDict, options = {}) {
    checkNames('load', options, ['names']);
    const given = tensorsOf(stateDict);
    const names = [...this.#parameters.keys()];
    const stacks =
      namesOf(options) === 'torch'
        ? torchStacks(names)
        : names.map((name) => ({ name, parts: [name] }));
    const known = new Set(stacks.map(({ name }) => name));
    const unknown = Object.keys(given).find((name) => !known.has(name));
    if (unknown !== undefined) {
      throw new AttentionError('BAD_VALUE', `the model has no parameter ${show(unknown)}`);
    }
    const tensors = stacks.map(({ name, parts }) => this.#fitting(given, name, parts));
    this.core.begin();
    for (const [i, { parts }] of stacks.entries()) {
      for (const [j, own] of parts.entries()) {
        const pointer = /** @type {number} */ (this.#parameters.get(own));
        this.core.write(pointer, part(tensors[i], parts.length, j).data);
      }
    }
  }

  /**
   * @param {Record<string, TensorLike>} given
   * @param {string} name
   * @param {string[]} parts  of it, all shaped alike
   */
  #fitting(given, name, parts) {
    if (!Object.hasOwn(given, name)) {
      throw new AttentionError('BAD_VALUE', `the parameter ${name} is missing`);
    }
    const tensor = toTensor(given[name], name);
    const [rows, ...rest] = this.core.read(
      /** @type {number} */ (this.#parameters.get(parts[0])),
    ).shape;
    const shape = [rows * parts.length, ...rest];
    if (
      shape.length === tensor.shape.length &&
      shape.every((size, i) => size === tensor.shape[i])
    ) {
      return tensor;
    }
    throw new AttentionError(
      'BAD_SHAPE',
      `${name} has the shape [${tensor.shape}]; the model's is [${shape}]`,
    );
  }

  /**
   * @param {{ names?: Names, metadata?: Record<string, string> }} [options]
   * @returns {Uint8Array}  a safetensors file
   */
  save({ metadata, ...options } = {}) {
    return encodeSafetensors(this.parameters(options), metadata);
  }
}

/** @param {{ names?: Names }} options */
function namesOf({ names = 'own' }) {
  if (NAMES.includes(names)) return names;
  throw new AttentionError('BAD_VALUE', `names ${show(names)} must be "own" or "torch"`, {
    option: 'names',
  });
}

/**
 * @param {StateDict} stateDict
 * @returns {Record<string, TensorLike>}
 */
function tensorsOf(stateDict) {
  if (stateDict instanceof ArrayBuffer || ArrayBuffer.isView(stateDict)) {
    return decodeSafetensors(stateDict).tensors;
  }
  if (typeof stateDict === 'object' && stateDict !== null && !Array.isArray(stateDict)) {
    return stateDict;
  }
  throw new AttentionError(
    'BAD_VALUE',
    `the parameters ${show(stateDict)} must be tensors by name or the bytes of a safetensors file`,
  );
}
