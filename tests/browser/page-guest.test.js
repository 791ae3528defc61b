/** The figure as a guest: whatever a page is like around it, it has room, its own text, and its place. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { eachBrowser, root } from './harness.js';
import { figureOn, script } from './page-figure.js';

const figureMarkup = '<attention-playground lang="en"></attention-playground>';
const heatmapMarkup =
  '<attention-heatmap values="[[0.7, 0.3], [0.1, 0.9]]" label="Weights"></attention-heatmap>';

/** What the JSON entry saves. @param {Awaited<ReturnType<typeof figureOn>>} figure */
async function savedJson({ page, press }) {
  await page.evaluate(() => {
    HTMLAnchorElement.prototype.click = function () {
      Object.assign(window, { saved: fetch(this.href).then((file) => file.json()) });
    };
  });
  await press('JSON');
  await page.waitForFunction(() => /** @type {any} */ (window).saved);
  return page.evaluate(() => /** @type {any} */ (window).saved);
}

eachBrowser((browser) => {
  for (const width of [320, 1280]) {
    test(`parents that are as wide as their content, ${width} px`, async () => {
      const page = await browser.open(
        `<style>body { margin: 0 }</style>${script}<div>${figureMarkup}</div><div>${heatmapMarkup}</div>`,
        { width, policy: null },
      );
      const figure = await figureOn(page);
      for (const style of [
        'float: left',
        'display: inline-block',
        'position: absolute',
        'display: flex',
        'display: grid; grid-template-columns: auto 1fr',
      ]) {
        await page.$$eval(
          'main > div',
          (parents, style) => {
            for (const parent of parents) parent.setAttribute('style', style);
          },
          style,
        );
        await figure.painted();
        await figure.painted();
        const { playground, heatmap, room, over } = await page.evaluate(() => {
          const wide = (/** @type {string} */ tag) =>
            document.querySelector(tag)?.getBoundingClientRect().width ?? 0;
          return {
            playground: wide('attention-playground'),
            heatmap: wide('attention-heatmap'),
            room: document.documentElement.clientWidth,
            over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
          };
        });
        const told = `${style}: a playground ${playground} px wide, a heatmap ${heatmap}`;
        assert.ok(playground >= Math.min(room, 1120), told);
        assert.ok(heatmap >= Math.min(room, 640), told);
        assert.equal(over, 0, told);
      }
    });
  }

  for (const [name, around] of [
    [
      'a page with text of its own kind',
      `<style>
      html { font-size: 64px; letter-spacing: 1em; word-spacing: 2em; white-space: pre;
        text-transform: uppercase; text-indent: 3em; line-height: 3 } </style>`,
    ],
    ['a page written from right to left', '<script>document.dir = "rtl"</script>'],
    [
      'a page with rules for all elements',
      `<style> * { letter-spacing: 1em; white-space: nowrap; text-transform: uppercase;
        direction: rtl } </style>`,
    ],
    [
      'a figure written from top to bottom',
      '<style> attention-playground { writing-mode: vertical-rl; width: 100% } body { margin: 0 } </style>',
    ],
  ]) {
    test(`${name}, on 320 px, with long tokens`, async () => {
      const page = await browser.open(`${around}${script}${figureMarkup}`, {
        width: 320,
        policy: null,
      });
      const figure = await figureOn(page);
      await figure.after(() => figure.paste(`${'w'.repeat(48)} ${'x'.repeat(48)}`));
      await figure.map();
      const { over, steps, style } = await figure.inside((root) => {
        const element = /** @type {Element} */ (root.querySelector('.note'));
        const { letterSpacing, textTransform, whiteSpace, direction, writingMode } =
          getComputedStyle(element);
        return {
          over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
          steps: [...root.querySelectorAll('.pipeline li')]
            .slice(0, 3)
            .map((step) => step.getBoundingClientRect().left),
          style: { letterSpacing, textTransform, whiteSpace, direction, writingMode },
        };
      });
      assert.equal(over, 0);
      assert.deepEqual(style, {
        letterSpacing: 'normal',
        textTransform: 'none',
        whiteSpace: 'normal',
        direction: 'ltr',
        writingMode: 'horizontal-tb',
      });
      assert.deepEqual(
        steps,
        [...steps].sort((a, b) => a - b),
        'the steps run with their arrows',
      );
    });
  }

  test('as a flexible box itself it is as wide as its parent', async () => {
    const page = await browser.open(
      `<style>attention-playground { display: flex }</style>${script}${figureMarkup}`,
      { width: 1280, policy: null },
    );
    const figure = await figureOn(page);
    const [inside, parent] = await figure.inside((root) => [
      root.querySelector('.playground')?.clientWidth,
      document.querySelector('main')?.clientWidth,
    ]);
    assert.equal(inside, Number(parent) - 24);
  });

  test('whatever base a page has, its own address holds the state', async () => {
    const page = await browser.open(
      `${script}<base href="https://elsewhere.invalid/other/">
       <attention-playground follow-hash lang="en"></attention-playground>`,
      { policy: null },
    );
    const figure = await figureOn(page);
    const address = page.url();
    await figure.after(() => figure.press('Causal'));
    await page.waitForFunction(() => location.hash);
    assert.match(page.url().slice(address.length), /^#v1\./);
    await figure.until((root) =>
      /** @type {HTMLAnchorElement} */ (root.querySelector('.experiments a')).hash.startsWith(
        '#v1',
      ),
    );
    const experiment = await figure.inside(
      (root) => /** @type {HTMLAnchorElement} */ (root.querySelector('.experiments a')).href,
    );
    assert.ok(experiment.startsWith(`${address}#v1.`), experiment);
  });

  test('moved into a frame, into a document that no window shows, and back', async () => {
    const page = await browser.open(
      `${script}<iframe title="frame"></iframe>${figureMarkup}${heatmapMarkup}`,
      { policy: null },
    );
    const figure = await figureOn(page);
    const sheets = await page.evaluate(async () => {
      const elements = /** @type {any[]} */ ([
        ...document.querySelectorAll('attention-playground, attention-heatmap'),
      ]);
      const frame = document.querySelector('iframe')?.contentDocument;
      const dark = document.implementation.createHTMLDocument();
      const counts = [];
      for (const place of [frame, dark, document]) {
        place?.body.append(...elements);
        await new Promise((resolve) => setTimeout(resolve, 300));
        counts.push(elements.map(({ shadowRoot }) => shadowRoot.adoptedStyleSheets.length));
      }
      return counts;
    });
    assert.deepEqual(sheets, [
      [3, 3],
      [0, 0],
      [3, 3],
    ]);
    await figure.after(() => figure.press('Causal'));
    assert.equal((await figure.map()).mask?.[1], 2);
  });

  test('a heatmap shows its label above the map', async () => {
    const page = await browser.open(`${script}${heatmapMarkup}`);
    const caption = await page.evaluate(async () => {
      const heatmap = /** @type {any} */ (document.querySelector('attention-heatmap'));
      await heatmap.updated;
      const caption = heatmap.shadowRoot.querySelector('.caption');
      const { bottom } = caption.getBoundingClientRect();
      const { top } = heatmap.shadowRoot.querySelector('canvas').getBoundingClientRect();
      return { text: caption.textContent, seen: caption.checkVisibility() && bottom <= top };
    });
    assert.deepEqual(caption, { text: 'Weights', seen: true });
  });

  test('names that nobody knows are warned of; controls without a known name show all', async () => {
    const page = await browser.open(script, { policy: null });
    /** @type {string[]} */
    const warned = [];
    page.on('console', (message) => {
      if (message.type() === 'warn') warned.push(message.text());
    });
    await page.evaluate(() => {
      const figure = document.createElement('attention-playground');
      const wishes = { controls: 'token mask', theme: 'black', lang: 'fr' };
      for (const [name, value] of Object.entries(wishes)) figure.setAttribute(name, value);
      document.body.append(figure);
    });
    const figure = await figureOn(page);
    const all = await figure.inside((root) =>
      /** @type {any} */ (root.querySelector('.inspector'))?.checkVisibility(),
    );
    assert.ok(all);
    const [controls, ...others] = warned.sort();
    assert.match(
      controls,
      /^attention-playground: controls knows no "token", "mask"; it knows experiments, tokens, variant, masks, .*export\.$/,
    );
    assert.deepEqual(others, [
      'attention-playground: lang knows no "fr"; it knows en, zh-CN.',
      'attention-playground: theme knows no "black"; it knows light, dark.',
    ]);
  });

  test('Undo and Redo keep the focus when they have nothing left to do', async () => {
    const page = await browser.open(`${script}${figureMarkup}`, { policy: null });
    const figure = await figureOn(page);
    await figure.after(() => figure.press('Causal'));
    for (const words of ['Undo', 'Redo']) {
      const button = await figure.byName(words);
      await button.focus();
      await figure.after(() => page.keyboard.press('Enter'));
      const now = await figure.inside((root) => ({
        words: root.activeElement?.textContent,
        off: root.activeElement?.getAttribute('aria-disabled'),
      }));
      assert.deepEqual(now, { words, off: 'true' });
      await page.keyboard.press('Enter');
    }
    assert.equal((await figure.map()).mask?.[1], 2);
  });

  test('another language keeps focus, selection and open folds', async () => {
    const page = await browser.open(`${script}${figureMarkup}`, { policy: null });
    const figure = await figureOn(page);
    await figure.press('Scoring');
    await figure.inside((root) => {
      const area = /** @type {HTMLTextAreaElement} */ (root.querySelector('.source textarea'));
      area.focus();
      area.setSelectionRange(2, 5);
      document.querySelector('attention-playground')?.setAttribute('lang', 'zh-CN');
    });
    await figure.until((root) => root.textContent?.includes('掩码'));
    const kept = await figure.inside((root) => {
      const { tagName, selectionStart, selectionEnd } = /** @type {HTMLTextAreaElement} */ (
        root.activeElement
      );
      const folds = [...root.querySelectorAll('.groups details')].map(
        (fold) => /** @type {HTMLDetailsElement} */ (fold).open,
      );
      return { tagName, selectionStart, selectionEnd, folds };
    });
    assert.deepEqual(kept, {
      tagName: 'TEXTAREA',
      selectionStart: 2,
      selectionEnd: 5,
      folds: [true, true, true, true, false],
    });
  });

  test('another language keeps the focus on the cell of the map', async () => {
    const page = await browser.open(`${script}${figureMarkup}`, { policy: null });
    const figure = await figureOn(page);
    const cell = (/** @type {ShadowRoot} */ root) =>
      root.activeElement?.shadowRoot?.activeElement?.textContent ?? '';
    await figure.inside((root) =>
      /** @type {HTMLElement} */ (root.querySelector('attention-heatmap')).focus(),
    );
    await figure.until((root) => root.activeElement?.shadowRoot?.activeElement);
    for (const key of ['ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    assert.match(await figure.inside(cell), /^query on → key sat/);
    await page.evaluate(() =>
      document.querySelector('attention-playground')?.setAttribute('lang', 'zh-CN'),
    );
    await figure.until((root) =>
      root.activeElement?.shadowRoot?.activeElement?.textContent?.startsWith('查询 on → 键 sat'),
    );
    await page.keyboard.press('ArrowRight');
    assert.match(await figure.inside(cell), /^查询 on → 键 on/);
  });

  for (const name of ['ResizeObserver', 'OffscreenCanvas', 'DecompressionStream']) {
    test(`a browser without ${name} says so`, async () => {
      const page = await browser.open(
        `<script>delete window.${name}</script>${script}${figureMarkup}${heatmapMarkup}`,
        { policy: null },
      );
      await page.waitForFunction(() => customElements.get('attention-playground'));
      assert.deepEqual(
        await page.evaluate(() =>
          ['attention-playground', 'attention-heatmap'].map(
            (tag) => document.querySelector(tag)?.textContent,
          ),
        ),
        Array(2).fill(`This figure needs a newer browser; this one lacks ${name}.`),
      );
    });
  }

  test('a browser without CompressionStream has no links and says so', async () => {
    const page = await browser.open(
      `<script>delete window.CompressionStream</script>${script}<attention-playground follow-hash lang="en"></attention-playground>`,
      { policy: null },
    );
    const figure = await figureOn(page);
    await figure.press('Causal');
    await figure.until((root) => root.querySelector('attention-heatmap')?.mask?.[1] === 2);
    await figure.until((root) => root.querySelector('.notice'));
    assert.deepEqual(await figure.notices(), [
      'This browser lacks CompressionStream, so the figure has no link; all else works.',
    ]);
    await figure.press('Copy link');
    assert.equal((await savedJson(figure)).link, null);
    assert.equal((await figure.notices()).length, 1);
  });

  test('a figure too large for a link still goes into a file', async () => {
    const page = await browser.open(
      `<script>window.CompressionStream = class { constructor() { return new TransformStream(); } };</script>${script}<attention-playground follow-hash lang="en"></attention-playground>`,
      { policy: null },
    );
    const figure = await figureOn(page);
    const tokens = Array(64).fill('가'.repeat(48));
    await figure.paste(tokens.join(' '));
    await figure.until((root) => root.querySelector('attention-heatmap')?.matrix?.rows === 64);
    const { link, state } = await savedJson(figure);
    assert.equal(link, null);
    assert.deepEqual(state.source, tokens);
    await figure.press('Copy link');
    await figure.until((root) => root.querySelector('.notice'));
    assert.match((await figure.notices()).join(), /too large for a link/);
  });

  test('embed.html alone names the files that are missing', async () => {
    const html = await readFile(`${root}web/embed.html`, 'utf8');
    const page = await browser.open(html.replaceAll('attention-playground.js" defer', 'gone.js"'), {
      policy: null,
    });
    await page.waitForFunction(() =>
      /needs JavaScript and the files attention-playground\.js and page\.css/.test(
        document.body.textContent,
      ),
    );
    // Firefox does not report files that are missing.
    if (browser.name === 'chromium') page.expectErrors(/404|gone|page\.css/);
  });

  test('a frame tells its height when the figure is drawn, not before', async () => {
    const page = await browser.open('<iframe width="700" height="700" title="figure"></iframe>', {
      policy: null,
    });
    const heights = await page.evaluate(async () => {
      /** @type {number[]} */
      const heights = [];
      addEventListener('message', ({ data }) => heights.push(data.height));
      const frame = /** @type {HTMLIFrameElement} */ (document.querySelector('iframe'));
      frame.src = '/dist/embed.html?controls=tokens&lang=en';
      const deadline = Date.now() + 15_000;
      while (heights.length === 0 && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 20));
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return heights;
    });
    assert.ok(heights.length > 0);
    const last = heights[heights.length - 1];
    for (const height of heights) assert.ok(Math.abs(height - last) < 24, heights.join());
  });
});
