/**
 * The one error class of the library. `code` is stable; `message` names the offending value and the
 * limit; `option` is the option at fault where one is.
 *
 * Codes: BAD_SHAPE, BAD_VALUE, TOO_BIG, NO_MEMORY, NOT_FOUND, NOT_FINITE (a loss or gradient that is
 * NaN or infinite; all from the core), UNKNOWN_OPTION, BAD_FILE (no usable safetensors file),
 * BAD_WASM (no usable binary), TRAP (the core stopped and was started anew), WORKER_DIED.
 */
export class AttentionError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {{ option?: string, cause?: unknown }} [more]
   */
  constructor(code, message, { option, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'AttentionError';
    this.code = code;
    this.option = option;
  }
}

/**
 * A value as messages name it.
 * @param {unknown} value
 * @returns {string}
 */
export function show(value) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    const text = JSON.stringify(value) ?? 'an object';
    return text.length > 60 ? `${text.slice(0, 57)}…` : text;
  } catch {
    return 'an object';
  }
}
