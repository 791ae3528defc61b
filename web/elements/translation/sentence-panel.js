/**
 * The sentence that is looked at: typed, or one of the corpus. Words that the vocabulary does not have
 * are marked and named, and beside it stands what a person translated.
 */
import { fill, tokenLabel } from '../../draw/format.js';
import { textOf, tokensOf } from '../../text/pairs.js';
import { freshId, h, list, setAttribute, setText } from '../dom.js';

/**
 * @param {import('./views.js').Context} context
 * @returns {import('../parts/controls.js').Part}
 */
export function sentencePanel({ lesson, strings, dispatch }) {
  const words = strings.translation;
  const ids = { text: freshId(), error: freshId() };
  /** @type {import('./views.js').State} */
  let state = lesson.defaults;
  /** @type {import('./views.js').Corpus} */
  let corpus;
  /** @type {{ text: string, pair: import('../../text/pairs.js').Pair, held: boolean }[]} */
  let sentences = [];
  let sent = '';

  const text = h('input', {
    type: 'text',
    id: ids.text,
    name: 'sentence',
    class: 'sentence',
    autocomplete: 'off',
    spellcheck: false,
    'aria-describedby': ids.error,
    oninput: (/** @type {InputEvent} */ event) => event.isComposing || take(),
    oncompositionend: take,
    onblur: () => error.textContent === '' && show(),
  });
  const error = h('p', { class: 'error', id: ids.error, role: 'alert' });
  const chips = h('ol', { class: 'words', 'aria-label': words.source });
  const unknown = h('p', { class: 'note', role: 'status' });
  const place = h('span', { class: 'quiet' });
  const reference = h('p', { class: 'reference' });

  /** @param {string} name @param {(at: number) => number} to */
  const go = (name, to) =>
    h(
      'button',
      {
        type: 'button',
        class: 'link',
        onclick: () => {
          const count = sentences.length;
          const at = to(placeOf(state.sentence));
          dispatch({ type: 'set', values: { sentence: sentences[(at + count) % count].text } });
        },
      },
      name,
    );
  const element = h(
    'div',
    { class: 'panel', role: 'group', 'aria-label': words.sentence },
    h('label', { htmlFor: ids.text, class: 'title' }, words.source),
    text,
    error,
    chips,
    unknown,
    h(
      'p',
      { class: 'line' },
      go(words.previous, (at) => at - 1),
      go(words.next, (at) => at + 1),
      go(words.random, () => Math.floor(Math.random() * sentences.length)),
      place,
    ),
    reference,
  );

  const cut = (/** @type {string} */ typed) =>
    tokensOf(typed, corpus.sourceUnit, corpus.sourceVocabulary);
  const placeOf = (/** @type {string} */ sentence) => {
    const key = cut(sentence).join(' ');
    return sentences.findIndex(({ pair }) => pair.source.join(' ') === key);
  };

  function take() {
    const tokens = cut(text.value);
    const limit = corpus.steps - 1;
    const wrong =
      tokens.length === 0
        ? words.errors.none
        : tokens.length > limit
          ? fill(words.errors.long, { count: tokens.length, limit })
          : '';
    setText(error, wrong);
    setAttribute(text, 'aria-invalid', wrong !== '');
    if (wrong) return;
    sent = text.value;
    dispatch({ type: 'set', values: { sentence: text.value } }, 'sentence');
  }

  function show() {
    text.value = state.sentence;
    sent = state.sentence;
    setText(error, '');
    setAttribute(text, 'aria-invalid', null);
  }

  return {
    element,
    update(model) {
      state = model.state;
      const now = lesson.corpusOf(state);
      if (now !== corpus) {
        corpus = now;
        const written =
          (/** @type {boolean} */ held) =>
          (/** @type {import('../../text/pairs.js').Pair} */ pair) => ({
            text: textOf(pair.source, corpus.sourceUnit),
            pair,
            held,
          });
        sentences = [...corpus.training.map(written(false)), ...corpus.heldOut.map(written(true))];
      }
      if (state.sentence !== sent) show();
      const tokens = cut(state.sentence);
      const strange = tokens.filter((token) => !corpus.sourceVocabulary.has(token));
      list(
        chips,
        tokens,
        () => h('li'),
        (chip, token) => {
          setText(chip, tokenLabel(token));
          chip.classList.toggle('unknown', strange.includes(token));
        },
      );
      setText(
        unknown,
        strange.length
          ? fill(words.unknown, { tokens: [...new Set(strange)].join(strings.heatmap.and) })
          : '',
      );
      const at = placeOf(state.sentence);
      const found = sentences[at];
      const where = found && fill(words.place, { place: at + 1, count: sentences.length });
      setText(place, found ? `${where} · ${found.held ? words.heldOut : words.learnt}` : '');
      const key = tokens.join(' ');
      const translations = new Set(
        sentences
          .filter(({ pair }) => pair.source.join(' ') === key)
          .map(({ pair }) => textOf(pair.target, corpus.targetUnit)),
      );
      setText(
        reference,
        found ? `${words.reference}: ${[...translations].join(' / ')}` : words.noReference,
      );
      reference.classList.toggle('quiet', !found);
    },
  };
}
