/**
 * The core behind a port: a worker's own, or one end of a channel on the page's thread. First message:
 * { binaries }, answered by { ready: true }; then { id, request }, answered by { id, answer }. Failures
 * come as { id, error }.
 *
 * The build makes of this file, and all that it imports, one function workerMain(port), whose text is the
 * worker's source.
 */

import { createEvaluator } from './evaluate.js';
import { startTwin } from './functions.js';

/** @typedef {{ onmessage: ((event: MessageEvent) => void) | null,
 *   postMessage(message: any, options: StructuredSerializeOptions): void }} Port */

/** @param {any} error */
const plain = ({ code = 'TRAP', message, option }) => ({ code, message, option });

/** @param {Port} port */
export function serve(port) {
  /** @type {ReturnType<typeof createEvaluator>} */
  let evaluate;

  /** @param {{ simd: ArrayBuffer, scalar: ArrayBuffer }} binaries */
  const start = async ({ simd, scalar }) => {
    const twins = { simd: async () => simd, scalar: async () => scalar };
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
