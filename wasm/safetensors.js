/**
 * The safetensors format: eight bytes with the length of a JSON header, the header, the numbers.
 *
 *   { "encoder.norm.weight": { "dtype": "F32", "shape": [32], "data_offsets": [0, 128] }, …,
 *     "__metadata__": { … texts } }
 *
 * A file may come from anywhere: nothing in it is believed before it is checked.
 */

import { AttentionError, show } from './error.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {{ name: string, shape: number[], start: number, end: number }} Entry */

const LENGTH_BYTES = 8;
const ELEMENT_BYTES = 4;
const METADATA = '__metadata__';

/**
 * @param {string} message
 * @param {unknown} [cause]
 * @returns {never}
 */
function refuse(message, cause) {
  throw new AttentionError('BAD_FILE', message, { cause });
}

/**
 * @param {Record<string, Tensor>} tensors
 * @param {Record<string, string>} [metadata]
 * @returns {Uint8Array}
 */
export function encodeSafetensors(tensors, metadata) {
  /** @type {Record<string, unknown>} */
  const header = metadata ? { [METADATA]: metadata } : {};
  let end = 0;
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    const start = end;
    end += data.length * ELEMENT_BYTES;
    header[name] = { dtype: 'F32', shape, data_offsets: [start, end] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(text.length / LENGTH_BYTES) * LENGTH_BYTES;
  const bytes = new Uint8Array(LENGTH_BYTES + padded + end);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, padded, true);
  bytes.fill(0x20, LENGTH_BYTES, LENGTH_BYTES + padded);
  bytes.set(text, LENGTH_BYTES);
  let at = LENGTH_BYTES + padded;
  for (const { data } of Object.values(tensors)) {
    for (const number of data) {
      view.setFloat32(at, number, true);
      at += ELEMENT_BYTES;
    }
  }
  return bytes;
}

/**
 * @param {unknown} value
 * @returns {value is number}
 */
const isSize = (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

/**
 * @param {string} name
 * @param {any} entry  as it stands in the header
 * @returns {Entry}
 */
function checkEntry(name, entry) {
  if (typeof entry !== 'object' || entry === null) {
    return refuse(`the file describes ${show(name)} by ${show(entry)}, which is no object`);
  }
  const { dtype, shape, data_offsets: offsets } = entry;
  if (dtype !== 'F32') {
    refuse(`${name} has the dtype ${show(dtype)} in the file; only F32 can be read`);
  }
  if (!Array.isArray(shape) || !shape.every(isSize)) {
    refuse(`${name} has the shape ${show(shape)} in the file; it must be a list of sizes`);
  }
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isSize)) {
    refuse(`${name} has the offsets ${show(offsets)} in the file; they must be [start, end]`);
  }
  const [start, end] = offsets;
  const needed = shape.reduce((product, size) => product * size, ELEMENT_BYTES);
  if (end - start !== needed) {
    refuse(`${name} has ${end - start} bytes in the file; its shape [${shape}] needs ${needed}`);
  }
  return { name, shape, start, end };
}

/**
 * JSON.parse() would take the last of them.
 * @param {string} json  valid
 * @returns {string | undefined}  a name that an object in it has twice
 */
function repeatedName(json) {
  /** @type {Set<string>[]} */
  const open = [];
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '{') open.push(new Set());
    else if (json[at] === '}') open.pop();
    if (json[at] !== '"') continue;
    const start = at;
    for (at++; json[at] !== '"'; at++) if (json[at] === '\\') at++;
    let next = at + 1;
    while (json[next] <= ' ') next++;
    if (json[next] !== ':') continue;
    const name = JSON.parse(json.slice(start, at + 1));
    const names = open[open.length - 1];
    if (names.has(name)) return name;
    names.add(name);
  }
  return undefined;
}

/**
 * @param {Uint8Array} bytes
 * @returns {{ header: Record<string, any>, data: DataView }}
 */
function readHeader(bytes) {
  if (bytes.byteLength < LENGTH_BYTES) {
    refuse(`a file of ${bytes.byteLength} bytes is no safetensors file; it starts with 8`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  const room = bytes.byteLength - LENGTH_BYTES;
  if (length > room) {
    refuse(`the file announces a header of ${length} bytes; only ${room} follow`);
  }
  let text = '';
  let header;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + length),
    );
    header = JSON.parse(text);
  } catch (cause) {
    refuse(`the first ${length} bytes are no safetensors header`, cause);
  }
  if (!text.startsWith('{')) {
    refuse(`the safetensors header starts with ${show(text.slice(0, 20))}; it must start with {`);
  }
  const twice = repeatedName(text);
  if (twice !== undefined) refuse(`the safetensors header names ${show(twice)} twice`);
  const start = bytes.byteOffset + LENGTH_BYTES + length;
  return { header, data: new DataView(bytes.buffer, start, room - length) };
}

/**
 * @param {ArrayBuffer | ArrayBufferView} file
 * @returns {{ tensors: Record<string, Tensor>, metadata: Record<string, string> }}
 */
export function decodeSafetensors(file) {
  const { header, data } = readHeader(
    ArrayBuffer.isView(file)
      ? new Uint8Array(file.buffer, file.byteOffset, file.byteLength)
      : new Uint8Array(file),
  );
  const { [METADATA]: metadata = {}, ...described } = header;
  const entries = Object.entries(described).map(([name, entry]) => checkEntry(name, entry));
  const sorted = [...entries].sort((a, b) => a.start - b.start || a.end - b.end);
  let at = 0;
  for (const { name, start, end } of sorted) {
    if (start !== at) {
      const what = start < at ? 'overlaps with the one before it' : 'leaves a hole before it';
      refuse(`${name} stands at ${start} in the file and ${what}, which ends at ${at}`);
    }
    if (end > data.byteLength) {
      refuse(`${name} ends at ${end} in the file; its numbers end at ${data.byteLength}`);
    }
    at = end;
  }
  if (at < data.byteLength) {
    refuse(`the tensors end at ${at} in the file; its numbers end at ${data.byteLength}`);
  }
  const tensors = entries.map(({ name, shape, start, end }) => [
    name,
    {
      shape,
      data: Float32Array.from({ length: (end - start) / ELEMENT_BYTES }, (_, i) =>
        data.getFloat32(start + i * ELEMENT_BYTES, true),
      ),
    },
  ]);
  return { tensors: Object.fromEntries(tensors), metadata };
}
