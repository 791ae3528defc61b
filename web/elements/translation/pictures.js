/**
 * What all maps of one figure share: the theme, and for each kind of weights one scale, made once for a
 * result however many maps show it.
 */
import { extentOf, rangeOf, scaleFor } from '../../draw/colour.js';
import { themeOf } from '../theme.js';

/**
 * @typedef {import('./views.js').Result} Result
 * @typedef {import('../../draw/colour.js').Scale} Scale
 * @typedef {import('../heatmap/mini-map.js').Picture & { matrix: import('./views.js').Matrix }} Picture
 */

export class Pictures {
  /** @type {Result | null} */
  #result = null;
  /** @type {Map<string, Scale>} */
  #scales = new Map();
  /** @type {import('../theme.js').Theme | null} */
  #theme = null;

  /**
   * @param {Element} host the element that has adopted the shared tokens
   * @param {import('./views.js').Lesson} lesson
   */
  constructor(host, lesson) {
    this.host = host;
    this.lesson = lesson;
  }

  get theme() {
    this.#theme ??= themeOf(this.host);
    return this.#theme;
  }

  /** Reads the colours anew: the scheme may have changed. */
  refresh() {
    this.#theme = null;
  }

  /**
   * @param {Result} result
   * @param {string} tensor
   * @param {number} head
   * @returns {Picture | null}
   */
  of(result, tensor, head) {
    const matrix = this.lesson.matrixOf(result, tensor, head);
    if (!matrix) return null;
    return {
      matrix,
      scale: this.#scale(result, matrix),
      masked: this.lesson.maskOf(result, tensor),
      edited: this.lesson.editedCells(result.state, matrix),
    };
  }

  /**
   * All weights of a kind lie on one scale; any other tensor has its own.
   * @param {Result} result
   * @param {import('./views.js').Matrix} matrix
   */
  #scale(result, matrix) {
    if (result !== this.#result) this.#scales.clear();
    this.#result = result;
    const blocks = this.lesson.blocksOf(result);
    const kind = blocks.find(({ tensor }) => tensor === matrix.tensor)?.kind;
    const name = kind ?? matrix.tensor;
    let scale = this.#scales.get(name);
    if (!scale) {
      const alike = blocks.filter((block) => block.kind === kind);
      scale = kind ? this.#weightScale(result, alike) : this.signed(matrix);
      this.#scales.set(name, scale);
    }
    return scale;
  }

  /** Around 0, to the largest of one matrix. @param {import('./views.js').Matrix} matrix */
  signed(matrix) {
    return scaleFor('signed', rangeOf('signed', 'largest', extentOf(matrix, null)));
  }

  /** @param {Result} result @param {import('./views.js').Block[]} blocks */
  #weightScale(result, blocks) {
    const extents = blocks
      .flatMap(({ tensor }) => result.values[tensor] ?? [])
      .map(({ data }) => extentOf({ rows: 1, columns: data.length, data }, null));
    return scaleFor('weights', rangeOf('weights', result.state.range, ...extents));
  }
}
