/**
 * A small map: one pixel a cell, blown up by the style sheet, so that many of them are painted within a
 * keystroke. Where a cell has no colour the hatching of the ground shows through; NaN has the colour of
 * errors. Edited cells and the lights over one row and one column are boxes above the canvas; the lights
 * follow custom properties set once on the stage, so that pointing at a token paints nothing.
 */
import { paintCells } from '../../draw/heatmap.js';
import { layoutHeatmap } from '../../draw/layout.js';
import { h, list } from '../dom.js';

/**
 * @typedef {object} Picture
 * @property {import('../../draw/colour.js').Matrix & { columnAxis?: string }} matrix rows are queries
 * @property {import('../../draw/colour.js').Scale} scale
 * @property {ArrayLike<number> | null} masked
 * @property {(readonly [row: number, column: number])[]} edited
 */

/** Nothing is written in a small map. */
const measure = () => 0;

export class MiniMap {
  canvas = h('canvas', { 'aria-hidden': 'true' });
  #edits = h('span');
  element = h(
    'span',
    { class: 'mini' },
    this.canvas,
    this.#edits,
    h('i', { class: 'row-light' }),
    h('i', { class: 'column-light' }),
  );
  #pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));

  /**
   * @param {Picture} picture
   * @param {number} size the side of a square that holds it, in CSS pixels
   * @param {import('../theme.js').Theme} theme
   * @param {number} [leastRow] height of a row in CSS pixels, also where the square is left
   */
  paint({ matrix, scale, masked, edited }, size, theme, leastRow = 0) {
    const { rows, columns } = matrix;
    const { canvas } = this;
    const { width, height } = layoutHeatmap({
      rows,
      columns,
      width: size,
      maxHeight: Math.max(size, rows * leastRow),
      leastRow,
      measure,
      ratio: devicePixelRatio,
      theme,
      thumbnail: true,
    });
    if (canvas.width !== columns) canvas.width = columns;
    if (canvas.height !== rows) canvas.height = rows;
    const { style } = canvas;
    if (style.width !== `${width}px`) style.width = `${width}px`;
    if (style.height !== `${height}px`) style.height = `${height}px`;
    const pixels = paintCells(matrix, scale, masked);
    this.#pen.putImageData(new ImageData(pixels.data, columns, rows), 0, 0);
    this.#pen.fillStyle = theme.alert;
    for (const cell of pixels.notNumbers) {
      this.#pen.fillRect(cell % columns, Math.floor(cell / columns), 1, 1);
    }
    this.element.classList.toggle('of-keys', matrix.columnAxis === 'Tk');
    list(
      this.#edits,
      edited,
      () => h('i', { class: 'edit' }),
      ({ style }, [row, column]) => {
        style.top = `${(100 * row) / rows}%`;
        style.left = `${(100 * column) / columns}%`;
        style.width = `${100 / columns}%`;
        style.height = `${100 / rows}%`;
      },
    );
  }
}
