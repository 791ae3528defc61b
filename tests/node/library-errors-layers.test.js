// Bad input to multi-head attention, positions, norms, blocks, random numbers and the model: each is
// refused with a code and a sentence that names the offending value and the limit.

import assert from 'node:assert/strict';
import {
  assertFails,
  badOption,
  EITHER,
  filled,
  onEachEngine,
  refuses,
  SHAPE,
  tensor,
  UNKNOWN,
  VALUE,
} from './helpers.js';

const linear = (out, width) => ({ weight: filled([out, width], 0.1), bias: filled([out], 0) });
const attentionParams = () => ({
  query: linear(4, 4),
  key: linear(4, 4),
  value: linear(4, 4),
  output: linear(4, 4),
});
const blockParams = () => ({
  attention: attentionParams(),
  norm1: { weight: filled([4], 1), bias: filled([4], 0) },
  norm2: { weight: filled([4], 1), bias: filled([4], 0) },
  linear1: linear(6, 4),
  linear2: linear(4, 6),
});
const x = filled([2, 3, 4], 0.5);

/** Input that has a head axis already. */
const split = filled([2, 2, 4, 3], 1);

const multiHead = (engine, options) =>
  engine.multiHeadAttention(x, x, x, { heads: 2, params: attentionParams(), ...options });
const changed = (name, change) => ({
  ...attentionParams(),
  [name]: { ...linear(4, 4), ...change },
});

refuses('multi-head attention', [
  ...badOption(multiHead, 'heads', EITHER, [
    [3, 3, 4],
    [8, 8, 4],
    [0, 0],
    [-2, -2],
    [1.5, 1.5],
    [NaN, 'NaN'],
    ['two', 'two'],
  ]),
  ...badOption(multiHead, 'headMask', SHAPE, [[[1, 1, 1], 3, 2], [[[1, 1]]]]),
  ...badOption(multiHead, 'mask', SHAPE, [[filled([3, 4], 1), 4, 3]]),
  ...badOption(multiHead, 'temperature', VALUE, [[-1, -1]]),
  [
    'no heads',
    (engine) => engine.multiHeadAttention(x, x, x, { params: attentionParams() }),
    EITHER,
    'heads',
  ],
  ['no options', (engine) => engine.multiHeadAttention(x, x, x), EITHER],
  ...badOption(multiHead, 'rotary', VALUE, [
    [[], '[]', 'pairing'],
    [new Float32Array(2), 'pairing'],
    ['quarters', 'quarters'],
    [7, 7],
  ]),
  ...badOption(multiHead, 'rotary', UNKNOWN, [
    [{ pairng: 'interleaved' }, 'pairng', 'pairing'],
    [tensor([1], [1]), 'shape', 'pairing'],
  ]),
  [
    'no parameters',
    (engine) => engine.multiHeadAttention(x, x, x, { heads: 2 }),
    VALUE,
    'params is missing',
    'query',
  ],
  [
    'a projection that is a tensor',
    (engine) => multiHead(engine, { params: { ...attentionParams(), key: 5 } }),
    VALUE,
    'params.key 5',
    'weight',
  ],
  [
    'parameters of a score that has none',
    (engine) => multiHead(engine, { score: 'dot', scoreParams: { weight: [[1]] } }),
    UNKNOWN,
    'scoreParams',
  ],
  [
    'a missing projection',
    (engine) => multiHead(engine, { params: { ...attentionParams(), value: undefined } }),
    EITHER,
    'value',
  ],
  [
    'a projection without weight',
    (engine) => multiHead(engine, { params: { ...attentionParams(), key: {} } }),
    EITHER,
    'key',
    'weight',
  ],
  [
    'an unknown projection',
    (engine) => multiHead(engine, { params: { ...attentionParams(), gate: linear(4, 4) } }),
    UNKNOWN,
    'gate',
  ],
  [
    'an unknown part of a projection',
    (engine) => multiHead(engine, { params: changed('key', { scale: [1] }) }),
    UNKNOWN,
    'scale',
  ],
  [
    'a weight of another width',
    (engine) => multiHead(engine, { params: changed('query', linear(4, 7)) }),
    SHAPE,
    7,
    4,
  ],
  [
    'key and query projections that differ',
    (engine) => multiHead(engine, { params: changed('key', linear(6, 4)) }),
    SHAPE,
    6,
    4,
  ],
  [
    'a bias of another length',
    (engine) => multiHead(engine, { params: changed('value', { bias: filled([9], 0) }) }),
    SHAPE,
    9,
    4,
  ],
  [
    'an output weight of another width',
    (engine) => multiHead(engine, { params: changed('output', linear(4, 9)) }),
    SHAPE,
    9,
    4,
  ],
  [
    'input with a head axis',
    (engine) =>
      engine.multiHeadAttention(split, split, split, { heads: 2, params: attentionParams() }),
    SHAPE,
    4,
  ],
  [
    'other batches',
    (engine) =>
      engine.multiHeadAttention(x, filled([7, 3, 4], 0), filled([7, 3, 4], 0), {
        heads: 2,
        params: attentionParams(),
      }),
    SHAPE,
    2,
    7,
  ],
]);

const positions = (engine, options) =>
  engine.positionalEncoding({ kind: 'sinusoidal', length: 3, hiddens: 4, ...options });

refuses('positional encoding', [
  ...badOption(positions, 'kind', VALUE, [['cosine', 'cosine', 'sinusoidal']]),
  ...badOption(positions, 'length', EITHER, [
    [-1, -1],
    [1.5, 1.5],
    [NaN, 'NaN'],
    ['ten', 'ten'],
    [undefined],
  ]),
  ...badOption(positions, 'hiddens', EITHER, [[-4, -4], [0, 0], [2.5, 2.5], [undefined]]),
  ...badOption(positions, 'offset', EITHER, [
    [-1, -1],
    [0.5, 0.5],
    [NaN, 'NaN'],
  ]),
  ['no options', (engine) => engine.positionalEncoding(), EITHER],
]);

const rotary = (engine, options) => engine.rotary(x, options);

refuses('rotary', [
  ['an odd width', (engine) => engine.rotary(filled([2, 5], 1), { pairing: 'halves' }), EITHER, 5],
  ...badOption(rotary, 'pairing', VALUE, [['quarters', 'quarters', 'halves', 'interleaved']]),
  ...badOption(rotary, 'positions', SHAPE, [[[1, 2], 2, 3], [[[1, 2, 3]]]]),
  ...badOption(rotary, 'positions', EITHER, [
    ['first', 'first'],
    [NaN, 'NaN'],
    [[0, 1, NaN], 'NaN'],
  ]),
  ...badOption(rotary, 'base', VALUE, [
    [0, 0],
    [-1, -1],
    [NaN, 'NaN'],
  ]),
]);

const norm = (engine, options) => engine.layerNorm(x, options);

refuses('layer norm', [
  ...badOption(norm, 'weight', SHAPE, [[[1, 2], 2, 4], [[[1, 2, 3, 4]]]]),
  ...badOption(norm, 'bias', SHAPE, [[[1, 2, 3, 4, 5], 5, 4]]),
  ...badOption(norm, 'eps', VALUE, [
    [-1e-5, '-1e-5'],
    [NaN, 'NaN'],
    ['tiny', 'tiny'],
  ]),
  ['a width of 0', (engine) => engine.layerNorm(tensor([2, 0], [])), EITHER, 0],
]);

refuses(
  'GELU',
  badOption((engine, options) => engine.gelu(x, options), 'form', VALUE, [
    ['sigmoid', 'sigmoid', 'erf', 'tanh'],
  ]),
);

const feed = (engine, options) =>
  engine.feedForward(x, { params: { linear1: linear(6, 4), linear2: linear(4, 6) }, ...options });

refuses('feed-forward', [
  ...badOption(feed, 'activation', VALUE, [['swish', 'swish', 'relu']]),
  ['no parameters', (engine) => engine.feedForward(x), EITHER],
  [
    'a missing layer',
    (engine) => feed(engine, { params: { linear1: linear(6, 4) } }),
    EITHER,
    'linear2',
  ],
  [
    'layers that do not fit',
    (engine) => feed(engine, { params: { linear1: linear(6, 4), linear2: linear(4, 7) } }),
    SHAPE,
    6,
    7,
  ],
  [
    'a layer of another width',
    (engine) => feed(engine, { params: { linear1: linear(6, 9), linear2: linear(4, 6) } }),
    SHAPE,
    9,
    4,
  ],
]);

const layer = (engine, options) =>
  engine.encoderLayer(x, { heads: 2, params: blockParams(), ...options });

refuses('encoder layer', [
  ...badOption(layer, 'norm', VALUE, [['both', 'both', 'post', 'pre']]),
  ...badOption(layer, 'activation', VALUE, [['swish', 'swish']]),
  ...badOption(layer, 'heads', EITHER, [[3, 3, 4]]),
  ...badOption(layer, 'eps', VALUE, [
    [NaN, 'NaN'],
    [-1, -1],
  ]),
  [
    'no parameters',
    (engine) => engine.encoderLayer(x, { heads: 2 }),
    VALUE,
    'params is missing',
    'attention',
  ],
  [
    'no attention',
    (engine) => layer(engine, { params: { ...blockParams(), attention: undefined } }),
    VALUE,
    'params.attention is missing',
    'query',
  ],
  [
    'an attention that is none',
    (engine) => layer(engine, { params: { ...blockParams(), attention: 5 } }),
    VALUE,
    'params.attention 5',
  ],
  [
    'an unknown projection',
    (engine) => layer(engine, { params: { ...blockParams(), attention: { gate: {} } } }),
    UNKNOWN,
    'params.attention',
    'gate',
  ],
  ['no options', (engine) => engine.encoderLayer(x), EITHER],
  [
    'an unknown parameter',
    (engine) => layer(engine, { params: { ...blockParams(), norm3: {} } }),
    UNKNOWN,
    'norm3',
  ],
  [
    'a norm of another width',
    (engine) => layer(engine, { params: { ...blockParams(), norm2: { weight: [1, 2] } } }),
    SHAPE,
    2,
    4,
  ],
]);

const random = (engine, options) =>
  engine.random({ shape: [2, 2], seed: 1, name: 'x', ...options });

refuses('random', [
  ...badOption(random, 'shape', EITHER, [
    [[-1, 2], -1],
    [[1.5], 1.5],
    [3, 3],
    [undefined, 'undefined'],
  ]),
  ['five axes', (engine) => random(engine, { shape: [1, 1, 1, 1, 1] }), SHAPE, 5, 4],
  ['no options', (engine) => engine.random(), EITHER],
  ...badOption(random, 'seed', VALUE, [
    [-1, -1],
    [0.5, 0.5],
    [2 ** 32, 2 ** 32],
  ]),
  ...badOption(random, 'name', VALUE, [[7, 7]]),
  ...badOption(random, 'distribution', VALUE, [['cauchy', 'cauchy', 'normal']]),
  [
    'xavier without two axes',
    (engine) => random(engine, { shape: [4], distribution: 'xavier' }),
    EITHER,
  ],
]);

for (const [name, call] of Object.entries({
  maskedSoftmax: (engine, options) => engine.maskedSoftmax([[1, 2]], options),
  attention: (engine, options) => engine.attention([[1]], [[1]], [[1]], options),
  multiHeadAttention: multiHead,
  positionalEncoding: positions,
  rotary,
  layerNorm: norm,
  gelu: (engine, options) => engine.gelu(x, options),
  feedForward: feed,
  encoderLayer: layer,
  random,
  attentionLayer: (engine, options) => engine.attentionLayer({ hiddens: 4, heads: 2, ...options }),
})) {
  refuses(name, [
    ['an unknown option', (engine) => call(engine, { wdith: 3 }), UNKNOWN, 'wdith'],
    [
      'the name of an inherited property',
      (engine) => call(engine, { constructor: 1 }),
      UNKNOWN,
      'constructor',
    ],
  ]);
}

refuses('tape', [
  [
    'an unknown tensor',
    (engine) => engine.tensor('attention.wights'),
    'NOT_FOUND',
    'attention.wights',
  ],
]);

// ---- the model -----------------------------------------------------------------------------------

const model = (engine, options) => engine.attentionLayer({ hiddens: 4, heads: 2, ...options });
const source = ['the', 'cat'];

refuses('attention layer', [
  ...badOption(model, 'hiddens', EITHER, [
    [0, 0],
    [-4, -4],
    [2.5, 2.5],
    [5, 5, 2],
  ]),
  ...badOption(model, 'heads', EITHER, [
    [3, 3, 4],
    [1.5, 1.5],
  ]),
  ...badOption(model, 'seed', VALUE, [
    [-1, -1],
    [NaN, 'NaN'],
    ['one', 'one'],
  ]),
  ...badOption(model, 'position', VALUE, [['spiral', 'spiral', 'none', 'sinusoidal']]),
  ...badOption(model, 'bias', VALUE, [['yes', 'yes']]),
  ['no source', (engine) => model(engine).forward({}), EITHER, 'source'],
  [
    'a source that is a text',
    (engine) => model(engine).forward({ source: 'the cat' }),
    EITHER,
    'source',
  ],
  [
    'a token that is a number',
    (engine) => model(engine).forward({ source: ['the', 3] }),
    EITHER,
    'source',
    3,
  ],
  [
    'a target that is a text',
    (engine) => model(engine).forward({ source, target: 'cat' }),
    EITHER,
    'target',
  ],
  [
    'heads that do not divide',
    (engine) => model(engine).forward({ source, heads: 3 }),
    EITHER,
    3,
    4,
  ],
  [
    'an unknown option',
    (engine) => model(engine).forward({ source, soruce: [] }),
    UNKNOWN,
    'soruce',
  ],
  [
    'a valid length beyond the keys',
    (engine) => model(engine).forward({ source, validLens: [3] }),
    VALUE,
    3,
    2,
  ],
  [
    'a negative temperature',
    (engine) => model(engine).forward({ source, temperature: -1 }),
    VALUE,
    -1,
  ],
  [
    'an unknown tensor',
    (engine) => {
      const layer = model(engine);
      layer.forward({ source });
      layer.tensor('attention.nothing');
    },
    'NOT_FOUND',
    'attention.nothing',
  ],
  [
    'an override of an unknown tensor',
    (engine) => {
      const layer = model(engine);
      layer.override('attention.nothing', { at: [0], value: 1 });
      layer.forward({ source });
    },
    'NOT_FOUND',
    'attention.nothing',
  ],
]);

onEachEngine('a model refuses names that are no list', (engine) => {
  const layer = model(engine);
  layer.forward({ source });
  assert.deepEqual(Object.keys(layer.values(['attention.weights'])), ['attention.weights']);
  for (const names of [5, null, undefined, {}, 'attention.weights', [5]]) {
    assertFails(() => layer.values(names), VALUE, 'values', JSON.stringify(names) ?? 'undefined');
  }
});

onEachEngine('a model refuses a bad override at once, and goes on without it', (engine) => {
  const layer = model(engine);
  for (const [name, cell, ...words] of [
    ['attention.weights', undefined],
    ['attention.weights', { at: 3, value: 1 }, 'at', 3],
    ['attention.weights', { value: 1 }, 'at'],
    ['attention.weights', { at: [0, 0, 0, 0] }, 'undefined'],
    ['attention.weights', { at: [0, 0, 0, -1], value: 1 }, -1],
    ['attention.weights', { at: [0, 0, 0, 0.5], value: 1 }, 0.5],
    ['attention.weights', { at: [0, 0, 0, 0], value: 'one' }, 'one'],
    [7, { at: [0, 0, 0, 0], value: 1 }, 7],
  ]) {
    assertFails(() => layer.override(name, cell), EITHER, ...words);
  }
  layer.forward({ source });
  assert.deepEqual(layer.tensor('attention.weights').shape, [1, 2, 2, 2]);
});

onEachEngine('overrides that are no list are refused by functions and models alike', (engine) => {
  const layer = model(engine);
  layer.forward({ source, overrides: undefined });
  for (const overrides of [0, '', false, null, 'none', {}]) {
    const words = ['overrides', JSON.stringify(overrides), 'list'];
    assertFails(() => engine.gelu(x, { overrides }), VALUE, ...words);
    assertFails(() => layer.forward({ source, overrides }), VALUE, ...words);
  }
});

onEachEngine('a model works after an error', (engine) => {
  const layer = model(engine);
  layer.forward({ source });
  const before = layer.tensor('attention.output');
  assertFails(() => layer.forward({ source, temperature: 0 }), VALUE, 0);
  assertFails(() => layer.forward({ source: ['a'], validLens: [9] }), VALUE, 9);
  layer.forward({ source });
  assert.deepEqual(layer.tensor('attention.output'), before);
});
