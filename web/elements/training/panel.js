/**
 * The training panel of any lesson whose model learns: buttons, how far it is, curves, the saved
 * epochs, what the held-out pairs say, the model as a file.
 *
 * How far the model has trained is one field of the state, `step`, and whether it goes on another,
 * `running`; every button only sets the two. Nothing moves by itself: while numbers change, each
 * control keeps its place and the focus.
 */
import { fill, short } from '../../draw/format.js';
import { freshId, h, setAttribute, setText } from '../dom.js';
import { CurvesView } from '../parts/curves.js';
import { keptRunOf } from './kept-run.js';
import { modelFile } from './model-file.js';
import { epochWords, progressWords, speedWords, timeWords } from './words.js';

/**
 * @typedef {import('../../lessons/state.js').State} State
 * @typedef {{ loss: number, bleu: number }} Score
 *
 * @typedef {object} Trains what the panel asks of its lesson
 * @property {(state: State) => { key: string, steps: number, perEpoch: number }} plan
 * @property {(state: State) => import('../evaluator.js').Failure | undefined} leftAside why the loaded
 *   file is not what training starts from
 * @property {(result: any) => Score | null} scoreOf of the pairs held out; null while it is not known
 *
 * @typedef {import('../../lessons/index.js').Lesson & Trains} Lesson
 * @typedef {Omit<import('../run.js').RunView, 'key' | 'latest' | 'watched'>} Run
 */

/**
 * @typedef {object} Models
 * @property {() => Promise<Uint8Array>} save the model that is shown
 * @property {(name: string, bytes: Uint8Array) => string} bring makes a file known; gives what the state
 *   calls it in `loaded`
 * @property {(values: State) => Promise<void>} attempt tries a state that differs in these from the
 *   present one; `leftAside` knows afterwards
 * @property {(kept: import('./shelf.js').Kept) => void} restore a run of an earlier visit
 */

/** Between two changes of speed and time left, in milliseconds: they are read, not watched. */
const CALM = 500;
/** A way to a step that takes longer is shown like a run, in milliseconds. */
const PATIENCE = 300;

/**
 * @param {import('../parts/controls.js').Context<Lesson>} context
 * @param {Models} [models] where the model can be kept beyond the page
 */
export function trainingPanel(context, models) {
  const { lesson, strings, dispatch } = context;
  const words = strings.training;
  /** @type {State} */
  let state = lesson.defaults;
  /** @type {Run} */
  let run = idle(lesson, state);
  /** Whether the run was ended: the next one starts from the initial weights. */
  let ended = false;
  let wasRunning = false;
  /** Whether numbers are on their way to the step of the state, and since when they are not there. */
  let underWay = false;
  let since = Infinity;
  let calm = 0;
  /** The key of the run that is shown. */
  let shown = '';

  /** @param {object} values @param {string} [together] */
  function set(values, together) {
    ended = false;
    dispatch({ type: 'set', values }, together);
  }
  /** @param {keyof typeof words.help} name @param {() => void} act */
  const button = (name, act) =>
    h(
      'button',
      {
        type: 'button',
        class: 'act',
        title: words.help[name],
        onclick: (/** @type {MouseEvent} */ { currentTarget }) =>
          /** @type {Element} */ (currentTarget).getAttribute('aria-disabled') || act(),
      },
      words[name],
    );
  /** Stays with the numbers that are there, also on the way to a step. */
  const halt = () => set(state.running ? { running: false } : { step: run.step });
  const main = button('train', () => {
    if (underWay) halt();
    else set(anew() ? { step: 0, running: true } : { running: true });
  });
  main.classList.add('main');
  const one = button('one', () => set({ step: state.step + 1, running: false }, 'step'));
  const stop = button('stop', () => {
    halt();
    ended = true;
    show();
  });
  const rewind = button('rewind', () => set({ step: 0, running: false }));

  const ids = { progress: freshId(), scrub: freshId() };
  const bar = h('progress', { 'aria-labelledby': ids.progress });
  const progress = h('p', { class: 'figures', id: ids.progress });
  const speed = h('p', { class: 'figures quiet speed' });
  const left = h('p', { class: 'figures quiet speed' });
  const curves = new CurvesView(context.host, strings, (step) => {
    set({ step: Math.min(step, run.losses.length), running: false }, 'step');
  });

  const scrub = h('input', {
    type: 'range',
    id: ids.scrub,
    min: '0',
    step: '1',
    oninput: () => set({ step: stops()[scrub.valueAsNumber], running: false }, 'step'),
  });
  const scrubbed = h('span', { class: 'figures where' });
  const scrubber = h(
    'div',
    { class: 'control slider' },
    h(
      'p',
      { class: 'line' },
      h('label', { htmlFor: ids.scrub, class: 'quiet' }, words.saved),
      scrubbed,
    ),
    h('div', { class: 'pair' }, scrub),
  );

  const score = heldOut(strings);
  const failure = h('span');
  const back = h('button', {
    type: 'button',
    class: 'link',
    onclick: () => set({ step: lastGood(), running: false }),
  });
  const failed = h('p', { class: 'error line', role: 'alert' }, failure, back);
  const said = h('p', { class: 'unseen', role: 'status' });
  const file = models && modelFile(context, models);
  const kept = models && keptRunOf(context, models.restore);

  const element = h(
    'div',
    { class: 'panel training', role: 'group', 'aria-label': words.name },
    h('div', { class: 'acts' }, main, one, stop, rewind),
    kept?.element,
    bar,
    progress,
    speed,
    left,
    failed,
    curves.element,
    scrubber,
    score.element,
    file?.element,
    said,
  );
  file?.takeFrom(element);

  /** Whether the next run starts from the initial weights. */
  const anew = () => state.step === 0 || ended || state.step >= run.steps;
  /** The step of the numbers that are shown, or the epoch before where the state is there already. */
  const lastGood = () =>
    run.step === state.step ? (run.saved.filter((step) => step < run.step).at(-1) ?? 0) : run.step;
  const stops = () => [0, ...run.saved.filter((step) => step > 0)];

  function show() {
    const start = state.step === 0 ? 'train' : 'again';
    const name = underWay ? 'pause' : anew() ? start : 'resume';
    setText(main, words[name]);
    setAttribute(main, 'title', words.help[name]);
    setAttribute(one, 'aria-disabled', underWay || state.step >= run.steps);
    setAttribute(stop, 'aria-disabled', !underWay && anew());
    setAttribute(rewind, 'aria-disabled', state.step === 0 && !underWay);
  }

  function tell() {
    if (state.running === wasRunning) return;
    wasRunning = state.running;
    if (wasRunning) setText(said, words.said.started);
    else if (failed.hidden && state.step >= run.steps)
      setText(said, fill(words.said.ended, { progress: progressWords(words, run) }));
    else setText(said, failed.hidden ? words.said.paused : '');
  }

  return {
    element,
    connect() {
      curves.connect();
      kept?.connect();
    },
    disconnect() {
      curves.disconnect();
    },
    /** @param {import('../parts/controls.js').Model} model */
    update(model) {
      state = model.state;
      const plan = lesson.plan(state);
      const known = model.result?.run.key === plan.key ? model.result.run : null;
      run = { ...idle(lesson, state), ...known, steps: plan.steps, perEpoch: plan.perEpoch };
      const now = performance.now();
      since = run.step === state.step || model.error ? Infinity : Math.min(since, now);
      underWay = state.running || now - since > PATIENCE;
      show();
      bar.max = Math.max(run.steps, run.step);
      bar.value = run.step;
      setText(progress, progressWords(words, run));
      if (plan.key !== shown || (run.step === 0 && !underWay)) setText(speed, '');
      shown = plan.key;
      if (!underWay) setText(left, '');
      else if (now - calm > CALM && run.stepsPerSecond > 0) {
        calm = now;
        setText(speed, speedWords(words, run));
        setText(left, fill(words.left, { time: timeWords(words, run.secondsLeft) }));
      }
      const wrong = model.error?.field === 'step' ? model.error.message : '';
      failed.hidden = !wrong;
      setText(failure, wrong && fill(words.failed, { message: wrong }));
      setText(back, wrong && fill(words.back, { step: lastGood() }));
      back.hidden = lastGood() === state.step;
      tell();

      const places = stops();
      const at = places.filter((step) => step <= state.step).length - 1;
      scrub.max = String(places.length - 1);
      scrub.valueAsNumber = at;
      scrub.disabled = places.length < 2;
      const where = epochWords(words, state.step, run.perEpoch);
      setAttribute(scrub, 'aria-valuetext', where);
      setText(scrubbed, where);

      curves.show({
        name: words.curves,
        series: [
          { name: words.loss, values: run.losses, log: true },
          { name: words.rate, values: run.rates },
        ],
        // As far as the run is known, also beyond a plan that was made shorter.
        steps: Math.max(run.steps, run.losses.length, state.step),
        first: 1,
        marked: state.step,
      });
      score.update(known && lesson.scoreOf(model.result), run.step, plan.key);
      file?.update(model);
      kept?.update(model);
    },
  };
}

/**
 * A run of which nothing is known yet.
 * @param {Trains} lesson
 * @param {State} state
 * @returns {Run}
 */
function idle(lesson, state) {
  const { steps, perEpoch } = lesson.plan(state);
  return {
    step: 0,
    steps,
    perEpoch,
    losses: [],
    rates: [],
    saved: [],
    stepsPerSecond: 0,
    tokensPerSecond: 0,
    secondsLeft: NaN,
  };
}

/**
 * What the pairs say that the model never saw, and how that changed: a head that is silenced shows what
 * it was worth. Another run, or this one back at its initial weights, is not compared with what was.
 * @param {import('../../i18n/index.js').Strings} strings
 */
function heldOut({ training: words, curves }) {
  /** What the next score is compared with. @type {Score & { step: number } | null} */
  let shown = null;
  let run = '';
  const part = (/** @type {string} */ name) => {
    const value = h('b');
    const change = h('span', { class: 'quiet' });
    return {
      value,
      change,
      element: h('p', { class: 'line' }, h('span', null, name), value, change),
    };
  };
  const loss = part(words.loss);
  const bleu = part(words.bleu);
  const when = h('span');
  const note = h('p', { class: 'note' }, words.noScore);
  const element = h(
    'div',
    { class: 'score', role: 'group', 'aria-label': words.heldOut },
    h('p', { class: 'quiet label' }, words.heldOut, when),
    h('div', { class: 'figures' }, loss.element, bleu.element),
    note,
  );
  return {
    element,
    /**
     * @param {Score | null} score
     * @param {number} step behind the score
     * @param {string} key of the run
     */
    update(score, step, key) {
      if (key !== run || (step === 0 && shown && shown.step > 0)) {
        run = key;
        shown = null;
        for (const { change } of [loss, bleu]) setText(change, '');
      }
      element.classList.toggle('stale', !score);
      note.hidden = loss.value.textContent !== '' || score !== null;
      if (!score) return;
      // It stays with the numbers while training goes on.
      setText(when, ` · ${fill(curves.step, { step })}`);
      if (score.loss === shown?.loss && score.bleu === shown.bleu) return;
      for (const [name, { value, change }] of /** @type {const} */ ([
        ['loss', loss],
        ['bleu', bleu],
      ])) {
        const by = shown ? score[name] - shown[name] : 0;
        setText(value, short(score[name]));
        setText(
          change,
          by === 0 ? '' : fill(words.change, { change: `${by > 0 ? '+' : ''}${short(by)}` }),
        );
      }
      shown = { ...score, step };
    },
  };
}
