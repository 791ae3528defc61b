// The library as its users call it: engines, tensors in and out, random numbers, the tape and its
// overrides. Other tests of the library: -attention, -layers, -model, and -errors for what is refused.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as library from '../../wasm/attention.js';
import {
  assertClose,
  assertEqual,
  assertFlags,
  assertSame,
  assertSameResults,
  engines,
  filled,
  mapCells,
  onEachEngine,
  problem,
  randomParams,
  randomTensor,
  seeded,
  take,
  tensor,
  toNested,
} from './helpers.js';
import { reference } from './reference.js';

// ---- engines -------------------------------------------------------------------------------------

test('createEngine picks a binary, and says which', async () => {
  assert.equal((await library.createEngine()).simd, true);
  assert.equal((await library.createEngine({ simd: 'auto' })).simd, true);
  assert.equal(engines.simd.simd, true);
  assert.equal(engines.scalar.simd, false);
});

test('where the SIMD core does not compile its scalar twin runs', async (t) => {
  const { compile } = WebAssembly;
  t.mock.method(WebAssembly, 'compile', async (bytes) => {
    if (Buffer.from(bytes).toString('latin1').endsWith('scalar')) return compile(bytes);
    throw new WebAssembly.CompileError('no vectors here');
  });
  assert.equal((await library.createEngine()).simd, false);
  await assert.rejects(library.createEngine({ simd: 'on' }), /damaged/);
});

test('createEngine says which binary it was given', async () => {
  const bytes = (name) => readFileSync(new URL(`../../dist/${name}`, import.meta.url));
  assert.equal((await library.createEngine({ wasm: bytes('attention.wasm') })).simd, true);
  assert.equal((await library.createEngine({ wasm: bytes('attention-scalar.wasm') })).simd, false);
});

test('the known answer is one unsigned number for both binaries', () => {
  const [simd, scalar] = [engines.simd.selfTest(), engines.scalar.selfTest()];
  assert.ok(Number.isInteger(simd) && simd > 0 && simd < 2 ** 32, String(simd));
  assert.equal(scalar, simd);
  assert.equal(engines.simd.selfTest(), simd);
});

test('engines do not share a tape', async () => {
  const other = await library.createEngine();
  engines.simd.attention([[1]], [[1]], [[10]]);
  other.attention([[1]], [[1]], [[20]]);
  assertSame(engines.simd.tensor('output'), tensor(engines.simd.tensor('output').shape, [10]));
});

// ---- tensors -------------------------------------------------------------------------------------

onEachEngine(
  'tensors, nested arrays and other numbers go in; float32 copies come out',
  (engine) => {
    const { q, k, v } = problem();
    const right = engine.attention(q, k, v);
    assertSameResults(engine.attention(toNested(q), toNested(k), toNested(v)), right);
    const wide = ({ shape, data }) => ({ shape, data: Float64Array.from(data) });
    assertSameResults(engine.attention(wide(q), k, wide(v)), right);
    const plain = ({ shape, data }) => ({ shape, data: Array.from(data) });
    assertSameResults(engine.attention(q, plain(k), v), right);
    const rows = (nested) =>
      nested.map((heads) => heads.map((m) => m.map((r) => Float32Array.from(r))));
    assertSameResults(engine.attention(rows(toNested(q)), k, v), right);

    for (const name of ['output', 'weights', 'scores']) {
      assert.deepEqual(Object.keys(right[name]).sort(), ['data', 'shape']);
      assert.ok(Array.isArray(right[name].shape));
      assert.ok(right[name].data instanceof Float32Array);
      assert.equal(
        right[name].data.byteLength,
        right[name].data.buffer.byteLength,
        'a copy, no view',
      );
    }
  },
);

onEachEngine('a missing batch or head axis is added and taken off again', (engine) => {
  const { q, k, v } = problem();
  const right = reference(q, k, v);
  for (const axes of [3, 2]) {
    const part = (t) => {
      const { shape, data } = take(tensor(t.shape.slice(1), take(t, [1]).data), [2]);
      return tensor(shape.slice(3 - axes), data);
    };
    const result = engine.attention(part(q), part(k), part(v));
    for (const name of ['output', 'weights', 'scores']) {
      assertClose(result[name], part(right[name]), `${name} with ${axes} axes`);
    }
    assertFlags(result.emptyRows, [0, 0, 0, 0]);
    assertFlags(result.notFiniteRows, [0, 0, 0, 0]);
  }
});

onEachEngine('masked softmax keeps the shape of its scores', (engine) => {
  const random = seeded(2);
  for (const shape of [[5], [4, 5], [2, 4, 5], [2, 3, 4, 5]]) {
    const scores = randomTensor(random, ...shape);
    const { weights, emptyRows, notFiniteRows } = engine.maskedSoftmax(scores);
    assert.deepEqual(weights.shape, shape);
    const rows = scores.data.length / 5;
    assertFlags(emptyRows, Array(rows).fill(0));
    assertFlags(notFiniteRows, Array(rows).fill(0));
  }
});

// ---- random numbers ------------------------------------------------------------------------------

onEachEngine('random: seed and name decide, nothing else', (engine) => {
  const draw = (more) => engine.random({ shape: [3, 4], seed: 1, name: 'a', ...more });
  const first = draw();
  assert.deepEqual(first.shape, [3, 4]);
  engine.random({ shape: [9], seed: 1, name: 'between' });
  assertSame(draw(), first);
  assertSame(draw({ distribution: 'normal' }), first);
  assert.notDeepEqual(draw({ seed: 2 }).data, first.data);
  assert.notDeepEqual(draw({ name: 'b' }).data, first.data);
  assert.equal(new Set(first.data).size, 12);
  assertSame(engines.scalar.random({ shape: [3, 4], seed: 1, name: 'a' }), first);
});

onEachEngine('random: the distributions', (engine) => {
  const draw = (distribution, shape = [100, 100]) =>
    engine.random({ shape, seed: 5, name: 'x', distribution }).data;
  const moments = (data) => {
    const mean = data.reduce((sum, value) => sum + value, 0) / data.length;
    return [mean, data.reduce((sum, value) => sum + (value - mean) ** 2, 0) / data.length];
  };
  const near = ([mean, variance], wantedMean, wantedVariance) => {
    assert.ok(Math.abs(mean - wantedMean) < 0.05 * Math.sqrt(wantedVariance), `mean ${mean}`);
    assert.ok(Math.abs(variance / wantedVariance - 1) < 0.06, `variance ${variance}`);
  };
  const normal = draw('normal');
  near(moments(normal), 0, 1);
  const within = normal.filter((value) => Math.abs(value) < 1).length / normal.length;
  assert.ok(Math.abs(within - 0.6827) < 0.02, `${within} within one deviation`);
  const uniform = draw('uniform');
  near(moments(uniform), 0.5, 1 / 12);
  assert.ok(uniform.every((value) => value >= 0 && value < 1));
  const bound = Math.sqrt(6 / 250);
  const xavier = draw('xavier', [50, 200]);
  near(moments(xavier), 0, bound ** 2 / 3);
  assert.ok(xavier.every((value) => Math.abs(value) <= bound));
});

// ---- the tape ------------------------------------------------------------------------------------

onEachEngine('tensors: parameters have the letters of their axes', (engine) => {
  const axes = () =>
    Object.fromEntries(engine.tensors().map(({ name, axes }) => [name, axes.join()]));
  const { q, k, v } = problem(21);
  const matrix = (/** @type {number[]} */ ...shape) => engine.random({ shape, name: shape.join() });
  const width = q.shape.at(-1);
  const params = {
    query: { weight: matrix(5, width) },
    key: { weight: matrix(5, width) },
    value: { weight: matrix(1, 5) },
  };
  engine.attention(q, k, v, { score: 'additive', params });
  const additive = axes();
  assert.equal(additive['score.query.weight'], 'A,D');
  assert.equal(additive['score.key.weight'], 'A,D');
  assert.equal(additive['score.value.weight'], '1,A');
  assert.equal(additive.query_features, 'B,h,Tq,A');
  assert.equal(additive.key_features, 'B,h,Tk,A');
  const model = engine.attentionLayer({ hiddens: 8, heads: 2 });
  model.forward({ source: ['a', 'b'], score: 'additive' });
  const own = model.tensors().find(({ name }) => name === 'attention.score.key.weight');
  assert.deepEqual(own?.axes, ['A', 'D']);
  engine.feedForward(matrix(3, 4), {
    params: { linear1: { weight: matrix(6, 4) }, linear2: { weight: matrix(4, 6) } },
  });
  const layers = axes();
  assert.equal(layers['linear1.weight'], 'F,H');
  assert.equal(layers['linear2.weight'], 'H,F');
});

onEachEngine('tensors: everything on the way, with axes and sources', (engine) => {
  const { q, k, v } = problem(21);
  const result = engine.attention(q, k, v, { causal: true });
  const tape = engine.tensors();
  const byName = new Map(tape.map((entry) => [entry.name, entry]));
  assert.equal(byName.size, tape.length, 'names differ');
  for (const { name, shape, axes, op, inputs } of tape) {
    assert.ok(name && op, name);
    assert.equal(axes.length, shape.length, name);
    for (const source of inputs) assert.ok(byName.has(source), `${source}, a source of ${name}`);
    assert.equal(
      engine.tensor(name).data.length,
      shape.reduce((product, length) => product * length, 1),
      name,
    );
  }
  assertSame(engine.tensor('weights'), result.weights);
  assertSame(engine.tensor('scores'), result.scores);
  assert.deepEqual([...byName.get('weights').axes], ['B', 'h', 'Tq', 'Tk']);
  assertClose(
    engine.tensor('raw_scores'),
    mapCells(result.scores, (value) => value * Math.sqrt(6)),
  );
  const mask = engine.tensor('mask');
  assertSame(
    mask,
    mapCells(mask, (_, [, , i, j]) => (j > i + 1 ? 2 : 0)),
    'reasons',
  );
});

onEachEngine('tensors: why a cell is masked', (engine) => {
  const zeros = filled([1, 1, 4, 4], 0);
  const options = {
    validLens: [3],
    causal: true,
    window: 1,
    mask: [
      [1, 1, 1, 1],
      [0, 1, 1, 1],
      [1, 1, 1, 1],
      [1, 1, 1, 1],
    ],
    bias: [
      [0, 0, 0, 0],
      [0, 0, 0, 0],
      [0, 0, -Infinity, 0],
      [0, 0, 0, 0],
    ],
  };
  engine.attention(zeros, zeros, zeros, options);
  assertSame(engine.tensor('mask'), [
    [
      [
        [0, 2, 2 + 4, 1 + 2 + 4],
        [8, 0, 2, 1 + 2 + 4],
        [4, 0, 16, 1 + 2],
        [4, 4, 0, 1],
      ],
    ],
  ]);
});

onEachEngine('overrides: what follows from a cell is computed anew', (engine) => {
  const { q, k, v } = problem(22);
  const plain = engine.attention(q, k, v);
  const at = [1, 2, 3, 4];
  const edit = (name, more = {}) =>
    engine.attention(q, k, v, { overrides: [{ name, at, value: 2, ...more }] });

  const score = edit('scores');
  const cell = ([b, h, i, j]) => b === 1 && h === 2 && i === 3 && j === 4;
  assertSame(
    score.scores,
    mapCells(plain.scores, (value, place) => (cell(place) ? 2 : value)),
  );
  assertSame(engine.maskedSoftmax(score.scores).weights, score.weights);

  const weight = edit('weights');
  assertSame(weight.scores, plain.scores);
  assertSame(
    weight.weights,
    mapCells(plain.weights, (value, place) => (cell(place) ? 2 : value)),
  );
  const added = 2 - plain.weights.data.at(-1);
  assertClose(
    weight.output,
    mapCells(plain.output, (value, [b, h, i, d]) =>
      b === 1 && h === 2 && i === 3 ? value + added * v.data.at(d - 3) : value,
    ),
  );

  const axis = edit('weights', { at: [null, 1, null, 0], value: 0 });
  assertSame(
    axis.weights,
    mapCells(plain.weights, (value, [, h, , j]) => (h === 1 && j === 0 ? 0 : value)),
  );
  const two = engine.attention(q, k, v, {
    overrides: [
      { name: 'weights', at, value: 2 },
      { name: 'weights', at, value: 3 },
    ],
  });
  assert.equal(two.weights.data.at(-1), 3, 'the later one wins');
  assertSameResults(engine.attention(q, k, v), plain);
});

onEachEngine('overrides: in masked softmax and multi-head attention', (engine) => {
  const scores = filled([1, 1, 2, 2], 0);
  const { weights } = engine.maskedSoftmax(scores, {
    overrides: [{ name: 'weights', at: [0, 0, 1, 0], value: 0.75 }],
  });
  assertSame(weights, [
    [
      [
        [0.5, 0.5],
        [0.75, 0.5],
      ],
    ],
  ]);

  const random = seeded(23);
  const params = randomParams(random, 4);
  const x = randomTensor(random, 1, 3, 4);
  const run = (overrides) => engine.multiHeadAttention(x, x, x, { heads: 2, params, overrides });
  const plain = run([]);
  const ablated = run([{ name: 'weights', at: [null, 1, null, null], value: 0 }]);
  assertSame(
    ablated.weights,
    mapCells(plain.weights, (value, [, h]) => (h === 1 ? 0 : value)),
  );
  const masked = engine.multiHeadAttention(x, x, x, { heads: 2, params, headMask: [1, 0] });
  assertEqual(ablated.output, masked.output);
});
