/**
 * The multi-head lesson: what goes in.
 *
 *   tokens → embedding (+ position) = X [T, H]
 *   Q = X W_q, K = X W_k, V = X W_v, cut into h heads of D = H / h
 *   weights = normalise(mask(score(Q, K) · scale ÷ temperature)),  heads = weights · V
 *   output = concat(heads) W_o
 *
 * In self-attention both sides read the source; in cross-attention the queries come from the target
 * and the keys and values from the source. This file is the state table, what an intent does to a
 * state, and the request that asks the core for numbers. Its controls are in multi-head-controls.js,
 * what is drawn is in multi-head-view.js.
 */
import { matchTokens } from '../text/tokenise.js';
import { exists, hasBatch, isAttentionMap, tensors } from './multi-head-tensors.js';
import { defaultState } from './state.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').Table} Table */

export const name = 'multi-head';
export const MAX_TOKENS = 64;

const names = Object.keys(tensors);

/** @type {Table} */
export const table = {
  unit: { type: 'choice', choices: ['words', 'characters'], default: 'words', control: 'tokens' },
  source: {
    type: 'tokens',
    min: 1,
    max: MAX_TOKENS,
    default: ['the', 'cat', 'sat', 'on', 'the', 'mat'],
    control: 'tokens',
  },
  target: {
    type: 'tokens',
    min: 1,
    max: MAX_TOKENS,
    default: ['le', 'chat', 'est', 'assis', 'sur', 'le', 'tapis'],
    control: 'tokens',
  },
  cross: { type: 'flag', default: false, control: 'variant' },
  causal: { type: 'flag', default: false, control: 'masks' },
  validLength: {
    type: 'integer',
    words: ['all'],
    min: 0,
    max: MAX_TOKENS,
    default: 'all',
    control: 'masks',
  },
  window: {
    type: 'integer',
    words: ['off'],
    min: 0,
    max: MAX_TOKENS - 1,
    default: 'off',
    control: 'masks',
  },
  closed: { type: 'cells', min: 0, max: MAX_TOKENS, default: [], control: 'masks' },
  fill: {
    type: 'choice',
    choices: ['exclude', 'd2l', 'pytorch'],
    default: 'exclude',
    control: 'masks',
  },
  hiddens: { type: 'integer', min: 4, max: 128, default: 32, control: 'heads' },
  heads: { type: 'integer', min: 1, max: 128, default: 4, control: 'heads' },
  silenced: { type: 'indexes', max: 128, default: [], control: 'heads' },
  score: {
    type: 'choice',
    choices: ['scaled-dot', 'dot', 'general', 'additive', 'cosine', 'gaussian'],
    default: 'scaled-dot',
    control: 'scoring',
  },
  scale: {
    type: 'number',
    words: ['auto', 'off'],
    min: -1000,
    max: 1000,
    default: 'auto',
    control: 'scoring',
  },
  temperature: { type: 'number', min: 0.01, max: 100, default: 1, control: 'scoring' },
  normalise: {
    type: 'choice',
    choices: ['softmax', 'sigmoid', 'relu'],
    default: 'softmax',
    control: 'scoring',
  },
  position: {
    type: 'choice',
    choices: ['none', 'sinusoidal'],
    default: 'none',
    control: 'vectors',
  },
  seed: { type: 'integer', min: 0, max: 2147483647, default: 1, control: 'vectors' },
  edits: {
    type: 'edits',
    choices: names.filter((tensor) => !tensors[tensor].fixed),
    default: [],
  },
  show: { type: 'choice', choices: names, default: 'attention.weights', view: true },
  head: { type: 'integer', min: 0, max: 127, default: 0, view: true },
  picture: { type: 'choice', choices: ['map', 'arcs'], default: 'map', view: true },
  range: { type: 'choice', choices: ['largest', 'unit'], default: 'largest', view: true },
  drawing: { type: 'flag', default: false, view: true, linked: false, undoable: false },
  experiment: {
    type: 'choice',
    choices: ['', 'order', 'twins', 'future', 'saturation', 'empty'],
    default: '',
    view: true,
  },
  cell: { type: 'cell', max: 128, default: [2, 1], view: true, undoable: false },
};

/** The control groups in reading order; an embedding page chooses among these names. */
export const groups = ['variant', 'masks', 'heads', 'scoring', 'vectors'];

export const panels = [
  ...['experiments', 'tokens', ...groups],
  ...['inspector', 'shapes', 'torch', 'export'],
];

export const everything = () => names;

export const defaults = defaultState(table);

/** @param {State} state */
export const queries = (state) => (state.cross ? state.target : state.source);

/**
 * The size of each axis letter.
 * @param {State} state
 * @returns {Record<string, number>}
 */
export function sizes(state) {
  const heads = headsOf(state);
  return {
    h: heads,
    Tq: queries(state).length,
    Tk: state.source.length,
    H: state.hiddens,
    D: state.hiddens / heads,
    A: state.hiddens / heads,
    1: 1,
  };
}

/**
 * What drawing a mask by hand sets: it needs a map of queries and keys to draw on.
 * @param {State} state
 * @param {boolean} on
 * @returns {State}
 */
export function drawing(state, on) {
  if (!on) return { drawing: false };
  const show = isAttentionMap(state.show) ? state.show : 'attention.masked_scores';
  return { drawing: true, show, picture: 'map' };
}

/**
 * The number of heads asked for, or the next smaller one that divides the width: a drag of the width
 * passes through widths that fit fewer heads and comes back to what was asked.
 * @param {State} state
 */
export function headsOf({ hiddens, heads }) {
  return Math.max(...divisors(hiddens).filter((count) => count <= heads));
}

/**
 * The numbers of heads that a width can be cut into.
 * @param {number} hiddens
 */
export function divisors(hiddens) {
  return Array.from({ length: hiddens }, (_, index) => index + 1).filter(
    (heads) => hiddens % heads === 0,
  );
}

/**
 * Makes the fields that depend on others fit them, changing as little as possible.
 * @param {State} state
 * @returns {State}
 */
export function settle(state) {
  /** @type {State} */
  const settled = { ...state };
  const size = sizes(settled);
  settled.head = Math.min(state.head, size.h - 1);
  if (state.validLength > size.Tk) settled.validLength = size.Tk;
  settled.silenced = keep(state.silenced, (/** @type {number} */ head) => head < size.h);
  settled.closed = trimCells(state.closed, size.Tq, size.Tk);
  settled.edits = keep(
    state.edits,
    (/** @type {import('./state.js').Edit} */ edit) =>
      exists(edit.name, settled) && fits(edit.at, tensors[edit.name].axes, size),
  );
  if (!exists(state.show, settled)) settled.show = defaults.show;
  const [rows, columns] = tensors[settled.show].axes.slice(-2).map((axis) => size[axis]);
  if (state.cell && !(state.cell[0] < rows && state.cell[1] < columns)) settled.cell = null;
  return settled;
}

/**
 * The fields of a state from elsewhere that do not fit the others. A default that does not fit gives
 * way without a word: nobody asked for it.
 * @param {State} state
 * @returns {string[]}
 */
export function misfits(state) {
  const settled = settle(state);
  return Object.keys(table).filter(
    (field) => settled[field] !== state[field] && state[field] !== defaults[field],
  );
}

/**
 * Filters, and gives the very list back when nothing goes.
 * @template T
 * @param {T[]} list
 * @param {(item: T) => boolean} wanted
 */
function keep(list, wanted) {
  const kept = list.filter(wanted);
  return kept.length === list.length ? list : kept;
}

/**
 * @param {number[]} at
 * @param {string[]} axes
 * @param {Record<string, number>} size
 */
function fits(at, axes, size) {
  return at.length === axes.length && axes.every((axis, index) => at[index] < size[axis]);
}

/**
 * @param {string[]} closed
 * @param {number} rows
 * @param {number} columns
 */
function trimCells(closed, rows, columns) {
  const trimmed = closed.slice(0, rows).map((row) => row.slice(0, columns).replace(/0+$/, ''));
  while (trimmed.length > 0 && trimmed[trimmed.length - 1] === '') trimmed.pop();
  const same = trimmed.length === closed.length && trimmed.every((row, at) => row === closed[at]);
  return same ? closed : trimmed;
}

/** @param {State} state @param {number} row @param {number} column */
export function isClosed(state, row, column) {
  return state.closed[row]?.[column] === '1';
}

/**
 * What a reader does to a state:
 *   set     values of fields
 *   tokens  a new list for one side; `from` names for each token the place it came from, or -1
 *   recut   both texts cut in another unit
 *   close   closes (or opens) one cell of the reader's own mask
 *   edit    a number put into a tensor; null takes the edit back
 *   load    a state by its differences from the defaults
 * @typedef {{ type: 'set', values: State }
 *   | { type: 'tokens', side: 'source' | 'target', tokens: string[], from: number[] }
 *   | { type: 'recut', unit: string, source: string[], target: string[] }
 *   | { type: 'close', row: number, column: number, closed: boolean }
 *   | { type: 'edit', name: string, at: number[], value: number | null }
 *   | { type: 'load', values: State }} Intent
 */

/**
 * @param {State} state
 * @param {Intent} intent
 * @returns {State}
 */
export function reduce(state, intent) {
  switch (intent.type) {
    case 'set':
      return settle({ ...state, ...intent.values });
    case 'tokens':
      return settle(withTokens(state, intent.side, intent.tokens, intent.from));
    case 'recut': {
      const { unit, source, target } = intent;
      const one = withTokens(state, 'source', source, matchTokens(state.source, source));
      const both = withTokens(one, 'target', target, matchTokens(state.target, target));
      return settle({ ...both, unit });
    }
    case 'close':
      return settle(withCell(state, intent.row, intent.column, intent.closed));
    case 'edit':
      return settle(withEdit(state, intent.name, intent.at, intent.value));
    case 'load':
      return settle({ ...defaults, ...intent.values });
  }
}

/**
 * New tokens for one side; mask cells and edits stay with the tokens they belong to.
 * @param {State} state
 * @param {'source' | 'target'} side
 * @param {string[]} tokens
 * @param {number[]} from
 */
function withTokens(state, side, tokens, from) {
  /** @type {string[]} */
  const moved = [];
  if (side === 'source') moved.push('Tk');
  if (side === (state.cross ? 'target' : 'source')) moved.push('Tq');
  const rows = moved.includes('Tq') ? from : [...state.closed.keys()];
  const closed = rows.map((/** @type {number} */ row) => {
    const cells = state.closed[row] ?? '';
    return moved.includes('Tk') ? from.map((column) => cells[column] ?? '0').join('') : cells;
  });
  const edits = state.edits.flatMap((/** @type {import('./state.js').Edit} */ edit) => {
    const { axes } = tensors[edit.name];
    const at = edit.at.map((place, axis) =>
      moved.includes(axes[axis]) ? from.indexOf(place) : place,
    );
    return at.includes(-1) ? [] : [{ ...edit, at }];
  });
  return { ...state, [side]: tokens, closed, edits };
}

/**
 * @param {State} state
 * @param {number} row
 * @param {number} column
 * @param {boolean} close
 */
function withCell(state, row, column, close) {
  const height = Math.max(state.closed.length, row + 1);
  const closed = Array.from({ length: height }, (_, at) => state.closed[at] ?? '');
  const cells = closed[row].padEnd(column + 1, '0');
  closed[row] = cells.slice(0, column) + (close ? '1' : '0') + cells.slice(column + 1);
  return { ...state, closed };
}

/**
 * @param {State} state
 * @param {string} name
 * @param {number[]} at
 * @param {number | null} value
 */
function withEdit(state, name, at, value) {
  const place = at.join();
  const others = state.edits.filter(
    (/** @type {import('./state.js').Edit} */ edit) =>
      edit.name !== name || edit.at.join() !== place,
  );
  return { ...state, edits: value === null ? others : [...others, { name, at, value }] };
}

/**
 * The variant is two fields seen as one choice.
 * @param {State} state
 * @returns {'self' | 'masked' | 'cross'}
 */
export function variantOf(state) {
  if (state.cross) return 'cross';
  return state.causal ? 'masked' : 'self';
}

/** @type {Record<'self' | 'masked' | 'cross', State>} */
export const variants = {
  self: { cross: false, causal: false },
  masked: { cross: false, causal: true },
  cross: { cross: true, causal: false },
};

/** What the drawing of every state needs, whichever tensor is shown large. */
const alwaysRead = [
  'attention.query',
  'attention.key',
  'attention.raw_scores',
  'attention.scores',
  'attention.mask',
  'attention.masked_scores',
  'attention.weights',
  'attention.mean_weights',
  'attention.entropy',
  'attention.row_flags',
  'attention.heads',
  'attention.output',
];

const fills = { exclude: 'exclude', d2l: -1e6, pytorch: -Infinity };

/**
 * What the core is asked for.
 * @param {State} state
 * @returns {import('../../wasm/evaluate.js').Request & { config: State, input: State, read: string[] }}
 */
export function request(state) {
  const size = sizes(state);
  /** @type {Record<string, unknown>} */
  const input = {
    source: state.source,
    heads: size.h,
    causal: state.causal,
    score: state.score,
    temperature: state.temperature,
    normalise: state.normalise,
    fill: fills[/** @type {keyof typeof fills} */ (state.fill)],
  };
  if (state.cross) input.target = state.target;
  if (state.scale !== 'auto') input.scale = state.scale === 'off' ? 1 : state.scale;
  if (state.validLength !== 'all') input.validLens = [state.validLength];
  if (state.window !== 'off') input.window = state.window;
  if (state.closed.length > 0) {
    input.mask = Array.from({ length: size.Tq }, (_, row) =>
      Array.from({ length: size.Tk }, (_, column) => !isClosed(state, row, column)),
    );
  }
  if (state.silenced.length > 0) {
    input.headMask = Array.from({ length: size.h }, (_, head) => !state.silenced.includes(head));
  }
  return {
    model: 'attentionLayer',
    config: { hiddens: state.hiddens, seed: state.seed, position: state.position, bias: false },
    input,
    overrides: state.edits.map((/** @type {import('./state.js').Edit} */ edit) => ({
      ...edit,
      at: hasBatch(edit.name) ? [0, ...edit.at] : edit.at,
    })),
    read: [...new Set([...alwaysRead, state.show])],
  };
}
