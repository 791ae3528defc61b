/**
 * A drawing as a file: the function that paints the canvas makes the picture, without the marks of
 * pointer and choice, at two device pixels a CSS pixel or more.
 */
import { SvgPen } from '../draw/export-svg.js';

/**
 * @param {'png' | 'svg'} format
 * @param {string} name
 * @param {(ratio: number) => { width: number, height: number,
 *   draw: (pen: import('../draw/pen.js').Pen) => void }} layOut for a device of this ratio
 * @returns {Promise<Blob>}
 */
export async function pictureOf(format, name, layOut) {
  if (format === 'svg') {
    const { width, height, draw } = layOut(1);
    const pen = new SvgPen();
    draw(pen);
    return new Blob([pen.svg(width, height, name)], { type: 'image/svg+xml' });
  }
  const ratio = Math.max(2, devicePixelRatio);
  const { width, height, draw } = layOut(ratio);
  const canvas = new OffscreenCanvas(Math.round(width * ratio), Math.round(height * ratio));
  draw(/** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d')));
  return canvas.convertToBlob({ type: 'image/png' });
}
