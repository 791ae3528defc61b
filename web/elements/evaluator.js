/**
 * Keeps a figure's numbers up with its state. One request is under way at a time; what is asked while
 * it runs replaces what was waiting, so a fast hand never builds a queue. A state that differs only in
 * how numbers are shown is answered from the last result at once.
 *
 * A worker that died is started again by the client, and the request is sent once more. A request that
 * kills two workers in a row is given up.
 */

/**
 * @typedef {import('../lessons/index.js').Lesson} Lesson
 * @typedef {import('../lessons/state.js').State} State
 * @typedef {{ state: State } & import('../../wasm/evaluate.js').Answer} Result
 * @typedef {{ code?: string, message: string, option?: string }} Failure
 *
 * @typedef {object} Listener
 * @property {(result: Result) => void} computed
 * @property {(failure: Failure) => void} failed
 */

const MOST_DEATHS = 2;

export class Evaluator {
  #lesson;
  #client;
  #listener;
  /** @type {State | null} */
  #waiting = null;
  #running = false;
  #closed = false;
  /** @type {Result | null} */
  #last = null;

  /**
   * @param {Lesson} lesson
   * @param {import('../../wasm/client.js').Client} client
   * @param {Listener} listener
   */
  constructor(lesson, client, listener) {
    this.#lesson = lesson;
    this.#client = client;
    this.#listener = listener;
  }

  /** Starts the core before there is anything to ask, while the figure is still being built. */
  prepare() {
    this.#client.evaluate(this.#lesson.request(this.#lesson.defaults)).catch(() => {});
  }

  /** @param {State} state */
  ask(state) {
    const last = this.#last;
    if (last && !this.#running && this.#sameNumbers(last, state)) {
      this.#answer({ ...last, state });
      return;
    }
    this.#waiting = state;
    this.#run();
  }

  /**
   * All tensors of a state, for a file.
   * @param {State} state
   * @returns {Promise<Result>}
   */
  async everything(state) {
    const request = this.#lesson.request(state);
    const read = this.#lesson.everything(state);
    return { state, .../** @type {any} */ (await this.#client.evaluate({ ...request, read })) };
  }

  close() {
    this.#closed = true;
    this.#client.close();
  }

  async #run() {
    if (this.#running) return;
    this.#running = true;
    let deaths = 0;
    while (this.#waiting && !this.#closed) {
      const state = this.#waiting;
      this.#waiting = null;
      /** @type {Result | null} */
      let result = null;
      try {
        const answer = await this.#client.evaluate(this.#lesson.request(state));
        result = { state, ...answer };
        deaths = 0;
      } catch (error) {
        const failure = /** @type {Failure} */ (error);
        if (failure.code === 'WORKER_DIED' && ++deaths < MOST_DEATHS) this.#waiting ??= state;
        else if (!this.#waiting && !this.#closed) this.#listener.failed(failure);
      }
      if (result && !this.#closed) this.#answer(result);
    }
    this.#running = false;
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
