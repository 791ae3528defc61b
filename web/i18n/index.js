/**
 * Which language a figure speaks.
 *
 * The nearest `lang` attribute decides, the element's own first and stepping out of shadow trees;
 * where none is set, the browser's first language does. Any kind of Chinese gets Simplified Chinese,
 * everything else English.
 */
import { fill } from '../draw/format.js';
import en from './en.js';
import zh from './zh-CN.js';

/** @typedef {typeof en} Strings */
/** @typedef {'en' | 'zh-CN'} Language */

/** @type {Record<Language, Strings>} */
const all = { en, 'zh-CN': zh };

/**
 * @param {Element} element
 * @returns {Language}
 */
export function languageOf(element) {
  /** @type {Node | null} */
  let at = element;
  while (at) {
    if (at instanceof Element && at.hasAttribute('lang')) return nearest(at.getAttribute('lang'));
    at = at instanceof ShadowRoot ? at.host : at.parentNode;
  }
  return nearest(navigator.language);
}

/**
 * @param {string | null} tag
 * @returns {Language}
 */
export function nearest(tag) {
  return /^zh\b/i.test(tag ?? '') ? 'zh-CN' : 'en';
}

/** @param {Language} language */
export function stringsOf(language) {
  return all[language];
}

/**
 * What a lesson is called: its title among the lessons, the name of its figure, a line that leads in.
 * @param {string} lesson
 * @param {Strings} strings
 */
export function named(lesson, { lessons }) {
  return lessons[/** @type {keyof typeof lessons} */ (lesson)];
}

/**
 * What the core found wrong, in the words of a language: what it has for this very sentence of the core,
 * with its values; or for the code and the option, or for the code alone; else the core's own, which is
 * English.
 * @param {Strings} strings
 * @param {{ code?: string, option?: string, message?: string }} failure
 * @param {unknown} [got] the value at fault
 */
export function failureWords(
  { failures, core },
  { code = '', option = '', message = '' },
  got = '',
) {
  for (const [english, own] of Object.entries(core)) {
    const values = valuesOf(english, message);
    if (values) return fill(own, values);
  }
  const known = /** @type {Record<string, string>} */ (failures);
  const sentence = known[`${code} ${option}`] ?? known[code] ?? '{message}';
  return fill(sentence, { message, got: String(got) });
}

/**
 * What stands in the `{places}` of a sentence; nothing where the message is another one.
 * @param {string} sentence
 * @param {string} message
 */
function valuesOf(sentence, message) {
  const pattern = sentence.replace(/[^\w\s{}]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>.+)');
  return new RegExp(`^${pattern}$`).exec(message)?.groups;
}

/**
 * Calls `changed` when a `lang` attribute on the way from the element to the document changes.
 * @param {Element} element a connected element
 * @param {() => void} changed
 * @returns {() => void} stops watching
 */
export function watchLanguage(element, changed) {
  const observer = new MutationObserver(changed);
  /** @type {Node} */
  let root = element.getRootNode();
  for (;;) {
    observer.observe(root, { subtree: true, attributes: true, attributeFilter: ['lang'] });
    if (!(root instanceof ShadowRoot)) break;
    root = root.host.getRootNode();
  }
  return () => observer.disconnect();
}
