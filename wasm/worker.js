/**
 * The core behind a port: a worker's own, or one end of a channel on the page's thread. First message:
 * { binaries }, both twins woven, deflated and in base64, answered by { ready: true }; then { id, request },
 * answered by { id, answer }. Failures come as { id, error }.
 *
 * The build makes of this file, and all that it imports, one function workerMain(port), whose text is the
 * worker's source.
 */

import { fromBase64 } from './base64.js';
import { createEvaluator } from './evaluate.js';
import { startTwin } from './functions.js';
import { unweave } from './weave.js';

/** @typedef {{ onmessage: ((event: MessageEvent) => void) | null,
 *   postMessage(message: any, options: StructuredSerializeOptions): void }} Port */

/** @param {any} error */
const plain = ({ code = 'TRAP', message, option }) => ({ code, message, option });

/** @param {string} packed */
function unpack(packed) {
  const { body } = new Response(fromBase64(packed));
  const bytes = body?.pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(bytes).arrayBuffer();
}

/** @param {Port} port */
export function serve(port) {
  /** @type {ReturnType<typeof createEvaluator>} */
  let evaluate;

  /** @param {{ woven: string, simdLength: number }} binaries */
  const start = async ({ woven, simdLength }) => {
    const { first, second } = unweave(new Uint8Array(await unpack(woven)), simdLength);
    const twins = { simd: async () => first, scalar: async () => second };
    evaluate = createEvaluator(await startTwin(twins, 'auto'));
    port.postMessage({ ready: true }, {});
  };

  port.onmessage = async ({ data: { binaries, id, request } }) => {
    try {
      if (binaries) return await start(binaries);
      const answer = evaluate(request);
      const transfer = Object.values(answer.values).map(({ data }) => data.buffer);
      port.postMessage({ id, answer }, { transfer });
    } catch (error) {
      port.postMessage({ id, error: plain(error) }, {});
    }
  };
}
