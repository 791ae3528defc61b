/**
 * The core off the page's thread. A worker made of inlined source comes first; where the page forbids it,
 * a worker from a URL; where that fails too, the page's own thread. The caller sees the same promises.
 *
 * A worker that dies or hangs rejects what is pending with WORKER_DIED; a new one is started at once.
 */

import { source as workerSource } from '../build/worker-source.js';
import { binaryBytes, createEngine } from './attention.js';
import { AttentionError } from './error.js';
import { createEvaluator } from './evaluate.js';

/** @typedef {import('./evaluate.js').Request} Request */
/** @typedef {import('./evaluate.js').Answer} Answer */
/** @typedef {'blob-worker' | 'url-worker' | 'main'} Mode */
/** @typedef {{ evaluate(request: Request): Promise<Answer>, close(reason?: string): void }} Backend */

/** A worker that has not said a word for so long is taken for dead, in milliseconds. */
const START_TIMEOUT = 10_000;
const ANSWER_TIMEOUT = 10_000;

/**
 * @param {string | URL} url
 * @param {(reason: string) => void} onDeath  after it had started
 * @returns {Promise<Backend>}  rejects when it does not start
 */
function startWorker(url, onDeath) {
  const worker = new Worker(url);
  /** @type {Map<number, { resolve: (answer: Answer) => void, reject: (error: Error) => void,
   *   timer: ReturnType<typeof setTimeout> }>} */
  const pending = new Map();
  let lastId = 0;
  let closed = false;

  /** @param {string} reason */
  const close = (reason = 'it was closed') => {
    closed = true;
    worker.terminate();
    for (const { reject, timer } of pending.values()) {
      clearTimeout(timer);
      reject(new AttentionError('WORKER_DIED', `The worker stopped: ${reason}`));
    }
    pending.clear();
  };
  /** @param {string} reason */
  const die = (reason) => {
    if (closed) return;
    close(reason);
    onDeath(reason);
  };

  /** @param {Request} request */
  const evaluate = (request) =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      const timer = setTimeout(
        () => die(`no answer in ${ANSWER_TIMEOUT / 1000} s`),
        ANSWER_TIMEOUT,
      );
      pending.set(id, { resolve, reject, timer });
      worker.postMessage({ id, request });
    });

  return new Promise((resolve, reject) => {
    /** @param {string} reason */
    const fail = (reason) => {
      clearTimeout(timer);
      if (closed) return;
      close(reason);
      reject(new AttentionError('WORKER_DIED', `The worker did not start: ${reason}`));
    };
    const timer = setTimeout(() => fail(`silent for ${START_TIMEOUT / 1000} s`), START_TIMEOUT);
    worker.onerror = (event) => {
      event.preventDefault();
      fail(event.message || 'it could not be loaded');
    };
    worker.onmessage = ({ data }) => {
      if (!data.ready) return fail(data.error?.message ?? 'an unknown answer');
      clearTimeout(timer);
      worker.onerror = (event) => {
        event.preventDefault();
        die(event.message || 'an error');
      };
      worker.onmessage = ({ data: { id, answer, error } }) => {
        const waiting = pending.get(id);
        if (!waiting) return;
        pending.delete(id);
        clearTimeout(waiting.timer);
        if (answer) waiting.resolve(answer);
        else waiting.reject(new AttentionError(error.code, error.message, error));
      };
      resolve(/** @type {Backend} */ ({ evaluate, close }));
    };
    worker.postMessage({ binaries: binaryBytes() });
  });
}

/** @returns {Promise<Backend>} */
async function startHere() {
  const evaluate = createEvaluator(await createEngine());
  return { evaluate: async (request) => evaluate(request), close() {} };
}

/** @param {(reason: string) => void} onDeath */
async function startBlobWorker(onDeath) {
  const url = URL.createObjectURL(new Blob([workerSource], { type: 'text/javascript' }));
  try {
    return await startWorker(url, onDeath);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** @typedef {object} Client
 * @property {(request: Request) => Promise<Answer>} evaluate
 * @property {() => void} close
 * @property {Mode | undefined} mode  once something was evaluated
 * @property {((reason: string) => void) | undefined} onRestart  called when a worker died and a new one
 *   takes its place
 */

/**
 * Nothing starts before the first evaluate().
 * @param {{ workerUrl?: string | URL, modes?: Mode[] }} [options]  workerUrl: the address of worker.js,
 *   for pages that allow no worker from a blob; modes: which to try, in this order
 * @returns {Client}
 */
export function createClient({ workerUrl, modes = ['blob-worker', 'url-worker', 'main'] } = {}) {
  /** @type {Promise<Backend> | undefined} */
  let backend;

  /** @param {string} reason */
  const onDeath = (reason) => {
    backend = undefined;
    client.onRestart?.(reason);
  };
  const starters = {
    'blob-worker': () => startBlobWorker(onDeath),
    'url-worker': () =>
      workerUrl
        ? startWorker(workerUrl, onDeath)
        : Promise.reject(new AttentionError('WORKER_DIED', 'No worker address is known')),
    main: startHere,
  };

  const start = async () => {
    /** @type {unknown} */
    let failure;
    for (const mode of modes) {
      try {
        const started = await starters[mode]();
        client.mode = mode;
        return started;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };

  /** @type {Client} */
  const client = {
    mode: undefined,
    onRestart: undefined,
    async evaluate(request) {
      backend ??= start().catch((error) => {
        backend = undefined;
        throw error;
      });
      return (await backend).evaluate(request);
    },
    close() {
      backend?.then(
        (started) => started.close(),
        () => {},
      );
      backend = undefined;
    },
  };
  return client;
}
