/** Axes and curves: round numbers, peaks, gaps, the step under a pointer. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { placeOf, ticks, valueAt } from '../../web/draw/axis.js';
import { columns, drawCurves, layoutCurves, stepAt } from '../../web/draw/curves.js';
import { SvgPen } from '../../web/draw/export-svg.js';
import { palette } from '../../web/elements/style.js';

const theme = Object.assign({ font: 'sans-serif', mono: 'monospace' }, palette.light);
const measure = (/** @type {string} */ text) => text.length * 7;
const legend = ['step 5', 'loss 1', 'rate 2'];

describe('axes', () => {
  test('ticks are round and few', () => {
    assert.deepEqual(ticks({ low: 0, high: 5 }, 6), [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(ticks({ low: -0.3, high: 1 }, 3), [0, 0.5, 1]);
    assert.deepEqual(ticks({ low: 0, high: 0.0007 }, 4), [0, 0.0002, 0.0004, 0.0006]);
    assert.deepEqual(ticks({ low: 1, high: 1000, log: true }, 4), [1, 10, 100, 1000]);
    assert.deepEqual(ticks({ low: 1e-9, high: 1e9, log: true }, 4), [1e-5, 1, 1e5]);
    assert.deepEqual(ticks({ low: 12.3, high: 48.3, log: true }, 4), [20, 30, 40]);
    assert.deepEqual(ticks({ low: 3.1, high: 3.4, log: true }, 4), [3.1, 3.2, 3.3, 3.4]);
  });

  test('any axis gets at least one tick, all inside, and few', () => {
    const size = fc.double({ min: 1e-6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(
        size,
        size,
        fc.boolean(),
        fc.integer({ min: 1, max: 8 }),
        (low, more, log, most) => {
          const high = low * (1 + 1e-3) + more;
          const found = ticks({ low, high, log }, most);
          assert.ok(found.length <= Math.max(2, most), `${found}`);
          for (const tick of found) {
            const slack = (high - low) * 1e-6;
            assert.ok(tick >= low - slack && tick <= high + slack, `${tick}`);
          }
          assert.ok(found.length > 0);
        },
      ),
    );
  });

  test('a place and its value', () => {
    const axis = { low: -1, high: 5, from: 200, to: 20 };
    assert.equal(placeOf(axis, 2), 110);
    assert.equal(valueAt(axis, 110), 2);
    const log = { low: 1, high: 100, from: 0, to: 100, log: true };
    assert.ok(Math.abs(placeOf(log, 10) - 50) < 1e-9);
    for (const value of [0, -1, NaN, Infinity]) assert.ok(Number.isNaN(placeOf(log, value)));
  });
});

describe('curves', () => {
  /** @param {ArrayLike<number>} values @param {object} [options] */
  const layout = (values, options = {}) =>
    layoutCurves({
      series: [{ values }],
      legend,
      steps: Math.max(1, values.length - 1),
      width: 400,
      measure,
      theme,
      ...options,
    });

  test('ten thousand steps take no more than four places a column, and no peak is lost', () => {
    const values = Float32Array.from({ length: 10_000 }, (_, at) => 1 + ((at * 7919) % 100) / 100);
    values[4321] = 9;
    values[8765] = 0.25;
    const geometry = layout(values);
    const places = [...columns(geometry, 0, values, 1)].filter((place) => place !== null);
    const across = geometry.across.to - geometry.across.from;
    assert.ok(places.length <= 4 * (across + 1), `${places.length} places on ${across} pixels`);
    const heights = places.map(([, y]) => y);
    const { axis } = geometry.up[0];
    assert.equal(Math.min(...heights), placeOf(axis, 9));
    assert.equal(Math.max(...heights), placeOf(axis, 0.25));
    for (const [x] of places) assert.ok(x >= geometry.across.from && x <= geometry.across.to);
    for (let at = 1; at < places.length; at++) assert.ok(places[at][0] >= places[at - 1][0]);
  });

  test('values beyond the last step there is room for are not drawn', () => {
    const values = Float32Array.from({ length: 100 }, (_, at) => 1 + at);
    for (const first of [0, 1]) {
      const geometry = layout(values, { steps: 10, first });
      const places = [...columns(geometry, 0, values, 1)].filter((place) => place !== null);
      assert.equal(places.at(-1)?.[0], geometry.across.to);
      for (const [x] of places) assert.ok(x <= geometry.across.to, `${x}`);
    }
  });

  test('few steps stay as they are', () => {
    const values = [3, 1, 2];
    const geometry = layout(values);
    assert.deepEqual(
      [...columns(geometry, 0, values, 1)],
      values.map((value, step) => [
        placeOf(geometry.across, step),
        placeOf(geometry.up[0].axis, value),
      ]),
    );
  });

  test('what is not finite, and what has no logarithm, leaves a gap', () => {
    const values = [1, NaN, 100, 0, 10, Infinity];
    const geometry = layout(values, { series: [{ values, log: true }] });
    const gaps = [...columns(geometry, 0, values, 1)].map((place) => place === null);
    assert.deepEqual(gaps, [false, true, false, true, false, true]);
  });

  test('the step under a pointer', () => {
    const geometry = layout(new Float32Array(101));
    for (const step of [0, 1, 50, 99, 100]) {
      assert.equal(stepAt(geometry, placeOf(geometry.across, step) + 0.4), step);
    }
    assert.equal(stepAt(geometry, -50), 0);
    assert.equal(stepAt(geometry, 5000), 100);
  });

  test('two series have an axis each, one legend that wraps where it is narrow', () => {
    const series = [{ values: [8, 4, 2, 1], log: true }, { values: [0.1, 0.1, 0.05, 0.025] }];
    const wide = layout([], { series, steps: 4, first: 1 });
    assert.deepEqual(wide.up[1].written, [0, 0.05, 0.1]);
    assert.ok(wide.across.to < wide.width - 20, 'room for the numbers at the right');
    assert.equal(new Set(wide.legend.map(({ middle }) => middle)).size, 1);
    const narrow = layout([], { series, steps: 4, width: 160 });
    assert.ok(new Set(narrow.legend.map(({ middle }) => middle)).size > 1);
    assert.ok(narrow.top > wide.top);
  });

  test('the file holds the curve, the mark, the numbers, and nothing that is no number', () => {
    for (const values of [[], [5], [5, NaN, 5], [0, 0], [NaN]]) {
      const series = [{ values }, { values, log: true }];
      const geometry = layout(values, { series, steps: 5 });
      const pen = new SvgPen();
      drawCurves(pen, { geometry, series, marked: 0, theme });
      const svg = pen.svg(geometry.width, geometry.height, 'Loss');
      assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
      for (const text of legend) assert.ok(svg.includes(`>${text}<`));
    }
  });
});
