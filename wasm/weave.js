/**
 * Two binaries of the same sources as one list of bytes, a slice of each in turn, for the deflater: what
 * one repeats of the other then lies within its reach of 32 KiB, and both together pack a sixth smaller.
 */

const TURNS = 128;

/** @param {Uint8Array} bytes @param {number} turn */
const slice = (bytes, turn) =>
  bytes.subarray(
    Math.floor((turn * bytes.length) / TURNS),
    Math.floor(((turn + 1) * bytes.length) / TURNS),
  );

/**
 * The slices of both in their order.
 * @param {Uint8Array} first
 * @param {Uint8Array} second
 */
const slices = (first, second) =>
  Array.from({ length: 2 * TURNS }, (_, at) => slice(at % 2 ? second : first, at >> 1));

/**
 * @param {Uint8Array} first
 * @param {Uint8Array} second
 * @returns {Uint8Array}
 */
export function weave(first, second) {
  const woven = new Uint8Array(first.length + second.length);
  let at = 0;
  for (const part of slices(first, second)) {
    woven.set(part, at);
    at += part.length;
  }
  return woven;
}

/**
 * @param {Uint8Array} woven
 * @param {number} length  of the first
 */
export function unweave(woven, length) {
  const first = new Uint8Array(length);
  const second = new Uint8Array(woven.length - length);
  let at = 0;
  for (const part of slices(first, second)) {
    part.set(woven.subarray(at, at + part.length));
    at += part.length;
  }
  return { first, second };
}
