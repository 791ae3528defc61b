/**
 * What the maps of one figure share: the theme, the size of small maps, and for each result the scale
 * and the mask of every tensor, made once however many maps show it.
 */
import { extentOf, rangeOf, scaleFor } from '../../draw/colour.js';
import { themeOf } from '../theme.js';

/**
 * @typedef {import('../../lessons/multi-head-view.js').Result} Result
 * @typedef {import('../../draw/colour.js').Scale} Scale
 */

export class Painter {
  /** @type {Result | null} */
  #result = null;
  /** @type {Map<string, Scale>} */
  #scales = new Map();
  /** @type {Map<number, Uint8Array>} */
  #masks = new Map();
  size = 88;

  /**
   * @param {Element} host the element that has adopted the shared tokens
   * @param {import('../../lessons/index.js').MultiHead} lesson
   */
  constructor(host, lesson) {
    this.host = host;
    this.lesson = lesson;
    /** @type {import('../theme.js').Theme | null} */
    this.theme = null;
  }

  /** Reads the colours anew: the scheme may have changed. */
  refresh() {
    this.theme = null;
  }

  /** @param {Result} result */
  #take(result) {
    if (result === this.#result) return;
    this.#result = result;
    this.#scales.clear();
    this.#masks.clear();
  }

  /**
   * @param {Result} result
   * @param {number} head
   */
  mask(result, head) {
    this.#take(result);
    let mask = this.#masks.get(head);
    if (!mask) {
      mask = this.lesson.reasonsOf(result, head);
      this.#masks.set(head, mask);
    }
    return mask;
  }

  /**
   * One scale for all heads of a tensor; the mean of the weights lies on the scale of the weights.
   * @param {Result} result
   * @param {string} name of the tensor
   * @returns {Scale}
   */
  scale(result, name) {
    this.#take(result);
    const { kind } = this.lesson.tensors[name];
    const tensor = kind === 'weights' ? 'attention.weights' : name;
    let scale = this.#scales.get(tensor);
    if (!scale) {
      const count = result.values['attention.weights'].shape.at(-3) ?? 1;
      const masked = this.lesson.isAttentionMap(tensor) && kind !== 'weights';
      const heads = this.lesson.tensors[tensor].axes.length === 3 ? count : 1;
      const extents = [];
      for (let head = 0; head < heads; head++) {
        const matrix = this.lesson.matrixOf(result, tensor, head);
        if (matrix) extents.push(extentOf(matrix, masked ? this.mask(result, head) : null));
      }
      const drawn = kind === 'weights' ? 'weights' : 'signed';
      const range = drawn === 'weights' ? result.state.range : null;
      scale = scaleFor(drawn, rangeOf(drawn, range, ...extents));
      this.#scales.set(tensor, scale);
    }
    return scale;
  }

  /**
   * @param {Result} result
   * @param {string} tensor
   * @param {number} head
   * @returns {import('../heatmap/mini-map.js').Picture & { matrix: import('../../lessons/multi-head-view.js').Matrix } | null}
   */
  picture(result, tensor, head) {
    const matrix = this.lesson.matrixOf(result, tensor, head);
    if (!matrix) return null;
    return {
      matrix,
      scale: this.scale(result, tensor),
      masked: this.#masked(result, matrix, head),
      edited: this.lesson.editedCells(result.state, matrix),
    };
  }

  /**
   * The mask as a map shows it. A masked weight that came out as NaN, as a fill of −∞ makes them, is
   * shown as NaN: the reader must see it.
   * @param {Result} result
   * @param {import('../../lessons/multi-head-view.js').Matrix} matrix
   * @param {number} head
   */
  #masked(result, { tensor, data }, head) {
    if (!this.lesson.isMasked(tensor)) return null;
    const mask = this.mask(result, head);
    const weights = this.lesson.tensors[tensor].kind === 'weights';
    if (!weights || !data.some(Number.isNaN)) return mask;
    return mask.map((reason, cell) => (Number.isNaN(data[cell]) ? 0 : reason));
  }

  /**
   * @param {import('../heatmap/mini-map.js').MiniMap} map
   * @param {import('../heatmap/mini-map.js').Picture} picture
   */
  paint(map, picture) {
    map.paint(picture, this.size, this.look());
  }

  /** The theme; it costs nothing to ask for where all is laid out, and a layout elsewhere. */
  look() {
    this.theme ??= themeOf(this.host);
    return this.theme;
  }
}
