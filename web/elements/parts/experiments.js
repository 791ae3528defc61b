/**
 * Try this: small experiments, each an ordinary link to a state, and the sentence that says what to
 * look for in the one that was chosen.
 */
import { encodeState } from '../../lessons/state.js';
import { pageLink } from '../address.js';
import { h, setAttribute, setText } from '../dom.js';

/** In milliseconds: links to open elsewhere can wait until the first figure is drawn. */
const AFTER_DRAWING = 100;

/**
 * @param {import('./controls.js').Context} context
 * @returns {import('./controls.js').Part}
 */
export function experiments({ lesson, strings, language, dispatch }) {
  const words = /** @type {Record<string, { title: string, look: string }>} */ (
    strings.experiments
  );
  const look = h('p', { class: 'look', role: 'status' });
  const links = lesson.experiments.map((experiment) => {
    const values = lesson.experimentValues(experiment, language === 'zh-CN');
    const aim = () => {
      link.href = pageLink(link.hash); // the page's address may have changed since
    };
    const link = h(
      'a',
      {
        onpointerdown: aim,
        onfocus: aim,
        onclick: (/** @type {MouseEvent} */ event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          dispatch({ type: 'load', values });
        },
      },
      words[experiment.name].title,
    );
    link.href = '#';
    // What it says of a sentence holds for the one that it has in this language.
    const sentence = Object.keys(experiment.chinese ?? {});
    const state = { ...lesson.defaults, ...values };
    const isShown = (/** @type {import('../../lessons/state.js').State} */ shown) =>
      shown.experiment === experiment.name &&
      sentence.every((field) => JSON.stringify(shown[field]) === JSON.stringify(state[field]));
    return { name: experiment.name, values, link, isShown };
  });
  let addressed = false;
  const address = () => {
    for (const { values, link } of links) {
      encodeState(lesson.table, lesson.reduce(lesson.defaults, { type: 'load', values })).then(
        (hash) => {
          link.href = pageLink(hash);
        },
        () => {}, // no link to open elsewhere; the click works
      );
    }
  };
  const name = h('span', { class: 'quiet' }, strings.playground.experiments);
  return {
    element: h(
      'div',
      { class: 'experiments', role: 'group', 'aria-label': strings.playground.experiments },
      h('p', { class: 'line' }, name, ...links.map(({ link }) => link)),
      look,
    ),
    update({ state, result }) {
      if (result && !addressed) {
        addressed = true;
        setTimeout(address, AFTER_DRAWING);
      }
      const shown = links.find(({ isShown }) => isShown(state));
      for (const each of links) setAttribute(each.link, 'aria-current', each === shown && 'true');
      setText(look, shown ? words[shown.name].look : '');
    },
  };
}
