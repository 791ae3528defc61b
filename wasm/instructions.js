/**
 * What may follow an opcode in WebAssembly code, as far as the core uses it: its immediates, a letter each.
 *
 *   t block type   l local   n another number   N a list of numbers and one more
 *   s S floats of 32 and 64 bits   v 16 bytes   x lane
 *
 * An opcode of two bytes is 256 × the first + the second here.
 */

export const VECTOR = 0xfd00;

/** @type {Record<number, string>} */
const IMMEDIATES = {
  2: 't',
  3: 't',
  4: 't',
  12: 'n',
  13: 'n',
  14: 'N',
  16: 'n',
  17: 'nn',
  32: 'l',
  33: 'l',
  34: 'l',
  35: 'n',
  36: 'n',
  63: 'n',
  64: 'n',
  65: 'n',
  66: 'n',
  67: 's',
  68: 'S',
  64522: 'nn', // memory.copy and memory.fill, which newer compilers use
  64523: 'n',
};

/** @type {Record<string, number>} */
const BYTES = { s: 4, S: 8, v: 16, x: 1 };

/** @param {number} opcode */
export function immediates(opcode) {
  const vector = opcode - VECTOR;
  if (vector < 0) return opcode > 39 && opcode < 63 ? 'nn' : (IMMEDIATES[opcode] ?? '');
  if (vector < 12 || vector === 92 || vector === 93) return 'nn';
  if (vector < 14) return 'v';
  if (vector > 20 && vector < 35) return 'x';
  return vector > 83 && vector < 92 ? 'nnx' : '';
}

/** Reads a module's bytes from front to back. */
export class Reader {
  at = 0;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }

  get more() {
    return this.at < this.bytes.length;
  }

  byte() {
    return this.bytes[this.at++];
  }

  /** An unsigned LEB128. */
  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 127) << shift;
      if (!(byte & 128)) return value >>> 0; // or behind the end
    }
  }

  /** @param {number} length */
  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** A reader of what stands behind its length. */
  part() {
    return new Reader(this.take(this.number()));
  }

  opcode() {
    const first = this.byte();
    return first < 0xfc ? first : (first << 8) + this.number();
  }

  /** What is behind a count. @template T @param {() => T} each */
  list(each) {
    return Array.from({ length: this.number() }, each);
  }

  /** The offset of an access to memory; its alignment is only a hint. */
  access() {
    this.number();
    return this.number();
  }

  /** Passes over one immediate. @param {string} kind */
  skip(kind) {
    if (BYTES[kind]) this.at += BYTES[kind];
    else for (let more = kind === 'N' ? this.number() : 0; more >= 0; more--) this.number();
  }
}

/**
 * An unsigned LEB128.
 * @param {number} value
 */
export function leb(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return [...bytes, value];
}

/** @param {ArrayLike<number>[]} parts */
export function joined(parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
