/**
 * The legend: a thin bar of the scale's colours with two or three numbers, or, of a scale without width,
 * the word that all cells are equal; beside it a swatch for each kind of cell that has no colour.
 */
import { colourAt } from './colour.js';
import { short } from './format.js';
import { figureSize, labelSize } from './layout.js';
import { drawPixels, hatch, write } from './pen.js';

/**
 * @typedef {object} LegendNote
 * @property {'masked' | 'notANumber'} kind
 * @property {string} text
 */

/**
 * @typedef {object} Legend
 * @property {NonNullable<import('./layout.js').Geometry['legend']>} geometry
 * @property {number} ratio
 * @property {import('./colour.js').Scale} scale
 * @property {string} [constant] says the value that all cells of a scale without width share
 * @property {readonly LegendNote[]} [notes]
 * @property {import('./pen.js').Theme} theme
 */

export const barHeight = 6;
const swatch = 12;

/**
 * @param {import('./pen.js').Pen} pen
 * @param {Legend} legend
 */
export function drawLegend(pen, legend) {
  const { geometry, scale, theme, ratio, constant = '', notes = [] } = legend;
  const { left, top, width } = geometry;
  const bar = { x: left, y: top + 3, width, height: barHeight };

  pen.font = `${figureSize}px ${theme.mono}`;
  pen.fillStyle = theme.quiet;
  const line = top + 3 + barHeight + 11;
  if (scale.unit === 0) {
    pen.textAlign = 'left';
    write(pen, constant, left, line, figureSize);
    pen.fillStyle = colourAt(scale, scale.first);
    pen.fillRect(bar.x, bar.y, bar.width, bar.height);
  } else {
    pen.textAlign = 'left';
    write(pen, short(scale.low), left, line, figureSize);
    pen.textAlign = 'right';
    write(pen, short(scale.high), left + width, line, figureSize);
    if (scale.low < 0 && scale.high > 0) {
      pen.textAlign = 'center';
      write(pen, '0', left + (width * -scale.low) / (scale.high - scale.low), line, figureSize);
    }
    const data = new Uint8ClampedArray(256 * 4).fill(255);
    for (let index = 0; index < 256; index++) {
      data.set(scale.table.subarray(index * 3, index * 3 + 3), index * 4);
    }
    drawPixels(pen, { width: 256, height: 1, data }, bar, true);
  }

  pen.font = `${labelSize}px ${theme.font}`;
  pen.textAlign = 'left';
  notes.forEach(({ kind, text }, index) => {
    const x = geometry.notes[index];
    if (kind === 'masked') {
      pen.fillStyle = hatch(pen, theme.hatch, ratio);
      pen.fillRect(x, top, swatch, swatch);
      pen.strokeStyle = theme.hairline;
      pen.lineWidth = 1;
      pen.strokeRect(x + 0.5, top + 0.5, swatch - 1, swatch - 1);
    } else {
      drawCross(pen, { x, y: top, width: swatch, height: swatch }, theme);
    }
    pen.fillStyle = theme.quiet;
    write(pen, text, x + swatch + 6, top + swatch / 2, labelSize);
  });
}

/**
 * A cell that is not a number: crossed out on paper, or filled where a cross has no room.
 * @param {import('./pen.js').Pen} pen
 * @param {import('./pen.js').Box} box
 * @param {import('./pen.js').Theme} theme
 */
export function drawCross(pen, { x, y, width, height }, theme) {
  const inset = Math.min(width, height) / 4;
  const roomy = inset >= 2;
  pen.fillStyle = roomy ? theme.paper : theme.alert;
  pen.fillRect(x, y, width, height);
  if (!roomy) return;
  pen.strokeStyle = theme.alert;
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x + inset, y + inset);
  pen.lineTo(x + width - inset, y + height - inset);
  pen.moveTo(x + width - inset, y + inset);
  pen.lineTo(x + inset, y + height - inset);
  pen.stroke();
}
