/**
 * What goes in as text: one side, or both in cross-attention, and how the texts are cut.
 */

import { h } from '../dom.js';
import { makers } from '../parts/controls.js';
import { tokenEditor } from './token-editor.js';

/**
 * @param {import('../parts/controls.js').Context<import('../../lessons/index.js').MultiHead>} context
 * @param {(pointed: import('./token-editor.js').Pointed) => void} point
 * @returns {import('../parts/controls.js').Part}
 */
export function tokensPanel(context, point) {
  const target = tokenEditor('target', context, point);
  const source = tokenEditor('source', context, point);
  /** @type {import('../parts/controls.js').Model | null} */
  let model = null;

  const unit = makers.radios(
    { as: 'radios', name: 'unit' },
    {
      ...context,
      dispatch(intent) {
        if (intent.type !== 'set') return;
        const { unit: cut } = intent.values;
        const [from, to] = [source.recut(cut), target.recut(cut)];
        if (from && to) context.dispatch({ type: 'recut', unit: cut, source: from, target: to });
        else if (model) unit.update(model);
      },
    },
  );
  unit.element.classList.add('inline');
  const parts = [target, source, unit];
  return {
    element: h(
      'div',
      { class: 'panel', role: 'group', 'aria-label': context.strings.tokens.title },
      ...parts.map((part) => part.element),
    ),
    update(next) {
      model = next;
      for (const part of parts) part.update(next);
    },
  };
}
