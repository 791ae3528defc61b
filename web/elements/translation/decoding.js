/**
 * The translation as it is written, token by token: which tokens were likeliest, which was taken, and
 * what is kept for the next step.
 */
import { fill, short, tokenLabel } from '../../draw/format.js';
import { textOf } from '../../text/pairs.js';
import { freshId, h, list, setAttribute, setText } from '../dom.js';
import { barList } from '../parts/bar-list.js';
import { LabelledMap } from './labelled-map.js';

/** Width of a map of kept rows, in CSS pixels. */
const KEPT = 132;
/** Least height of a row, which has its label. */
const KEPT_ROW = 12;

/**
 * @param {import('./views.js').Context} context
 * @param {import('./pictures.js').Pictures} pictures
 */
export function decoding({ lesson, strings, dispatch }, pictures) {
  const words = strings.translation;
  /** @type {string[]} */
  let tokens = [];
  let written = 0;
  const ids = { slider: freshId() };

  /** @param {number} count */
  const go = (count) => {
    const token = count >= tokens.length ? 'all' : Math.max(1, count);
    dispatch({ type: 'set', values: { token } }, 'token');
  };
  /** @param {'first' | 'back' | 'forward' | 'whole'} name @param {() => number} to */
  const button = (name, to) =>
    h(
      'button',
      {
        type: 'button',
        class: 'link',
        'aria-label': words[`${name}Token`],
        onclick: (/** @type {MouseEvent} */ { currentTarget }) =>
          /** @type {Element} */ (currentTarget).getAttribute('aria-disabled') || go(to()),
      },
      words[name],
    );
  const first = button('first', () => 1);
  const back = button('back', () => written - 1);
  const forward = button('forward', () => written + 1);
  const whole = button('whole', () => tokens.length);
  const slider = h('input', {
    type: 'range',
    id: ids.slider,
    min: '1',
    step: '1',
    oninput: () => go(slider.valueAsNumber),
  });
  const where = h('span', { class: 'figures where' });
  const chips = h('ol', { class: 'words', 'aria-label': words.decoded });
  const unfinished = h('p', { class: 'note' }, words.unfinished);
  const trap = h('p', { class: 'note' }, words.asD2l);

  const bars = h('ol', { class: 'row figures' });
  const likeliest = h(
    'div',
    { class: 'part' },
    h('p', { class: 'label quiet' }, words.candidates),
    bars,
  );
  const edited = h('p', { class: 'note', role: 'status' });
  const kept = h('div', { class: 'kept' });
  const keptNote = h('p', { class: 'note' });
  const cache = h('div', { class: 'part' }, kept, keptNote);
  /** @type {LabelledMap[]} */
  const maps = [];

  const beamRows = h('ol', { class: 'beams' });
  const beams = h(
    'div',
    { class: 'part' },
    h('p', { class: 'label quiet' }, words.beams),
    beamRows,
  );

  const element = h(
    'div',
    { class: 'panel decoding', role: 'group', 'aria-label': words.decoding },
    h('p', { class: 'line' }, h('span', { class: 'title' }, words.decoded), where),
    chips,
    unfinished,
    edited,
    h('p', { class: 'line steps' }, first, back, slider, forward, whole),
    trap,
    h('div', { class: 'halves' }, likeliest, cache),
    beams,
  );
  setAttribute(slider, 'aria-label', words.decoded);

  /** @param {number} index */
  const makeChip = (index) =>
    h('li', null, h('button', { type: 'button', class: 'word', onclick: () => go(index + 1) }));

  /** @param {import('./views.js').Result} result */
  function showKept(result) {
    const layer = layerOf(result.state.show);
    const all = lesson.cacheOf(result, result.state.head);
    list(
      kept,
      all.filter(({ tensor }) => layerOf(tensor) === layer),
      (at) => {
        maps[at] = new LabelledMap();
        return h('figure', null, maps[at].element, h('figcaption', { class: 'quiet' }));
      },
      (figure, matrix, at) => {
        const picture = { matrix, scale: pictures.signed(matrix), masked: null, edited: [] };
        const rows = ['<bos>', ...tokens].slice(0, matrix.rows);
        const labels = { rows, columns: [], marked: matrix.rows - 1 };
        maps[at].paint(picture, labels, KEPT, pictures.theme, KEPT_ROW);
        setText(/** @type {Element} */ (figure.lastElementChild), matrix.tensor);
      },
    );
    const { cache } = result.state;
    setText(keptNote, words.cache[/** @type {keyof typeof words.cache} */ (cache)] ?? '');
  }

  return {
    element,
    /** How many tokens are written at the step that is shown. */
    get written() {
      return written;
    },
    /** @param {{ state: import('./views.js').State, result: import('./views.js').Result }} model */
    update({ state, result }) {
      // While a model trains nothing is decoded: what was written before stays, and is dimmed.
      element.classList.toggle('stale', !result.decoded);
      if (!result.decoded) return;
      tokens = lesson.writtenOf(result);
      written = state.token === 'all' ? tokens.length : Math.min(state.token, tokens.length);
      unfinished.hidden = result.decoded.finished;
      const would = textOf(lesson.predictedOf(result), lesson.data(result.state).targetUnit);
      setText(edited, state.edits.length > 0 ? fill(words.edited, { would }) : '');
      trap.hidden = state.positions !== 'as-d2l' || state.cache === 'none';
      list(chips, tokens, makeChip, (item, token, index) => {
        const button = /** @type {Element} */ (item.firstElementChild);
        setText(button, tokenLabel(token));
        item.classList.toggle('ahead', index >= written);
        setAttribute(button, 'aria-current', index === written - 1 ? 'step' : null);
      });
      const token = tokens[written - 1];
      const place = fill(words.tokens, { place: written, count: tokens.length, token });
      slider.max = String(tokens.length);
      slider.valueAsNumber = written;
      setAttribute(slider, 'aria-valuetext', place);
      setText(where, place);
      for (const end of [first, back]) setAttribute(end, 'aria-disabled', written <= 1);
      for (const end of [forward, whole])
        setAttribute(end, 'aria-disabled', written === tokens.length);

      const likely = lesson.candidatesOf(result);
      const candidates = likely.map(({ token, probability }) => ({ token, value: probability }));
      barList(
        bars,
        candidates,
        likely.findIndex((candidate) => candidate.token === token),
      );
      showKept(result);

      const hypotheses = lesson.beamsOf(result);
      beams.hidden = hypotheses.length === 0;
      const { targetUnit } = lesson.data(result.state);
      list(
        beamRows,
        hypotheses,
        () => h('li', null, h('span'), h('span', { class: 'figures quiet' })),
        (item, { tokens, score }) => {
          const [text, number] = item.children;
          setText(text, textOf(tokens, targetUnit) || '–');
          setText(number, fill(words.beamScore, { score: short(score) }));
        },
      );
    },
  };
}

/** Of a tensor's name, or the last. @param {string} tensor */
const layerOf = (tensor) => Number(/\.(\d+)\./.exec(tensor)?.[1] ?? 0);
