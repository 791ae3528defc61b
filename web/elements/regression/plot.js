/**
 * The plot: points that can be dragged, the curve predicted from them, and the query's line.
 *
 * The canvas draws; above it lies one slider for each point and one for the query, so that keys and
 * screen readers reach what a pointer does. A pointer takes the point nearest to it, or else the query,
 * whatever lies on top; a finger that moves up or down beside the points scrolls the page.
 */
import { placeOf } from '../../draw/axis.js';
import { fill, short } from '../../draw/format.js';
import { drawPlot, layoutPlot, pointAt, valuesAt } from '../../draw/regression.js';
import { freshId, h, list, setAttribute, setText } from '../dom.js';
import { Surface } from '../heatmap/surface.js';
import { pictureOf } from '../picture.js';

/**
 * @typedef {import('../../lessons/kernel-regression-view.js').Result} Result
 * @typedef {import('../parts/controls.js').Context<
 *   import('../../lessons/index.js').KernelRegression>} Context
 * @typedef {{ query: number | null, place: number | null }} Looked what is pointed at anywhere in the
 *   figure: a query other than the chosen one, a point by its place from the left
 */

/** How near a pointer must be to a point, in CSS pixels. */
const REACH = 14;
/** Of an arrow key, and with Shift. */
const [STEP, LEAP] = [0.05, 0.5];
const QUERY_LEAP = 25;

export class PlotView {
  #context;
  #look;
  #surface;
  /** @type {Result | null} */
  #result = null;
  /** @type {import('../../draw/regression.js').PlotGeometry | null} */
  #geometry = null;
  /** @type {Looked} */
  #looked = { query: null, place: null };
  /** The point that keys and the button act on, by its index in the state. @type {number | null} */
  #chosen = null;
  /** A point that is on its way into the state. */
  #awaited = false;
  /** What a pointer holds: a point and how far from its middle, or the query.
   * @type {{ index: number, dx: number, dy: number } | 'query' | null} */
  #held = null;
  #handles = h('div', { class: 'handles', role: 'group' });
  #query = h('div', { class: 'handle', role: 'slider', tabIndex: 0 });
  #said = h('p', { class: 'unseen', role: 'status' });
  #add;
  #remove;
  #note = h('p', { class: 'note', role: 'status' });

  /**
   * @param {Context} context
   * @param {(looked: Partial<Looked>) => void} look
   */
  constructor(context, look) {
    const { host, strings } = context;
    const words = strings.regression;
    this.#context = context;
    this.#look = look;
    this.#surface = new Surface(host, () => this.#draw());
    this.#surface.canvas.setAttribute('aria-hidden', 'true');
    const help = h('p', { hidden: true, id: freshId() }, words.pointHelp);
    setAttribute(this.#handles, 'aria-label', words.points);
    setAttribute(this.#handles, 'aria-describedby', help.id);
    setAttribute(this.#query, 'aria-label', words.query);
    const { frame } = this.#surface;
    frame.classList.add('plot');
    frame.append(this.#handles, this.#query);
    /** @param {string} name @param {() => void} act */
    const button = (name, act) => h('button', { type: 'button', class: 'act', onclick: act }, name);
    this.#add = button(words.add, () => this.#addHere());
    this.#add.title = words.addHelp;
    this.#remove = button(words.remove, () => this.#removeChosen());
    this.element = h(
      'div',
      { role: 'group', 'aria-label': words.plot },
      frame,
      h('div', { class: 'acts' }, this.#add, this.#remove),
      h('p', { class: 'note' }, words.hint),
      this.#note,
      help,
      this.#said,
    );
    this.#listen(frame);
  }

  connect() {
    this.#surface.connect();
  }

  disconnect() {
    this.#surface.disconnect();
  }

  /** @param {{ result: Result | null }} model */
  update({ result }) {
    if (!result) return;
    this.#result = result;
    const { points } = result.state;
    if (this.#chosen !== null) this.#chosen = Math.min(this.#chosen, points.length - 1);
    setAttribute(this.#add, 'aria-disabled', points.length === this.#context.lesson.MAX_POINTS);
    this.#describe(result);
    if (this.#awaited) this.#handle(this.#chosen ?? 0).focus();
    this.#awaited = false;
    this.#surface.invalidate();
  }

  /** @param {Looked} looked */
  light(looked) {
    this.#looked = looked;
    this.#surface.invalidate();
  }

  /**
   * @param {'png' | 'svg'} format
   * @returns {Promise<Blob>}
   */
  picture(format) {
    const result = this.#result;
    if (!result) throw new RangeError('there is no curve to draw');
    const nothing = { query: null, place: null };
    const { plot } = this.#context.strings.regression;
    return pictureOf(format, plot, (ratio) => this.#layout(result, nothing, null, ratio));
  }

  /**
   * The sliders' words and numbers, one for each point in the order of the state.
   * @param {Result} result
   */
  #describe(result) {
    const { lesson, strings } = this.#context;
    const words = strings.regression;
    const { points, query } = result.state;
    const sorted = lesson.pointsOf(result);
    const weights = lesson.weightsOf(result, query);
    const places = new Map(sorted.map(({ index }, place) => [index, place]));
    list(
      this.#handles,
      points,
      () => h('div', { class: 'handle', role: 'slider' }),
      (handle, /** @type {readonly number[]} */ [x, y], index) => {
        const place = Number(places.get(index));
        const weight = short(weights[place]);
        handle.tabIndex = index === (this.#chosen ?? sorted[0].index) ? 0 : -1;
        const name = fill(words.pointName, { place: place + 1, count: points.length });
        setAttribute(handle, 'aria-label', name);
        setAttribute(handle, 'aria-valuemin', lesson.box[0][1]);
        setAttribute(handle, 'aria-valuemax', lesson.box[1][1]);
        setAttribute(handle, 'aria-valuenow', y);
        const said = fill(words.pointValue, { x: short(x), y: short(y), weight });
        setAttribute(handle, 'aria-valuetext', said);
      },
    );
    setAttribute(this.#remove, 'aria-disabled', this.#chosen === null || points.length === 1);
    const { x, prediction, empty } = lesson.readQuery(result, query);
    const values = { x: short(x), prediction: short(prediction) };
    setAttribute(this.#query, 'aria-valuemin', 0);
    setAttribute(this.#query, 'aria-valuemax', lesson.box[1][0]);
    setAttribute(this.#query, 'aria-valuenow', x);
    const said = fill(empty ? words.queryEmpty : words.queryValue, values);
    setAttribute(this.#query, 'aria-valuetext', said);
  }

  /**
   * @param {Result} result
   * @param {Looked} looked
   * @param {number | null} chosen
   * @param {number} ratio
   */
  #layout(result, looked, chosen, ratio) {
    const { lesson, strings } = this.#context;
    const { measure, theme, width } = this.#surface;
    const { truth, query } = result.state;
    const geometry = layoutPlot({
      box: lesson.box,
      largest: lesson.largestWeight(result),
      names: strings.regression,
      truth,
      width: width || 640,
      measure,
      theme,
    });
    const shown = looked.query ?? query;
    const { x, prediction, empty } = lesson.readQuery(result, shown);
    const points = lesson.pointsOf(result);
    const plot = {
      geometry,
      points,
      weights: lesson.weightsOf(result, shown),
      curve: lesson.curveOf(result),
      truth,
      query: x,
      prediction: empty ? NaN : prediction,
      lit: looked.place,
      chosen: chosen === null ? null : points.findIndex(({ index }) => index === chosen),
      ratio,
      theme,
    };
    /** @param {import('../../draw/pen.js').Pen} pen */
    const draw = (pen) => drawPlot(pen, plot);
    return { geometry, width: geometry.width, height: geometry.height, draw };
  }

  #draw() {
    const result = this.#result;
    if (!result) return;
    const { pen, ratio } = this.#surface;
    const { geometry, width, height, draw } = this.#layout(
      result,
      this.#looked,
      this.#chosen,
      ratio,
    );
    this.#geometry = geometry;
    this.#surface.resize(width, height);
    draw(pen);
    const { across, up, bars } = geometry;
    const { points, query } = result.state;
    for (const [index, [x, y]] of points.entries()) {
      const { style } = this.#handle(index);
      style.left = `${placeOf(across, x)}px`;
      style.top = `${placeOf(up, y)}px`;
    }
    this.#query.style.left = `${placeOf(across, this.#context.lesson.placeOfQuery(query))}px`;
    this.#query.style.top = `${bars.from + 5}px`;
  }

  /** @param {HTMLElement} frame */
  #listen(frame) {
    frame.addEventListener('mousedown', (event) => event.preventDefault());
    frame.addEventListener('pointerdown', (event) => this.#take(event));
    frame.addEventListener('pointermove', (event) => this.#move(event));
    frame.addEventListener('pointerup', (event) => this.#release(event));
    frame.addEventListener('pointercancel', () => (this.#held = null));
    frame.addEventListener('pointerleave', () => this.#look({ place: null }));
    frame.addEventListener('dblclick', (event) => {
      const at = this.#under(event);
      if (at && at.place === null) this.#addAt(at.x, at.y, true);
    });
    this.#handles.addEventListener('focusin', ({ target }) => {
      this.#choose([...this.#handles.children].indexOf(/** @type {Element} */ (target)));
    });
    this.#handles.addEventListener('keydown', (event) => this.#pressPoint(event));
    this.#query.addEventListener('keydown', (event) => this.#pressQuery(event));
  }

  /** @param {number} index */
  #handle(index) {
    return /** @type {HTMLElement} */ (this.#handles.children[index]);
  }

  /** @param {number | null} index */
  #choose(index) {
    this.#chosen = index;
    if (this.#result) this.#describe(this.#result);
    this.#surface.invalidate();
  }

  /**
   * What is under a pointer: the values there, and a point if one is near.
   * @param {MouseEvent} event
   */
  #under({ clientX, clientY }) {
    if (!this.#geometry || !this.#result) return null;
    const origin = this.#surface.canvas.getBoundingClientRect();
    const [left, top] = [clientX - origin.x, clientY - origin.y];
    const points = this.#context.lesson.pointsOf(this.#result);
    const place = pointAt(this.#geometry, points, left, top, REACH);
    const [x, y] = valuesAt(this.#geometry, left, top);
    return { x, y, place, point: place === null ? null : points[place] };
  }

  /** @param {PointerEvent} event */
  #take(event) {
    const at = this.#under(event);
    if (!at || event.button !== 0) return;
    this.#surface.frame.setPointerCapture(event.pointerId);
    if (!at.point) {
      this.#held = 'query';
      this.#choose(null);
      this.#query.focus({ preventScroll: true });
      if (event.pointerType !== 'touch') this.#ask(at.x);
      return;
    }
    const { index, x, y } = at.point;
    this.#held = { index, dx: x - at.x, dy: y - at.y };
    this.#handle(index).focus({ preventScroll: true });
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const at = this.#under(event);
    if (!at) return;
    const held = this.#held;
    if (held === 'query') this.#ask(at.x);
    else if (held) this.#drag(held.index, [at.x + held.dx, at.y + held.dy]);
    else {
      this.#surface.frame.classList.toggle('near', at.place !== null);
      this.#look({ place: at.place });
    }
  }

  /** @param {PointerEvent} event */
  #release(event) {
    const at = this.#under(event);
    if (at && this.#held === 'query') this.#ask(at.x);
    this.#held = null;
  }

  /** @param {number} x */
  #ask(x) {
    const query = this.#context.lesson.queryAt(x);
    this.#context.dispatch({ type: 'set', values: { query } });
  }

  /**
   * @param {number} index
   * @param {import('../../lessons/kernel-regression.js').Point} to
   */
  #drag(index, to) {
    this.#context.dispatch({ type: 'move', index, to }, `point ${index}`);
  }

  /** @param {KeyboardEvent} event */
  #pressPoint(event) {
    if (!this.#result || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key, shiftKey } = event;
    const by = shiftKey ? LEAP : STEP;
    /** @type {Record<string, [dx: number, dy: number]>} */
    const moves = {
      ArrowLeft: [-by, 0],
      ArrowRight: [by, 0],
      ArrowUp: [0, by],
      ArrowDown: [0, -by],
    };
    const sorted = this.#context.lesson.pointsOf(this.#result);
    const place = sorted.findIndex(({ index }) => index === this.#chosen);
    /** @type {Record<string, number>} */
    const places = {
      PageUp: place - 1,
      PageDown: place + 1,
      Home: 0,
      End: sorted.length - 1,
    };
    if (Object.hasOwn(moves, key)) {
      const [dx, dy] = moves[key];
      const { index, x, y } = sorted[place];
      this.#drag(index, [x + dx, y + dy]);
    } else if (Object.hasOwn(places, key)) {
      const to = sorted[Math.min(sorted.length - 1, Math.max(0, places[key]))];
      this.#handle(to.index).focus();
    } else if (key === 'Delete' || key === 'Backspace') {
      this.#removeChosen();
      this.#awaited = true;
    } else return;
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  #pressQuery(event) {
    if (!this.#result || event.ctrlKey || event.metaKey || event.altKey) return;
    const { query } = this.#result.state;
    const by = event.shiftKey ? QUERY_LEAP : 1;
    const last = this.#context.lesson.QUERIES - 1;
    /** @type {Record<string, number>} */
    const places = {
      ArrowLeft: query - by,
      ArrowDown: query - by,
      ArrowRight: query + by,
      ArrowUp: query + by,
      PageDown: query - QUERY_LEAP,
      PageUp: query + QUERY_LEAP,
      Home: 0,
      End: last,
    };
    if (!Object.hasOwn(places, event.key)) return;
    event.preventDefault();
    const to = Math.min(last, Math.max(0, places[event.key]));
    this.#context.dispatch({ type: 'set', values: { query: to } });
  }

  #addHere() {
    if (!this.#result) return;
    const { lesson } = this.#context;
    const { query } = this.#result.state;
    this.#addAt(lesson.placeOfQuery(query), lesson.valueToAdd(this.#result, query), false);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {boolean} focus
   */
  #addAt(x, y, focus) {
    if (!this.#result) return;
    const { lesson, strings, dispatch } = this.#context;
    const words = strings.regression;
    const { length } = this.#result.state.points;
    const full = length === lesson.MAX_POINTS;
    setText(this.#note, full ? fill(words.full, { most: lesson.MAX_POINTS }) : '');
    if (full) return;
    this.#chosen = length;
    this.#awaited = focus;
    setText(this.#said, fill(words.added, { x: short(x), y: short(y) }));
    dispatch({ type: 'add', to: [x, y] });
  }

  #removeChosen() {
    if (!this.#result || this.#chosen === null) return;
    const { strings, dispatch } = this.#context;
    const { length } = this.#result.state.points;
    setText(this.#note, '');
    if (length > 1) setText(this.#said, fill(strings.regression.removed, { count: length - 1 }));
    dispatch({ type: 'remove', index: this.#chosen });
  }
}
