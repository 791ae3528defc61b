/**
 * The sentence that is looked at: typed, or one of the corpus. Words that the vocabulary does not have
 * are marked and named, and beside it stands what a person translated.
 */
import { fill, tokenLabel } from '../../draw/format.js';
import { MOST_WRITTEN } from '../../lessons/translation.js';
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
  let data = lesson.data(state);
  let known = sentencesOf(data);
  /** What the field holds in the state's name; null: it has still to be written. */
  let sent = /** @type {string | null} */ (null);

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
  });
  const error = h('p', { class: 'error', id: ids.error, role: 'alert' });
  const chips = h('ol', { class: 'words', 'aria-label': words.source });
  const unknown = h('p', { class: 'note', role: 'status' });
  const place = h('span', { class: 'quiet' });
  const reference = h('p', { class: 'reference' });

  /** @param {'previous' | 'next' | 'random'} name @param {(at: number) => number} to */
  const go = (name, to) =>
    h(
      'button',
      {
        type: 'button',
        class: 'link',
        'aria-label': words[`${name}Sentence`],
        onclick: () => {
          const at = to(places().shown);
          const { text } = known[(at + known.length) % known.length];
          dispatch({ type: 'set', values: { sentence: text } });
        },
      },
      words[name],
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
      go('previous', (at) => at - 1),
      go('next', (at) => at + 1),
      go('random', () => Math.floor(Math.random() * known.length)),
      place,
    ),
    reference,
  );

  /** Where the sentence that is shown stands among those of the corpus. */
  function places() {
    const key = lesson.sentenceOf(state).tokens.join(' ');
    return {
      shown: known.findIndex(({ pair }) => pair.source.join(' ') === key),
      same: known.filter(({ pair }) => pair.source.join(' ') === key),
    };
  }

  function take() {
    const { sourceUnit, training } = data;
    const tokens = tokensOf(text.value, sourceUnit, training.sourceVocabulary);
    const limit = MOST_WRITTEN - 1;
    const wrong =
      tokens.length === 0
        ? words.errors.none
        : tokens.length > limit
          ? fill(words.errors.long, { count: tokens.length, limit })
          : '';
    complain(wrong);
    if (wrong) return;
    sent = text.value;
    dispatch({ type: 'set', values: { sentence: text.value } }, 'sentence');
  }

  /** @param {string} wrong */
  function complain(wrong) {
    setText(error, wrong);
    setAttribute(text, 'aria-invalid', wrong !== '');
  }

  /** Writes the sentence of the state, unless the reader typed it so. */
  function write() {
    const { tokens } = lesson.sentenceOf(state);
    text.value = state.sentence || textOf(tokens, data.sourceUnit);
    sent = state.sentence;
    complain('');
  }

  return {
    element,
    update(model) {
      state = model.state;
      const another = lesson.data(state) !== data;
      if (another) {
        data = lesson.data(state);
        known = sentencesOf(data);
      }
      if (another || state.sentence !== sent) write();
      const { tokens } = lesson.sentenceOf(state);
      const { sourceVocabulary } = data.training;
      const strange = new Set(tokens.filter((token) => !sourceVocabulary.has(token)));
      list(
        chips,
        tokens,
        () => h('li'),
        (chip, token) => {
          setText(chip, tokenLabel(token));
          chip.classList.toggle('unknown', strange.has(token));
        },
      );
      const names = [...strange].join(strings.heatmap.and);
      setText(unknown, names && fill(words.unknown, { tokens: names }));
      const { shown, same } = places();
      const found = known[shown];
      const where = fill(words.place, { place: shown + 1, count: known.length });
      setText(place, found ? `${where} · ${found.held ? words.heldOut : words.learnt}` : '');
      const translations = new Set(same.map(({ pair }) => textOf(pair.target, data.targetUnit)));
      setText(
        reference,
        found ? `${words.reference}: ${[...translations].join(' / ')}` : words.noReference,
      );
      reference.classList.toggle('quiet', !found);
    },
  };
}

/**
 * The sentences of a corpus: those that are learnt, then those held out.
 * @param {import('../../lessons/translation-data.js').Data} data
 */
function sentencesOf({ training, unseen, sourceUnit }) {
  return [training, unseen].flatMap((set) =>
    (set?.pairs ?? []).map((pair) => ({
      text: textOf(pair.source, sourceUnit),
      pair,
      held: set === unseen,
    })),
  );
}
