/**
 * Learning the width: buttons that move the step, what the width and the error are there, and the curves
 * of both. Steps are so cheap that every one is computed from the start; to play is to move the step.
 */
import { fill, short } from '../../draw/format.js';
import { h, setAttribute, setText } from '../dom.js';
import { CurvesView } from '../parts/curves.js';

/** From one step to the next while it plays, in milliseconds. */
const PACE = 100;

/** @param {import('./plot.js').Context} context */
export function trainingPanel({ host, lesson, strings, dispatch }) {
  const words = strings.regression;
  let state = lesson.defaults;
  let timer = 0;

  /** @param {number} step @param {string} [together] */
  const go = (step, together) => {
    const within = Math.min(lesson.MAX_STEPS, Math.max(0, step));
    dispatch({ type: 'set', values: { step: within } }, together);
  };
  /** @param {boolean} on */
  const play = (on) => {
    clearInterval(timer);
    timer = on ? window.setInterval(() => go(state.step + 1, 'play'), PACE) : 0;
    setText(main, on ? words.pause : words.play);
  };
  /** @param {string} name @param {() => void} act */
  const button = (name, act) => h('button', { type: 'button', class: 'act', onclick: act }, name);
  const main = button(words.play, () => {
    if (!timer && state.step === lesson.MAX_STEPS) go(0);
    play(!timer);
  });
  main.classList.add('main');
  const one = button(words.one, () => {
    play(false);
    go(state.step + 1);
  });
  const rewind = button(words.rewind, () => {
    play(false);
    go(0);
  });
  const width = h('output', { class: 'figures' });
  const flat = h('p', { class: 'note' }, words.flat);
  const curves = new CurvesView(host, strings, (step) => {
    play(false);
    go(step, 'step');
  });
  const learning = h(
    'div',
    null,
    h('p', { class: 'note' }, words.objective),
    h('div', { class: 'acts line' }, main, one, rewind, width),
    curves.element,
  );
  const element = h(
    'div',
    { class: 'panel learning', role: 'group', 'aria-label': words.training },
    h('p', { class: 'title' }, words.training),
    flat,
    learning,
  );

  return {
    element,
    connect: () => curves.connect(),
    disconnect() {
      play(false);
      curves.disconnect();
    },
    /** @param {import('../parts/controls.js').Model} model */
    update(model) {
      state = model.state;
      const learns = lesson.learns(state);
      element.hidden = !state.learned;
      flat.hidden = learns;
      learning.hidden = !learns;
      if (timer && (!learns || state.step === lesson.MAX_STEPS)) play(false);
      setAttribute(one, 'aria-disabled', state.step === lesson.MAX_STEPS);
      setAttribute(rewind, 'aria-disabled', state.step === 0);
    },
    /** @param {import('../../lessons/kernel-regression-view.js').Result} result */
    show(result) {
      setText(width, fill(words.width, { width: short(lesson.widthOf(result)) }));
      const { losses = [], watched = [] } = result.run ?? {};
      curves.show({
        name: words.training,
        series: [
          // No step led to the width that it starts from.
          { name: words.loss, values: [NaN, ...losses], log: true },
          { name: words.curve, values: [result.state.width, ...watched] },
        ],
        steps: lesson.MAX_STEPS,
        marked: result.state.step,
      });
    },
  };
}
