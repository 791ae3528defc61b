// What the Node tests share: one engine for each binary, tensors, comparisons that say which cell is
// wrong.
//
// Tolerance is one for all: 1e-6 + 1e-5·|reference|. Where bits must agree, `assertSame` is used.

import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import { AttentionError, createEngine } from '../../wasm/attention.js';

/** @typedef {{ shape: number[], data: Float32Array }} Tensor */

export const engines = {
  simd: await createEngine({ simd: 'on' }),
  scalar: await createEngine({ simd: 'off' }),
};

/** Registers one test for each binary. */
export function onEachEngine(name, body) {
  for (const [binary, engine] of Object.entries(engines)) {
    test(`${name} [${binary}]`, (context) => body(engine, context));
  }
}

// ---- tensors -------------------------------------------------------------------------------------

/** @returns {Tensor} */
export function tensor(shape, values) {
  const data = Float32Array.from(values);
  const size = shape.reduce((product, length) => product * length, 1);
  assert.equal(data.length, size, `the test's own tensor ${shape}`);
  return { shape, data };
}

export function filled(shape, value) {
  return tensor(shape, Array(shape.reduce((product, length) => product * length, 1)).fill(value));
}

/** Nested arrays as a tensor. */
export function fromNested(nested) {
  const shape = [];
  for (let level = nested; Array.isArray(level); level = level[0]) shape.push(level.length);
  return tensor(shape, nested.flat(Infinity));
}

/** A tensor as nested arrays. */
export function toNested({ shape, data }) {
  const build = (axis, start, size) => {
    if (axis === shape.length) return data[start];
    const step = size / shape[axis];
    return Array.from({ length: shape[axis] }, (_, i) => build(axis + 1, start + i * step, step));
  };
  return build(0, 0, data.length);
}

export function identity(size) {
  return tensor(
    [size, size],
    Array.from({ length: size * size }, (_, i) => Number(i % (size + 1) === 0)),
  );
}

/** A slice of the first axis, which stays with length 1 per index taken. */
export function take({ shape, data }, indices) {
  const step = data.length / shape[0];
  const rows = indices.map((i) => Array.from(data.subarray(i * step, (i + 1) * step)));
  return tensor([indices.length, ...shape.slice(1)], rows.flat());
}

/** Copies a tensor with its cells changed: change(value, index of each axis). */
export function mapCells({ shape, data }, change) {
  return tensor(
    shape,
    data.map((value, flat) => {
      const at = [];
      let rest = flat;
      for (let axis = shape.length - 1; axis >= 0; axis--) {
        at.unshift(rest % shape[axis]);
        rest = Math.floor(rest / shape[axis]);
      }
      return change(value, at);
    }),
  );
}

/** Seeded numbers in [0, 1) (mulberry32), the same in every run. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Numbers in (-2, 2). */
export function randomTensor(random, ...shape) {
  return mapCells(filled(shape, 0), () => random() * 4 - 2);
}

/** Query, key and value projections of a random multi-head attention, sized so scores stay near 1. */
export function randomParams(random, hiddens, { bias = true } = {}) {
  const projection = () => ({
    weight: mapCells(randomTensor(random, hiddens, hiddens), (value) => value / Math.sqrt(hiddens)),
    ...(bias && { bias: randomTensor(random, hiddens) }),
  });
  return { query: projection(), key: projection(), value: projection(), output: projection() };
}

/** Parameters of a random encoder layer. */
export function randomLayer(random, hiddens, feedForward) {
  const norm = () => ({
    weight: randomTensor(random, hiddens),
    bias: randomTensor(random, hiddens),
  });
  return {
    attention: randomParams(random, hiddens),
    norm1: norm(),
    norm2: norm(),
    ...randomFeedForward(random, hiddens, feedForward),
  };
}

/** Of a random feed-forward network. */
export function randomFeedForward(random, hiddens, feedForward) {
  const linear = (out, width) => ({
    weight: randomTensor(random, out, width),
    bias: randomTensor(random, out),
  });
  return { linear1: linear(feedForward, hiddens), linear2: linear(hiddens, feedForward) };
}

/** Query, key and value of 2 batches, 3 heads, 4 queries, 5 keys, width 6, values 3. */
export function problem(seed = 1) {
  const random = seeded(seed);
  const q = randomTensor(random, 2, 3, 4, 6);
  const k = randomTensor(random, 2, 3, 5, 6);
  const v = randomTensor(random, 2, 3, 5, 3);
  return { random, q, k, v };
}

/** Random zeros and ones. */
export function bits(random, ...shape) {
  return mapCells(filled(shape, 0), () => Number(random() < 0.6));
}

// ---- comparisons ---------------------------------------------------------------------------------

export const asTensor = (value) => (Array.isArray(value) ? fromNested(value) : value);

function compare(actual, expected, what, agree) {
  const wanted = asTensor(expected);
  assert.ok(actual?.data instanceof Float32Array, `${what} is a tensor`);
  assert.deepEqual(actual.shape, wanted.shape, `shape of ${what}`);
  assert.equal(actual.data.length, wanted.data.length, `size of ${what}`);
  const wrong = wanted.data.findIndex((value, i) => !agree(actual.data[i], value));
  if (wrong >= 0) {
    const got = actual.data[wrong];
    assert.fail(
      `${what} [${wanted.shape}], element ${wrong}: ${got} instead of ${wanted.data[wrong]}`,
    );
  }
}

/** Within 1e-6 + 1e-5·|expected|; NaN and the infinities only equal themselves. */
export function assertClose(actual, expected, what = 'result') {
  compare(actual, expected, what, (a, b) =>
    Number.isFinite(b) ? Math.abs(a - b) <= 1e-6 + 1e-5 * Math.abs(b) : Object.is(a, b),
  );
}

/** Equal bits (any NaN equals any NaN: its bits are the machine's own). */
export function assertSame(actual, expected, what = 'result') {
  compare(actual, expected, what, Object.is);
}

/** Equal numbers, 0 and -0 alike. */
export function assertEqual(actual, expected, what = 'result') {
  compare(actual, expected, what, (a, b) => a === b || Object.is(a, b));
}

/** Every tensor and flag that two results share by name. */
export function assertSameResults(actual, expected, what = 'result') {
  assert.deepEqual(Object.keys(actual).sort(), Object.keys(expected).sort(), `fields of ${what}`);
  for (const [name, value] of Object.entries(expected)) {
    if (value instanceof Uint8Array) assertFlags(actual[name], [...value], `${what}.${name}`);
    else assertSame(actual[name], value, `${what}.${name}`);
  }
}

export function assertFlags(actual, expected, what = 'flags') {
  assert.ok(actual instanceof Uint8Array, `${what} is a Uint8Array`);
  assert.deepEqual([...actual], expected, what);
}

/** The call throws an AttentionError with this code, whose message holds each of the words. */
export function assertFails(call, code, ...words) {
  let error;
  try {
    call();
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error, 'no error was thrown');
  assertIsError(error, code, ...words);
}

export function assertIsError(error, code, ...words) {
  if (!(error instanceof AttentionError)) throw error;
  assert.match(
    error.code,
    typeof code === 'string' ? new RegExp(`^${code}$`) : code,
    error.message,
  );
  for (const word of words) {
    const found = typeof word === 'number' ? new RegExp(`(?<![\\d.])${word}(?![\\d.]*\\d)`) : word;
    if (found instanceof RegExp) assert.match(error.message, found);
    else assert.ok(error.message.includes(found), `"${error.message}" names ${found}`);
  }
}

// ---- bad input -----------------------------------------------------------------------------------

export const SHAPE = 'BAD_SHAPE';
export const VALUE = 'BAD_VALUE';
export const EITHER = /^BAD_(SHAPE|VALUE)$/;
export const UNKNOWN = 'UNKNOWN_OPTION';

/** Registers a test for each row [what, call(engine), code, ...words of the message]. */
export function refuses(family, rows) {
  for (const [what, call, code, ...words] of rows) {
    onEachEngine(`${family}: ${what}`, (engine) => {
      assertFails(() => call(engine), code, ...words);
      const { output } = engine.attention([[1], [1]], [[1], [2]], [[10], [20]], { scale: 1 });
      assertClose(output, [[17.3105858], [17.3105858]], 'the call after');
    });
  }
}

/**
 * Rows for each [bad value, ...words of the message] of one option. The message names the option, in
 * its own spelling or in words: "valid length" for validLens.
 */
export function badOption(call, name, code, values) {
  const words = name.replace(/s$/, 's?').replace(/[A-Z]/g, ' ?$&');
  return values.map(([value, ...more]) => [
    `${name} ${value?.shape ? `of shape ${value.shape.join('×')}` : inspect(value)}`,
    (engine) => call(engine, { [name]: value }),
    code,
    new RegExp(words, 'i'),
    ...more,
  ]);
}

/** Two sentences of vocabularies of 11 and 13, the second one padded. */
export const BATCH = {
  source: [
    [3, 1, 4, 1],
    [5, 9, 0, 0],
  ],
  sourceLens: [4, 2],
  target: [
    [2, 7, 1],
    [2, 8, 0],
  ],
  targetLens: [3, 2],
  labels: [
    [7, 1, 12],
    [8, 12, 0],
  ],
};
const { labels: _labels, ...input } = BATCH;
export const INPUT = input;
