/**
 * The translation lessons: what comes out, as the elements draw it. Everything is read from a result; only
 * means over heads and shares of words are formed here, to be shown.
 */
import { alignmentAgreement } from '../text/alignment.js';
import { meanBleu } from '../text/bleu.js';
import { decode } from '../text/data-set.js';
import { dataOf } from './translation-data.js';

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('../../wasm/engine.js').TensorInfo} TensorInfo
 * @typedef {import('./multi-head-view.js').Matrix} Matrix
 * @typedef {import('../../wasm/evaluate.js').Answer & { state: State }} Result
 * @typedef {'encoder' | 'decoder' | 'cross'} Kind whose queries, whose keys: of the source, of the target,
 *   or the target's of the source
 * @typedef {{ block: string, tensor: string, kind: Kind, layer: number, heads: number }} Block
 */

/** @param {Result} result */
const data = ({ state }) => /** @type {import('./translation-data.js').Data} */ (dataOf(state));

/**
 * The maps of weights in reading order.
 * @param {Result} result
 * @returns {Block[]}
 */
export function blocksOf({ values, tensors }) {
  return tensors
    .filter(({ name }) => Object.hasOwn(values, name) && name.endsWith('attention.weights'))
    .filter(({ name }) => !/^decoder\.\d+\.attention\./.test(name))
    .map(({ name, shape }) => ({
      block: name.slice(0, -'.weights'.length),
      tensor: name,
      kind: kindOf(name),
      layer: Number(/\d+/.exec(name) ?? 0),
      heads: shape[1],
    }));
}

/** @param {string} tensor @returns {Kind} */
export function kindOf(tensor) {
  if (tensor.startsWith('encoder') || tensor.startsWith('source')) return 'encoder';
  return /cross_attention|^decoder\.(\d+\.)?attention/.test(tensor) ? 'cross' : 'decoder';
}

/**
 * One map: the last two axes of a tensor, of one head where it has heads.
 * @param {{ shape: number[], data: Float32Array }} value
 * @param {readonly string[]} axes
 * @param {string} tensor
 * @param {number} head -1: the mean of all heads
 * @returns {Matrix}
 */
function matrix({ shape, data: numbers }, axes, tensor, head) {
  const flat = shape.length === 1;
  const [rowAxis, columnAxis] = flat ? ['1', axes[0]] : axes.slice(-2);
  const [rows, columns] = flat ? [1, shape[0]] : shape.slice(-2);
  const size = rows * columns;
  const heads = axes.at(-3) === 'h' ? /** @type {number} */ (shape.at(-3)) : 0;
  const shown = { tensor, rows, columns, rowAxis, columnAxis, head: heads > 0 ? head : null };
  if (heads === 0 || head >= 0) {
    const start = Math.min(head, heads - 1) * size;
    return { ...shown, data: numbers.subarray(Math.max(0, start), Math.max(0, start) + size) };
  }
  const mean = Float32Array.from({ length: size }, (_, cell) => {
    let sum = 0;
    for (let each = 0; each < heads; each += 1) sum += numbers[each * size + cell];
    return sum / heads;
  });
  return { ...shown, data: mean };
}

/**
 * @param {Result} result
 * @param {string} tensor
 * @param {number} head -1: the mean of all heads
 * @returns {Matrix | null} null where the result does not hold the tensor
 */
export function matrixOf({ values, tensors }, tensor, head) {
  const info = tensors.find(({ name }) => name === tensor);
  if (!info || !Object.hasOwn(values, tensor)) return null;
  return matrix(values[tensor], info.axes, tensor, head);
}

/**
 * Why each cell of an attention map is masked, bits as in the language files; null where nothing is.
 * @param {Result} result
 * @param {string} tensor
 * @returns {Uint8Array | null}
 */
export function maskOf({ values, tensors }, tensor) {
  const [, block] = /^(.*attention)\.(?:masked_scores|weights)$/.exec(tensor) ?? [];
  if (!block) return null;
  const name = block === 'decoder.attention' ? 'decoder.0.attention.mask' : `${block}.mask`;
  const info = tensors.find((each) => each.name === tensor);
  if (!info || !Object.hasOwn(values, name)) return null;
  const [rows, columns] = info.shape.slice(-2);
  const { data: reasons } = values[name];
  const mask = Uint8Array.from(
    { length: rows * columns },
    (_, cell) => reasons[cell % reasons.length],
  );
  return mask.some((reason) => reason > 0) ? mask : null;
}

/**
 * The tokens that the encoder read, with <eos> and padding.
 * @param {Result} result
 */
export function sourceOf(result) {
  const { sourceVocabulary } = data(result).training;
  return Array.from(result.values.source.data, (id) => sourceVocabulary.token(id));
}

/**
 * The tokens that the decoder read: <bos> and what came before each word to be written.
 * @param {Result} result
 */
export function targetOf(result) {
  const { targetVocabulary } = data(result).training;
  return Array.from(result.values.target.data, (id) => targetVocabulary.token(id));
}

/**
 * What stands along an axis of a tensor: the tokens on the side that it belongs to, numbers from 1 for all
 * other axes.
 * @param {Result} result
 * @param {string} axis
 * @param {string} tensor
 * @param {number} size
 * @returns {string[]}
 */
export function labelsOf(result, axis, tensor, size) {
  const kind = kindOf(tensor);
  const across = kind === 'cross' && axis === 'Tk';
  const side = kind === 'encoder' || across ? sourceOf(result) : targetOf(result);
  if (['T', 'Tq', 'Tk'].includes(axis) && side.length === size) return side;
  return Array.from({ length: size }, (_, place) => String(place + 1));
}

/**
 * The cells that the reader has edited in one map.
 * @param {State} state
 * @param {Matrix} map
 * @returns {[row: number, column: number][]}
 */
export function editedCells(state, map) {
  return state.edits
    .filter(
      (/** @type {import('./state.js').Edit} */ { name, at }) =>
        name === map.tensor && (map.head === null || at[0] === map.head),
    )
    .map((/** @type {import('./state.js').Edit} */ { at }) => at.slice(-2));
}

/**
 * The translation as it was written, token by token; the last is <eos> where it came to an end.
 * @param {Result} result
 * @returns {string[]}
 */
export function writtenOf(result) {
  const { decoded } = result;
  if (!decoded) return [];
  const { targetVocabulary } = data(result).training;
  const words = decoded.tokens.map((id) => targetVocabulary.token(id));
  return decoded.finished ? [...words, '<eos>'] : words;
}

/**
 * Which source words each row of a map across writes, as the corpus knows it, and of how many target words
 * the largest weight agrees; null where the words written are none of its translations of the sentence.
 * @param {Result} result
 * @param {Matrix} map
 */
export function alignmentOf(result, { rows, columns, data: weights }) {
  const said = (/** @type {readonly string[]} */ tokens) => tokens.join(' ').split(' <eos>')[0];
  const all = result.state.token === 'all';
  const source = said(sourceOf(result));
  const target = said(all ? targetOf(result).slice(1) : writtenOf(result));
  const pair = data(result).pairs.find(
    (pair) => pair.alignment && said(pair.source) === source && said(pair.target) === target,
  );
  if (!pair) return null;
  const cells = (pair.alignment ?? [])
    .filter(([, row]) => row < rows)
    .map(([column, row]) => /** @type {const} */ ([row, column]));
  const one = { shape: [1, 1, rows, columns], data: weights };
  return { cells, agreement: alignmentAgreement([pair], one) };
}

/**
 * The likeliest word behind each that the decoder read in the forward pass, which edited numbers change.
 * @param {Result} result
 * @returns {string[]}
 */
export function predictedOf(result) {
  const { logits } = result.values;
  if (!logits) return [];
  const { targetVocabulary } = data(result).training;
  const { size } = targetVocabulary;
  return Array.from({ length: logits.data.length / size }, (_, row) => {
    const likely = logits.data.subarray(row * size, (row + 1) * size);
    return targetVocabulary.token(Math.max(0, likely.indexOf(Math.max(...likely))));
  });
}

/**
 * All beams, best first; empty where there was no beam search.
 * @param {Result} result
 * @returns {{ tokens: string[], score: number, finished: boolean }[]}
 */
export function beamsOf(result) {
  const { targetVocabulary } = data(result).training;
  return (result.decoded?.beams ?? []).map(({ tokens, ...beam }) => ({
    ...beam,
    tokens: tokens.map((id) => targetVocabulary.token(id)),
  }));
}

/**
 * The likeliest next tokens at the step of decoding that is shown.
 * @param {Result} result
 * @param {number} [most]
 * @returns {{ token: string, probability: number }[]}
 */
export function candidatesOf(result, most = 5) {
  const { probabilities } = result.decodedValues ?? {};
  if (!probabilities) return [];
  const { targetVocabulary } = data(result).training;
  return Array.from(probabilities.data.subarray(-targetVocabulary.size))
    .map((probability, id) => ({ token: targetVocabulary.token(id), probability }))
    .sort((a, b) => b.probability - a.probability)
    .slice(0, most);
}

/**
 * What is kept from token to token at the step of decoding that is shown: one row a token.
 * @param {Result} result
 * @param {number} head -1: the first
 * @returns {Matrix[]}
 */
export function cacheOf({ decodedValues = {} }, head) {
  return Object.entries(decodedValues)
    .filter(([name]) => name !== 'probabilities')
    .map(([name, value]) => {
      const axes = value.shape.length === 4 ? ['B', 'h', 'Tk', 'D'] : ['B', 'Tk', 'H'];
      return matrix(value, axes, name, Math.max(0, head));
    });
}

/**
 * Loss and BLEU of the pairs that were kept back; null while they are not known.
 * @param {Result} result
 */
export function scoreOf(result) {
  const { unseen } = data(result);
  if (!result.score || !unseen) return null;
  const { targetVocabulary } = unseen;
  const translations = result.score.translations.map((ids) => decode(ids, targetVocabulary));
  return {
    loss: result.score.loss,
    bleu: meanBleu(
      translations,
      unseen.pairs.map(({ target }) => target),
    ),
  };
}
