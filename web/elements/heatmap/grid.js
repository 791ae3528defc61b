/**
 * The heatmap for people who do not see it, and for everyone's keyboard: a grid of real cells
 * behind the canvas, each with a sentence as its name ("query cat → key sat: 0.42, masked:
 * causal"). Focus moves over its cells, one Tab stop for the whole grid.
 *
 * Up to 64 × 64 every cell exists; above that only the chosen one, which still lets arrow keys read
 * the whole matrix out one by one. After a change the words are written a moment later, or at once
 * when the grid is used, so that they never delay a repaint.
 */

/**
 * @typedef {object} GridContent
 * @property {number} rows
 * @property {number} columns
 * @property {string} name
 * @property {string} hint what is said of a matrix that is too large, else ''
 * @property {boolean} editable
 * @property {(row: number, column: number) => string} text
 */

export const gridLimit = 64;
const page = 8;
const delay = 100;

/** @typedef {{ row: number, column: number }} Cell */

export class HeatmapGrid {
  element = document.createElement('div');
  /** @type {GridContent | null} */
  #content = null;
  /** @type {Cell} */
  #active = { row: 0, column: 0 };
  #timer = 0;
  #built = '';

  constructor() {
    this.element.className = 'unseen';
    this.element.setAttribute('role', 'grid');
  }

  /** @param {GridContent} content */
  show(content) {
    this.#content = content;
    if (this.#built === '') this.#write();
    else this.#timer ||= window.setTimeout(() => this.#write(), delay);
  }

  /**
   * The chosen cell becomes the Tab stop.
   * @param {Cell} cell
   * @param {boolean} focus
   */
  activate(cell, focus) {
    const before = this.#find(this.#active);
    this.#active = { ...cell };
    if (focus || this.#timer || !this.#complete) this.#write();
    else this.#mark();
    const now = this.#find(cell);
    if (focus) now?.focus({ preventScroll: true });
    // Only now: a cell that loses its tabindex while it has the focus would drop it.
    if (before === now) return;
    before?.removeAttribute('tabindex');
    before?.removeAttribute('aria-selected');
  }

  /** The chosen cell takes the focus. */
  focus() {
    this.activate(this.#active, true);
  }

  /**
   * @param {EventTarget | null} target
   * @returns {Cell | null} the cell an event happened on
   */
  cellOf(target) {
    const cell = target instanceof Element ? target.closest('[role=gridcell]') : null;
    if (!cell || !this.element.contains(cell)) return null;
    const row = Number(cell.parentElement?.getAttribute('aria-rowindex')) - 1;
    return { row, column: Number(cell.getAttribute('aria-colindex')) - 1 };
  }

  /**
   * Where a key leads from a cell.
   * @param {KeyboardEvent} event
   * @param {Cell} from
   * @returns {Cell | null} null when the key is no move
   */
  move(event, { row, column }) {
    if (!this.#content) return null;
    const lastRow = this.#content.rows - 1;
    const lastColumn = this.#content.columns - 1;
    const all = event.ctrlKey || event.metaKey;
    /** @type {Record<string, Cell>} */
    const moves = {
      ArrowUp: { row: row - 1, column },
      ArrowDown: { row: row + 1, column },
      ArrowLeft: { row, column: column - 1 },
      ArrowRight: { row, column: column + 1 },
      Home: { row: all ? 0 : row, column: 0 },
      End: { row: all ? lastRow : row, column: lastColumn },
      PageUp: { row: row - page, column },
      PageDown: { row: row + page, column },
    };
    const to = moves[event.key];
    if (!to || event.altKey) return null;
    const clamp = (/** @type {number} */ at, /** @type {number} */ last) =>
      Math.max(0, Math.min(last, at));
    return { row: clamp(to.row, lastRow), column: clamp(to.column, lastColumn) };
  }

  get #complete() {
    const { rows = 0, columns = 0 } = this.#content ?? {};
    return rows <= gridLimit && columns <= gridLimit;
  }

  #write() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (!this.#content) return;
    const { rows, columns, name, hint, editable, text } = this.#content;
    const { element } = this;
    element.hidden = rows === 0 || columns === 0;
    element.setAttribute('aria-label', hint ? `${name}. ${hint}` : name);
    element.setAttribute('aria-rowcount', String(rows));
    element.setAttribute('aria-colcount', String(columns));
    element.setAttribute('aria-readonly', String(!editable));
    if (element.hidden) return;

    this.#active.row = Math.min(this.#active.row, rows - 1);
    this.#active.column = Math.min(this.#active.column, columns - 1);
    const [firstRow, firstColumn, high, wide] = this.#complete
      ? [0, 0, rows, columns]
      : [this.#active.row, this.#active.column, 1, 1];
    const focused = this.#build(high, wide);
    for (const [y, line] of [...element.children].entries()) {
      line.setAttribute('aria-rowindex', String(firstRow + y + 1));
      for (const [x, cell] of [...line.children].entries()) {
        cell.setAttribute('aria-colindex', String(firstColumn + x + 1));
        const words = text(firstRow + y, firstColumn + x);
        if (cell.textContent !== words) cell.textContent = words;
      }
    }
    this.#mark();
    if (focused) this.#find(this.#active)?.focus({ preventScroll: true });
  }

  /**
   * @param {number} high
   * @param {number} wide
   * @returns {boolean} whether the focus went with the cells that were there
   */
  #build(high, wide) {
    const size = `${high} ${wide}`;
    if (size === this.#built) return false;
    this.#built = size;
    const root = /** @type {ShadowRoot | Document} */ (this.element.getRootNode());
    const focused = this.element.contains(root.activeElement);
    this.element.replaceChildren(
      ...Array.from({ length: high }, () => {
        const line = document.createElement('div');
        line.setAttribute('role', 'row');
        line.append(
          ...Array.from({ length: wide }, () => {
            const cell = document.createElement('div');
            cell.setAttribute('role', 'gridcell');
            return cell;
          }),
        );
        return line;
      }),
    );
    return focused;
  }

  #mark() {
    const cell = this.#find(this.#active);
    cell?.setAttribute('tabindex', '0');
    cell?.setAttribute('aria-selected', 'true');
  }

  /**
   * @param {Cell} cell
   * @returns {HTMLElement | undefined}
   */
  #find({ row, column }) {
    const [y, x] = this.#complete ? [row, column] : [0, 0];
    return /** @type {HTMLElement | undefined} */ (this.element.children[y]?.children[x]);
  }
}
