/**
 * What one heatmap shows: parts that were checked to fit together, the words for them, and the
 * picture and files made from them. Knows no element, so it is made anew whenever a part changes.
 */
import { extentOf, rangeOf, scaleFor } from '../../draw/colour.js';
import { csv, json, npy } from '../../draw/export-data.js';
import { fill, short, tokenLabel } from '../../draw/format.js';
import { cellTexts, drawHeatmap } from '../../draw/heatmap.js';
import { layoutHeatmap } from '../../draw/layout.js';
import { pictureOf } from '../picture.js';
import { checkFit } from './data.js';

/** @typedef {import('../../draw/colour.js').Matrix} Matrix */
/** @typedef {import('./data.js').Token} Token */
/** @typedef {import('./data.js').HeatmapStrings} HeatmapStrings */
/** @typedef {import('../../draw/pen.js').Theme} Theme */
/** @typedef {Pick<import('../../draw/layout.js').LayoutOptions, 'width' | 'ratio' | 'measure'>} Room */
/** @typedef {Pick<import('../../draw/heatmap.js').Heatmap, 'highlight' | 'selected'>} Marks */

/**
 * @typedef {object} Parts
 * @property {Matrix} matrix
 * @property {readonly Token[] | null} rowLabels
 * @property {readonly Token[] | null} columnLabels
 * @property {ArrayLike<number> | null} mask
 * @property {ArrayLike<number> | null} rowFlags
 * @property {readonly (readonly [row: number, column: number])[]} edited
 * @property {readonly (readonly [row: number, column: number])[]} outlined
 * @property {import('../../draw/colour.js').Kind} kind
 * @property {import('../../draw/colour.js').Range | null} range
 * @property {'cividis' | 'viridis'} palette
 * @property {string | null} label
 * @property {string | null} rowAxis
 * @property {string | null} columnAxis
 * @property {boolean} thumbnail
 * @property {HeatmapStrings} strings
 */

/** Narrower cells never hold a value, so their texts are not made. */
const leastForValues = 20;

/**
 * A label inside a sentence: one written from right to left must not reorder what surrounds it.
 * @param {string} label
 */
const isolate = (label) =>
  /[\u0590-\u08FF\uFB1D-\uFEFC\u202A-\u202E\u2066-\u2069]/.test(label)
    ? `\u2068${label}\u2069`
    : label;

export class Figure {
  /** @param {Parts} parts */
  constructor(parts) {
    const { matrix, strings, mask, kind, range, palette } = parts;
    this.parts = parts;
    this.name = parts.label ?? strings.name;
    this.rowAxis = parts.rowAxis ?? strings.query;
    this.columnAxis = parts.columnAxis ?? strings.key;
    checkFit(matrix, parts, { row: this.rowAxis, column: this.columnAxis });
    this.rowLabels = parts.rowLabels && Array.from(parts.rowLabels, tokenLabel);
    this.columnLabels = parts.columnLabels && Array.from(parts.columnLabels, tokenLabel);
    const within = (/** @type {readonly number[]} */ [y, x]) =>
      y < matrix.rows && x < matrix.columns;
    this.edited = parts.edited.filter(within);
    this.outlined = parts.outlined.filter(within);
    this.extent = extentOf(matrix, mask);
    this.scale = scaleFor(kind, rangeOf(kind, range, this.extent), palette);
    /** @type {string[] | null} */
    this.texts = null;
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  valueAt(row, column) {
    const { data, offset = 0, columns, stride = columns } = this.parts.matrix;
    return data[offset + row * stride + column];
  }

  /**
   * @param {number} row
   * @param {number} column
   * @returns {number} reasons, 0 = not masked
   */
  maskAt(row, column) {
    return this.parts.mask?.[row * this.parts.matrix.columns + column] ?? 0;
  }

  /** A copy of the matrix in row order. */
  numbers() {
    const { rows, columns } = this.parts.matrix;
    return Float32Array.from({ length: rows * columns }, (_, cell) =>
      this.valueAt(Math.floor(cell / columns), cell % columns),
    );
  }

  /**
   * What a cell says: "query cat → key sat: 0.42, masked: causal".
   * @param {number} row
   * @param {number} column
   * @param {(value: number) => string} format
   */
  sentence(row, column, format) {
    const { strings, rowFlags } = this.parts;
    const masked = this.maskAt(row, column);
    const reasons = Object.entries(strings.reasons)
      .filter(([bit]) => masked & Number(bit))
      .map(([, reason]) => reason);
    const cell = fill(strings.cell, {
      rowAxis: this.rowAxis,
      row: isolate(this.rowLabels?.[row] ?? String(row)),
      columnAxis: this.columnAxis,
      column: isolate(this.columnLabels?.[column] ?? String(column)),
      value: format(this.valueAt(row, column)),
    });
    const flag = rowFlags?.[row] ?? 0;
    const isAmong = (/** @type {Parts['edited']} */ cells) =>
      cells.some(([y, x]) => y === row && x === column);
    return [
      cell,
      masked && fill(strings.masked, { reasons: reasons.join(strings.and) }),
      isAmong(this.edited) && strings.edited,
      isAmong(this.outlined) && strings.outlined,
      flag & 1 && strings.emptyRow,
      flag & 2 && strings.poisonedRow,
    ]
      .filter(Boolean)
      .join(strings.and);
  }

  /**
   * @param {Room} room
   * @param {Theme} theme
   * @param {Marks} [marks]
   */
  picture(room, theme, marks = {}) {
    const { extent, edited, outlined, scale, parts } = this;
    const { matrix, mask, rowFlags, strings, thumbnail } = parts;
    const { rows, columns } = matrix;
    const roomy = !thumbnail && columns * leastForValues <= room.width;
    if (roomy) this.texts ??= cellTexts(matrix, mask);
    const values = roomy ? this.texts : null;

    /** @type {import('../../draw/legend.js').LegendNote[]} */
    const notes = [];
    if (extent.masked > 0) notes.push({ kind: 'masked', text: strings.maskedLegend });
    if (extent.notANumber > 0) notes.push({ kind: 'notANumber', text: strings.notANumberLegend });

    const geometry = layoutHeatmap({
      ...room,
      rows,
      columns,
      theme,
      rowLabels: this.rowLabels,
      columnLabels: this.columnLabels,
      rowAxis: this.rowAxis,
      columnAxis: this.columnAxis,
      values,
      flags: rowFlags !== null && Array.from(rowFlags).some(Boolean),
      legend: true,
      notes: notes.map(({ text }) => text),
      thumbnail,
    });
    const constant = fill(strings.constant, { value: short(scale.low) });
    const about = { geometry, matrix, scale, theme, notes, constant };
    const heatmap = { ...about, masked: mask, rowFlags, edited, outlined, values, ...marks };
    return { geometry, heatmap };
  }

  /**
   * The picture without marks of pointer and choice, or the numbers, as a file.
   * @param {'png' | 'svg' | 'csv' | 'json' | 'npy'} format
   * @param {Room} room
   * @param {Theme} theme
   * @returns {Promise<Blob>}
   */
  async file(format, room, theme) {
    const { matrix, mask } = this.parts;
    const { rows, columns } = matrix;
    const data = this.numbers();
    const rowNames = this.rowLabels ?? Array.from({ length: rows }, (_, row) => String(row));
    const columnNames = this.columnLabels ?? Array.from({ length: columns }, (_, at) => String(at));
    switch (format) {
      case 'png':
      case 'svg':
        return pictureOf(format, this.name, (ratio) => {
          const { geometry, heatmap } = this.picture({ ...room, ratio }, theme);
          const { width, height } = geometry;
          return { width, height, draw: (pen) => drawHeatmap(pen, heatmap) };
        });
      case 'csv':
        return new Blob([csv(matrix, rowNames, columnNames)], { type: 'text/csv;charset=utf-8' });
      case 'json': {
        const names = { label: this.name, rows: rowNames, columns: columnNames };
        const reasons = mask && Array.from(mask);
        const text = json({ ...names, shape: [rows, columns], data, mask: reasons });
        return new Blob([text], { type: 'application/json' });
      }
      case 'npy': {
        const bytes = npy({ shape: [rows, columns], data });
        return new Blob([bytes], { type: 'application/octet-stream' });
      }
      default:
        throw new RangeError(`a heatmap exports png, svg, csv, json or npy; got ${format}`);
    }
  }
}
