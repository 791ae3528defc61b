// Multi-head attention, positions, norms and blocks: every option and its default, against plain float64
// or against the blocks' own parts.

import assert from 'node:assert/strict';
import {
  assertClose,
  assertEqual,
  assertFlags,
  assertSame,
  assertSameResults,
  bits,
  filled,
  mapCells,
  onEachEngine,
  randomFeedForward,
  randomLayer,
  randomParams,
  randomTensor,
  seeded,
  take,
  tensor,
} from './helpers.js';
import { multiHead, project, split } from './reference.js';

// ---- multi-head attention ------------------------------------------------------------------------

function assertMultiHead(result, expected) {
  for (const name of ['output', 'weights', 'scores', 'meanWeights', 'heads']) {
    assertClose(result[name], expected[name], name);
  }
  assertFlags(result.emptyRows, expected.emptyRows, 'emptyRows');
}

onEachEngine('multi-head attention: all results, all sizes', (engine) => {
  const random = seeded(10);
  for (const [hiddens, heads] of [
    [8, 1],
    [8, 2],
    [8, 8],
    [12, 3],
    [15, 5],
    [96, 4],
    [128, 2],
  ]) {
    const params = randomParams(random, hiddens);
    const x = randomTensor(random, 2, 4, hiddens);
    const y = randomTensor(random, 2, 6, hiddens);
    const options = { validLens: [3, 6] };
    const result = engine.multiHeadAttention(x, y, y, { heads, params, ...options });
    assertMultiHead(result, multiHead(x, y, params, heads, options));
    assertFlags(result.notFiniteRows, Array(2 * heads * 4).fill(0));
    const fused = engine.multiHeadAttention(x, y, y, {
      heads,
      params,
      ...options,
      needWeights: false,
    });
    assertClose(fused.output, result.output);
    for (const name of ['weights', 'scores', 'meanWeights'])
      assert.equal(fused[name], undefined, name);
  }
});

onEachEngine('multi-head attention: without batch axis', (engine) => {
  const random = seeded(11);
  const params = randomParams(random, 6, { bias: false });
  const x = randomTensor(random, 1, 4, 6);
  const right = engine.multiHeadAttention(x, x, x, { heads: 2, params });
  const flat = tensor([4, 6], x.data);
  const result = engine.multiHeadAttention(flat, flat, flat, { heads: 2, params });
  for (const name of ['output', 'weights', 'scores', 'meanWeights', 'heads']) {
    assertSame(result[name], tensor(right[name].shape.slice(1), right[name].data), name);
  }
});

onEachEngine('multi-head attention: options of attention reach it', (engine) => {
  const random = seeded(12);
  const params = randomParams(random, 8);
  const x = randomTensor(random, 2, 5, 8);
  const mask = bits(random, 2, 4, 5, 5);
  for (const options of [
    { causal: true },
    { causal: 'top-left', window: 2 },
    { mask },
    { bias: randomTensor(random, 1, 4, 5, 5) },
    { scale: 0.1 },
    { temperature: 3 },
  ]) {
    const result = engine.multiHeadAttention(x, x, x, { heads: 4, params, ...options });
    assertMultiHead(result, multiHead(x, x, params, 4, options));
  }
  const dropped = engine.multiHeadAttention(x, x, x, { heads: 4, params, dropout: 0.3, seed: 1 });
  assert.deepEqual(dropped.droppedWeights.shape, [2, 4, 5, 5]);
  const relu = engine.multiHeadAttention(x, x, x, { heads: 4, params, normalise: 'relu' });
  assertClose(
    relu.weights,
    mapCells(relu.scores, (value) => Math.max(0, value)),
  );
});

onEachEngine('multi-head attention: rotary positions turn queries and keys', (engine) => {
  const random = seeded(24);
  const params = randomParams(random, 12);
  const x = randomTensor(random, 2, 3, 12);
  const y = randomTensor(random, 2, 5, 12);
  for (const [rotary, pairing, base] of [
    ['halves', 'halves', 10000],
    ['interleaved', 'interleaved', 10000],
    [{ pairing: 'interleaved', base: 50 }, 'interleaved', 50],
  ]) {
    // Bottom-right, as for causal masks: the last query stands at the last key.
    for (const [causal, first] of [
      [false, 2],
      [true, 2],
      ['top-left', 0],
    ]) {
      const turn = ({ shape, data }, side) =>
        engine.rotary(tensor(shape, data), {
          pairing,
          base,
          positions: side === 'query' ? first : 0,
        });
      const result = engine.multiHeadAttention(x, y, y, { heads: 3, params, rotary, causal });
      assertMultiHead(result, multiHead(x, y, params, 3, { causal }, { turn }));
    }
  }
});

onEachEngine('multi-head attention: scoring functions with parameters of their own', (engine) => {
  const random = seeded(25);
  const params = randomParams(random, 8);
  const x = randomTensor(random, 2, 4, 8);
  const projected = ['query', 'key', 'value'].map((name) => {
    const { shape, data } = split(project(x, params[name]), 2);
    return tensor(shape, data);
  });
  const weight = (out) => ({ weight: randomTensor(random, out, 4) });
  for (const [score, scoreParams] of [
    ['general', weight(4)],
    ['gaussian', { width: 0.5 }],
    [
      'additive',
      { query: weight(3), key: weight(3), value: { weight: randomTensor(random, 1, 3) } },
    ],
    ['cosine', undefined],
  ]) {
    const right = engine.attention(...projected, { score, params: scoreParams });
    const options = { heads: 2, params, score, scoreParams };
    const result = engine.multiHeadAttention(x, x, x, options);
    for (const name of ['scores', 'weights']) assertClose(result[name], right[name], score);
    assertClose(result.heads, right.output, score);
    const fused = engine.multiHeadAttention(x, x, x, { ...options, needWeights: false });
    assertClose(fused.output, result.output, score);
  }
});

onEachEngine('multi-head attention: an empty row leaves the bias of the output', (engine) => {
  const random = seeded(13);
  const params = randomParams(random, 6);
  const x = randomTensor(random, 2, 3, 6);
  for (const needWeights of [true, false]) {
    const options = { heads: 2, params, validLens: [0, 3], needWeights };
    const { output, emptyRows } = engine.multiHeadAttention(x, x, x, options);
    const first = tensor([1, 3, 6], output.data.subarray(0, 18));
    assertClose(
      first,
      mapCells(first, (_, [, , o]) => params.output.bias.data[o]),
    );
    assertFlags(emptyRows, [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
  }
});

onEachEngine(
  'multi-head attention: the head mask multiplies heads on their way to the output',
  (engine) => {
    const random = seeded(14);
    const params = randomParams(random, 6);
    const x = randomTensor(random, 2, 4, 6);
    const run = (more) => engine.multiHeadAttention(x, x, x, { heads: 3, params, ...more });
    for (const headMask of [
      [1, 0, 1],
      [0, 0, 0],
      [0.5, 2, -1],
    ]) {
      const result = run({ headMask });
      assertMultiHead(result, multiHead(x, x, params, 3, {}, { headMask }));
      const masked = mapCells(result.heads, (value, [, h]) => value * headMask[h]);
      assertEqual(engine.tensor('masked_heads'), masked);
      assertClose(run({ headMask, needWeights: false }).output, result.output);
      assertSame(run({ headMask: tensor([3], headMask) }).output, result.output);
    }
    assertSameResults(run({ headMask: [1, 1, 1] }), run());
  },
);

// ---- positions, norms, blocks --------------------------------------------------------------------

onEachEngine('sinusoidal positions: a table that an offset moves along', (engine) => {
  const options = { kind: 'sinusoidal', length: 12, hiddens: 6 };
  const table = engine.positionalEncoding(options);
  assert.deepEqual(table.shape, [12, 6]);
  assertSame(engine.positionalEncoding({ ...options, offset: 0 }), table);
  const later = engine.positionalEncoding({ ...options, length: 5, offset: 7 });
  assertSame(later, take(table, [7, 8, 9, 10, 11]));
  assert.deepEqual(engine.positionalEncoding({ ...options, length: 0 }).shape, [0, 6]);
});

onEachEngine('rotary positions: defaults, offsets, ranks', (engine) => {
  const x = randomTensor(seeded(15), 2, 3, 4, 6);
  const turned = engine.rotary(x);
  assert.deepEqual(turned.shape, x.shape);
  assertSame(engine.rotary(x, { positions: 0, pairing: 'halves', base: 10000 }), turned);
  assertSame(engine.rotary(x, { positions: [0, 1, 2, 3] }), turned);
  assertSame(engine.rotary(x, { positions: [5, 6, 7, 8] }), engine.rotary(x, { positions: 5 }));
  assert.notDeepEqual(engine.rotary(x, { pairing: 'interleaved' }).data, turned.data);
  assert.notDeepEqual(engine.rotary(x, { base: 100 }).data, turned.data);
  const flat = tensor([4, 6], x.data.subarray(0, 24));
  assertSame(engine.rotary(flat), tensor([4, 6], turned.data.subarray(0, 24)));
});

onEachEngine('rotary positions: a product depends on the distance alone', (engine) => {
  const random = seeded(16);
  const [q, k] = [randomTensor(random, 1, 8), randomTensor(random, 1, 8)];
  for (const pairing of ['halves', 'interleaved']) {
    const product = (m, n) => {
      const turned = [
        [q, m],
        [k, n],
      ].map(([x, positions]) => engine.rotary(x, { positions, pairing }));
      return engine.attention(...turned, [[1]], { score: 'dot' }).scores;
    };
    for (const shift of [1, 10, 100]) assertClose(product(3 + shift, 1 + shift), product(3, 1));
  }
});

onEachEngine('layer norm: defaults and ranks', (engine) => {
  const x = randomTensor(seeded(17), 2, 3, 4, 5);
  const normed = engine.layerNorm(x);
  assertSame(
    engine.layerNorm(x, { weight: filled([5], 1), bias: filled([5], 0), eps: 1e-5 }),
    normed,
  );
  const row = tensor([5], x.data.subarray(0, 5));
  assertSame(engine.layerNorm(row), tensor([5], normed.data.subarray(0, 5)));
  const weight = [2, 2, 2, 2, 2];
  assertSame(
    engine.layerNorm(x, { weight }),
    mapCells(normed, (value) => 2 * value),
  );
  assertSame(engine.layerNorm([[3, 3, 3]], { bias: [1, 2, 3] }), [[1, 2, 3]]);
});

onEachEngine('GELU keeps any shape', (engine) => {
  for (const shape of [[3], [2, 3], [1, 2, 3], [2, 1, 2, 3]]) {
    const x = randomTensor(seeded(18), ...shape);
    const erf = engine.gelu(x);
    assert.deepEqual(erf.shape, shape);
    assert.notDeepEqual(engine.gelu(x, { form: 'tanh' }).data, erf.data);
  }
  assertEqual(engine.gelu([-50, 0, 50]), [0, 0, 50]);
  assertEqual(engine.gelu([-50, 0, 50], { form: 'tanh' }), [0, 0, 50]);
});

onEachEngine('feed-forward: two linear layers with an activation between', (engine) => {
  const random = seeded(19);
  const params = randomFeedForward(random, 4, 7);
  const x = randomTensor(random, 2, 3, 4);
  const first = project(x, params.linear1);
  const hidden = tensor(first.shape, first.data);
  const activations = {
    relu: mapCells(hidden, (value) => Math.max(0, value)),
    gelu: engine.gelu(hidden),
    'gelu-tanh': engine.gelu(hidden, { form: 'tanh' }),
  };
  for (const [activation, inner] of Object.entries(activations)) {
    const right = project(inner, params.linear2);
    assertClose(
      engine.feedForward(x, { params, activation }),
      tensor(right.shape, right.data),
      activation,
    );
  }
  assertSame(
    engine.feedForward(x, { params }),
    engine.feedForward(x, { params, activation: 'relu' }),
  );
  const flat = tensor([6, 4], x.data);
  assertSame(
    engine.feedForward(flat, { params }),
    tensor([6, 4], engine.feedForward(x, { params }).data),
  );
});

onEachEngine('encoder layer: its parts, put together', (engine) => {
  const random = seeded(20);
  const params = randomLayer(random, 8, 5);
  const { linear1, linear2 } = params;
  const x = randomTensor(random, 2, 4, 8);
  const add = (a, b) =>
    tensor(
      a.shape,
      a.data.map((value, i) => value + b.data[i]),
    );
  for (const options of [
    {},
    { validLens: [2, 4] },
    { causal: true },
    { mask: bits(random, 4, 4) },
  ]) {
    for (const eps of [1e-5, 0.1]) {
      const attend = (y) =>
        engine.multiHeadAttention(y, y, y, { heads: 2, params: params.attention, ...options });
      const feed = (y, activation) =>
        engine.feedForward(y, { params: { linear1, linear2 }, activation });
      const norm1 = (y) => engine.layerNorm(y, { ...params.norm1, eps });
      const norm2 = (y) => engine.layerNorm(y, { ...params.norm2, eps });
      const run = (more) => engine.encoderLayer(x, { heads: 2, params, eps, ...options, ...more });

      const middle = norm1(add(x, attend(x).output));
      const post = run({});
      assertClose(post.output, norm2(add(middle, feed(middle, 'relu'))), 'post-norm');
      assertClose(post.weights, attend(x).weights);
      assertSame(run({ norm: 'post', activation: 'relu' }).output, post.output);

      const sum = add(x, attend(norm1(x)).output);
      const pre = run({ norm: 'pre', activation: 'gelu' });
      assertClose(pre.output, add(sum, feed(norm2(sum), 'gelu')), 'pre-norm');
      assertClose(pre.weights, attend(norm1(x)).weights);
    }
  }
  const byDefault = engine.encoderLayer(x, { heads: 2, params });
  assertSame(byDefault.output, engine.encoderLayer(x, { heads: 2, params, eps: 1e-5 }).output);
});
