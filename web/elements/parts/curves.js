/**
 * Curves over the steps of a training run, on a canvas that fits its room. Where a step can be chosen
 * the canvas is a slider: a click, a drag and the keys choose, the marked step stands as a line, and
 * its numbers are read out above the plot and to screen readers.
 *
 *   const curves = new CurvesView(host, strings, (step) => dispatch(…));
 *   column.append(curves.element);            // then connect() and disconnect() with the figure
 *   curves.show({ name: words.training, steps: 100, marked: 5, first: 1, series: [
 *     { name: words.loss, values: run.losses, log: true },
 *     { name: words.rate, values: run.rates },
 *   ] });
 *
 * Values are kept, not copied: call show() again after they grew. Any number of calls costs one drawing
 * in the next animation frame.
 */
import { drawCurves, layoutCurves, stepAt } from '../../draw/curves.js';
import { fill, short } from '../../draw/format.js';
import { setAttribute } from '../dom.js';
import { Surface } from '../heatmap/surface.js';
import { pictureOf } from '../picture.js';

/**
 * @typedef {object} Curves
 * @property {string} name of the whole, for screen readers
 * @property {(import('../../draw/curves.js').Series & { name: string })[]} series one or two
 * @property {number} steps the last step there is room for, at least 1
 * @property {number} [first] the step of each series' first value, default 0
 * @property {number} marked the step that the figure shows
 * @property {number} [plotHeight] default 120
 */

export class CurvesView {
  /** @type {Curves | null} */
  #curves = null;
  /** @type {number | null} */
  #hovered = null;
  #surface;
  #strings;
  #choose;
  /** @type {import('../../draw/curves.js').CurvesGeometry | null} */
  #geometry = null;

  /**
   * @param {Element} host the element that has adopted the shared tokens
   * @param {import('../../i18n/index.js').Strings} strings
   * @param {(step: number) => void} [choose] without it the curves are only looked at
   */
  constructor(host, strings, choose) {
    this.#strings = strings;
    this.#choose = choose;
    this.#surface = new Surface(host, () => this.#draw());
    this.element = this.#surface.frame;
    this.element.classList.add('curves');
    const { canvas } = this.#surface;
    canvas.setAttribute('role', choose ? 'slider' : 'img');
    canvas.addEventListener('pointermove', (event) => this.#point(event));
    canvas.addEventListener('pointerleave', () => this.#hover(null));
    if (!choose) return;
    canvas.tabIndex = 0;
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.#point(event);
    });
    canvas.addEventListener('keydown', (event) => this.#press(event));
  }

  connect() {
    this.#surface.connect();
  }

  disconnect() {
    this.#surface.disconnect();
  }

  /** @param {Curves} curves */
  show(curves) {
    this.#curves = curves;
    const { name, steps, marked } = curves;
    const { canvas } = this.#surface;
    const said = this.#legend(curves, marked).join(', ');
    setAttribute(canvas, 'aria-label', this.#choose ? name : `${name}: ${said}`);
    if (this.#choose) {
      setAttribute(canvas, 'aria-valuemin', '0');
      setAttribute(canvas, 'aria-valuemax', steps);
      setAttribute(canvas, 'aria-valuenow', marked);
      setAttribute(canvas, 'aria-valuetext', said);
    }
    this.#surface.invalidate();
  }

  /**
   * @param {'png' | 'svg'} format
   * @returns {Promise<Blob>}
   */
  exportAs(format) {
    const curves = this.#curves;
    if (!curves) throw new RangeError('there are no curves to draw');
    return pictureOf(format, curves.name, (ratio) => this.#layout(curves, curves.marked, ratio));
  }

  /**
   * The numbers of a step in words: the step, then one text for each series.
   * @param {Curves} curves
   * @param {number} step
   */
  #legend({ series, first = 0 }, step) {
    const words = this.#strings.curves;
    const values = series.map(({ name, values }) => {
      const value = values[step - first];
      return Number.isNaN(value ?? NaN) ? name : fill(words.value, { name, value: short(value) });
    });
    return [fill(words.step, { step }), ...values];
  }

  /** A legend as wide as its numbers may become: its room is there from the start. @param {Curves} curves */
  #widest({ series, steps }) {
    const words = this.#strings.curves;
    const value = short(-1.23e-5);
    const values = series.map(({ name }) => fill(words.value, { name, value }));
    return [fill(words.step, { step: steps }), ...values];
  }

  /**
   * @param {Curves} curves
   * @param {number} shown the step that the legend reads out
   * @param {number} ratio
   */
  #layout(curves, shown, ratio) {
    const { width, measure, theme } = this.#surface;
    const legend = this.#legend(curves, shown);
    const widest = this.#widest(curves);
    const room = { widest, width: width || 640, measure, theme };
    const geometry = layoutCurves({ ...curves, legend, ...room });
    const { series, marked } = curves;
    /** @param {import('../../draw/pen.js').Pen} pen */
    const draw = (pen, hovered = /** @type {number | null} */ (null)) =>
      drawCurves(pen, { geometry, series, marked, hovered, ratio, theme });
    return { geometry, width: geometry.width, height: geometry.height, draw };
  }

  #draw() {
    const curves = this.#curves;
    if (!curves) return;
    const { pen, ratio } = this.#surface;
    const hovered = this.#hovered === null ? null : Math.min(this.#hovered, curves.steps);
    const { geometry, width, height, draw } = this.#layout(curves, hovered ?? curves.marked, ratio);
    this.#geometry = geometry;
    this.#surface.resize(width, height);
    draw(pen, hovered);
  }

  /** @param {number | null} step */
  #hover(step) {
    if (step === this.#hovered) return;
    this.#hovered = step;
    this.#surface.invalidate();
  }

  /** @param {PointerEvent} event */
  #point({ offsetX, pointerId }) {
    if (!this.#geometry) return;
    const step = stepAt(this.#geometry, offsetX);
    const dragging = this.#surface.canvas.hasPointerCapture(pointerId);
    this.#hover(dragging ? null : step);
    if (dragging) this.#take(step);
  }

  /** @param {number} step */
  #take(step) {
    if (step !== this.#curves?.marked) this.#choose?.(step);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (!this.#curves || event.ctrlKey || event.metaKey || event.altKey) return;
    const { steps, marked } = this.#curves;
    const leap = Math.max(1, Math.round(steps / 10));
    /** @type {Record<string, number>} */
    const places = {
      ArrowLeft: marked - 1,
      ArrowDown: marked - 1,
      ArrowRight: marked + 1,
      ArrowUp: marked + 1,
      PageDown: marked - leap,
      PageUp: marked + leap,
      Home: 0,
      End: steps,
    };
    if (!Object.hasOwn(places, event.key)) return;
    event.preventDefault();
    this.#take(Math.min(steps, Math.max(0, places[event.key])));
  }
}
