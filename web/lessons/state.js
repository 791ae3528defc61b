/**
 * The state of a figure and the link that names it.
 *
 * A lesson declares its state as one table of fields: name → { type, default, limits, … }. The table
 * drives the controls, reset, undo and the link. A state is a plain object with one value a field.
 *
 *   link = '#v1.' + base64url(deflate(JSON of the fields that differ from their defaults))
 *
 * A link comes from anywhere, so reading one trusts nothing: at most 8 KiB go in and 64 KiB come out of
 * the inflater, only names in the table are looked at, and each value must pass the check of its
 * field's type. What does not pass keeps its default and is named in `problems`. The deflate stream
 * is the one with a checksum: a link that lost its end is told apart from one that is whole.
 */

const PREFIX = '#v1.';
const MAX_LINK = 8192;
const MAX_INFLATED = 65536;

/**
 * @typedef {object} Field
 * @property {keyof typeof types} type
 * @property {any} default
 * @property {string} [control] the control group that shows it
 * @property {boolean} [linked] false: not part of the link
 * @property {boolean} [view] true: how numbers are shown, no number depends on it
 * @property {boolean} [undoable] false: a glance, such as the cell looked at, not an action
 * @property {readonly (string | number)[]} [choices] of a choice; of edits, the names that can be edited
 * @property {readonly string[]} [words] words a number field takes instead of a number
 * @property {number} [min] smallest number, or number of items or letters
 * @property {number} [max] largest number, or number of items or letters
 * @property {readonly (readonly number[])[]} [box] the smallest and the largest place of a point
 *
 * @typedef {Record<string, Field>} Table
 * @typedef {Record<string, any>} State
 * @typedef {{ code: 'broken' | 'too-long' | 'version' } | { code: 'field', name: string }} Problem
 * @typedef {{ name: string, at: number[], value: number }} Edit
 */

/**
 * Whether a page's address points at a part of the page, as `#section-2` does, and says nothing of a
 * figure. What cannot even be decoded is no name of a part but a broken link.
 * @param {string} hash
 */
export function isAnchor(hash) {
  if (hash === '' || /^#v\d+\./.test(hash)) return false;
  try {
    decodeURIComponent(hash);
    return true;
  } catch {
    return false;
  }
}

/** The longest token, in UTF-16 units. */
export const MAX_TOKEN = 48;

/** @param {unknown} value @param {Pick<Field, 'min' | 'max'>} limits */
function inRange(value, { min = -Infinity, max = Infinity }) {
  return typeof value === 'number' && value >= min && value <= max;
}

/** @param {unknown} value @param {Field} field */
function isWord(value, { words = [] }) {
  return typeof value === 'string' && words.includes(value);
}

/** @param {unknown} value @param {number} max */
function isIndex(value, max) {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < max;
}

/** @param {unknown} value */
function isName(value) {
  return typeof value === 'string' && /^[a-z][\w./]{0,79}$/.test(value);
}

/**
 * Numbers that JSON has no sign for travel as words.
 * @param {number | string} value
 */
function packNumber(value) {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : String(value);
}

/** @param {unknown} value @returns {unknown} */
function unpackNumber(value) {
  const words = ['-0', 'NaN', 'Infinity', '-Infinity'];
  return typeof value === 'string' && words.includes(value) ? Number(value) : value;
}

/**
 * What a value of each type may be; `pack` and `unpack` where JSON cannot carry it as it is.
 * @type {Record<string, {
 *   valid: (value: any, field: Field) => boolean,
 *   pack?: (value: any) => unknown,
 *   unpack?: (value: any) => unknown,
 * }>}
 */
export const types = {
  choice: { valid: (value, field) => (field.choices ?? []).includes(value) },
  flag: { valid: (value) => typeof value === 'boolean' },
  integer: {
    valid: (value, field) =>
      isWord(value, field) || (Number.isInteger(value) && inRange(value, field)),
  },
  number: {
    valid: (value, field) => isWord(value, field) || inRange(value, field),
    pack: packNumber,
    unpack: unpackNumber,
  },
  tokens: {
    valid: (value, field) =>
      Array.isArray(value) &&
      inRange(value.length, field) &&
      value.every((item) => typeof item === 'string' && item !== '' && item.length <= MAX_TOKEN),
  },
  text: { valid: (value, field) => typeof value === 'string' && inRange(value.length, field) },
  /** A name of a tensor, or of a part of one. */
  name: { valid: isName },
  names: {
    valid: (value, field) =>
      Array.isArray(value) &&
      inRange(value.length, field) &&
      value.every((item, place) => isName(item) && value.indexOf(item) === place),
  },
  indexes: {
    valid: (value, field) =>
      Array.isArray(value) &&
      value.every((item, place) => isIndex(item, field.max ?? 0) && value.indexOf(item) === place),
  },
  /** One string of 0 and 1 for each query, 1 where the reader has closed the cell. */
  cells: {
    valid: (value, field) =>
      Array.isArray(value) &&
      inRange(value.length, field) &&
      value.every(
        (row) => typeof row === 'string' && row.length <= (field.max ?? 0) && !/[^01]/.test(row),
      ),
  },
  /** Places in a box: a pair of numbers each. */
  points: {
    valid: (value, { box: [low, high] = [], ...field }) =>
      Array.isArray(value) &&
      inRange(value.length, field) &&
      value.every(
        (point) =>
          Array.isArray(point) &&
          point.length === 2 &&
          point.every((place, axis) => inRange(place, { min: low?.[axis], max: high?.[axis] })),
      ),
  },
  /** A row and a column, or null. */
  cell: {
    valid: (value, field) =>
      value === null ||
      (Array.isArray(value) &&
        value.length === 2 &&
        value.every((place) => isIndex(place, field.max ?? 0))),
  },
  edits: {
    valid: (value, field) =>
      Array.isArray(value) &&
      value.every(
        (edit) =>
          edit !== null &&
          (field.choices?.includes(edit.name) ?? isName(edit.name)) &&
          Array.isArray(edit.at) &&
          edit.at.length <= 4 &&
          edit.at.every((/** @type {unknown} */ place) => isIndex(place, 4096)) &&
          typeof edit.value === 'number',
      ),
    pack: (/** @type {Edit[]} */ edits) =>
      edits.map(({ name, at, value }) => [name, at, packNumber(value)]),
    unpack: (value) =>
      Array.isArray(value)
        ? value.map((edit) =>
            Array.isArray(edit)
              ? { name: edit[0], at: edit[1], value: unpackNumber(edit[2]) }
              : null,
          )
        : value,
  },
};

/**
 * @param {Table} table
 * @returns {State}
 */
export function defaultState(table) {
  return Object.fromEntries(Object.entries(table).map(([name, field]) => [name, field.default]));
}

/**
 * @param {Field} field
 * @param {unknown} value
 */
export function isValid(field, value) {
  return types[field.type].valid(value, field);
}

/** @param {Field} field @param {unknown} value */
function packed(field, value) {
  return types[field.type].pack?.(value) ?? value;
}

/**
 * Whether two states name the same figure.
 * @param {Table} table
 * @param {State} a
 * @param {State} b
 * @param {(field: Field) => boolean} [counts] which fields to compare
 */
export function sameState(table, a, b, counts = () => true) {
  return Object.entries(table).every(
    ([name, field]) =>
      a[name] === b[name] ||
      !counts(field) ||
      JSON.stringify(packed(field, a[name])) === JSON.stringify(packed(field, b[name])),
  );
}

/**
 * @param {Table} table
 * @param {State} state
 * @returns {Promise<string>} '' for the defaults
 * @throws {RangeError} when the link would be longer, or unpack to more, than is read back
 */
export async function encodeState(table, state) {
  /** @type {Record<string, unknown>} */
  const different = {};
  for (const [name, field] of Object.entries(table)) {
    if (field.linked === false) continue;
    const value = packed(field, state[name]);
    if (JSON.stringify(value) !== JSON.stringify(packed(field, field.default))) {
      different[name] = value;
    }
  }
  if (Object.keys(different).length === 0) return '';
  const bytes = new TextEncoder().encode(JSON.stringify(different));
  if (bytes.length > MAX_INFLATED) {
    throw new RangeError(`the link would hold ${bytes.length} bytes, more than ${MAX_INFLATED}`);
  }
  const link = PREFIX + toBase64Url(await pump(bytes, new CompressionStream('deflate'), Infinity));
  if (link.length > MAX_LINK) {
    throw new RangeError(`the link would have ${link.length} characters, more than ${MAX_LINK}`);
  }
  return link;
}

/**
 * @param {Table} table
 * @param {string} link
 * @returns {Promise<{ state: State, problems: Problem[] }>} never rejects
 */
export async function decodeState(table, link) {
  const state = defaultState(table);
  if (link === '' || link === '#') return { state, problems: [] };
  if (!link.startsWith(PREFIX)) {
    const code = /^#v\d+\./.test(link) ? 'version' : 'broken';
    return { state, problems: [{ code }] };
  }
  if (link.length > MAX_LINK) return { state, problems: [{ code: 'too-long' }] };
  /** @type {unknown} */
  let found;
  try {
    const bytes = fromBase64Url(link.slice(PREFIX.length));
    const text = await pump(bytes, new DecompressionStream('deflate'), MAX_INFLATED);
    found = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text));
  } catch {
    return { state, problems: [{ code: 'broken' }] };
  }
  if (found === null || typeof found !== 'object' || Array.isArray(found)) {
    return { state, problems: [{ code: 'broken' }] };
  }
  return readFields(table, /** @type {Record<string, unknown>} */ (found));
}

/**
 * The state a lesson starts from when it is opened by a link. Fields that are not what they should be,
 * or do not fit the others, keep their defaults and are named.
 * @param {Pick<import('./index.js').Lesson, 'table' | 'defaults' | 'misfits' | 'settle'>} lesson
 * @param {string} link
 * @returns {Promise<{ state: State, code: 'broken' | 'too-long' | 'version' | null, names: string[] }>}
 *   never rejects; `code` says why nothing of the link could be read
 */
export async function openLink({ table, defaults, misfits, settle }, link) {
  const { state, problems } = await decodeState(table, link);
  let code = null;
  const names = misfits(state);
  for (const problem of problems) {
    if (problem.code === 'field') names.push(problem.name);
    else code = problem.code;
  }
  const fitting = Object.entries(state).map(([name, value]) => [
    name,
    names.includes(name) ? defaults[name] : value,
  ]);
  return { state: settle(Object.fromEntries(fitting)), code, names };
}

/**
 * Takes the fields of the table that `found` owns and that pass their check.
 * @param {Table} table
 * @param {Record<string, unknown>} found
 * @returns {{ state: State, problems: Problem[] }}
 */
export function readFields(table, found) {
  const state = defaultState(table);
  /** @type {Problem[]} */
  const problems = [];
  for (const name of Object.keys(found)) {
    const field = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!field || field.linked === false) {
      problems.push({ code: 'field', name: name.slice(0, 40) });
      continue;
    }
    const value = types[field.type].unpack?.(found[name]) ?? found[name];
    if (isValid(field, value)) state[name] = value;
    else problems.push({ code: 'field', name });
  }
  return { state, problems };
}

/**
 * Sends bytes through a (de)compression stream and collects what comes out, up to a limit.
 * @param {Uint8Array} bytes
 * @param {CompressionStream | DecompressionStream} stream
 * @param {number} limit
 */
async function pump(bytes, stream, limit) {
  const writer = stream.writable.getWriter();
  const fed = writer.write(/** @type {any} */ (bytes)).then(() => writer.close());
  fed.catch(() => {}); // the reader meets the same error
  const reader = stream.readable.getReader();
  /** @type {Uint8Array[]} */
  const chunks = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      reader.cancel().catch(() => {});
      throw new RangeError('the link unpacks to too much');
    }
    chunks.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** @param {Uint8Array} bytes */
function toBase64Url(bytes) {
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return text.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/** @param {string} text */
function fromBase64Url(text) {
  if (/[^\w-]/.test(text)) throw new SyntaxError('not base64url');
  const binary = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}
