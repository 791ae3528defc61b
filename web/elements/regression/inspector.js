/**
 * The query's row in numbers: its prediction, the sum weight · value that makes it, term by term, and the
 * formulas behind it.
 */
import { formulas } from '../../../build/formulas.js';
import { fill, full, short } from '../../draw/format.js';
import { h, list, math, setText } from '../dom.js';

/** Terms of smaller weights are only counted. */
const LEAST = 0.001;

/**
 * @param {import('./plot.js').Context} context
 * @param {(looked: Partial<import('./plot.js').Looked>) => void} look
 */
export function inspector({ lesson, strings }, look) {
  const words = strings.regression;
  const place = h('p', { class: 'place query' });
  const value = h('p', { class: 'value' });
  const terms = h('ol', { class: 'terms figures', tabIndex: 0, 'aria-label': words.sum });
  const rest = h('p', { class: 'note' });
  const sum = h('p', { class: 'sum figures' });
  const none = h('p', { class: 'note' }, words.none);
  const parts = h(
    'div',
    { class: 'part' },
    h('p', { class: 'quiet label' }, words.sum),
    terms,
    rest,
    sum,
  );
  const formula = h('div', { class: 'part formula large' });
  const element = h(
    'div',
    { class: 'panel inspector', role: 'group', 'aria-label': words.inspector },
    h('div', { class: 'headline' }, place, value),
    none,
    parts,
    formula,
  );
  /** Places from the left of the points whose terms are shown. @type {number[]} */
  let shown = [];
  let kernel = '';
  terms.addEventListener('pointerleave', () => look({ place: null }));

  /** @param {number} at */
  const make = (at) =>
    h(
      'li',
      { onpointerenter: () => look({ place: shown[at] }) },
      h('span'),
      h('i', { class: 'bar' }),
    );
  return {
    element,
    /**
     * @param {import('../../lessons/kernel-regression-view.js').Result} result
     * @param {number} query
     */
    show(result, query) {
      const read = lesson.readQuery(result, query);
      const most = read.terms.reduce((most, { product }) => Math.max(most, Math.abs(product)), 0);
      if (kernel !== result.state.kernel) {
        ({ kernel } = result.state);
        const names = ['regression', 'regression-distance', `kernel-${kernel}`];
        formula.replaceChildren(
          ...names.map((name) => h('div', null, ...formulas[name].map(math))),
        );
      }
      setText(place, fill(words.at, { x: short(read.x) }));
      setText(value, read.empty ? '–' : full(read.prediction));
      setText(sum, fill(words.total, { sum: short(read.prediction) }));
      none.hidden = !read.empty;
      parts.hidden = read.empty;
      shown = [...read.terms.keys()].filter((at) => read.terms[at].weight >= LEAST);
      const left = read.terms.length - shown.length;
      setText(rest, left > 0 ? fill(words.rest, { count: left }) : '');
      list(terms, shown, make, (row, at) => {
        const { key, weight, value, product } = read.terms[at];
        const [text, bar] = row.children;
        setText(
          text,
          fill(words.term, {
            key: short(key),
            weight: short(weight),
            value: short(value),
            product: short(product),
          }),
        );
        const { style, classList } = /** @type {HTMLElement} */ (bar);
        style.setProperty('--size', String(most > 0 ? Math.abs(product) / most : 0));
        classList.toggle('negative', product < 0);
      });
    },
    /** @param {number | null} place of the point that is pointed at */
    light(place) {
      for (const [at, row] of [...terms.children].entries()) {
        row.classList.toggle('lit', shown[at] === place);
      }
    },
  };
}
