/**
 * The core without vector instructions, made of the one with them: a vector of 16 bytes becomes four
 * floats, an operation on it the same one lane by lane, so both give the same bits. It runs where SIMD
 * is absent or computes wrong.
 *
 * On the stack, in locals, parameters and results a vector is four floats, lane 0 first. An operation
 * moves its operands into locals of its own and leaves its result on the stack. Known are the operations
 * on lanes of 32 bits and what goes with them; any other is refused. Opcodes stand as numbers, with
 * their names beside them.
 */

import { immediates, joined, leb, Reader, VECTOR } from './instructions.js';

const [TYPES, FUNCTIONS, CODE] = [1, 3, 10];
const [V128, F32, I64, I32] = [0x7b, 0x7d, 0x7e, 0x7f];
const [LOOP, END, BR_IF, DROP, GET, SET] = [0x03, 0x0b, 0x0d, 0x1a, 0x20, 0x21];
const LANES = [0, 1, 2, 3];

/** The name of an empty section, by which whoever holds the module can tell what it is. */
export const SCALAR_MARK = 'scalar';

/** @typedef {number[]} Bytes */
/** @typedef {(...operands: Bytes[]) => Bytes} Operation  code of a result from code of the operands */

const get = (/** @type {number} */ local) => [GET, ...leb(local)];
const set = (/** @type {number} */ local) => [SET, ...leb(local)];
const small = (/** @type {number} */ integer) => [0x41, integer]; // i32.const, below 64
const ZERO = [0x43, 0, 0, 0, 0]; // f32.const 0
const asInteger = (/** @type {Bytes} */ lane) => [...lane, 0xbc]; // i32.reinterpret_f32
const asFloat = (/** @type {Bytes} */ lane) => [...lane, 0xbe]; // f32.reinterpret_i32
const asItIs = (/** @type {Bytes} */ lane) => lane;

/** @param {number} opcode @returns {Operation} */
const floats =
  (opcode) =>
  (...lanes) => [...lanes.flat(), opcode];

/** @param {number} opcode @returns {Operation} */
const integers =
  (opcode) =>
  (...lanes) =>
    asFloat([...lanes.flatMap((lane) => asInteger(lane)), opcode]);

/** All bits where it holds: 0 - it. @param {(lane: Bytes) => Bytes} as @param {number} opcode @returns {Operation} */
const comparison =
  (as, opcode) =>
  (...lanes) =>
    asFloat([...small(0), ...lanes.flatMap((lane) => as(lane)), opcode, 0x6b]);

/** v128.bitselect: b ^ ((a ^ b) & mask). @type {Operation} */
const bitselect = (a, b, mask) => integers(0x73)(integers(0x71)(integers(0x73)(a, b), mask), b);

/** What happens to each lane by itself: how many operands, and how. @type {Record<number, [number, Operation]>} */
const LANEWISE = {
  78: [2, integers(0x71)], // v128.and
  80: [2, integers(0x72)], // v128.or
  81: [2, integers(0x73)], // v128.xor
  82: [3, bitselect],
  174: [2, integers(0x6a)], // i32x4.add
  177: [2, integers(0x6b)], // i32x4.sub
  181: [2, integers(0x6c)], // i32x4.mul
  224: [1, floats(0x8b)], // f32x4.abs
  225: [1, floats(0x8c)], // f32x4.neg
  227: [1, floats(0x91)], // f32x4.sqrt
  228: [2, floats(0x92)], // f32x4.add
  229: [2, floats(0x93)], // f32x4.sub
  230: [2, floats(0x94)], // f32x4.mul
  231: [2, floats(0x95)], // f32x4.div
  234: [2, (a, b) => [...b, ...a, ...b, ...a, 0x5d, 0x1b]], // f32x4.pmin: b where b < a, else a
  235: [2, (a, b) => [...b, ...a, ...a, ...b, 0x5d, 0x1b]], // f32x4.pmax: b where a < b, else a
  250: [1, (a) => [...asInteger(a), 0xb2]], // f32x4.convert_i32x4_s
  251: [1, (a) => [...asInteger(a), 0xb3]], // f32x4.convert_i32x4_u
};
// i32x4.eq, ne, lt_s, lt_u, gt_s, gt_u, le_s, le_u, ge_s, ge_u; f32x4.eq, ne, lt, gt, le, ge
for (let at = 0; at < 10; at++) LANEWISE[55 + at] = [2, comparison(asInteger, 0x46 + at)];
for (let at = 0; at < 6; at++) LANEWISE[65 + at] = [2, comparison(asItIs, 0x5b + at)];

/**
 * The code of one function.
 * @param {Reader} reader  at its first instruction
 * @param {Bytes} locals  their types, parameters first
 * @param {boolean} yieldsVector
 * @param {number} vectorBlock  the type of a block that yields a vector
 */
function scalarCode(reader, locals, yieldsVector, vectorBlock) {
  /** @type {Bytes} */
  const code = [];
  const put = (/** @type {Iterable<number>[]} */ ...parts) => {
    for (const part of parts) for (const byte of part) code.push(byte);
  };
  let own = 0;
  const starts = locals.map((type) => {
    const start = own;
    own += type === V128 ? 4 : 1;
    return start;
  });
  // Behind them locals of our own: three operands, an integer, an integer of 64 bits.
  const [integer, long] = [own + 12, own + 13];

  const lane = (/** @type {number} */ operand, /** @type {number} */ at) =>
    get(own + 4 * operand + at);
  const each = (/** @type {(at: number) => Bytes} */ codeOf) => put(...LANES.map(codeOf));
  const setVector = (/** @type {number} */ start) => {
    for (const at of [3, 2, 1, 0]) put(set(start + at));
  };
  const pop = (/** @type {number} */ operands) => {
    while (operands > 0) setVector(own + 4 * --operands);
  };

  /** @param {(at: number, load: (distance: number) => Bytes) => Bytes} codeOf  of a lane */
  const loads = (codeOf) => {
    const offset = reader.access();
    put(set(integer));
    each((at) => codeOf(at, (distance) => [...get(integer), 0x2a, 0, ...leb(offset + distance)]));
  };
  const splat = () => {
    put(set(own));
    each(() => lane(0, 0));
  };
  const extract = () => {
    pop(1);
    put(lane(0, reader.byte()));
  };
  const replace = () => {
    const replaced = reader.byte();
    put(set(own + 4));
    pop(1);
    each((at) => (at === replaced ? lane(1, 0) : lane(0, at)));
  };
  const shift = (/** @type {number} */ opcode) => {
    put(set(integer));
    pop(1);
    each((at) => asFloat([...asInteger(lane(0, at)), ...get(integer), opcode]));
  };
  const extend = (/** @type {number} */ first) => {
    pop(1);
    put(lane(0, first), ZERO, lane(0, first + 1), ZERO);
  };
  const long32 = (/** @type {number} */ operand, /** @type {number} */ at) => [
    ...asInteger(lane(operand, at)),
    0xad, // i64.extend_i32_u
  ];
  const long64 = (/** @type {number} */ operand, /** @type {number} */ at) => [
    ...long32(operand, at),
    ...long32(operand, at + 1),
    ...[0x42, 32, 0x86, 0x84], // i64.const 32, i64.shl, i64.or
  ];
  /** @param {typeof long32} factor @param {[number, number]} places */
  const products = (factor, places) => {
    pop(2);
    for (const at of places) {
      put(factor(0, at), factor(1, at), [0x7e], set(long)); // i64.mul
      put(get(long), asFloat([0xa7]), get(long), [0x42, 32, 0x88], asFloat([0xa7])); // its halves
    }
  };
  /** A byte of two operands, moved to its place in a lane. */
  const byteAt = (/** @type {number} */ from, /** @type {number} */ to) => [
    ...asInteger(lane(from >> 4, (from >> 2) & 3)),
    ...[...small(8 * (from & 3)), 0x76, 0x41, 0xff, 0x01, 0x71], // i32.shr_u, i32.and 255
    ...[...small(8 * to), 0x74], // i32.shl
  ];
  /** Whole lanes move as they are. @param {Bytes} from  which four bytes */
  const shuffled = (from) =>
    from.every((byte, to) => byte === (from[0] & ~3) + to)
      ? lane(from[0] >> 4, (from[0] >> 2) & 3)
      : asFloat(from.flatMap((byte, to) => [...byteAt(byte, to), ...(to ? [0x72] : [])])); // i32.or

  /** @type {Record<number, () => void>} */
  const others = {
    // v128.load, v128.load32_splat, v128.load32_zero, v128.load64_zero
    0: () => loads((at, load) => load(4 * at)),
    9: () => loads((_, load) => load(0)),
    92: () => loads((at, load) => (at < 1 ? load(0) : ZERO)),
    93: () => loads((at, load) => (at < 2 ? load(4 * at) : ZERO)),
    // v128.load32_lane, v128.store32_lane, which newer compilers use
    86: () => {
      const offset = reader.access();
      const loaded = reader.byte();
      pop(1);
      put(set(integer));
      each((at) => (at === loaded ? [...get(integer), 0x2a, 0, ...leb(offset)] : lane(0, at)));
    },
    90: () => {
      const offset = reader.access();
      pop(1);
      put(lane(0, reader.byte()), [0x38, 0, ...leb(offset)]);
    },
    // v128.store
    11: () => {
      const offset = reader.access();
      pop(1);
      put(set(integer));
      each((at) => [...get(integer), ...lane(0, at), 0x38, 0, ...leb(offset + 4 * at)]);
    },
    // v128.const
    12: () => each(() => [0x43, ...reader.take(4)]),
    // i8x16.shuffle
    13: () => {
      pop(2);
      each(() => shuffled([...reader.take(4)]));
    },
    // i32x4.splat, f32x4.splat
    17: () => {
      put([0xbe]);
      splat();
    },
    19: splat,
    // i32x4.extract_lane, f32x4.extract_lane
    27: () => {
      extract();
      put([0xbc]);
    },
    31: extract,
    // i32x4.replace_lane, f32x4.replace_lane
    28: () => {
      put([0xbe]);
      replace();
    },
    32: replace,
    // v128.any_true
    83: () => {
      pop(1);
      each((at) => [...asInteger(lane(0, at)), ...(at ? [0x72] : [])]); // i32.or
      put(small(0), [0x47]); // i32.ne
    },
    // i32x4.shl, shr_s, shr_u
    171: () => shift(0x74),
    172: () => shift(0x75),
    173: () => shift(0x76),
    // i64x2.extend_low_i32x4_u, extend_high_i32x4_u, mul, extmul_low_i32x4_u, extmul_high_i32x4_u
    201: () => extend(0),
    202: () => extend(2),
    213: () => products(long64, [0, 2]),
    222: () => products(long32, [0, 1]),
    223: () => products(long32, [2, 3]),
  };

  const vector = (/** @type {number} */ opcode) => {
    const [operands, operation] = LANEWISE[opcode] ?? [];
    if (operation) {
      pop(operands);
      each((at) => operation(...LANES.slice(0, operands).map((operand) => lane(operand, at))));
    } else if (others[opcode]) {
      others[opcode]();
    } else {
      throw new RangeError(`the vector instruction ${opcode} has no scalar form`);
    }
  };

  // What a branch takes along, it leaves on the stack where it is not taken, for a drop.
  const labels = [yieldsVector];
  let left = false;
  while (reader.more) {
    const start = reader.at;
    const opcode = reader.opcode();
    const kinds = immediates(opcode);
    const vectorType = kinds === 't' && reader.bytes[reader.at] === V128;
    if (kinds === 't') labels.push(vectorType && opcode !== LOOP);
    if (opcode === END) labels.pop();
    if (opcode >= VECTOR) {
      vector(opcode - VECTOR);
    } else if (opcode === DROP && left) {
      each(() => [DROP]);
    } else if (vectorType) {
      reader.byte();
      put([opcode, ...leb(vectorBlock)]);
    } else if (kinds === 'l') {
      const local = reader.number();
      if (locals[local] !== V128) put([opcode, ...leb(starts[local])]);
      else {
        if (opcode !== GET) setVector(starts[local]);
        if (opcode !== SET) each((at) => get(starts[local] + at));
      }
    } else {
      for (const kind of kinds) reader.skip(kind);
      put(reader.bytes.subarray(start, reader.at));
    }
    left = opcode === BR_IF && labels[labels.length - 1 - reader.bytes[start + 1]];
  }
  return code;
}

const widened = (/** @type {Bytes} */ types) =>
  types.flatMap((type) => (type === V128 ? LANES.map(() => F32) : [type]));

/** @param {ArrayLike<number>[]} entries  a list of them, behind their count */
const list = (entries) => joined([leb(entries.length), ...entries]);
/** @param {ArrayLike<number>} bytes  behind their count */
const counted = (bytes) => joined([leb(bytes.length), bytes]);

/**
 * @param {Uint8Array} wasm
 * @returns {Uint8Array<ArrayBuffer>}  a module that exports the same, without vector instructions
 */
export function scalarTwin(wasm) {
  const reader = new Reader(wasm);
  const parts = [reader.take(8)];
  /** @type {{ from: Bytes, to: Bytes }[]} */
  let types = [];
  /** @type {number[]} */
  let functions = [];

  /** @param {Reader} section */
  const typeSection = (section) => {
    const typeList = () => [...section.take(section.number())];
    types = section.list(() => {
      section.byte();
      return { from: typeList(), to: typeList() };
    });
    const all = [...types, { from: [], to: [V128] }];
    return list(
      all.map(({ from, to }) => joined([[0x60], counted(widened(from)), counted(widened(to))])),
    );
  };
  /** @param {number} type @param {Reader} body */
  const functionBody = (type, body) => {
    const { from, to } = types[type];
    const groups = body.list(() => Array(body.number()).fill(body.byte()));
    const locals = groups.flat();
    const code = scalarCode(body, [...from, ...locals], to[0] === V128, types.length);
    const now = [...widened(locals), ...Array(12).fill(F32), I32, I64];
    return counted(joined([list(now.map((each) => [1, each])), code]));
  };

  while (reader.more) {
    const start = reader.at;
    const id = reader.byte();
    const section = reader.part();
    if (id === FUNCTIONS) functions = section.list(() => section.number());
    if (id === TYPES) parts.push(joined([[id], counted(typeSection(section))]));
    else if (id === CODE) {
      section.number();
      const bodies = functions.map((type) => functionBody(type, section.part()));
      parts.push(joined([[id], counted(list(bodies))]));
    } else parts.push(wasm.subarray(start, reader.at));
  }
  parts.push(
    joined([[0], counted(counted(Array.from(SCALAR_MARK, (each) => each.charCodeAt(0))))]),
  );
  return joined(parts);
}
