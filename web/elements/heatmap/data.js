/**
 * Checks what a page hands to a heatmap, once, at the door. Whatever is wrong becomes a Problem:
 * an error whose message is English for the caller, and which the element shows in the language of
 * its reader.
 */
import { fill } from '../../draw/format.js';
import en from '../../i18n/en.js';

/** @typedef {import('../../draw/colour.js').Matrix} Matrix */
/** @typedef {import('../../draw/colour.js').Kind} Kind */
/** @typedef {import('../../draw/colour.js').Range} Range */
/** @typedef {typeof en.heatmap} HeatmapStrings */
/** @typedef {string | Uint8Array} Token */

/**
 * What a page may call a matrix: nested arrays (null is NaN, since JSON has none), or a shape with
 * numbers in row order, possibly a slice of a larger tensor.
 * @typedef {readonly (ArrayLike<number | null>)[]
 *   | { shape: readonly number[], data: ArrayLike<number>, offset?: number, stride?: number }
 * } MatrixLike
 */

/** Rows and columns at most: beyond it a screen has no pixels to show them. */
export const limit = 2048;

export class Problem extends RangeError {
  /**
   * @param {keyof HeatmapStrings['errors']} code
   * @param {Record<string, string | number>} values
   */
  constructor(code, values) {
    super(`attention-heatmap: ${fill(en.heatmap.errors[code], values)}`);
    this.name = 'RangeError';
    this.code = code;
    this.values = values;
  }

  /** @param {HeatmapStrings} strings */
  say(strings) {
    return fill(strings.errors[this.code], this.values);
  }
}

/**
 * A value in a sentence, short.
 * @param {unknown} value
 */
function show(value) {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/**
 * @param {unknown} value
 * @returns {Matrix}
 */
export function readMatrix(value) {
  if (Array.isArray(value)) return fromNested(value);
  if (typeof value !== 'object' || value === null || !('shape' in value) || !('data' in value)) {
    throw new Problem('matrixMissing', { got: show(value) });
  }
  const { shape, data, offset = 0, stride } = /** @type {any} */ (value);
  if (!Array.isArray(shape) || shape.length !== 2 || !shape.every(isSize)) {
    throw new Problem('matrixShape', {
      shape: Array.isArray(shape) ? shape.join(', ') : show(shape),
    });
  }
  const [rows, columns] = shape;
  checkSize(rows, columns);
  const step = stride ?? columns;
  const needed = rows === 0 || columns === 0 ? 0 : offset + (rows - 1) * step + columns;
  const got = data?.length;
  const exact = stride === undefined && offset === 0;
  if (!isSize(got) || got < needed || (exact && got !== needed)) {
    throw new Problem('matrixLength', { shape: shape.join(', '), needed, got: show(got) });
  }
  return { rows, columns, data, offset, stride: step };
}

/**
 * @param {unknown[]} nested
 * @returns {Matrix}
 */
function fromNested(nested) {
  const rows = nested.length;
  const width = (/** @type {unknown} */ row) =>
    Array.isArray(row) || ArrayBuffer.isView(row) ? /** @type {any} */ (row).length : undefined;
  const columns = rows ? width(nested[0]) : 0;
  if (columns === undefined) throw new Problem('matrixShape', { shape: rows });
  checkSize(rows, columns);
  const data = new Float32Array(rows * columns);
  nested.forEach((row, at) => {
    const got = width(row);
    if (got !== columns) {
      throw new Problem('matrixRagged', { needed: columns, row: at, got: show(got) });
    }
    for (let column = 0; column < columns; column++) {
      const number = /** @type {any} */ (row)[column];
      if (typeof number !== 'number' && number !== null) {
        throw new Problem('matrixNotNumber', { row: at, column, got: show(number) });
      }
      data[at * columns + column] = number ?? NaN;
    }
  });
  return { rows, columns, data };
}

/** @param {unknown} size */
const isSize = (size) => Number.isInteger(size) && /** @type {number} */ (size) >= 0;

/**
 * @param {number} rows
 * @param {number} columns
 */
function checkSize(rows, columns) {
  if (rows > limit || columns > limit)
    throw new Problem('matrixTooLarge', { limit, rows, columns });
}

/**
 * @param {unknown} value
 * @param {string} axis
 * @returns {readonly Token[] | null}
 */
export function readLabels(value, axis) {
  if (value === null || value === undefined) return null;
  const good =
    Array.isArray(value) &&
    value.every((token) => typeof token === 'string' || token instanceof Uint8Array);
  if (!good) throw new Problem('labelList', { axis, got: show(value) });
  return /** @type {Token[]} */ (value);
}

/**
 * @param {unknown} value
 * @returns {Kind}
 */
export function readKind(value) {
  if (value === null || value === undefined) return 'weights';
  if (value !== 'weights' && value !== 'signed') throw new Problem('kind', { got: show(value) });
  return value;
}

/**
 * @param {unknown} value
 * @returns {Range | null}
 */
export function readRange(value) {
  if (value === null || value === undefined) return null;
  if (value === 'unit' || value === 'largest') return value;
  const good =
    Array.isArray(value) &&
    value.length === 2 &&
    value.every((end) => Number.isFinite(end)) &&
    value[0] <= value[1];
  if (!good) throw new Problem('range', { got: show(value) });
  return /** @type {any} */ (value);
}

/**
 * Reasons of masked cells in row order.
 * @param {unknown} value a matrix, a flat list, or null
 * @returns {ArrayLike<number> | null}
 */
export function readMask(value) {
  if (value === null || value === undefined) return null;
  if (ArrayBuffer.isView(value)) return /** @type {any} */ (value);
  const { rows, columns, data, offset = 0, stride = columns } = readMatrix(value);
  if (offset === 0 && stride === columns) return data;
  return Float32Array.from(
    { length: rows * columns },
    (_, cell) => data[offset + Math.floor(cell / columns) * stride + (cell % columns)],
  );
}

/**
 * @param {unknown} value
 * @returns {'cividis' | 'viridis'}
 */
export function readPalette(value) {
  if (value === null || value === undefined) return 'cividis';
  if (value !== 'cividis' && value !== 'viridis')
    throw new Problem('palette', { got: show(value) });
  return value;
}

/**
 * @param {unknown} value
 * @returns {readonly (readonly [row: number, column: number])[]}
 */
export function readCells(value) {
  if (value === null || value === undefined) return [];
  const isCell = (/** @type {unknown} */ cell) =>
    Array.isArray(cell) && cell.length === 2 && cell.every(isSize);
  if (!Array.isArray(value) || !value.every(isCell)) {
    throw new Problem('cells', { got: show(value) });
  }
  return value;
}

/**
 * @param {string | null} text of an attribute
 * @param {string} attribute
 * @returns {any}
 */
export function readJson(text, attribute) {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem('json', { attribute, reason: error instanceof Error ? error.message : '' });
  }
}

/**
 * Whether the parts fit together.
 * @param {Matrix} matrix
 * @param {{ rowLabels: ArrayLike<unknown> | null, columnLabels: ArrayLike<unknown> | null,
 *   mask: ArrayLike<number> | null, rowFlags: ArrayLike<number> | null }} parts
 * @param {{ row: string, column: string }} axes
 */
export function checkFit({ rows, columns }, parts, axes) {
  const { rowLabels, columnLabels, mask, rowFlags } = parts;
  if (rowLabels && rowLabels.length !== rows) {
    const [axis, needed, got] = [axes.row, rows, rowLabels.length];
    throw new Problem('labels', { rows, columns, axis, needed, got });
  }
  if (columnLabels && columnLabels.length !== columns) {
    const [axis, needed, got] = [axes.column, columns, columnLabels.length];
    throw new Problem('labels', { rows, columns, axis, needed, got });
  }
  if (mask && mask.length !== rows * columns) {
    throw new Problem('size', { name: 'mask', shape: mask.length, rows, columns });
  }
  if (rowFlags && rowFlags.length !== rows) {
    throw new Problem('size', { name: 'rowFlags', shape: rowFlags.length, rows, columns });
  }
}
