/**
 * Numbers as files: CSV for spreadsheets, JSON for programs, .npy for NumPy. Every number is
 * written so that the same float32 is read back.
 */
import { float32 } from './format.js';

/** @typedef {import('./colour.js').Matrix} Matrix */
/** @typedef {{ shape: readonly number[], data: ArrayLike<number> }} Tensor */

/**
 * A CSV file: the column labels, then each row behind its label. UTF-8 with a byte order mark, so
 * that spreadsheets read Chinese; a text that a spreadsheet would run as a formula gets a leading
 * apostrophe.
 * @param {Matrix} matrix
 * @param {readonly string[]} rowLabels
 * @param {readonly string[]} columnLabels
 * @param {string} [corner]
 * @returns {string}
 */
export function csv(matrix, rowLabels, columnLabels, corner = '') {
  const { rows, columns, data, offset = 0, stride = columns } = matrix;
  const lines = [[corner, ...columnLabels].map(csvText)];
  for (let row = 0; row < rows; row++) {
    const numbers = Array.from({ length: columns }, (_, column) =>
      float32(data[offset + row * stride + column]),
    );
    lines.push([csvText(rowLabels[row] ?? ''), ...numbers]);
  }
  return `\uFEFF${lines.map((line) => `${line.join(',')}\r\n`).join('')}`;
}

/** @param {string} text */
function csvText(text) {
  const safe = /^[\s]*[=+\-@＝＋－＠\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * A .npy file, version 1.0, little-endian float32 in C order.
 * @param {Tensor} tensor
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function npy({ shape, data }) {
  const extents = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${extents}), }`;
  const start = Math.ceil((10 + head.length + 1) / 64) * 64;
  const bytes = new Uint8Array(start + data.length * 4);
  const view = new DataView(bytes.buffer);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]);
  view.setUint16(8, start - 10, true);
  bytes.fill(0x20, 10, start - 1);
  bytes[start - 1] = 0x0a;
  for (let at = 0; at < head.length; at++) bytes[10 + at] = head.charCodeAt(at);
  for (let at = 0; at < data.length; at++) view.setFloat32(start + at * 4, data[at], true);
  return bytes;
}

/**
 * JSON text. Numbers are as short as float32 allows; NaN and the infinities, which JSON lacks, are
 * the strings "NaN", "Infinity" and "-Infinity".
 * @param {Record<string, unknown>} value typed arrays become lists; float32 arrays are shortened
 * @returns {string}
 */
export function json(value) {
  return `${JSON.stringify(value, (_, part) => {
    if (part instanceof Float32Array) return Array.from(part, (number) => jsonNumber(number, true));
    if (ArrayBuffer.isView(part)) return Array.from(/** @type {any} */ (part));
    return typeof part === 'number' ? jsonNumber(part, false) : part;
  })}\n`;
}

/**
 * @param {number} value
 * @param {boolean} single
 */
function jsonNumber(value, single) {
  if (!Number.isFinite(value)) return String(value);
  return single ? Number(float32(value)) : value;
}
