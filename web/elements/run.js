/**
 * One training run as far as it is known on the page: its curves, and the states saved at the ends of
 * epochs, from which any step is a few steps away. When the states grow beyond MOST_BYTES every second one
 * goes; those that are left are as good, only farther apart.
 */

/** Of all saved states together. */
const MOST_BYTES = 64 * 2 ** 20;
/** The speed is that of the last so many seconds of training. */
const SPEED_SECONDS = 2;

/**
 * @typedef {{ step: number, saved: Uint8Array }} Saved
 * @typedef {{ steps: number, tokens: number, seconds: number }} Stretch
 *
 * @typedef {object} RunView what the figure shows of a run
 * @property {string} key
 * @property {number} step behind the numbers that are shown
 * @property {number} steps planned
 * @property {number} perEpoch
 * @property {readonly number[]} losses losses[i]: of the step that led from i to i + 1
 * @property {readonly number[]} rates
 * @property {readonly number[]} watched a number of the model behind each of these steps
 * @property {number[]} saved the steps with a saved state, in order
 * @property {Saved | null} latest
 * @property {number} stepsPerSecond 0 where nothing has been trained yet
 * @property {number} tokensPerSecond
 * @property {number} secondsLeft NaN where that is not known
 */

export class Run {
  /** @type {number[]} */
  #losses = [];
  /** @type {number[]} */
  #rates = [];
  /** @type {number[]} */
  #watched = [];
  /** @type {Map<number, Uint8Array>} */
  #saved = new Map();
  /** @type {Stretch[]} */
  #stretches = [];

  /** @param {string} key what the run depends on */
  constructor(key) {
    this.key = key;
  }

  /** @param {import('../../wasm/evaluate.js').Progress} progress */
  take({ first, losses, rates, watched, tokens, seconds, epoch }) {
    for (const [i, loss] of losses.entries()) {
      this.#losses[first + i] = loss;
      this.#rates[first + i] = rates[i];
      this.#watched[first + i] = watched[i];
    }
    if (epoch) this.#save(epoch);
    if (losses.length > 0) this.#stretches.push({ steps: losses.length, tokens, seconds });
    while (this.#sum('seconds') - this.#stretches[0]?.seconds > SPEED_SECONDS) {
      this.#stretches.shift();
    }
  }

  /** Goes on where an earlier visit left. @param {Saved & { losses: number[], rates: number[] }} kept */
  restore({ losses, rates, ...state }) {
    this.#losses = losses.slice(0, state.step);
    this.#rates = rates.slice(0, state.step);
    this.#save(state);
  }

  /** @param {Saved} state */
  #save({ step, saved }) {
    this.#saved.set(step, saved);
    const steps = this.#steps();
    if (saved.length * steps.length <= MOST_BYTES) return;
    for (let at = steps.length - 2; at >= 0; at -= 2) this.#saved.delete(steps[at]);
  }

  #steps() {
    return [...this.#saved.keys()].sort((a, b) => a - b);
  }

  /**
   * @param {number} step
   * @returns {Saved | undefined} the last saved state on the way there
   */
  before(step) {
    const found = this.#steps()
      .filter((saved) => saved <= step)
      .at(-1);
    return found === undefined
      ? undefined
      : { step: found, saved: /** @type {Uint8Array} */ (this.#saved.get(found)) };
  }

  /** @param {keyof Stretch} what */
  #sum(what) {
    return this.#stretches.reduce((sum, stretch) => sum + stretch[what], 0);
  }

  /**
   * @param {{ steps: number, perEpoch: number }} plan
   * @param {number} step
   * @returns {RunView}
   */
  view({ steps, perEpoch }, step) {
    const seconds = this.#sum('seconds');
    const stepsPerSecond = seconds > 0 ? this.#sum('steps') / seconds : 0;
    return {
      key: this.key,
      step,
      steps,
      perEpoch,
      losses: this.#losses,
      rates: this.#rates,
      watched: this.#watched,
      saved: this.#steps(),
      latest: this.before(Infinity) ?? null,
      stepsPerSecond,
      tokensPerSecond: seconds > 0 ? this.#sum('tokens') / seconds : 0,
      secondsLeft: Math.max(0, steps - step) / stepsPerSecond,
    };
  }
}
