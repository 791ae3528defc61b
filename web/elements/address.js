/**
 * Where this script was loaded from, and the addresses made from it: the page that shows a state, and
 * the code that puts it into another page.
 */

const script =
  document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : '';

/** @param {string} file of the folder this script came from */
function beside(file) {
  try {
    return new URL(file, script || location.href).href;
  } catch {
    return file;
  }
}

/** @param {string} hash */
export function pageLink(hash) {
  return beside('index.html') + hash;
}

/**
 * @param {string} hash
 * @param {string | null} controls
 * @param {string} language
 */
export function embedCode(hash, controls, language) {
  const state = hash ? ` state="${hash}"` : '';
  const shown = controls ?? 'tokens masks heads';
  return [
    `<script src="${beside('attention-playground.js')}"></script>`,
    `<attention-playground lesson="multi-head"${state} controls="${shown}" lang="${language}"></attention-playground>`,
  ].join('\n');
}
