/**
 * The map that is shown large: read with the pointer or the arrow keys, its cells typed over. While a
 * model trains it is painted anew in its place; a row can be lit, that of the token being written.
 */

import { fill } from '../../draw/format.js';
import { isEditable } from '../../lessons/translation.js';
import { h, setText } from '../dom.js';
import { makers } from '../parts/controls.js';
import { labelsAlong } from './kinds.js';
import { axisWords, MEAN, shownHead, tileWords } from './views.js';

/**
 * @typedef {import('../heatmap/attention-heatmap.js').AttentionHeatmap} AttentionHeatmap
 * @typedef {{ row: number, column: number }} Cell
 */

/**
 * @param {import('./views.js').Context} context
 * @param {import('./pictures.js').Pictures} pictures
 * @param {(cell: Cell | null) => void} look
 */
export function large(context, pictures, look) {
  const { lesson, strings, dispatch } = context;
  const words = strings.translation;
  const title = h('span', { class: 'title' });
  const name = h('span', { class: 'figures quiet' });
  const controls = ['reading', 'range'].map((name) =>
    makers.radios({ as: 'radios', name }, context),
  );
  const aligned = makers.check({ as: 'check', name: 'aligned' }, context);
  const agreement = h('p', { class: 'note' });
  const hint = h('p', { class: 'note' });
  const rowNote = h('p', { class: 'note' });
  const padding = h('p', { class: 'note' }, words.padding);
  const heatmap = /** @type {AttentionHeatmap} */ (document.createElement('attention-heatmap'));
  const none = h('p', { class: 'note', hidden: true }, words.noAttention);
  const element = h(
    'div',
    { class: 'stage' },
    h('div', { class: 'bar' }, title, name),
    h(
      'div',
      { class: 'bar named' },
      ...controls.map((control) => control.element),
      aligned.element,
    ),
    heatmap,
    agreement,
    rowNote,
    padding,
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
    /** @param {import('./views.js').Model & { result: import('./views.js').Result }} model */
    update(model) {
      const { state, result } = model;
      const block = lesson.blocksOf(result).find(({ tensor }) => tensor === state.show);
      const head = block ? shownHead(block, state) : Math.max(0, state.head);
      const picture = pictures.of(result, state.show, head);
      heatmap.hidden = !picture;
      none.hidden = lesson.blocksOf(result).length > 0;
      matrix = picture?.matrix ?? null;
      for (const control of controls) {
        control.element.hidden = !block;
        control.update(model);
      }
      aligned.element.hidden = block?.kind !== 'cross' || state.corpus === 'own';
      aligned.update(model);
      padding.hidden = true;
      if (!picture) {
        for (const text of [title, name, agreement, rowNote, hint]) setText(text, '');
        return;
      }
      const { scale, masked, edited } = picture;
      const { rows, columns, data, tensor, rowAxis, columnAxis } = picture.matrix;
      const info = result.tensors.find(({ name }) => name === tensor);
      const labels = labelsAlong(lesson, result, picture.matrix);
      const editable = head !== MEAN && info !== undefined && isEditable(info);
      const called = block ? tileWords(words, block, head) : '';
      const [, word, next] = labels.rows;
      const writes = block && block.kind !== 'encoder' && next !== undefined;
      setText(rowNote, writes ? fill(words.rowNote, { word, next }) : '');
      padding.hidden = !labels.columns.includes('<pad>');
      const outlines = state.aligned && !aligned.element.hidden;
      const known = outlines ? lesson.alignmentOf(result, picture.matrix) : null;
      heatmap.outlined = known?.cells ?? [];
      const said = known ? fill(words.agrees, known.agreement) : words.unaligned;
      setText(agreement, outlines ? said : '');
      setText(title, called);
      setText(name, tensor);
      setText(hint, head === MEAN ? words.meanHint : editable ? words.editHint : '');
      heatmap.label = called || tensor;
      heatmap.matrix = { shape: [rows, columns], data };
      heatmap.kind = scale.kind;
      heatmap.range = [scale.low, scale.high];
      heatmap.rowLabels = labels.rows;
      heatmap.columnLabels = labels.columns;
      heatmap.rowAxis = axisWords(strings, rowAxis);
      heatmap.columnAxis = axisWords(strings, columnAxis);
      heatmap.mask = masked;
      heatmap.edited = edited;
      heatmap.editable = editable;
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
