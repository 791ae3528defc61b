/**
 * The inspector: everything about one cell, the one under the pointer or else the chosen one. For a
 * cell of an attention map it walks the steps: the products of query and key, the score, what the mask
 * did, the weights of the row. Each number on the way can be typed over.
 */

import { formulas } from '../../../build/formulas.js';
import { fill, float32, full, parse, short, tokenLabel } from '../../draw/format.js';
import { freshId, h, list, math, setAttribute, setText } from '../dom.js';
import { barList } from '../parts/bar-list.js';
import { reasonWords } from './token-editor.js';

/**
 * @typedef {import('../parts/controls.js').Context<import('../../lessons/index.js').MultiHead>} Context
 * @typedef {import('../parts/controls.js').Model<import('../../lessons/multi-head-view.js').Result>} Model
 * @typedef {import('../../lessons/multi-head-view.js').Matrix} Matrix
 */

/** The numbers of a cell of an attention map that can be typed over, in the order of computation. */
const chain = /** @type {const} */ ([
  ['rawScore', 'attention.raw_scores'],
  ['score', 'attention.scores'],
  ['weight', 'attention.weights'],
]);

/**
 * @param {Context} context
 */
export function inspector(context) {
  const { lesson, strings, dispatch } = context;
  const words = strings.inspector;

  const hint = h('p', { class: 'note' }, words.hint);
  const place = h('p', { class: 'place' });
  const value = h('span', { class: 'value' });
  const tensor = h('span', { class: 'quiet' });

  const terms = h('ol', { class: 'terms figures', tabIndex: 0, 'aria-label': words.terms });
  const sum = h('p', { class: 'sum figures' });
  const noTerms = h('p', { class: 'note' });
  const termsPart = h(
    'div',
    { class: 'part' },
    h('p', { class: 'label quiet' }, words.terms),
    terms,
    sum,
    noTerms,
  );

  const fields = chain.map(([name, tensor]) => numberField(words[name], context, tensor));
  const mask = h('span');
  const maskLine = h(
    'div',
    { class: 'number-field' },
    h('span', { class: 'name' }, words.mask),
    mask,
  );
  const [rawScore, score, weight] = fields.map((field) => field.element);
  const chainPart = h('div', { class: 'part' }, rawScore, score, maskLine, weight);

  const row = h('ol', { class: 'row figures', tabIndex: 0, 'aria-label': words.row });
  const rowWords = h('span', { class: 'figures' });
  const flags = h('p', { class: 'error' });
  const rowPart = h(
    'div',
    { class: 'part' },
    h('p', { class: 'label quiet' }, words.row, ' ', rowWords),
    row,
    flags,
  );

  const single = numberField(words.value, context, '');
  const fixed = h('p', { class: 'note' }, words.notEditable);
  const singlePart = h('div', { class: 'part' }, single.element, fixed);

  const formula = h('div', { class: 'formula large' });
  const formulaPart = h('div', { class: 'part' }, formula);
  let shownFormula = '';

  const edits = h('span');
  const editsLine = h(
    'p',
    { class: 'part line edits' },
    edits,
    h(
      'button',
      {
        type: 'button',
        class: 'link',
        onclick: () => dispatch({ type: 'set', values: { edits: [] } }),
      },
      words.clearEdits,
    ),
  );

  const element = h(
    'div',
    { class: 'panel inspector', role: 'group', 'aria-label': words.name },
    hint,
    h('div', { class: 'headline' }, place, h('p', { class: 'line' }, value, tensor)),
    termsPart,
    chainPart,
    rowPart,
    singlePart,
    formulaPart,
    editsLine,
  );

  /**
   * @param {Model} model
   * @param {Matrix} matrix
   * @param {number} at row
   * @param {number} column
   */
  function showPlace({ result }, matrix, at, column) {
    if (!result) return;
    const axes = strings.stage.axes;
    const part = (
      /** @type {string} */ axis,
      /** @type {number} */ size,
      /** @type {number} */ index,
    ) => {
      const name = axes[/** @type {keyof typeof axes} */ (axis)];
      const token = tokenLabel(lesson.labelsOf(result.state, axis, size)[index]);
      const side = axis === 'Tq' ? 'query' : axis === 'Tk' ? 'key' : '';
      return h('span', { class: side }, `${name} `, h('b', { dir: 'auto' }, token));
    };
    place.replaceChildren(
      part(matrix.rowAxis, matrix.rows, at),
      ' → ',
      part(matrix.columnAxis, matrix.columns, column),
    );
  }

  /**
   * @param {Model} model
   * @param {number} head
   * @param {number} at row
   * @param {number} column
   */
  function showChain({ result }, head, at, column) {
    if (!result) return;
    const cell = lesson.readCell(result, head, at, column);
    const largest = Math.max(...(cell.terms ?? []).map(({ product }) => Math.abs(product)), 1e-30);
    terms.hidden = !cell.terms;
    list(terms, cell.terms ?? [], makeTerm, (item, term) => {
      const [text, bar] = /** @type {HTMLElement[]} */ ([...item.children]);
      setText(
        text,
        fill(words.term, {
          query: short(term.query),
          key: short(term.key),
          product: short(term.product),
        }),
      );
      bar.style.setProperty('--size', String(Math.abs(term.product) / largest));
      bar.classList.toggle('negative', term.product < 0);
    });
    const { score } = result.state;
    const all = cell.terms?.reduce((total, { product }) => total + product, 0);
    setText(sum, all === undefined ? '' : fill(words.sum, { sum: short(all) }));
    setText(noTerms, cell.terms ? (score === 'cosine' ? words.norms : '') : words.noTerms);

    for (const [index, [name, tensor]] of chain.entries()) {
      fields[index].show(result.state, tensor, [head, at, column], cell[name]);
    }
    setText(
      mask,
      cell.reasons
        ? fill(words.closed, { reasons: reasonWords(cell.reasons, strings) })
        : words.open,
    );
    mask.classList.toggle('struck', cell.reasons !== 0);

    const keys = lesson.labelsOf(result.state, 'Tk', cell.weights.length);
    const weights = Array.from(cell.weights, (value, at) => ({ token: keys[at], value }));
    barList(row, weights, column, Math.max(1, ...cell.weights));
    setText(
      rowWords,
      `${fill(words.rowSum, { sum: short(cell.rowSum) })} · ${fill(words.entropy, { value: short(cell.entropy) })}`,
    );
    setText(flags, cell.flags & 2 ? words.poisonedRow : cell.flags & 1 ? words.emptyRow : '');
  }

  return {
    element,
    /**
     * @param {Model} model
     * @param {{ row: number, column: number } | null} looked the cell under the pointer
     */
    update(model, looked) {
      const { state, result } = model;
      const matrix = result && lesson.matrixOf(result, state.show, state.head);
      const chosen = looked ?? (state.cell && { row: state.cell[0], column: state.cell[1] });
      const cell =
        matrix && chosen && chosen.row < matrix.rows && chosen.column < matrix.columns
          ? chosen
          : null;
      hint.hidden = cell !== null;
      for (const part of [place, value, tensor, termsPart, chainPart, rowPart, singlePart])
        part.hidden = !cell;
      edits.textContent = fill(words.edits, { count: state.edits.length });
      editsLine.hidden = state.edits.length === 0;
      const name = lesson.formulaOf(state, state.show);
      formulaPart.hidden = !name;
      if (name && name !== shownFormula) {
        shownFormula = name;
        formula.replaceChildren(...formulas[name].map(math));
      }
      if (!cell || !matrix || !result) return;

      const number = matrix.data[cell.row * matrix.columns + cell.column];
      showPlace(model, matrix, cell.row, cell.column);
      setText(value, full(number));
      const link = chain.find(([, name]) => name === state.show);
      setText(tensor, link ? words[link[0]] : state.show);
      const inChain = lesson.isAttentionMap(state.show) && matrix.head !== null;
      for (const part of [termsPart, chainPart, rowPart]) part.hidden = !inChain;
      singlePart.hidden = inChain;
      if (inChain) {
        showChain(model, matrix.head ?? 0, cell.row, cell.column);
      } else {
        const at = lesson.placeOf(matrix, cell.row, cell.column);
        const editable = !lesson.tensors[state.show].fixed;
        single.element.hidden = !editable;
        fixed.hidden = editable;
        single.show(result.state, state.show, at, number);
      }
    },
  };
}

function makeTerm() {
  return h('li', null, h('span'), h('i', { class: 'bar' }));
}

/**
 * One number with its name: typed over it becomes an edit, and the cross beside it takes that back.
 * @param {string} label
 * @param {Context} context
 * @param {string} tensor
 */
function numberField(label, { lesson, strings, dispatch }, tensor) {
  const ids = { input: freshId(), error: freshId() };
  /** @type {number[]} */
  let at = [];
  let text = '';
  const input = h('input', {
    type: 'text',
    id: ids.input,
    name: tensor || 'value',
    class: 'figures',
    inputMode: 'decimal',
    autocomplete: 'off',
    'aria-describedby': ids.error,
    onchange: take,
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Escape') return;
      input.value = text;
      complain('');
    },
  });
  const back = h(
    'button',
    {
      type: 'button',
      class: 'icon',
      'aria-label': strings.inspector.takeBack,
      title: strings.inspector.takeBack,
      onclick: () => dispatch({ type: 'edit', name: tensor, at, value: null }),
    },
    '×',
  );
  const error = h('p', { class: 'error', id: ids.error, role: 'alert' });
  const element = h(
    'div',
    { class: 'number-field' },
    h('label', { htmlFor: ids.input, class: 'name' }, label),
    input,
    back,
    error,
  );

  function take() {
    const value = parse(input.value);
    if (typeof value === 'string') {
      return complain(fill(strings.heatmap.errors[value], { got: input.value }));
    }
    complain('');
    if (float32(value) !== text) dispatch({ type: 'edit', name: tensor, at, value });
  }

  /** @param {string} sentence */
  function complain(sentence) {
    setText(error, sentence);
    setAttribute(input, 'aria-invalid', sentence !== '');
  }

  return {
    element,
    /**
     * @param {import('../../lessons/state.js').State} state
     * @param {string} name of the tensor
     * @param {number[]} place
     * @param {number} number
     */
    show(state, name, place, number) {
      const moved = name !== tensor || place.join() !== at.join();
      tensor = name;
      at = place;
      const next = float32(number);
      const refused = input.hasAttribute('aria-invalid');
      if (moved || (next !== text && !refused)) {
        input.value = next;
        complain('');
      }
      text = next;
      const edited = state.edits.some(
        (/** @type {import('../../lessons/state.js').Edit} */ edit) =>
          edit.name === name && edit.at.join() === place.join(),
      );
      element.classList.toggle('edited', edited);
      back.hidden = !edited;
      input.readOnly = Boolean(lesson.tensors[name].fixed);
    },
  };
}
