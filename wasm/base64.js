/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function fromBase64(text) {
  const { Buffer } = /** @type {any} */ (globalThis); // Node's, which is faster
  if (Buffer) return new Uint8Array(Buffer.from(text, 'base64'));
  const { fromBase64: ready } = /** @type {any} */ (Uint8Array); // and that of new browsers
  if (ready) return ready(text);
  const decoded = atob(text);
  const bytes = new Uint8Array(decoded.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = decoded.charCodeAt(i);
  return bytes;
}
