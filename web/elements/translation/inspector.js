/**
 * The inspector: the cell under the pointer, or else the chosen one: which token looks at which, with
 * what weight, and the score it came from.
 */
import { full, short, tokenLabel } from '../../draw/format.js';
import { h, setText } from '../dom.js';
import { labelsAlong } from './kinds.js';

/**
 * @param {import('./views.js').Context} context
 */
export function cellInspector({ lesson, strings, dispatch }) {
  const words = strings.translation;
  const general = strings.inspector;
  const hint = h('p', { class: 'note' }, general.hint);
  const query = h('b');
  const key = h('b');
  const place = h(
    'p',
    { class: 'place' },
    h('span', { class: 'query' }, `${words.query} `, query),
    ' → ',
    h('span', { class: 'key' }, `${words.key} `, key),
  );
  const value = h('span', { class: 'value' });
  const kind = h('span', { class: 'quiet' });
  const score = h('p', { class: 'figures quiet' });
  const cell = h(
    'div',
    { class: 'headline' },
    place,
    h('p', { class: 'line' }, value, kind),
    score,
  );
  const edits = h('span');
  const clear = h(
    'button',
    {
      type: 'button',
      class: 'link',
      onclick: () => dispatch({ type: 'set', values: { edits: [] } }),
    },
    general.clearEdits,
  );
  const edited = h('p', { class: 'part line edits' }, edits, clear);
  const silenced = h('span');
  const restore = h(
    'button',
    {
      type: 'button',
      class: 'link',
      onclick: () => dispatch({ type: 'set', values: { silenced: [] } }),
    },
    words.all,
  );
  const quiet = h('p', { class: 'part line edits' }, silenced, restore);

  return {
    element: h(
      'div',
      { class: 'panel inspector', role: 'group', 'aria-label': general.name },
      hint,
      cell,
      quiet,
      edited,
    ),
    /**
     * @param {{ state: import('./views.js').State, result: import('./views.js').Result | null }} model
     * @param {{ row: number, column: number } | null} looked the cell under the pointer
     */
    update({ state, result }, looked) {
      const matrix = result && lesson.matrixOf(result, state.show, state.head);
      const chosen = looked ?? (state.cell && { row: state.cell[0], column: state.cell[1] });
      const known = matrix && chosen && chosen.row < matrix.rows && chosen.column < matrix.columns;
      hint.hidden = Boolean(known);
      cell.hidden = !known;
      edited.hidden = state.edits.length === 0;
      setText(edits, say(general.edits, state.edits.length));
      quiet.hidden = state.silenced.length === 0;
      setText(
        silenced,
        say(
          state.silenced.length === 1 ? words.silencedOne : words.silenced,
          state.silenced.length,
        ),
      );
      if (!result || !matrix || !chosen || !known) return;
      const { row, column } = chosen;
      const labels = labelsAlong(lesson, result, matrix);
      setText(query, tokenLabel(labels.rows[row]));
      setText(key, tokenLabel(labels.columns[column]));
      setText(value, full(matrix.data[row * matrix.columns + column]));
      setText(kind, words.weight);
      const scores = lesson.matrixOf(
        result,
        matrix.tensor.replace(/weights$/, 'scores'),
        state.head,
      );
      const number = scores?.data[row * scores.columns + column];
      setText(score, number === undefined ? '' : `${words.score} ${short(number)}`);
    },
  };
}

/** @param {string} sentence @param {number} count */
const say = (sentence, count) => sentence.replace('{count}', String(count));
