/** The kernel regression lesson: points, requests, links, and its numbers against the library and D2L. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { createEngine } from '../../wasm/attention.js';
import { createEvaluator } from '../../wasm/evaluate.js';
import { placeOf } from '../../web/draw/axis.js';
import { SvgPen } from '../../web/draw/export-svg.js';
import { drawPlot, layoutPlot, pointAt, valuesAt } from '../../web/draw/regression.js';
import { palette } from '../../web/elements/style.js';
import en from '../../web/i18n/en.js';
import zh from '../../web/i18n/zh-CN.js';
import { lessons } from '../../web/lessons/index.js';
import { encodeState, isValid, openLink } from '../../web/lessons/state.js';

const lesson = /** @type {import('../../web/lessons/index.js').KernelRegression} */ (
  lessons['kernel-regression']
);
const { defaults, reduce, request, table } = lesson;
const engine = await createEngine();
const evaluate = createEvaluator(engine);

/** @param {Record<string, any>} values */
const state = (values) => reduce(defaults, { type: 'load', values });

/** @param {Record<string, any>} values @param {object} [more] */
async function resultOf(values, more = {}) {
  const asked = state(values);
  return { state: asked, ...(await evaluate({ ...request(asked), ...more })) };
}

describe('points', () => {
  test('move inside the box, to two digits, and never to −0', () => {
    const to = (/** @type {[number, number]} */ at) =>
      reduce(defaults, { type: 'move', index: 2, to: at }).points[2];
    assert.deepEqual(to([1.23456, 2.345]), [1.23, 2.35]);
    assert.deepEqual(to([-3, 99]), [0, 5]);
    assert.deepEqual(to([7, -0.001]), [5, 0]);
    assert.ok(Object.is(to([-0.001, -0.001])[1], 0));
    assert.deepEqual(
      reduce(defaults, { type: 'move', index: 2, to: [1, 1] }).points.slice(3),
      defaults.points.slice(3),
    );
  });

  test('come up to 64 and go down to one', () => {
    let many = defaults;
    for (let at = 0; at < 70; at++) many = reduce(many, { type: 'add', to: [at / 14, 1] });
    assert.equal(many.points.length, lesson.MAX_POINTS);
    assert.ok(isValid(table.points, many.points));
    let few = defaults;
    for (let at = 0; at < 70; at++) few = reduce(few, { type: 'remove', index: 0 });
    assert.deepEqual(few.points, defaults.points.slice(-1));
  });

  test('are asked for from left to right, equal keys in the order they came', () => {
    const points = [
      [3, 1],
      [1, 2],
      [3, 0],
      [0.5, 4],
    ];
    assert.deepEqual(lesson.order({ points }), [3, 1, 0, 2]);
    const { input, training } = request(state({ points, learned: true, step: 4, rate: 0.1 }));
    assert.deepEqual(input.keys, [0.5, 1, 3, 3]);
    assert.deepEqual(input.values, [4, 2, 1, 0]);
    assert.equal(training?.steps, 4);
    assert.equal(training?.batch.leaveOneOut, true);
    assert.deepEqual(training?.plan.step, { loss: 'sum', optimiser: 'sgd', learningRate: 0.1 });
  });

  test('a kernel whose width cannot be learned is not trained', () => {
    for (const kernel of ['average', 'boxcar']) {
      assert.equal(request(state({ kernel, learned: true, step: 5 })).training, undefined);
    }
  });
});

describe('links', () => {
  const place = (/** @type {number} */ axis) =>
    fc
      .integer({ min: lesson.box[0][axis] * 100, max: lesson.box[1][axis] * 100 })
      .map((hundredths) => hundredths / 100);
  const points = fc.array(fc.tuple(place(0), place(1)), { minLength: 1, maxLength: 64 });

  test('bring back any points, 64 of them within the limit', async () => {
    await fc.assert(
      fc.asyncProperty(points, fc.integer({ min: 0, max: 250 }), async (points, query) => {
        const before = state({ points, query, width: 0.7, kernel: 'tricube' });
        const link = await encodeState(table, before);
        assert.ok(link.length <= 8192);
        assert.deepEqual(await openLink(lesson, link), { state: before, code: null, names: [] });
      }),
    );
    assert.equal(await encodeState(table, defaults), '');
  });

  const hostile = {
    'no points': { points: [] },
    'too many points': { points: Array(65).fill([1, 1]) },
    'a point outside the box': { points: [[1, 5.1]] },
    'a point on no number': { points: [[1, null]] },
    'a point with a word': { points: [['1', 2]] },
    'three places': { points: [[1, 2, 3]] },
    'no list': { points: { length: 1, 0: [1, 1] } },
    'a list of numbers': { points: [1, 2] },
    'an unknown kernel': { kernel: 'constructor' },
    'no width': { width: 0 },
    'a width that is not finite': { width: 'Infinity' },
    'a step beyond the last': { step: 101 },
    'half a query': { query: 1.5 },
  };
  for (const [name, values] of Object.entries(hostile)) {
    test(`${name} keeps the default and is named`, async () => {
      const hash = `#v1.${deflateSync(JSON.stringify(values)).toString('base64url')}`;
      const opened = await openLink(lesson, hash);
      assert.deepEqual(opened, { state: defaults, code: null, names: Object.keys(values) });
    });
  }

  test('experiments are states, with words in both languages', async () => {
    for (const experiment of lesson.experiments) {
      const values = lesson.experimentValues(experiment);
      for (const [field, value] of Object.entries(values)) {
        assert.ok(isValid(table[field], value), `${experiment.name}: ${field}`);
      }
      for (const { experiments } of [en, zh]) {
        const words = experiments[/** @type {keyof typeof experiments} */ (experiment.name)];
        assert.ok(words.title && words.look);
      }
      assert.deepEqual(
        (await openLink(lesson, await encodeState(table, state(values)))).state,
        state(values),
      );
    }
  });
});

describe('numbers', () => {
  for (const kernel of table.kernel.choices ?? []) {
    test(`${kernel}: the curve and the terms of a query are the library's`, async () => {
      const result = await resultOf({ kernel, width: 2, query: 60 });
      const { input } = request(result.state);
      const model = engine.kernelRegression({ kernel: /** @type {any} */ (kernel), width: 2 });
      const { output, weights } = model.forward(input);
      const curve = lesson.curveOf(result);
      const { prediction, terms, empty, x } = lesson.readQuery(result, 60);
      assert.equal(x, 1.2);
      assert.equal(empty, false);
      assert.deepEqual(curve, output.data);
      assert.equal(prediction, output.data[60]);
      assert.deepEqual(
        terms.map(({ weight }) => weight),
        Array.from(weights.data.subarray(60 * 30, 61 * 30)),
      );
      const sum = terms.reduce((sum, { product }) => sum + product, 0);
      assert.ok(Math.abs(sum - prediction) < 1e-5, `${sum} and ${prediction}`);
      const map = lesson.mapOf(result, 'weights');
      assert.deepEqual([map.rows, map.columns], [26, 30]);
      assert.deepEqual(map.data.subarray(6 * 30, 7 * 30), lesson.weightsOf(result, 60));
    });
  }

  test('average pooling is flat; beyond the reach of every key the curve has a gap', async () => {
    const flat = lesson.curveOf(await resultOf({ kernel: 'average' }));
    assert.equal(new Set(flat).size, 1);
    const far = await resultOf({ kernel: 'boxcar', width: 4, points: [[2, 3]] });
    const curve = lesson.curveOf(far);
    assert.ok(Number.isNaN(curve[0]) && curve[100] === 3 && Number.isNaN(curve[250]));
    assert.equal(lesson.readQuery(far, 0).empty, true);
  });

  test('a point is added on the curve, or in a gap between the values at its sides', async () => {
    const points = [
      [3, 4],
      [1, 2],
      [4.5, 1],
    ];
    const result = await resultOf({ kernel: 'boxcar', width: 4, points });
    const { prediction } = lesson.readQuery(result, 51);
    assert.equal(prediction, 2);
    const at = (/** @type {number} */ x) => lesson.valueToAdd(result, lesson.queryAt(x));
    assert.deepEqual([1.02, 2, 3.5, 0, 5].map(at), [2, 3, 2.5, 2, 1]);
  });

  test('a learned width is the same by every way to a step, and the same as the library’s', async () => {
    const learned = { learned: true, rate: 0.05 };
    const straight = lesson.widthOf(await resultOf({ ...learned, step: 7 }));
    await resultOf({ ...learned, step: 3 });
    assert.equal(lesson.widthOf(await resultOf({ ...learned, step: 7 })), straight);
    const { training, config } = request(state({ ...learned, step: 7 }));
    const model = engine.kernelRegression(config);
    for (let step = 0; step < 7; step++) model.trainStep(training?.batch, training?.plan.step);
    assert.equal(model.parameters().w.data[0], straight);
    /** @type {number[]} */
    const widths = [];
    const other = state({ ...learned, width: 2, step: 3 });
    await evaluate(request(other), { progress: (told) => widths.push(...told.watched) });
    for (const [at, width] of widths.entries()) {
      assert.equal(width, lesson.widthOf(await resultOf({ ...other, step: at + 1 })));
    }
    assert.equal(widths.length, 3);
    const settled = await resultOf({ ...learned, step: 100 });
    assert.ok(Math.abs(lesson.widthOf(settled) - 2.74) < 0.01, 'where the points agree best');
  });

  const file = process.env.NADARAYA_WATSON_D2L;
  const skip = file ? false : 'NADARAYA_WATSON_D2L names no file with the points of D2L’s run';
  test('with the points of the book, the losses of the book', { skip }, async () => {
    const book = JSON.parse(readFileSync(String(file), 'utf8'));
    const points = book.x_train.map((/** @type {number} */ x, /** @type {number} */ at) => [
      x,
      book.y_train[at],
    ]);
    const learned = { points, learned: true, width: book.w0, rate: 0.5, step: 5 };
    assert.ok(isValid(table.points, points));
    const asked = request(state(learned));
    /** @type {number[]} */
    const losses = [];
    const answer = await evaluate(asked, { progress: (told) => losses.push(...told.losses) });
    assert.equal(losses.length, 5);
    for (const [at, loss] of losses.entries()) {
      assert.ok(Math.abs(loss - book.losses[at]) < 5e-5, `${loss}`);
    }
    assert.ok(Math.abs(answer.values.w.data[0] - book.w[5]) < 2e-5);
  });

  test('the PyTorch script holds points, kernel, training and what should come out', async () => {
    const values = { kernel: 'epanechnikov', learned: true, width: 0.5, rate: 0.05, step: 3 };
    const result = await resultOf(values, { read: lesson.everything() });
    const script = lesson.toPyTorch(result.state, result);
    for (const line of [
      'keys = torch.tensor([0.39, 0.6, 0.68,',
      'queries = torch.arange(251) / 50',
      'k = (1 - u ** 2).clamp(min=0) * allowed',
      'w = torch.tensor([0.5], dtype=torch.float32, requires_grad=True)',
      'torch.optim.SGD([w], lr=0.05)',
      'for step in range(3):',
      'torch.testing.assert_close(output, expected_output',
    ]) {
      assert.ok(script.includes(line), line);
    }
    assert.ok(
      !lesson
        .torchSteps(state({ kernel: 'boxcar', learned: true }))
        .join()
        .includes('SGD'),
    );
  });

  test('the PyTorch script takes whole numbers for numbers, and the narrowest Gaussian', async () => {
    const points = [
      [1, 2],
      [2, 3],
    ];
    const result = await resultOf({ points, width: 100 }, { read: lesson.everything() });
    const script = lesson.toPyTorch(result.state, result);
    assert.ok(script.includes('values = torch.tensor([2, 3], dtype=torch.float32)\n'));
    assert.ok(
      script.includes('k = torch.softmax(-u ** 2 / 2 - 1e30 * (1 - allowed), -1) * allowed'),
    );
  });
});

describe('the plot', () => {
  const theme = Object.assign({ font: 'sans-serif', mono: 'monospace' }, palette.light);
  const measure = (/** @type {string} */ text) => text.length * 7.5;
  const layout = (/** @type {number} */ width) =>
    layoutPlot({
      box: lesson.box,
      largest: 0.25,
      names: en.regression,
      truth: true,
      width,
      measure,
      theme,
    });

  test('its caption is cut short nowhere on a phone, in letters as wide as Firefox has them', () => {
    for (const { text } of layout(288).caption) assert.ok(!text.includes('…'), text);
  });

  test('a pointer takes the nearest point within reach, and a place means its values', () => {
    const geometry = layout(600);
    const points = [
      { x: 1, y: 2 },
      { x: 1.02, y: 2 },
    ];
    const at = (/** @type {number} */ x, /** @type {number} */ y) =>
      pointAt(geometry, points, placeOf(geometry.across, x), placeOf(geometry.up, y), 14);
    assert.equal(at(1, 2), 0);
    assert.equal(at(1.02, 2.05), 1);
    assert.equal(at(1.5, 2), null);
    const [x, y] = valuesAt(geometry, placeOf(geometry.across, 3.3), placeOf(geometry.up, -0.7));
    assert.ok(Math.abs(x - 3.3) < 1e-9 && Math.abs(y + 0.7) < 1e-9);
  });

  test('the file of a plot with gaps, and of a narrow one, holds no NaN', () => {
    for (const width of [160, 640]) {
      const geometry = layout(width);
      const pen = new SvgPen();
      drawPlot(pen, {
        geometry,
        points: [{ x: 0, y: -1 }],
        weights: [0],
        curve: [NaN, 1, NaN, NaN, 2],
        truth: true,
        query: 2.5,
        prediction: NaN,
        theme,
      });
      const svg = pen.svg(geometry.width, geometry.height, 'Plot');
      assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
      assert.ok(svg.includes('prediction'));
      for (const { x, text } of geometry.caption) assert.ok(x + measure(text) <= width, text);
    }
  });
});
