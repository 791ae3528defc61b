/**
 * The stage: one tensor large, as a heatmap or as arcs. Cells are chosen, edited in place, and, while
 * the reader draws a mask, closed and opened with a click, a drag or the space bar.
 */
import { fill } from '../../draw/format.js';
import { h, setText } from '../dom.js';
import { makers } from '../parts/controls.js';
import { ArcsView } from './arcs.js';

/**
 * @typedef {import('../heatmap/attention-heatmap.js').AttentionHeatmap} AttentionHeatmap
 * @typedef {import('../parts/controls.js').Model<import('../../lessons/multi-head-view.js').Result>} Model
 * @typedef {import('./token-editor.js').Pointed} Pointed
 * @typedef {{ row: number, column: number }} Cell
 * @typedef {{ closed: boolean, at: Cell, name: string }} Stroke
 */

/**
 * @param {import('../parts/controls.js').Context<import('../../lessons/index.js').MultiHead>} context
 * @param {import('./painter.js').Painter} painter
 * @param {{ look: (cell: Cell | null) => void, point: (pointed: Pointed) => void }} glance
 */
export function stage(context, painter, { look, point }) {
  const { lesson, strings, dispatch } = context;
  const words = strings.stage;
  const title = h('span', { class: 'figures' });
  const picture = makers.radios({ as: 'radios', name: 'picture' }, context);
  const range = makers.radios({ as: 'radios', name: 'range' }, context);
  const hint = h('p', { class: 'note' });
  const heatmap = /** @type {AttentionHeatmap} */ (document.createElement('attention-heatmap'));
  const arcs = new ArcsView(painter.host, point);
  const element = h(
    'div',
    { class: 'stage' },
    h('div', { class: 'bar' }, title, h('span', { class: 'gap' }), picture.element, range.element),
    heatmap,
    arcs.element,
    hint,
  );
  /** @type {Model | null} */
  let model = null;
  /** @type {import('../../lessons/multi-head-view.js').Matrix | null} */
  let matrix = null;
  /** @type {[row: number, column: number] | null} */
  let selected = null;
  /** @type {Cell | null} */
  let hovered = null;
  /** A drag that closes cells, or opens them, as it did with the first. @type {Stroke | null} */
  let stroke = null;
  let strokes = 0;

  /** @param {string} type @param {(detail: any) => void} handle */
  const on = (type, handle) =>
    heatmap.addEventListener(type, (event) => {
      event.stopPropagation();
      handle(/** @type {CustomEvent} */ (event).detail);
    });
  on('cellhover', (cell) => {
    if (stroke && cell) draw(stroke, cell);
    hovered = cell;
    look(cell);
  });
  on('cellselect', (cell) => {
    look(null);
    dispatch({ type: 'set', values: { cell: cell && [cell.row, cell.column] } });
  });
  /** @param {Cell} cell @returns {Stroke | null} null where nothing is drawn */
  const begin = (cell) => {
    if (!model?.state.drawing || !matrix || !lesson.isAttentionMap(matrix.tensor)) return null;
    strokes += 1;
    const closed = !lesson.isClosed(model.state, cell.row, cell.column);
    return { closed, at: cell, name: `stroke ${strokes}` };
  };
  /** @param {Stroke} stroke @param {Cell} to a fast hand leaves out cells on the way */
  const draw = (stroke, to) => {
    const { closed, at, name } = stroke;
    for (const cell of line(at, to)) dispatch({ type: 'close', ...cell, closed }, name);
    stroke.at = to;
  };
  heatmap.addEventListener('pointerdown', (event) => {
    stroke = hovered && event.button === 0 ? begin(hovered) : null;
    if (!stroke) return;
    /** @type {Element} */ (event.composedPath()[0]).setPointerCapture(event.pointerId);
    draw(stroke, stroke.at);
  });
  heatmap.addEventListener('lostpointercapture', () => {
    stroke = null;
  });
  on('cellclick', ({ row, column, originalEvent }) => {
    const byPointer = originalEvent.detail > 0;
    const cell = { row, column };
    const single = byPointer ? null : begin(cell);
    if (single) draw(single, cell);
  });
  on('celledit', ({ row, column, value }) => {
    if (matrix)
      dispatch({
        type: 'edit',
        name: matrix.tensor,
        at: lesson.placeOf(matrix, row, column),
        value,
      });
  });

  return {
    element,
    heatmap,
    arcs,
    /** @param {Model} next */
    update(next) {
      model = next;
      const { state, result } = next;
      if (!result) return;
      const shown = painter.picture(result, state.show, state.head);
      if (!shown) return;
      ({ matrix } = shown);
      const heads = lesson.sizes(result.state).h;
      const name =
        matrix.head === null
          ? matrix.tensor
          : fill(words.title, { tensor: matrix.tensor, head: matrix.head + 1, heads });
      setText(title, name);
      const map = lesson.isAttentionMap(matrix.tensor);
      const weights = lesson.tensors[matrix.tensor].kind === 'weights';
      const drawArcs = weights && state.picture === 'arcs';
      picture.element.hidden = !weights;
      range.element.hidden = !weights || drawArcs;
      picture.update(next);
      range.update(next);
      const editable = !state.drawing && !lesson.tensors[matrix.tensor].fixed;
      hint.hidden = drawArcs || !(editable || (state.drawing && map));
      setText(hint, editable ? words.editHint : words.drawHint);
      heatmap.hidden = drawArcs;
      arcs.element.hidden = !drawArcs;

      const rows = lesson.labelsOf(result.state, matrix.rowAxis, matrix.rows);
      const columns = lesson.labelsOf(result.state, matrix.columnAxis, matrix.columns);
      if (drawArcs) {
        arcs.show({
          matrix,
          masked: shown.masked ?? null,
          largest: shown.scale.high || 1,
          queries: rows,
          keys: columns,
          rowAxis: words.axes.Tq,
          columnAxis: words.axes.Tk,
          name,
          rowFlags: lesson.rowFlags(result, matrix.head ?? 0),
        });
        return;
      }
      heatmap.label = name;
      heatmap.matrix = { shape: [matrix.rows, matrix.columns], data: matrix.data };
      heatmap.kind = shown.scale.kind;
      heatmap.range = [shown.scale.low, shown.scale.high];
      heatmap.rowLabels = rows;
      heatmap.columnLabels = columns;
      heatmap.rowAxis = words.axes[/** @type {keyof typeof words.axes} */ (matrix.rowAxis)];
      heatmap.columnAxis = words.axes[/** @type {keyof typeof words.axes} */ (matrix.columnAxis)];
      heatmap.mask = shown.masked ?? null;
      heatmap.edited = shown.edited ?? [];
      heatmap.rowFlags = map ? lesson.rowFlags(result, matrix.head ?? 0) : null;
      heatmap.editable = editable;
      if (state.cell !== selected) {
        selected = state.cell;
        heatmap.selected = selected && { row: selected[0], column: selected[1] };
      }
      heatmap.classList.toggle('drawing', state.drawing && map);
    },
    /** @param {Pointed} pointed */
    light(pointed) {
      if (!matrix) return;
      const of = (/** @type {string} */ axis) =>
        axis === 'Tq' ? pointed.query : axis === 'Tk' ? pointed.key : null;
      const [row, column] = [of(matrix.rowAxis) ?? null, of(matrix.columnAxis) ?? null];
      heatmap.highlight = row === null && column === null ? null : { row, column };
      arcs.light(pointed);
    },
  };
}

/**
 * The cells on a straight line, both ends included.
 * @param {Cell} from
 * @param {Cell} to
 * @returns {Cell[]}
 */
function line(from, to) {
  const [down, right] = [to.row - from.row, to.column - from.column];
  const steps = Math.max(Math.abs(down), Math.abs(right));
  return Array.from({ length: steps + 1 }, (_, step) => ({
    row: from.row + Math.round((down * step) / (steps || 1)),
    column: from.column + Math.round((right * step) / (steps || 1)),
  }));
}
