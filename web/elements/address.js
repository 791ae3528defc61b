/**
 * The address of the page a figure stands in, and the code that puts what it shows into another page.
 */
import { defaultLesson } from '../lessons/index.js';

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

/**
 * This page, as the reader has it, in a state.
 * @param {string} hash
 */
export const pageLink = (hash) => location.href.split('#')[0] + hash;

/**
 * How the code for another page names a file of this script's folder: by its public address, or, from
 * this machine or a file, by its name alone, since nobody else could follow such an address.
 * @param {string} file
 */
function published(file) {
  const url = new URL(beside(file), location.href);
  const own = url.protocol === 'file:' || /^(localhost|127\.|\[::1\])/.test(url.host);
  return own ? file : url.href;
}

/**
 * Only beside the project's own pages is it sure to be; elsewhere whoever takes the code puts it there.
 */
const framePage = () =>
  document.querySelector('attention-settings, attention-frame')
    ? published('embed.html')
    : 'embed.html';

/**
 * What is on the screen as a script and a tag.
 * @param {string} lesson
 * @param {string} hash
 * @param {string | null} controls the panels the figure shows, null for all
 * @param {string} language
 */
export function embedCode(lesson, hash, controls, language) {
  const state = hash ? ` state="${hash}"` : '';
  const shown = controls === null ? '' : ` controls="${controls.replace(/[^\w\s,]/g, '')}"`;
  return [
    `<script src="${published('attention-playground.js')}"></script>`,
    `<attention-playground lesson="${lesson}"${state}${shown} lang="${language}"></attention-playground>`,
  ].join('\n');
}

/**
 * The same as a frame, and the script that keeps it as high as its figure.
 * @param {string} lesson
 * @param {string} hash
 * @param {string | null} controls
 * @param {string} language
 */
export function frameCode(lesson, hash, controls, language) {
  const asked = new URLSearchParams({
    ...(lesson === defaultLesson ? {} : { lesson }),
    ...(controls === null ? {} : { controls }),
    lang: language,
  });
  const address = `${framePage()}?${asked}${hash}`.replaceAll('&', '&amp;');
  return [
    `<iframe src="${address}" title="Attention Playground" width="100%" height="1000" style="border: 0"></iframe>`,
    '<script>',
    "addEventListener('message', ({ data, source }) => {",
    "  if (data?.type !== 'attention-playground:height') return;",
    "  for (const frame of document.querySelectorAll('iframe'))",
    '    if (frame.contentWindow === source) frame.height = data.height;',
    '});',
    '</script>',
  ].join('\n');
}
