/**
 * What the lessons that learn to translate share: a corpus, a plan of training, a sentence to look at, and
 * how the sentence is decoded.
 *
 *   pairs → ids [B, T] → model → logits [B, T, V] → loss against the labels → a step of the optimiser
 *
 * `step` is how many steps of training the shown model has behind it; together with the fields of the
 * model, the corpus and the plan it names the very bits of every number. While `running` the core goes
 * on to the planned end and takes `step` along. A plan that is made shorter takes nothing back of what is
 * trained: the step may lie beyond its end, as nothing in a run depends on the epochs that are planned;
 * except by the cosine, whose rates are laid out up to the end, so that another end makes another run.
 *
 * This file is the state, what an intent does to it, and the request. What is drawn is in
 * translation-view.js; each model's own fields, names and controls are in its lesson.
 */
import { encode } from '../text/data-set.js';
import { BOS, EOS } from '../text/vocabulary.js';
import { defaultState } from './state.js';
import { dataOf, MOST_TEXT, pairOf, sourceTokens } from './translation-data.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').Table} Table */
/** @typedef {import('./state.js').Edit} Edit */
/** @typedef {{ code?: string, message: string, option?: string }} Failure */

const MOST_EPOCHS = 1000;
/** Of a tensor, beside that of the batch. */
const MOST_AXES = 3;
/** Tokens of a translation. */
export const MOST_WRITTEN = 32;

/** The fields of the corpus, the training, the decoding and the view. @type {Table} */
const shared = {
  corpus: {
    type: 'choice',
    choices: ['english-french', 'english-chinese', 'own'],
    default: 'english-french',
  },
  own: { type: 'text', min: 0, max: MOST_TEXT, default: '' },
  minFrequency: { type: 'integer', min: 1, max: 10, default: 1 },
  sentence: { type: 'text', min: 0, max: 400, default: '' },
  reading: { type: 'choice', choices: ['reference', 'translation'], default: 'reference' },
  epochs: { type: 'integer', min: 1, max: MOST_EPOCHS, default: 60 },
  learningRate: { type: 'number', min: 0, max: 1e30, default: 0.005 },
  schedule: {
    type: 'choice',
    choices: ['constant', 'cosine', 'inverse-square-root'],
    default: 'constant',
  },
  warmUp: { type: 'integer', min: 0, max: 10000, default: 0 },
  batchSize: { type: 'integer', min: 1, max: 512, default: 64 },
  clip: { type: 'number', words: ['off'], min: 0.001, max: 1000, default: 1 },
  dropout: { type: 'number', min: 0, max: 0.9, default: 0.1 },
  seed: { type: 'integer', min: 0, max: 2147483647, default: 0 },
  loaded: { type: 'text', min: 0, max: 200, default: '', linked: false },
  step: { type: 'integer', min: 0, max: 5_000_000, default: 0 },
  running: { type: 'flag', default: false, linked: false, undoable: false },
  method: { type: 'choice', choices: ['greedy', 'beam', 'sample'], default: 'greedy' },
  beams: { type: 'integer', min: 1, max: 8, default: 4 },
  temperature: { type: 'number', min: 0.01, max: 100, default: 1 },
  token: { type: 'integer', words: ['all'], min: 1, max: MOST_WRITTEN, default: 'all' },
  silenced: { type: 'names', min: 0, max: 64, default: [] },
  edits: { type: 'edits', default: [] },
  show: { type: 'name', default: '' },
  head: { type: 'integer', min: -1, max: 127, default: -1, view: true },
  range: { type: 'choice', choices: ['largest', 'unit'], default: 'largest', view: true },
  aligned: { type: 'flag', default: false, view: true },
  cell: { type: 'cell', max: 4096, default: null, view: true, undoable: false },
  experiment: { type: 'name', default: '', view: true },
};

/** Of these every number of a run depends. */
const ofRun = [
  ...['corpus', 'own', 'minFrequency', 'learningRate', 'schedule', 'warmUp', 'batchSize', 'clip'],
  ...['dropout', 'seed', 'loaded'],
];

/** Fields of a lesson's own that no model depends on. */
const ofDecoding = ['cache', 'positions'];

/**
 * What makes a lesson of a model.
 * @typedef {object} Model
 * @property {string} name
 * @property {'transformer' | 'seq2seq'} model
 * @property {Table} table its own fields; `shared` fields may get other defaults
 * @property {(state: State) => object} config of the core's model, beside vocabularies
 * @property {(state: State) => string[]} blocks that have weights, in reading order
 * @property {(state: State) => number} heads of each block
 * @property {(state: State, tensor: string) => boolean} has whether there is such a tensor
 * @property {(state: State) => string} shown the tensor that is shown large where no other is asked for
 * @property {(edit: Edit) => import('../../wasm/override.js').Override} overrideOf
 * @property {boolean} padded whether the encoder reads padding, as it did in training
 * @property {(state: State) => string[]} masks tensors that say which weights are masked
 * @property {(state: State) => string[]} caches tensors that hold what is kept from token to token
 */

/** Files the reader has brought along instead of the initial weights, by name. @type {Map<string, Uint8Array>} */
const files = new Map();

/** Of those, the ones that turned out not to fit a model, by both. @type {Map<string, Failure>} */
const misfits = new Map();

/**
 * Makes a file known; its name goes into the state's `loaded`.
 * @param {string} name
 * @param {Uint8Array} bytes a safetensors file
 */
export function bringFile(name, bytes) {
  let print = 0;
  for (const byte of bytes) print = Math.imul(print ^ byte, 0x01000193);
  const loaded = `${name.slice(0, 150)} ${bytes.length} ${print >>> 0}`;
  files.set(loaded, bytes);
  return loaded;
}

/**
 * @param {import('../../wasm/engine.js').TensorInfo} info
 * @returns {boolean} whether a cell of it can be given a number of one's own
 */
export const isEditable = ({ axes, op, name }) =>
  axes[0] === 'B' && op !== 'input' && !/\.(mask|row_flags)$/.test(name);

/** @param {Model} lesson */
export function translationLesson(lesson) {
  const table = { ...lesson.table, ...shared };
  for (const [name, field] of Object.entries(lesson.table)) {
    if (Object.hasOwn(shared, name)) table[name] = { ...shared[name], ...field };
  }
  table.show = { ...shared.show, default: lesson.shown(defaultState(table)) };
  const defaults = defaultState(table);
  const own = Object.keys(lesson.table).filter((name) => !Object.hasOwn(shared, name));
  const ofModel = own.filter((name) => !ofDecoding.includes(name));
  const keyFields = [...ofModel, ...ofRun];

  /** @param {State} state */
  const theData = (state) => /** @type {import('./translation-data.js').Data} */ (dataOf(state));

  /** What of the plan's length the rates depend on. @param {State} state */
  const endOf = (state) => state.schedule === 'cosine' && state.epochs;

  /** @param {State} state */
  function sentenceOf(state) {
    const data = theData(state);
    const tokens = sourceTokens(data, state.sentence);
    const pair = tokens.length > 0 ? pairOf(data, tokens) : (data.unseen ?? data.training).pairs[0];
    return { tokens: pair ? [...pair.source].slice(0, MOST_WRITTEN - 1) : tokens, pair };
  }

  /** @param {State} state */
  function configOf(state) {
    const { sourceVocabulary, targetVocabulary } = theData(state).training;
    return {
      ...lesson.config(state),
      sourceVocab: sourceVocabulary.size,
      targetVocab: targetVocabulary.size,
    };
  }

  /** @param {State} state */
  const fitOf = (state) => JSON.stringify([lesson.model, configOf(state), state.loaded]);

  /**
   * @param {State} state
   * @returns {Failure | undefined} why the loaded file is left aside: it does not fit the model
   */
  const leftAside = (state) => (state.loaded ? misfits.get(fitOf(state)) : undefined);

  /**
   * Goes on without what caused a failure.
   * @param {State} state
   * @param {Failure} failure
   * @returns {boolean} whether it could
   */
  function leaveAside(state, failure) {
    if (failure.option !== 'initial') return false;
    misfits.set(fitOf(state), failure);
    return true;
  }

  /**
   * What a run depends on; a file that is left aside is none.
   * @param {State} state
   */
  const runOf = (state) =>
    keyFields.map((name) => (name === 'loaded' && leftAside(state) ? '' : state[name]));

  /** @param {State} state */
  function plan(state) {
    const data = theData(state);
    const perEpoch = Math.ceil(data.training.size / state.batchSize);
    const key = JSON.stringify([
      lesson.name,
      data.key,
      runOf(state).filter((_, at) => keyFields[at] !== 'own'),
      endOf(state),
    ]);
    return { key, perEpoch, steps: state.epochs * perEpoch };
  }

  /**
   * @param {State} state
   * @returns {State}
   */
  function settle(state) {
    const settled = { ...state };
    if (!dataOf(settled)) Object.assign(settled, { corpus: defaults.corpus });
    if (state.loaded && !files.has(state.loaded)) settled.loaded = '';
    const { steps, perEpoch } = plan(settled);
    settled.step = Math.min(state.step, endOf(settled) ? steps : MOST_EPOCHS * perEpoch);
    if (settled.step >= steps) settled.running = false;
    const heads = lesson
      .blocks(settled)
      .flatMap((block) =>
        Array.from({ length: lesson.heads(settled) }, (_, at) => `${block}/${at}`),
      );
    const known = (/** @type {string} */ name) => heads.includes(name);
    const placed = (/** @type {Edit} */ { at }) => at.length <= MOST_AXES;
    if (!state.edits.every(placed)) settled.edits = state.edits.filter(placed);
    if (!state.silenced.every(known)) settled.silenced = state.silenced.filter(known);
    if (!lesson.has(settled, state.show)) settled.show = lesson.shown(settled);
    return settled;
  }

  /** @param {State} state */
  const blockOverrides = (state) =>
    state.silenced.map((/** @type {string} */ name) => {
      const [block, head] = name.split('/');
      return { name: `${block}.weights`, at: [null, Number(head), null, null], value: 0 };
    });

  /** @param {State} state */
  function decoding(state) {
    const { method, beams, temperature, seed, cache, positions } = state;
    return {
      method,
      bos: BOS,
      eos: EOS,
      maxLength: Math.min(theData(state).training.steps + 4, MOST_WRITTEN),
      ...(method === 'beam' ? { beams } : {}),
      ...(method === 'sample' ? { temperature, seed } : {}),
      ...(cache ? { cache, positions } : {}),
    };
  }

  /**
   * @param {State} state
   * @returns {import('../../wasm/evaluate.js').Request}
   */
  function request(state) {
    const data = theData(state);
    const { training, unseen } = data;
    const { sourceVocabulary, targetVocabulary } = training;
    const { steps } = plan(state);
    const { tokens, pair } = sentenceOf(state);
    const length = lesson.padded ? Math.max(training.steps, tokens.length + 1) : tokens.length + 1;
    const source = encode(tokens, sourceVocabulary, length);
    const sentence = { source: [source.ids], sourceLens: [source.length] };
    const reference =
      pair && state.reading === 'reference' && state.token === 'all' ? pair.target : null;
    const target = [BOS, ...(reference ?? []).map((token) => targetVocabulary.id(token))];
    const silenced = blockOverrides(state);
    const bytes = leftAside(state) ? undefined : files.get(state.loaded);
    return {
      model: lesson.model,
      config: {
        ...configOf(state),
        dropout: state.dropout,
        seed: state.seed,
      },
      training: {
        pairs: training.batch(training.pairs.keys()),
        plan: {
          batchSize: state.batchSize,
          seed: state.seed,
          step: {
            optimiser: 'adam',
            learningRate: state.learningRate,
            clip: state.clip === 'off' ? 0 : state.clip,
            schedule: {
              kind: state.schedule,
              warmUp: state.warmUp,
              ...(state.schedule === 'cosine' ? { total: steps } : {}),
            },
          },
        },
        steps: state.running ? steps : state.step,
        ...(bytes ? { initial: { name: state.loaded, bytes } } : {}),
      },
      input: { ...sentence, target: [target] },
      overrides: [...silenced, ...state.edits.map(lesson.overrideOf)],
      read: [
        ...new Set([
          ...['source', 'target', 'logits'],
          ...lesson.blocks(state).map((block) => `${block}.weights`),
          ...lesson.masks(state),
          state.show,
        ]),
      ],
      decode: {
        input: { ...sentence, overrides: silenced },
        options: decoding(state),
        ...(state.token === 'all' ? {} : { steps: state.token }),
        read: lesson.caches(state),
        follow: reference === null,
      },
      ...(state.running || !unseen
        ? {}
        : {
            unseen: {
              batch: unseen.batch(unseen.pairs.keys()),
              overrides: silenced,
              decode: { ...decoding(state), maxLength: training.steps },
            },
          }),
    };
  }

  /**
   * What a reader does to a state:
   *   set, load  as everywhere; whoever goes to a step stops the run
   *   edit       a number put into a tensor, its place without the batch; null takes the edit back
   *   silence    a head of a block is switched off or on
   * @typedef {import('./index.js').CommonIntent
   *   | { type: 'edit', name: string, at: number[], value: number | null }
   *   | { type: 'silence', block: string, head: number, off: boolean }} Intent
   */
  /**
   * @param {State} state
   * @param {Intent} intent
   * @returns {State}
   */
  function reduce(state, intent) {
    switch (intent.type) {
      case 'set': {
        const next = { ...state, ...intent.values };
        if ('step' in intent.values && !('running' in intent.values)) next.running = false;
        const another =
          keyFields.some((name) => next[name] !== state[name]) || endOf(next) !== endOf(state);
        if (another) Object.assign(next, { running: false, step: 0, ...intent.values });
        const elsewhere = next.sentence !== state.sentence || next.corpus !== state.corpus;
        if (elsewhere && !('token' in intent.values)) next.token = 'all';
        if (elsewhere) next.edits = [];
        if (next.corpus !== state.corpus && !('sentence' in intent.values)) next.sentence = '';
        return settle(next);
      }
      case 'edit': {
        const { name, at, value } = intent;
        const others = state.edits.filter(
          (/** @type {Edit} */ edit) => edit.name !== name || edit.at.join() !== at.join(),
        );
        return settle({
          ...state,
          edits: value === null ? others : [...others, { name, at, value }],
        });
      }
      case 'silence': {
        const name = `${intent.block}/${intent.head}`;
        const others = state.silenced.filter((/** @type {string} */ other) => other !== name);
        return settle({ ...state, silenced: intent.off ? [...others, name] : others });
      }
      case 'load':
        return settle({ ...defaults, ...intent.values });
    }
  }

  return {
    name: lesson.name,
    table,
    defaults,
    settle,
    /** @param {State} state */
    misfits(state) {
      const settled = settle(state);
      return Object.keys(table).filter(
        (field) => settled[field] !== state[field] && state[field] !== table[field].default,
      );
    },
    reduce,
    plan,
    request,
    leftAside,
    leaveAside,
    everything: () => /** @type {'all'} */ ('all'),
    blocks: lesson.blocks,
    data: theData,
    sentenceOf,
  };
}
