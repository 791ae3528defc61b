/**
 * From a number to a colour, by tables of 256 entries.
 *
 * Weights use cividis (or viridis) from the low to the high end of their range; signed values run
 * from blue below 0 to red above it. A scale is plain data, so one scale serves every head that is
 * shown, and its legend. NaN and masked cells have no colour here: they are marked, not coloured.
 */
import { cividis, redBlue, viridis } from '../../build/colour-tables.js';

/** @typedef {'weights' | 'signed'} Kind */

/**
 * `unit` reaches at least to 1 (and −1 when signed), `largest` to the largest cell that is drawn.
 * @typedef {'unit' | 'largest' | readonly [low: number, high: number]} Range
 */

/**
 * A matrix of numbers, possibly a slice of a larger tensor.
 * @typedef {object} Matrix
 * @property {number} rows
 * @property {number} columns
 * @property {ArrayLike<number>} data
 * @property {number} [offset] index of the first cell, default 0
 * @property {number} [stride] distance between rows, default `columns`
 */

/**
 * What the cells of a matrix span: masked and non-finite cells are counted, not measured.
 * @typedef {object} Extent
 * @property {number} low smallest finite value, Infinity when there is none
 * @property {number} high largest finite value, −Infinity when there is none
 * @property {number} masked
 * @property {number} notANumber
 */

/**
 * @typedef {object} Scale
 * @property {Kind} kind
 * @property {number} low
 * @property {number} high
 * @property {number} first entry of the table at `low`: not 0 where there is nothing to spread
 * @property {number} unit entries for an increase of 1
 * @property {Uint8Array} table 256 × red, green, blue
 */

const tables = {
  cividis: Uint8Array.from(cividis),
  viridis: Uint8Array.from(viridis),
  redBlue: Uint8Array.from(redBlue),
};

/** Below this relative luminance white text reads better than black (WCAG contrast). */
const darkBelow = 0.179;

/**
 * @param {Matrix} matrix
 * @param {ArrayLike<number> | null} [masked] rows × columns reasons, 0 = not masked
 * @returns {Extent}
 */
export function extentOf(matrix, masked) {
  const { rows, columns, data, offset = 0, stride = columns } = matrix;
  const extent = { low: Infinity, high: -Infinity, masked: 0, notANumber: 0 };
  for (let row = 0, cell = 0; row < rows; row++) {
    for (let column = 0, at = offset + row * stride; column < columns; column++, cell++, at++) {
      const value = data[at];
      if (masked?.[cell]) extent.masked++;
      else if (Number.isNaN(value)) extent.notANumber++;
      else if (Number.isFinite(value)) {
        if (value < extent.low) extent.low = value;
        if (value > extent.high) extent.high = value;
      }
    }
  }
  return extent;
}

/**
 * The ends of a scale that holds everything the extents span.
 * @param {Kind} kind
 * @param {Range | null | undefined} range default: `unit` for weights, `largest` for signed values
 * @param {...Extent} extents one for each matrix that shares the scale
 * @returns {readonly [low: number, high: number]}
 */
export function rangeOf(kind, range, ...extents) {
  if (typeof range === 'object' && range !== null) return range;
  const least = (range ?? (kind === 'weights' ? 'unit' : 'largest')) === 'unit' ? 1 : 0;
  const low = Math.min(0, ...extents.map((extent) => extent.low));
  const high = Math.max(least, ...extents.map((extent) => extent.high));
  if (kind === 'weights') return [low, high];
  const end = Math.max(high, -low);
  return [-end, end];
}

/**
 * A scale without width gives all its values one colour: the middle (signed) or the low end.
 * @param {Kind} kind
 * @param {readonly [low: number, high: number]} ends
 * @param {'cividis' | 'viridis'} [palette] of weights
 * @returns {Scale}
 */
export function scaleFor(kind, [low, high], palette = 'cividis') {
  const table = tables[kind === 'signed' ? 'redBlue' : palette];
  const flat = !(high > low);
  const first = flat && kind === 'signed' ? 128 : 0;
  return { kind, low, high, first, unit: flat ? 0 : 255 / (high - low), table };
}

/**
 * @param {Scale} scale
 * @param {number} value not NaN
 * @returns {number} 0 to 255
 */
export function colourIndex({ low, first, unit }, value) {
  const at = first + (value - low) * unit;
  return at <= 0 ? 0 : at >= 255 ? 255 : (at + 0.5) | 0;
}

/**
 * @param {Scale} scale
 * @param {number} index
 * @returns {string} a CSS colour
 */
export function colourAt({ table }, index) {
  const [red, green, blue] = table.subarray(index * 3, index * 3 + 3);
  return `rgb(${red}, ${green}, ${blue})`;
}

/**
 * Black or white, whichever reads better on a colour of the scale.
 * @param {Scale} scale
 * @param {number} index
 * @returns {'#000' | '#fff'}
 */
export function inkAt({ table }, index) {
  const [red, green, blue] = Array.from(table.subarray(index * 3, index * 3 + 3), linear);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < darkBelow ? '#fff' : '#000';
}

/**
 * @param {number} byte sRGB channel
 * @returns {number} linear light, 0 to 1
 */
function linear(byte) {
  const part = byte / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}
