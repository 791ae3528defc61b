/**
 * What a reader takes away: the picture, the numbers, the link, the code to embed. A frame that may
 * neither save files nor use the clipboard shows the text or the picture, to be copied by hand.
 */
import { h, setText } from '../dom.js';

/**
 * @typedef {object} Exports makes what is taken away, when asked
 * @property {(format: 'png' | 'svg' | 'csv' | 'npy') => Promise<Blob>} picture
 * @property {() => Promise<Blob>} json
 * @property {(() => Promise<string>) | null} link null where the page opens none
 * @property {() => Promise<string>} embed
 * @property {() => Promise<string>} frame
 * @property {() => Promise<string>} torch
 * @property {(error: unknown) => void} failed
 */

/**
 * @param {import('../../i18n/index.js').Strings} strings
 * @param {Exports} make
 */
export function exportMenu(strings, make) {
  const words = strings.export;
  const { link } = make;
  const said = h('span', { class: 'quiet', role: 'status' });
  const why = h('p', { class: 'note', role: 'status' });
  const text = h('textarea', { readOnly: true, rows: 6, 'aria-label': words.byHand });
  const picture = h('canvas', { role: 'img', 'aria-label': words.png });
  const byHand = h(
    'div',
    { class: 'by-hand', hidden: true },
    why,
    text,
    picture,
    h(
      'button',
      { type: 'button', class: 'link', onclick: () => (byHand.hidden = true) },
      words.close,
    ),
  );

  /** @param {string} reason */
  function open(reason, pictured = false) {
    byHand.hidden = false;
    picture.hidden = !pictured;
    text.hidden = pictured;
    setText(why, reason);
  }

  /** @param {string} content @param {string} reason */
  function showText(content, reason) {
    open(reason);
    text.value = content;
    text.focus();
    text.select();
  }

  /**
   * As a canvas, since the page's policy may forbid images; the browser's own menu saves and copies it.
   * @param {Blob} png
   */
  async function showPicture(png) {
    const bitmap = await createImageBitmap(png);
    open(words.noPicture, true);
    picture.width = bitmap.width;
    picture.height = bitmap.height;
    picture.getContext('2d')?.drawImage(bitmap, 0, 0);
    byHand.scrollIntoView({ block: 'nearest' });
  }

  /** @param {() => Promise<string>} content */
  async function copy(content) {
    const copied = await content();
    try {
      await navigator.clipboard.writeText(copied);
      setText(said, words.copied);
      setTimeout(() => setText(said, ''), 5000);
    } catch {
      showText(copied, words.refused);
    }
  }

  /**
   * @param {Promise<Blob>} content
   * @param {string} extension
   */
  async function save(content, extension) {
    const blob = await content;
    if (mayNotSave()) {
      if (extension === 'png') return showPicture(blob);
      return showText(
        extension === 'npy' ? await pythonOf(blob) : await blob.text(),
        words.noFiles,
      );
    }
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
      link && entry(words.link, () => copy(link)),
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

/**
 * Whether this is a frame in a sandbox that gives no leave to save: it would be silent. A page that may
 * not see its frame has no origin of its own there, else the browser saves.
 */
export function mayNotSave() {
  const sandbox = window.frameElement?.getAttribute('sandbox');
  if (typeof sandbox === 'string') return !/\ballow-downloads\b/.test(sandbox);
  return self.origin === 'null' && window.top !== window;
}

/**
 * A .npy file as lines of Python that read it.
 * @param {Blob} npy
 */
async function pythonOf(npy) {
  const bytes = new Uint8Array(await npy.arrayBuffer());
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return `import base64, io, numpy\narray = numpy.load(io.BytesIO(base64.b64decode('${base64}')))\n`;
}
