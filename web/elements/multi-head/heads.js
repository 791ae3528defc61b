/**
 * The heads as small multiples: the mean first, then each head, all on one scale, each with the mean
 * entropy of its rows. A click shows a head large; its box switches it off.
 */
import { fill, short } from '../../draw/format.js';
import { h, list, setAttribute, setText } from '../dom.js';
import { MiniMap } from '../heatmap/mini-map.js';

const MEAN = 'attention.mean_weights';
const WEIGHTS = 'attention.weights';

/**
 * @param {import('../parts/controls.js').Context<import('../../lessons/index.js').MultiHead>} context
 * @param {import('./painter.js').Painter} painter
 * @returns {import('../parts/controls.js').Part}
 */
export function heads({ lesson, strings, dispatch }, painter) {
  const words = strings.stage;
  /** @type {MiniMap[]} */
  const maps = [];
  /** @type {import('../../lessons/state.js').State} */
  let state = lesson.defaults;
  const tiles = h('ol', { class: 'heads' });
  const element = h('div', { role: 'group', 'aria-label': words.heads }, tiles);

  /** @param {number} head -1 for the mean */
  function choose(head) {
    if (head < 0) return dispatch({ type: 'set', values: { show: MEAN } });
    const show =
      state.show === MEAN || !lesson.tensors[state.show].axes.includes('h') ? WEIGHTS : state.show;
    dispatch({ type: 'set', values: { head, show } });
  }

  /** @param {number} head @param {boolean} on */
  function silence(head, on) {
    const others = state.silenced.filter((/** @type {number} */ other) => other !== head);
    dispatch({ type: 'set', values: { silenced: on ? others : [...others, head] } });
  }

  /** @param {number} index */
  function make(index) {
    const head = index - 1;
    maps[index] = new MiniMap();
    const button = h(
      'button',
      { type: 'button', class: 'head', onclick: () => choose(head) },
      h('span', { class: 'well' }, maps[index].element),
      h('span', { class: 'title' }),
      h('span', { class: 'number quiet' }),
    );
    if (head < 0) return h('li', { class: 'mean' }, button);
    const box = h('input', {
      type: 'checkbox',
      'aria-label': fill(words.silence, { head: head + 1 }),
      title: fill(words.silence, { head: head + 1 }),
      onchange: () => silence(head, box.checked),
    });
    return h('li', null, button, box);
  }

  return {
    element,
    update({ state: now, result }) {
      if (!result) return;
      state = now;
      const { mean, heads: each } = lesson.entropies(result);
      list(tiles, [mean, ...each], make, (item, entropy, index) => {
        const head = index - 1;
        const [button, box] = item.children;
        const [, title, number] = button.children;
        setText(title, head < 0 ? words.mean : fill(words.head, { head: head + 1 }));
        // The heads' mean is not the entropy of their mean, which nothing here computes.
        setText(number, head < 0 ? '' : fill(words.entropy, { value: short(entropy) }));
        const shown = head < 0 ? now.show === MEAN : now.show !== MEAN && now.head === head;
        setAttribute(button, 'aria-pressed', String(shown));
        const off = now.silenced.includes(head);
        item.classList.toggle('silenced', off);
        if (box) /** @type {HTMLInputElement} */ (box).checked = !off;
        const picture = painter.picture(result, head < 0 ? MEAN : WEIGHTS, Math.max(head, 0));
        if (picture) painter.paint(maps[index], picture);
      });
    },
  };
}
