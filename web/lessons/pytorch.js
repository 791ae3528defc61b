/**
 * A state as a PyTorch script that gives the same numbers.
 *
 * Of the multi-head lesson. Inputs and parameters are written out, every step of the tape is one line, and each edited number is
 * put in right after the line that computes its tensor, as on the tape. The script ends by comparing
 * its weights with those of the figure.
 */
import { float32 } from '../draw/format.js';
import { sizes } from './multi-head.js';

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('./state.js').Edit} Edit
 * @typedef {import('./multi-head-view.js').Result} Result
 */

/** @param {number} value */
export function number(value) {
  return Number.isFinite(value) ? float32(value) : `float('${String(value).toLowerCase()}')`;
}

/**
 * Nested lists of a tensor without its leading axes of size 1.
 * @param {{ shape: number[], data: Float32Array }} tensor
 * @param {number} rank
 */
export function literal({ shape, data }, rank) {
  const sizes = shape.slice(-rank);
  /** @param {number} axis @param {number} start @param {number} length @returns {string} */
  const nest = (axis, start, length) => {
    if (axis === rank) return number(data[start]);
    const step = length / sizes[axis];
    const items = Array.from({ length: sizes[axis] }, (_, at) =>
      nest(axis + 1, start + at * step, step),
    );
    return `[${items.join(axis === rank - 1 ? ', ' : ',\n  ')}]`;
  };
  return `torch.tensor(${nest(0, 0, data.length)}, dtype=torch.float32)`;
}

/** @param {State} state @returns {string[]} */
function rawScores({ score }) {
  switch (score) {
    case 'general':
      return [
        'key_features = key @ score_weight.T',
        'raw_scores = query @ key_features.transpose(-2, -1)',
      ];
    case 'additive':
      return [
        'query_features = query @ score_query_weight.T',
        'key_features = key @ score_key_weight.T',
        'raw_scores = torch.tanh(query_features[:, :, None] + key_features[:, None]) @ score_value_weight[0]',
      ];
    case 'cosine':
      return [
        'raw_scores = F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)',
      ];
    case 'gaussian':
      return ['raw_scores = -0.5 * ((query[:, :, None] - key[:, None]) ** 2).sum(-1)'];
    default:
      return ['raw_scores = query @ key.transpose(-2, -1)'];
  }
}

/** @param {State} state */
function scaled({ scale, score, temperature }) {
  const own = score === 'scaled-dot' ? ' / math.sqrt(query.shape[-1])' : '';
  const factor = typeof scale === 'number' ? ` * ${scale}` : scale === 'auto' ? own : '';
  return `raw_scores${factor}${temperature === 1 ? '' : ` / ${temperature}`}`;
}

/**
 * The lines that say which cells are allowed.
 * @param {State} state
 * @param {number} queries
 */
function allowed({ causal, validLength, window, closed }, queries) {
  const lines = ['allowed = torch.ones(Tq, Tk, dtype=torch.bool)'];
  if (causal) lines.push('allowed &= torch.ones(Tq, Tk).tril(Tk - Tq).bool()');
  if (validLength !== 'all') lines.push(`allowed &= torch.arange(Tk) < ${validLength}`);
  if (window !== 'off') {
    lines.push(
      `allowed &= (torch.arange(Tq)[:, None] + Tk - Tq - torch.arange(Tk)).abs() <= ${window}`,
    );
  }
  for (let row = 0; row < queries; row++) {
    const columns = Array.from(closed[row] ?? '').flatMap((bit, at) => (bit === '1' ? [at] : []));
    if (columns.length > 0) lines.push(`allowed[${row}, [${columns.join(', ')}]] = False`);
  }
  return lines;
}

/** @param {State} state @returns {string[]} */
function weights({ fill, normalise }) {
  const value = fill === 'd2l' ? '-1e6' : "float('-inf')";
  const call = { softmax: 'softmax(-1)', sigmoid: 'sigmoid()', relu: 'relu()' };
  const line = `weights = masked_scores.${call[/** @type {keyof typeof call} */ (normalise)]}`;
  // A row with no key left has zeros for weights here, NaN in PyTorch.
  const empty = '.masked_fill((masked_scores == -torch.inf).all(-1, keepdim=True), 0)';
  return [
    `masked_scores = scores.masked_fill(~allowed, ${value})`,
    fill === 'exclude' ? line + empty : line,
  ];
}

/**
 * The steps of the tape from inputs to output, one line each.
 * @param {State} state
 * @returns {string[]}
 */
export function torchSteps(state) {
  /** @param {string} variable the last part of a tensor's name */
  const edits = (variable) =>
    state.edits
      .filter((/** @type {Edit} */ { name }) => name === `attention.${variable}`)
      .map(
        (/** @type {Edit} */ { at, value }) => `${variable}[${at.join(', ')}] = ${number(value)}`,
      );
  /** @param {string} line */
  const step = (line) => [line, ...edits(line.split(' ')[0])];
  const { h, Tq } = sizes(state);
  const on = Array.from({ length: h }, (_, head) => (state.silenced.includes(head) ? 0 : 1));
  const off = on.includes(0);

  return [
    ...step(`query_projection = ${state.cross ? 'target' : 'source'} @ query_weight.T`),
    ...step('query = split(query_projection)'),
    ...step('key_projection = source @ key_weight.T'),
    ...step('key = split(key_projection)'),
    ...step('value_projection = source @ value_weight.T'),
    ...step('value = split(value_projection)'),
    ...rawScores(state).flatMap(step),
    ...step(`scores = ${scaled(state)}`),
    ...allowed(state, Tq),
    ...weights(state).flatMap(step),
    ...step('heads = weights @ value'),
    ...(off ? step(`masked_heads = heads * torch.tensor([${on.join(', ')}])[:, None, None]`) : []),
    ...step(`merged_heads = ${off ? 'masked_heads' : 'heads'}.transpose(0, 1).reshape(Tq, -1)`),
    ...step('output = merged_heads @ output_weight.T'),
  ];
}

/**
 * @param {State} state
 * @param {Result} result with all tensors
 * @returns {string} a script that runs by itself
 */
export function toPyTorch(state, { values }) {
  const weight = (/** @type {string} */ name) => {
    const tensor = values[`attention.${name}.weight`];
    return tensor ? [`${name.replace('.', '_')}_weight = ${literal(tensor, 2)}`] : [];
  };
  const { h, Tq, Tk } = sizes(state);

  return [
    '# The numbers of the figure, computed by PyTorch.',
    'import math',
    'import torch',
    'import torch.nn.functional as F',
    '',
    `tokens = ${JSON.stringify(state.source)}`,
    `source = ${literal(values['source.input'], 2)}`,
    ...(state.cross
      ? [
          `target_tokens = ${JSON.stringify(state.target)}`,
          `target = ${literal(values['target.input'], 2)}`,
        ]
      : []),
    ...['query', 'key', 'value', 'output'].flatMap(weight),
    ...['score', 'score.query', 'score.key', 'score.value'].flatMap(weight),
    `h, Tq, Tk = ${h}, ${Tq}, ${Tk}`,
    '',
    'def split(x):  # [T, H] to [h, T, D]',
    '    return x.view(x.shape[0], h, -1).transpose(0, 1).contiguous()',
    '',
    ...torchSteps(state),
    '',
    `expected = ${literal(values['attention.weights'], 3)}`,
    'torch.testing.assert_close(weights, expected, equal_nan=True)',
    `expected_output = ${literal(values['attention.output'], 2)}`,
    'torch.testing.assert_close(output, expected_output, equal_nan=True)',
    'print(weights)',
    '',
  ].join('\n');
}
