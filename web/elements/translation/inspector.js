/**
 * The inspector: the cell under the pointer, or else the chosen one: which token looks at which, with
 * what weight, and beside what other weights; then what the reader changed in the model.
 */
import { fill, full, short, tokenLabel } from '../../draw/format.js';
import { h, setText } from '../dom.js';
import { barList } from '../parts/bar-list.js';
import { labelsAlong } from './kinds.js';
import { axisWords, shownHead } from './views.js';

/**
 * @param {import('./views.js').Context} context
 */
export function cellInspector({ lesson, strings, dispatch }) {
  const words = strings.inspector;
  const hint = h('p', { class: 'note' });
  const place = h('p', { class: 'place' });
  const value = h('span', { class: 'value' });
  const kind = h('span', { class: 'quiet' });
  const cell = h('div', { class: 'headline' }, place, h('p', { class: 'line' }, value, kind));
  const row = h('ol', { class: 'row figures', tabIndex: 0, 'aria-label': words.row });
  const sum = h('span', { class: 'figures' });
  const rowPart = h(
    'div',
    { class: 'part' },
    h('p', { class: 'label quiet' }, words.row, ' ', sum),
    row,
  );
  const silenced = changes(strings.translation.all, 'silenced');
  const edits = changes(words.clearEdits, 'edits');

  /** @param {string} name @param {'silenced' | 'edits'} field */
  function changes(name, field) {
    const said = h('span');
    const takeBack = () => dispatch({ type: 'set', values: { [field]: [] } });
    const button = h('button', { type: 'button', class: 'link', onclick: takeBack }, name);
    return { said, element: h('p', { class: 'part line edits' }, said, button) };
  }

  /** @param {import('./views.js').State} state */
  function tellChanges(state) {
    const { silenced: many, silencedOne: one } = strings.translation;
    silenced.element.hidden = state.silenced.length === 0;
    edits.element.hidden = state.edits.length === 0;
    const count = state.silenced.length;
    setText(silenced.said, count === 1 ? one : fill(many, { count }));
    setText(edits.said, fill(words.edits, { count: state.edits.length }));
  }

  return {
    element: h(
      'div',
      { class: 'panel inspector', role: 'group', 'aria-label': words.name },
      hint,
      cell,
      rowPart,
      silenced.element,
      edits.element,
    ),
    /**
     * @param {{ state: import('./views.js').State, result: import('./views.js').Result | null }} model
     * @param {{ row: number, column: number } | null} looked the cell under the pointer
     */
    update({ state, result }, looked) {
      tellChanges(state);
      const block = result && lesson.blocksOf(result).find(({ tensor }) => tensor === state.show);
      const head = block ? shownHead(block, state) : Math.max(0, state.head);
      const matrix = result && lesson.matrixOf(result, state.show, head);
      const chosen = looked ?? (state.cell && { row: state.cell[0], column: state.cell[1] });
      const known = matrix && chosen && chosen.row < matrix.rows && chosen.column < matrix.columns;
      hint.hidden = Boolean(known);
      setText(hint, matrix ? words.hint : strings.translation.noMap);
      cell.hidden = !known;
      rowPart.hidden = !known || !block;
      if (!result || !matrix || !chosen || !known) return;
      const labels = labelsAlong(lesson, result, matrix);
      const [query, key] = [labels.rows[chosen.row], labels.columns[chosen.column]].map(tokenLabel);
      place.replaceChildren(
        h(
          'span',
          { class: 'query' },
          `${axisWords(strings, matrix.rowAxis)} `,
          h('b', null, query),
        ),
        ' → ',
        h('span', { class: 'key' }, `${axisWords(strings, matrix.columnAxis)} `, h('b', null, key)),
      );
      const start = chosen.row * matrix.columns;
      const numbers = matrix.data.subarray(start, start + matrix.columns);
      setText(value, full(numbers[chosen.column]));
      setText(kind, block ? words.weight : matrix.tensor);
      if (!block) return;
      setText(sum, fill(words.rowSum, { sum: short(numbers.reduce((all, one) => all + one, 0)) }));
      const weights = Array.from(numbers, (value, at) => ({ token: labels.columns[at], value }));
      barList(row, weights, chosen.column);
    },
  };
}
