/**
 * The lessons that learn, on paper, in the colours of a reader's system, and enlarged to twice their size:
 * whatever holds data is still there, and can be read.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { palette } from '../../web/elements/style.js';
import { lessons } from '../../web/lessons/index.js';
import { encodeState } from '../../web/lessons/state.js';
import { axe, eachBrowser } from './harness.js';
import { rgb } from './heatmap-page.js';
import { assertNothingCut, unfold } from './page-checks.js';
import { openFigure } from './page-figure.js';
import { openTraining } from './training-page.js';

/** @typedef {import('./harness.js').Browser} Browser */
/** @typedef {import('./harness.js').OpenOptions} OpenOptions */
/** @typedef {Awaited<ReturnType<typeof openFigure>>} Opened */

/** @param {Browser} browser @param {OpenOptions} [options] */
async function openRegression(browser, options) {
  const { table, defaults, reduce } = lessons['kernel-regression'];
  const values = { learned: true, step: 5 };
  const link = await encodeState(table, reduce(defaults, { type: 'load', values }));
  const address = `/dist/index.html?lesson=kernel-regression${link}`;
  const figure = await openFigure(browser, address, options);
  await figure.until(
    (root) => root.querySelector('.curves canvas')?.getAttribute('aria-valuenow') === '5',
  );
  return figure;
}

/** Each trained so far that every part has something to show. */
const openers = Object.entries({
  transformer: (/** @type {Browser} */ browser, /** @type {OpenOptions} */ options = {}) =>
    openTraining(browser, { step: 12, token: 2 }, options),
  bahdanau: (/** @type {Browser} */ browser, /** @type {OpenOptions} */ options = {}) =>
    openTraining(browser, { step: 12, token: 2 }, { lesson: 'bahdanau', ...options }),
  'kernel-regression': openRegression,
});

/** The parts with data that can be seen, each in words, and lists that are not shown whole. @param {Opened} figure */
const dataOf = ({ inside }) =>
  inside((root) => {
    const seen = (/** @type {string} */ parts) =>
      [...root.querySelectorAll(parts)].filter(
        (part) =>
          /** @type {any} */ (part).checkVisibility({ visibilityProperty: true }) &&
          part.getBoundingClientRect().height > 0 &&
          !part.closest('.unseen, fieldset'),
      );
    const columns = ':is(.center, .side)';
    const parts = `${columns} :is(canvas, attention-heatmap, .figures, .value, math, li, td)`;
    return {
      parts: seen(parts).map(({ localName, className, textContent }) =>
        [localName, className, textContent?.slice(0, 40)].join(' '),
      ),
      cut: seen(`${columns} :is(.terms, .row, .scroll)`)
        .filter(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 1)
        .map(({ className }) => className),
    };
  });

/**
 * Whether the figure has a ground, and every drawing with words on it the same.
 * @param {ShadowRoot} root
 * @param {string} ground
 */
function allOn(root, ground) {
  const maps = [...root.querySelectorAll('attention-heatmap')].map((map) => map.shadowRoot);
  const drawings = [root, ...maps].flatMap((at) => [
    ...(at?.querySelectorAll(':is(.plot, .curves, .frame) > canvas') ?? []),
  ]);
  const found = drawings.map((drawing) => {
    const pen = /** @type {HTMLCanvasElement} */ (drawing).getContext('2d');
    const [red, green, blue] = pen?.getImageData(0, 0, 1, 1).data ?? [];
    return `rgb(${red}, ${green}, ${blue})`;
  });
  found.push(getComputedStyle(root.host).backgroundColor);
  return found.length > 2 && found.every((colour) => colour === ground);
}

/** @param {Opened} figure */
async function assertReadable({ page }) {
  const found = await axe(/** @type {any} */ (page), { runOnly: 'color-contrast' });
  assert.deepEqual(found, []);
}

const [light, dark] = ['light', 'dark'].map((value) => ({ name: 'prefers-color-scheme', value }));
const forced = { name: 'forced-colors', value: 'active' };
const paper = `rgb(${rgb(palette.light.paper).join(', ')})`;

eachBrowser((browser) => {
  for (const [lesson, open] of openers) {
    test(`${lesson}: enlarged to 200 % nothing is cut, nothing scrolls sideways`, async () => {
      const figure = await open(browser, { width: 640, height: 400, ratio: 2 });
      await unfold(figure, 'details.fold');
      await assertNothingCut(figure);
    });

    if (browser.name !== 'chromium') continue; // only it emulates media

    test(`${lesson} in print and in forced colours: all data, words that can be read`, async () => {
      const figure = await open(browser, {});
      const { parts } = await dataOf(figure);
      const session = await figure.page.createCDPSession();
      for (const [name, media, features, ground] of /** @type {const} */ ([
        ['print from a dark screen', 'print', [dark], paper],
        ['forced colours, light', '', [forced, light], 'rgb(255, 255, 255)'],
        ['the dark screen', '', [dark], `rgb(${rgb(palette.dark.paper).join(', ')})`],
        ['forced colours, dark', '', [forced, dark], 'rgb(0, 0, 0)'],
      ])) {
        await session.send('Emulation.setEmulatedMedia', { media, features: [...features] });
        await figure.until(allOn, ground);
        const found = await dataOf(figure);
        assert.deepEqual(found.parts, parts, name);
        if (media === 'print') assert.deepEqual(found.cut, [], 'lists are printed whole');
        await assertReadable(figure);
      }
    });
  }
});
