/**
 * What a reader takes away: the picture, the numbers, the link, the code to embed. A frame that may
 * neither save files nor use the clipboard gets the text to copy by hand.
 */
import { h, setText } from './dom.js';

/**
 * @typedef {object} Exports makes what is taken away, when asked
 * @property {(format: 'png' | 'svg' | 'csv' | 'npy') => Promise<Blob>} picture
 * @property {() => Promise<Blob>} json
 * @property {() => Promise<string>} link
 * @property {() => Promise<string>} embed
 * @property {() => Promise<string>} frame
 * @property {() => Promise<string>} torch
 * @property {(error: unknown) => void} failed
 */

/**
 * @param {import('../i18n/index.js').Strings} strings
 * @param {Exports} make
 */
export function exportMenu(strings, make) {
  const words = strings.export;
  const said = h('span', { class: 'quiet', role: 'status' });
  const text = h('textarea', { readOnly: true, rows: 6, 'aria-label': words.refused });
  const byHand = h(
    'div',
    { class: 'by-hand', hidden: true },
    h('p', { class: 'note' }, words.refused),
    text,
    h(
      'button',
      { type: 'button', class: 'link', onclick: () => (byHand.hidden = true) },
      words.close,
    ),
  );

  /** @param {string} content */
  function showText(content) {
    byHand.hidden = false;
    text.value = content;
    text.focus();
    text.select();
  }

  /** @param {() => Promise<string>} content */
  async function copy(content) {
    const copied = await content();
    try {
      await navigator.clipboard.writeText(copied);
      setText(said, words.copied);
      setTimeout(() => setText(said, ''), 5000);
    } catch {
      showText(copied);
    }
  }

  /**
   * @param {Promise<Blob>} content
   * @param {string} extension
   */
  async function save(content, extension) {
    const blob = await content;
    if (mayNotSave() && extension !== 'png') return showText(await blob.text());
    const url = URL.createObjectURL(blob);
    h('a', { href: url, download: `attention.${extension}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  /** @param {string} name @param {() => Promise<void>} act */
  const entry = (name, act) =>
    h(
      'button',
      {
        type: 'button',
        onclick: () => {
          menu.open = false;
          summary.focus();
          act().catch(make.failed);
        },
      },
      name,
    );
  const summary = h('summary', null, words.menu);
  const menu = h(
    'details',
    {
      class: 'menu',
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== 'Escape' || !menu.open) return;
        menu.open = false;
        summary.focus();
      },
      onfocusout: (/** @type {FocusEvent} */ event) => {
        if (event.relatedTarget && !menu.contains(/** @type {Node} */ (event.relatedTarget)))
          menu.open = false;
      },
    },
    summary,
    h(
      'div',
      { class: 'entries' },
      entry(words.link, () => copy(make.link)),
      entry(words.embed, () => copy(make.embed)),
      entry(words.frame, () => copy(make.frame)),
      entry(words.torch, () => copy(make.torch)),
      entry(words.png, () => save(make.picture('png'), 'png')),
      entry(words.svg, () => save(make.picture('svg'), 'svg')),
      entry(words.csv, () => save(make.picture('csv'), 'csv')),
      entry(words.npy, () => save(make.picture('npy'), 'npy')),
      entry(words.json, () => save(make.json(), 'json')),
    ),
  );
  return {
    element: h('div', { class: 'export' }, said, menu),
    byHand,
    copyTorch: () => copy(make.torch).catch(make.failed),
  };
}

/** A frame without an origin of its own is sandboxed, and a sandbox without leave to save is silent. */
function mayNotSave() {
  return self.origin === 'null' && window.top !== window;
}
