/**
 * The weights of all queries as a map: a row for each tenth query of the curve, a column for each key.
 * What is pointed at here is lit in the plot, and the other way round.
 */
import { short } from '../../draw/format.js';
import { h, setText } from '../dom.js';

/** The reason in the mask of a key that the kernel does not reach. */
const OUT_OF_REACH = 16;

/**
 * @param {import('./plot.js').Context} context
 * @param {(looked: Partial<import('./plot.js').Looked>) => void} look
 */
export function weightsMap({ lesson, strings, dispatch }, look) {
  const words = strings.regression;
  const heatmap = /** @type {import('../heatmap/attention-heatmap.js').AttentionHeatmap} */ (
    document.createElement('attention-heatmap')
  );
  heatmap.rowAxis = words.queryAxis;
  heatmap.columnAxis = words.keyAxis;
  const { heatmap: own } = strings;
  heatmap.strings = {
    ...own,
    maskedLegend: words.outOfReach,
    reasons: { ...own.reasons, [OUT_OF_REACH]: words.outOfReach },
  };
  const title = h('p', { class: 'title' });
  const element = h('div', { class: 'panel' }, title, heatmap);
  let row = 0;

  /** @param {string} type @param {(detail: any) => void} handle */
  const on = (type, handle) =>
    heatmap.addEventListener(type, (event) => {
      event.stopPropagation();
      handle(/** @type {CustomEvent} */ (event).detail);
    });
  on('cellhover', (cell) =>
    look({ query: cell ? cell.row * lesson.EVERY : null, place: cell?.column ?? null }),
  );
  on('cellselect', (cell) => dispatch({ type: 'set', values: { query: cell.row * lesson.EVERY } }));

  return {
    element,
    heatmap,
    /** @param {import('../../lessons/kernel-regression-view.js').Result} result */
    show(result) {
      const { show, query } = result.state;
      const weights = show === 'weights';
      const map = lesson.mapOf(result, show);
      const scores = lesson.mapOf(result, 'raw_scores').data;
      const rows = Array.from({ length: map.rows }, (_, at) => at * lesson.EVERY);
      const name = weights ? words.map : words.scores;
      setText(title, name);
      heatmap.label = name;
      heatmap.matrix = { shape: [map.rows, map.columns], data: map.data };
      heatmap.kind = weights ? 'weights' : 'signed';
      heatmap.range = weights ? [0, lesson.largestWeight(result) || 1] : 'largest';
      heatmap.rowLabels = rows.map((at) => short(lesson.placeOfQuery(at)));
      heatmap.columnLabels = lesson.pointsOf(result).map(({ x }) => short(x));
      heatmap.mask = scores.some((score) => score === -Infinity)
        ? Uint8Array.from(scores, (score) => (score === -Infinity ? OUT_OF_REACH : 0))
        : null;
      const flags = result.values.row_flags.data;
      heatmap.rowFlags = rows.map((at) => flags[at]);
      row = Math.round(query / lesson.EVERY);
      const { selected } = heatmap;
      if (selected && selected.row !== row) {
        heatmap.selected = { row, column: Math.min(selected.column, map.columns - 1) };
      }
    },
    /** @param {number | null} place */
    light(place) {
      heatmap.highlight = { row, column: place };
    },
  };
}
