/**
 * Points, the curve predicted from them, and what one query takes from each point.
 *
 *    5 ┤        ∘          ─ prediction  ─ 2 sin x + x⁰·⁸
 *      │   ∘ ╭──╮ ∘
 *      │  ╭──╯  ●╲∘  ∘      ● the prediction of the query, on its line
 *   -1 ┤∘─╯     │ ╲──────   ∘ a point, in a disc whose area is its weight
 *   .2 ┤      ╷╷│╷
 *    0 ┼──────┴┴┼┴┴──────   a bar for each weight, under its point
 *      0        ▲          5
 *
 * The true function, from which a reader may judge the curve, is computed here for the eye alone.
 */
import { placeOf, ticks, valueAt } from './axis.js';
import { drawCaption, layoutCaption } from './caption.js';
import { short } from './format.js';
import { figureSize } from './layout.js';
import { circle, write } from './pen.js';

/** @typedef {import('./axis.js').Axis} Axis */

/**
 * @typedef {object} PlotOptions
 * @property {readonly (readonly number[])[]} box the smallest and the largest place of a point
 * @property {number} largest the weight at the top of the bars' scale
 * @property {Record<'prediction' | 'truth' | 'point' | 'weights' | 'weight', string>} names
 * @property {boolean} truth whether the true function is shown
 * @property {number} width what is available
 * @property {import('./layout.js').Measure} measure
 * @property {{ font: string, mono: string }} theme
 *
 * @typedef {object} PlotGeometry
 * @property {number} width
 * @property {number} height
 * @property {Axis} across
 * @property {Axis} up
 * @property {Axis} bars
 * @property {import('./caption.js').Placed[]} caption
 * @property {string} weight what the bars are
 */

const gap = 8;
const right = 12;
const barsHeight = 64;
const footHeight = 26;
const [lowest, highest] = [200, 340];
/** Of the disc behind a point that has all the weight. */
const widest = 30;
const dot = 3.5;
/** Numbers at the left of the points. */
const MOST_UP = 7;

/** The function behind the default points, as D2L has it. @param {number} x */
const truthAt = (x) => 2 * Math.sin(x) + x ** 0.8;

/**
 * @param {PlotOptions} options
 * @returns {PlotGeometry}
 */
export function layoutPlot({ box, largest, names, truth, width, measure, theme }) {
  const items = [
    { text: names.prediction, sign: /** @type {const} */ ('line') },
    ...(truth ? [{ text: names.truth, sign: /** @type {const} */ ('thin') }] : []),
    { text: names.point, sign: /** @type {const} */ ('dot') },
    { text: names.weights },
  ];
  const [[x0, y0], [x1, y1]] = box;
  const figures = [...ticks({ low: y0, high: y1 }, MOST_UP), largest].map(short);
  const mono = `${figureSize}px ${theme.mono}`;
  const left =
    gap + figures.reduce((most, text) => Math.max(most, Math.ceil(measure(text, mono))), 0);
  const caption = layoutCaption(items, width - left - right, measure, theme);
  const top = caption.height + gap;
  const bottom = top + Math.round(Math.min(highest, Math.max(lowest, width * 0.5)));
  const foot = bottom + 2 * gap + barsHeight;
  return {
    width,
    height: foot + footHeight,
    across: { low: x0, high: x1, from: left, to: width - right },
    up: { low: y0, high: y1, from: bottom, to: top },
    bars: { low: 0, high: largest || 1, from: foot, to: foot - barsHeight + gap },
    caption: caption.placed,
    weight: names.weight,
  };
}

/**
 * @typedef {object} Plot
 * @property {PlotGeometry} geometry
 * @property {readonly { x: number, y: number }[]} points from left to right
 * @property {ArrayLike<number>} weights of the query, one for each point
 * @property {ArrayLike<number>} curve the predictions, evenly spread over the axis; NaN leaves a gap
 * @property {boolean} truth
 * @property {number} query its x
 * @property {number} prediction NaN where there is none
 * @property {number | null} [lit] the point that is pointed at
 * @property {number | null} [chosen] the point that keys move
 * @property {number} [ratio] device pixels in a CSS pixel
 * @property {import('./pen.js').Theme} theme
 */

/**
 * @param {import('./pen.js').Pen} pen
 * @param {Plot} plot
 */
export function drawPlot(pen, plot) {
  const { geometry, points, weights, curve, truth, query, prediction } = plot;
  const { lit = null, chosen = null, ratio = 1, theme } = plot;
  const { width, height, across, up, bars } = geometry;

  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = theme.paper;
  pen.fillRect(0, 0, width, height);
  drawAxes(pen, geometry, ratio, theme);

  // What the points weigh: bars below them, and discs of that area around them.
  const steps = Math.max(1, Math.round((across.to - across.from) / 2));
  points.forEach(({ x, y }, at) => {
    const [px, weight] = [placeOf(across, x), weights[at]];
    const bar = placeOf(bars, Math.min(weight, bars.high));
    pen.fillStyle = at === lit ? theme.query : theme.key;
    if (weight > 0) pen.fillRect(px - 1, bar, 2, bars.from - bar);
    pen.globalAlpha = 0.22;
    circle(pen, px, placeOf(up, y), Math.sqrt(Math.max(0, weight)) * widest);
    if (weight > 0) pen.fill();
    pen.globalAlpha = 1;
  });
  if (truth) {
    const places = Array.from({ length: steps + 1 }, (_, step) => {
      const x = across.low + (step / steps) * (across.high - across.low);
      return [placeOf(across, x), placeOf(up, truthAt(x))];
    });
    pen.strokeStyle = theme.quiet;
    pen.lineWidth = 1;
    trace(pen, places);
  }
  const last = Math.max(1, curve.length - 1);
  pen.strokeStyle = theme.ink;
  pen.lineWidth = 2;
  trace(
    pen,
    Array.from(curve, (value, at) => [
      across.from + (at / last) * (across.to - across.from),
      placeOf(up, value),
    ]),
  );
  points.forEach(({ x, y }, at) => {
    circle(pen, placeOf(across, x), placeOf(up, y), at === lit ? dot + 2 : dot);
    pen.fillStyle = at === lit ? theme.query : theme.key;
    pen.fill();
    if (at !== chosen) return;
    circle(pen, placeOf(across, x), placeOf(up, y), dot + 4);
    pen.strokeStyle = theme.query;
    pen.lineWidth = 1.5;
    pen.stroke();
  });
  drawQuery(pen, geometry, query, prediction, ratio, theme);
  const inks = [theme.ink, ...(truth ? [theme.quiet] : []), theme.key];
  drawCaption(pen, geometry.caption, across.from, inks, theme);
}

/**
 * @param {import('./pen.js').Pen} pen
 * @param {PlotGeometry} geometry
 * @param {number} ratio
 * @param {import('./pen.js').Theme} theme
 */
function drawAxes(pen, { width, across, up, bars, weight: name }, ratio, theme) {
  const sharp = (/** @type {number} */ place) => (Math.floor(place * ratio) + 0.5) / ratio;
  pen.lineWidth = 1 / ratio;
  pen.strokeStyle = theme.hairline;
  pen.font = `${figureSize}px ${theme.mono}`;
  pen.fillStyle = theme.quiet;
  pen.textAlign = 'right';
  for (const tick of ticks(up, MOST_UP)) {
    const y = sharp(placeOf(up, tick));
    trace(pen, [
      [across.from, y],
      [across.to, y],
    ]);
    write(pen, short(tick), across.from - gap, y, figureSize);
  }
  for (const weight of [0, bars.high]) {
    const y = sharp(placeOf(bars, weight));
    trace(pen, [
      [across.from, y],
      [weight === 0 ? across.to : across.from + 4, y],
    ]);
    write(pen, short(weight), across.from - gap, y, figureSize);
  }
  pen.textAlign = 'left';
  write(pen, name, across.from + gap, placeOf(bars, bars.high), figureSize);
  pen.textAlign = 'center';
  for (const tick of ticks(across, Math.min(6, Math.floor(width / 48)))) {
    const x = placeOf(across, tick);
    trace(pen, [
      [sharp(x), bars.from],
      [sharp(x), bars.from + 4],
    ]);
    write(pen, short(tick), x, bars.from + 16, figureSize);
  }
}

/**
 * @param {import('./pen.js').Pen} pen
 * @param {PlotGeometry} geometry
 * @param {number} query
 * @param {number} prediction
 * @param {number} ratio
 * @param {import('./pen.js').Theme} theme
 */
function drawQuery(pen, { across, up, bars }, query, prediction, ratio, theme) {
  const x = placeOf(across, query);
  const y = placeOf(up, prediction);
  pen.strokeStyle = theme.query;
  pen.fillStyle = theme.query;
  pen.lineWidth = Math.max(1, 1 / ratio);
  trace(pen, [
    [x, up.to],
    [x, bars.from],
  ]);
  pen.beginPath();
  pen.moveTo(x, bars.from);
  pen.lineTo(x - 6, bars.from + 9);
  pen.lineTo(x + 6, bars.from + 9);
  pen.lineTo(x, bars.from);
  pen.fill();
  if (!Number.isFinite(y)) return;
  circle(pen, x, y, dot + 2.5);
  pen.fillStyle = theme.paper;
  pen.fill();
  circle(pen, x, y, dot + 1);
  pen.fillStyle = theme.query;
  pen.fill();
}

/**
 * A line through places; it breaks where there is none.
 * @param {import('./pen.js').Pen} pen
 * @param {readonly (readonly number[])[]} places
 */
function trace(pen, places) {
  let down = false;
  pen.beginPath();
  for (const [x, y] of places) {
    if (Number.isNaN(y)) down = false;
    else if (down) pen.lineTo(x, y);
    else pen.moveTo(x, y);
    down = !Number.isNaN(y);
  }
  pen.stroke();
}

/**
 * The point nearest to a place, if it is within reach.
 * @param {PlotGeometry} geometry
 * @param {readonly { x: number, y: number }[]} points
 * @param {number} x in CSS pixels
 * @param {number} y
 * @param {number} reach
 * @returns {number | null} its place among the points
 */
export function pointAt({ across, up }, points, x, y, reach) {
  let nearest = null;
  let least = reach * reach;
  points.forEach((point, at) => {
    const [dx, dy] = [placeOf(across, point.x) - x, placeOf(up, point.y) - y];
    const square = dx * dx + dy * dy;
    if (square > least) return;
    least = square;
    nearest = at;
  });
  return nearest;
}

/**
 * What a place on the drawing stands for.
 * @param {PlotGeometry} geometry
 * @param {number} x
 * @param {number} y
 * @returns {[x: number, y: number]}
 */
export function valuesAt({ across, up }, x, y) {
  return [valueAt(across, x), valueAt(up, y)];
}
