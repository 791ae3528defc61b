/**
 * Tokens: a text to type, and below it the tokens it was cut into, each of which can be edited,
 * removed and moved by itself.
 *
 * The list in the state is what counts. The text field belongs to the reader: it is written anew only
 * when the list changed elsewhere (undo, a chip, an experiment), and what it holds beyond the limits
 * stays there with a sentence that says so, whatever becomes of the list. So does what a chip's field
 * holds beyond them; any other chip under edit gives way when the list puts another token there. Nothing is read from a field while an input method is
 * still composing; the Enter that ends a composition is the input method's own.
 */
import { fill, tokenLabel } from '../../draw/format.js';
import { MAX_TOKEN } from '../../lessons/state.js';
import { joinTokens, matchTokens, retokenise, sameTokens, tokenise } from '../../text/tokenise.js';
import { freshId, h, list, setAttribute, setText } from '../dom.js';

/**
 * @typedef {import('../parts/controls.js').Context<import('../../lessons/index.js').MultiHead>} Context
 * @typedef {import('../parts/controls.js').Model} Model
 * @typedef {{ query?: number | null, key?: number | null }} Pointed the tokens to light in the maps
 */

/** @typedef {import('../parts/controls.js').Part & { recut: (unit: import('../../text/tokenise.js').Unit) => string[] | null }} TokenEditor */

/** Pixels a pointer travels before a press on a chip becomes a drag. */
const DRAG_START = 6;

/**
 * @param {'source' | 'target'} side
 * @param {Context} context
 * @param {(pointed: Pointed) => void} point
 * @returns {TokenEditor}
 */
export function tokenEditor(side, context, point) {
  const { lesson, strings, dispatch } = context;
  const words = strings.tokens;
  const field = lesson.table[side];
  /** @type {import('../../lessons/state.js').State} */
  let state = lesson.defaults;
  /** @type {string[]} */
  let tokens = [];
  /** @type {string[] | null} */
  let sent = null;
  /** A text the list was cut from, or written as. */
  let fitting = '';
  /** Why the text, or the last change of a chip, was refused. */
  const wrong = { text: '', chip: '' };
  /** The chip under edit. @type {{ at: number, input: HTMLInputElement } | null} */
  let editing = null;
  let current = 0;
  let dragged = false;

  const ids = { text: freshId(), error: freshId(), help: freshId() };
  const name = h('label', { htmlFor: ids.text });
  const text = h('textarea', {
    id: ids.text,
    name: side,
    rows: 2,
    spellcheck: false,
    autocomplete: 'off',
    'aria-describedby': ids.error,
    oninput: (/** @type {InputEvent} */ event) => event.isComposing || takeText(),
    oncompositionend: takeText,
  });
  const error = h('p', { class: 'error', id: ids.error, role: 'alert' });
  const chips = h('ol', { class: 'chips', 'aria-describedby': ids.help });
  const add = h(
    'button',
    { type: 'button', class: 'add', 'aria-label': words.add, onclick: append },
    '+',
  );
  const said = h('p', { class: 'unseen', role: 'status' });
  const element = h(
    'div',
    { class: `tokens ${side}` },
    name,
    text,
    error,
    h('div', { class: 'line' }, chips, add),
    h('p', { class: 'unseen', id: ids.help }, words.keysHelp),
    said,
  );

  /**
   * @param {string[]} next
   * @returns {string} why these tokens cannot be, or ''
   */
  function problem(next) {
    const limit = field.max ?? 0;
    if (next.length === 0) return words.errors.none;
    if (next.length > limit) return fill(words.errors.many, { count: next.length, limit });
    const long = next.find((token) => token.length > MAX_TOKEN);
    if (long === undefined) return '';
    return fill(words.errors.long, {
      token: long.slice(0, 12),
      length: long.length,
      limit: MAX_TOKEN,
    });
  }

  function complain() {
    setText(error, wrong.chip || wrong.text);
    setAttribute(text, 'aria-invalid', wrong.text !== '');
    if (editing) setAttribute(editing.input, 'aria-invalid', wrong.chip !== '');
  }

  /**
   * @param {string[]} next
   * @param {number[]} from
   * @param {string} [together]
   * @returns {string} why the tokens may not be so, or ''
   */
  function send(next, from, together) {
    const sentence = problem(next);
    const same = sameTokens(next, tokens) && from.every((place, at) => place === at);
    if (!sentence && !same) dispatch({ type: 'tokens', side, tokens: next, from }, together);
    return sentence;
  }

  function takeText() {
    const next = retokenise(text.value, state.unit, { text: fitting, tokens });
    wrong.text = problem(next);
    sent = next;
    send(next, matchTokens(tokens, next), `${side} text`);
    complain();
  }

  /**
   * @param {string[]} next
   * @param {number[]} from
   * @param {string} [together]
   * @returns {boolean} whether the tokens may be so
   */
  function change(next, from, together) {
    wrong.chip = send(next, from, together);
    complain();
    return wrong.chip === '';
  }

  /**
   * @param {number} at
   * @param {string | null} token null removes it
   * @param {string} [together]
   */
  function replace(at, token, together) {
    const from = [...tokens.keys()].filter((place) => token !== null || place !== at);
    return change(
      from.map((place) => (place === at && token !== null ? token : tokens[place])),
      from,
      together,
    );
  }

  /** @param {number} at @param {number} to @param {string} [together] */
  function move(at, to, together) {
    if (to < 0 || to >= tokens.length || to === at) return;
    const from = [...tokens.keys()].filter((place) => place !== at);
    from.splice(to, 0, at);
    current = to;
    change(
      from.map((place) => tokens[place]),
      from,
      together,
    );
    say(words.moved, { token: tokenLabel(tokens[to]), place: to + 1, count: tokens.length });
  }

  /** @param {number} at */
  function remove(at) {
    const token = tokenLabel(tokens[at]);
    if (!replace(at, null)) return;
    say(words.removed, { token, count: tokens.length });
    focusChip(Math.min(at, tokens.length - 1));
  }

  function append() {
    const at = tokens.length;
    if (editing) editing.input.focus();
    else if (change([...tokens, words.fresh], [...tokens.keys(), -1], `${side} chip ${at}`))
      edit(at);
  }

  /** @param {string} sentence @param {Record<string, string | number>} values */
  function say(sentence, values) {
    setText(said, fill(sentence, values));
  }

  /** @param {number} at */
  function focusChip(at) {
    current = at;
    paint();
    /** @type {HTMLElement | null} */ (chips.children[at]?.firstElementChild)?.focus();
  }

  /**
   * Turns a chip into a field; every letter is seen at once, Escape brings the old token back.
   * @param {number} at
   */
  function edit(at) {
    if (editing) {
      editing.input.focus();
      return;
    }
    const before = tokens[at];
    const input = h('input', {
      type: 'text',
      name: chipName(at),
      class: 'chip',
      value: before,
      spellcheck: false,
      autocomplete: 'off',
      'aria-label': fill(words.edit, { place: at + 1 }),
      oninput: (/** @type {InputEvent} */ event) => event.isComposing || take(),
      oncompositionend: take,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.isComposing || event.keyCode === 229) return;
        if (event.key === 'Enter') {
          // Else the key would go on to press the chip that is focused next.
          event.preventDefault();
          finish(true);
        }
        if (event.key === 'Escape') {
          if (tokens[at] !== before) replace(at, before, `${side} chip ${at}`);
          finish(true, true);
        }
        event.stopPropagation();
      },
      onblur: () => finish(false),
    });
    function take() {
      input.size = Math.max(1, input.value.length);
      const typed = readToken(input.value);
      if (typed !== '') replace(at, typed, `${side} chip ${at}`);
      else wrong.chip = '';
      complain();
    }
    /** @param {boolean} refocus @param {boolean} [kept] */
    function finish(refocus, kept = false) {
      if (editing?.input !== input || (wrong.chip && !kept)) return;
      editing = null;
      wrong.chip = '';
      complain();
      const empty = !kept && readToken(input.value) === '';
      paint();
      if (empty && tokens.length > 1) remove(at);
      else if (refocus) focusChip(at);
    }
    editing = { at, input };
    current = at;
    input.size = Math.max(1, before.length);
    chips.children[at].replaceChildren(input);
    input.select();
    input.focus();
  }

  /**
   * Ends the edit of a chip that is about to hold another token than its field says.
   * @param {string[]} next
   */
  function giveWay(next) {
    if (!editing) return;
    const { at, input } = editing;
    if (next[at] === tokens[at] || next[at] === readToken(input.value)) return;
    const focused = input.matches(':focus');
    editing = null;
    tokens = next;
    if (focused) focusChip(Math.min(at, next.length - 1));
  }

  /** A chip may hold white space inside, and be white space where characters are tokens. */
  const readToken = (/** @type {string} */ typed) =>
    state.unit === 'characters' && typed !== '' && typed.trim() === '' ? ' ' : typed.trim();

  /** A chip has one name as a button and as a field. @param {number} at */
  const chipName = (at) => `${side} ${at}`;

  function makeChip() {
    const button = h('button', { type: 'button', class: 'chip' });
    const item = h('li', null, button);
    const place = () => [...chips.children].indexOf(item);
    const light = (/** @type {boolean} */ on) => point(on ? pointed(place()) : {});
    item.addEventListener('pointerenter', () => light(true));
    item.addEventListener('pointerleave', () => light(false));
    button.addEventListener('focus', () => {
      current = place();
      light(true);
    });
    button.addEventListener('blur', () => light(false));
    button.addEventListener('click', () => dragged || edit(place()));
    button.addEventListener('keydown', (event) => chipKey(event, place()));
    button.addEventListener('pointerdown', (event) => drag(event, item));
    return item;
  }

  /** @param {number} at @returns {Pointed} */
  function pointed(at) {
    if (!state.cross) return { query: at, key: at };
    return side === 'source' ? { key: at } : { query: at };
  }

  /** @param {KeyboardEvent} event @param {number} at */
  function chipKey(event, at) {
    const towards = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key] ?? 0;
    if (towards && event.altKey) {
      move(at, at + towards);
      focusChip(current);
    } else if (towards) {
      focusChip(Math.min(Math.max(at + towards, 0), tokens.length - 1));
    } else if (event.key === 'Home' || event.key === 'End') {
      focusChip(event.key === 'Home' ? 0 : tokens.length - 1);
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      remove(at);
    } else {
      return;
    }
    event.preventDefault();
  }

  /**
   * Follows a pressed chip: past a few pixels the token moves to wherever the pointer is, live.
   * @param {PointerEvent} down
   * @param {HTMLLIElement} item
   */
  function drag(down, item) {
    if (down.button !== 0) return;
    const button = /** @type {HTMLElement} */ (item.firstElementChild);
    let at = [...chips.children].indexOf(item);
    const together = `${side} drag ${down.timeStamp}`;
    let dragging = false;
    const stop = new AbortController();
    const listen = { signal: stop.signal };
    button.setPointerCapture(down.pointerId);
    button.addEventListener(
      'pointermove',
      (event) => {
        const far = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY);
        if (!dragging && far < DRAG_START) return;
        dragging = true;
        point(pointed(at));
        const to = placeUnder(event.clientX, event.clientY);
        if (to === null || to === at) return;
        move(at, to, together);
        at = to;
        for (const [index, chip] of [...chips.children].entries()) {
          chip.classList.toggle('dragged', index === at);
        }
      },
      listen,
    );
    const end = () => {
      stop.abort();
      for (const chip of chips.children) chip.classList.remove('dragged');
      // The click that ends a drag comes right after it, if at all.
      dragged = dragging;
      setTimeout(() => {
        dragged = false;
      });
    };
    button.addEventListener('pointerup', end, listen);
    button.addEventListener('pointercancel', end, listen);
  }

  /** @param {number} x @param {number} y */
  function placeUnder(x, y) {
    let best = null;
    let least = Infinity;
    for (const [index, chip] of [...chips.children].entries()) {
      const box = chip.getBoundingClientRect();
      const far = Math.hypot(
        Math.max(box.left - x, 0, x - box.right),
        2 * Math.max(box.top - y, 0, y - box.bottom),
      );
      if (far < least) [best, least] = [index, far];
    }
    return best;
  }

  /** @type {number[]} */
  let hidden = [];

  function paint() {
    current = Math.min(current, tokens.length - 1);
    list(chips, tokens, makeChip, (item, token, at) => {
      if (at === editing?.at) return;
      let button = /** @type {HTMLElement} */ (item.firstElementChild);
      if (button.localName !== 'button') {
        const fresh = makeChip();
        item.replaceWith(fresh);
        button = /** @type {HTMLElement} */ (fresh.firstElementChild);
      }
      const label = tokenLabel(token);
      setText(button, label);
      setAttribute(button, 'name', chipName(at));
      button.tabIndex = at === current ? 0 : -1;
      const reasons = hidden[at] ? reasonWords(hidden[at], strings) : '';
      button.classList.toggle('struck', reasons !== '');
      const title = reasons && fill(words.masked, { reasons });
      setAttribute(button, 'title', title || null);
      const place = fill(words.chip, { token: label, place: at + 1, count: tokens.length });
      setAttribute(button, 'aria-label', title ? `${place}; ${title}` : place);
    });
  }

  return {
    element,
    update(model) {
      const next = model.state[side];
      state = model.state;
      element.hidden = side === 'target' && !state.cross;
      const label = state.cross ? words[side === 'source' ? 'keys' : 'queries'] : words.source;
      setText(name, label);
      setAttribute(chips, 'aria-label', fill(words.list, { side: label }));
      hidden = side === 'source' && model.result ? lesson.hiddenTokens(model.result) : [];
      if (next !== tokens) {
        const own = sent !== null && sameTokens(sent, next);
        giveWay(next);
        tokens = next;
        fitting = own ? text.value : joinTokens(tokens, state.unit);
        if (!own && !(wrong.text && text.value.trim())) {
          text.value = fitting;
          wrong.text = '';
        }
        if (!editing) wrong.chip = '';
        complain();
      }
      sent = null;
      paint();
    },
    recut(unit) {
      const typed = element.hidden ? joinTokens(tokens, state.unit) : text.value;
      const next = tokenise(typed, unit);
      const sentence = problem(next);
      if (!element.hidden) {
        wrong.text = sentence;
        sent = next;
        complain();
      }
      return sentence ? null : next;
    },
  };
}

/**
 * @param {number} reasons bits
 * @param {import('../../i18n/index.js').Strings} strings
 */
export function reasonWords(reasons, { heatmap }) {
  return Object.entries(heatmap.reasons)
    .filter(([bit]) => reasons & Number(bit))
    .map(([, words]) => words)
    .join(heatmap.and);
}
