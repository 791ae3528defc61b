/**
 * The core in a worker. First message: { binaries, simd }, answered by { ready: true }; then
 * { id, request }, answered by { id, answer }. Failures come as { id, error }.
 */

import { createEvaluator } from './evaluate.js';
import { startTwin } from './functions.js';

/** @type {ReturnType<typeof createEvaluator>} */
let evaluate;

/** @param {any} error */
const plain = ({ code = 'TRAP', message, option }) => ({ code, message, option });

addEventListener('message', async ({ data }) => {
  if (data.binaries) {
    try {
      evaluate = createEvaluator(await startTwin(data.binaries, 'auto'));
      postMessage({ ready: true });
    } catch (error) {
      postMessage({ error: plain(error) });
    }
    return;
  }
  const { id, request } = data;
  try {
    const answer = evaluate(request);
    const buffers = Object.values(answer.values).map(({ data: { buffer } }) => buffer);
    postMessage({ id, answer }, { transfer: buffers });
  } catch (error) {
    postMessage({ id, error: plain(error) });
  }
});
