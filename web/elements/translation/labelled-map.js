/**
 * A small map with its tokens along the sides. The labels are text beside the canvas: they are written
 * when the sentence changes, and a map that is painted ten times a second lays nothing out.
 */
import { tokenLabel } from '../../draw/format.js';
import { h, list, setText } from '../dom.js';
import { MiniMap } from '../heatmap/mini-map.js';

/** Signs that stand upright in a column: Chinese, Japanese, Korean. */
const UPRIGHT = /[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]/;

/** What a label takes across its line, in CSS pixels. */
const LINE = 10;

export class LabelledMap {
  #map = new MiniMap();
  #across = h('span', { class: 'across', 'aria-hidden': 'true' });
  #down = h('span', { class: 'down', 'aria-hidden': 'true' });

  /** @param {HTMLButtonElement} [button] that the cells are to be the face of */
  constructor(button) {
    button?.append(this.#map.element);
    const cells = button ?? this.#map.element;
    this.element = h('span', { class: 'labelled' }, this.#across, this.#down, cells);
  }

  /**
   * @param {import('../heatmap/mini-map.js').Picture} picture
   * @param {{ rows: readonly string[], columns: readonly string[], marked?: number | null }} labels
   *   marked: a row that is pointed out
   * @param {number} size in CSS pixels of the cells' square
   * @param {import('../theme.js').Theme} theme
   * @param {number} [leastRow] height of a row in CSS pixels, also where the square is left
   */
  paint(picture, { rows, columns, marked = null }, size, theme, leastRow) {
    this.#map.paint(picture, size, theme, leastRow);
    const { style } = this.#map.canvas;
    write(this.#across, columns, style.width);
    write(this.#down, rows, style.height);
    const { element } = this.#map;
    element.classList.toggle('marked', marked !== null);
    element.style.setProperty('--rows', String(picture.matrix.rows));
    element.style.setProperty('--row', String(marked ?? -1));
  }
}

/**
 * @param {HTMLElement} side
 * @param {readonly string[]} labels
 * @param {string} length of the side; short of room, labels are left out, and the others reach over to
 *   the places of those
 */
function write(side, labels, length) {
  const room = Number.parseFloat(length) / labels.length;
  const every = Math.max(1, Math.ceil(LINE / room));
  side.style.setProperty('--length', length);
  side.style.setProperty('--room', `${room}px`);
  list(
    side,
    labels,
    () => h('span'),
    (span, label, at) => {
      setText(span, at % every === 0 ? tokenLabel(label) : '');
      span.classList.toggle('upright', UPRIGHT.test(label));
    },
  );
}
