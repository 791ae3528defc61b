/**
 * The border seen from JavaScript: one WebAssembly instance, its memory and its tape.
 *
 * The core describes itself (describe() in abi.c): option structs, choices, status codes and the layout
 * of a tensor come from there. Pointers are plain numbers here. Memory may grow in any call, so a view
 * of it is made where it is used and never kept; what leaves an engine is a copy.
 */

import { AttentionError, show } from './error.js';
import { checkOverride, overridesOf } from './override.js';
import { SCALAR_MARK } from './scalar.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {number} Pointer  0 is NULL */
/** @typedef {{ size: number, fields: Record<string, [number, string]> }} StructLayout */
/**
 * @typedef {object} Layout
 * @property {Record<string, number>} status
 * @property {Record<string, string[]>} choices
 * @property {Record<string, number>} reasons
 * @property {Record<string, number>} rowFlags
 * @property {Record<string, StructLayout>} structs
 */
/** @typedef {import('./override.js').Override} Override */
/**
 * @typedef {object} TensorInfo
 * @property {string} name
 * @property {number[]} shape
 * @property {string[]} axes  letters: B, h, Tq, Tk, T, D, H, …
 * @property {string} op  what computed it
 * @property {string[]} inputs  names of its sources
 * @property {number | null} sumsToOne  the axis along which it sums to 1
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Named here, since the types of the library ask for nothing that only the Web's declare.
 * @typedef {ArrayBuffer | ArrayBufferView<ArrayBuffer>} Bytes
 * @typedef {object} Module  a WebAssembly.Module
 */

/**
 * @param {Bytes} bytes
 * @param {string} from  where they come from, for messages
 * @returns {Promise<Module>}
 */
export async function compile(bytes, from) {
  if (!(bytes instanceof ArrayBuffer) && !ArrayBuffer.isView(bytes)) {
    throw new AttentionError('BAD_VALUE', `wasm ${show(bytes)} must be bytes or an address`, {
      option: 'wasm',
    });
  }
  const start = decoder.decode(
    ArrayBuffer.isView(bytes)
      ? new Uint8Array(bytes.buffer, bytes.byteOffset, Math.min(64, bytes.byteLength))
      : new Uint8Array(bytes, 0, Math.min(64, bytes.byteLength)),
  );
  if (/^\s*<(!doctype|html|!--|\?xml)/i.test(start)) {
    throw new AttentionError('BAD_WASM', `HTML, not WebAssembly, at ${from}`);
  }
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    if (/Content Security Policy|blocked by CSP/i.test(String(cause))) {
      throw new AttentionError(
        'BAD_WASM',
        "The page's Content Security Policy forbids WebAssembly; script-src needs 'wasm-unsafe-eval'",
        { cause },
      );
    }
    const what = start.startsWith('\0asm') ? 'The WebAssembly is damaged' : 'Not WebAssembly';
    throw new AttentionError('BAD_WASM', `${what} (${bytes.byteLength} bytes) at ${from}`, {
      cause,
    });
  }
}

/**
 * Reads a .wasm file from an address: http(s) and blob everywhere, file under Node.
 * @param {string | URL} address
 * @returns {Promise<ArrayBuffer | Uint8Array>}
 */
export async function load(address) {
  const url = String(address);
  if (url.startsWith('file:') && !('document' in globalThis)) {
    const module = 'node:fs/promises'; // a variable, so that bundlers for the web leave it alone
    const { readFile } = await import(/* @vite-ignore */ module);
    return readFile(new URL(url)).catch((/** @type {Error} */ cause) => {
      throw new AttentionError('BAD_WASM', `No WebAssembly at ${url}: ${cause.message}`, { cause });
    });
  }
  /** @type {Response} */
  let response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw new AttentionError('BAD_WASM', `No WebAssembly at ${url}: the request failed`, { cause });
  }
  if (!response.ok) {
    throw new AttentionError('BAD_WASM', `No WebAssembly at ${url}: status ${response.status}`);
  }
  return response.arrayBuffer();
}

/** One instance of the core with its tape. */
export class Core {
  /** @type {any} */
  #exports;
  /** @type {Module} */
  #module;
  /** Tensors of a model that lives here, which a new instance would not hold. @type {number | null} */
  #kept = null;
  /** What stopped the core with a model in it. @type {unknown} */
  #lost;
  #recording = false;
  /** @type {Layout} */
  layout;

  /** @param {Module} module */
  constructor(module) {
    this.#module = module;
    this.#instantiate();
    this.layout = JSON.parse(this.#text(this.#exports.describe()));
    this.#exports.reset();
  }

  #instantiate() {
    try {
      this.#exports = new WebAssembly.Instance(this.#module, {}).exports;
      this.#exports.reset();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new AttentionError('BAD_WASM', `This is not the core's WebAssembly: ${reason}`, {
        cause,
      });
    }
  }

  /** Bytes of its memory, which never shrinks. */
  get memory() {
    return this.#exports.memory.buffer.byteLength;
  }

  get simd() {
    return WebAssembly.Module.customSections(this.#module, SCALAR_MARK).length === 0;
  }

  get module() {
    return this.#module;
  }

  /** @returns {{ hash: number, answer: number }}  unsigned; equal when this machine computes right */
  loadTest() {
    const { load_test, load_test_answer } = this.#exports;
    return { hash: load_test() >>> 0, answer: load_test_answer() >>> 0 };
  }

  /** @returns {number}  unsigned, the same on every machine that computes right */
  selfTest() {
    return this.#exports.self_test() >>> 0;
  }

  /**
   * Drops the tape and computes a new one; after a failure it is empty.
   * @template T
   * @param {Override[] | undefined} overrides  of its tensors
   * @param {() => T} compute
   * @returns {T}
   */
  record(overrides, compute) {
    const list = overridesOf(overrides).map(checkOverride);
    if (this.#recording) {
      throw new AttentionError(
        'BAD_VALUE',
        'this call came in the middle of another one of the same engine or model, which read its options',
      );
    }
    if (this.#lost) {
      throw new AttentionError(
        'TRAP',
        'the core stopped and this model with it; create it anew and load what was saved',
        { cause: this.#lost },
      );
    }
    this.#exports.reset();
    this.#recording = true;
    try {
      for (const { name, at, value } of list) {
        const indices = Int32Array.from(at, (index) => index ?? -1);
        this.call('override', this.text(name), at.length, this.bytes(indices), value);
      }
      const result = compute();
      this.call('overrides_check');
      return result;
    } catch (error) {
      this.#exports.reset();
      throw error;
    } finally {
      this.#recording = false;
    }
  }

  /**
   * Calls an export and turns a failure into an error. A trap starts a new instance.
   * @param {string} name
   * @param {...number} args
   * @returns {number}
   */
  call(name, ...args) {
    let result;
    try {
      result = this.#exports[name](...args);
    } catch (cause) {
      if (this.#kept !== null) this.#lost = cause;
      this.#instantiate();
      throw new AttentionError('TRAP', `the core stopped in ${name} and was started anew`, {
        cause,
      });
    }
    if (this.#exports.status() !== 0) {
      const status = this.#exports.status();
      const message = this.#text(this.#exports.message());
      const option = this.#text(this.#exports.option()) || undefined;
      const codes = Object.entries(this.layout.status);
      const code = codes.find(([, value]) => value === status)?.[0] ?? 'TRAP';
      throw new AttentionError(code, message, { option });
    }
    return result;
  }

  /** What the tape holds now stays: the parameters of a model. */
  keep() {
    this.call('keep');
    this.#kept = this.tensors().length;
  }

  // ---- into the core ---------------------------------------------------------------------------

  /**
   * @param {ArrayBufferView} view
   * @returns {Pointer}
   */
  bytes(view) {
    const pointer = this.call('take', view.byteLength);
    new Uint8Array(this.#exports.memory.buffer, pointer, view.byteLength).set(
      new Uint8Array(view.buffer, view.byteOffset, view.byteLength),
    );
    return pointer;
  }

  /**
   * @param {string} text
   * @returns {Pointer}  UTF-8, ended by 0
   */
  text(text) {
    return this.bytes(encoder.encode(`${text.replaceAll('\0', '')}\0`));
  }

  /**
   * @param {number[]} shape
   * @param {string[]} axes
   * @returns {{ rank: number, shape: Pointer, axes: Pointer }}
   */
  shape(shape, axes) {
    return {
      rank: shape.length,
      shape: this.bytes(Int32Array.from(shape)),
      axes: this.bytes(Int32Array.from(shape, (_, i) => this.text(axes[i] ?? 'T'))),
    };
  }

  /**
   * @param {string} name
   * @param {Tensor} tensor
   * @param {string[]} axes
   * @returns {Pointer}
   */
  input(name, tensor, axes) {
    const { rank, shape, axes: letters } = this.shape(tensor.shape, axes);
    const pointer = this.call('input', this.text(name), rank, shape, letters);
    this.#data(pointer).set(tensor.data);
    return this.call('input_ready', pointer);
  }

  /**
   * Texts one after the other, for the struct `texts`.
   * @param {string[]} texts
   * @returns {Pointer}
   */
  texts(texts) {
    const encoded = texts.map((text) => encoder.encode(text));
    const lengths = Int32Array.from(encoded, (bytes) => bytes.length);
    const joined = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
    let at = 0;
    for (const bytes of encoded) {
      joined.set(bytes, at);
      at += bytes.length;
    }
    return this.struct('texts', {
      bytes: this.bytes(joined),
      lengths: this.bytes(lengths),
      count: texts.length,
    });
  }

  /**
   * A struct of the core with its defaults, then these values.
   * @param {string} name
   * @param {Record<string, any>} values  nested for nested structs
   * @returns {Pointer}
   */
  struct(name, values) {
    const { size } = this.layout.structs[name];
    const pointer = this.bytes(new Uint8Array(size));
    this.#exports[name]?.(pointer);
    this.#write(pointer, name, values);
    return pointer;
  }

  /**
   * @param {Pointer} pointer
   * @param {string} name
   * @param {Record<string, any>} values
   */
  #write(pointer, name, values) {
    const { fields } = this.layout.structs[name];
    const view = new DataView(this.#exports.memory.buffer);
    for (const [key, value] of Object.entries(values)) {
      if (value === undefined) continue;
      const [offset, kind] = fields[key];
      const at = pointer + offset;
      if (kind.startsWith('struct:')) this.#write(at, kind.slice(7), value);
      else if (kind.startsWith('choice:')) {
        view.setInt32(at, this.choice(kind.slice(7), value, key), true);
      } else if (kind === 'f32') view.setFloat32(at, value, true);
      else if (kind === 'u32') view.setUint32(at, value, true);
      else view.setInt32(at, value, true);
    }
  }

  /**
   * @param {string} list  the name of a list of choices
   * @param {unknown} value
   * @param {string} option  for messages
   * @returns {number}
   */
  choice(list, value, option) {
    const names = this.layout.choices[list];
    const index = names.indexOf(/** @type {string} */ (value));
    if (index >= 0) return index;
    throw new AttentionError(
      'BAD_VALUE',
      `${option} ${show(value)} is unknown; it must be one of ${names.join(', ')}`,
      { option },
    );
  }

  // ---- out of the core -------------------------------------------------------------------------

  /** @param {Pointer} pointer */
  #text(pointer) {
    const memory = new Uint8Array(this.#exports.memory.buffer);
    return decoder.decode(memory.subarray(pointer, memory.indexOf(0, pointer)));
  }

  /**
   * @param {Pointer} tensor
   * @param {string} field
   * @param {number} [index]
   * @returns {number}
   */
  #field(tensor, field, index = 0) {
    const offset = this.layout.structs.tensor.fields[field][0];
    const view = new DataView(this.#exports.memory.buffer);
    return view.getInt32(tensor + offset + 4 * index, true);
  }

  /** @param {Pointer} tensor */
  #shape(tensor) {
    const rank = this.#field(tensor, 'rank');
    return Array.from({ length: rank }, (_, i) => this.#field(tensor, 'shape', i));
  }

  /**
   * @param {Pointer} tensor
   * @param {'data' | 'gradient'} [field]
   */
  #data(tensor, field = 'data') {
    const length = this.#shape(tensor).reduce((product, size) => product * size, 1);
    return new Float32Array(this.#exports.memory.buffer, this.#field(tensor, field), length);
  }

  /**
   * @param {Pointer} tensor
   * @returns {Tensor}  a copy
   */
  read(tensor) {
    return { shape: this.#shape(tensor), data: this.#data(tensor).slice() };
  }

  /**
   * Puts other numbers into a tensor of the tape.
   * @param {Pointer} tensor
   * @param {Float32Array} data
   */
  write(tensor, data) {
    this.#data(tensor).set(data);
  }

  /**
   * @param {Pointer} tensor
   * @returns {Tensor}  a copy of its gradient
   */
  gradient(tensor) {
    return { shape: this.#shape(tensor), data: this.#data(tensor, 'gradient').slice() };
  }

  /**
   * The state of a training: its steps and, a copy, its moments.
   * @param {Pointer} training
   */
  training(training) {
    return {
      steps: this.field(training, 'training', 'steps'),
      moments: this.#moments(training).slice(),
    };
  }

  /**
   * @param {Pointer} training
   * @param {{ steps: number, moments: Float32Array }} state
   */
  setTraining(training, { steps, moments }) {
    this.#moments(training).set(moments);
    this.#write(training, 'training', { steps });
  }

  /** @param {Pointer} training */
  #moments(training) {
    const [start, count] = ['moments', 'count'].map((name) =>
      this.field(training, 'training', name),
    );
    return new Float32Array(this.#exports.memory.buffer, start, 2 * count);
  }

  /**
   * A number in a struct of the core.
   * @param {Pointer} pointer
   * @param {string} struct
   * @param {string} field
   * @returns {number}
   */
  field(pointer, struct, field) {
    const [offset, kind] = this.layout.structs[struct].fields[field];
    const view = new DataView(this.#exports.memory.buffer);
    return kind === 'f32'
      ? view.getFloat32(pointer + offset, true)
      : view.getInt32(pointer + offset, true);
  }

  /**
   * @param {string} op
   * @returns {Map<string, Pointer>}  by name, every tensor that this operation wrote
   */
  written(op) {
    const pointers = new Map();
    for (const { tensor, name } of this.#tape()) {
      if (this.#text(this.#field(tensor, 'op')) === op) pointers.set(name, tensor);
    }
    return pointers;
  }

  /** The tensors in the order of computation. @returns {Generator<{ tensor: Pointer, name: string }>} */
  *#tape() {
    for (let tensor = this.#exports.first(); tensor; tensor = this.#field(tensor, 'next')) {
      yield { tensor, name: this.#text(this.#field(tensor, 'name')) };
    }
  }

  /**
   * @param {string} name
   * @returns {Pointer}  0 when the tape has no such tensor
   */
  find(name) {
    for (const found of this.#tape()) if (found.name === name) return found.tensor;
    return 0;
  }

  /**
   * @param {readonly string[] | 'all'} names
   * @returns {Record<string, Tensor>}  copies by name, without those that the tape lacks
   */
  values(names) {
    const wanted = [...this.#tape()].filter(({ name }) => names === 'all' || names.includes(name));
    return Object.fromEntries(wanted.map(({ tensor, name }) => [name, this.read(tensor)]));
  }

  /**
   * @param {string} name
   * @returns {Tensor}
   */
  tensor(name) {
    const pointer = this.find(name);
    if (pointer) return this.read(pointer);
    const names = this.tensors().map((tensor) => tensor.name);
    throw new AttentionError(
      'NOT_FOUND',
      names.length === 0
        ? `there is no tensor ${show(name)}: nothing has been computed yet`
        : `there is no tensor ${show(name)}; there are ${names.join(', ')}`,
    );
  }

  /** @returns {TensorInfo[]}  what the last pass computed that an override can reach; none when it failed */
  computed() {
    return this.tensors()
      .slice(this.#kept ?? 0)
      .filter(({ op }) => op !== 'decode');
  }

  /** @returns {TensorInfo[]}  in the order of computation */
  tensors() {
    const list = [];
    for (const { tensor, name } of this.#tape()) {
      const sum = this.#field(tensor, 'sum_axis');
      const shape = this.#shape(tensor);
      list.push({
        name,
        shape,
        axes: shape.map((_, i) => this.#text(this.#field(tensor, 'axes', i))),
        op: this.#text(this.#field(tensor, 'op')),
        inputs: Array.from({ length: this.#field(tensor, 'input_count') }, (_, i) =>
          this.#text(this.#field(this.#field(tensor, 'inputs', i), 'name')),
        ),
        sumsToOne: sum < 0 ? null : sum,
      });
    }
    return list;
  }
}
