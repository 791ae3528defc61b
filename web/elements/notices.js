/**
 * Sentences about the figure as a whole that no control is to blame for. One of each kind, until the
 * reader takes it away or it no longer holds.
 */
import { h, setText } from './dom.js';

/** @param {import('../i18n/index.js').Strings} strings */
export function notices(strings) {
  const element = h('div', { class: 'notices', role: 'status' });
  /** @type {Map<string, HTMLElement>} */
  const shown = new Map();

  /** @param {string} kind */
  function clear(kind) {
    shown.get(kind)?.remove();
    shown.delete(kind);
  }

  return {
    element,
    clear,
    /**
     * @param {string} kind
     * @param {string} sentence
     */
    show(kind, sentence) {
      let notice = shown.get(kind);
      if (!notice) {
        const close = { type: 'button', class: 'link', onclick: () => clear(kind) };
        notice = h('p', { class: 'notice' }, h('span'), h('button', close, strings.notices.close));
        shown.set(kind, notice);
        element.append(notice);
      }
      setText(/** @type {Element} */ (notice.firstElementChild), sentence);
    },
  };
}
