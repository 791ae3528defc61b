/**
 * A caption inside a drawing: texts in reading order, each behind a sign of what it names, as many in a
 * line as fit. It is part of the picture, so that an exported file explains itself.
 */
import { ellipsis, labelSize } from './layout.js';
import { circle, write } from './pen.js';

/**
 * @typedef {object} CaptionItem
 * @property {string} text
 * @property {'line' | 'thin' | 'dot'} [sign] none: text alone
 *
 * @typedef {CaptionItem & { x: number, middle: number }} Placed
 */

/** Height of a line. */
const line = 20;
const gap = 16;
const signWidth = 14;
const signGap = 6;

/**
 * @param {readonly CaptionItem[]} items
 * @param {number} width
 * @param {import('./layout.js').Measure} measure
 * @param {{ font: string }} theme
 * @returns {{ placed: Placed[], height: number }}
 */
export function layoutCaption(items, width, measure, theme) {
  const font = `${labelSize}px ${theme.font}`;
  let [x, lines] = [0, 1];
  const placed = items.map((item) => {
    const sign = item.sign ? signWidth + signGap : 0;
    const text = ellipsis(item.text, width - sign, font, measure);
    const wide = measure(text, font) + sign;
    if (x > 0 && x + wide > width) [x, lines] = [0, lines + 1];
    const place = { ...item, text, x, middle: (lines - 0.5) * line };
    x += wide + gap;
    return place;
  });
  return { placed, height: lines * line };
}

/**
 * @param {import('./pen.js').Pen} pen
 * @param {readonly Placed[]} placed
 * @param {number} left
 * @param {readonly string[]} inks one for each sign in turn
 * @param {import('./pen.js').Theme} theme
 */
export function drawCaption(pen, placed, left, inks, theme) {
  pen.font = `${labelSize}px ${theme.font}`;
  pen.textAlign = 'left';
  let signs = 0;
  for (const { text, sign, x, middle } of placed) {
    if (sign) {
      pen.fillStyle = inks[signs];
      signs += 1;
      if (sign === 'dot') {
        circle(pen, left + x + signWidth / 2, middle, 4);
        pen.fill();
      } else {
        const thick = sign === 'line' ? 2 : 1;
        pen.fillRect(left + x, middle - thick / 2, signWidth, thick);
      }
    }
    pen.fillStyle = theme.ink;
    write(pen, text, left + x + (sign ? signWidth + signGap : 0), middle, labelSize);
  }
}
