/**
 * What the model learns from: one of the project's corpora, or the reader's own pairs from a file that
 * is chosen, dropped or pasted. Lines that are no pair are counted and named.
 */
import { fill } from '../../draw/format.js';
import { MOST_PAIRS, MOST_TEXT } from '../../lessons/translation-data.js';
import { readPairs } from '../../text/pairs.js';
import { freshId, h, list, setText } from '../dom.js';
import { makers } from '../parts/controls.js';
import { takeDrops } from '../training/model-file.js';

/** Of the malformed lines, so many are named. */
const NAMED = 5;
/** A text longer than this is not put into the field: it would only be slow. */
const SHOWN = 100_000;

/**
 * By the byte order mark; spreadsheets write UTF-16.
 * @param {Uint8Array} bytes
 */
function encodingOf([first, second]) {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/**
 * @param {import('./views.js').Context} context
 * @returns {import('../parts/controls.js').Part}
 */
export function corpusPanel(context) {
  const { lesson, strings, dispatch } = context;
  const words = strings.translation;
  /** Whether the reader asked for pairs of their own and has not given any yet. */
  let asked = false;
  const choice = makers.radios(
    { as: 'radios', name: 'corpus' },
    {
      ...context,
      dispatch(intent) {
        own.hidden = intent.values.corpus !== 'own';
        if (text.value === '') text.value = shown();
        ask(!own.hidden && sent === '');
        if (asked) text.focus();
        else dispatch(intent);
      },
    },
  );
  const frequency = makers.slider({ as: 'slider', name: 'minFrequency' }, context);
  const facts = h('p', { class: 'note', role: 'status' });
  /** What is known of another corpus is not said of this one. @param {boolean} on */
  const ask = (on) => {
    asked = on;
    facts.hidden = on;
  };
  const ids = { text: freshId(), error: freshId() };
  const text = h('textarea', {
    id: ids.text,
    rows: 4,
    spellcheck: false,
    class: 'figures',
    'aria-describedby': ids.error,
    onchange: () => take(text.value),
    onpaste: () => setTimeout(() => take(text.value)),
  });
  const error = h('p', { class: 'error', id: ids.error, role: 'alert' });
  const cut = h('p', { class: 'note', role: 'status' });
  const count = h('p', { class: 'note' });
  const named = h('ol', { class: 'note' });
  const malformed = h('div', { role: 'status' }, count, named);
  const file = h('input', {
    type: 'file',
    accept: '.txt,.tsv,text/plain,text/tab-separated-values',
    hidden: true,
    onchange: () => {
      const [chosen] = file.files ?? [];
      file.value = '';
      if (chosen) read(chosen);
    },
  });
  const own = h(
    'div',
    { class: 'control' },
    h('label', { htmlFor: ids.text }, words.own),
    h(
      'p',
      { class: 'line' },
      h('button', { type: 'button', class: 'link', onclick: () => file.click() }, words.choose),
      h('span', { class: 'quiet label' }, words.dropHere),
      file,
    ),
    text,
    error,
    cut,
    malformed,
    frequency.element,
  );
  const element = h(
    'div',
    { class: 'panel corpus', role: 'group', 'aria-label': words.corpus },
    choice.element,
    facts,
    own,
  );
  let sent = '';
  const shown = () => (sent.length > SHOWN ? '' : sent);

  /** @param {File} chosen */
  async function read(chosen) {
    try {
      const bytes = new Uint8Array(await chosen.arrayBuffer());
      take(new TextDecoder(encodingOf(bytes)).decode(bytes), words.noPairs);
    } catch {
      ask(true);
      own.hidden = false;
      setText(error, fill(strings.training.unreadable, { name: chosen.name }));
    }
  }
  takeDrops(element, read);

  /** @param {string} given @param {string} [none] what is said of nothing */
  function take(given, none = '') {
    const all = given.replace(/\r\n?/g, '\n');
    const long = all.length > MOST_TEXT;
    const lines = long ? all.slice(0, Math.max(0, all.lastIndexOf('\n', MOST_TEXT))) : all;
    const { pairs, problems } = readPairs(lines, { limit: MOST_PAIRS + 1 });
    const used = Math.min(pairs.length, MOST_PAIRS);
    setText(error, pairs.length ? '' : all === '' ? none : words.noPairs);
    setText(cut, long || pairs.length > used ? fill(words.cut, { count: used }) : '');
    ask(pairs.length === 0);
    own.hidden = false;
    if (asked) return name(problems);
    sent = lines;
    text.value = shown();
    dispatch({ type: 'set', values: { corpus: 'own', own: lines } });
  }

  /** @param {import('../../text/pairs.js').Problem[]} problems */
  function name(problems) {
    const most = problems.slice(0, NAMED);
    malformed.hidden = problems.length === 0;
    setText(
      count,
      problems.length === 1
        ? words.malformedOne
        : fill(words.malformed, { count: problems.length }),
    );
    const lines = most.map(({ line, reason }) =>
      fill(words.line, { line, reason: words.reasons[reason] }),
    );
    if (problems.length > NAMED)
      lines.push(fill(words.andMore, { count: problems.length - NAMED }));
    list(named, lines, () => h('li'), setText);
  }

  return {
    element,
    update(model) {
      const { state } = model;
      const corpus = asked ? 'own' : state.corpus;
      choice.update({ ...model, state: { ...state, corpus } });
      frequency.update(model);
      const { training, unseen, problems } = lesson.data(state);
      const pairs = fill(words.pairs, { training: training.size, heldOut: unseen?.size ?? 0 });
      const sizes = {
        source: training.sourceVocabulary.words,
        target: training.targetVocabulary.words,
      };
      setText(facts, `${pairs} · ${fill(words.vocabulary, sizes)}`);
      own.hidden = corpus !== 'own';
      if (state.own !== sent) {
        sent = state.own;
        text.value = shown();
        setText(error, '');
      }
      if (!asked) name(state.corpus === 'own' ? problems : []);
    },
  };
}
