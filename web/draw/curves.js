/**
 * One or two numbers over the steps of a training run, such as its loss and its learning rate, each
 * with an axis of its own: the first at the left, the second at the right.
 *
 *     step 40   ─ loss 2.31   ─ learning rate 0.005
 *   8 ┤╲      │                                  ├ 0.01
 *   4 ┤ ╲_    │ the marked step                  │
 *   0 ┤   ‾‾‾‾●‾‾‾‾‾‾‾──────────────             ├ 0
 *     └┬──────┴┬────────┬────────┬───────────────┘
 *      0      50       100      150
 *
 * A run of many thousand steps is drawn as a pen of one device pixel would leave it: of each column of
 * pixels the first, the lowest, the highest and the last value, so that no peak is lost.
 */
import { placeOf, ticks, valueAt } from './axis.js';
import { drawCaption, layoutCaption } from './caption.js';
import { short } from './format.js';
import { figureSize } from './layout.js';
import { circle, write } from './pen.js';

/** @typedef {import('./layout.js').Measure} Measure */
/** @typedef {import('./axis.js').Axis} Axis */

/**
 * @typedef {object} Series
 * @property {ArrayLike<number>} values one a step; what is not finite, or not above 0 on a logarithmic
 *   axis, leaves a gap
 * @property {boolean} [log] drawn on a logarithmic axis
 */

/**
 * @typedef {object} CurvesOptions
 * @property {readonly Series[]} series one or two
 * @property {readonly string[]} legend the step read out, then one text for each series
 * @property {readonly string[]} [widest] a legend that needs as much room as any, default this one
 * @property {number} steps the last step there is room for, at least 1
 * @property {number} [first] the step of each series' first value, default 0
 * @property {number} width what is available
 * @property {number} [plotHeight] default 120
 * @property {Measure} measure
 * @property {{ font: string, mono: string }} theme
 */

/**
 * @typedef {object} CurvesGeometry
 * @property {number} width
 * @property {number} height
 * @property {number} first
 * @property {Axis} across the steps
 * @property {number[]} written steps below the plot
 * @property {{ axis: Axis, written: number[] }[]} up one for each series
 * @property {number} top of the plot
 * @property {number} bottom
 * @property {import('./caption.js').Placed[]} legend
 */

const gap = 8;
const footHeight = 22;
/** Room that one number of an axis wants. */
const [tickWidth, tickHeight] = [72, 32];
/** What the numbers at both sides take of the legend's width, about. */
const margins = 64;
const dot = 3.5;

/**
 * @param {CurvesOptions} options
 * @returns {CurvesGeometry}
 */
export function layoutCurves(options) {
  const { series, steps, first = 0, width, plotHeight = 120, measure, theme } = options;
  const signs = /** @type {const} */ ([undefined, 'line', 'thin']);
  const captions = [options.legend, options.widest ?? []].map((texts) => {
    const items = texts.map((text, at) => ({ text, sign: signs[at] }));
    return layoutCaption(items, width - margins, measure, theme);
  });
  const top = Math.max(...captions.map(({ height }) => height)) + gap;
  const bottom = top + plotHeight;
  const up = series.map(({ values, log = false }) => {
    const axis = { ...extent(values, log), log, from: bottom, to: top };
    return { axis, written: ticks(axis, Math.floor(plotHeight / tickHeight)) };
  });
  const mono = `${figureSize}px ${theme.mono}`;
  const margin = (/** @type {number} */ side) =>
    (up[side]?.written ?? []).reduce(
      (most, tick) => Math.max(most, Math.ceil(measure(short(tick), mono)) + gap),
      gap,
    );
  const across = { low: 0, high: steps, from: margin(0), to: width - margin(1) };
  const room = Math.max(1, Math.floor((across.to - across.from) / tickWidth));
  return {
    width,
    height: bottom + footHeight,
    first,
    across,
    written: ticks(across, room).filter(Number.isInteger),
    up,
    top,
    bottom,
    legend: captions[0].placed,
  };
}

/**
 * The ends of an axis that holds the values; it starts at 0 where it is not logarithmic.
 * @param {ArrayLike<number>} values
 * @param {boolean} log
 */
function extent(values, log) {
  let [low, high] = log ? [Infinity, 0] : [0, -Infinity];
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (!Number.isFinite(value) || (log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (high > low) return { low, high };
  if (!log) return { low, high: low + 1 };
  return high > 0 ? { low: high / 2, high: high * 2 } : { low: 0.1, high: 1 };
}

/**
 * @param {import('./pen.js').Pen} pen
 * @param {object} curves
 * @param {CurvesGeometry} curves.geometry
 * @param {readonly Series[]} curves.series
 * @param {number | null} [curves.marked] the step that is chosen
 * @param {number | null} [curves.hovered] the step that is pointed at
 * @param {number} [curves.ratio] device pixels in a CSS pixel
 * @param {import('./pen.js').Theme} curves.theme
 */
export function drawCurves(pen, curves) {
  const { geometry, series, marked = null, hovered = null, ratio = 1, theme } = curves;
  const { width, height, first, across, up, top, bottom } = geometry;
  const inks = [theme.key, theme.quiet];
  const sharp = (/** @type {number} */ place) => (Math.floor(place * ratio) + 0.5) / ratio;

  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = theme.paper;
  pen.fillRect(0, 0, width, height);
  pen.lineWidth = 1 / ratio;
  pen.font = `${figureSize}px ${theme.mono}`;
  pen.fillStyle = theme.quiet;
  pen.strokeStyle = theme.hairline;
  up.forEach(({ axis, written }, side) => {
    pen.textAlign = side === 0 ? 'right' : 'left';
    for (const tick of written) {
      const y = sharp(placeOf(axis, tick));
      if (side === 0) stroke(pen, across.from, y, across.to, y);
      write(pen, short(tick), side === 0 ? across.from - gap : across.to + gap, y, figureSize);
    }
  });
  stroke(pen, across.from, sharp(bottom), across.to, sharp(bottom));
  for (const step of geometry.written) {
    const x = placeOf(across, step);
    stroke(pen, sharp(x), bottom, sharp(x), bottom + 4);
    pen.textAlign = step === 0 ? 'left' : x + tickWidth / 3 > width ? 'right' : 'center';
    write(pen, short(step), x, bottom + 14, figureSize);
  }

  series.forEach(({ values }, side) => {
    pen.strokeStyle = inks[side];
    pen.fillStyle = inks[side];
    pen.lineWidth = side === 0 ? 1.75 : 1.25;
    trace(pen, columns(geometry, side, values, ratio));
  });
  pen.lineWidth = 1 / ratio;
  for (const [step, ink] of /** @type {const} */ ([
    [hovered, theme.quiet],
    [marked, theme.query],
  ])) {
    if (step === null) continue;
    const x = sharp(placeOf(across, step));
    pen.strokeStyle = ink;
    stroke(pen, x, top, x, bottom);
  }
  const shown = hovered ?? marked;
  series.forEach(({ values }, side) => {
    const y = shown === null ? NaN : placeOf(up[side].axis, values[shown - first]);
    if (!Number.isFinite(y)) return;
    pen.fillStyle = inks[side];
    circle(pen, placeOf(across, Number(shown)), y, dot);
    pen.fill();
  });

  drawCaption(pen, geometry.legend, across.from, inks, theme);
}

/**
 * @param {import('./pen.js').Pen} pen
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 */
function stroke(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

/**
 * The places of a series up to the last step there is room for, one column of device pixels after the
 * other; null where the line breaks.
 * @param {CurvesGeometry} geometry
 * @param {number} side
 * @param {ArrayLike<number>} values
 * @param {number} ratio
 * @returns {Generator<[x: number, y: number] | null>}
 */
export function* columns({ across, up, first }, side, values, ratio) {
  const { axis } = up[side];
  const end = Math.min(values.length, across.high - first + 1);
  for (let at = 0; at < end; ) {
    const x = placeOf(across, first + at);
    const column = Math.floor(x * ratio);
    const y = placeOf(axis, values[at]);
    at += 1;
    if (!Number.isFinite(y)) {
      yield null;
      continue;
    }
    let [top, bottom, last] = [y, y, y];
    for (; at < end; at++) {
      const next = placeOf(axis, values[at]);
      if (Math.floor(placeOf(across, first + at) * ratio) !== column || !Number.isFinite(next))
        break;
      [top, bottom, last] = [Math.min(top, next), Math.max(bottom, next), next];
    }
    yield [x, y];
    if (top < Math.min(y, last)) yield [x, top];
    if (bottom > Math.max(y, last)) yield [x, bottom];
    if (last !== y) yield [x, last];
  }
}

/**
 * Draws places as lines, and as a dot where one stands alone.
 * @param {import('./pen.js').Pen} pen
 * @param {Iterable<[x: number, y: number] | null>} places
 */
function trace(pen, places) {
  const alone = /** @type {[x: number, y: number][]} */ ([]);
  /** @type {[x: number, y: number] | null} */
  let start = null;
  let length = 0;
  pen.beginPath();
  for (const place of places) {
    if (place && length === 0) pen.moveTo(...place);
    else if (place) pen.lineTo(...place);
    else if (start && length === 1) alone.push(start);
    if (length === 0) start = place;
    length = place ? length + 1 : 0;
  }
  if (start && length === 1) alone.push(start);
  pen.stroke();
  for (const [x, y] of alone) pen.fillRect(x - 1.5, y - 1.5, 3, 3);
}

/**
 * The step nearest to a place.
 * @param {CurvesGeometry} geometry
 * @param {number} x
 */
export function stepAt({ across }, x) {
  const step = Math.round(valueAt(across, x));
  return Math.min(across.high, Math.max(across.low, step));
}
