/**
 * Undo and redo: a line of states and where one stands on it.
 *
 * Steps that belong together, such as the frames of one drag or the letters of one word, share a key
 * and become one step when they follow within a second.
 */

/** @typedef {import('./state.js').State} State */

/**
 * @typedef {object} History
 * @property {readonly State[]} states
 * @property {number} at index of the present state
 * @property {string} key of the last step, '' when the next one stands alone
 * @property {number} time of the last step, in milliseconds
 */

const TOGETHER_MS = 1000;
const MAX_STATES = 500;

/**
 * @param {State} state
 * @returns {History}
 */
export function startHistory(state) {
  return { states: [state], at: 0, key: '', time: 0 };
}

/** @param {History} history */
export function present(history) {
  return history.states[history.at];
}

/**
 * @param {History} history
 * @param {State} state
 * @param {string} key '' for a step of its own
 * @param {number} time
 * @returns {History}
 */
export function step(history, state, key, time) {
  const joins = key !== '' && key === history.key && time - history.time < TOGETHER_MS;
  const kept = history.states.slice(0, history.at + (joins ? 0 : 1)).slice(1 - MAX_STATES);
  return { states: [...kept, state], at: kept.length, key, time };
}

/**
 * Replaces the present state without a step: a glance rather than an action.
 * @param {History} history
 * @param {State} state
 * @returns {History}
 */
export function amend(history, state) {
  const states = history.states.slice();
  states[history.at] = state;
  return { ...history, states };
}

/** @param {History} history */
export function canUndo(history) {
  return history.at > 0;
}

/** @param {History} history */
export function canRedo(history) {
  return history.at < history.states.length - 1;
}

/**
 * @param {History} history
 * @param {-1 | 1} by
 * @returns {History}
 */
export function travel(history, by) {
  const at = Math.min(Math.max(history.at + by, 0), history.states.length - 1);
  return { ...history, at, key: '', time: 0 };
}
