/**
 * From bytes to an engine that has given the known answer.
 */

import { Core, compile } from './engine.js';
import { AttentionError } from './error.js';
import { Engine } from './functions.js';
import { scalarTwin } from './scalar.js';

/**
 * An engine on these bytes, once they gave the known answer.
 * @param {import('./engine.js').Bytes} bytes
 * @param {string} from  where they come from, for messages
 * @returns {Promise<Engine>}
 */
export async function startEngine(bytes, from) {
  const core = new Core(await compile(bytes, from));
  const { hash, answer } = core.loadTest();
  if (hash === answer) return new Engine(core);
  throw new AttentionError(
    'BAD_WASM',
    `The known-answer test gave ${hash.toString(16)} instead of ${answer.toString(16)} with ${from}`,
  );
}

/**
 * The SIMD twin, or where it does not compile or is wrong the scalar one; both give the same bits.
 * @param {Uint8Array<ArrayBuffer>} wasm  the SIMD twin
 * @param {'auto' | 'on' | 'off'} simd
 * @returns {Promise<Engine>}
 */
export async function startTwin(wasm, simd) {
  if (simd !== 'off') {
    try {
      return await startEngine(wasm, 'the SIMD core');
    } catch (error) {
      if (simd === 'on') throw error;
    }
  }
  return startEngine(scalarTwin(wasm), 'the scalar core');
}
