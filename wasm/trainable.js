/**
 * What models with learned parameters share: reading, loading and saving them, gradients, steps of
 * training. A model keeps its parameters in its own core; the tape of each pass lies above them.
 */

import { AttentionError, show } from './error.js';
import { Model } from './models.js';
import {
  checkNames,
  checkParts,
  flag,
  integer,
  isPlain,
  notNegative,
  number,
  required,
  text,
} from './options.js';
import { decodeSafetensors, encodeSafetensors } from './safetensors.js';
import { toTensor } from './tensor.js';
import { ownStacks, part, stacked } from './torch-names.js';

/** @typedef {import('./engine.js').Core} Core */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').TensorLike} TensorLike */
/** @typedef {'own' | 'torch'} Names */
/** @typedef {Record<string, TensorLike> | ArrayBuffer | ArrayBufferView} StateDict  or safetensors bytes */
/**
 * @typedef {object} Schedule  the learning rate rises to learningRate over warmUp steps, then does what
 *   kind says
 * @property {'constant' | 'step' | 'cosine' | 'inverse-square-root'} [kind]
 * @property {number} [warmUp]  default 0
 * @property {number} [every]  step: steps from one fall to the next
 * @property {number} [factor]  step: of each fall
 * @property {number} [total]  cosine: the step at which lastRate is reached
 * @property {number} [lastRate]  cosine: default 0
 */
/**
 * @typedef {object} TrainOptions
 * @property {'mean' | 'sum' | 'd2l-v1'} [loss]  over tokens: their mean (default), their sum, or D2L's: each
 *   sentence's sum ÷ T, added up
 * @property {'adam' | 'adamw' | 'sgd'} [optimiser]  default 'adam'
 * @property {number} [learningRate]  default 0.001
 * @property {Schedule} [schedule]  default: constant
 * @property {number} [momentum]  of sgd, default 0
 * @property {number} [beta1]  of adam and adamw, default 0.9
 * @property {number} [beta2]  default 0.999
 * @property {number} [eps]  above 0, default 1e-8
 * @property {number} [weightDecay]  default 0
 * @property {number} [clip]  the largest norm of all gradients together; 0 (default): any
 */
/**
 * @typedef {object} TrainResult
 * @property {number} loss
 * @property {number} gradientNorm  before clipping
 * @property {number} learningRate  of this step
 * @property {number} step  how many there have been, with this one
 */

const NAMES = ['own', 'torch'];
const SCHEDULE = ['kind', 'warmUp', 'every', 'factor', 'total', 'lastRate'];
const TRAINING = [
  ...['loss', 'optimiser', 'learningRate', 'schedule', 'momentum', 'beta1', 'beta2', 'eps'],
  ...['weightDecay', 'clip'],
];
/** Far from where the core's count would overflow. */
const MOST_STEPS = 2 ** 30;
/** What a saved model holds beside its parameters, so that training goes on exactly as it would have. */
const STATE = { moments: 'training.moments', steps: 'training.steps' };

export class TrainableModel extends Model {
  /** By name, in the order of the tape. @type {Map<string, number>} */
  #parameters;
  #training;
  /** Whether the gradients are those of a step. */
  #stepped = false;

  /**
   * @param {Core} core  its own
   * @param {() => number} create  declares the parameters; returns the core's model
   */
  constructor(core, create) {
    super(core);
    /** @protected */
    this.pointer = core.record([], create);
    this.#training = core.call('new_training');
    core.keep();
    this.#parameters = core.written('parameter');
  }

  /** Steps of training so far. */
  get steps() {
    return this.core.field(this.#training, 'training', 'steps');
  }

  /**
   * @param {{ names?: Names }} [options]  'own' (default), or as in PyTorch
   * @returns {Record<string, Tensor>}  copies; layouts as in PyTorch
   */
  parameters(options = {}) {
    return this.#collect('parameters', options, (pointer) => this.core.read(pointer));
  }

  /**
   * @param {{ names?: Names }} [options]
   * @returns {Record<string, Tensor>}  of the last step of training since the last load(), before clipping
   */
  gradients(options = {}) {
    if (!this.#stepped) {
      throw new AttentionError(
        'NOT_FOUND',
        'there are no gradients: no step has been trained with these parameters yet',
      );
    }
    return this.#collect('gradients', options, (pointer) => this.core.gradient(pointer));
  }

  /**
   * @param {string} what
   * @param {{ names?: Names }} options
   * @param {(pointer: number) => Tensor} read
   */
  #collect(what, options, read) {
    checkNames(what, options, ['names']);
    const stacks = this.#stacks(options);
    const own = Object.fromEntries(
      Array.from(this.#parameters, ([name, pointer]) => [name, read(pointer)]),
    );
    return stacked(own, stacks);
  }

  /** @param {{ names?: Names }} options */
  #stacks(options) {
    const names = [...this.#parameters.keys()];
    return namesOf(options) === 'torch' ? this.torchStacks(names) : ownStacks(names);
  }

  /**
   * PyTorch's names and layouts: a model's own, where it does not say otherwise.
   * @protected
   * @param {string[]} names  all of its own
   * @returns {import('./torch-names.js').Stack[]}
   */
  torchStacks(names) {
    return ownStacks(names);
  }

  /**
   * Takes these parameters; nothing is changed unless all fit.
   * @param {StateDict} stateDict  exactly this model's parameters, by name or as a safetensors file
   * @param {{ names?: Names }} [options]
   */
  load(stateDict, options = {}) {
    checkNames('load', options, ['names']);
    const { [STATE.moments]: moments, [STATE.steps]: steps, ...given } = tensorsOf(stateDict);
    const stacks = this.#stacks(options);
    const known = new Set(stacks.map(({ name }) => name));
    const unknown = Object.keys(given).find((name) => !known.has(name));
    if (unknown !== undefined) {
      throw new AttentionError('BAD_VALUE', `the model has no parameter ${show(unknown)}`);
    }
    const tensors = stacks.map(({ name, parts }) => this.#fitting(given, name, parts));
    const training = this.#trainingOf(moments, steps);
    this.core.record([], () => {
      for (const [i, { parts }] of stacks.entries()) {
        for (const [j, own] of parts.entries()) {
          const pointer = /** @type {number} */ (this.#parameters.get(own));
          this.core.write(pointer, part(tensors[i], parts.length, j).data);
        }
      }
      this.core.call('restart_training', this.#training);
    });
    if (training) this.core.setTraining(this.#training, training);
    this.#stepped = false;
  }

  /**
   * @param {Record<string, TensorLike>} given
   * @param {string} name
   * @param {string[]} parts  of it, all shaped alike
   */
  #fitting(given, name, parts) {
    if (!Object.hasOwn(given, name)) {
      throw new AttentionError('BAD_VALUE', `the parameter ${name} is missing`);
    }
    const tensor = toTensor(given[name], name);
    const [rows, ...rest] = this.core.read(
      /** @type {number} */ (this.#parameters.get(parts[0])),
    ).shape;
    const shape = [rows * parts.length, ...rest];
    if (
      shape.length === tensor.shape.length &&
      shape.every((size, i) => size === tensor.shape[i])
    ) {
      return tensor;
    }
    throw new AttentionError(
      'BAD_SHAPE',
      `${name} has the shape [${tensor.shape}]; the model's is [${shape}]`,
    );
  }

  /**
   * @param {TensorLike | undefined} moments
   * @param {TensorLike | undefined} steps
   */
  #trainingOf(moments, steps) {
    if (moments === undefined && steps === undefined) return undefined;
    const { data } = toTensor(moments, STATE.moments);
    const count = this.core.field(this.#training, 'training', 'count');
    if (data.length !== 2 * count) {
      throw new AttentionError(
        'BAD_SHAPE',
        `${STATE.moments} has ${data.length} numbers; the model has 2 × ${count}`,
      );
    }
    const bad = data.findIndex((x, i) => !Number.isFinite(x) || (i >= count && x < 0));
    if (bad >= 0) {
      throw new AttentionError(
        'BAD_VALUE',
        `${STATE.moments} has ${data[bad]} at ${bad}; all must be finite, the second ${count} at least 0`,
      );
    }
    const done = toTensor(steps, STATE.steps).data;
    if (done.length !== 1) {
      throw new AttentionError(
        'BAD_SHAPE',
        `${STATE.steps} has ${done.length} numbers; it must have one`,
      );
    }
    return { moments: data, steps: integer(done[0], STATE.steps, 0, MOST_STEPS) ?? 0 };
  }

  /**
   * @param {{ names?: Names, training?: boolean, metadata?: Record<string, string> }} [options]  training:
   *   with what a later load() needs to go on exactly as this model would
   * @returns {Uint8Array}  a safetensors file
   */
  save(options = {}) {
    checkNames('save', options, ['names', 'training', 'metadata']);
    const { metadata, training, ...how } = options;
    if (metadata !== undefined) checkTexts(metadata);
    const tensors = this.parameters(how);
    if (flag(training, 'training')) {
      const { moments, steps } = this.core.training(this.#training);
      tensors[STATE.moments] = { shape: [2, moments.length / 2], data: moments };
      tensors[STATE.steps] = { shape: [1], data: Float32Array.of(steps) };
    }
    return encodeSafetensors(tensors, metadata);
  }

  /**
   * One step of training on a loss of the tape.
   * @protected
   * @param {number} loss  on the tape, one number
   * @param {TrainOptions} options
   * @returns {TrainResult}
   */
  descend(loss, options) {
    const { core } = this;
    const { kind, warmUp, every, factor, total, lastRate } = options.schedule ?? {};
    const schedule = core.struct('schedule', {
      kind,
      rate: number(options.learningRate, 'learningRate'),
      warm_up: integer(warmUp, 'schedule.warmUp'),
      every: integer(every, 'schedule.every', 1),
      factor: notNegative(factor, 'schedule.factor'),
      total: integer(total, 'schedule.total'),
      last_rate: notNegative(lastRate, 'schedule.lastRate'),
    });
    const learningRate = core.call('learning_rate', schedule, this.steps);
    const fields = core.struct('training_options', {
      optimiser: options.optimiser,
      learning_rate: learningRate,
      momentum: number(options.momentum, 'momentum'),
      beta1: number(options.beta1, 'beta1'),
      beta2: number(options.beta2, 'beta2'),
      eps: number(options.eps, 'eps'),
      weight_decay: number(options.weightDecay, 'weightDecay'),
      clip: number(options.clip, 'clip'),
    });
    core.call('train_step', this.#training, loss, fields);
    this.#stepped = true;
    return {
      loss: core.read(loss).data[0],
      gradientNorm: core.field(this.#training, 'training', 'gradient_norm'),
      learningRate,
      step: this.steps,
    };
  }
}

/** @param {TrainOptions} options */
export function checkTraining(options) {
  checkNames('trainStep', options, TRAINING);
  const { schedule } = options;
  if (schedule === undefined) return;
  checkParts('schedule', schedule, SCHEDULE);
  if (schedule.kind === 'cosine') required(schedule.total, 'schedule.total');
  if (schedule.kind !== 'step') return;
  required(schedule.every, 'schedule.every');
  required(schedule.factor, 'schedule.factor');
}

/** @param {unknown} metadata  of a safetensors file, which holds texts alone */
function checkTexts(metadata) {
  if (!isPlain(metadata)) {
    throw new AttentionError(
      'BAD_VALUE',
      `metadata ${show(metadata)} must be an object of strings`,
      {
        option: 'metadata',
      },
    );
  }
  for (const [name, value] of Object.entries(metadata)) text(value, `metadata.${name}`);
}

/** @param {{ names?: Names }} options */
function namesOf({ names = 'own' }) {
  if (NAMES.includes(names)) return names;
  throw new AttentionError('BAD_VALUE', `names ${show(names)} must be "own" or "torch"`, {
    option: 'names',
  });
}

/**
 * @param {StateDict} stateDict
 * @returns {Record<string, TensorLike>}
 */
function tensorsOf(stateDict) {
  if (stateDict instanceof ArrayBuffer || ArrayBuffer.isView(stateDict)) {
    return decodeSafetensors(stateDict).tensors;
  }
  if (typeof stateDict === 'object' && stateDict !== null && !Array.isArray(stateDict)) {
    return stateDict;
  }
  throw new AttentionError(
    'BAD_VALUE',
    `the parameters ${show(stateDict)} must be tensors by name or the bytes of a safetensors file`,
  );
}
