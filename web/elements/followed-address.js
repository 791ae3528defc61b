/**
 * The page's address, where a figure follows it: what stands behind its # is read at the start and
 * whenever it is another one than the figure knows, and written a moment after the reader's last change.
 *
 * Links are packed, so to read and to write one takes a while; what was overtaken meanwhile comes to
 * nothing.
 */
import { encodeState, isAnchor, openLink } from '../lessons/state.js';
import { pageLink } from './address.js';

/**
 * @typedef {import('../lessons/index.js').Lesson} Lesson
 * @typedef {import('../lessons/state.js').State} State
 * @typedef {Awaited<ReturnType<typeof openLink>>} Opened
 *
 * @typedef {object} Figure
 * @property {() => boolean} follows
 * @property {() => Lesson} lesson
 * @property {() => State} present
 * @property {() => string} home the link of a figure whose address says nothing
 * @property {(opened: Opened) => void} open the reader has gone to another address
 * @property {(code: 'noLink' | 'linkTooLong' | null) => void} written null when the address is right
 */

/** In milliseconds; a drag writes once. */
const DELAY = 200;

/** Some browsers unpack but do not pack. */
export const canLink = () => 'CompressionStream' in globalThis;

export class FollowedAddress {
  #figure;
  #timer = 0;
  /** As it was seen last. */
  #hash = '';
  /** What it stands for: it is written only when the reader goes on from there. @type {State | null} */
  #named = null;
  /** Counts readings and writings. */
  #turn = 0;

  /** @param {Figure} figure */
  constructor(figure) {
    this.#figure = figure;
  }

  /**
   * What a figure starts with. What it has seen of the address before was another lesson's.
   * @param {Opened} home where the address says nothing
   * @returns {Promise<Opened>}
   */
  async start(home) {
    const turn = ++this.#turn;
    const others = this.#hash;
    let opened = home;
    let hash = others;
    while (this.#figure.follows() && location.hash !== hash) {
      hash = location.hash;
      opened = hash && !isAnchor(hash) ? await openLink(this.#figure.lesson(), hash) : home;
    }
    if (turn === this.#turn) {
      this.#hash = hash;
      this.#named = hash === others && others ? null : opened.state;
    }
    return opened;
  }

  get hash() {
    return this.#hash;
  }

  /** The address may have changed, or the state while nothing could be written. */
  look() {
    if (this.#figure.follows() && location.hash !== this.#hash) this.#read();
    else this.writeLater();
  }

  async #read() {
    this.#hash = location.hash;
    if (isAnchor(this.#hash)) return;
    const turn = ++this.#turn;
    const lesson = this.#figure.lesson();
    const opened = await openLink(lesson, this.#hash || this.#figure.home());
    if (turn !== this.#turn || lesson !== this.#figure.lesson()) return;
    this.#figure.open(opened);
    this.#named = this.#figure.present();
  }

  /** The state has changed. */
  writeLater() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(), DELAY);
  }

  stop() {
    this.#turn += 1;
    clearTimeout(this.#timer);
  }

  async #write() {
    const state = this.#figure.present();
    if (!this.#figure.follows()) return;
    if (state === this.#named) {
      this.#figure.written(null);
      return;
    }
    if (!canLink()) {
      this.#figure.written('noLink');
      return;
    }
    const turn = ++this.#turn;
    try {
      const hash = await encodeState(this.#figure.lesson().table, state);
      if (turn !== this.#turn) return;
      if (location.hash !== this.#hash) {
        // Who goes elsewhere is read before anything is written over it.
        this.#read();
        this.writeLater();
        return;
      }
      if (location.hash !== hash) history.replaceState(history.state, '', pageLink(hash)); // whatever base the page has
      this.#hash = hash;
      this.#named = state;
      this.#figure.written(null);
    } catch (error) {
      // Browsers may refuse to write, after too many times for one; the next change tries again.
      if (turn === this.#turn && error instanceof RangeError) this.#figure.written('linkTooLong');
    }
  }
}
