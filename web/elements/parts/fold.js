/**
 * Something that opens and closes: its name, and beside it what it holds in a few words while closed.
 */
import { h, setText } from '../dom.js';

/**
 * @param {string} name
 * @param {...Node} content
 */
export function fold(name, ...content) {
  const words = h('span', { class: 'quiet' });
  const element = h(
    'details',
    { class: 'fold' },
    h('summary', null, h('span', { class: 'title' }, name), words),
    h('div', { class: 'content' }, ...content),
  );
  return {
    element,
    /** @param {string} text */
    describe: (text) => setText(words, text),
  };
}
