/**
 * Draws a matrix as a heatmap: numbers in, pixels out.
 *
 * The cells are painted one pixel each into a block of the matrix's own size, which is then scaled
 * up without smoothing, so that 512 × 512 cells cost no more than one image. On top come the few
 * things that are not colours: hatching where a mask lies, crosses for NaN, values and labels
 * where they fit, outlines for edits, for cells pointed out, for the row and column pointed at, and for the chosen cell.
 *
 * A masked weight that is not 0 (a finite fill leaks) keeps its colour beneath the hatching.
 */
import { colourIndex, inkAt } from './colour.js';
import { short } from './format.js';
import { boxOf } from './layout.js';
import { drawCross, drawLegend } from './legend.js';
import { drawPixels, hatch, write, writeFlag } from './pen.js';

/** @typedef {import('./colour.js').Matrix} Matrix */
/** @typedef {import('./colour.js').Scale} Scale */
/** @typedef {import('./layout.js').Geometry} Geometry */
/** @typedef {import('./pen.js').Pen} Pen */
/** @typedef {import('./pen.js').Theme} Theme */

/**
 * @typedef {object} Heatmap
 * @property {Geometry} geometry
 * @property {Matrix} matrix
 * @property {Scale} scale
 * @property {Theme} theme
 * @property {ArrayLike<number> | null} [masked] rows × columns reasons, 0 = not masked
 * @property {Iterable<readonly [row: number, column: number]>} [edited]
 * @property {Iterable<readonly [row: number, column: number]>} [outlined] thinly, on any colour
 * @property {ArrayLike<number> | null} [rowFlags] bit 1 empty row, bit 2 NaN or +∞ in the row
 * @property {readonly string[] | null} [values] text of each cell, as given to the layout
 * @property {{ row?: number | null, column?: number | null }} [highlight] row or column pointed at
 * @property {{ row: number, column: number } | null} [selected]
 * @property {string} [constant] see Legend
 * @property {readonly import('./legend.js').LegendNote[]} [notes]
 */

/**
 * @param {Pen} pen
 * @param {Heatmap} heatmap
 */
export function drawHeatmap(pen, heatmap) {
  const { geometry, matrix, scale, theme, masked = null, edited = [], highlight = {} } = heatmap;
  const { rows, columns, ratio, width, height, cellWidth, cellHeight } = geometry;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = theme.paper;
  pen.fillRect(0, 0, width, height);

  if (rows > 0 && columns > 0) {
    const grid = boxOf(geometry, 0, 0, rows, columns);
    const whole = { ...grid, width: grid.width + geometry.gap, height: grid.height + geometry.gap };
    const crowded = Math.min(cellWidth, cellHeight) * ratio < 1;
    const cells = paintCells(matrix, scale, masked);
    drawPixels(pen, cells, whole, crowded);
    if (masked) drawHatching(pen, geometry, masked, theme);
    for (const cell of cells.notNumbers) {
      drawCross(pen, boxOf(geometry, Math.floor(cell / columns), cell % columns), theme);
    }
  }
  drawGaps(pen, geometry, theme);
  if (geometry.valueSize > 0) drawValues(pen, heatmap);
  for (const [row, column] of heatmap.outlined ?? []) {
    const box = boxOf(geometry, row, column);
    pen.strokeStyle = theme.paper;
    outline(pen, box, 3, -2.5);
    pen.strokeStyle = theme.ink;
    outline(pen, box, 1, -2.5);
  }
  pen.strokeStyle = theme.query;
  for (const [row, column] of edited) outline(pen, boxOf(geometry, row, column), 2, -1);
  drawLabels(pen, heatmap);
  if (heatmap.rowFlags) drawFlags(pen, geometry, heatmap.rowFlags, theme);

  const { row = null, column = null } = highlight;
  if (row !== null && row < rows) {
    pen.strokeStyle = theme.query;
    outline(pen, boxOf(geometry, row, 0, 1, columns), 1, 0.5);
  }
  if (column !== null && column < columns) {
    pen.strokeStyle = theme.key;
    outline(pen, boxOf(geometry, 0, column, rows, 1), 1, 0.5);
  }
  if (heatmap.selected) {
    const box = boxOf(geometry, heatmap.selected.row, heatmap.selected.column);
    pen.strokeStyle = theme.paper;
    outline(pen, box, 1, -1.5);
    pen.strokeStyle = theme.ink;
    outline(pen, box, 2, 0);
  }
  if (geometry.legend) {
    const { constant, notes } = heatmap;
    drawLegend(pen, {
      geometry: geometry.legend,
      ratio,
      scale,
      theme,
      constant,
      notes,
    });
  }
}

/**
 * @param {Matrix} matrix
 * @param {Scale} scale
 * @param {ArrayLike<number> | null} [masked]
 * @returns {import('./pen.js').Pixels & { notNumbers: number[] }} one pixel a cell, transparent
 *   where there is no colour, and which cells that are not masked hold NaN
 */
export function paintCells(matrix, scale, masked) {
  const { rows, columns, data, offset = 0, stride = columns } = matrix;
  const bytes = new Uint8ClampedArray(rows * columns * 4);
  const pixels = new Uint32Array(bytes.buffer);
  const colours = new Uint32Array(256);
  const channels = new Uint8Array(colours.buffer).fill(255);
  for (let index = 0; index < 256; index++) {
    channels.set(scale.table.subarray(index * 3, index * 3 + 3), index * 4);
  }
  const leaks = scale.kind === 'weights';
  const notNumbers = /** @type {number[]} */ ([]);
  for (let row = 0, cell = 0; row < rows; row++) {
    for (let column = 0, at = offset + row * stride; column < columns; column++, cell++, at++) {
      const value = data[at];
      if (masked?.[cell] && !(leaks && value > 0)) continue;
      if (Number.isNaN(value)) notNumbers.push(cell);
      else pixels[cell] = colours[colourIndex(scale, value)];
    }
  }
  return { width: columns, height: rows, data: bytes, notNumbers };
}

/**
 * The text of every cell for layout and drawing: '' where a masked cell shows nothing.
 * @param {Matrix} matrix
 * @param {ArrayLike<number> | null} [masked]
 * @returns {string[]}
 */
export function cellTexts({ rows, columns, data, offset = 0, stride = columns }, masked) {
  return Array.from({ length: rows * columns }, (_, cell) => {
    const value = data[offset + Math.floor(cell / columns) * stride + (cell % columns)];
    return masked?.[cell] || Number.isNaN(value) ? '' : short(value);
  });
}

/**
 * One box for each run of masked cells.
 * @param {Pen} pen
 * @param {Geometry} geometry
 * @param {ArrayLike<number>} masked
 * @param {Theme} theme
 */
function drawHatching(pen, geometry, masked, theme) {
  const { rows, columns, gap } = geometry;
  pen.fillStyle = hatch(pen, theme.hatch, geometry.ratio);
  pen.beginPath();
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const first = column;
      while (column < columns && masked[row * columns + column]) column++;
      if (column === first) continue;
      const { x, y, width, height } = boxOf(geometry, row, first, 1, column - first);
      pen.rect(x, y, width + gap, height + gap);
    }
  }
  pen.fill();
}

/**
 * Hairlines of paper between cells.
 * @param {Pen} pen
 * @param {Geometry} geometry
 * @param {Theme} theme
 */
function drawGaps(pen, geometry, theme) {
  const { rows, columns, gap } = geometry;
  if (gap === 0) return;
  pen.fillStyle = theme.paper;
  const all = boxOf(geometry, 0, 0, rows, columns);
  for (let row = 0; row < rows; row++) {
    const { y, height } = boxOf(geometry, row, 0);
    pen.fillRect(all.x, y + height, all.width + gap, gap);
  }
  for (let column = 0; column < columns; column++) {
    const { x, width } = boxOf(geometry, 0, column);
    pen.fillRect(x + width, all.y, gap, all.height + gap);
  }
}

/**
 * @param {Pen} pen
 * @param {Heatmap} heatmap
 */
function drawValues(pen, { geometry, matrix, scale, theme, values }) {
  const { columns, valueSize } = geometry;
  const { data, offset = 0, stride = columns } = matrix;
  pen.font = `${valueSize}px ${theme.mono}`;
  pen.textAlign = 'center';
  values?.forEach((text, cell) => {
    if (text === '') return;
    const row = Math.floor(cell / columns);
    const column = cell % columns;
    const box = boxOf(geometry, row, column);
    pen.fillStyle = inkAt(scale, colourIndex(scale, data[offset + row * stride + column]));
    write(pen, text, box.x + box.width / 2, box.y + box.height / 2, valueSize);
  });
}

/**
 * @param {Pen} pen
 * @param {Heatmap} heatmap
 */
function drawLabels(pen, { geometry, theme, highlight = {} }) {
  const { rowLabels, columnLabels, axes } = geometry;
  pen.font = `${rowLabels.size}px ${theme.font}`;
  pen.textAlign = 'right';
  for (const { index, text, x, y } of rowLabels.labels) {
    pen.fillStyle = highlight.row === index ? theme.query : theme.ink;
    write(pen, text, x, y, rowLabels.size);
  }

  const { size } = columnLabels;
  pen.font = `${size}px ${theme.font}`;
  for (const { index, text, x, y, angle } of columnLabels.labels) {
    pen.fillStyle = highlight.column === index ? theme.key : theme.ink;
    pen.textAlign = angle === 0 ? 'center' : 'left';
    pen.save();
    pen.translate(x, y);
    if (angle !== 0) pen.rotate(-angle);
    write(pen, text, 0, 0, size);
    pen.restore();
  }

  if (axes) {
    pen.font = `13px ${theme.font}`;
    pen.textAlign = 'left';
    pen.fillStyle = theme.query;
    write(pen, axes.rowAxis.text, axes.rowAxis.x, axes.rowAxis.y, 13);
    pen.fillStyle = theme.key;
    write(pen, axes.columnAxis.text, axes.columnAxis.x, axes.columnAxis.y, 13);
  }
}

/**
 * @param {Pen} pen
 * @param {Geometry} geometry
 * @param {ArrayLike<number>} flags
 * @param {Theme} theme
 */
function drawFlags(pen, geometry, flags, theme) {
  const size = Math.min(13, geometry.cellHeight);
  if (size < 9) return;
  for (let row = 0; row < geometry.rows; row++) {
    if (!flags[row]) continue;
    const { x, y, width, height } = boxOf(geometry, row, geometry.columns - 1);
    writeFlag(pen, flags[row], x + width + 6, y + height / 2, size, theme);
  }
}

/**
 * @param {Pen} pen
 * @param {import('./pen.js').Box} box
 * @param {number} line width
 * @param {number} out how far the middle of the line lies outside the box
 */
function outline(pen, { x, y, width, height }, line, out) {
  pen.lineWidth = line;
  pen.strokeRect(x - out, y - out, width + 2 * out, height + 2 * out);
}
