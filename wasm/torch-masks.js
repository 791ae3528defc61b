/**
 * Masks of nn.MultiheadAttention as ours: there, true is where one may NOT attend.
 */

import { AttentionError } from './error.js';
import { toTensor } from './tensor.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').TensorLike} TensorLike */

/**
 * PyTorch's boolean masks of nn.MultiheadAttention say true where one may NOT attend. This turns such a
 * mask into one of ours, where true may attend.
 * @param {TensorLike} mask  any shape
 * @returns {Tensor}
 */
export function maskFromTorch(mask) {
  const { shape, data } = toTensor(mask, 'mask');
  const other = data.find((cell) => cell !== 0 && cell !== 1);
  if (other === undefined) return { shape, data: data.map((cell) => 1 - cell) };
  throw new AttentionError(
    'BAD_VALUE',
    `mask ${other} must be true or false, 1 or 0; a float mask of PyTorch's is a bias`,
    { option: 'mask' },
  );
}

/**
 * The same for PyTorch's key_padding_mask.
 * @param {TensorLike} mask  [B, Tk]
 * @returns {Tensor}  [B, 1, Tk]: it spreads over the queries
 */
export function keyPaddingMaskFromTorch(mask) {
  const { shape, data } = maskFromTorch(mask);
  if (shape.length === 2) return { shape: [shape[0], 1, shape[1]], data };
  throw new AttentionError('BAD_SHAPE', `mask has the shape [${shape}]; it must be [B, Tk]`, {
    option: 'mask',
  });
}
