/**
 * Attention as arcs: queries in a column at the left, keys at the right, a curve for each weight
 * between them, as wide and as opaque as the weight is large.
 *
 *      query        key
 *        the ╶──────╴ the
 *        cat ╶──╲╱──╴ cat
 *        sat ╶──╱╲──╴ sat
 *
 * A masked pair has no curve, and a row without any has the mark that it has beside a heatmap. With a token or a pair pointed at, only its curves keep their ink.
 */
import { ellipsis, figureSize, labelSize } from './layout.js';
import { write, writeFlag } from './pen.js';

/** @typedef {import('./colour.js').Matrix} Matrix */
/** @typedef {import('./layout.js').Measure} Measure */
/** @typedef {import('./pen.js').Theme} Theme */

/**
 * @typedef {object} ArcsOptions
 * @property {readonly string[]} rowLabels tokens of the query side
 * @property {readonly string[]} columnLabels tokens of the key side
 * @property {number} width what is available
 * @property {Measure} measure
 * @property {{ font: string }} theme
 * @property {string} [rowAxis] name of the query side
 * @property {string} [columnAxis]
 */

/**
 * @typedef {object} ArcsGeometry
 * @property {number} width
 * @property {number} height
 * @property {number} left where curves start
 * @property {number} right where they end
 * @property {number} top of the first line
 * @property {number} line height of a line
 * @property {string[]} rowLabels as wide as they may be
 * @property {string[]} columnLabels
 * @property {string} rowAxis
 * @property {string} columnAxis
 */

/** @typedef {{ row?: number | null, column?: number | null }} Highlight */

const gap = 8;
const widest = 560;
const thickest = 7;
/** Thinner curves cannot be seen, and there are thousands of them. */
const leastWeight = 0.004;
/** How far from a curve it can still be pointed at. */
const reach = 5;

/**
 * @param {ArcsOptions} options
 * @returns {ArcsGeometry}
 */
export function layoutArcs(options) {
  const { rowLabels, columnLabels, measure, theme, rowAxis = '', columnAxis = '' } = options;
  const width = Math.min(options.width, widest);
  const font = `${labelSize}px ${theme.font}`;
  const most = width * 0.3;
  const cut = (/** @type {readonly string[]} */ labels) =>
    labels.map((label) => ellipsis(label, most, font, measure));
  const [rows, columns] = [cut(rowLabels), cut(columnLabels)];
  const widthOf = (/** @type {string[]} */ labels) =>
    labels.reduce((most, label) => Math.max(most, measure(label, font)), 0);
  const count = Math.max(rows.length, columns.length);
  const line = count > 32 ? 16 : 22;
  const top = rowAxis || columnAxis ? 24 : 0;
  return {
    width,
    height: top + count * line,
    left: Math.ceil(widthOf([...rows, rowAxis])) + gap,
    right: width - Math.ceil(widthOf([...columns, columnAxis])) - gap,
    top,
    line,
    rowLabels: rows,
    columnLabels: columns,
    rowAxis,
    columnAxis,
  };
}

/**
 * @param {import('./pen.js').Pen} pen
 * @param {object} arcs
 * @param {ArcsGeometry} arcs.geometry
 * @param {Matrix} arcs.matrix weights, queries × keys
 * @param {ArrayLike<number> | null} [arcs.masked] rows × columns reasons, 0 = not masked
 * @param {number} [arcs.largest] the weight drawn thickest, default 1
 * @param {Highlight} [arcs.highlight]
 * @param {ArrayLike<number> | null} [arcs.rowFlags] one for each query, as a heatmap has them
 * @param {number} [arcs.ratio] device pixels in a CSS pixel
 * @param {Theme} arcs.theme
 */
export function drawArcs(pen, arcs) {
  const { geometry, matrix, masked, largest = 1, highlight = {}, ratio = 1, theme } = arcs;
  const { rowFlags } = arcs;
  const { width, height, left, right } = geometry;
  const { row: litRow = null, column: litColumn = null } = highlight;
  const isLit = (/** @type {number} */ row, /** @type {number} */ column) =>
    (litRow === null || litRow === row) && (litColumn === null || litColumn === column);
  const anyLit = litRow !== null || litColumn !== null;

  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = theme.paper;
  pen.fillRect(0, 0, width, height);
  for (const lit of anyLit ? [false, true] : [true]) {
    for (const { row, column, weight } of visible(matrix, masked)) {
      if (isLit(row, column) !== lit) continue;
      const part = Math.min(1, weight / largest);
      const [least, more] = !lit ? [0.05, 0.1] : anyLit ? [0.5, 0.5] : [0.2, 0.7];
      pen.globalAlpha = least + more * part;
      pen.strokeStyle = lit && anyLit ? theme.query : theme.key;
      pen.lineWidth = Math.max(0.5, part * thickest);
      trace(pen, geometry, row, column);
    }
  }
  pen.globalAlpha = 1;

  pen.font = `${labelSize}px ${theme.font}`;
  pen.textAlign = 'right';
  geometry.rowLabels.forEach((label, row) => {
    pen.fillStyle = litRow === row ? theme.query : theme.ink;
    write(pen, label, left - gap, middle(geometry, row), labelSize);
  });
  pen.textAlign = 'left';
  for (let row = 0; row < matrix.rows; row++) {
    if (rowFlags?.[row])
      writeFlag(pen, rowFlags[row], left - 2, middle(geometry, row), labelSize, theme);
  }
  geometry.columnLabels.forEach((label, column) => {
    pen.fillStyle = litColumn === column ? theme.key : theme.ink;
    write(pen, label, right + gap, middle(geometry, column), labelSize);
  });
  pen.fillStyle = theme.key;
  write(pen, geometry.columnAxis, right + gap, figureSize / 2 + 1, labelSize);
  pen.textAlign = 'right';
  pen.fillStyle = theme.query;
  write(pen, geometry.rowAxis, left - gap, figureSize / 2 + 1, labelSize);
}

/**
 * What is under a point: a token (its row or its column alone) or the heaviest curve near it.
 * @param {ArcsGeometry} geometry
 * @param {Matrix} matrix
 * @param {ArrayLike<number> | null | undefined} masked
 * @param {number} x
 * @param {number} y
 * @returns {Highlight | null}
 */
export function arcAt(geometry, matrix, masked, x, y) {
  const { left, right, top, line } = geometry;
  const at = Math.floor((y - top) / line);
  if (x <= left) return at >= 0 && at < matrix.rows ? { row: at } : null;
  if (x >= right) return at >= 0 && at < matrix.columns ? { column: at } : null;
  let best = null;
  let most = 0;
  for (const { row, column, weight } of visible(matrix, masked)) {
    if (weight <= most || Math.abs(heightAt(geometry, row, column, x) - y) > reach) continue;
    most = weight;
    best = { row, column };
  }
  return best;
}

/**
 * The pairs that have a curve.
 * @param {Matrix} matrix
 * @param {ArrayLike<number> | null | undefined} masked
 */
function* visible({ rows, columns, data, offset = 0, stride = columns }, masked) {
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const weight = data[offset + row * stride + column];
      if (weight > leastWeight && !masked?.[row * columns + column]) yield { row, column, weight };
    }
  }
}

/**
 * @param {ArcsGeometry} geometry
 * @param {number} index
 */
const middle = ({ top, line }, index) => top + (index + 0.5) * line;

/**
 * @param {import('./pen.js').Pen} pen
 * @param {ArcsGeometry} geometry
 * @param {number} row
 * @param {number} column
 */
function trace(pen, geometry, row, column) {
  const { left, right } = geometry;
  const [from, to, half] = [middle(geometry, row), middle(geometry, column), (left + right) / 2];
  pen.beginPath();
  pen.moveTo(left, from);
  pen.bezierCurveTo(half, from, half, to, right, to);
  pen.stroke();
}

/**
 * The height of a curve at x. Its controls lie halfway, so x(t) = 1.5t − 1.5t² + t³ and
 * y(t) = 3t² − 2t³ as parts of the whole; x(t) is inverted by bisection.
 * @param {ArcsGeometry} geometry
 * @param {number} row
 * @param {number} column
 * @param {number} x
 */
function heightAt(geometry, row, column, x) {
  const part = (x - geometry.left) / (geometry.right - geometry.left);
  let low = 0;
  let high = 1;
  for (let step = 0; step < 12; step++) {
    const t = (low + high) / 2;
    if (t * (1.5 + t * (t - 1.5)) < part) low = t;
    else high = t;
  }
  const from = middle(geometry, row);
  return from + (middle(geometry, column) - from) * low * low * (3 - 2 * low);
}
