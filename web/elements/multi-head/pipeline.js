/**
 * The steps from scores to output, left to right: a small map of each, its name and its formula. The
 * one that is shown large is pressed.
 */
import { formulas } from '../../../build/formulas.js';
import { h, list, math, setAttribute, setText } from '../dom.js';
import { MiniMap } from '../heatmap/mini-map.js';

/**
 * @param {import('../parts/controls.js').Context<import('../../lessons/index.js').MultiHead>} context
 * @param {import('./painter.js').Painter} painter
 * @returns {import('../parts/controls.js').Part}
 */
export function pipeline({ lesson, strings, dispatch }, painter) {
  /** @type {MiniMap[]} */
  const maps = [];
  /** @type {string[]} */
  const shownFormulas = [];
  /** @type {ReturnType<typeof lesson.steps>} */
  let steps = [];
  const element = h('ol', { class: 'pipeline', 'aria-label': strings.steps.pipeline });

  /**
   * @param {string} step
   * @param {import('../../lessons/state.js').State} state
   */
  const words = (step, state) =>
    /** @type {Record<string, string>} */ (
      step === 'normalise' ? strings.controls.normalise.choices : strings.steps
    )[step === 'normalise' ? state.normalise : step];

  /** @param {number} index */
  const make = (index) => {
    maps[index] = new MiniMap();
    const choose = () => dispatch({ type: 'set', values: { show: steps[index].tensor } });
    return h(
      'li',
      null,
      h(
        'button',
        { type: 'button', class: 'step', onclick: choose },
        h('span', { class: 'title' }),
        h('span', { class: 'well' }, maps[index].element),
      ),
      h('div', { class: 'formula' }),
    );
  };

  return {
    element,
    update({ state, result }) {
      if (!result) return;
      steps = lesson.steps(result.state);
      list(element, steps, make, (item, step, index) => {
        const button = /** @type {Element} */ (item.firstElementChild);
        const formula = /** @type {Element} */ (item.lastElementChild);
        setText(/** @type {Element} */ (button.firstElementChild), words(step.name, result.state));
        setAttribute(button, 'aria-pressed', String(step.tensor === state.show));
        if (shownFormulas[index] !== step.formula) {
          shownFormulas[index] = step.formula;
          formula.replaceChildren(...formulas[step.formula].map(math));
        }
        const picture = painter.picture(result, step.tensor, result.state.head);
        if (picture) painter.paint(maps[index], picture);
      });
    },
  };
}
