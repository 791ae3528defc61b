/** The figure as a guest: whatever a page is like around it, it has room, its own text, and its place. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eachBrowser } from './harness.js';
import { figureOn } from './page-figure.js';

const script = '<script src="/dist/attention-playground.js"></script>';
const figureMarkup = '<attention-playground lang="en"></attention-playground>';
const heatmapMarkup =
  '<attention-heatmap values="[[0.7, 0.3], [0.1, 0.9]]" label="Weights"></attention-heatmap>';

eachBrowser((browser) => {
  describe('a parent that is as wide as its content', () => {
    for (const style of [
      'float: left',
      'display: inline-block',
      'position: absolute',
      'display: flex',
      'display: grid; grid-template-columns: auto 1fr',
    ]) {
      for (const width of [320, 1280]) {
        test(`${style}, ${width} px`, async () => {
          const page = await browser.open(
            `<style>body { margin: 0 }</style>${script}<div style="${style}">${figureMarkup}</div><div style="${style}">${heatmapMarkup}</div>`,
            { width, policy: null },
          );
          await figureOn(page);
          const { playground, heatmap, over } = await page.evaluate(() => {
            const wide = (/** @type {string} */ tag) =>
              document.querySelector(tag)?.getBoundingClientRect().width ?? 0;
            return {
              playground: wide('attention-playground'),
              heatmap: wide('attention-heatmap'),
              over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
            };
          });
          assert.ok(playground >= Math.min(width, 1120), `a playground ${playground} px wide`);
          assert.ok(heatmap >= Math.min(width, 640), `a heatmap ${heatmap} px wide`);
          assert.equal(over, 0);
        });
      }
    }
  });

  for (const [name, around] of [
    [
      'a page with text of its own kind',
      `<style>
      html { font-size: 64px; letter-spacing: 1em; word-spacing: 2em; white-space: pre;
        text-transform: uppercase; text-indent: 3em; line-height: 3 } </style>`,
    ],
    ['a page written from right to left', '<script>document.dir = "rtl"</script>'],
  ]) {
    test(`${name}, on 320 px, with long tokens`, async () => {
      const page = await browser.open(`${around}${script}${figureMarkup}`, {
        width: 320,
        policy: null,
      });
      const figure = await figureOn(page);
      await figure.after(() =>
        figure.inside((root) => {
          const area = /** @type {HTMLTextAreaElement} */ (root.querySelector('.source textarea'));
          area.value = `${'w'.repeat(48)} ${'x'.repeat(48)}`;
          area.dispatchEvent(new InputEvent('input', { bubbles: true }));
        }),
      );
      await figure.map();
      const { over, steps, style } = await figure.inside((root) => {
        const element = /** @type {Element} */ (root.querySelector('.note'));
        const { letterSpacing, textTransform, whiteSpace, direction } = getComputedStyle(element);
        return {
          over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
          steps: [...root.querySelectorAll('.pipeline li')]
            .slice(0, 3)
            .map((step) => step.getBoundingClientRect().left),
          style: { letterSpacing, textTransform, whiteSpace, direction },
        };
      });
      assert.equal(over, 0);
      assert.deepEqual(style, {
        letterSpacing: 'normal',
        textTransform: 'none',
        whiteSpace: 'normal',
        direction: 'ltr',
      });
      assert.deepEqual(
        steps,
        [...steps].sort((a, b) => a - b),
        'the steps run with their arrows',
      );
    });
  }

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
});
