/**
 * Numbers and tokens as text.
 *
 * Maps show three significant figures, the inspector the shortest text that names one float32 and
 * no other. On screen the minus is U+2212, as wide as a digit; files keep the ASCII sign.
 */

const minus = '−';

/** @param {string} text */
const typeset = (text) => text.replaceAll('-', minus);

/**
 * @param {number} value
 * @returns {string | undefined} the word for a value that has no digits
 */
function word(value) {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '∞';
  if (value === -Infinity) return `${minus}∞`;
  return undefined;
}

/**
 * The entropy of n equal weights, in nats: shown beside entropies of the core, never computed with.
 * @param {number} n
 */
export const evenEntropy = (n) => Math.log(n);

/**
 * Three significant figures without trailing zeros: 0.42, −12.3, 1.23e−5, 4.56e+6.
 * @param {number} value
 * @returns {string}
 */
export function short(value) {
  const special = word(value);
  if (special) return special;
  const rounded = Number(value.toPrecision(3));
  const size = Math.abs(rounded);
  const plain = size === 0 || (size >= 1e-3 && size < 1e5);
  return typeset(plain ? String(rounded) : rounded.toExponential());
}

/**
 * The shortest decimal that reads back as the same float32, in ASCII.
 * @param {number} value a float32
 * @returns {string}
 */
export function float32(value) {
  if (!Number.isFinite(value)) return String(value);
  if (Object.is(value, -0)) return '-0';
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return String(rounded);
  }
  return String(Number(value.toPrecision(9)));
}

/**
 * The whole float32 for the screen.
 * @param {number} value a float32
 * @returns {string}
 */
export function full(value) {
  return word(value) ?? typeset(float32(value));
}

const odd = new Map([
  ['nan', NaN],
  ['inf', Infinity],
  ['infinity', Infinity],
  ['∞', Infinity],
]);

/**
 * Reads a number as people type it: either minus sign, full-width digits, inf and nan.
 * @param {string} text
 * @returns {number | 'number' | 'float32'} the float32, or which error of `strings.errors` it is
 */
export function parse(text) {
  const plain = text.normalize('NFKC').trim().replaceAll(minus, '-').toLowerCase();
  const [, sign, rest] = /** @type {RegExpMatchArray} */ (plain.match(/^([+-]?)(.*)$/s));
  const named = odd.get(rest);
  if (named !== undefined) return sign === '-' ? -named : named;
  if (!/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(rest)) return 'number';
  const value = Math.fround(Number(plain));
  return Number.isFinite(value) ? value : 'float32';
}

/**
 * Puts values into the `{places}` of a sentence.
 * @param {string} sentence
 * @param {Record<string, string | number>} values
 * @returns {string}
 */
export function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
}

/** @param {Iterable<number>} bytes */
const hex = (bytes, digits = 2) =>
  `<${Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(digits, '0')).join(' ')}>`;

/** @type {Record<string, string>} */
const signs = { '\n': '↵', '\r': '↵', '\t': '⇥', ' ': '␣', '\u3000': '␣' };

/**
 * The visible name of a token. A tokeniser that works on bytes or UTF-16 units may cut a sign in
 * two; the parts that are no text are shown as their bytes, `<E6 AD>`, never as U+FFFD. White space
 * at the edges gets a sign, since a label of blanks says nothing.
 * @param {string | Uint8Array} token
 * @returns {string}
 */
export function tokenLabel(token) {
  const text = typeof token === 'string' ? fromUnits(token) : fromBytes(token);
  return text.replace(/^\s+|\s+$/g, (blanks) =>
    blanks.replace(/\s/g, (blank) => signs[blank] ?? '␣'),
  );
}

/** @param {string} token */
function fromUnits(token) {
  return token.replace(/\p{Cs}|\uFFFD|[\u0000-\u0008\u000E-\u001F\u007F]/gu, (unit) =>
    unit === '\uFFFD' ? '<EF BF BD>' : hex([unit.charCodeAt(0)], unit < '\u0080' ? 2 : 4),
  );
}

/** @param {Uint8Array} bytes */
function fromBytes(bytes) {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let label = '';
  let broken = /** @type {number[]} */ ([]);
  for (let at = 0; at < bytes.length; ) {
    const length = signLength(bytes[at]);
    let sign;
    try {
      sign = decoder.decode(bytes.subarray(at, at + length));
    } catch {
      broken.push(bytes[at++]);
      continue;
    }
    if (broken.length) label += hex(broken);
    broken = [];
    label += fromUnits(sign);
    at += length;
  }
  return broken.length ? label + hex(broken) : label;
}

/**
 * @param {number} first the first byte of a UTF-8 sign
 * @returns {number} how many bytes the sign has
 */
function signLength(first) {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}
