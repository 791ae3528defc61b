/** How far training is, as words. */
import { fill, short } from '../../draw/format.js';

/** @typedef {import('../../i18n/index.js').Strings['training']} Words */

/**
 * @param {Words} words
 * @param {{ step: number, steps: number, perEpoch: number }} run
 */
export function progressWords(words, { step, steps, perEpoch }) {
  const epochs = Math.ceil(steps / perEpoch);
  const epoch = Math.ceil(step / perEpoch);
  return fill(step > steps ? words.beyond : words.progress, { epoch, epochs, step, steps });
}

/**
 * Where a step lies among the epochs.
 * @param {Words} words
 * @param {number} step
 * @param {number} perEpoch
 */
export function epochWords(words, step, perEpoch) {
  if (step === 0) return words.initial;
  const epoch = Math.ceil(step / perEpoch);
  const within = step - (epoch - 1) * perEpoch;
  return fill(within === perEpoch ? words.epoch : words.within, { epoch, step: within, perEpoch });
}

/**
 * @param {Words} words
 * @param {{ stepsPerSecond: number, tokensPerSecond: number }} run
 */
export function speedWords(words, { stepsPerSecond, tokensPerSecond }) {
  return fill(words.speed, { steps: short(stepsPerSecond), tokens: rounded(tokensPerSecond) });
}

/**
 * A time that is rounded more the longer it is: it counts down without flicker.
 * @param {Words} words
 * @param {number} seconds
 */
export function timeWords(words, seconds) {
  if (!Number.isFinite(seconds)) return '…';
  if (seconds < 60) return fill(words.seconds, { seconds: Math.ceil(seconds) });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return fill(words.minutes, { minutes, seconds: Math.floor((seconds % 60) / 5) * 5 });
  }
  return fill(words.hours, { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

/** Two significant figures, written out: 12000. @param {number} value */
function rounded(value) {
  return String(Math.round(Number(value.toPrecision(2))));
}
