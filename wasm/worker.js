/**
 * The core behind a port: a worker's own, or one end of a channel on the page's thread. First message:
 * { core, slice }, the core deflated and in base64, answered by { ready: true }; then
 * { id, request }, followed by any number of { id, progress } and answered by { id, answer }, one after the
 * other. Failures come as { id, error }. { interrupt: id } asks for an answer as far as it has come;
 * { taken: true } says that the last progress has been, before which no other is posted.
 *
 * The build makes of this file, and all that it imports, one function workerMain(port), whose text is the
 * worker's source.
 */

import { fromBase64 } from './base64.js';
import { createEvaluator } from './evaluate.js';
import { startTwin } from './start.js';

/** @typedef {{ onmessage: ((event: MessageEvent) => void) | null,
 *   postMessage(message: any, options: StructuredSerializeOptions): void }} Port */

/** @param {any} error */
const plain = ({ code = 'TRAP', message, option }) => ({ code, message, option });

/** @param {import('./evaluate.js').Answer} answer */
const buffersOf = ({ values, decodedValues = {}, saved }) =>
  [...Object.values(values), ...Object.values(decodedValues)]
    .map(({ data }) => data.buffer)
    .concat(saved ? [saved.buffer] : []);

/** @param {string} base64 */
function inflate(base64) {
  const { body } = new Response(fromBase64(base64));
  const bytes = body?.pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(bytes).arrayBuffer();
}

/** @param {Port} port */
export function serve(port) {
  /** @type {ReturnType<typeof createEvaluator>} */
  let evaluate;
  /** How long the thread may be held, in milliseconds. */
  let slice = 0;
  let interrupted = 0;
  let taken = true;
  let last = Promise.resolve();

  /** @param {string} core */
  const start = async (core) => {
    const wasm = new Uint8Array(await inflate(core));
    evaluate = createEvaluator(await startTwin(wasm, 'auto'));
    port.postMessage({ ready: true }, {});
  };

  /** @param {number} id @param {import('./evaluate.js').Request} request */
  const answer = async (id, request) => {
    const answer = await evaluate(request, {
      slice,
      interrupted: () => interrupted >= id,
      ready: () => taken,
      progress(progress) {
        const { answer: now, epoch } = progress;
        taken = false;
        const transfer = buffersOf(now).concat(epoch ? [epoch.saved.buffer] : []);
        port.postMessage({ id, progress }, { transfer });
      },
    });
    port.postMessage({ id, answer }, { transfer: buffersOf(answer) });
  };

  port.onmessage = ({ data: { core, id, request, interrupt, ...more } }) => {
    if (interrupt) interrupted = interrupt;
    if (more.taken) taken = true;
    if (interrupt || more.taken) return;
    if (core) slice = more.slice;
    last = last
      .then(() => (core ? start(core) : answer(id, request)))
      .catch((error) => port.postMessage({ id, error: plain(error) }, {}));
  };
}
