/**
 * The core off the page's thread, in a worker made of inlined source; where the page forbids it, in one
 * from a URL. The page's own thread answers until the first worker is ready, for that takes longer than
 * many an answer, and where there can be none. The caller sees the same promises.
 *
 * A worker that dies or hangs rejects what is pending with WORKER_DIED; the next request starts a new one.
 */

import { core } from '../build/core-deflated.js';
import { workerMain } from '../build/worker-main.js';
import { AttentionError } from './error.js';

/** @typedef {import('./evaluate.js').Request} Request */
/** @typedef {import('./evaluate.js').Answer} Answer */
/** @typedef {import('./evaluate.js').Progress} Progress */
/**
 * @typedef {{ progress?: (progress: Progress) => void, signal?: AbortSignal }} Following  signal: asks for
 *   an answer as far as it has come
 *
 * @typedef {object} Backend
 * @property {(request: Request, following: Following) => Promise<Answer>} evaluate
 * @property {(reason?: string) => void} close  rejects what is pending
 * @property {() => void} retire  closes once nothing is pending
 */
/** @typedef {{ port: Worker | MessagePort, close(): void }} Endpoint */
/** @typedef {{ resolve(answer: Answer): void, reject(error: Error): void, progress?:
 *   Following['progress'], patience: number, timer?: ReturnType<typeof setTimeout> }} Pending */

/** Where worker.js lies: beside this script. */
const here = globalThis.document?.currentScript?.getAttribute('src')
  ? /** @type {HTMLScriptElement} */ (document.currentScript).src
  : import.meta.url;

/**
 * A core that has not said a word for so long is taken for dead, in milliseconds. Within a step of training it
 * says none.
 */
const PATIENCE = { answer: 5_000, training: 60_000 };

/** How long training may hold a worker before it listens again, and the page's own thread, in milliseconds. */
const SLICE = { worker: 50, here: 12 };

/** After the first answer, in milliseconds: its figure is drawn before a worker takes up the machine. */
const WORKER_DELAY = 100;

/**
 * @param {() => Endpoint} open
 * @param {number} slice
 * @param {(reason: string) => void} onDeath  after it had started
 * @returns {Promise<Backend>}  rejects when it does not start
 */
async function connect(open, slice, onDeath) {
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
  /** @param {Pending} waiting */
  const wait = (waiting) => {
    const { patience } = waiting;
    const due = performance.now() + patience;
    clearTimeout(waiting.timer);
    waiting.timer = setTimeout(() => {
      // A page that was held up itself has messages to read first.
      if (performance.now() > due + 1000) wait(waiting);
      else die(`no answer in ${patience / 1000} s`);
    }, patience);
  };
  /** @param {object} message @param {number} id @param {number} patience @param {Following} [following] */
  const ask = (message, id, patience, { progress } = {}) =>
    new Promise((resolve, reject) => {
      if (state === 'closed') {
        reject(new AttentionError('WORKER_DIED', 'The worker has stopped'));
        return;
      }
      const waiting = { resolve, reject, progress, patience };
      pending.set(id, waiting);
      wait(waiting);
      port.postMessage(message);
    });

  port.onmessage = ({ data: { id = 0, answer, progress, error } }) => {
    for (const each of pending.values()) wait(each);
    const waiting = pending.get(id);
    if (!waiting) return;
    if (progress) {
      waiting.progress?.(progress);
      setTimeout(() => port.postMessage({ taken: true })); // behind what the reader did meanwhile
      return;
    }
    pending.delete(id);
    clearTimeout(waiting.timer);
    if (error) waiting.reject(new AttentionError(error.code, error.message, error));
    else waiting.resolve(answer);
    if (state === 'retired' && pending.size === 0) close();
  };
  if ('onerror' in port) {
    port.onerror = (event) => {
      event.preventDefault();
      die(event.message || 'it could not be loaded');
    };
  }

  await ask({ core, slice }, 0, PATIENCE.answer).catch((error) => {
    if (state !== 'closed') close();
    throw error;
  });
  state = 'running';
  return {
    evaluate(request, following) {
      lastId += 1;
      const id = lastId;
      const patience = PATIENCE[request.training?.steps ? 'training' : 'answer'];
      const answer = ask({ id, request }, id, patience, following);
      const interrupt = () => pending.has(id) && port.postMessage({ interrupt: id });
      if (following.signal?.aborted) interrupt();
      following.signal?.addEventListener('abort', interrupt, { once: true });
      return answer;
    },
    close,
    retire() {
      if (pending.size === 0) close();
      else state = 'retired';
    },
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
 * @property {() => void} start  so that the first answer comes sooner
 * @property {(request: Request, following?: Following) => Promise<Answer>} evaluate
 * @property {() => void} close
 * @property {((reason: string) => void) | undefined} onRestart  called when a worker died and a new one
 *   takes its place
 */

/**
 * Nothing starts before start() or the first evaluate().
 * @param {{ workerUrl?: string | URL }} [options]  workerUrl: the address of worker.js, for pages that
 *   allow no worker from a blob, by default beside this script
 * @returns {Client}
 */
export function createClient({ workerUrl = here && new URL('worker.js', here) } = {}) {
  /** @type {Promise<Backend> | undefined} */
  let worker;
  /** @type {Promise<Backend> | undefined} */
  let standIn;
  let hadWorker = false;

  const startHere = () =>
    connect(openHere, SLICE.here, (reason) => {
      standIn = undefined;
      client.onRestart?.(reason);
    });
  const startWorker = async () => {
    /** @param {string} reason */
    const onDeath = (reason) => {
      worker = undefined;
      client.onRestart?.(reason);
    };
    const started = await connect(openBlobWorker, SLICE.worker, onDeath).catch((error) => {
      if (!workerUrl) throw error;
      return connect(() => openWorker(workerUrl), SLICE.worker, onDeath);
    });
    hadWorker = true;
    standIn?.then(
      ({ retire }) => retire(),
      () => {},
    );
    standIn = undefined;
    return started;
  };

  const theWorker = () => {
    worker ??= startWorker();
    worker.catch(() => {}); // the page's own thread goes on answering
    return worker;
  };

  /** @type {Client} */
  const client = {
    onRestart: undefined,
    start() {
      standIn ??= startHere();
      standIn.catch(() => {}); // evaluate() meets it again
    },
    async evaluate(request, following = {}) {
      // What trains, or killed a worker, waits for the next one: it is kept off the page's thread.
      const long = Boolean(request.training?.steps);
      if (!worker && !hadWorker && !long) standIn ??= startHere();
      const backend =
        standIn && !long
          ? standIn.catch((error) => theWorker().catch(() => Promise.reject(error)))
          : theWorker().catch(() => (standIn ??= startHere()));
      try {
        return await (await backend).evaluate(request, following);
      } finally {
        if (standIn) setTimeout(() => standIn && theWorker(), WORKER_DELAY);
      }
    },
    close() {
      for (const backend of [worker, standIn]) {
        backend?.then(
          ({ close }) => close(),
          () => {},
        );
      }
      worker = standIn = undefined;
    },
  };
  return client;
}
