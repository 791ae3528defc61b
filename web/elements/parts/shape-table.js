/**
 * Every tensor of the figure: its name, its shape in letters and numbers, what it is computed from,
 * and the axis along which it sums to 1. The name of one that the figure can show large does so.
 */
import { fill } from '../../draw/format.js';
import { h, list, setAttribute, setText } from '../dom.js';
import { fold } from './fold.js';

/** @typedef {import('../../lessons/index.js').Lesson & { tensors?: Record<string, unknown> }} Named those
 *   of the model that have a name; by default all have */

/**
 * @param {import('./controls.js').Context<Named>} context
 * @returns {import('./controls.js').Part & { element: HTMLDetailsElement }}
 */
export function shapeTable({ lesson, strings, dispatch }) {
  const words = strings.shapes;
  const body = h('tbody');
  const head = [words.tensor, words.shape, words.sources].map((word) =>
    h('th', { scope: 'col' }, word),
  );
  const { element, describe } = fold(
    words.name,
    h(
      'div',
      { class: 'scroll', tabIndex: 0, role: 'group', 'aria-label': words.name },
      h('table', { class: 'shapes' }, h('thead', null, h('tr', null, ...head)), body),
    ),
  );
  /** @type {import('../../../wasm/engine.js').TensorInfo[]} */
  let tensors = [];
  const { tensors: named } = lesson;
  const { choices } = lesson.table.show;

  /** @param {number} index */
  function make(index) {
    const show = () => dispatch({ type: 'set', values: { show: tensors[index].name } });
    return h(
      'tr',
      null,
      h('th', { scope: 'row' }, h('button', { type: 'button', class: 'link', onclick: show })),
      h('td', null, h('span'), h('span', { class: 'quiet' })),
      h('td', null, h('span'), h('span', { class: 'quiet' })),
    );
  }

  return {
    element,
    update({ state, result }) {
      if (!result) return;
      tensors = result.tensors.filter(
        (/** @type {{ name: string }} */ { name }) => !named || Object.hasOwn(named, name),
      );
      describe(String(tensors.length));
      list(body, tensors, make, (row, tensor) => {
        const [name, shape, sources] = [...row.children];
        const button = /** @type {Element} */ (name.firstElementChild);
        breakable(button, tensor.name);
        setAttribute(button, 'disabled', choices !== undefined && !choices.includes(tensor.name));
        setAttribute(button, 'aria-pressed', String(tensor.name === state.show));
        const [letters, numbers] = shape.children;
        setText(letters, `[${tensor.axes.join(', ')}]`);
        setText(numbers, tensor.shape.join(' × '));
        const [from, sum] = sources.children;
        const own = tensor.name.split('.')[0];
        breakable(from, tensor.inputs.map((input) => input.replace(`${own}.`, '')).join(', '));
        const axis = tensor.sumsToOne === null ? '' : tensor.axes[tensor.sumsToOne];
        setText(sum, axis && fill(words.sum, { axis }));
      });
    },
  };
}

/**
 * A dotted name that may break after its dots and underscores.
 * @param {Element} element
 * @param {string} name
 */
function breakable(element, name) {
  if (element.textContent === name) return;
  const parts = name.split(/(?<=[._])/);
  element.replaceChildren(...parts.flatMap((part) => [h('wbr'), part]).slice(1));
}
