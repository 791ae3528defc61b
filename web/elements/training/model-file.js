/**
 * The model as a safetensors file: saved by a download, loaded from a file that is chosen or dropped.
 */
import { fill } from '../../draw/format.js';
import { h, setAttribute, setText } from '../dom.js';

/**
 * @typedef {object} ModelFiles
 * @property {() => Promise<Uint8Array>} save the model that is shown
 * @property {(bytes: Uint8Array) => Promise<void>} load rejects when the file does not fit
 */

/**
 * @param {import('../../i18n/index.js').Strings['training']} words
 * @param {ModelFiles} files
 * @param {() => import('../../lessons/state.js').State} stateNow
 */
export function modelFile(words, files, stateNow) {
  const said = h('p', { class: 'note', role: 'status' });
  const input = h('input', {
    type: 'file',
    accept: '.safetensors',
    hidden: true,
    onchange: () => {
      const [file] = input.files ?? [];
      input.value = '';
      if (file) take(file);
    },
  });
  const element = h(
    'div',
    { class: 'model-file' },
    h(
      'p',
      { class: 'line' },
      h('button', { type: 'button', class: 'link', onclick: save }, words.save),
      h(
        'button',
        { type: 'button', class: 'link', title: words.loadHelp, onclick: () => input.click() },
        words.load,
      ),
      input,
    ),
    said,
  );

  async function save() {
    say('');
    try {
      const bytes = await files.save();
      const url = URL.createObjectURL(new Blob([/** @type {any} */ (bytes)]));
      h('a', { href: url, download: `model-step-${stateNow().step}.safetensors` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch (error) {
      say(/** @type {Error} */ (error).message, true);
    }
  }

  /** @param {File} file */
  async function take(file) {
    const { name } = file;
    try {
      await files.load(new Uint8Array(await file.arrayBuffer()));
      say(fill(words.loaded, { name }));
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      say(fill(words.notLoaded, { name, message }), true);
    }
  }

  /** @param {string} sentence */
  function say(sentence, wrong = false) {
    setText(said, sentence);
    said.classList.toggle('error', wrong);
  }

  return {
    element,
    /** Takes what is dropped on an element. @param {HTMLElement} target */
    drop: (target) => takeDrops(target, take),
  };
}

/**
 * Hands over the first file that is dropped on an element, which is marked while one is held over it.
 * @param {HTMLElement} target
 * @param {(file: File) => void} take
 */
export function takeDrops(target, take) {
  /** @param {DragEvent} event */
  const over = (event) => {
    const holds = event.dataTransfer?.types.includes('Files') ?? false;
    if (!holds) return;
    event.preventDefault();
    setAttribute(target, 'data-drop', event.type === 'dragover');
  };
  target.addEventListener('dragover', over);
  target.addEventListener('dragleave', over);
  target.addEventListener('drop', (event) => {
    over(event);
    const [file] = event.dataTransfer?.files ?? [];
    if (file) take(file);
  });
}
