/**
 * The controls: one maker for each way of showing a field. A control shows the state it is given and
 * sends what the reader chose; it never changes the state itself. What is typed and does not fit
 * stays in its field, with one sentence beside it, until it fits or the field gets another value; the
 * state then is what it was before the typing, and not what the first half of the text says.
 */
import { fill, parse } from '../../draw/format.js';
import { isValid } from '../../lessons/state.js';
import { freshId, h, list, setAttribute, setText } from '../dom.js';

/**
 * @typedef {import('../../lessons/index.js').Control} Control
 * @typedef {import('../../lessons/index.js').Lesson} Lesson
 * @typedef {import('../../lessons/state.js').State} State
 */

/**
 * What every part of a figure is made with.
 * @template {Lesson} [L=Lesson]
 * @typedef {object} Context
 * @property {Element} host the element that has adopted the shared tokens
 * @property {L} lesson
 * @property {import('../../i18n/index.js').Strings} strings
 * @property {import('../../i18n/index.js').Language} language
 * @property {(intent: Parameters<L['reduce']>[1], together?: string) => void} dispatch `together`: steps
 *   of one key that follow quickly are undone at once
 */
/**
 * What every part shows.
 * @template [R=any]
 * @typedef {object} Model
 * @property {State} state as the reader set it
 * @property {R | null} result the last one that could be computed; its state may be older
 * @property {{ field: string, message: string } | null} error why the present state could not
 */
/**
 * @template [R=any]
 * @typedef {{ element: HTMLElement, update: (model: Model<R>) => void }} Part
 */

/** @type {Record<Control['as'], (control: Control, context: Context) => Part>} */
export const makers = { radios, select, check, slider, cells, readout, seed };

/**
 * @param {Control} control
 * @param {Context} context
 */
function lens(control, { dispatch }) {
  const { name, read = (state) => state[name], write = (value) => ({ [name]: value }) } = control;
  return {
    read,
    /** @param {any} value @param {string} [together] */
    set: (value, together) => dispatch({ type: 'set', values: write(value) }, together),
  };
}

/**
 * The words of a field; not every field has all of them.
 * @param {Control} control
 * @param {Context} context
 * @returns {{ label: string, choices?: Record<string, string>, notes?: Record<string, string>,
 *   value?: string }}
 */
function wordsOf({ name }, { strings }, key = name) {
  return /** @type {any} */ (strings.controls)[key];
}

/**
 * @param {Control} control
 * @param {Context} context
 * @returns {Part}
 */
function radios(control, context) {
  const { name, choices } = control;
  const words = wordsOf(control, context);
  const { read, set } = lens(control, context);
  const group = freshId();
  const row = h('div', { class: 'choices' });
  const note = h('p', { class: 'note' });
  const element = h('fieldset', { class: 'control' }, h('legend', null, words.label), row, note);
  /** @type {(string | number)[]} */
  let shown = [];

  const make = () => {
    const input = h('input', {
      type: 'radio',
      name: group,
      onchange: () => set(shown[Number(input.value)]),
    });
    return h('label', { class: 'choice' }, input, h('span'));
  };
  return {
    element,
    update({ state }) {
      shown = choices?.(state) ?? [...(context.lesson.table[name].choices ?? [])];
      const value = read(state);
      list(row, shown, make, (label, choice, index) => {
        const input = /** @type {HTMLInputElement} */ (label.firstElementChild);
        input.value = String(index);
        input.checked = choice === value;
        setText(
          /** @type {Element} */ (label.lastElementChild),
          words.choices?.[choice] ?? String(choice),
        );
      });
      setText(note, words.notes?.[value] ?? '');
    },
  };
}

/**
 * @param {Control} control
 * @param {Context} context
 * @returns {Part}
 */
function select(control, context) {
  const words = wordsOf(control, context);
  const { read, set } = lens(control, context);
  const id = freshId();
  const choices = [...(context.lesson.table[control.name].choices ?? [])];
  const input = h(
    'select',
    { id, onchange: () => set(choices[input.selectedIndex]) },
    ...choices.map((choice) => h('option', null, words.choices?.[choice] ?? String(choice))),
  );
  const element = h(
    'div',
    { class: 'control line' },
    h('label', { htmlFor: id }, words.label),
    input,
  );
  return {
    element,
    update: ({ state }) => {
      input.selectedIndex = choices.indexOf(read(state));
    },
  };
}

/**
 * @param {Control} control
 * @param {Context} context
 * @returns {Part}
 */
function check(control, context) {
  const { read, set } = lens(control, context);
  const input = h('input', { type: 'checkbox', onchange: () => set(input.checked) });
  const element = h(
    'div',
    { class: 'control' },
    h('label', { class: 'check' }, input, h('span', null, wordsOf(control, context).label)),
  );
  return {
    element,
    update: ({ state }) => {
      input.checked = read(state);
    },
  };
}

/**
 * A number: a slider for the hand, a field for the exact value, and a check box where it can be off.
 * @param {Control} control
 * @param {Context} context
 * @returns {Part}
 */
function slider(control, context) {
  const { name, word, stops, step = 1 } = control;
  const { read, set } = lens(control, context);
  const { strings, lesson } = context;
  const field = lesson.table[name];
  let label = '';
  const ids = { number: freshId(), error: freshId() };
  let max = field.max ?? Infinity;
  let start = max;
  const min = field.min ?? -Infinity;
  /** The value that the field stands for, null while it is off. @type {number | null} */
  let shown = null;
  /** What it was before the reader began to type, or pressed Enter last. @type {number | null} */
  let before = null;
  /** For when it is switched on again. @type {number | null} */
  let last = null;

  const range = h('input', {
    type: 'range',
    oninput: () => set(stops ? stops[range.valueAsNumber] : range.valueAsNumber, name),
  });
  const number = h('input', {
    type: 'text',
    inputMode: 'decimal',
    id: ids.number,
    name,
    class: 'number',
    autocomplete: 'off',
    'aria-describedby': ids.error,
    onfocus: () => {
      before = shown;
    },
    oninput: () => take(number.value),
    onchange: () => {
      before = shown;
    },
    onblur: () => error.textContent === '' && show(shown),
  });
  const error = h('p', { class: 'error', id: ids.error, role: 'alert' });
  const note = h('p', { class: 'note' });
  const box = h('input', {
    type: 'checkbox',
    onchange: () => set(box.checked ? Math.min(max, last ?? start) : word),
  });
  const caption = h('span');
  const name_ = word
    ? h('label', { class: 'check' }, box, caption)
    : h('label', { htmlFor: ids.number }, caption);
  const pair = h('div', { class: 'pair' }, range, number);
  const element = h('div', { class: 'control slider' }, name_, pair, error, note);

  /** @param {string} typed */
  function take(typed) {
    const value = readNumber(typed);
    const whole = field.type === 'integer';
    const good = typeof value === 'number' && isValid(field, value);
    const sentence = good
      ? strings.controls.errors.keys
      : strings.controls.errors[whole ? 'integer' : 'number'];
    const fits = good && value <= max;
    setText(
      error,
      fits
        ? ''
        : fill(sentence, { label, min, max: good || whole ? max : (field.max ?? max), got: typed }),
    );
    setAttribute(number, 'aria-invalid', !fits);
    const next = fits ? value : before;
    if (next === shown || next === null) return;
    shown = next;
    set(next, name);
  }

  /** @param {number | null} value */
  function show(value) {
    number.value = value === null ? '' : String(value);
    setText(error, '');
    setAttribute(number, 'aria-invalid', null);
  }

  return {
    element,
    update({ state, result }) {
      element.hidden = control.when ? !control.when(state) : false;
      const words = wordsOf(control, context, control.words?.(state));
      ({ label } = words);
      setText(caption, label);
      for (const input of [range, number]) setAttribute(input, 'aria-label', label);
      max = control.max?.(state) ?? field.max ?? Infinity;
      start = control.start?.(state) ?? max;
      const value = read(state);
      const off = value === word;
      if (stops) {
        range.min = '0';
        range.max = String(stops.length - 1);
        range.valueAsNumber = off ? 0 : nearestStop(stops, value);
      } else {
        range.min = String(min);
        range.max = String(max);
        range.step = String(step);
        range.valueAsNumber = off ? max : value;
      }
      setAttribute(range, 'aria-valuetext', off ? null : String(value));
      if (word) box.checked = !off;
      pair.hidden = off;
      const now = off ? null : value;
      if (now !== shown) {
        shown = now;
        before = now;
        show(now);
      }
      last = now ?? last;
      const values = control.values?.(state, result);
      setText(note, values ? fill(words.value ?? '', { min, max, ...values }) : '');
    },
  };
}

/** The double a reader typed; `parse` reads float32, which 0.1 is not. @param {string} typed */
function readNumber(typed) {
  const value = parse(typed);
  if (typeof value === 'string' || !Number.isFinite(value)) return null;
  const plain = Number(typed.normalize('NFKC').trim().replaceAll('−', '-'));
  return Number.isFinite(plain) ? plain : value;
}

/** @param {number[]} stops @param {number} value */
function nearestStop(stops, value) {
  let best = 0;
  for (let at = 1; at < stops.length; at++) {
    if (Math.abs(stops[at] - value) < Math.abs(stops[best] - value)) best = at;
  }
  return best;
}

/**
 * The reader's own mask cells: a switch to draw them on the map, how many there are, and a way back.
 * @param {Control} control
 * @param {Context} context
 * @returns {Part}
 */
function cells({ name, draw: sets }, { lesson, strings, dispatch }) {
  const words = strings.controls.closed;
  let shown = lesson.defaults;
  const draw = h('input', {
    type: 'checkbox',
    onchange: () => dispatch({ type: 'set', values: sets?.(shown, draw.checked) ?? {} }),
  });
  const count = h('span', { class: 'quiet' });
  const clear = h(
    'button',
    {
      type: 'button',
      class: 'link',
      onclick: () => dispatch({ type: 'set', values: { [name]: [] } }),
    },
    words.clear,
  );
  const element = h(
    'div',
    { class: 'control line' },
    h('label', { class: 'check' }, draw, h('span', null, words.label)),
    count,
    clear,
  );
  return {
    element,
    update({ state }) {
      shown = state;
      const closed = state[name].join('').replaceAll('0', '').length;
      draw.checked = state.drawing;
      setText(count, closed ? fill(words.count, { count: closed }) : '');
      clear.hidden = closed === 0;
    },
  };
}

/**
 * A number that follows from the state.
 * @param {Control} control
 * @param {Context} context
 * @returns {Part}
 */
function readout(control, context) {
  const { label, value: sentence = '' } = wordsOf(control, context);
  const value = h('output', { class: 'figures' });
  const element = h('p', { class: 'control line' }, h('span', null, label), value);
  return {
    element,
    update({ result }) {
      setText(value, result && control.results ? fill(sentence, control.results(result)) : '');
    },
  };
}

/**
 * @param {Control} control
 * @param {Context} context
 * @returns {Part}
 */
function seed(control, context) {
  const part = slider({ ...control, as: 'slider' }, context);
  part.element.classList.add('without-range');
  part.element.append(
    h(
      'button',
      {
        type: 'button',
        class: 'link',
        onclick: () => {
          const [value] = crypto.getRandomValues(new Uint32Array(1));
          context.dispatch({ type: 'set', values: { [control.name]: value % 10000 } });
        },
      },
      context.strings.controls.seed.roll,
    ),
  );
  return part;
}
