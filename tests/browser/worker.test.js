/**
 * Where the numbers are computed, by what the page's policy allows: a worker from a blob, a worker from
 * a file beside the script, the page's own thread; and what a page without WebAssembly is told.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachBrowser } from './harness.js';
import { script } from './page-figure.js';

const FIGURE = `${script}<attention-playground></attention-playground>`;

/** @param {string} worker @param {string} [wasm] */
const policy = (worker, wasm = "'wasm-unsafe-eval'") =>
  `default-src 'none'; script-src 'self' ${wasm}; style-src 'self'; worker-src ${worker}`;

/**
 * waitForFunction would need a policy that allows eval.
 * @param {import('./harness.js').Page} page
 * @param {() => boolean} holds
 */
async function until(page, holds) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    if (await page.evaluate(holds)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`not true within 30 s: ${holds}`);
}

/**
 * The page's own thread draws the figure before there is a worker, and Firefox names for a moment one that
 * the policy then refuses.
 * @param {import('./harness.js').Page} page
 * @param {RegExp[]} addresses
 */
async function untilWorkersAre(page, addresses) {
  const workers = () => page.workers().map((worker) => worker.url());
  const fits = () => addresses.every((address, i) => address.test(workers()[i] ?? ''));
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    if (workers().length === addresses.length && fits()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`the workers within 30 s are ${workers()}, not ${addresses}`);
}

/**
 * Browsers differ in what of a refused worker or module they write to the console.
 * @param {import('./harness.js').Page} page
 */
function forgive(page) {
  const refused = /worker|Content.Security.Policy|blob:|WebAssembly/i;
  for (const error of page.errors.splice(0)) assert.match(error, refused);
}

eachBrowser((browser) => {
  for (const [allowed, address] of /** @type {const} */ ([
    ["'self' blob:", /^blob:/],
    ["'self'", /\/dist\/worker\.js$/],
    ["'none'", null],
  ])) {
    test(`worker-src ${allowed}`, async () => {
      const page = await browser.open(FIGURE, { policy: policy(allowed) });
      await until(page, () => {
        const root = document.querySelector('attention-playground')?.shadowRoot;
        return Boolean(root?.querySelector('.playground:not(.waiting)'));
      });
      if (!address) await new Promise((resolve) => setTimeout(resolve, 500)); // all were tried
      await untilWorkersAre(page, address ? [address] : []);
      if (!allowed.includes('blob:')) forgive(page);
    });
  }

  test("a policy without 'wasm-unsafe-eval' is named", async () => {
    const page = await browser.open(FIGURE, { policy: policy("'none'", '') });
    await until(page, () => {
      const root = document.querySelector('attention-playground')?.shadowRoot;
      return /wasm-unsafe-eval/.test(root?.textContent ?? '');
    });
    forgive(page);
  });
});
