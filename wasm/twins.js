/**
 * The two binaries of the core, inside the program, so that nothing is fetched.
 */

import * as binaries from '../build/binaries.js';

/**
 * @param {string} packed  deflated, then base64
 * @returns {Promise<ArrayBuffer>}
 */
function unpack(packed) {
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(inflated).arrayBuffer();
}

/** The binaries that startTwin() chooses from, each unpacked when it is asked for. */
export const twins = {
  simd: () => unpack(binaries.simd),
  scalar: () => unpack(binaries.scalar),
};
