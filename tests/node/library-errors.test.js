// Bad input to tensors, attention and createEngine: each is refused with a code and a sentence that
// names the offending value and the limit, and the next call works as if nothing had been.

import assert from 'node:assert/strict';
import test from 'node:test';
import { AttentionError, createEngine } from '../../wasm/attention.js';
import {
  assertFails,
  assertIsError,
  badOption,
  EITHER,
  engines,
  filled,
  identity,
  onEachEngine,
  refuses,
  SHAPE,
  UNKNOWN,
  VALUE,
} from './helpers.js';

/** Of 2 batches, 2 heads, 4 queries, 5 keys, width 3. */
const q = filled([2, 2, 4, 3], 1);
const k = filled([2, 2, 5, 3], 1);
const v = filled([2, 2, 5, 3], 1);

// ---- tensors -------------------------------------------------------------------------------------

const softmax = (scores, options) => (engine) => engine.maskedSoftmax(scores, options);

refuses('tensor', [
  ['nothing', softmax(undefined), EITHER, 'scores'],
  ['null', softmax(null), EITHER, 'scores'],
  ['a string', softmax('scores'), EITHER, 'scores'],
  ['a single number', softmax(3), EITHER, 'scores'],
  ['a string among the numbers', softmax([[1, 'two']]), VALUE, 'scores', 'two'],
  ['null among the numbers', softmax([[1, null]]), EITHER, 'scores'],
  ['ragged rows', softmax([[1, 2], [3]]), SHAPE, 'scores', 1, 2],
  ['a number beside a row', softmax([[1, 2], 3]), SHAPE, 'scores'],
  [
    'more data than the shape holds',
    softmax({ shape: [2, 3], data: new Float32Array(7) }),
    SHAPE,
    'scores',
    6,
    7,
  ],
  [
    'less data than the shape holds',
    softmax({ shape: [2, 3], data: [1, 2] }),
    SHAPE,
    'scores',
    6,
    2,
  ],
  ['a negative length', softmax({ shape: [-1, 3], data: [] }), SHAPE, 'scores', -1],
  ['half a row', softmax({ shape: [1.5, 2], data: [1, 2, 3] }), SHAPE, 'scores', 1.5],
  ['a shape of NaN', softmax({ shape: [NaN], data: [] }), SHAPE, 'scores', 'NaN'],
  ['no shape', softmax({ data: [1, 2] }), EITHER, 'scores'],
  ['no data', softmax({ shape: [2] }), EITHER, 'scores'],
  ['five axes', softmax(filled([1, 1, 1, 2, 2], 0)), SHAPE, 'scores', 5],
]);

// ---- attention -----------------------------------------------------------------------------------

const attend = (engine, options) => engine.attention(q, k, v, options);

refuses('attention', [
  ['a vector', (engine) => engine.attention([1, 2], k, v), SHAPE, '[2]'],
  ['five axes', (engine) => engine.attention(filled([1, 2, 2, 4, 3], 0), k, v), SHAPE, 5],
  [
    'ranks that differ',
    (engine) => engine.attention(q, filled([5, 3], 0), filled([5, 3], 0)),
    SHAPE,
  ],
  [
    'widths that differ',
    (engine) => engine.attention([[1, 2, 3]], [[1, 2, 3, 4]], [[1]]),
    SHAPE,
    3,
    4,
  ],
  [
    'keys and values that differ in number',
    (engine) => engine.attention([[1]], filled([7, 1], 0), filled([9, 1], 0)),
    SHAPE,
    7,
    9,
  ],
  [
    'batches that differ',
    (engine) => engine.attention(q, filled([3, 2, 5, 3], 0), filled([3, 2, 5, 3], 0)),
    SHAPE,
    2,
    3,
  ],
  [
    'heads that differ',
    (engine) => engine.attention(q, filled([2, 7, 5, 3], 0), filled([2, 7, 5, 3], 0)),
    SHAPE,
    2,
    7,
  ],
  [
    'values of other heads',
    (engine) => engine.attention(q, k, filled([2, 9, 5, 3], 0)),
    SHAPE,
    2,
    9,
  ],
  ['options that are no object', (engine) => engine.attention(q, k, v, 'causal'), EITHER],
  ['missing keys', (engine) => engine.attention(q), EITHER],
]);

refuses('attention', [
  ...badOption(attend, 'mask', SHAPE, [
    [filled([4, 6], 1), 6, 5],
    [filled([3, 5], 1), 3, 4],
    [filled([3, 4, 5], 1), 3, 2],
    [filled([2, 3, 4, 5], 1), 3, 2],
    [filled([1, 2, 2, 4, 5], 1), 5],
  ]),
  ...badOption(attend, 'mask', EITHER, [['causal'], [7]]),
  ...badOption(attend, 'mask', VALUE, [
    [filled([4, 5], -Infinity), '-Infinity', 'bias'],
    [filled([4, 5], 0.5), 0.5, 'bias'],
    [filled([4, 5], NaN), 'NaN', 'bias'],
  ]),
  ...badOption(attend, 'bias', SHAPE, [
    [filled([4, 6], 1), 6, 5],
    [filled([2, 3, 4, 5], 1), 3, 2],
  ]),
  ...badOption(attend, 'validLens', SHAPE, [
    [[1, 2, 3], 3, 2],
    [
      [
        [1, 2, 3],
        [1, 2, 3],
      ],
      3,
      4,
    ],
    [[[[1], [2]]]],
  ]),
  ...badOption(attend, 'validLens', VALUE, [
    [[1, 6], 6, 5],
    [[-1, 2], -1],
    [[1.5, 2], 1.5],
    [[NaN, 2], 'NaN'],
    [[Infinity, 2], 'Infinity'],
    [
      [
        [1, 2, 3, 4],
        [1, 2, 3, 17],
      ],
      17,
      5,
    ],
  ]),
  ...badOption(attend, 'causal', VALUE, [
    ['middle', 'middle'],
    [1, 1],
  ]),
  ...badOption(attend, 'window', VALUE, [
    [-1, -1],
    [1.5, 1.5],
    [NaN, 'NaN'],
    ['wide', 'wide'],
    [{ left: -2, right: 0 }, -2],
    [{ left: 0, right: 0.5 }, 0.5],
    [{ left: 0, right: 0, global: -3 }, -3],
  ]),
  [
    'window with an unknown side',
    (engine) => attend(engine, { window: { left: 1, rigth: 1 } }),
    UNKNOWN,
    'rigth',
  ],
  ...badOption(attend, 'scale', VALUE, [
    [NaN, 'NaN'],
    [Infinity, 'Infinity'],
    ['none', 'none'],
  ]),
  ...badOption(attend, 'temperature', VALUE, [
    [0, 0],
    [-1, -1],
    [NaN, 'NaN'],
    [Infinity, 'Infinity'],
    ['hot', 'hot'],
  ]),
  ...badOption(attend, 'score', VALUE, [
    ['euclidean', 'euclidean', 'scaled-dot'],
    [3, 3],
    ['toString', 'toString'],
  ]),
  ...badOption(attend, 'normalise', VALUE, [['max', 'max', 'softmax']]),
  ...badOption(attend, 'fill', VALUE, [
    ['zero', 'zero'],
    [NaN, 'NaN'],
  ]),
  ...badOption(attend, 'dropout', VALUE, [
    [1, 1],
    [-0.1, -0.1],
    [NaN, 'NaN'],
    [2, 2],
    ['half', 'half'],
  ]),
  ...badOption(attend, 'seed', VALUE, [
    [-1, -1],
    [1.5, 1.5],
    [2 ** 32, 2 ** 32],
    [NaN, 'NaN'],
    ['x', 'x'],
  ]),
  ...badOption(attend, 'needWeights', VALUE, [['no', 'no']]),
  ...badOption(attend, 'alibi', SHAPE, [[[1, 2, 3], 3, 2]]),
  ...badOption(attend, 'alibi', EITHER, [
    ['steep', 'must be true, false'],
    [2, 'must be true'],
  ]),
]);

const scored = (score, params) => (engine) => engine.attention(q, k, v, { score, params });
const additive = (change) => ({
  query: { weight: filled([6, 3], 1) },
  key: { weight: filled([6, 3], 1) },
  value: { weight: filled([1, 6], 1) },
  ...change,
});

refuses('scoring', [
  ['general without parameters', scored('general'), EITHER, 'general', 'weight'],
  ['general with an empty object', scored('general', {}), EITHER, 'weight'],
  [
    'general with a weight of another width',
    scored('general', { weight: filled([3, 4], 1) }),
    SHAPE,
    4,
    3,
  ],
  ['general with a vector', scored('general', { weight: [1, 2, 3] }), SHAPE],
  ['additive without parameters', scored('additive'), EITHER, 'additive', 'query'],
  ['additive without key weights', scored('additive', additive({ key: undefined })), EITHER, 'key'],
  [
    'additive with a query weight of another width',
    scored('additive', additive({ query: { weight: filled([6, 4], 1) } })),
    SHAPE,
    4,
    3,
  ],
  [
    'additive with units that differ',
    scored('additive', additive({ key: { weight: filled([7, 3], 1) } })),
    SHAPE,
    7,
    6,
  ],
  [
    'additive with two rows of value weight',
    scored('additive', additive({ value: { weight: filled([2, 6], 1) } })),
    SHAPE,
    '[2, 6]',
    '[1, 6]',
  ],
  [
    'a parameter that additive does not have',
    scored('additive', additive({ output: {} })),
    UNKNOWN,
    'output',
  ],
  [
    'a parameter that general does not have',
    scored('general', { weight: filled([3, 3], 1), bias: [1] }),
    UNKNOWN,
    'bias',
  ],
  ['parameters where none belong', scored('dot', { weight: filled([3, 3], 1) }), UNKNOWN, 'weight'],
  ['a width that is a word', scored('gaussian', { width: 'wide' }), EITHER, 'width', 'wide'],
]);

const overriding =
  (...overrides) =>
  (engine) =>
    engine.attention(q, k, v, { overrides });

refuses('overrides', [
  [
    'of an unknown tensor',
    overriding({ name: 'wieghts', at: [0, 0, 0, 0], value: 1 }),
    'NOT_FOUND',
    'wieghts',
  ],
  ['outside the tensor', overriding({ name: 'weights', at: [0, 0, 4, 0], value: 1 }), EITHER, 4],
  ['with too few axes', overriding({ name: 'weights', at: [0], value: 1 }), EITHER, 1, 4],
  ['at half a cell', overriding({ name: 'weights', at: [0, 0, 0.5, 0], value: 1 }), EITHER, 0.5],
  ['at a negative cell', overriding({ name: 'weights', at: [0, 0, -1, 0], value: 1 }), EITHER, -1],
  [
    'without a value',
    overriding({ name: 'weights', at: [0, 0, 0, 0] }),
    VALUE,
    'weights',
    'undefined',
  ],
  ['with a word', overriding({ name: 'weights', at: [0, 0, 0, 0], value: 'one' }), VALUE, 'one'],
  [
    'with an unknown field',
    overriding({ name: 'weights', at: [0, 0, 0, 0], value: 1, axis: 2 }),
    UNKNOWN,
    'axis',
  ],
  [
    'at a cell that is 0 in 32 bits',
    overriding({ name: 'weights', at: [0, 0, 0, 2 ** 32], value: 1 }),
    EITHER,
    2 ** 32,
  ],
  ['that are null', overriding(null), EITHER, 'override'],
  ['without a place', overriding({ name: 'weights', value: 1 }), EITHER, 'weights', 'at'],
  ['at a number', overriding({ name: 'weights', at: 3, value: 1 }), EITHER, 'weights', 'at', 3],
  ['without a name', overriding({ at: [0, 0, 0, 0], value: 1 }), EITHER, 'name'],
  ['of a numbered tensor', overriding({ name: 7, at: [0], value: 1 }), EITHER, 'name', 7],
  [
    'that are no list',
    (engine) => attend(engine, { overrides: { name: 'weights' } }),
    EITHER,
    'overrides',
  ],
]);

// ---- engines -------------------------------------------------------------------------------------

test('createEngine refuses what it does not know', async () => {
  for (const [options, code, ...words] of [
    [{ simd: 'maybe' }, VALUE, 'simd', 'maybe'],
    [{ simd: true }, VALUE, 'simd'],
    [{ smid: 'on' }, UNKNOWN, 'smid'],
    [{ wasm: 'attention.wasm' }, /BAD_VALUE|BAD_WASM/, 'wasm'],
    [{ wasm: 7 }, /BAD_VALUE|BAD_WASM/, 'wasm'],
  ]) {
    const error = await createEngine(options).then(
      () => assert.fail(`${JSON.stringify(options)} was taken`),
      (thrown) => thrown,
    );
    assertIsError(error, code, ...words);
  }
});

test('errors are Errors with a name, a code and a sentence', () => {
  try {
    engines.simd.attention([[1]], [[1]], [[1]], { temperature: -3 });
    assert.fail('a negative temperature was taken');
  } catch (error) {
    assert.ok(error instanceof AttentionError && error instanceof Error);
    assert.equal(error.name, 'AttentionError');
    assert.equal(error.code, 'BAD_VALUE');
    assert.match(error.message, /temperature.*-3/);
    assert.doesNotMatch(error.message, /\n/);
  }
});

onEachEngine('errors say which option is at fault', (engine) => {
  const deep = filled([1, 1, 1, 1, 1, 2], 1);
  const x = filled([2, 4], 1);
  const model = engine.transformer({ sourceVocab: 5, targetVocab: 5, hiddens: 8, heads: 2 });
  const sentence = { source: [1, 2], target: [1, 2] };
  for (const [option, call] of [
    ['x', () => engine.gelu(deep)],
    ['q', () => engine.attention(deep, deep, deep)],
    ['scores', () => engine.maskedSoftmax(deep)],
    ['positions', () => engine.rotary(x, { positions: deep })],
    ['shape', () => engine.random({ shape: [1, 1, 1, 1, 1] })],
    ['source', () => model.forward({ ...sentence, source: deep })],
    ['sourceLens', () => model.decode({ ...sentence, sourceLens: [3] })],
    ['sourceLens', () => model.decode({ ...sentence, sourceLens: [1, 1] })],
    ['targetLens', () => model.decode({ ...sentence, targetLens: [0.5] })],
    ['prefill', () => model.decode(sentence, { prefill: 3 })],
    ['params', () => engine.multiHeadAttention(x, x, x, { heads: 2 })],
    ['params', () => engine.encoderLayer(x, { heads: 2, params: { attention: [] } })],
  ]) {
    assert.throws(call, (error) => {
      assert.equal(error.option, option, error.message);
      return error instanceof AttentionError;
    });
  }
});

onEachEngine('errors leave the options and tensors given as they were', (engine) => {
  const given = { mask: identity(2), validLens: [9], causal: true };
  const copy = structuredClone(given);
  assertFails(
    () =>
      engine.maskedSoftmax(
        [
          [1, 2],
          [3, 4],
        ],
        given,
      ),
    VALUE,
    9,
    2,
  );
  assert.deepEqual(given, copy);
});
