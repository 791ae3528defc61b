/** How fast the page is, told with the results and not judged: machines differ. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachBrowser } from './harness.js';
import { openFigure } from './page-figure.js';

/** @param {number[]} times */
const median = (times) => [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)];

eachBrowser((browser) => {
  test('a keystroke to the finished repaint, 32 tokens, 8 heads', async (t) => {
    const figure = await openFigure(browser);
    await figure.after(() => figure.press('8'));
    const times = await figure.inside(async (root) => {
      const element = /** @type {HTMLElement} */ (root.host);
      const area = /** @type {HTMLTextAreaElement} */ (root.querySelector('.source textarea'));
      const heatmap = /** @type {any} */ (root.querySelector('attention-heatmap'));
      const words = Array.from({ length: 32 }, (_, at) => `w${at}`);
      const times = [];
      for (let press = 0; press < 40; press++) {
        words[31] += 'x';
        if (words[31].length > 20) words[31] = 'w';
        const start = performance.now();
        const computed = new Promise((resolve) =>
          element.addEventListener('attentionchange', resolve, { once: true }),
        );
        area.value = words.join(' ');
        area.dispatchEvent(new InputEvent('input', { bubbles: true }));
        const typed = performance.now() - start;
        await computed;
        const drawn = performance.now() - start;
        await heatmap.updated;
        times.push([typed, drawn, performance.now() - start]);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      return times.slice(10);
    });
    const [typed, drawn, painted] = [0, 1, 2].map((part) => {
      const each = times.map((at) => at[part]);
      return `${median(each).toFixed(1)} ms (best ${Math.min(...each).toFixed(1)})`;
    });
    t.diagnostic(
      `${browser.name}, median of 30: event handled ${typed}, numbers there ${drawn}, painted ${painted}`,
    );
    assert.equal(times.length, 30);
  });

  test('from navigation to the first heatmap', async (t) => {
    const times = [];
    for (let visit = 0; visit < 5; visit++) {
      const figure = await openFigure(browser);
      times.push(
        await figure.inside(async (root) => {
          await /** @type {any} */ (root.querySelector('attention-heatmap')).updated;
          return performance.now();
        }),
      );
    }
    t.diagnostic(`${browser.name}: at most ${median(times).toFixed(0)} ms (median of 5)`);
    assert.equal(times.length, 5);
  });
});
