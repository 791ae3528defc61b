// engine.attention and engine.maskedSoftmax: every option and its default, against attention in plain
// float64, on both binaries and by both paths.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as library from '../../wasm/attention.js';
import {
  assertClose,
  assertFlags,
  assertSame,
  assertSameResults,
  bits,
  filled,
  fromNested,
  identity,
  mapCells,
  onEachEngine,
  problem,
  randomTensor,
  seeded,
  take,
  tensor,
} from './helpers.js';
import { reference } from './reference.js';

/** Results of attention against float64, by the plain path and the fused one. */
function assertAttention(engine, { q, k, v }, options, expected = reference(q, k, v, options)) {
  const plain = engine.attention(q, k, v, options);
  for (const name of ['scores', 'weights', 'output'])
    assertClose(plain[name], expected[name], name);
  assertFlags(plain.emptyRows, expected.emptyRows, 'emptyRows');
  const fused = engine.attention(q, k, v, { ...options, needWeights: false });
  assert.deepEqual(Object.keys(fused).sort(), ['emptyRows', 'notFiniteRows', 'output']);
  assertClose(fused.output, expected.output, 'output of the fused path');
  assertFlags(fused.emptyRows, expected.emptyRows, 'emptyRows of the fused path');
}

// ---- masks ---------------------------------------------------------------------------------------

const everyMask = {
  'valid length of each batch entry': () => ({ validLens: [2, 5] }),
  'valid length 0': () => ({ validLens: [0, 4] }),
  'valid length of each query': () => ({
    validLens: [
      [1, 0, 5, 2],
      [3, 3, 4, 1],
    ],
  }),
  causal: () => ({ causal: true }),
  'causal, bottom right': () => ({ causal: 'bottom-right' }),
  'causal, top left': () => ({ causal: 'top-left' }),
  'not causal': () => ({ causal: false }),
  window: () => ({ window: 1 }),
  'window 0': () => ({ window: 0 }),
  'window, causal': () => ({ window: 1, causal: true }),
  'window, causal, top left': () => ({ window: 1, causal: 'top-left' }),
  'uneven window': () => ({ window: { left: 2, right: 0 } }),
  'window to the right': () => ({ window: { left: 0, right: 3 } }),
  'window beyond the keys': () => ({ window: 100 }),
  'mask [Tq, Tk]': (random) => ({ mask: bits(random, 4, 5) }),
  'mask [B, Tq, Tk]': (random) => ({ mask: bits(random, 2, 4, 5) }),
  'mask [B, h, Tq, Tk]': (random) => ({ mask: bits(random, 2, 3, 4, 5) }),
  'mask [1, Tk]': (random) => ({ mask: bits(random, 1, 5) }),
  'mask [Tq, 1]': (random) => ({ mask: bits(random, 4, 1) }),
  'mask [B, 1, Tk]': (random) => ({ mask: bits(random, 2, 1, 5) }),
  'mask [1, h, 1, Tk]': (random) => ({ mask: bits(random, 1, 3, 1, 5) }),
  'mask [1, 1, 1, 1]': () => ({ mask: filled([1, 1, 1, 1], 0) }),
  'bias [Tq, Tk]': (random) => ({ bias: randomTensor(random, 4, 5) }),
  'bias [B, Tq, Tk]': (random) => ({ bias: randomTensor(random, 2, 4, 5) }),
  'bias [B, h, Tq, Tk]': (random) => ({ bias: randomTensor(random, 2, 3, 4, 5) }),
  'bias [1, h, 1, Tk]': (random) => ({ bias: randomTensor(random, 1, 3, 1, 5) }),
  'bias with -inf': (random) => ({
    bias: mapCells(randomTensor(random, 2, 1, 4, 5), (value) => (value < -0.5 ? -Infinity : value)),
  }),
  everything: (random) => ({
    validLens: [
      [5, 4, 3, 5],
      [4, 5, 0, 5],
    ],
    causal: true,
    window: { left: 3, right: 1 },
    mask: bits(random, 2, 1, 4, 5),
    bias: randomTensor(random, 4, 5),
  }),
};

for (const [name, make] of Object.entries(everyMask)) {
  onEachEngine(`mask: ${name}`, (engine) => {
    const given = problem(3);
    const options = make(given.random);
    assertAttention(engine, given, options);

    const { scores, weights, emptyRows } = reference(given.q, given.k, given.v, options);
    const softmax = engine.maskedSoftmax(scores, options);
    assertClose(softmax.weights, weights, 'weights of maskedSoftmax');
    assertFlags(softmax.emptyRows, emptyRows, 'emptyRows of maskedSoftmax');
  });
}

onEachEngine('mask: window with global tokens', (engine) => {
  const random = seeded(4);
  const [q, k, v] = [1, 2, 3].map(() => randomTensor(random, 1, 2, 7, 4));
  for (const causal of [false, true]) {
    for (const window of [
      { left: 1, right: 1, global: 1 },
      { left: 0, right: 2, global: 2 },
      { left: 1, right: 0, global: 0 },
      { left: 0, right: 0, global: 7 },
    ]) {
      assertAttention(engine, { q, k, v }, { window, causal });
    }
  }
});

onEachEngine('mask: valid lengths as a tensor, and for input without batch axis', (engine) => {
  const scores = randomTensor(seeded(5), 2, 3, 4);
  const right = engine.maskedSoftmax(scores, { validLens: [1, 3] }).weights;
  assertSame(engine.maskedSoftmax(scores, { validLens: tensor([2], [1, 3]) }).weights, right);
  assertSame(engine.maskedSoftmax(scores, { validLens: Int32Array.of(1, 3) }).weights, right);
  const one = tensor([3, 4], take(scores, [1]).data);
  assertSame(
    engine.maskedSoftmax(one, { validLens: [3] }).weights,
    tensor([3, 4], take(right, [1]).data),
  );
  assertSame(
    engine.maskedSoftmax(one, { validLens: [[3, 3, 3]] }).weights,
    tensor([3, 4], take(right, [1]).data),
  );
});

onEachEngine('mask: undefined means that the option is not given', (engine) => {
  const { q, k, v } = problem();
  const options = { mask: undefined, bias: undefined, validLens: undefined, causal: undefined };
  assertSameResults(engine.attention(q, k, v, options), engine.attention(q, k, v));
});

onEachEngine('fill: what stands in a masked cell', (engine) => {
  const scores = [[1, 2, 3]];
  const weights = (options) => engine.maskedSoftmax(scores, options).weights;
  assertSame(weights({ validLens: [2] }), weights({ validLens: [2], fill: 'exclude' }));
  assertSame(weights({ validLens: [0] }), [[0, 0, 0]]);
  assertClose(weights({ validLens: [0], fill: -1e6 }), filled([1, 3], 1 / 3));
  assertSame(weights({ validLens: [0], fill: -Infinity }), filled([1, 3], NaN));
  assertSame(weights({ validLens: [2], fill: -Infinity }), weights({ validLens: [2] }));
  const [e1, e2] = [Math.exp(1), Math.exp(2)];
  const total = e1 + e2 + 1;
  assertClose(weights({ validLens: [2], fill: 0 }), [[e1 / total, e2 / total, 1 / total]]);

  const empty = { validLens: [0], fill: -Infinity };
  assertFlags(engine.maskedSoftmax(scores, empty).emptyRows, [1]);
  assertFlags(engine.maskedSoftmax(scores, { validLens: [0], fill: -1e6 }).emptyRows, [1]);
  assertFlags(engine.maskedSoftmax(scores, { validLens: [0], fill: -1e6 }).notFiniteRows, [0]);
});

onEachEngine('fill: attention as D2L and as PyTorch', (engine) => {
  const qkv = [[[1]], [[1], [2]], [[10], [20]]];
  for (const needWeights of [true, false]) {
    const output = (fill) => engine.attention(...qkv, { validLens: [0], fill, needWeights }).output;
    assertSame(output('exclude'), [[0]]);
    assertClose(output(-1e6), [[15]]);
    assertSame(output(-Infinity), [[NaN]]);
  }
});

onEachEngine("maskFromTorch turns nn.MultiheadAttention's polarity round", (engine) => {
  const scores = filled([2, 3], 0);
  const torch = [
    [false, false, true],
    [true, false, true],
  ];
  for (const given of [torch, fromNested(torch.map((row) => row.map(Number)))]) {
    const { weights } = engine.maskedSoftmax(scores, { mask: library.maskFromTorch(given) });
    assertSame(weights, [
      [0.5, 0.5, 0],
      [0, 1, 0],
    ]);
  }
});

onEachEngine("keyPaddingMaskFromTorch takes nn.MultiheadAttention's [B, Tk]", (engine) => {
  const mask = library.keyPaddingMaskFromTorch([
    [false, true],
    [false, false],
  ]);
  assert.deepEqual(mask.shape, [2, 1, 2]);
  assertSame(engine.maskedSoftmax(filled([2, 2, 2], 0), { mask }).weights, [
    [
      [1, 0],
      [1, 0],
    ],
    [
      [0.5, 0.5],
      [0.5, 0.5],
    ],
  ]);
  assert.throws(() => library.keyPaddingMaskFromTorch([true]), { code: 'BAD_SHAPE' });
});

test('the masks of PyTorch with numbers in them are refused, not inverted', () => {
  for (const turn of [library.maskFromTorch, library.keyPaddingMaskFromTorch]) {
    assert.throws(() => turn([[0, -Infinity]]), { code: 'BAD_VALUE', message: /-Infinity.*bias/ });
  }
});

// ---- scores --------------------------------------------------------------------------------------

onEachEngine('scale and temperature', (engine) => {
  const given = problem(6);
  for (const scale of [1, 0.3, 0, -2]) assertAttention(engine, given, { scale });
  for (const temperature of [0.25, 1, 10]) assertAttention(engine, given, { temperature });
  assertAttention(engine, given, { scale: 0.5, temperature: 4 });
  const right = reference(given.q, given.k, given.v);
  assertAttention(engine, given, { scale: true }, right);
  assertAttention(
    engine,
    given,
    { score: 'scaled-dot', normalise: 'softmax', fill: 'exclude' },
    right,
  );
  const unscaled = reference(given.q, given.k, given.v, { scale: 1 });
  assertAttention(engine, given, { scale: false }, unscaled);
  assertAttention(engine, given, { score: 'dot' }, unscaled);
  assertAttention(engine, given, { score: 'dot', scale: true }, unscaled);
});

onEachEngine('scores are scaled, and neither biased nor masked', (engine) => {
  const qkv = [
    [[2, 0]],
    [
      [1, 5],
      [3, 5],
    ],
    identity(2),
  ];
  const options = { scale: 0.5, temperature: 2, bias: [[7, 7]], mask: [[1, 0]] };
  assertSame(engine.attention(...qkv, options).scores, [[0.5, 1.5]]);
});

onEachEngine('scoring functions by hand', (engine) => {
  const q = [[1, 2]];
  const k = [
    [3, 4],
    [-1, 0.5],
    [0, 0],
  ];
  const scores = (options) => engine.attention(q, k, identity(3), options).scores;
  assertSame(scores({ score: 'dot' }), [[11, 0, 0]]);
  assertClose(scores({ score: 'scaled-dot' }), [[11 / Math.SQRT2, 0, 0]]);
  assertClose(scores({ score: 'cosine' }), [[11 / (Math.sqrt(5) * 5), 0, 0]], 'cosine');
  assertSame(scores({ score: 'gaussian' }), [[-4, -3.125, -2.5]]);
  assertSame(scores({ score: 'gaussian', params: {} }), [[-4, -3.125, -2.5]]);
  assertSame(scores({ score: 'gaussian', params: { width: 2 } }), [[-16, -12.5, -10]]);
  assertSame(
    scores({
      score: 'general',
      params: {
        weight: [
          [0, 1],
          [1, 0],
        ],
      },
    }),
    [[10, -1.5, 0]],
  );
  const additive = {
    query: {
      weight: [
        [0.5, 0],
        [0, 1],
      ],
    },
    key: {
      weight: [
        [1, 0],
        [0, 1],
      ],
    },
    value: { weight: [[2, -1]] },
  };
  const energy = ([a, b]) => 2 * Math.tanh(0.5 + a) - Math.tanh(2 + b);
  assertClose(scores({ score: 'additive', params: additive }), [k.map(energy)]);
  assertClose(scores({ score: 'additive', params: additive, scale: 0.5, temperature: 2 }), [
    k.map((row) => energy(row) / 4),
  ]);
});

onEachEngine('normalisers: each cell on its own but for softmax', (engine) => {
  const q = [[1]];
  const k = [[-2], [0], [3]];
  const weights = (normalise, more = {}) =>
    engine.attention(q, k, identity(3), { score: 'dot', normalise, ...more }).weights;
  const sigmoid = (x) => 1 / (1 + Math.exp(-x));
  assertClose(weights('sigmoid'), [[sigmoid(-2), 0.5, sigmoid(3)]]);
  assertSame(weights('relu'), [[0, 0, 3]]);
  assertClose(weights('sigmoid', { mask: [[1, 1, 0]] }), [[sigmoid(-2), 0.5, 0]]);
  assertSame(weights('relu', { mask: [[1, 1, 0]], bias: [[4, 1, 1]] }), [[2, 1, 0]]);
});

onEachEngine('ALiBi: slopes by default, slopes given', (engine) => {
  const { q, k, v } = problem(7);
  const distance = (slopes) =>
    mapCells(filled([1, 3, 4, 5], 0), (_, [, h, i, j]) => -slopes[h] * Math.abs(i + 1 - j));
  const given = [1, 0.5, 0.125];
  const bias = randomTensor(seeded(8), 4, 5);
  const own = [2 ** -4, 2 ** -8, 2 ** -2]; // two heads' slopes, then the first of four heads'
  for (const [alibi, slopes] of [
    [given, given],
    [tensor([3], given), given],
    [true, own],
  ]) {
    const right = reference(q, k, v, { bias: distance(slopes), causal: true });
    assertAttention(engine, { q, k, v }, { alibi, causal: true }, right);
  }
  const both = mapCells(distance(given), (value, [, , i, j]) => value + bias.data[i * 5 + j]);
  assertAttention(engine, { q, k, v }, { alibi: given, bias }, reference(q, k, v, { bias: both }));
  const none = engine.attention(q, k, v, { alibi: false });
  assertSameResults(none, engine.attention(q, k, v));
});

// ---- dropout -------------------------------------------------------------------------------------

onEachEngine('dropout: a seed decides which weights fall, the others grow', (engine) => {
  const { q, k, v } = problem(9);
  const drop = (options) => engine.attention(q, k, v, { dropout: 0.5, seed: 3, ...options });
  const dropped = drop();
  assertSame(dropped.weights, engine.attention(q, k, v).weights);
  let fallen = 0;
  dropped.droppedWeights.data.forEach((value, i) => {
    if (value === 0) fallen++;
    else assert.equal(value, 2 * dropped.weights.data[i]);
  });
  assert.ok(fallen > 30 && fallen < 90, `${fallen} of 120 fell`);
  const right = reference(q, k, v);
  const direct = mapCells(right.output, (_, [b, h, i, d]) => {
    const row = ((b * 3 + h) * 4 + i) * 5;
    let sum = 0;
    for (let j = 0; j < 5; j++) {
      sum += dropped.droppedWeights.data[row + j] * v.data[((b * 3 + h) * 5 + j) * 3 + d];
    }
    return sum;
  });
  assertClose(dropped.output, direct);
  assertSameResults(drop(), dropped);
  assertClose(drop({ needWeights: false }).output, dropped.output);
  assert.notDeepEqual(drop({ seed: 4 }).droppedWeights.data, dropped.droppedWeights.data);
  drop({ seed: 2 ** 32 - 1 });
});

onEachEngine('dropout: 0 is no dropout, and the share is what was asked for', (engine) => {
  const { q, k, v } = problem(9);
  assertSameResults(engine.attention(q, k, v, { dropout: 0 }), engine.attention(q, k, v));
  const x = filled([100, 1], 0);
  const { droppedWeights } = engine.attention(x, x, x, { dropout: 0.2, seed: 1 });
  const share = droppedWeights.data.filter((value) => value === 0).length / 10000;
  assert.ok(Math.abs(share - 0.2) < 0.02, `${share} of the weights fell`);
});
