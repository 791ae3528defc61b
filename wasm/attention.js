/**
 * The library's door: createEngine() with the core inside, so that nothing is fetched.
 */

import { core } from '../build/core.js';
import { fromBase64 } from './base64.js';
import { load } from './engine.js';
import { AttentionError, show } from './error.js';
import { checkNames } from './options.js';
import { startEngine, startTwin } from './start.js';

export { Engine } from './functions.js';
export { KernelRegression } from './kernel-regression.js';
export { AttentionLayer } from './models.js';
export { Seq2seq } from './seq2seq.js';
export { keyPaddingMaskFromTorch, maskFromTorch } from './torch-masks.js';
export { Transformer } from './transformer.js';
export { AttentionError };

/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').TensorLike} TensorLike */
/** @typedef {import('./engine.js').TensorInfo} TensorInfo */
/** @typedef {import('./override.js').Override} Override */
/** @typedef {import('./options.js').MaskOptions} MaskOptions */
/** @typedef {import('./options.js').AttentionOptions} AttentionOptions */
/** @typedef {import('./functions.js').ScoreParams} ScoreParams */
/** @typedef {import('./functions.js').MultiHeadParams} MultiHeadParams */
/** @typedef {import('./functions.js').Linear} Linear */
/** @typedef {import('./results.js').WeightsResult} WeightsResult */
/** @typedef {import('./results.js').AttentionResult} AttentionResult */
/** @typedef {import('./results.js').MultiHeadResult} MultiHeadResult */
/** @typedef {import('./models.js').AttentionLayerConfig} AttentionLayerConfig */
/** @typedef {import('./models.js').AttentionLayerInput} AttentionLayerInput */
/** @typedef {import('./transformer.js').TransformerConfig} TransformerConfig */
/** @typedef {import('./seq2seq.js').Seq2seqConfig} Seq2seqConfig */
/** @typedef {import('./kernel-regression.js').KernelRegressionConfig} KernelRegressionConfig */
/** @typedef {import('./kernel-regression.js').KernelRegressionInput} KernelRegressionInput */
/** @typedef {import('./sequences.js').SequenceInput} SequenceInput */
/** @typedef {import('./sequences.js').DecodeOptions} DecodeOptions */
/** @typedef {import('./sequences.js').Decoded} Decoded */
/** @typedef {import('./trainable.js').TrainOptions} TrainOptions */
/** @typedef {import('./trainable.js').TrainResult} TrainResult */

/**
 * Compiles the core, tests that it gives the known answer and returns an engine.
 * @param {object} [options]
 * @param {'auto' | 'on' | 'off'} [options.simd]  'auto' (default) takes the scalar twin where SIMD is
 *   absent or gives a wrong answer; both give the same bits
 * @param {import('./engine.js').Bytes | string | URL} [options.wasm]  a core of your own instead of those inside: its
 *   bytes or its address
 * @returns {Promise<import('./functions.js').Engine>}
 */
export async function createEngine(options = {}) {
  checkNames('createEngine', options, ['simd', 'wasm']);
  const { simd = 'auto', wasm } = options;
  if (!['auto', 'on', 'off'].includes(simd)) {
    throw new AttentionError('BAD_VALUE', `simd ${show(simd)} must be "auto", "on" or "off"`, {
      option: 'simd',
    });
  }
  if (wasm === undefined) return startTwin(fromBase64(core), simd);
  const isAddress = typeof wasm === 'string' || wasm instanceof URL;
  const bytes = /** @type {import('./engine.js').Bytes} */ (isAddress ? await load(wasm) : wasm);
  return startEngine(bytes, isAddress ? String(wasm) : 'the given bytes');
}
