// The page in Chromium and Firefox: what a reader waits for.
//
//   first heatmap     from navigation, on localhost, to the end of the frame that shows it; 300 ms
//                     are asked
//   keystroke         from an input event to the end of the frame with the finished figure, 32 tokens
//                     and 8 heads: the work, and with it the wait for the screen's next frame; 16 ms
//                     are asked (Chromium)
//   512 tokens        from the call of the core to the finished heatmap of one head; 100 ms are asked
//
// Needs dist/. Numbers are medians.

import { serve } from '../../tools/serve.js';
import { launch } from '../browser/harness.js';

const WORDS = 'the cat sat on a mat and saw the dog run by while birds sang'.split(' ');
const SENTENCE = Array.from({ length: 32 }, (_, i) => WORDS[i % WORDS.length]).join(' ');

const median = (/** @type {number[]} */ list) =>
  list.sort((a, b) => a - b)[Math.floor(list.length / 2)].toFixed(1);

const { url, close } = await serve({
  root: new URL('../../dist/', import.meta.url).pathname,
  port: 8090,
});

/** In the page: `shown`, the times of what happens when a figure has new numbers. */
function watchFrames() {
  /** @type {any} */ (window).shown = () =>
    new Promise((resolve) => {
      const computed = () => {
        const answered = performance.now();
        requestAnimationFrame((frame) => {
          const { port1, port2 } = new MessageChannel();
          // What is posted within a frame arrives behind it.
          port1.onmessage = () => resolve({ answered, frame, painted: performance.now() });
          port2.postMessage(null);
        });
      };
      addEventListener('attentionchange', computed, { once: true });
    });
}

/**
 * @param {import('puppeteer-core').Browser} browser
 */
async function firstHeatmap(browser) {
  const times = [];
  for (let run = 0; run < 9; run++) {
    const page = await browser.newPage();
    await page.evaluateOnNewDocument(
      `(${watchFrames})(); shown().then(({ painted }) => { window.firstHeatmap = painted; });`,
    );
    await page.goto(url);
    await page.waitForFunction('window.firstHeatmap');
    times.push(Number(await page.evaluate('window.firstHeatmap')));
    await page.close();
  }
  return median(times);
}

/** @param {import('puppeteer-core').Page} page */
function keystrokes(page, /** @type {string} */ sentence) {
  return page.evaluate(async (text) => {
    const { shown } = /** @type {any} */ (window);
    const figure = /** @type {any} */ (document.querySelector('attention-playground'));
    const input = figure.shadowRoot.querySelector('textarea:not([readonly])');
    const type = (/** @type {string} */ value) => {
      const drawn = shown();
      input.value = value;
      input.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
      return drawn;
    };
    const labels = [...figure.shadowRoot.querySelectorAll('label')];
    const wider = shown();
    labels.find((label) => label.textContent?.trim() === '8')?.click();
    await wider;
    await type(text);
    const work = [];
    const whole = [];
    for (let i = 0; i < 41; i++) {
      const start = performance.now();
      const { answered, frame, painted } = await type(text + 'abcdefg'.slice(0, 1 + (i % 7)));
      whole.push(painted - start);
      work.push(answered - start + painted - Math.max(frame, answered));
      await new Promise((resolve) => setTimeout(resolve, 30 + (i % 5) * 3));
    }
    return { work, whole };
  }, sentence);
}

/** @param {import('puppeteer-core').Page} page */
function longText(page) {
  return page.evaluate(async () => {
    const module = '/attention.js';
    const { createEngine } = await import(module);
    const engine = await createEngine();
    const layer = engine.attentionLayer({ hiddens: 64, position: 'sinusoidal' });
    const source = Array.from({ length: 512 }, (_, i) => `token ${i % 100}`);
    const heatmap = /** @type {any} */ (document.createElement('attention-heatmap'));
    document.querySelector('main')?.prepend(heatmap);
    const times = [];
    for (let i = 0; i < 11; i++) {
      const start = performance.now();
      const { weights } = layer.forward({ source, temperature: 1 + i / 10 });
      heatmap.matrix = { shape: [512, 512], data: weights.data };
      await heatmap.updated;
      times.push(performance.now() - start);
    }
    return times;
  });
}

for (const name of /** @type {const} */ (['chromium', 'firefox'])) {
  const browser = await launch(name);
  const first = await firstHeatmap(browser);
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.evaluateOnNewDocument(`(${watchFrames})()`);
  await page.goto(url);
  await page.waitForSelector('attention-playground');
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { work, whole } = await keystrokes(page, SENTENCE);
  console.log(`the page in ${name}`);
  console.log(`  first heatmap after navigation      ${first} ms (300 asked)`);
  console.log(
    `  keystroke, 32 tokens, 8 heads       ${median(work)} ms (16 asked), ${median(whole)} with the wait for the screen`,
  );
  console.log(
    `  512 tokens, one head, whole heatmap ${median(await longText(page))} ms (100 asked)`,
  );
  await browser.close();
}
await close();
