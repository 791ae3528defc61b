/**
 * The same steps as lines of PyTorch, for readers who think in code; the whole script, inputs and
 * parameters included, is a copy away.
 */
import { h, setText } from '../dom.js';
import { fold } from '../parts/fold.js';

/**
 * @param {import('../parts/controls.js').Context<import('../../lessons/index.js').MultiHead>} context
 * @param {() => void} copy the whole script
 * @returns {import('../parts/controls.js').Part & { element: HTMLDetailsElement }}
 */
export function torchCode({ lesson, strings }, copy) {
  const code = h('pre', { class: 'code', tabIndex: 0 });
  const { element } = fold(
    strings.export.sameInTorch,
    code,
    h('button', { type: 'button', class: 'link', onclick: copy }, strings.export.wholeScript),
  );
  return {
    element,
    update: ({ state }) => setText(code, lesson.torchSteps(state).join('\n')),
  };
}
