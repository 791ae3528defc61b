/** What the page asks of a core that trains: the same numbers by whichever way it comes to a step. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../wasm/attention.js';
import { createEvaluator } from '../../wasm/evaluate.js';
import { Run } from '../../web/elements/run.js';
import { readKept } from '../../web/elements/training/kept-run.js';
import { epochWords, progressWords } from '../../web/elements/training/words.js';
import { stringsOf } from '../../web/i18n/index.js';
import { lessons } from '../../web/lessons/index.js';

const engine = await createEngine();

/** Ten pairs of three tokens; ids from 4 to 8, which the target repeats backwards. */
const source = Array.from({ length: 10 }, (_, i) => [4 + (i % 5), 4 + ((3 * i) % 5), 3]);
const labels = source.map(([a, b, end]) => [b, a, end]);
const pairs = {
  source,
  sourceLens: source.map(() => 3),
  target: labels.map(([a, b]) => [2, a, b]),
  targetLens: source.map(() => 3),
  labels,
};
const decode = { bos: 2, eos: 3, maxLength: 4 };
const WEIGHTS = 'decoder.0.cross_attention.weights';

/** @param {number} steps @param {object} [more] @returns {any} */
const request = (steps, more) => ({
  model: 'transformer',
  config: {
    sourceVocab: 9,
    targetVocab: 9,
    hiddens: 8,
    heads: 2,
    layers: 1,
    feedForward: 8,
    dropout: 0.1,
  },
  training: {
    pairs,
    plan: { batchSize: 4, seed: 5, step: { learningRate: 0.01, clip: 1 } },
    steps,
  },
  input: { source: source[0], target: [2, 5] },
  read: [WEIGHTS],
  ...more,
});

/** @param {import('../../wasm/evaluate.js').Answer} answer */
const weights = ({ values }) => Array.from(values[WEIGHTS].data);

test('a step is in the same epoch wherever it is named', () => {
  const words = stringsOf('en').training;
  /** @param {number} step @param {number} [steps] */
  const both = (step, steps = 420) => [
    progressWords(words, { step, steps, perEpoch: 7 }),
    epochWords(words, step, 7),
  ];
  assert.deepEqual(both(0), ['epoch 0 of 60 · step 0 of 420', 'initial weights']);
  assert.deepEqual(both(1), ['epoch 1 of 60 · step 1 of 420', 'epoch 1, its step 1 of 7']);
  assert.deepEqual(both(7), ['epoch 1 of 60 · step 7 of 420', 'epoch 1']);
  assert.deepEqual(both(8), ['epoch 2 of 60 · step 8 of 420', 'epoch 2, its step 1 of 7']);
  assert.deepEqual(both(56, 35), ['epoch 8 (5 planned) · step 56', 'epoch 8']);
});

test('from the start, on the way, back, and from a saved state: the same bits', async () => {
  const evaluate = createEvaluator(engine);
  const straight = weights(await evaluate(request(7)));
  const initial = weights(await evaluate(request(0)));
  assert.notDeepEqual(initial, straight);
  await evaluate(request(4));
  assert.deepEqual(weights(await evaluate(request(7))), straight);
  await evaluate(request(9));
  assert.deepEqual(weights(await evaluate(request(7))), straight, 'steps taken back');

  /** @type {any[]} */
  const saved = [];
  await evaluate(request(9, { config: { ...request(0).config, seed: 1 } }));
  await evaluate(request(6), { slice: 0, progress: ({ epoch }) => epoch && saved.push(epoch) });
  assert.deepEqual(
    saved.map(({ step }) => step),
    [3, 6],
  );
  const elsewhere = createEvaluator(engine);
  let first = -1;
  const { training } = request(7);
  const answer = await elsewhere(request(7, { training: { ...training, from: saved[1] } }), {
    progress: (progress) => {
      first = progress.first;
    },
  });
  assert.equal(first, 6, 'only one step is left to take');
  assert.deepEqual(weights(answer), straight);
});

test('progress tells every loss once, and an interrupted run answers as far as it came', async () => {
  const evaluate = createEvaluator(engine);
  /** @type {number[]} */
  const losses = [];
  let words = 0;
  const answer = await evaluate(request(50), {
    slice: 0,
    interrupted: () => words >= 5,
    progress({ first, losses: some, answer: { step, values } }) {
      words += 1;
      assert.equal(first, losses.length);
      losses.push(...some);
      assert.equal(step, losses.length);
      assert.ok(values[WEIGHTS]);
    },
  });
  assert.equal(answer.step, losses.length);
  assert.equal(words, 5);
  const { step } = await evaluate(request(50), {
    progress: ({ losses: some }) => losses.push(...some),
  });
  assert.equal(step, 50);
  assert.equal(losses.length, 50);
  assert.ok(losses[49] < losses[0]);
});

test('unseen pairs are judged with and without a head; a sentence is decoded', async () => {
  const evaluate = createEvaluator(engine);
  const overrides = [{ name: WEIGHTS, at: [null, 0, null, null], value: 0 }];
  const whole = await evaluate(
    request(200, {
      unseen: { batch: pairs, decode },
      decode: {
        input: { source: source[1] },
        options: decode,
        read: ['decoder.0.self_attention.key'],
      },
    }),
  );
  assert.equal(whole.score?.translations.length, 10);
  assert.deepEqual(whole.decoded?.tokens, labels[1].slice(0, 2));
  assert.deepEqual(Object.keys(whole.decodedValues ?? {}), [
    'decoder.0.self_attention.key',
    'probabilities',
  ]);
  const without = await evaluate(
    request(200, { unseen: { batch: pairs, decode, overrides }, overrides }),
  );
  assert.notEqual(without.score?.loss, whole.score?.loss);
  assert.deepEqual(new Set(weights(without).slice(0, 6)), new Set([0]));
});

test('a beam search shows the step that its best sentence took, not that of another beam', async () => {
  const evaluate = createEvaluator(engine);
  const input = { source: source[1] };
  const options = { ...decode, method: 'beam', beams: 3 };
  for (const steps of [1, 2, 3]) {
    const answer = await evaluate(
      request(30, { decode: { input, options, steps, read: ['decoder.0.self_attention.key'] } }),
    );
    const { decoded, decodedValues } = /** @type {any} */ (answer);
    const begun = [options.bos, ...decoded.tokens].slice(0, steps);
    const { decodedValues: alone } = /** @type {any} */ (
      await evaluate(
        request(30, {
          decode: {
            input: { ...input, target: begun },
            options: { ...decode, maxLength: 1 },
          },
        }),
      )
    );
    const last = (/** @type {any} */ { probabilities: { data } }) => Array.from(data.slice(-9));
    assert.deepEqual(last(decodedValues), last(alone));
    assert.equal(decodedValues['decoder.0.self_attention.key'].shape.at(-2), begun.length);
  }
});

test('a loss that is no number stops with the step and the tensor; what was before goes on', async () => {
  const evaluate = createEvaluator(engine);
  const { training } = request(0);
  const wild = {
    ...training,
    plan: { ...training.plan, step: { learningRate: 1e30, optimiser: 'sgd' } },
  };
  await assert.rejects(
    evaluate(request(0, { training: { ...wild, steps: 100 } })),
    /** @param {any} error */ (error) =>
      error.code === 'NOT_FINITE' && /step \d+/.test(error.message),
  );
  assert.equal((await evaluate(request(0, { training: { ...wild, steps: 1 } }))).step, 1);
});

test('kernel regression trains on one batch; a file instead of the initial weights', async () => {
  const evaluate = createEvaluator(engine);
  const points = { queries: [0, 1, 2], keys: [0, 1, 2], values: [0, 2, 1], leaveOneOut: true };
  const config = { kernel: 'gaussian', learned: true, width: 1 };
  const plan = { step: { optimiser: 'sgd', learningRate: 0.1, loss: 'sum' } };
  const training = { batch: { ...points, labels: [0, 2, 1] }, plan, steps: 5 };
  /** @type {any} */
  const asked = { model: 'kernelRegression', config, training, input: points, read: ['width'] };
  const trained = await evaluate({ ...asked, save: 'own' });
  assert.equal(trained.step, 5);
  const initial = { name: 'file', bytes: trained.saved };
  const loaded = await evaluate({ ...asked, training: { ...training, steps: 0, initial } });
  assert.deepEqual(loaded.values, trained.values);
});

test('a run keeps curves and saved states, thins the states and finds the nearest', () => {
  const run = new Run('key');
  const saved = new Uint8Array(2 ** 20);
  for (let epoch = 1; epoch <= 80; epoch += 1) {
    const told = {
      first: 2 * epoch - 2,
      losses: [1, 2],
      rates: [0.1, 0.1],
      watched: [],
      tokens: 10,
      seconds: 0.1,
    };
    run.take(/** @type {any} */ ({ ...told, epoch: { step: 2 * epoch, saved } }));
  }
  const view = run.view({ steps: 200, perEpoch: 2 }, 160);
  assert.equal(view.losses.length, 160);
  assert.ok(view.saved.length <= 64 && view.saved.length >= 32);
  assert.equal(view.latest?.step, 160);
  assert.ok(Math.abs(view.stepsPerSecond - 20) < 1e-9);
  assert.ok(Math.abs(view.tokensPerSecond - 100) < 1e-9);
  assert.ok(Math.abs(view.secondsLeft - 2) < 1e-9);
  const nearest = run.before(81)?.step ?? 0;
  assert.ok(nearest <= 81 && nearest >= 74);
  assert.equal(run.before(1), undefined);
});

test('who does not take a word of progress gets no other; the next one tells of all meanwhile', async () => {
  const evaluate = createEvaluator(engine);
  let words = 0;
  let asked = 0;
  /** @type {number[]} */
  const losses = [];
  await evaluate(request(30), {
    slice: 0,
    ready() {
      asked += 1;
      return asked % 7 === 0;
    },
    progress({ first, losses: some }) {
      words += 1;
      assert.equal(first, losses.length);
      losses.push(...some);
    },
  });
  assert.equal(losses.length, 30);
  assert.equal(words, 5, '28 steps by four words, the rest by one');
});

test('a file that says how it was trained gives its parameters only', async () => {
  const evaluate = createEvaluator(engine);
  const model = engine.transformer(request(0).config);
  for (let step = 0; step < 3; step += 1) model.trainStep(pairs, { learningRate: 0.01 });
  const initial = { name: 'trained', bytes: model.save({ training: true }) };
  const { training } = request(0);
  const answer = await evaluate(request(0, { training: { ...training, initial } }));
  assert.equal(answer.step, 0);
  model.forward(request(0).input);
  assert.deepEqual(weights(answer), Array.from(model.tensor(WEIGHTS).data));
});

test('a run that was kept is taken up only in its form', () => {
  const lesson = /** @type {import('../../web/elements/training/panel.js').Lesson} */ (
    lessons.transformer
  );
  const { cache, ...earlier } = lesson.defaults;
  const { key, steps, perEpoch } = lesson.plan(lesson.defaults);
  const kept = { key, step: 12, saved: new Uint8Array(4), losses: [3, 2], rates: [1, NaN] };
  assert.deepEqual(readKept(lesson, { ...kept, state: earlier })?.state, lesson.defaults);
  const beyond = { ...kept, step: steps + 1, state: earlier };
  assert.equal(readKept(lesson, beyond)?.step, steps + 1, 'the plan was made shorter');
  const strange = { ...earlier, heads: 'many', constructor: 1 };
  assert.deepEqual(readKept(lesson, { ...kept, state: strange })?.state, lesson.defaults);
  for (const wrong of [
    { key: 'x' },
    { step: NaN },
    { step: -1 },
    { step: 1000 * perEpoch + 1 },
    { saved: 'bytes' },
    { losses: null },
    { rates: ['1'] },
    { state: { ...earlier, hiddens: 64 } },
  ]) {
    assert.equal(readKept(lesson, { ...kept, state: earlier, ...wrong }), null);
  }
  for (const found of [null, undefined, 42, {}, { state: {}, key: 'x', step: 3 }]) {
    assert.equal(readKept(lesson, found), null);
  }
});
