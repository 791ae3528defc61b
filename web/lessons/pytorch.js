/** TODO */
/** @param {any} _state @param {any} _result @returns {string} */
export function toPyTorch(_state, _result) {
  return '';
}
