/**
 * Numbers as small bars in a list, each with its token: the weights of a row, the likeliest next tokens.
 */
import { short, tokenLabel } from '../../draw/format.js';
import { h, list, setAttribute, setText } from '../dom.js';

/**
 * @param {Element} parent a list
 * @param {readonly { token: string, value: number }[]} items
 * @param {number} marked the place of one that is pointed out
 * @param {number} [most] what fills a bar, if not the largest of them
 */
export function barList(
  parent,
  items,
  marked,
  most = Math.max(...items.map(({ value }) => value)),
) {
  list(parent, items, makeBar, (item, { token, value }, at) => {
    const [name, bar, number] = /** @type {HTMLElement[]} */ ([...item.children]);
    setText(name, tokenLabel(token));
    bar.style.setProperty('--size', String(value / most || 0));
    setText(number, short(value));
    setAttribute(item, 'aria-current', at === marked ? 'true' : null);
  });
}

function makeBar() {
  return h(
    'li',
    null,
    h('span', { class: 'token' }),
    h('i', { class: 'bar' }),
    h('span', { class: 'number' }),
  );
}
