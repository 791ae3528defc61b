// Kernel regression and sequence to sequence through the library. Their numbers stand against D2L's and
// PyTorch's in the C tests.

import assert from 'node:assert/strict';
import {
  assertClose,
  assertFails,
  assertSame,
  BATCH,
  INPUT,
  onEachEngine,
  SHAPE,
  tensor,
  UNKNOWN,
  VALUE,
} from './helpers.js';

// ---- kernel regression ---------------------------------------------------------------------------

const KEYS = [0, 1, 2, 4];
const VALUES = [1, 3, 2, 6];

onEachEngine('kernel regression: the average and the neighbours', (engine) => {
  const all = engine.kernelRegression({ kernel: 'average' });
  const input = { queries: [0, 7], keys: KEYS, values: VALUES };
  assertClose(all.forward(input).output, [3, 3]);
  assertClose(all.forward({ ...input, queries: KEYS, leaveOneOut: true }).output, [
    11 / 3,
    3,
    10 / 3,
    2,
  ]);
  const near = engine.kernelRegression({ kernel: 'boxcar' });
  const { output, weights } = near.forward({ ...input, queries: [0.5, 9] });
  assertClose(output, [2, 0]);
  assertClose(weights, [
    [0.5, 0.5, 0, 0],
    [0, 0, 0, 0],
  ]);
});

onEachEngine('kernel regression: values may be vectors', (engine) => {
  const { output } = engine.kernelRegression({ width: 100 }).forward({
    queries: [[1, 0]],
    keys: [
      [0, 1],
      [1, 0],
    ],
    values: [
      [1, 2, 3],
      [4, 5, 6],
    ],
  });
  assertClose(output, [[4, 5, 6]]);
});

onEachEngine('kernel regression: labels of another shape are refused', (engine) => {
  const model = engine.kernelRegression({ learned: true });
  const values = [
    [1, 2],
    [3, 4],
  ];
  const batch = { queries: [1, 2, 3], keys: [1, 2], values };
  const transposed = [
    [1, 2, 3],
    [4, 5, 6],
  ];
  for (const labels of [transposed, transposed.flat(), [transposed.flat()]]) {
    assertFails(() => model.loss({ ...batch, labels }), SHAPE, 'labels', 'shapes must agree');
    assertFails(() => model.trainStep({ ...batch, labels }), SHAPE, 'labels');
  }
  assert.equal(model.steps, 0);
});

onEachEngine('kernel regression: the width is learned where it is asked for', (engine) => {
  const model = engine.kernelRegression({ learned: true, width: 0.25 });
  const batch = { queries: KEYS, keys: KEYS, values: VALUES, labels: VALUES, leaveOneOut: true };
  const options = { optimiser: 'sgd', learningRate: 0.05, loss: 'sum' };
  const { loss, gradientNorm, step } = model.trainStep(batch, options);
  const gradient = model.gradients().w.data[0];
  assert.equal(step, 1);
  assert.equal(Math.abs(gradient), gradientNorm);
  assert.equal(model.parameters().w.data[0], Math.fround(0.25 - Math.fround(0.05) * gradient));
  assert.ok(model.loss(batch, { loss: 'sum' }).loss < loss);
  const fixed = engine.kernelRegression({ width: 0.25 });
  assert.deepEqual(fixed.parameters(), {});
  assertClose(tensor([1], [fixed.loss(batch).loss]), tensor([1], [loss / 4]));
});

onEachEngine('kernel regression: what makes no sense is named', (engine) => {
  assertFails(() => engine.kernelRegression({ kernel: 'cubic' }), VALUE, 'cubic');
  assertFails(() => engine.kernelRegression({ breadth: 1 }), UNKNOWN, 'breadth');
  const model = engine.kernelRegression();
  const input = { queries: [1], keys: KEYS, values: VALUES };
  assertFails(() => model.forward({ ...input, keys: [1, 2] }), SHAPE, 2, 4);
  assertFails(() => model.forward({ ...input, queries: [[[1]]] }), SHAPE, 'queries');
  assertFails(() => model.forward({ ...input, leaveOneOut: 1 }), VALUE, 'leaveOneOut');
});

onEachEngine('training: a schedule that makes no sense is named', (engine) => {
  const model = engine.kernelRegression({ learned: true });
  const batch = { queries: KEYS, keys: KEYS, values: VALUES, labels: VALUES };
  for (const kind of ['constant', 'step', 'cosine']) {
    for (const name of ['factor', 'lastRate']) {
      for (const bad of [Number.NaN, -0.5, Number.POSITIVE_INFINITY, 1e39, 'half']) {
        const schedule = { kind, every: 1, factor: 0.5, total: 4, [name]: bad };
        const words = [`schedule.${name}`, String(bad)];
        assertFails(() => model.trainStep(batch, { schedule }), VALUE, ...words);
      }
    }
  }
  assert.equal(model.steps, 0);
});

onEachEngine('training: a state that makes no sense is named and changes nothing', (engine) => {
  const model = engine.kernelRegression({ learned: true, width: 0.25 });
  const before = model.save({ training: true });
  const w = [2];
  const moments = [0, 0];
  for (const [state, code, ...words] of [
    [{ 'training.steps': 3 }, SHAPE, 'training.moments', 'missing'],
    [{ 'training.moments': moments }, SHAPE, 'training.steps', 'missing'],
    [{ 'training.moments': [1], 'training.steps': 3 }, SHAPE, 'training.moments', 1],
    [{ 'training.moments': moments, 'training.steps': [] }, SHAPE, 'training.steps', 0],
    [{ 'training.moments': moments, 'training.steps': [1, 2] }, SHAPE, 'training.steps', 2],
    [{ 'training.moments': moments, 'training.steps': -1 }, VALUE, 'training.steps', -1],
    [{ 'training.moments': moments, 'training.steps': 0.5 }, VALUE, 'training.steps', 0.5],
    [
      { 'training.moments': moments, 'training.steps': 2 ** 31 - 128 },
      VALUE,
      2 ** 31 - 128,
      2 ** 30,
    ],
  ]) {
    assertFails(() => model.load({ w, ...state }), code, ...words);
  }
  assert.deepEqual(model.save({ training: true }), before);
  model.load({ w, 'training.moments': moments, 'training.steps': 2 ** 30 });
  assert.equal(model.steps, 2 ** 30);
});

// ---- sequence to sequence ------------------------------------------------------------------------

const SMALL = { sourceVocab: 11, targetVocab: 13, embedding: 8, hiddens: 12, seed: 5 };

onEachEngine('seq2seq: logits, and the weights of Bahdanau attention', (engine) => {
  for (const attention of ['none', 'bahdanau']) {
    const model = engine.seq2seq({ ...SMALL, attention });
    assert.deepEqual(model.forward(INPUT).logits.shape, [2, 3, 13]);
    const weights = model.tensors().find(({ name }) => name === 'decoder.attention.weights');
    assert.equal(weights !== undefined, attention === 'bahdanau');
    if (!weights) continue;
    assert.deepEqual(weights.shape, [2, 1, 3, 4]);
    const { data } = model.tensor(weights.name);
    for (let t = 0; t < 3; t++)
      assert.deepEqual([...data.slice(12 + 4 * t + 2, 16 + 4 * t)], [0, 0]);
  }
});

onEachEngine('seq2seq: it learns, is saved, and translates what it learned', (engine) => {
  for (const attention of ['none', 'bahdanau']) {
    const model = engine.seq2seq({ ...SMALL, attention, dropout: 0.1 });
    const before = model.loss(BATCH).loss;
    for (let i = 0; i < 150; i++) model.trainStep(BATCH, { learningRate: 0.02, clip: 1 });
    const { loss, tokens } = model.loss(BATCH);
    assert.equal(tokens, 5);
    assert.ok(loss < before / 20, `${attention}: ${before} became ${loss}`);
    const other = engine.seq2seq({ ...SMALL, attention });
    other.load(model.save());
    const { source, sourceLens } = BATCH;
    for (const method of ['greedy', 'beam']) {
      const options = { method, bos: 2, eos: 12, maxLength: 5 };
      const sentences = other.decode({ source, sourceLens }, options);
      assert.deepEqual(
        sentences.map((sentence) => [sentence.tokens, sentence.finished]),
        [
          [[7, 1], true],
          [[8], true],
        ],
      );
    }
    assertSame(other.forward(INPUT).logits, model.forward(INPUT).logits);
  }
});

onEachEngine("models of D2L's: their own names are PyTorch's", (engine) => {
  const names = 'torch';
  for (const model of [
    engine.seq2seq({ ...SMALL, attention: 'bahdanau' }),
    engine.kernelRegression({ learned: true, width: 0.25 }),
  ]) {
    const batch = { queries: KEYS, keys: KEYS, values: VALUES, labels: VALUES };
    model.trainStep('decode' in model ? BATCH : batch);
    assert.deepEqual(model.parameters({ names }), model.parameters());
    assert.deepEqual(model.gradients({ names }), model.gradients());
    const saved = model.save({ names });
    assert.deepEqual(saved, model.save());
    model.load(saved, { names });
    assert.deepEqual(model.save(), saved);
  }
});

onEachEngine('seq2seq: what makes no sense is named', (engine) => {
  assertFails(() => engine.seq2seq({ ...SMALL, heads: 2 }), UNKNOWN, 'heads');
  assertFails(() => engine.seq2seq({ ...SMALL, attention: 'luong' }), VALUE, 'luong');
  const model = engine.seq2seq(SMALL);
  assertFails(
    () => model.forward({ ...INPUT, target: [[13], [1]], targetLens: [1, 1] }),
    VALUE,
    13,
    12,
  );
  for (const bad of [Number.NaN, -1, 1e39, 1.5, 4]) {
    assertFails(() => model.forward({ ...INPUT, targetLens: [3, bad] }), VALUE, 'targetLens', 3);
  }
  assertFails(() => model.forward({ ...INPUT, targetLens: [] }), SHAPE, 'targetLens', '[0]', 2);
  assertFails(() => model.decode({ target: [1] }), VALUE, 'source');
  assertFails(() => model.decode({ source: [1] }, { bos: 2, beams: 0 }), VALUE, 'beams');
});

onEachEngine('a model whose core stopped says so; what was saved goes on elsewhere', (engine) => {
  const model = engine.seq2seq(SMALL);
  model.trainStep(BATCH);
  const saved = model.save({ training: true });
  const { core, pointer } = /** @type {any} */ (model);
  assertFails(
    () => core.call('seq2seq_forward', pointer, 2 ** 31 - 8, 0, 0),
    /TRAP/,
    'seq2seq_forward',
  );
  assertFails(() => model.forward(INPUT), /TRAP/, 'load what was saved');
  const other = engine.seq2seq(SMALL);
  other.load(saved);
  assert.equal(other.steps, 1);
  const third = engine.seq2seq(SMALL);
  third.trainStep(BATCH);
  assert.equal(other.trainStep(BATCH).loss, third.trainStep(BATCH).loss);
});
