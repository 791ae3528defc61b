/**
 * What was trained until the last saved epoch is kept, and the next visit offers to go on from it.
 */
import { fill } from '../../draw/format.js';
import { isValid } from '../../lessons/state.js';
import { h, setText } from '../dom.js';
import { forgetRun, keepRun, keptRun } from './shelf.js';

/** A state is large: while a run goes on it is written down no more often, in milliseconds. */
const REST = 2000;

/**
 * @param {import('../parts/controls.js').Context<import('./panel.js').Lesson>} context
 * @param {(kept: import('./shelf.js').Kept) => void} restore hands a run to the evaluator
 */
export function keptRunOf({ lesson, strings, dispatch }, restore) {
  const words = strings.training;
  const said = h('span');
  /** @param {string} name @param {() => void} act */
  const button = (name, act) => h('button', { type: 'button', class: 'link', onclick: act }, name);
  const element = h(
    'p',
    { class: 'line kept-run', role: 'status', hidden: true },
    said,
    button(words.goOn, goOn),
    button(words.forget, forget),
  );
  /** What the last visit left and is offered; undefined until that is known. */
  let kept = /** @type {import('./shelf.js').Kept | null | undefined} */ (undefined);
  /** The step that was written down last, and when. */
  let written = { key: '', step: -1, time: -Infinity };
  /** @type {import('../run.js').RunView | undefined} */
  let run;

  async function look() {
    const found = readKept(lesson, await keptRun(lesson.name));
    kept = found && !isBehind(found) ? found : null;
    if (kept) setText(said, fill(words.kept, { step: kept.step }));
    offer();
  }

  /** Nobody is offered to go where the figure is. */
  function offer() {
    element.hidden = !kept || (run?.key === kept.key && run.step >= kept.step);
  }

  /** Whether the run that is shown has come as far. @param {import('./shelf.js').Kept} kept */
  const isBehind = ({ key, step }) => run?.key === key && (run.latest?.step ?? -1) >= step;

  function goOn() {
    if (!kept) return;
    const { step, state } = kept;
    restore(kept);
    dispatch({ type: 'load', values: { ...state, step, running: false } });
    withdraw();
  }

  function forget() {
    forgetRun(lesson.name);
    withdraw();
  }

  function withdraw() {
    kept = null;
    element.hidden = true;
  }

  return {
    element,
    connect() {
      look();
    },
    /** @param {import('../parts/controls.js').Model} model */
    update({ state, result }) {
      run = result?.run;
      offer();
      if (!run?.latest || kept === undefined) return;
      const { key, latest, losses, rates } = run;
      // What is offered stays on the shelf until a run goes beyond it, or the reader trains another model.
      if (kept && (kept.key === key ? !isBehind(kept) : !state.running)) return;
      if (kept) withdraw();
      const now = performance.now();
      const known = key === written.key && latest.step === written.step;
      if (known || (state.running && now - written.time < REST)) return;
      written = { key, step: latest.step, time: now };
      keepRun(lesson.name, {
        key,
        ...latest,
        losses: losses.slice(0, latest.step),
        rates: rates.slice(0, latest.step),
        state: { ...state, running: false },
      });
    },
  };
}

/**
 * A run as it was found, where it is one of today's lesson: an earlier or a later release may have written
 * another form down.
 * @param {import('./panel.js').Lesson} lesson
 * @param {unknown} found
 * @returns {import('./shelf.js').Kept | null}
 */
export function readKept(lesson, found) {
  const { key, step, saved, losses, rates, state } = /** @type {any} */ (found ?? {});
  const areNumbers = (/** @type {unknown} */ list) =>
    Array.isArray(list) && list.every((value) => typeof value === 'number');
  if (!(saved instanceof Uint8Array) || !areNumbers(losses) || !areNumbers(rates)) return null;
  const fields = Object.entries(lesson.table).map(([name, field]) => {
    const value = state?.[name];
    return [name, isValid(field, value) ? value : field.default];
  });
  const settled = lesson.settle(Object.fromEntries(fields));
  const { key: own } = lesson.plan(settled);
  const isStep =
    isValid(lesson.table.step, step) && lesson.settle({ ...settled, step }).step === step;
  return isStep && key === own ? { key, step, saved, losses, rates, state: settled } : null;
}
