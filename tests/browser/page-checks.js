/**
 * What holds for every lesson, whatever it shows: axe finds nothing, nothing is cut, and each language is
 * complete. Each check takes a figure that stands still.
 */
import assert from 'node:assert/strict';
import { axe } from './harness.js';

/** @typedef {Awaited<ReturnType<typeof import('./page-figure.js').figureOn>>} Opened */

/** Opens folded parts, so that a check sees all of them. @param {Opened} figure @param {string} [which] */
export async function unfold(figure, which = 'details') {
  await figure.inside((root, which) => {
    for (const fold of root.querySelectorAll(which)) fold.setAttribute('open', '');
  }, which);
  await figure.painted();
}

/** @param {Opened} figure */
export async function assertAccessible({ page }) {
  assert.deepEqual(await axe(/** @type {import('./harness.js').Page} */ (page)), []);
}

/** Nothing scrolls sideways but what is made to, and nothing is cut. @param {Opened} figure */
export async function assertNothingCut({ inside }) {
  const over = await inside((root) => {
    const right = document.documentElement.clientWidth;
    return {
      page: document.documentElement.scrollWidth - right,
      parts: [...root.querySelectorAll('button, input, canvas, p, summary')]
        .filter((part) => /** @type {any} */ (part).checkVisibility())
        .filter((part) => !part.closest('.scroll, .unseen, .entries'))
        .filter((part) => part.getBoundingClientRect().right > right + 1)
        .map((part) => part.outerHTML.slice(0, 80)),
    };
  });
  assert.deepEqual(over, { page: 0, parts: [] });
}

/** Words that Chinese sentences keep. */
const names = /softmax|D2L|PyTorch|PNG|SVG|CSV|JSON|NumPy|npy|Bahdanau|Transformer|iframe/g;

/**
 * Every word is of the language, but for what the reader or the field gave.
 * @param {Opened} figure
 * @param {string} lang
 * @param {string} data selectors of parts that show tokens, names of tensors and code
 * @param {RegExp} kept more words that Chinese sentences keep
 */
export async function assertOneLanguage({ inside }, lang, data, kept) {
  const words = await inside((root, skip) => {
    const texts = [document.querySelector('attention-lessons')?.textContent ?? ''];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement, textContent } = walker.currentNode;
      if (!parentElement?.closest(skip)) texts.push(textContent ?? '');
    }
    return texts.join(' ');
  }, `${data}, .shapes, .code, select, style`);
  if (lang === 'en') assert.doesNotMatch(words, /\p{Script=Han}/u);
  else assert.doesNotMatch(words.replace(names, '').replace(kept, ''), /[a-z]{3,}/i);
}
