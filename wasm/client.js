/**
 * The core off the page's thread. A worker made of inlined source comes first; where the page forbids it,
 * a worker from a URL; where that fails too, the page's own thread. The caller sees the same promises.
 *
 * A worker that dies or hangs rejects what is pending with WORKER_DIED; the next request starts a new one.
 */

import * as deflated from '../build/binaries-deflated.js';
import { workerMain } from '../build/worker-main.js';
import { fromBase64 } from './base64.js';
import { AttentionError } from './error.js';

/** @typedef {import('./evaluate.js').Request} Request */
/** @typedef {import('./evaluate.js').Answer} Answer */
/** @typedef {'blob-worker' | 'url-worker' | 'main'} Mode */
/** @typedef {{ evaluate(request: Request): Promise<Answer>, close(reason?: string): void }} Backend */
/** @typedef {{ port: Worker | MessagePort, close(): void }} Endpoint */
/** @typedef {{ resolve(answer: Answer): void, reject(error: Error): void,
 *   timer: ReturnType<typeof setTimeout> }} Pending */

/** Where worker.js lies: beside this script. */
const here = globalThis.document?.currentScript?.getAttribute('src')
  ? /** @type {HTMLScriptElement} */ (document.currentScript).src
  : import.meta.url;

/** A core that has not said a word for so long is taken for dead, in milliseconds. */
const TIMEOUT = 5_000;

/**
 * @param {string} packed  deflated, then base64
 * @returns {Promise<ArrayBuffer>}
 */
function unpack(packed) {
  const bytes = new Blob([fromBase64(packed)]).stream();
  return new Response(bytes.pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer();
}

/**
 * @param {() => Endpoint} open
 * @param {(reason: string) => void} onDeath  after it had started
 * @returns {Promise<Backend>}  rejects when it does not start
 */
async function connect(open, onDeath) {
  const binaries = { simd: await unpack(deflated.simd), scalar: await unpack(deflated.scalar) };
  const { port, close: closeEndpoint } = open();
  /** @type {Map<number, Pending>} */
  const pending = new Map();
  let lastId = 0;
  let state = 'starting';

  const close = (reason = 'it was closed') => {
    state = 'closed';
    closeEndpoint();
    for (const { reject, timer } of pending.values()) {
      clearTimeout(timer);
      reject(new AttentionError('WORKER_DIED', `The worker stopped: ${reason}`));
    }
    pending.clear();
  };
  /** @param {string} reason */
  const die = (reason) => {
    const running = state === 'running';
    if (state !== 'closed') close(reason);
    if (running) onDeath(reason);
  };
  /** @param {object} message @param {number} id @param {Transferable[]} transfer */
  const ask = (message, id, transfer) =>
    new Promise((resolve, reject) => {
      if (state === 'closed') {
        reject(new AttentionError('WORKER_DIED', 'The worker has stopped'));
        return;
      }
      const timer = setTimeout(() => die(`no answer in ${TIMEOUT / 1000} s`), TIMEOUT);
      pending.set(id, { resolve, reject, timer });
      port.postMessage(message, transfer);
    });

  port.onmessage = ({ data: { id = 0, answer, error } }) => {
    const waiting = pending.get(id);
    if (!waiting) return;
    pending.delete(id);
    clearTimeout(waiting.timer);
    if (error) waiting.reject(new AttentionError(error.code, error.message, error));
    else waiting.resolve(answer);
  };
  if ('onerror' in port) {
    port.onerror = (event) => {
      event.preventDefault();
      die(event.message || 'it could not be loaded');
    };
  }

  await ask({ binaries }, 0, Object.values(binaries)).catch((error) => {
    if (state !== 'closed') close();
    throw error;
  });
  state = 'running';
  return {
    evaluate(request) {
      lastId += 1;
      return ask({ id: lastId, request }, lastId, []);
    },
    close,
  };
}

/**
 * @param {string | URL} url
 * @returns {Endpoint}
 */
function openWorker(url) {
  const worker = new Worker(url);
  return { port: worker, close: () => worker.terminate() };
}

function openBlobWorker() {
  const source = new Blob([`(${workerMain})(self)`], { type: 'text/javascript' });
  const url = URL.createObjectURL(source);
  const endpoint = openWorker(url);
  const close = () => {
    endpoint.close();
    URL.revokeObjectURL(url);
  };
  return { port: endpoint.port, close };
}

/** @returns {Endpoint} */
function openHere() {
  const { port1, port2 } = new MessageChannel();
  workerMain(port2);
  return { port: port1, close: () => port1.close() };
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
 *   for pages that allow no worker from a blob, by default beside this script; modes: which to try, in
 *   this order
 * @returns {Client}
 */
export function createClient({
  workerUrl = here && new URL('worker.js', here),
  modes = ['blob-worker', 'url-worker', 'main'],
} = {}) {
  /** @type {Promise<Backend> | undefined} */
  let backend;

  /** @param {string} reason */
  const onDeath = (reason) => {
    backend = undefined;
    client.onRestart?.(reason);
  };
  /** @type {Record<Mode, () => Endpoint>} */
  const openers = {
    'blob-worker': openBlobWorker,
    'url-worker': () => {
      if (workerUrl) return openWorker(workerUrl);
      throw new AttentionError('WORKER_DIED', 'No address of a worker is known');
    },
    main: openHere,
  };

  const start = async () => {
    /** @type {unknown} */
    let failure;
    for (const mode of modes) {
      try {
        const started = await connect(openers[mode], onDeath);
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
