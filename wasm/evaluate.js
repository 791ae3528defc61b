/**
 * One question to the core and its whole answer, as plain data that can be posted between threads. A
 * request says everything it depends on, so that it can be sent again to a new worker: also how many steps
 * of training its numbers have behind them. The core goes there from where it is, from a saved state that
 * the request brings along, or from the initial weights; all three ways lead to the same bits.
 *
 * Training takes its time, so it goes in slices: behind each the answer so far is told as progress, and the
 * evaluation can be interrupted.
 */

import { batchesOf, train } from './epochs.js';
import { AttentionError } from './error.js';
import { decodeSafetensors } from './safetensors.js';

/** @typedef {import('./override.js').Override} Override */
/** @typedef {import('./engine.js').TensorInfo} TensorInfo */
/** @typedef {import('./sequences.js').Decoded} Decoded */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/**
 * @typedef {object} Request
 * @property {'attentionLayer' | 'kernelRegression' | 'seq2seq' | 'transformer'} model
 * @property {any} config
 * @property {Training} [training]
 * @property {any} input  of the model's forward()
 * @property {Override[]} [overrides]  one of a cell that this pass has not waits for a pass that has it
 * @property {string[] | 'all'} [read]  names of tensors of the forward pass; those the tape lacks are left out
 * @property {Decoding} [decode]
 * @property {{ batch: Record<string, any>, overrides?: Override[], decode:
 *   import('./sequences.js').DecodeOptions }} [unseen]  pairs whose loss and translations are asked for
 * @property {'own' | 'torch'} [save]  asks for a safetensors file under these names
 */
/**
 * @typedef {object} Decoding
 * @property {any} input  of the model's decode(): one sentence
 * @property {import('./sequences.js').DecodeOptions} options
 * @property {number} [steps]  whose last is looked at; without it all that were taken
 * @property {string[]} [read]  names of tensors of that step; with them come the `probabilities` of each next
 *   token, of sampling those that it is drawn by
 * @property {boolean} [follow]  the forward pass reads what was written until that step, instead of
 *   input.target
 */
/**
 * @typedef {object} Training
 * @property {Record<string, any[]>} [pairs]  a batch of all pairs, for epochs in seeded order
 * @property {any} [batch]  instead: what every step is trained on
 * @property {Omit<import('./epochs.js').TrainingPlan, 'epochs'>} plan
 * @property {number} steps  of training behind the numbers
 * @property {number} [start]  where a run that is to be watched begins: a core that is further goes back
 * @property {string} [watch]  name of a tensor of one number that is told of each step
 * @property {{ name: string, bytes: Uint8Array }} [initial]  a safetensors file instead of the initial weights
 * @property {{ step: number, saved: Uint8Array }} [from]  a state on the way there, if there is one
 */
/**
 * @typedef {object} Answer
 * @property {TensorInfo[]} tensors
 * @property {Record<string, Tensor>} values
 * @property {number} [step]  of training behind the numbers; fewer than asked for when interrupted
 * @property {Decoded} [decoded]
 * @property {Record<string, Tensor>} [decodedValues]  of the step of decoding that is looked at
 * @property {{ loss: number, translations: number[][] }} [score]  of the unseen pairs
 * @property {Uint8Array} [saved]
 */
/**
 * @typedef {object} Progress
 * @property {Answer} answer  as of the step reached
 * @property {number} first  losses[i] and rates[i] are those of the step that led from first + i to the next
 * @property {number[]} losses  per target token where the model has tokens
 * @property {number[]} rates
 * @property {number[]} watched  watched[i]: the number that training.watch names, behind step first + i
 * @property {number} tokens  that were trained on
 * @property {number} seconds  that the training took
 * @property {{ step: number, saved: Uint8Array }} [epoch]  the state at the end of the last epoch among them
 */
/**
 * @typedef {object} Following
 * @property {(progress: Progress) => void} [progress]
 * @property {() => boolean} [interrupted]
 * @property {() => boolean} [ready]  whether the last progress has been taken: until then no other is told, and
 *   the next one tells of all that was trained meanwhile
 * @property {number} [slice]  of training between two words of progress, in milliseconds
 */

const MODELS = ['attentionLayer', 'kernelRegression', 'seq2seq', 'transformer'];

/** Lets messages in that have arrived meanwhile; a timer would be made to wait 4 ms. */
function breath() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve(undefined);
    };
    port2.postMessage(null);
  });
}

/**
 * Remembers the model of the last request: the next one usually has the same configuration.
 * @param {import('./functions.js').Engine} engine
 * @returns {(request: Request, following?: Following) => Promise<Answer>}  one at a time
 */
export function createEvaluator(engine) {
  let key = '';
  /** @type {any} */
  let model;
  /** What the last pass computed, which takes longer to tell than to compute. */
  let tape = { key: '', shape: '', tensors: /** @type {TensorInfo[]} */ ([]) };
  /** The last score, which costs most and depends on little. */
  let judged = { what: '', score: /** @type {Answer['score']} */ (undefined) };

  /** @param {Request} request */
  function settle({ model: kind, config, training }) {
    if (!MODELS.includes(kind)) {
      throw new AttentionError('NOT_FOUND', `there is no model "${kind}"; there is ${MODELS}`);
    }
    const { pairs, batch, plan, initial, from, steps = 0, start = steps } = training ?? {};
    const wanted = JSON.stringify([kind, config, pairs, batch, plan, initial?.name]);
    if (!model || key !== wanted || model.steps > start) {
      key = '';
      model = engine[kind](config);
      if (initial) begin(initial.bytes);
      key = wanted;
    }
    if (from && from.step > model.steps && from.step <= start) model.load(from.saved);
  }

  /**
   * Takes the parameters of a file; what its training was, if it says, does not go on here.
   * @param {Uint8Array} bytes  of a safetensors file
   */
  function begin(bytes) {
    try {
      const tensors = Object.entries(decodeSafetensors(bytes).tensors).filter(
        ([name]) => !name.startsWith('training.'),
      );
      const torch = tensors.some(([name]) => name.startsWith('transformer.'));
      model.load(Object.fromEntries(tensors), { names: torch ? 'torch' : 'own' });
    } catch (error) {
      const { code, message } = /** @type {AttentionError} */ (error);
      throw new AttentionError(code, message, { option: 'initial', cause: error });
    }
  }

  /** @param {Request} request @returns {Answer} */
  function look({ input, overrides = [], read = [], decode, training }) {
    const written = decode && ifFinite(() => write(decode));
    forward(decode?.follow && written ? { ...input, target: written.target } : input, overrides);
    const shape = JSON.stringify([input, decode?.follow && written?.target.length]);
    if (tape.key !== key || tape.shape !== shape) tape = { key, shape, tensors: model.tensors() };
    return {
      tensors: tape.tensors,
      values: model.values(read),
      ...written?.answer,
      ...(training ? { step: model.steps } : {}),
    };
  }

  /** @param {any} input @param {Override[]} overrides */
  function forward(input, overrides) {
    try {
      model.forward({ ...input, overrides });
    } catch (error) {
      if (/** @type {any} */ (error).option !== 'overrides') throw error;
      model.forward(input);
      const shapes = new Map(
        model.tensors().map((/** @type {TensorInfo} */ info) => [info.name, info.shape]),
      );
      const fitting = overrides.filter(({ name, at }) => {
        const shape = shapes.get(name);
        return shape?.length === at.length && at.every((place, axis) => (place ?? 0) < shape[axis]);
      });
      if (fitting.length === overrides.length) throw error;
      model.forward({ ...input, overrides: fitting });
    }
  }

  /** @param {Decoding} decode */
  function write({ input, options, steps = Infinity, read = [] }) {
    const [decoded] = [model.decode(input, options)].flat();
    const taken = decoded.tokens.length + Number(decoded.finished);
    const target = [options.bos, ...decoded.tokens].slice(0, Math.min(steps, taken));
    // The tape of a beam search holds all beams: what the best one wrote is read once more, token by token.
    if (options.method === 'beam') {
      const again = { ...options, method: 'greedy', maxLength: 1, prefill: 1 };
      model.decode({ ...input, target: [target] }, again);
    } else if (steps < taken) model.decode(input, { ...options, maxLength: steps });
    const { shape, data } = model.tensor('logits');
    const temperature = Math.fround((options.method === 'sample' && options.temperature) || 1);
    const logits = { shape, data: data.map((/** @type {number} */ logit) => logit / temperature) };
    const { weights: probabilities } = engine.maskedSoftmax(logits);
    return {
      answer: { decoded, decodedValues: { ...model.values(read), probabilities } },
      target,
    };
  }

  /**
   * @param {Request} request
   * @param {Training} training
   * @param {Required<Following>} following
   */
  async function reach(request, training, { progress, interrupted, ready, slice }) {
    const { pairs, batch, plan, steps, watch } = training;
    const batches = pairs ? batchesOf(pairs) : { size: 1, batches: () => [batch] };
    const run = train(engine, model, batches, { ...plan, epochs: Infinity });
    let told = nothingToTell();
    while (model.steps < steps && !interrupted()) {
      const begun = performance.now();
      do {
        const { value } = run.next();
        if (!value) break;
        const { loss, tokens = 0, learningRate, last } = value;
        told.losses.push(loss);
        told.rates.push(learningRate);
        if (watch) told.watched.push(model.tensor(watch).data[0]);
        told.tokens += tokens;
        if (last && pairs)
          told.epoch = { step: model.steps, saved: model.save({ training: true }) };
      } while (model.steps < steps && performance.now() - begun < slice);
      told.seconds += (performance.now() - begun) / 1000;
      if (ready()) {
        progress({ ...told, answer: look(request) });
        told = nothingToTell();
      }
      await breath();
    }
    if (told.losses.length > 0) progress({ ...told, answer: look(request) });
  }

  /** @returns {Omit<Progress, 'answer'>} */
  const nothingToTell = () => {
    return { first: model.steps, losses: [], rates: [], watched: [], tokens: 0, seconds: 0 };
  };

  /**
   * @param {Request} request
   * @param {NonNullable<Request['unseen']>} unseen
   * @param {Required<Following>} following
   */
  async function judge(request, unseen, { progress, interrupted, ready, slice }) {
    const what = JSON.stringify([key, model.steps, unseen]);
    if (judged.what === what) return judged.score;
    const { batch, overrides, decode } = unseen;
    const { source, sourceLens } = batch;
    const translations = [];
    let begun = -Infinity;
    for (const [i, ids] of source.entries()) {
      if (performance.now() - begun >= slice) {
        if (ready()) progress({ ...nothingToTell(), answer: look(request) });
        await breath();
        if (interrupted()) return undefined;
        begun = performance.now();
      }
      const input = { source: [ids], sourceLens: [sourceLens[i]], overrides };
      const written = ifFinite(() => model.decode(input, decode)[0].tokens);
      if (!written) return undefined;
      translations.push(written);
    }
    judged = { what, score: { loss: meanLoss(batch, overrides), translations } };
    return judged.score;
  }

  /**
   * Over all tokens, of so few pairs at a time as training takes.
   * @param {Record<string, any[]>} batch
   * @param {Override[]} [overrides]
   */
  function meanLoss(batch, overrides) {
    const { size, batches } = batchesOf(batch);
    let [sum, count] = [0, 0];
    for (const part of batches([...Array(size).keys()], 64)) {
      const { loss, tokens } = model.loss({ ...part, overrides });
      sum += loss * tokens;
      count += tokens;
    }
    return sum / count;
  }

  /** @param {Request} request @param {Required<Following>} following */
  async function answerTo(request, following) {
    const { training, unseen, save } = request;
    settle(request);
    if (training) await reach(request, training, following);
    const score = unseen && (await judge(request, unseen, following));
    const answer = look(request);
    if (score) answer.score = score;
    if (save) answer.saved = model.save({ names: save });
    return answer;
  }

  return async (request, following = {}) => {
    const { progress = () => {}, interrupted = () => false, ready = () => true } = following;
    const { slice = 50 } = following;
    try {
      return await answerTo(request, { progress, interrupted, ready, slice });
    } catch (error) {
      // The core stopped, and the model with it; the next request makes another.
      if (!(error instanceof AttentionError) || error.code === 'TRAP') key = '';
      throw error;
    }
  };
}

/**
 * Nothing can be written by logits that are no numbers; the next step of training will say why.
 * @template T
 * @param {() => T} write
 * @returns {T | undefined}
 */
function ifFinite(write) {
  try {
    return write();
  } catch (error) {
    if (/** @type {AttentionError} */ (error).code === 'NOT_FINITE') return undefined;
    throw error;
  }
}
