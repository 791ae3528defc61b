/**
 * <attention-heatmap>: draws any matrix a page gives it.
 *
 *   <attention-heatmap values="[[0.7, 0.3], [0.1, 0.9]]" rows='["the", "cat"]'
 *     columns='["the", "cat"]' label="Weights"></attention-heatmap>
 *
 * Attributes (JSON where lists) and the properties they set:
 *   values       matrix        nested arrays, null is NaN; or { shape, data, offset?, stride? }
 *   rows         rowLabels     one label a row: a string, or the bytes of a token (Uint8Array)
 *   columns      columnLabels  the same for columns
 *   mask         mask          reasons of masked cells, rows × columns, 0 = not masked; bits: 1 valid
 *                              length, 2 causal, 4 window, 8 own cell, 16 bias of −∞
 *   kind         kind          "weights" (default) or "signed"
 *   range        range         "unit" (default of weights), "largest" (of signed), or [low, high]
 *   palette      palette       "cividis" (default) or "viridis", for weights
 *   label        label         name of the figure
 *   row-axis     rowAxis       name of the row axis, default "query"
 *   column-axis  columnAxis    name of the column axis, default "key"
 *   editable     editable      values can be typed in place
 *   thumbnail    thumbnail     cells only, a picture that cannot be focused
 *
 * Properties without attribute:
 *   edited       [row, column] pairs outlined as edited
 *   outlined     [row, column] pairs with a thin outline, such as what is expected
 *   rowFlags     one number a row: bit 1 no key allowed, bit 2 NaN or +∞
 *   selected     { row, column } or null
 *   highlight    { row?, column? } lit from outside, e.g. by a token under the pointer
 *   strings      other words, see web/i18n/en.js `heatmap`
 *
 * Events (bubbling, composed); detail is { row, column, value, masked } and what is said here:
 *   cellhover    the pointer moved to another cell; detail null when it left
 *   cellselect   the chosen cell changed by pointer, key or focus
 *   cellclick    click, tap, Space, or Enter where nothing can be edited; detail.originalEvent
 *   celledit     a number was typed; detail.value is the new one (null: the edit is taken back),
 *                detail.previous the old one. Unless it is cancelled, the figure shows the number.
 *
 * Setters throw on a value that is wrong by itself; parts that do not fit together are reported in
 * the figure, as are wrong attributes, and the last good figure stays. Data are kept, not copied:
 * set the property again after a change. Any number of changes costs one drawing, in the next
 * animation frame (`await heatmap.updated`). Parts for styling: caption, figure, readout,
 * error.
 */
import { fill, float32, full, short } from '../../draw/format.js';
import { drawHeatmap } from '../../draw/heatmap.js';
import { boxOf, cellAt } from '../../draw/layout.js';
import { languageOf, stringsOf, watchLanguage } from '../../i18n/index.js';
import { adopt } from '../style.js';
import { schemeOf } from '../theme.js';
import { Problem } from './data.js';
import { HeatmapEditor } from './editor.js';
import { Figure } from './figure.js';
import { gridLimit, HeatmapGrid } from './grid.js';
import { blank, byAttribute, flags, properties } from './properties.js';
import { style } from './style.js';
import { Surface } from './surface.js';

/** @typedef {import('./data.js').HeatmapStrings} HeatmapStrings */
/** @typedef {import('./grid.js').Cell} Cell */
/** @typedef {new () => HTMLElement & import('../tag-names.js').HeatmapProperties} Base */

/** Changes that follow each other faster, in milliseconds, are one motion of the reader's hand. */
const REST = 250;

export class AttentionHeatmap extends /** @type {Base} */ (HTMLElement) {
  static observedAttributes = [...Object.keys(byAttribute), ...flags];

  static {
    for (const [name, { check }] of Object.entries(properties)) {
      Object.defineProperty(AttentionHeatmap.prototype, name, {
        /** @this {AttentionHeatmap} */
        get() {
          return /** @type {any} */ (this.#parts)[name];
        },
        /** @this {AttentionHeatmap} */
        set(value) {
          this.#set(name, check ? check(value) : value);
        },
      });
    }
    for (const name of flags) {
      Object.defineProperty(AttentionHeatmap.prototype, name, {
        /** @this {AttentionHeatmap} */
        get() {
          return this.hasAttribute(name);
        },
        /** @this {AttentionHeatmap} */
        set(value) {
          this.toggleAttribute(name, value);
        },
      });
    }
  }

  #root = this.attachShadow({ mode: 'open' });
  #surface = new Surface(
    this,
    () => this.#draw(),
    () => this.#adopt(),
  );
  #grid = new HeatmapGrid();
  #editor = new HeatmapEditor(() => this.#choose(this.#selected, true));
  #caption = document.createElement('p');
  #readout = document.createElement('p');
  #error = document.createElement('p');

  #parts = blank();
  /** @type {Cell | null} */
  #selected = null;
  /** @type {{ row?: number | null, column?: number | null } | null} */
  #highlight = null;
  /** What is wrong, by the property that caused it. @type {Map<string, Problem>} */
  #problems = new Map();
  /** What was last found good. @type {Figure | null} */
  #figure = null;
  #stale = false;
  /** What the canvas shows. @type {Figure | null} */
  #drawn = null;
  /** A copy of the canvas, once it has rested. @type {HTMLCanvasElement | null} */
  #before = null;
  #rest = 0;
  /** @type {import('../../draw/layout.js').Geometry | null} */
  #geometry = null;
  /** @type {Cell | null} */
  #hover = null;
  #focused = false;
  /** @type {() => void} */
  #stopWatching = () => {};

  constructor() {
    super();
    const { frame, canvas } = this.#surface;
    frame.part.add('figure');
    this.#caption.className = 'caption label quiet';
    this.#caption.part.add('caption');
    this.#caption.setAttribute('aria-hidden', 'true');
    this.#readout.className = 'readout figures quiet';
    this.#readout.part.add('readout');
    this.#readout.setAttribute('aria-hidden', 'true');
    this.#error.className = 'error';
    this.#error.part.add('error');
    this.#error.setAttribute('role', 'alert');
    frame.append(this.#editor.input, this.#editor.note);
    this.#root.append(this.#caption, frame, this.#readout, this.#error);
    this.#listen(canvas, this.#grid.element);
  }

  connectedCallback() {
    // A page may have set properties before the element was defined.
    for (const property of [...Object.keys(properties), ...flags, 'selected', 'highlight']) {
      const own = Object.getOwnPropertyDescriptor(this, property);
      if (!own) continue;
      Reflect.deleteProperty(this, property);
      this.#attempt(property, () => Object.assign(this, { [property]: own.value }));
    }
    this.#adopt();
    this.#surface.connect();
    this.#stopWatching = watchLanguage(this, () => this.#changed());
  }

  disconnectedCallback() {
    this.#stopWatching();
    this.#surface.disconnect();
    clearTimeout(this.#rest);
    this.#editor.close();
  }

  /**
   * @param {string} name
   * @param {string | null} _before
   * @param {string | null} text
   */
  attributeChangedCallback(name, _before, text) {
    if (flags.includes(name)) return this.#changed();
    const { name: property, read } = byAttribute[name];
    this.#attempt(property, () =>
      Object.assign(this, { [property]: read ? read(text, name) : text }),
    );
  }

  get selected() {
    return this.#selected;
  }
  set selected(value) {
    this.#selected = value;
    if (value) this.#grid.activate(value, false);
    this.#surface.invalidate();
  }

  get highlight() {
    return this.#highlight;
  }
  set highlight(value) {
    this.#highlight = value;
    this.#surface.invalidate();
  }

  /** Resolves when everything set so far is drawn. */
  get updated() {
    return this.#surface.drawn;
  }

  /** The chosen cell takes the focus, once it is drawn. @override */
  focus() {
    this.updated.then(() => this.#grid.focus());
  }

  /**
   * Where a cell is in the window, in the coordinates of pointer events.
   * @param {number} row
   * @param {number} column
   * @returns {DOMRect | null} null when nothing is drawn
   */
  cellRect(row, column) {
    if (!this.#geometry) return null;
    const { x, y, width, height } = boxOf(this.#geometry, row, column);
    const origin = this.#surface.canvas.getBoundingClientRect();
    return new DOMRect(origin.x + x, origin.y + y, width, height);
  }

  /**
   * The figure as a file: the picture without marks of pointer and choice, or its numbers.
   * @param {'png' | 'svg' | 'csv' | 'json' | 'npy'} format
   * @returns {Promise<Blob>}
   */
  async exportAs(format) {
    if (this.#stale) this.#compose();
    if (!this.#figure) throw new RangeError('attention-heatmap: there is no matrix to export');
    const { width, ratio, measure, theme } = this.#surface;
    return this.#figure.file(format, { width: width || 640, ratio, measure }, theme);
  }

  /** @returns {HeatmapStrings} */
  get #strings() {
    return this.#parts.strings ?? stringsOf(languageOf(this)).heatmap;
  }

  #adopt() {
    adopt(this.#root, schemeOf(this), style);
  }

  /**
   * @param {string} name
   * @param {unknown} value
   */
  #set(name, value) {
    Object.assign(this.#parts, { [name]: value });
    this.#problems.delete(name);
    this.#changed();
  }

  #changed() {
    this.#stale = true;
    this.#surface.invalidate();
  }

  /**
   * Runs a setter; what it finds wrong is shown in the figure instead of thrown.
   * @param {string} property
   * @param {() => void} set
   */
  #attempt(property, set) {
    try {
      set();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#problems.set(property, error);
      this.#changed();
    }
  }

  /** Makes the figure anew when its parts fit; else the last good one stays. */
  #compose() {
    this.#stale = false;
    this.#problems.delete('');
    const { matrix } = this.#parts;
    this.#attempt('', () => {
      const { thumbnail } = this;
      const strings = this.#strings;
      this.#figure = matrix && new Figure({ ...this.#parts, matrix, thumbnail, strings });
    });
    this.#stale = false;
  }

  #draw() {
    if (this.#stale) this.#compose();
    const strings = this.#strings;
    const problems = Array.from(this.#problems.values(), (problem) => problem.say(strings));
    this.#error.textContent = problems.join(' ');

    const surface = this.#surface;
    const { frame, canvas } = surface;
    const figure = this.#figure;
    canvas.hidden = !figure;
    this.#caption.textContent = figure?.parts.label ?? '';
    if (!figure) return;
    const { rows, columns } = figure.parts.matrix;
    const inside = (/** @type {Cell | null} */ cell) =>
      cell && cell.row < rows && cell.column < columns ? cell : null;
    this.#hover = inside(this.#hover);
    const selected = inside(this.#selected);
    const highlight =
      this.#hover ?? this.#highlight ?? (this.#focused ? selected : null) ?? undefined;
    const { geometry, heatmap } = figure.picture(surface, surface.theme, { highlight, selected });
    this.#geometry = geometry;
    surface.resize(geometry.width, geometry.height);
    drawHeatmap(surface.pen, heatmap);
    if (figure !== this.#drawn) this.#fadeOut();
    this.#drawn = figure;

    const told = this.#hover ?? selected;
    this.#readout.textContent = told ? figure.sentence(told.row, told.column, full) : '';
    const summary = fill(strings.summary, { name: figure.name, rows, columns });
    if (this.thumbnail) {
      this.#grid.element.remove();
      canvas.removeAttribute('aria-hidden');
      canvas.setAttribute('role', 'img');
      canvas.setAttribute('aria-label', summary);
      return;
    }
    canvas.removeAttribute('role');
    canvas.removeAttribute('aria-label');
    canvas.setAttribute('aria-hidden', 'true');
    if (!this.#grid.element.isConnected) frame.append(this.#grid.element);
    const large = rows > gridLimit || columns > gridLimit;
    this.#grid.show({
      rows,
      columns,
      name: summary,
      hint: large ? fill(strings.tooLargeForGrid, { rows, columns }) : '',
      editable: this.editable,
      text: (row, column) => figure.sentence(row, column, short),
    });
  }

  /**
   * Lays the picture of the state before over the new one, which is there at once; the style sheet lets
   * it fade, or not where motion is unwanted. The copy is made while nothing happens: no change waits
   * for it, and a drag, which follows the hand, has none.
   */
  #fadeOut() {
    const { canvas, frame } = this.#surface;
    frame.querySelector('.before')?.remove();
    const before = this.#before;
    if (before?.width === canvas.width && before.height === canvas.height) frame.append(before);
    this.#before = null;
    clearTimeout(this.#rest);
    if (this.thumbnail || canvas.width * canvas.height === 0) return;
    this.#rest = window.setTimeout(() => {
      const copy = /** @type {HTMLCanvasElement} */ (canvas.cloneNode());
      copy.getContext('2d')?.drawImage(canvas, 0, 0);
      copy.className = 'before';
      copy.addEventListener('animationend', () => copy.remove());
      this.#before = copy;
    }, REST);
  }

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLElement} grid
   */
  #listen(canvas, grid) {
    const at = (/** @type {MouseEvent} */ event) =>
      this.#geometry && cellAt(this.#geometry, event.offsetX, event.offsetY);
    for (const type of /** @type {const} */ (['pointerdown', 'pointermove'])) {
      canvas.addEventListener(type, (event) => this.#point(at(event)));
    }
    canvas.addEventListener('pointerleave', () => this.#point(null));
    canvas.addEventListener('click', (event) => {
      const cell = at(event);
      if (!cell) return;
      if (!this.#editor.isOpen) this.#choose(cell, !this.thumbnail);
      this.#send('cellclick', cell, { originalEvent: event });
    });
    canvas.addEventListener('dblclick', (event) => {
      const cell = at(event);
      if (cell) this.#edit(cell);
    });

    grid.addEventListener('focusin', (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      this.#focused = true;
      this.#surface.canvas.classList.toggle('focused', target.matches(':focus-visible'));
      this.#choose(this.#grid.cellOf(target), false);
      this.#surface.invalidate();
    });
    grid.addEventListener('focusout', () => {
      this.#focused = false;
      this.#surface.canvas.classList.remove('focused');
      this.#surface.invalidate();
    });
    grid.addEventListener('click', (event) => {
      const cell = this.#grid.cellOf(event.target);
      if (!cell) return;
      this.#choose(cell, true);
      this.#send('cellclick', cell, { originalEvent: event });
    });
    grid.addEventListener('keydown', (event) => this.#press(event));
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const cell = this.#grid.cellOf(event.target);
    if (!cell || event.isComposing) return;
    const { key } = event;
    const to = this.#grid.move(event, cell);
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (to) {
      this.#choose(to, true);
      this.#surface.canvas.classList.add('focused');
    } else if (this.editable && (key === 'Enter' || key === 'F2')) this.#edit(cell);
    else if (this.editable && plain && /^[\d.−-]$/.test(key)) this.#edit(cell, key);
    else if (this.editable && (key === 'Delete' || key === 'Backspace')) this.#take(cell, null);
    else if (key === 'Enter' || key === ' ')
      this.#send('cellclick', cell, { originalEvent: event });
    else return;
    event.preventDefault();
  }

  /** @param {Cell | null} cell under the pointer */
  #point(cell) {
    const before = this.#hover;
    if (before?.row === cell?.row && before?.column === cell?.column) return;
    this.#hover = cell;
    this.#surface.invalidate();
    this.#send('cellhover', cell);
  }

  /**
   * @param {Cell | null} cell
   * @param {boolean} focus
   */
  #choose(cell, focus) {
    if (!cell) return;
    const before = this.#selected;
    this.selected = cell;
    if (focus) this.#grid.activate(cell, true);
    if (before?.row !== cell.row || before?.column !== cell.column) this.#send('cellselect', cell);
  }

  /**
   * Opens the input over a cell.
   * @param {Cell} cell
   * @param {string} [typed]
   */
  #edit(cell, typed) {
    if (!this.editable || this.thumbnail || !this.#geometry || !this.#figure) return;
    const { row, column } = cell;
    const strings = this.#strings;
    const name = fill(strings.editName, { cell: this.#figure.sentence(row, column, short) });
    const text = float32(this.#figure.valueAt(row, column));
    const box = boxOf(this.#geometry, row, column);
    const room = this.#geometry.width;
    this.#editor.open({ box, room, name, text, typed, strings }, (value) =>
      this.#take(cell, value),
    );
  }

  /**
   * A number was typed, or an edit taken back.
   * @param {Cell} cell
   * @param {number | null} value
   */
  #take(cell, value) {
    if (this.#stale) this.#compose();
    const figure = this.#figure;
    if (!figure) return;
    const { row, column } = cell;
    const others = this.#parts.edited.filter(([y, x]) => y !== row || x !== column);
    if (value === null && others.length === this.#parts.edited.length) return;
    const previous = figure.valueAt(row, column);
    if (!this.#send('celledit', cell, { value, previous })) return;
    if (value === null) return this.#set('edited', others);
    const { rows, columns } = figure.parts.matrix;
    const data = figure.numbers();
    data[row * columns + column] = value;
    this.#set('matrix', { rows, columns, data });
    this.#set('edited', [...others, [row, column]]);
  }

  /**
   * @param {string} type
   * @param {Cell | null} cell
   * @param {object} [more]
   * @returns {boolean} false when a listener cancelled it
   */
  #send(type, cell, more = {}) {
    const figure = this.#figure;
    const detail = cell &&
      figure && {
        ...cell,
        value: figure.valueAt(cell.row, cell.column),
        masked: figure.maskAt(cell.row, cell.column),
        ...more,
      };
    const options = { bubbles: true, composed: true, cancelable: type === 'celledit', detail };
    return this.dispatchEvent(new CustomEvent(type, options));
  }
}

/** Registers the element, once however often the script is included. */
export function defineHeatmap() {
  if (!customElements.get('attention-heatmap')) {
    customElements.define('attention-heatmap', AttentionHeatmap);
  }
}
