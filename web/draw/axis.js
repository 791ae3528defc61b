/**
 * Axes: where a value stands, and the few round numbers written beside it.
 *
 *   linear   from + (value − low) ÷ (high − low) · (to − from)        ticks at 1, 2 or 5 · 10ⁿ
 *   log      the same of the logarithms; what is not above 0 has no place there
 */

/**
 * @typedef {object} Axis
 * @property {number} low value at the start
 * @property {number} high value at the end, above low
 * @property {number} from where the start is, in CSS pixels
 * @property {number} to where the end is
 * @property {boolean} [log]
 */

/**
 * @param {Axis} axis
 * @param {number} value
 * @returns {number} NaN where the axis has no place for it
 */
export function placeOf({ low, high, from, to, log = false }, value) {
  const part = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Number.isFinite(part) ? from + part * (to - from) : NaN;
}

/**
 * @param {Axis} axis not a logarithmic one
 * @param {number} place
 */
export function valueAt({ low, high, from, to }, place) {
  return low + ((place - from) / (to - from)) * (high - low);
}

/**
 * Round numbers from low to high.
 * @param {Pick<Axis, 'low' | 'high' | 'log'>} axis
 * @param {number} most how many there is room for, at least 1
 * @returns {number[]}
 */
export function ticks({ low, high, log = false }, most) {
  return log ? logTicks(low, high, most) : linearTicks(low, high, most);
}

/**
 * Multiples of 1, 2 or 5 · 10ⁿ: the densest that are few enough, but at least one.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
function linearTicks(low, high, most) {
  const power = 10 ** Math.floor(Math.log10((high - low) / most));
  /** @type {number[]} */
  let found = [];
  for (const digit of [10, 5, 2, 1, 0.5]) {
    const finer = multiples(digit * power, low, high);
    if (found.length > 0 && finer.length > most) break;
    found = finer;
  }
  return found;
}

/**
 * @param {number} unit
 * @param {number} low
 * @param {number} high
 */
function multiples(unit, low, high) {
  const first = Math.ceil(low / unit - 1e-9);
  const count = Math.floor(high / unit + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, at) => Number(((first + at) * unit).toPrecision(12)));
}

/**
 * Powers of ten, thinned where they are many, with 2 and 5 between them where they are few.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
function logTicks(low, high, most) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const every = Math.max(1, Math.ceil((last - first) / most));
  const inside = (/** @type {number[]} */ digits) => {
    const found = [];
    for (let power = first; power <= last; power++) {
      if (power % every !== 0) continue;
      for (const digit of digits) found.push(Number(`${digit}e${power}`));
    }
    return found.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  };
  const rich = [[1, 2, 5], [1, 3], [1]].map(inside).find(({ length }) => length <= most);
  if (rich && rich.length > 1) return rich;
  const found = inside([1, 2, 5]).slice(0, most);
  return found.length > 1 ? found : linearTicks(low, high, most);
}
