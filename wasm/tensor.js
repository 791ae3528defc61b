/**
 * Tensors on the JavaScript side: { shape, data }, or nested arrays of numbers or booleans.
 */

import { AttentionError, show } from './error.js';

/**
 * @typedef {{ shape: number[], data: Float32Array }} Tensor  last axis fastest
 * @typedef {number | boolean | ArrayLike<NestedArray>} NestedArray  each level all alike
 * @typedef {NestedArray | { shape: ArrayLike<number>, data: ArrayLike<number> }} TensorLike
 */

/** Of a tensor of the core. */
const MAX_RANK = 4;
/** No function takes as many axes; deeper nesting is refused as ragged. */
const MOST_LEVELS = 16;

/**
 * @param {unknown} value
 * @returns {value is { shape: ArrayLike<number>, data: ArrayLike<number> }}
 */
function isShaped(value) {
  return typeof value === 'object' && value !== null && 'shape' in value && 'data' in value;
}

/**
 * @param {{ shape: ArrayLike<number>, data: ArrayLike<number> }} tensor
 * @param {string} name
 * @returns {Tensor}
 */
function fromShaped({ shape, data }, name) {
  if (!isList(shape) || !isList(data)) {
    throw new AttentionError(
      'BAD_SHAPE',
      `${name} has the shape ${show(shape)} and the data ${show(data)}; both must be lists`,
    );
  }
  const sizes = Array.from(shape);
  const bad = sizes.findIndex((size) => !Number.isInteger(size) || size < 0 || size >= 2 ** 31);
  if (bad >= 0) {
    throw new AttentionError('BAD_SHAPE', `${name} has an axis of size ${show(sizes[bad])}`);
  }
  const length = sizes.reduce((product, size) => product * size, 1);
  if (data.length !== length) {
    throw new AttentionError(
      'BAD_SHAPE',
      `${name} has ${data.length} elements; its shape [${sizes}] needs ${length}`,
    );
  }
  if (data instanceof Float32Array) return { shape: sizes, data };
  return {
    shape: sizes,
    data: Float32Array.from(data, (element, i) => toNumber(element, name, i)),
  };
}

/**
 * @param {unknown} element
 * @param {string} name
 * @param {number} at
 */
function toNumber(element, name, at) {
  if (typeof element === 'number' || typeof element === 'boolean') return Number(element);
  throw new AttentionError(
    'BAD_VALUE',
    `${name} holds ${show(element)} at ${at}; it must hold numbers`,
  );
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {Tensor}
 */
function fromNested(value, name) {
  /** @type {number[]} */
  const shape = [];
  for (let level = value; isList(level) && shape.length < MOST_LEVELS; level = level[0]) {
    shape.push(level.length);
  }
  /** @type {number[]} */
  const numbers = [];
  /** @param {unknown} part @param {number} axis */
  const visit = (part, axis) => {
    if (axis === shape.length) {
      if (isList(part)) {
        throw new AttentionError(
          'BAD_VALUE',
          `${name} is ragged: element ${numbers.length} is a list where a number is expected`,
        );
      }
      numbers.push(toNumber(part, name, numbers.length));
      return;
    }
    if (!isList(part) || part.length !== shape[axis]) {
      const found = isList(part) ? `a row of ${part.length}` : 'a single value';
      throw new AttentionError(
        'BAD_SHAPE',
        `${name} is ragged: ${found} where ${shape[axis]} are expected`,
      );
    }
    for (let i = 0; i < part.length; i++) visit(part[i], axis + 1);
  };
  visit(value, 0);
  return { shape, data: Float32Array.from(numbers) };
}

/**
 * @param {unknown} value
 * @returns {value is ArrayLike<unknown>}
 */
function isList(value) {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/**
 * @param {number[]} shape
 * @param {string} option  whose it is
 */
export function checkRank(shape, option) {
  if (shape.length <= MAX_RANK) return;
  throw new AttentionError(
    'BAD_SHAPE',
    `${option} [${shape}] has ${shape.length} axes; at most ${MAX_RANK} are possible`,
    { option },
  );
}

/**
 * @param {unknown} value
 * @param {string} name  for error messages
 * @returns {Tensor}  may share its data with `value`: read, never write
 */
export function toTensor(value, name) {
  try {
    const tensor = convert(value, name);
    checkRank(tensor.shape, name);
    return tensor;
  } catch (error) {
    if (error instanceof AttentionError) error.option = name;
    throw error;
  }
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {Tensor}
 */
function convert(value, name) {
  if (isShaped(value)) return fromShaped(value, name);
  if (isList(value) || typeof value === 'number' || typeof value === 'boolean') {
    return fromNested(value, name);
  }
  throw new AttentionError(
    'BAD_SHAPE',
    `${name} is ${value === undefined ? 'missing' : show(value)}; it must be a tensor or nested arrays`,
  );
}

/**
 * @param {Tensor} tensor
 * @param {number[]} shape  with the same number of elements
 * @returns {Tensor}
 */
export function reshape(tensor, shape) {
  return { shape, data: tensor.data };
}
