/** Drawings: colours, layout, pixels and SVG. Text is in draw-text.test.js. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { arcAt, drawArcs, layoutArcs } from '../../web/draw/arcs.js';
import { barAt, drawBars, layoutBars } from '../../web/draw/bars.js';
import {
  colourAt,
  colourIndex,
  extentOf,
  inkAt,
  rangeOf,
  scaleFor,
} from '../../web/draw/colour.js';
import { SvgPen } from '../../web/draw/export-svg.js';
import { cellTexts, drawHeatmap, paintCells } from '../../web/draw/heatmap.js';
import { boxOf, cellAt, ellipsis, layoutHeatmap } from '../../web/draw/layout.js';
import { palette } from '../../web/elements/style.js';

/** @type {import('../../web/draw/pen.js').Theme} */
const theme = Object.assign({ font: 'sans-serif', mono: 'monospace' }, palette.light);
const hostile = '"><img src=x onerror=alert(1)>';

/** Every sign as wide as 0.6 of its font. @type {import('../../web/draw/layout.js').Measure} */
const measure = (text, font) => Array.from(text).length * Number.parseFloat(font) * 0.6;

/** @param {number[][]} rows */
function matrixOf(rows) {
  return { rows: rows.length, columns: rows[0].length, data: Float32Array.from(rows.flat()) };
}

describe('colours', () => {
  const masked = Uint8Array.of(0, 0, 2, 0);
  const matrix = matrixOf([[0.25, NaN, 9, 0.5]]);

  test('masked and NaN cells are counted, not measured', () => {
    assert.deepEqual(extentOf(matrix, masked), { low: 0.25, high: 0.5, masked: 1, notANumber: 1 });
  });

  test('a slice is measured where it lies', () => {
    const data = Float32Array.of(9, 9, 1, 2, 9, 3, 4, 9);
    const { low, high } = extentOf({ rows: 2, columns: 2, data, offset: 2, stride: 3 });
    assert.deepEqual([low, high], [1, 4]);
  });

  test('ranges', () => {
    const extent = extentOf(matrix, masked);
    const other = extentOf(matrixOf([[-3, 0.75]]));
    assert.deepEqual(rangeOf('weights', null, extent), [0, 1]);
    assert.deepEqual(rangeOf('weights', 'largest', extent), [0, 0.5]);
    assert.deepEqual(rangeOf('weights', 'unit', extentOf(matrixOf([[7]]))), [0, 7]);
    assert.deepEqual(rangeOf('signed', null, extent, other), [-3, 3]);
    assert.deepEqual(rangeOf('signed', 'unit', extent), [-1, 1]);
    assert.deepEqual(rangeOf('signed', [-2, 5], extent), [-2, 5]);
    const none = extentOf(matrixOf([[NaN]]));
    assert.deepEqual(rangeOf('weights', 'largest', none), [0, 0]);
    assert.ok(rangeOf('signed', null, none).every((end) => end === 0));
  });

  test('the table is used from end to end and 0 is its middle', () => {
    const weights = scaleFor('weights', [0, 1]);
    assert.deepEqual(
      [-1, 0, 0.5, 1, 2, Infinity, -Infinity].map((value) => colourIndex(weights, value)),
      [0, 0, 128, 255, 255, 255, 0],
    );
    assert.equal(colourIndex(scaleFor('signed', [-4, 4]), 0), 128);
    assert.equal(colourAt(weights, 0), 'rgb(0, 32, 81)');
    assert.notEqual(colourAt(scaleFor('weights', [0, 1], 'viridis'), 0), colourAt(weights, 0));
  });

  test('P5: cells that are all equal have one valid colour', () => {
    for (const kind of /** @type {const} */ (['weights', 'signed'])) {
      for (const value of [0, 0.5, -2]) {
        const extent = extentOf(matrixOf([[value, value]]));
        const scale = scaleFor(kind, rangeOf(kind, 'largest', extent));
        const index = colourIndex(scale, value);
        assert.ok(Number.isInteger(index) && index >= 0 && index <= 255, `${kind} ${value}`);
      }
    }
  });

  test('labels keep 4.5:1 on every colour', () => {
    const luminance = (/** @type {readonly number[]} */ rgb) => {
      const [r, g, b] = rgb.map((byte) => {
        const part = byte / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    for (const scale of [
      scaleFor('weights', [0, 1]),
      scaleFor('weights', [0, 1], 'viridis'),
      scaleFor('signed', [-1, 1]),
    ]) {
      for (let index = 0; index < 256; index++) {
        const light = luminance([...scale.table.slice(index * 3, index * 3 + 3)]);
        const contrast =
          inkAt(scale, index) === '#000' ? (light + 0.05) / 0.05 : 1.05 / (light + 0.05);
        assert.ok(contrast >= 4.5, `${scale.kind} ${index}: ${contrast}`);
      }
    }
    const hex = (/** @type {string} */ text) =>
      [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
    for (const scheme of Object.values(palette)) {
      const ground = luminance(hex(scheme.paper));
      for (const name of /** @type {const} */ (['ink', 'quiet', 'query', 'key', 'alert'])) {
        const text = luminance(hex(scheme[name]));
        const ratio = (Math.max(ground, text) + 0.05) / (Math.min(ground, text) + 0.05);
        assert.ok(ratio >= 4.5, `${name} on ${scheme.paper}: ${ratio}`);
      }
    }
  });
});

describe('layout', () => {
  const words = ['the', 'animal', 'did', 'not', 'cross', 'the', 'street', '因为', '它', 'tired'];

  /** @param {Partial<import('../../web/draw/layout.js').LayoutOptions>} options */
  const layout = (options) =>
    layoutHeatmap({ rows: 10, columns: 10, width: 800, measure, theme, ...options });

  /** The four corners of a column label's line box. */
  const corners = (
    /** @type {import('../../web/draw/layout.js').Label} */ { text, x, y, angle },
    /** @type {number} */ size,
  ) => {
    const width = measure(text, `${size}px x`);
    const start = angle === 0 ? -width / 2 : 0;
    return [
      [start, -size / 2],
      [start + width, -size / 2],
      [start + width, size / 2],
      [start, size / 2],
    ].map(([u, v]) => [
      x + u * Math.cos(angle) + v * Math.sin(angle),
      y - u * Math.sin(angle) + v * Math.cos(angle),
    ]);
  };

  /** Whether two convex shapes overlap, by separating axes. */
  const overlap = (/** @type {number[][]} */ one, /** @type {number[][]} */ two) =>
    [one, two].every((shape) =>
      shape.every(([x, y], at) => {
        const [nextX, nextY] = shape[(at + 1) % shape.length];
        const along = (/** @type {number[]} */ [px, py]) =>
          (px - x) * (nextY - y) - (py - y) * (nextX - x);
        const [a, b] = [one.map(along), two.map(along)];
        return Math.max(...a) > Math.min(...b) + 1e-6 && Math.max(...b) > Math.min(...a) + 1e-6;
      }),
    );

  test('labels lie flat, slant, stand upright or thin out, and never overlap', () => {
    const seen = new Set();
    for (const count of [2, 5, 10, 20, 40, 64, 200, 512]) {
      for (const width of [288, 500, 800, 1200]) {
        const labels = Array.from({ length: count }, (_, at) => words[at % words.length]);
        const options = { rows: count, columns: count, width, rowAxis: 'query', columnAxis: 'key' };
        const geometry = layout({ ...options, rowLabels: labels, columnLabels: labels });
        const { size, labels: placed } = geometry.columnLabels;
        assert.ok(placed.length > 0);
        const boxes = placed.map((label) => corners(label, size));
        for (let at = 1; at < boxes.length; at++) {
          assert.ok(!overlap(boxes[at - 1], boxes[at]), `${count} columns in ${width} px: ${at}`);
        }
        for (const corner of boxes.flat()) {
          assert.ok(corner[0] <= geometry.width + 1, `${count} in ${width}: ${corner}`);
          assert.ok(corner[1] > 16 && corner[1] <= geometry.top, `${count} in ${width}: ${corner}`);
        }
        const rows = geometry.rowLabels;
        for (let at = 1; at < rows.labels.length; at++) {
          assert.ok(rows.labels[at].y - rows.labels[at - 1].y >= rows.size);
        }
        assert.ok(geometry.width <= width);
        const thinned = placed.length < count;
        const most = Math.max(...placed.map(({ angle }) => angle));
        seen.add(thinned ? 'thin' : most === 0 ? 'flat' : most < 1 ? 'slanted' : 'upright');
      }
    }
    assert.deepEqual([...seen].sort(), ['flat', 'slanted', 'thin', 'upright']);
  });

  test('cells are whole device pixels', () => {
    for (const ratio of [1, 1.25, 1.5, 2, 3]) {
      for (const width of [288, 640, 1199.2]) {
        const geometry = layout({ ratio, width, rowLabels: words, columnLabels: words });
        for (const length of ['left', 'top', 'cellWidth', 'cellHeight', 'width', 'height']) {
          const device = geometry[/** @type {'left'} */ (length)] * ratio;
          assert.ok(
            Math.abs(device - Math.round(device)) < 1e-6,
            `${length} at ${ratio}: ${device}`,
          );
        }
      }
    }
  });

  test('a point is in the cell whose box holds it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 600 }),
        fc.constantFrom(1, 1.25, 2),
        fc.nat(),
        fc.nat(),
        (rows, columns, ratio, y, x) => {
          const geometry = layout({ rows, columns, ratio });
          const [row, column] = [y % rows, x % columns];
          const centre = [
            geometry.left + (column + 0.5) * geometry.cellWidth,
            geometry.top + (row + 0.5) * geometry.cellHeight,
          ];
          assert.deepEqual(cellAt(geometry, centre[0], centre[1]), { row, column });
          const box = boxOf(geometry, row, column);
          const one = 1 / ratio;
          assert.ok(centre[0] >= box.x - one && centre[0] <= box.x + box.width + one);
          assert.ok(centre[1] >= box.y - one && centre[1] <= box.y + box.height + one);
        },
      ),
    );
    const geometry = layout({ rowLabels: words });
    for (const [x, y] of [
      [geometry.left - 1, geometry.top + 1],
      [geometry.left + 1, geometry.top - 1],
      [geometry.left + 10 * geometry.cellWidth, geometry.top],
      [geometry.left, geometry.top + 10 * geometry.cellHeight],
    ]) {
      assert.equal(cellAt(geometry, x, y), null);
    }
  });

  test('boxes of neighbours meet', () => {
    const geometry = layout({ rows: 300, columns: 300, width: 500 });
    for (let column = 0; column < 299; column++) {
      const [one, two] = [boxOf(geometry, 0, column), boxOf(geometry, 0, column + 1)];
      assert.ok(Math.abs(one.x + one.width + geometry.gap - two.x) < 1e-9);
    }
  });

  test('values are shown only where the longest fits', () => {
    const values = ['0.5', '−0.00123'];
    assert.equal(layout({ rows: 1, columns: 2, values }).valueSize, 10.5);
    assert.equal(layout({ rows: 1, columns: 2, width: 90, values }).valueSize, 0);
    assert.equal(layout({ rows: 1, columns: 2 }).valueSize, 0);
  });

  test('a wide matrix has readable rows, a square one square cells', () => {
    const wide = layout({ rows: 4, columns: 64, width: 320, rowLabels: words.slice(0, 4) });
    assert.ok(wide.cellWidth < 6 && wide.cellHeight === 12);
    const square = layout({ rows: 64, columns: 64, width: 320 });
    assert.equal(square.cellWidth, square.cellHeight);
    const tall = layout({ rows: 600, columns: 2 });
    assert.ok(tall.cellHeight * 600 <= 720 + 1e-6);
  });

  test('labels too wide are cut at a sign', () => {
    assert.equal(ellipsis('abcdefgh', 30, '10px x', measure), 'abcd…');
    assert.equal(ellipsis('😀😀😀', 12, '10px x', measure), '😀…');
    assert.equal(ellipsis('abc', 18, '10px x', measure), 'abc');
  });

  test('no cells at all', () => {
    const geometry = layout({ rows: 0, columns: 5, rowLabels: [], legend: true });
    assert.equal(cellAt(geometry, geometry.left, geometry.top), null);
    assert.ok(geometry.height > 0 && Number.isFinite(geometry.height));
    assert.ok(Number.isFinite(layout({ rows: 3, columns: 0 }).height));
  });
});

describe('cells', () => {
  const scale = scaleFor('weights', [0, 1]);

  test('one pixel a cell; masked zeros and NaN are left open', () => {
    const matrix = matrixOf([
      [1, 0],
      [NaN, 0.3],
    ]);
    const { width, height, data, notNumbers } = paintCells(
      matrix,
      scale,
      Uint8Array.of(0, 1, 0, 1),
    );
    assert.deepEqual([width, height, notNumbers], [2, 2, [2]]);
    assert.deepEqual([...data.slice(0, 4)], [253, 234, 69, 255]);
    assert.deepEqual([data[7], data[11]], [0, 0]);
    assert.equal(data[15], 255, 'a masked weight that leaks keeps its colour');
  });

  test('a masked score has no colour, whatever its value', () => {
    const signed = scaleFor('signed', [-1, 1]);
    const { data } = paintCells(matrixOf([[-1e6, 1]]), signed, Uint8Array.of(2, 0));
    assert.deepEqual([data[3], data[7]], [0, 255]);
  });

  test('texts of masked and NaN cells are empty', () => {
    assert.deepEqual(cellTexts(matrixOf([[0.5, NaN, 2]]), Uint8Array.of(0, 0, 4)), ['0.5', '', '']);
  });
});

describe('SVG', () => {
  /** @param {Partial<import('../../web/draw/heatmap.js').Heatmap>} [more] */
  function picture(more = {}, labels = ['a', hostile]) {
    const matrix = matrixOf([
      [0.25, 0.75],
      [NaN, 0],
    ]);
    const masked = Uint8Array.of(0, 0, 0, 2);
    const values = cellTexts(matrix, masked);
    const sizes = { rows: 2, columns: 2, width: 600, measure, theme };
    const names = { rowLabels: labels, columnLabels: labels, rowAxis: '<q>', columnAxis: 'k' };
    const geometry = layoutHeatmap({ ...sizes, ...names, values, legend: true, notes: ['x'] });
    const pen = new SvgPen();
    const scale = scaleFor('weights', [0, 1]);
    const notes = [{ kind: /** @type {const} */ ('masked'), text: 'x' }];
    drawHeatmap(pen, { geometry, matrix, masked, scale, theme, values, notes, ...more });
    return pen.svg(geometry.width, geometry.height, hostile);
  }

  test('P2: hostile tokens stay text', () => {
    const svg = picture();
    assert.ok(!svg.includes('<img'));
    assert.ok(svg.includes('&quot;&gt;&lt;img src=x oner'), 'shown as text');
    assert.ok(svg.includes('<title>&quot;&gt;&lt;img src=x onerror=alert(1)&gt;</title>'));
    assert.ok(svg.includes('&lt;q&gt; ↓'));
  });

  test('elements are balanced and nothing is undefined or NaN', () => {
    const svg = picture({
      edited: [[0, 1]],
      outlined: [[1, 0]],
      selected: { row: 1, column: 1 },
      highlight: { row: 0 },
    });
    /** @type {string[]} */
    const open = [];
    for (const [, close, tag, self] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/gi)) {
      if (close) assert.equal(open.pop(), tag);
      else if (!self) open.push(tag);
    }
    assert.deepEqual(open, []);
    assert.ok(!/undefined|="NaN"|NaN[ ,)]|Infinity/.test(svg));
  });

  test('an outlined cell is drawn in two inks, to be seen on any colour', () => {
    const strokes = (/** @type {string} */ svg) => svg.match(/stroke-width="[13]"/g)?.length ?? 0;
    assert.equal(strokes(picture({ outlined: [[1, 0]] })) - strokes(picture()), 2);
  });

  test('cells, hatching and values are in it', () => {
    const svg = picture();
    assert.ok(svg.includes('<pattern id="hatch-0"') && svg.includes('fill="url(#hatch-0)"'));
    assert.ok(svg.includes('>0.25</text>') && svg.includes('>0.75</text>'));
    const { table } = scaleFor('weights', [0, 1]);
    const [r, g, b] = table.slice(191 * 3, 191 * 3 + 3);
    assert.ok(svg.includes(`<path fill="rgb(${r},${g},${b})" d="M1 0h1v1h-1z"/>`));
  });

  test('characters that XML forbids are left out', () => {
    const svg = picture({}, ['a\u0000b', '\ud800c']);
    assert.ok(svg.includes('>ab</text>') && svg.includes('>c</text>'));
  });

  test('arcs: no curve for a masked pair, the width by weight', () => {
    const matrix = matrixOf([[0.5, 0.25]]);
    const names = { rowLabels: ['q'], columnLabels: ['k0', hostile] };
    const geometry = layoutArcs({ ...names, width: 400, measure, theme });
    const draw = (/** @type {object} */ more) => {
      const pen = new SvgPen();
      drawArcs(pen, { geometry, matrix, theme, largest: 0.5, ...more });
      return pen.svg(geometry.width, geometry.height, '');
    };
    const widths = [...draw({}).matchAll(/stroke-width="([\d.]+)"/g)].map(([, width]) => width);
    assert.deepEqual(widths, ['7', '3.5']);
    assert.equal(draw({ masked: Uint8Array.of(0, 1) }).split('stroke-width').length - 1, 1);
    assert.ok(!draw({}).includes('<img'));
    assert.ok(!draw({ rowFlags: [0] }).includes('∅') && draw({ rowFlags: [1] }).includes('>∅<'));
  });

  test('bars grow both ways from 0', () => {
    const values = Float32Array.of(1, -1, NaN);
    const geometry = layoutBars({ labels: ['a', 'b', 'c'], values, width: 300, measure, theme });
    const pen = new SvgPen();
    drawBars(pen, { geometry, values, theme, marked: 1 });
    const svg = pen.svg(geometry.width, geometry.height, '');
    const half = (geometry.right - geometry.left) / 2;
    const bars = [...svg.matchAll(/<rect x="([\d.]+)" y="\d+" width="([\d.]+)" height="8"/g)];
    assert.deepEqual(
      bars.map(([, x, width]) => [Number(x), Number(width)]),
      [
        [geometry.left + half, half],
        [geometry.left, half],
      ].map((pair) => pair.map((side) => Number(side.toFixed(3)))),
    );
    assert.ok(svg.includes('>−1</text>') && svg.includes('>NaN</text>'));
    assert.equal(barAt(geometry, 19), 1);
    assert.equal(barAt(geometry, -1), null);
    assert.equal(barAt(geometry, 54), null);
  });
});

describe('arcs under the pointer', () => {
  const matrix = matrixOf([
    [0.9, 0.1],
    [0.2, 0.8],
  ]);
  const names = { rowLabels: ['a', 'b'], columnLabels: ['a', 'b'] };
  const geometry = layoutArcs({ ...names, width: 400, measure, theme });
  const { left, right, top, line } = geometry;

  test('tokens at the sides, curves between', () => {
    assert.deepEqual(arcAt(geometry, matrix, null, left - 1, top + line * 1.5), { row: 1 });
    assert.deepEqual(arcAt(geometry, matrix, null, right + 1, top + line * 0.5), { column: 0 });
    assert.equal(arcAt(geometry, matrix, null, left - 1, top + line * 2.5), null);
    const middle = (left + right) / 2;
    assert.deepEqual(arcAt(geometry, matrix, null, middle, top + line * 0.5), {
      row: 0,
      column: 0,
    });
    const crossing = arcAt(geometry, matrix, null, middle, top + line);
    assert.deepEqual(crossing, { row: 1, column: 0 }, 'the heavier of two that cross');
    const masked = Uint8Array.of(0, 0, 1, 0);
    assert.deepEqual(arcAt(geometry, matrix, masked, middle, top + line), { row: 0, column: 1 });
  });
});
