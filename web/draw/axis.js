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
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
function linearTicks(low, high, most) {
  const least = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const unit = [1, 2, 5, 10].map((digit) => digit * power).find((unit) => unit >= least) ?? least;
  const start = Math.ceil(low / unit - 1e-9);
  const count = Math.floor(high / unit + 1e-9) - start + 1;
  return Array.from({ length: count }, (_, at) => Number(((start + at) * unit).toPrecision(12)));
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
