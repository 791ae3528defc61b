/**
 * Keeps a figure's numbers up with its state. One request is under way at a time; what is asked while
 * it runs replaces what was waiting, so a fast hand never builds a queue. A state that differs only in
 * how numbers are shown is answered from the last result at once.
 *
 * Where a lesson trains, a request says how many steps its numbers have behind them, and may take long:
 * what is asked meanwhile interrupts it. While a state says `running`, the core goes on to the planned end
 * and the state's step follows it.
 *
 * What makes a request fail may be left aside by the lesson, such as a file that does not fit the model:
 * the same state is then asked for once more, without it.
 *
 * A worker that died is started again by the client, and the request is sent once more, with the last
 * state of the training that was saved. A request that kills two workers in a row is given up.
 */
import { Run } from './run.js';

/**
 * @typedef {import('../lessons/index.js').Lesson} Lesson
 * @typedef {import('../lessons/state.js').State} State
 * @typedef {import('../../wasm/evaluate.js').Answer} Answer
 * @typedef {import('../../wasm/evaluate.js').Request} Request
 * @typedef {{ state: State, run?: import('./run.js').RunView } & Answer} Result
 * @typedef {{ code?: string, message: string, option?: string }} Failure
 *
 * @typedef {object} Listener
 * @property {() => State} present the state as it is now
 * @property {(step: number) => void} reached training has come so far
 * @property {(result: Result) => void} computed
 * @property {(failure: Failure) => void} failed
 */

const MOST_DEATHS = 2;
/** A change of the configuration that is undone finds its run again. */
const MOST_RUNS = 3;

export class Evaluator {
  #lesson;
  #client;
  #listener;
  #asked = false;
  #running = false;
  #closed = false;
  /** @type {Result | null} */
  #last = null;
  /** The newest first. @type {Run[]} */
  #runs;
  #interrupt = new AbortController();

  /**
   * @param {Lesson} lesson
   * @param {import('../../wasm/client.js').Client} client
   * @param {Listener} listener
   * @param {Run[]} [runs] of the evaluator that this one goes on from
   */
  constructor(lesson, client, listener, runs = []) {
    this.#lesson = lesson;
    this.#client = client;
    this.#listener = listener;
    this.#runs = runs;
  }

  get runs() {
    return this.#runs;
  }

  /** Starts the core before there is anything to ask, while the figure is still being built. */
  prepare() {
    this.#client.start();
  }

  /** The state has changed. */
  ask() {
    const state = this.#listener.present();
    const last = this.#last;
    if (last && !this.#running && this.#sameNumbers(last, state)) {
      this.#answer({ ...last, state });
      return;
    }
    this.#asked = true;
    this.#interrupt.abort();
    this.#run();
  }

  /**
   * All tensors of the present state, for a file.
   * @returns {Promise<Result>}
   */
  async everything() {
    const state = this.#listener.present();
    return { state, ...(await this.#aside({ read: this.#lesson.everything(state) })) };
  }

  /**
   * @param {'own' | 'torch'} names
   * @returns {Promise<Uint8Array>} the model of the present state, as a safetensors file
   */
  async save(names) {
    const { saved } = await this.#aside({ read: [], save: names });
    return /** @type {Uint8Array} */ (saved);
  }

  /**
   * Tries a state that is not shown yet: what the lesson leaves aside in it is known before anyone sees it.
   * @param {State} values in which it differs from the present one
   */
  async attempt(values) {
    const state = { ...this.#listener.present(), ...values };
    try {
      await this.#aside({ read: [], decode: undefined }, state);
    } catch (error) {
      if (!this.#lesson.leaveAside?.(state, /** @type {Failure} */ (error))) throw error;
    }
  }

  /**
   * What an earlier visit saved of a run.
   * @param {import('./run.js').Saved & { key: string, losses: number[], rates: number[] }} kept
   */
  restore({ key, ...kept }) {
    this.#runOf(key).restore(kept);
  }

  close() {
    this.#closed = true;
    this.#client.close();
  }

  /**
   * Another question, about the present state or another; training that runs is interrupted for it and goes on.
   * @param {Partial<Request>} more
   * @param {State} [of]
   */
  async #aside(more, of = this.#listener.present()) {
    const state = { ...of, running: false };
    const request = { ...this.#request(state), unseen: undefined, ...more };
    if (this.#running) {
      this.#asked = true;
      this.#interrupt.abort();
    }
    return this.#client.evaluate(request);
  }

  /** @param {string} key */
  #runOf(key) {
    const known = this.#runs.find((run) => run.key === key);
    if (known && known === this.#runs[0]) return known;
    const run = known ?? new Run(key);
    this.#runs = [run, ...this.#runs.filter((other) => other !== run)].slice(0, MOST_RUNS);
    return run;
  }

  /** @param {State} state @returns {Request} */
  #request(state) {
    const request = this.#lesson.request(state);
    const plan = this.#lesson.plan?.(state);
    if (!plan || !request.training) return request;
    // Who trains wants to see it: from where the state is, not from the last state that is known.
    const start = state.running ? state.step : request.training.steps;
    const from = this.#runOf(plan.key).before(start);
    return { ...request, training: { ...request.training, start, from } };
  }

  async #run() {
    if (this.#running) return;
    this.#running = true;
    let deaths = 0;
    while (this.#asked && !this.#closed) {
      this.#asked = false;
      this.#interrupt = new AbortController();
      const state = this.#listener.present();
      try {
        const answer = await this.#client.evaluate(this.#request(state), {
          signal: this.#interrupt.signal,
          progress: (progress) => {
            deaths = 0;
            if (!this.#closed) this.#progress(state, progress);
          },
        });
        deaths = 0;
        if (!this.#closed) this.#follow(state, answer);
        // What is left out while training runs, such as the score, is asked for at its end.
        if (state.running && !this.#listener.present().running) this.#asked = true;
      } catch (error) {
        const failure = /** @type {Failure} */ (error);
        if (failure.code === 'WORKER_DIED' && ++deaths < MOST_DEATHS) this.#asked = true;
        else if (this.#lesson.leaveAside?.(state, failure)) this.#asked = true;
        else if (!this.#asked && !this.#closed) this.#listener.failed(failure);
      }
    }
    this.#running = false;
  }

  /**
   * @param {State} state
   * @param {import('../../wasm/evaluate.js').Progress} progress
   */
  #progress(state, progress) {
    const plan = this.#lesson.plan?.(state);
    if (plan) this.#runOf(plan.key).take(progress);
    this.#follow(state, progress.answer);
  }

  /**
   * Shows an answer, and lets the present step follow it, also to where a pause found it, but not where the
   * reader has gone elsewhere.
   * @param {State} asked
   * @param {Answer} answer
   */
  #follow(asked, answer) {
    const { step } = answer;
    const plan = this.#lesson.plan?.(asked);
    if (!plan || step === undefined) {
      this.#answer({ state: asked, ...answer });
      return;
    }
    const before = this.#last?.run?.step ?? asked.step;
    const run = this.#runOf(plan.key).view(plan, step);
    const present = this.#listener.present();
    const own = this.#lesson.plan?.(present)?.key === plan.key;
    if (asked.running && own && (present.running || present.step === before)) {
      this.#listener.reached(step);
    }
    this.#answer({ state: { ...asked, step }, ...answer, run });
  }

  /** @param {Result} result */
  #answer(result) {
    this.#last = result;
    this.#listener.computed(result);
  }

  /**
   * @param {Result} result
   * @param {State} state
   */
  #sameNumbers(result, state) {
    return (
      Object.hasOwn(result.values, state.show) &&
      Object.entries(this.#lesson.table).every(
        ([name, field]) => field.view || result.state[name] === state[name],
      )
    );
  }
}
