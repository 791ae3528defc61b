/**
 * The same steps as lines of PyTorch, for readers who think in code; the whole script, inputs and
 * parameters included, is a copy away.
 */
import { h, setText } from '../dom.js';
import { fold } from './fold.js';

/**
 * @typedef {import('../../lessons/index.js').Lesson &
 *   { torchSteps: (state: import('../../lessons/state.js').State) => string[] }} Scripted
 *
 * @param {import('./controls.js').Context<Scripted>} context
 * @param {() => void} copy the whole script
 * @returns {import('./controls.js').Part & { element: HTMLDetailsElement }}
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
