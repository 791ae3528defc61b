/**
 * The model as a safetensors file: saved by a download, loaded from a file that is chosen or dropped.
 *
 * A file that does not fit the model is refused. One that was loaded, and that another configuration or
 * corpus has no place for, is left aside until it fits again: the state keeps its name.
 */
import { decodeSafetensors } from '../../../wasm/safetensors.js';
import { fill } from '../../draw/format.js';
import { failureWords } from '../../i18n/index.js';
import { h, setAttribute, setText } from '../dom.js';
import { mayNotSave } from '../parts/export-menu.js';

/**
 * @param {import('../parts/controls.js').Context<import('./panel.js').Lesson>} context
 * @param {import('./panel.js').Models} models
 */
export function modelFile({ lesson, strings, dispatch }, models) {
  const words = strings.training;
  const said = h('p', { class: 'note', role: 'status' });
  let state = lesson.defaults;
  /** What went wrong with a file, and what the model was then. */
  let wrong = '';
  let then = '';
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
  const origin = h('span');
  const away = h('button', { type: 'button', class: 'link', onclick: unload });
  const loaded = h('p', { class: 'line', role: 'status' }, origin, away);
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
    loaded,
    said,
  );

  async function save() {
    if (mayNotSave()) return say(words.noFiles);
    say('');
    try {
      const bytes = await models.save();
      const url = URL.createObjectURL(new Blob([/** @type {any} */ (bytes)]));
      h('a', { href: url, download: 'model.safetensors' }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch (error) {
      say(failureWords(strings, /** @type {Error} */ (error)));
    }
  }

  /** Numbers that do not come from the file stay. */
  function unload() {
    const { step, running } = state;
    const stays = lesson.leftAside(state) ? { step, running } : {};
    dispatch({ type: 'set', values: { loaded: '', ...stays } });
  }

  /** @param {File} file */
  async function take(file) {
    const { name } = file;
    say('');
    const buffer = await file.arrayBuffer().catch(() => null);
    if (!buffer) return say(fill(words.unreadable, { name }));
    const bytes = new Uint8Array(buffer);
    try {
      decodeSafetensors(bytes);
    } catch (error) {
      const message = failureWords(strings, /** @type {Error} */ (error));
      return say(fill(words.noModel, { name, message }));
    }
    const values = { loaded: models.bring(name, bytes), step: 0 };
    try {
      await models.attempt(values);
    } catch (error) {
      return say(failureWords(strings, /** @type {Error} */ (error)));
    }
    const misfit = lesson.leftAside({ ...state, ...values });
    if (misfit) say(fill(words.refused, { name, message: failureWords(strings, misfit) }));
    else dispatch({ type: 'set', values });
  }

  /** @param {string} words */
  function say(words) {
    wrong = words;
    show(words);
  }

  /** @param {string} words */
  function show(words) {
    setText(said, words);
    said.className = words ? 'error' : 'note';
  }

  return {
    element,
    /** Takes what is dropped on an element. @param {HTMLElement} target */
    takeFrom: (target) => takeDrops(target, take),
    /** @param {import('../parts/controls.js').Model} model */
    update(model) {
      state = model.state;
      // A message is of no more use when there is another model, or this one is trained.
      const now = `${lesson.plan(state).key} ${state.running || state.step}`;
      if (now !== then) wrong = '';
      then = now;
      show(wrong);
      loaded.hidden = !state.loaded;
      // A file is known by its name, its size and a sum over it.
      const name = state.loaded.replace(/ \d+ \d+$/, '');
      const misfit = lesson.leftAside(state);
      const message = misfit ? failureWords(strings, misfit) : '';
      setText(origin, fill(misfit ? words.leftAside : words.loaded, { name, message }));
      setText(away, misfit ? words.drop : words.unload);
    },
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
