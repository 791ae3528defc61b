/**
 * Numbers as small horizontal bars, one line each: the terms of a sum around 0, or the weights of
 * a row from 0.
 *
 *     0   ▐████        0.42         the    ████            0.61
 *     1 ██▌           −0.17         cat    ██              0.28
 */
import { short } from './format.js';
import { ellipsis, figureSize, labelSize } from './layout.js';
import { hatch, write } from './pen.js';

/** @typedef {import('./layout.js').Measure} Measure */

/**
 * @typedef {object} BarsOptions
 * @property {readonly string[]} labels
 * @property {ArrayLike<number>} values
 * @property {number} width what is available
 * @property {Measure} measure
 * @property {{ font: string, mono: string }} theme
 */

/**
 * @typedef {object} BarsGeometry
 * @property {number} width
 * @property {number} height
 * @property {number} left of the bars
 * @property {number} right
 * @property {number} line height of a line
 * @property {number} low value at the left end, 0 or below
 * @property {number} high value at the right end
 * @property {string[]} labels
 * @property {string[]} figures
 */

const line = 18;
const thick = 8;
const gap = 8;

/**
 * @param {BarsOptions} options
 * @returns {BarsGeometry}
 */
export function layoutBars({ labels, values, width, measure, theme }) {
  const font = `${labelSize}px ${theme.font}`;
  const mono = `${figureSize}px ${theme.mono}`;
  const names = labels.map((label) => ellipsis(label, width * 0.3, font, measure));
  const figures = Array.from(values, short);
  const widest = (/** @type {string[]} */ texts, /** @type {string} */ font) =>
    Math.ceil(texts.reduce((most, text) => Math.max(most, measure(text, font)), 0));
  const finite = Array.from(values).filter(Number.isFinite);
  return {
    width,
    height: labels.length * line,
    left: widest(names, font) + gap,
    right: Math.max(0, width - widest(figures, mono) - gap),
    line,
    low: finite.reduce((low, value) => Math.min(low, value), 0),
    high: finite.reduce((high, value) => Math.max(high, value), 0),
    labels: names,
    figures,
  };
}

/**
 * @param {import('./pen.js').Pen} pen
 * @param {object} bars
 * @param {BarsGeometry} bars.geometry
 * @param {ArrayLike<number>} bars.values
 * @param {ArrayLike<number> | null} [bars.masked] reasons, 0 = not masked
 * @param {number | null} [bars.marked] the line that is looked at
 * @param {number} [bars.ratio] device pixels in a CSS pixel
 * @param {import('./pen.js').Theme} bars.theme
 */
export function drawBars(pen, { geometry, values, masked, marked = null, ratio = 1, theme }) {
  const { width, height, left, right, low, high, labels, figures } = geometry;
  const unit = high > low ? (right - left) / (high - low) : 0;
  const zero = left - low * unit;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = theme.paper;
  pen.fillRect(0, 0, width, height);
  labels.forEach((label, index) => {
    const middle = (index + 0.5) * line;
    const value = values[index];
    const ink = marked === index ? theme.query : theme.ink;
    pen.font = `${labelSize}px ${theme.font}`;
    pen.textAlign = 'right';
    pen.fillStyle = ink;
    write(pen, label, left - gap, middle, labelSize);
    if (masked?.[index]) {
      pen.fillStyle = hatch(pen, theme.hatch, ratio);
      pen.fillRect(left, middle - thick / 2, right - left, thick);
    } else if (Number.isFinite(value)) {
      pen.fillStyle = marked === index ? theme.query : theme.key;
      const length = Math.max(0.5, Math.abs(value) * unit);
      pen.fillRect(value < 0 ? zero - length : zero, middle - thick / 2, length, thick);
    }
    pen.font = `${figureSize}px ${theme.mono}`;
    pen.fillStyle = masked?.[index] ? theme.quiet : ink;
    write(pen, figures[index], width, middle, figureSize);
  });
  pen.fillStyle = theme.quiet;
  pen.fillRect(Math.round(zero * ratio) / ratio, 0, 1 / ratio, height);
}

/**
 * @param {BarsGeometry} geometry
 * @param {number} y
 * @returns {number | null} the line under a point
 */
export function barAt({ labels }, y) {
  const index = Math.floor(y / line);
  return index >= 0 && index < labels.length ? index : null;
}
