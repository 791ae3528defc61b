/**
 * Attention as arcs between two columns of tokens, on a canvas that fits its room. Pointing at a token
 * or a curve lights it, here and in the maps.
 */
import { arcAt, drawArcs, layoutArcs } from '../../draw/arcs.js';
import { tokenLabel } from '../../draw/format.js';
import { Surface } from '../heatmap/surface.js';
import { pictureOf } from '../picture.js';

/** @typedef {import('./token-editor.js').Pointed} Pointed */

/**
 * @typedef {object} Arcs
 * @property {import('../../draw/colour.js').Matrix} matrix
 * @property {ArrayLike<number> | null} masked
 * @property {number} largest the weight that gets the widest curve
 * @property {readonly string[]} queries
 * @property {readonly string[]} keys
 * @property {string} rowAxis
 * @property {string} columnAxis
 * @property {string} name
 * @property {ArrayLike<number> | null} rowFlags
 */

export class ArcsView {
  /** @type {Arcs | null} */
  #arcs = null;
  /** @type {Pointed} */
  #pointed = {};
  #surface;
  /** @type {import('../../draw/arcs.js').ArcsGeometry | null} */
  #geometry = null;

  /**
   * @param {Element} host the element that has adopted the shared tokens
   * @param {(pointed: Pointed) => void} point
   */
  constructor(host, point) {
    this.#surface = new Surface(host, () => this.#draw());
    this.element = this.#surface.frame;
    const { canvas } = this.#surface;
    canvas.setAttribute('role', 'img');
    for (const type of ['pointermove', 'pointerdown']) {
      canvas.addEventListener(type, (event) => {
        point(this.#under(/** @type {PointerEvent} */ (event)));
      });
    }
    canvas.addEventListener('pointerleave', () => point({}));
  }

  connect() {
    this.#surface.connect();
  }

  disconnect() {
    this.#surface.disconnect();
  }

  /** @param {Arcs} arcs */
  show(arcs) {
    this.#arcs = arcs;
    this.#surface.canvas.setAttribute('aria-label', arcs.name);
    this.#surface.invalidate();
  }

  /** @param {Pointed} pointed */
  light(pointed) {
    this.#pointed = pointed;
    this.#surface.invalidate();
  }

  /** @param {number} width */
  #layout(width) {
    const { queries, keys, ...arcs } = /** @type {Arcs} */ (this.#arcs);
    const { measure, theme } = this.#surface;
    const labels = { rowLabels: queries.map(tokenLabel), columnLabels: keys.map(tokenLabel) };
    return { geometry: layoutArcs({ ...arcs, ...labels, width, measure, theme }), theme, ...arcs };
  }

  #draw() {
    if (!this.#arcs) return;
    const { pen, ratio, width } = this.#surface;
    const arcs = this.#layout(width);
    this.#geometry = arcs.geometry;
    this.#surface.resize(arcs.geometry.width, arcs.geometry.height);
    // In self-attention a token is both query and key; its curves as a query are the ones to see.
    const { query: row = null, key } = this.#pointed;
    const column = row === key ? null : (key ?? null);
    drawArcs(pen, { ...arcs, ratio, highlight: { row, column } });
  }

  /** @param {PointerEvent} event @returns {Pointed} */
  #under({ offsetX, offsetY }) {
    if (!this.#geometry || !this.#arcs) return {};
    const { matrix, masked } = this.#arcs;
    const found = arcAt(this.#geometry, matrix, masked, offsetX, offsetY);
    return { query: found?.row ?? null, key: found?.column ?? null };
  }

  /**
   * @param {'png' | 'svg'} format
   * @returns {Promise<Blob>}
   */
  async exportAs(format) {
    if (!this.#arcs) throw new RangeError('there are no weights to draw');
    const arcs = this.#layout(this.#surface.width || 640);
    const { width, height } = arcs.geometry;
    return pictureOf(format, this.#arcs.name, (ratio) => ({
      width,
      height,
      draw: (pen) => drawArcs(pen, { ...arcs, ratio }),
    }));
  }
}
