/**
 * What the figures need of a browser. Where something is missing, an element of one sentence stands in
 * for every figure and names it, in the page's own text, so that it needs nothing itself.
 */
import { fill } from '../draw/format.js';
import { languageOf, stringsOf } from '../i18n/index.js';

/** @returns {string[]} names of what this browser lacks */
export function missing() {
  const names = ['WebAssembly', 'ResizeObserver', 'OffscreenCanvas', 'DecompressionStream'];
  const lacking = names.filter((name) => !(name in globalThis));
  if (!('replaceSync' in CSSStyleSheet.prototype)) lacking.push('CSSStyleSheet.replaceSync');
  return lacking;
}

/** A class of its own for each name: a registry takes no class twice. */
export const standIn = () =>
  class extends HTMLElement {
    connectedCallback() {
      const { notices } = stringsOf(languageOf(this));
      this.textContent = fill(notices.lacking, { names: missing().join(', ') });
    }
  };
