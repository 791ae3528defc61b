// Takes the toolchain's own exports off a WebAssembly file, so that the same list remains whichever
// emcc linked it: `memory` and what wasm/abi.c exports. A file with imports is refused.
//
//   node tools/trim-wasm.js IN OUT
//
// A module is an 8-byte header, then sections: id (1 byte), size (LEB128), body. The body of the
// export section is a count, then per export: name length, name, kind (1 byte), index (LEB128).

import { readFileSync, writeFileSync } from 'node:fs';

const IMPORT_SECTION = 2;
const EXPORT_SECTION = 7;
const TOOLCHAIN = /^(_|stack[A-Z]|emscripten_)/;

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 */
function readLeb(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value |= (byte & 127) << shift;
    if (byte < 128) return { value, end: at };
  }
}

/** @param {number} value */
function leb(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return [...bytes, value];
}

/** @param {Uint8Array} body of the export section */
function trimExports(body) {
  const { value: count, end } = readLeb(body, 0);
  const kept = [];
  let at = end;
  for (let i = 0; i < count; i++) {
    const length = readLeb(body, at);
    const nameEnd = length.end + length.value;
    const next = readLeb(body, nameEnd + 1).end;
    if (!TOOLCHAIN.test(new TextDecoder().decode(body.subarray(length.end, nameEnd)))) {
      kept.push(body.subarray(at, next));
    }
    at = next;
  }
  return Buffer.concat([Uint8Array.from(leb(kept.length)), ...kept]);
}

const [input, output] = process.argv.slice(2);
const wasm = readFileSync(input);
const parts = [wasm.subarray(0, 8)];
for (let at = 8; at < wasm.length; ) {
  const id = wasm[at];
  const { value: size, end } = readLeb(wasm, at + 1);
  const body = wasm.subarray(end, end + size);
  if (id === IMPORT_SECTION && readLeb(body, 0).value > 0) {
    throw new Error(`${input} has imports; the core must not need anything from outside`);
  }
  const trimmed = id === EXPORT_SECTION ? trimExports(body) : body;
  parts.push(Buffer.from([id, ...leb(trimmed.length)]), trimmed);
  at = end + size;
}
writeFileSync(output, Buffer.concat(parts));
