/**
 * A module as streams of like bytes, for the deflater: opcodes with opcodes, locals with locals, offsets
 * with offsets. So they pack a fifth smaller, and nothing is lost: an opcode says what follows it, and a
 * function ends with its outermost block.
 */

import { immediates, joined, leb, Reader } from './instructions.js';

const CODE = 10;
const END = 0x0b;

/** What stands before and after the code, the locals of functions, opcodes, and immediates by letter. */
const STREAMS = [...'<>+*tdDfymgaoliIsSvx'];

/** How an opcode changes the depth of blocks. @param {number} opcode */
const deeper = (opcode) => (opcode === END ? -1 : Number(immediates(opcode) === 't'));

/**
 * @param {Uint8Array} wasm
 * @returns {Uint8Array[]}  in the order of STREAMS
 */
export function split(wasm) {
  /** @type {Map<string, Uint8Array[]>} */
  const streams = new Map(STREAMS.map((name) => [name, []]));
  const put = (/** @type {string} */ name, /** @type {Uint8Array} */ bytes) =>
    streams.get(name)?.push(bytes);
  const reader = new Reader(wasm);
  reader.take(8);
  for (let start = reader.at; reader.more; start = reader.at) {
    if (reader.byte() !== CODE) {
      reader.take(reader.number());
      continue;
    }
    put('<', wasm.subarray(0, start));
    const end = reader.number() + reader.at;
    put('>', wasm.subarray(end));
    const count = reader.number();
    put('+', Uint8Array.from(leb(count)));
    for (let body = 0; body < count; body++) {
      reader.number();
      put(
        '+',
        reader.since(() => reader.list(() => [reader.number(), reader.byte()])),
      );
      for (let depth = 1; depth > 0; ) {
        let opcode = 0;
        put(
          '*',
          reader.since(() => (opcode = reader.opcode())),
        );
        for (const kind of immediates(opcode))
          put(
            kind,
            reader.since(() => reader.skip(kind)),
          );
        depth += deeper(opcode);
      }
    }
    reader.at = end;
  }
  return STREAMS.map((name) => joined(streams.get(name) ?? []));
}

/**
 * Whoever opens a page waits for it, in code that runs for the first time: what most instructions are, one
 * byte with numbers behind it, takes no call.
 * @param {Uint8Array} streams  of split(), one behind the other
 * @param {number[]} lengths  of each
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function join(streams, lengths) {
  const all = new Reader(streams);
  const readers = Object.fromEntries(
    STREAMS.map((name, at) => [name, new Reader(all.take(lengths[at]))]),
  );
  const { '<': before, '>': after, '+': locals, '*': opcodes } = readers;
  const count = locals.number();
  const section = new Uint8Array(streams.length + 5 * count);
  let at = 0;
  const put = (/** @type {ArrayLike<number>} */ bytes) => {
    section.set(bytes, at);
    at += bytes.length;
  };
  const code = new Uint8Array(streams.length);
  let end = 0;
  const copy = (/** @type {Reader} */ reader, /** @type {() => void} */ read) => {
    const { bytes } = reader;
    let { at } = reader;
    read();
    while (at < reader.at) code[end++] = bytes[at++];
  };
  /** By opcode, the streams of its numbers; nothing where it is longer or something else follows. */
  const numbers = Array.from({ length: 256 }, (_, opcode) => {
    const kinds = immediates(opcode);
    return opcode < 0xfc && !/[DsS]/.test(kinds)
      ? Array.from(kinds, (kind) => readers[kind])
      : null;
  });

  put(leb(count));
  for (let done = 0; done < count; done++) {
    end = 0;
    copy(locals, () => locals.list(() => [locals.number(), locals.byte()]));
    for (let depth = 1; depth > 0; ) {
      const opcode = opcodes.bytes[opcodes.at];
      const sources = numbers[opcode];
      if (sources) {
        opcodes.at += 1;
        code[end++] = opcode;
        for (let i = 0; i < sources.length; i++) {
          const from = sources[i];
          let byte = 128;
          while (byte > 127) code[end++] = byte = from.bytes[from.at++];
        }
        if (opcode === END || sources[0] === readers.t) depth += deeper(opcode);
      } else {
        let whole = 0;
        copy(opcodes, () => {
          whole = opcodes.opcode();
        });
        for (const kind of immediates(whole)) copy(readers[kind], () => readers[kind].skip(kind));
      }
    }
    put(leb(end));
    put(code.subarray(0, end));
  }
  const head = Uint8Array.from([CODE, ...leb(at)]);
  return joined([before.bytes, head, section.subarray(0, at), after.bytes]);
}
