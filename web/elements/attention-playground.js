/**
 * <attention-playground>: one lesson as a live figure.
 *
 *   <attention-playground lesson="multi-head" controls="tokens masks heads"></attention-playground>
 *
 * Attributes:
 *   lesson       which lesson, default "multi-head"
 *   state        a state to start from, as in a link: "#v1.…"
 *   controls     the panels to show, by the names that the lesson has for them; all without the
 *                attribute, the others one click away with it
 *   lang         "en" or "zh-CN"; else the nearest ancestor's, else the browser's
 *   theme        "light" or "dark"; else the nearest ancestor's data-theme, else the system's
 *   follow-hash  the figure and the page's address name each other, and a link to it can be copied; for
 *                one figure of a page. An address that points at a part of the page leaves the figure alone
 *
 * Methods: link() → the state as "#v1.…" ('' for the defaults), undo(), redo(), reset().
 * Events (bubbling, composed): `attentionchange` when numbers of a new state are drawn, with
 * detail { state }, plain data.
 *
 * Data flow one way: a control sends an intent, the lesson reduces it to a new state, the state makes
 * a request, the core answers with tensors, and the parts draw them. Nothing of it leaves the element:
 * two figures on a page share no state.
 */
import { createClient } from '../../wasm/client.js';
import { json } from '../draw/export-data.js';
import { failureWords, languageOf, stringsOf, watchLanguage } from '../i18n/index.js';
import * as line from '../lessons/history.js';
import { defaultLesson, lessons } from '../lessons/index.js';
import { encodeState, openLink, sameState } from '../lessons/state.js';
import { embedCode, frameCode, pageLink } from './address.js';
import { Evaluator } from './evaluator.js';
import { figures } from './figures.js';
import { canLink, FollowedAddress } from './followed-address.js';
import { keep } from './parts/keep.js';
import { refusedTexts, retype } from './parts/refused.js';
import { playgroundStyle } from './playground-style.js';
import { adopt } from './style.js';
import { schemeOf, watchSurroundings } from './theme.js';
import { checkLanguage, checkTheme, wantedPanels } from './wishes.js';

/**
 * @typedef {import('../lessons/index.js').Lesson} Lesson
 * @typedef {import('../lessons/state.js').State} State
 * @typedef {import('./evaluator.js').Result} Result
 * @typedef {import('./evaluator.js').Failure} Failure
 */

/**
 * Training that failed, or that ran in a state one goes back to, does not run on by itself.
 * @param {line.History} history
 */
function halted(history) {
  const state = line.present(history);
  return state.running ? line.amend(history, { ...state, running: false }) : history;
}

const BUSY_DELAY = 300;

export class AttentionPlayground extends HTMLElement {
  static observedAttributes = ['lesson', 'state', 'controls', 'theme', 'follow-hash'];

  #root = this.attachShadow({ mode: 'open' });
  /** @type {Lesson} */
  #lesson = lessons[defaultLesson];
  #history = line.startHistory(this.#lesson.defaults);
  /** What reset comes back to. @type {State} */
  #home = this.#lesson.defaults;
  /** @type {Result | null} */
  #result = null;
  /** @type {{ field: string, failure: Failure } | null} */
  #error = null;
  /** @type {import('./parts/frame.js').Figure | null} */
  #figure = null;
  /** What the figure speaks. @type {import('../i18n/index.js').Language | null} */
  #language = null;
  /** @type {Evaluator | null} */
  #evaluator = null;
  /** What was trained before the element was taken off the page. @type {Evaluator['runs']} */
  #runs = [];
  #stop = new AbortController();
  #busyTimer = 0;
  /** Whether the state of the attribute or of the address is there. */
  #started = false;
  /** Whether the address cannot say what the figure shows. */
  #nameless = false;
  /** Each figure has its own: another one on the page may end its run first. */
  #ask = (/** @type {BeforeUnloadEvent} */ event) => event.preventDefault();
  #address = new FollowedAddress({
    follows: () => this.#follows,
    lesson: () => this.#lesson,
    present: () => line.present(this.#history),
    home: () => this.getAttribute('state') ?? '',
    open: (opened) => {
      this.#judge(opened);
      this.#step(opened.state, '');
    },
    written: (code) => {
      if (code) this.#notify(code);
      else this.#figure?.notices.clear('linkTooLong');
      this.#nameless = code !== null;
      this.#guard();
    },
  });
  #sizes = new ResizeObserver(([{ contentRect }]) => this.#fit(contentRect.width));

  connectedCallback() {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const stops = [
      watchLanguage(this, () => this.#translate()),
      watchSurroundings(this, () => this.#repaint()),
    ];
    signal.addEventListener('abort', () => {
      for (const stop of stops) stop();
    });
    document.addEventListener('keydown', (event) => this.#press(event), { signal });
    addEventListener(
      'hashchange',
      () => {
        if (this.#started) this.#address.look();
      },
      { signal },
    );
    checkTheme(this);
    checkLanguage(this);
    if (this.#started) this.#resume();
    else this.#start();
  }

  disconnectedCallback() {
    this.#stop.abort();
    this.#sizes.disconnect();
    this.#figure?.disconnect();
    this.#evaluator?.close();
    this.#runs = this.#evaluator?.runs ?? [];
    this.#evaluator = null;
    this.#address.stop();
    this.#settled();
    this.#guard();
  }

  /**
   * @param {string} name
   * @param {string | null} before
   * @param {string | null} after
   */
  attributeChangedCallback(name, before, after) {
    if (before === after) return;
    const opens = name === 'lesson' || name === 'state';
    if (!this.#evaluator) {
      this.#started &&= !opens;
    } else if (name === 'lesson' || (opens && !this.#started)) {
      this.#evaluator.close();
      this.#start();
    } else if (name === 'state') {
      this.#takeHome(after ?? '');
    } else if (name === 'theme') {
      checkTheme(this);
      this.#repaint();
    } else {
      this.#rebuild();
      this.#address.look();
      this.#guard();
    }
  }

  /** What stands behind the # of the page's address, as a figure that follows it last saw it. */
  get hash() {
    return this.#address.hash;
  }

  /** Whether it follows the page's address and that cannot say what it shows. */
  get unsaved() {
    return this.#follows && this.#nameless;
  }

  /**
   * @returns {Promise<string>} what names the present state behind a page's address
   */
  async link() {
    if (!canLink()) throw new DOMException(this.#strings.notices.noLink, 'NotSupportedError');
    return encodeState(this.#lesson.table, line.present(this.#history));
  }

  undo() {
    this.#goTo(line.travel(this.#history, -1));
  }

  redo() {
    this.#goTo(line.travel(this.#history, 1));
  }

  reset() {
    this.#step(this.#home, '');
  }

  get #follows() {
    return this.hasAttribute('follow-hash');
  }

  get #strings() {
    return stringsOf(languageOf(this));
  }

  /** @param {Evaluator['runs']} [runs] */
  #open(runs) {
    const client = createClient();
    client.onRestart = () => this.#notify('restarted');
    this.#evaluator = new Evaluator(
      this.#lesson,
      client,
      {
        present: () => line.present(this.#history),
        reached: (step) => this.#reached(step),
        computed: (result) => this.#computed(result),
        failed: (failure) => this.#failed(failure),
      },
      runs,
    );
    return this.#evaluator;
  }

  /** Goes on where the element was taken off the page. */
  #resume() {
    this.#open(this.#runs);
    this.#remake();
    this.#show();
    this.#address.look();
  }

  async #start() {
    this.#started = false;
    const name = this.getAttribute('lesson') ?? defaultLesson;
    const known = Object.hasOwn(lessons, name);
    this.#lesson = lessons[known ? name : defaultLesson];
    const evaluator = this.#open();
    evaluator.prepare();
    this.#result = null;
    for (const [kind] of this.#figure?.notices.all() ?? []) this.#figure?.notices.clear(kind);
    this.#history = line.startHistory(this.#lesson.defaults);
    this.#rebuild();
    const { signal } = this.#stop;
    const home = await openLink(this.#lesson, this.getAttribute('state') ?? '');
    const opened = await this.#address.start(home);
    if (signal.aborted || evaluator !== this.#evaluator) return;
    if (!known) this.#notify('lesson', { name, names: Object.keys(lessons).join(', ') });
    this.#started = true;
    this.#home = home.state;
    this.#history = line.startHistory(opened.state);
    this.#judge(opened);
    this.#show();
  }

  /**
   * Says what is wrong with a link.
   * @param {Awaited<ReturnType<typeof openLink>>} opened
   */
  #judge({ code, names }) {
    for (const kind of /** @type {const} */ (['broken', 'too-long', 'version', 'fields'])) {
      this.#figure?.notices.clear(kind);
    }
    if (code) this.#notify(code);
    if (names.length > 0) this.#notify('fields', { names: names.join(', ') });
  }

  /** @param {string} link */
  async #takeHome(link) {
    const lesson = this.#lesson;
    const opened = await openLink(lesson, link);
    if (lesson !== this.#lesson || link !== (this.getAttribute('state') ?? '')) return;
    this.#judge(opened);
    this.#home = opened.state;
    this.#step(this.#home, '');
  }

  #translate() {
    if (languageOf(this) === this.#language) return;
    checkLanguage(this);
    this.#remake();
  }

  /** Makes the parts anew and leaves them as the reader has them. */
  #remake() {
    const fit = () => this.#fit(this.#figure?.element.clientWidth ?? 0);
    fit();
    const putBack = keep(this.#root);
    this.#rebuild();
    fit();
    putBack();
  }

  /** Makes the parts anew, in the language and with the panels that are wanted now. */
  #rebuild() {
    this.#figure?.disconnect();
    const language = languageOf(this);
    this.#language = language;
    const controls = this.getAttribute('controls');
    const said = this.#figure?.notices.all();
    const { name } = this.#lesson;
    this.#figure = figures[name](
      {
        host: this,
        lesson: this.#lesson,
        language,
        strings: stringsOf(language),
        dispatch: (/** @type {any} */ intent, together) => this.#dispatch(intent, together),
      },
      {
        actions: { undo: () => this.undo(), redo: () => this.redo(), reset: () => this.reset() },
        exports: {
          picture: (format) => this.#picture(format),
          json: () => this.#json(),
          link: this.#follows ? async () => pageLink(await this.link()) : null,
          embed: async () => embedCode(name, await this.link(), controls, language),
          frame: async () => frameCode(name, await this.link(), controls, language),
          torch: async () =>
            this.#lesson.toPyTorch(line.present(this.#history), await this.#everything()),
          failed: (error) => this.#notExported(error),
        },
        model: {
          save: async (names) => /** @type {Evaluator} */ (this.#evaluator).save(names),
          attempt: async (values) => this.#evaluator?.attempt(values),
          restore: (kept) => this.#evaluator?.restore(kept),
        },
        wanted: wantedPanels(this, this.#lesson.panels),
        notes: said,
      },
    );
    this.#adopt();
    const refused = refusedTexts(this.#root);
    this.#root.replaceChildren(this.#figure.element);
    this.#figure.connect();
    this.#sizes.disconnect();
    this.#sizes.observe(this.#figure.element);
    if (this.#started) this.#update();
    retype(this.#root, refused);
  }

  #adopt() {
    const theme = this.getAttribute('theme');
    const scheme = theme === 'light' || theme === 'dark' ? theme : schemeOf(this);
    adopt(this.#root, scheme, playgroundStyle);
    if (this.#figure) this.#figure.element.dataset.theme = scheme;
    this.#figure?.refresh();
  }

  #repaint() {
    this.#adopt();
    this.#figure?.updateOutputs(this.#model);
  }

  /** @param {number} width */
  #fit(width) {
    if (width > 0 && this.#figure?.fit(width)) this.#figure.updateOutputs(this.#model);
  }

  get #model() {
    const state = line.present(this.#history);
    const { field = '', failure = null } = this.#error ?? {};
    const error = failure && {
      field,
      message: failureWords(this.#strings, failure, state[field]),
    };
    return { state, result: this.#result, error };
  }

  /**
   * @param {import('../lessons/index.js').CommonIntent} intent, or one that only the lesson knows
   * @param {string} [together]
   */
  #dispatch(intent, together = '') {
    this.#step(this.#lesson.reduce(line.present(this.#history), intent), together);
  }

  /**
   * @param {State} state
   * @param {string} together
   */
  #step(state, together) {
    const { table } = this.#lesson;
    const before = line.present(this.#history);
    if (sameState(table, before, state)) return;
    const glance = sameState(table, before, state, (field) => field.undoable !== false);
    this.#history = glance
      ? line.amend(this.#history, state)
      : line.step(this.#history, state, together, performance.now());
    this.#show();
  }

  /** @param {line.History} history */
  #goTo(history) {
    this.#history = halted(history);
    this.#show();
  }

  /** Shows the present state: controls and address at once, numbers when they are there. */
  #show() {
    this.#error = null;
    for (const kind of /** @type {const} */ (['failed', 'stopped'])) {
      this.#figure?.notices.clear(kind);
    }
    this.#address.writeLater();
    if (!this.#busyTimer) {
      this.#busyTimer = setTimeout(() => this.#figure?.setBusy(true), BUSY_DELAY);
    }
    const before = this.#result;
    this.#evaluator?.ask();
    if (this.#result === before) this.#updateInputs();
  }

  /** Who leaves the page is asked first while that would end a training, or lose what no address holds. */
  #guard() {
    const loses = line.present(this.#history).running || this.unsaved;
    if (this.isConnected && loses) addEventListener('beforeunload', this.#ask);
    else removeEventListener('beforeunload', this.#ask);
  }

  #updateInputs() {
    this.#guard();
    const can = { undo: line.canUndo(this.#history), redo: line.canRedo(this.#history) };
    this.#figure?.updateInputs(this.#model, can);
  }

  #update() {
    this.#updateInputs();
    this.#figure?.updateOutputs(this.#model);
  }

  /** Training that runs takes the state along; that is no action to undo. @param {number} step */
  #reached(step) {
    const state = line.present(this.#history);
    const { steps } = this.#lesson.plan?.(state) ?? { steps: step };
    this.#history = line.amend(this.#history, {
      ...state,
      step,
      running: state.running && step < steps,
    });
    this.#address.writeLater();
  }

  /** @param {Result} result */
  #computed(result) {
    this.#result = result;
    this.#settled();
    this.#update();
    const detail = { state: { ...result.state } };
    this.dispatchEvent(
      new CustomEvent('attentionchange', { detail, bubbles: true, composed: true }),
    );
  }

  /** @param {Failure} failure */
  #failed(failure) {
    this.#settled();
    this.#history = halted(this.#history);
    const field = this.#lesson.fieldOf(failure.option ?? '');
    if (failure.code === 'WORKER_DIED') this.#notify('stopped');
    else if (failure.code === 'NOT_FINITE') this.#diverged(failure);
    else if (field) this.#error = { field, failure };
    else this.#notify('failed', failure);
    this.#updateInputs();
  }

  /** Training came to a loss that is no number: it stops where the numbers were good. @param {Failure} failure */
  #diverged(failure) {
    if (!this.#result) {
      // There are no numbers yet: the initial weights have some.
      this.#history = line.amend(this.#history, { ...line.present(this.#history), step: 0 });
      this.#show();
    }
    this.#error = { field: 'step', failure };
  }

  #settled() {
    clearTimeout(this.#busyTimer);
    this.#busyTimer = 0;
    this.#figure?.setBusy(false);
  }

  /**
   * @param {import('./parts/notices.js').Kind} kind
   * @param {any} [values]
   */
  #notify(kind, values = {}) {
    this.#figure?.notices.show(kind, values);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 'z')
      return;
    const path = event.composedPath();
    if (!this.#follows && !path.includes(this)) return;
    const [target] = path;
    if (target instanceof HTMLTextAreaElement) return;
    if (target instanceof HTMLInputElement && target.type === 'text') return;
    event.preventDefault();
    if (event.shiftKey) this.redo();
    else this.undo();
  }

  /** @param {'png' | 'svg' | 'csv' | 'npy'} format */
  #picture(format) {
    return /** @type {import('./parts/frame.js').Figure} */ (this.#figure).picture(format);
  }

  #everything() {
    if (!this.#evaluator) throw new Error('the figure is not on a page');
    return this.#evaluator.everything();
  }

  /** @param {any} error */
  #notExported(error) {
    if (error instanceof RangeError) this.#notify('linkTooLong');
    else if (error.name === 'NotSupportedError') this.#notify('noLink');
    else this.#notify('failed', error);
  }

  /** The state is in it as well, so a figure without a link has null there. */
  async #json() {
    const link = await this.link().catch(() => null);
    const { state, values, tensors: all } = await this.#everything();
    const tensors = all
      .filter(({ name }) => Object.hasOwn(values, name))
      .map(({ name, shape, axes, inputs }) => {
        return { name, shape, axes, inputs, data: values[name].data };
      });
    const text = json({ lesson: this.#lesson.name, link, state, tensors });
    return new Blob([text], { type: 'application/json' });
  }
}
