/**
 * The map that is shown large: read with the pointer or the arrow keys, its cells typed over. While a
 * model trains it is painted anew in its place; a row can be lit, that of the token being written.
 */
import { h, setText } from '../dom.js';
import { labelsAlong } from './kinds.js';
import { MEAN, tileWords } from './views.js';

/**
 * @typedef {import('../heatmap/attention-heatmap.js').AttentionHeatmap} AttentionHeatmap
 * @typedef {{ row: number, column: number }} Cell
 */

/**
 * @param {import('./views.js').Context} context
 * @param {import('./pictures.js').Pictures} pictures
 * @param {(cell: Cell | null) => void} look
 */
export function large({ lesson, strings, dispatch }, pictures, look) {
  const words = strings.translation;
  const title = h('span', { class: 'title' });
  const name = h('span', { class: 'figures quiet' });
  const hint = h('p', { class: 'note' });
  const heatmap = /** @type {AttentionHeatmap} */ (document.createElement('attention-heatmap'));
  const none = h('p', { class: 'note', hidden: true }, words.noAttention);
  const element = h(
    'div',
    { class: 'stage' },
    h('div', { class: 'bar' }, title, name),
    heatmap,
    hint,
    none,
  );
  /** @type {import('./views.js').Matrix | null} */
  let matrix = null;
  /** @type {[row: number, column: number] | null} */
  let selected = null;

  /** @param {string} type @param {(detail: any) => void} handle */
  const on = (type, handle) =>
    heatmap.addEventListener(type, (event) => {
      event.stopPropagation();
      handle(/** @type {CustomEvent} */ (event).detail);
    });
  on('cellhover', look);
  on('cellselect', (cell) => {
    look(null);
    dispatch({ type: 'set', values: { cell: cell && [cell.row, cell.column] } });
  });
  on('celledit', ({ row, column, value }) => {
    if (!matrix) return;
    const at = matrix.head === null ? [row, column] : [matrix.head, row, column];
    dispatch({ type: 'edit', name: matrix.tensor, at, value });
  });

  return {
    element,
    heatmap,
    /** @param {{ state: import('./views.js').State, result: import('./views.js').Result }} model */
    update({ state, result }) {
      const picture = pictures.of(result, state.show, state.head);
      heatmap.hidden = !picture;
      none.hidden = lesson.blocksOf(result).length > 0;
      matrix = picture?.matrix ?? null;
      if (!picture) {
        for (const text of [title, name, hint]) setText(text, '');
        return;
      }
      const { scale, masked, edited } = picture;
      const { rows, columns, data, tensor, head } = picture.matrix;
      const block = lesson.blocksOf(result).find((block) => block.tensor === tensor);
      const labels = labelsAlong(lesson, result, picture.matrix);
      const mean = head === MEAN;
      setText(title, block ? tileWords(words, block, head ?? 0) : '');
      setText(name, tensor);
      setText(hint, mean ? words.meanHint : words.editHint);
      heatmap.label = block ? tileWords(words, block, head ?? 0) : tensor;
      heatmap.matrix = { shape: [rows, columns], data };
      heatmap.kind = scale.kind;
      heatmap.range = [scale.low, scale.high];
      heatmap.rowLabels = labels.rows;
      heatmap.columnLabels = labels.columns;
      heatmap.rowAxis = words.query;
      heatmap.columnAxis = words.key;
      heatmap.mask = masked;
      heatmap.edited = edited;
      heatmap.editable = !mean;
      if (state.cell !== selected) {
        selected = state.cell;
        heatmap.selected = selected && { row: selected[0], column: selected[1] };
      }
    },
    /** Lights a row, or none. @param {number | null} row */
    light(row) {
      heatmap.highlight = row === null || !matrix || row >= matrix.rows ? null : { row };
    },
  };
}
