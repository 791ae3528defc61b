/**
 * Sentences about the figure as a whole that no control is to blame for. One of each kind, until the
 * reader takes it away or it no longer holds.
 */
import { fill } from '../../draw/format.js';
import { failureWords } from '../../i18n/index.js';
import { h, setText } from '../dom.js';

/**
 * @typedef {Exclude<keyof import('../../i18n/index.js').Strings['notices'], 'close'>} Kind
 * @typedef {Record<string, string>} Values for the places of the sentence; of `failed` the error itself
 */

/**
 * @param {import('../../i18n/index.js').Strings} strings
 * @param {Iterable<[Kind, Values]>} said in another language
 */
export function notices(strings, said = []) {
  const element = h('div', { class: 'notices', role: 'status' });
  /** @type {Map<Kind, { values: Values, notice: HTMLElement }>} */
  const shown = new Map();

  /** @param {Kind} kind */
  function clear(kind) {
    shown.get(kind)?.notice.remove();
    shown.delete(kind);
  }

  /** @param {Kind} kind @param {Values} values */
  function show(kind, values) {
    const close = { type: 'button', class: 'link', onclick: () => clear(kind) };
    const notice =
      shown.get(kind)?.notice ??
      h('p', { class: 'notice' }, h('span'), h('button', close, strings.notices.close));
    shown.set(kind, { values, notice });
    element.append(notice);
    const message = failureWords(strings, values);
    setText(
      /** @type {Element} */ (notice.firstElementChild),
      fill(strings.notices[kind], { ...values, message }),
    );
  }

  for (const [kind, values] of said) show(kind, values);
  return {
    element,
    clear,
    show,
    /** @returns {[Kind, Values][]} */
    all: () => Array.from(shown, ([kind, { values }]) => [kind, values]),
  };
}
