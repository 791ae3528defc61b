/**
 * A small input over a cell of a heatmap. Enter takes the number, Escape leaves it as it was, an
 * empty text gives an edited cell back to what is computed. A text that is no number stays where
 * it is, with a sentence beside it that says what would be right. Enter that ends an IME
 * composition belongs to the IME.
 */
import { fill, parse } from '../../draw/format.js';

/** @typedef {import('./data.js').HeatmapStrings} HeatmapStrings */

export class HeatmapEditor {
  input = document.createElement('input');
  note = document.createElement('p');

  #before = '';
  /** @type {(value: number | null) => void} */
  #take = () => {};
  #leave;
  /** @type {HeatmapStrings | null} */
  #strings = null;

  /** @param {() => void} leave called when the editor closed by a key, to move the focus back */
  constructor(leave) {
    this.#leave = leave;
    const { input, note } = this;
    input.className = 'edit figures';
    input.inputMode = 'decimal';
    input.autocomplete = 'off';
    input.spellcheck = false;
    input.hidden = true;
    input.setAttribute('aria-describedby', 'edit-note');
    note.id = 'edit-note';
    note.className = 'edit-note error';
    input.addEventListener('keydown', (event) => {
      event.stopPropagation();
      // Safari ends the composition first and then sends this key as 229.
      if (event.isComposing || event.keyCode === 229) return;
      if (event.key === 'Enter' && this.#submit()) this.#leave();
      if (event.key === 'Escape') {
        this.close();
        this.#leave();
      }
    });
    input.addEventListener('input', () => this.#say(''));
    input.addEventListener('blur', () => {
      if (!input.hidden) this.#submit();
    });
  }

  get isOpen() {
    return !this.input.hidden;
  }

  /**
   * @param {object} options
   * @param {import('../../draw/pen.js').Box} options.box of the cell inside the frame
   * @param {number} options.room width of the frame
   * @param {string} options.name what is edited
   * @param {string} options.text
   * @param {string} [options.typed] what was typed to open it, in place of the text
   * @param {HeatmapStrings} options.strings
   * @param {(value: number | null) => void} take called with a new number, or null for none
   */
  open({ box, room, name, text, typed, strings }, take) {
    const { input } = this;
    this.#take = take;
    this.#strings = strings;
    this.#before = text;
    const width = Math.max(box.width, 88);
    const height = Math.max(box.height, 24);
    input.style.width = `${width}px`;
    input.style.height = `${height}px`;
    input.style.left = `${Math.max(0, Math.min(box.x + (box.width - width) / 2, room - width))}px`;
    input.style.top = `${box.y + (box.height - height) / 2}px`;
    this.note.style.top = `${box.y + (box.height + height) / 2}px`;
    this.#say('');
    input.setAttribute('aria-label', name);
    input.value = typed ?? text;
    input.hidden = false;
    input.focus({ preventScroll: true });
    if (typed === undefined) input.select();
  }

  close() {
    this.input.hidden = true;
    this.#say('');
  }

  /** @returns {boolean} whether the editor is closed now */
  #submit() {
    const text = this.input.value;
    const empty = text.trim() === '';
    const value = empty ? null : parse(text);
    if (typeof value === 'string') {
      if (this.#strings) this.#say(fill(this.#strings.errors[value], { got: text }));
      return false;
    }
    this.close();
    if (text !== this.#before) this.#take(value);
    return true;
  }

  /** @param {string} problem */
  #say(problem) {
    this.note.textContent = problem;
    this.input.setAttribute('aria-invalid', String(problem !== ''));
  }
}
