/**
 * A small map: cells only, on a canvas of the size it is told, with two lights that lie over one row
 * and one column. The lights follow custom properties set once on the stage, so that pointing at a
 * token moves them in every map without drawing anything.
 */
import { drawHeatmap } from '../draw/heatmap.js';
import { layoutHeatmap } from '../draw/layout.js';
import { h } from './dom.js';

/**
 * @typedef {object} Picture
 * @property {import('../draw/colour.js').Matrix & { columnAxis?: string }} matrix rows are queries
 * @property {import('../draw/colour.js').Scale} scale
 * @property {ArrayLike<number> | null} [masked]
 * @property {(readonly [number, number])[]} [edited]
 */

/** Nothing is written in a small map. */
const measure = () => 0;

export class MiniMap {
  canvas = h('canvas', { 'aria-hidden': 'true' });
  element = h(
    'span',
    { class: 'mini' },
    this.canvas,
    h('i', { class: 'row-light' }),
    h('i', { class: 'column-light' }),
  );
  #pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));

  /**
   * @param {Picture} picture
   * @param {number} size the side of a square that holds it, in CSS pixels
   * @param {import('./theme.js').Theme} theme
   */
  paint(picture, size, theme) {
    const ratio = devicePixelRatio;
    const { rows, columns } = picture.matrix;
    const geometry = layoutHeatmap({
      rows,
      columns,
      width: size,
      maxHeight: size,
      measure,
      ratio,
      theme,
      thumbnail: true,
    });
    const { canvas } = this;
    this.element.classList.toggle('of-keys', picture.matrix.columnAxis === 'Tk');
    const width = Math.round(geometry.width * ratio);
    const height = Math.round(geometry.height * ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      canvas.style.width = `${width / ratio}px`;
      canvas.style.height = `${height / ratio}px`;
    }
    drawHeatmap(this.#pen, { ...picture, geometry, theme });
  }
}
