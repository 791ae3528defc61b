/**
 * Kernel regression, the oldest attention: each query's output is a mean of the values, weighed by how
 * near the keys are. (Nadaraya 1964, Watson 1964; D2L "Attention Pooling".)
 */

import { AttentionError } from './error.js';
import { checkNames, flag, number, seed, switchOf } from './options.js';
import { reshape, toTensor } from './tensor.js';
import { checkTraining, TrainableModel } from './trainable.js';

/** @typedef {import('./engine.js').Core} Core */
/** @typedef {import('./override.js').Override} Override */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').TensorLike} TensorLike */
/**
 * @typedef {object} KernelRegressionConfig
 * @property {'average' | 'gaussian' | 'boxcar' | 'triangular' | 'epanechnikov' | 'tricube'} [kernel]  default
 *   'gaussian'
 * @property {boolean} [learned]  whether the width is a parameter, default false
 * @property {number} [width]  multiplies distances, so that a larger one makes a narrower kernel; default 1; of a learned one where it starts, 0: at random
 * @property {number} [seed]  default 0
 */
/**
 * @typedef {object} KernelRegressionInput
 * @property {TensorLike} queries  [Tq] or [Tq, D]
 * @property {TensorLike} keys  [Tk] or [Tk, D]
 * @property {TensorLike} values  [Tk] or [Tk, Dv]
 * @property {boolean} [leaveOneOut]  query i does not attend to key i, default false
 * @property {Override[]} [overrides]
 */

const CONFIG = ['kernel', 'learned', 'width', 'seed'];
const INPUT = ['queries', 'keys', 'values', 'leaveOneOut', 'overrides'];

/**
 * [T] and [T, D] as [1, 1, T, D].
 * @param {TensorLike} value
 * @param {string} option
 */
function points(value, option) {
  const tensor = toTensor(value, option);
  const { shape } = tensor;
  if (shape.length === 1) return reshape(tensor, [1, 1, shape[0], 1]);
  if (shape.length === 2) return reshape(tensor, [1, 1, ...shape]);
  throw new AttentionError(
    'BAD_SHAPE',
    `${option} has the shape [${shape}]; points must be [T] or [T, D]`,
    { option },
  );
}

export class KernelRegression extends TrainableModel {
  /**
   * Use engine.kernelRegression().
   * @param {Core} core
   * @param {KernelRegressionConfig} config
   */
  constructor(core, config) {
    checkNames('kernelRegression', config, CONFIG);
    const fields = {
      kernel: config.kernel,
      learned: switchOf(config.learned, 'learned'),
      width: number(config.width, 'width'),
      seed: seed(config.seed),
    };
    super(core, () =>
      core.call('kernel_regression', core.struct('kernel_regression_config', fields)),
    );
  }

  /**
   * @param {KernelRegressionInput} input
   * @returns {{ output: Tensor, weights: Tensor }}  shaped as the values, with Tq for Tk; [Tq, Tk]
   */
  forward(input) {
    checkNames('forward', input, INPUT);
    return this.record(input.overrides, () => {
      const output = this.core.read(this.#output(input));
      const weights = this.core.tensor('weights');
      const columns = toTensor(input.values, 'values').shape.length === 1 ? [] : [output.shape[3]];
      return {
        output: reshape(output, [output.shape[2], ...columns]),
        weights: reshape(weights, weights.shape.slice(2)),
      };
    });
  }

  /**
   * @param {KernelRegressionInput & { labels: TensorLike }} batch  labels: what the outputs should have been
   * @param {import('./trainable.js').TrainOptions} [options]  loss 'mean' (default) or 'sum' of squares
   * @returns {import('./trainable.js').TrainResult}
   */
  trainStep(batch, options = {}) {
    checkTraining(options);
    return this.#lossOf('trainStep', batch, options, (loss) => this.descend(loss, options));
  }

  /**
   * @param {KernelRegressionInput & { labels: TensorLike }} batch
   * @param {{ loss?: import('./trainable.js').TrainOptions['loss'] }} [options]
   * @returns {{ loss: number }}
   */
  loss(batch, options = {}) {
    checkNames('loss', options, ['loss']);
    return this.#lossOf('loss', batch, options, (loss) => ({
      loss: this.core.read(loss).data[0],
    }));
  }

  /**
   * @template T
   * @param {string} what
   * @param {KernelRegressionInput & { labels: TensorLike }} batch
   * @param {{ loss?: import('./trainable.js').TrainOptions['loss'] }} options
   * @param {(loss: number) => T} use
   * @returns {T}
   */
  #lossOf(what, batch, { loss = 'mean' }, use) {
    checkNames(what, batch, [...INPUT, 'labels']);
    const { core } = this;
    return this.record(batch.overrides, () =>
      use(
        core.call(
          'squared_error',
          core.text('loss'),
          this.#output(batch),
          core.input('labels', points(batch.labels, 'labels'), ['B', 'h', 'Tq', 'D']),
          core.choice('reduction', loss, 'loss'),
        ),
      ),
    );
  }

  /** @param {KernelRegressionInput} input */
  #output({ queries, keys, values, leaveOneOut }) {
    const { core } = this;
    return core.call(
      'kernel_regression_forward',
      this.pointer,
      core.input('queries', points(queries, 'queries'), ['B', 'h', 'Tq', 'D']),
      core.input('keys', points(keys, 'keys'), ['B', 'h', 'Tk', 'D']),
      core.input('values', points(values, 'values'), ['B', 'h', 'Tk', 'D']),
      Number(flag(leaveOneOut, 'leaveOneOut') ?? false),
    );
  }
}
