/**
 * Runs browser tests in the real Chromium and the real Firefox of this machine.
 *
 *   eachBrowser((browser) => {
 *     test('draws', async () => {
 *       const page = await browser.open('<attention-heatmap></attention-heatmap>', { ratio: 2 });
 *       await page.evaluate(() => import('/web/elements/index.js'));
 *       …
 *     });
 *   });
 *
 * A browser starts once in a process. A small server of each file shows the repository on localhost, so
 * that pages import the sources as they are, under the content security policy the figures promise to
 * run under, and find nothing stored by another file. Whatever a page throws, or writes to the console
 * as an error, fails the test that opened it; `page.expectErrors(pattern)` takes the errors a test
 * provokes on purpose.
 *
 * CHROMIUM and FIREFOX name other executables; ATTN_BROWSERS=chromium runs one of the two.
 */
import assert from 'node:assert/strict';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, afterEach, before, describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import puppeteer from 'puppeteer-core';
import { find, POLICY, typeOf } from '../../tools/serve.js';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Serves files below the repository's root and pages handed over as text, under the policy of the
 * project's own server or another. Two servers are two origins.
 * @param {{ policy?: string | null }} [options] null sends no policy
 */
export async function serve(options = {}) {
  /** @type {Map<string, { html: string, policy: string | null }>} */
  const pages = new Map();
  const own = options.policy === undefined ? POLICY : options.policy;
  const folder = await realpath(root);
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const page = pages.get(pathname);
    const file = page ? { name: pathname, body: page.html } : await find(folder, pathname);
    if (!file) {
      response.writeHead(pathname === '/favicon.ico' ? 204 : 404).end();
      return;
    }
    const allowed = page ? page.policy : own;
    if (allowed) response.setHeader('Content-Security-Policy', allowed);
    response.setHeader('Cache-Control', 'max-age=600');
    response.setHeader('Content-Type', typeOf(file.name));
    response.end(file.body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  const origin = `http://localhost:${address.port}`;
  return {
    origin,
    /**
     * @param {string} body markup of the page's body, or a whole document
     * @param {{ policy?: string | null }} [options]
     * @returns {string} its address
     */
    add(body, { policy = own } = {}) {
      const path = `/page-${pages.size}.html`;
      const html = /^\s*<!doctype/i.test(body)
        ? body
        : `<!doctype html><html lang="en"><meta charset="utf-8"><title>Test</title><meta name="viewport" content="width=device-width"><main>${body}</main></html>`;
      pages.set(path, { html, policy });
      return origin + path;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** For a browser to start in, in milliseconds: a dozen that start at once took one of them beyond 30 s. */
const START = 120_000;

/**
 * @param {'chromium' | 'firefox'} name
 * @param {{ oneProcess?: boolean }} [options] for all pages, where readers have one for each: it then takes
 *   a third less to open one
 */
export function launch(name, { oneProcess = false } = {}) {
  if (name === 'chromium') {
    const one = ['--renderer-process-limit=1', '--disable-site-isolation-trials'];
    const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--lang=en-US'];
    return puppeteer.launch({
      timeout: START,
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: oneProcess ? [...args, ...one] : args,
    });
  }
  const one = {
    'fission.autostart': false,
    'dom.ipc.processCount': 1,
    'dom.ipc.processPrelaunch.enabled': false,
  };
  return puppeteer.launch({
    browser: 'firefox',
    timeout: START,
    executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    args: ['--no-remote'],
    extraPrefsFirefox: {
      'intl.accept_languages': 'en-US',
      // Firefox reports the icon it asks for by itself as a breach of the page's policy.
      'browser.chrome.site_icons': false,
      // A finger that stays 300 ms on the glass is no tap to Firefox, and a menu after 500 ms; a busy
      // machine takes that long between the two commands which set it down and lift it.
      'apz.max_tap_time': 30_000,
      'ui.click_hold_context_menus.delay': 60_000,
      ...(oneProcess ? one : {}),
    },
  });
}

/** @type {Map<string, ReturnType<typeof launch>>} */
const launched = new Map();

/**
 * The browser of that name in this process, anew when it has crashed.
 * @param {'chromium' | 'firefox'} name
 */
async function running(name) {
  const last = await launched.get(name)?.catch(() => null);
  if (!last?.connected) launched.set(name, launch(name, { oneProcess: true }));
  return /** @type {ReturnType<typeof launch>} */ (launched.get(name));
}

async function closeAll() {
  for (const browser of launched.values()) await (await browser).close();
}

/**
 * A puppeteer page that remembers its errors.
 * @typedef {import('puppeteer-core').Page & {
 *   errors: string[],
 *   expectErrors: (pattern: RegExp) => void,
 * }} Page
 */

/**
 * @typedef {object} Browser
 * @property {'chromium' | 'firefox'} name
 * @property {Awaited<ReturnType<typeof serve>>} server set once tests run
 * @property {import('puppeteer-core').Browser} puppeteer set once tests run
 * @property {(page: string, options?: OpenOptions) => Promise<Page>} open `page` is markup, or an
 *   address (`/dist/index.html`, `file://…`, `http://…`)
 */

/**
 * @typedef {object} OpenOptions
 * @property {number} [width] of the viewport, default 1280
 * @property {number} [height] default 800
 * @property {number} [ratio] device pixels in a CSS pixel, default 1
 * @property {string | null} [policy] another content security policy, null for none
 */

/** What the tests declared next are about; of a process that runs several files. */
let topic = '';
/** Whether the end of the process closes its browsers. */
let tidy = false;

/**
 * Runs every test of this folder in one browser and one process.
 * @param {'chromium' | 'firefox'} name
 */
export async function runAll(name) {
  process.env.ATTN_BROWSERS = name;
  const files = await readdir(new URL('.', import.meta.url));
  for (const file of files.filter((file) => file.endsWith('.test.js')).sort()) {
    topic = `${file}, `;
    await import(new URL(file, import.meta.url).href);
  }
}

/**
 * Declares the same tests once for each browser.
 * @param {(browser: Browser) => void} declare
 */
export function eachBrowser(declare) {
  const chosen = process.env.ATTN_BROWSERS?.split(',') ?? ['chromium', 'firefox'];
  if (!tidy) after(closeAll);
  tidy = true;
  for (const name of /** @type {const} */ (['chromium', 'firefox'])) {
    if (!chosen.includes(name)) continue;
    describe(topic + name, { timeout: 300_000 }, () => {
      /** @type {Page[]} */
      let pages = [];
      const browser = /** @type {Browser} */ ({
        name,
        async open(page, { width = 1280, height = 800, ratio = 1, policy } = {}) {
          const opened = await watch(await this.puppeteer.newPage());
          pages.push(opened);
          await opened.setViewport({ width, height, deviceScaleFactor: ratio });
          const address = /^(\w+:|\/)/.test(page)
            ? new URL(page, this.server.origin).href
            : this.server.add(page, { policy });
          await opened.goto(address);
          return opened;
        },
      });
      before(async () => {
        browser.server = await serve();
        browser.puppeteer = await running(name);
      });
      after(() => browser.server?.close());
      afterEach(async () => {
        const errors = new Set(pages.flatMap((page) => page.errors));
        await Promise.all(pages.map((page) => page.close()));
        pages = [];
        assert.deepEqual([...errors], [], 'the page reported errors');
      });
      declare(browser);
    });
  }
}

/**
 * @param {import('puppeteer-core').Page} page
 * @returns {Promise<Page>}
 */
async function watch(page) {
  const errors = /** @type {string[]} */ ([]);
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  return Object.assign(page, {
    errors,
    /** @param {RegExp} pattern */
    expectErrors(pattern) {
      const taken = errors.filter((error) => pattern.test(error));
      assert.ok(taken.length > 0, `no error matches ${pattern}: ${JSON.stringify(errors)}`);
      for (const error of taken) errors.splice(errors.indexOf(error), 1);
    },
  });
}

/**
 * What axe finds wrong with a page, one line a finding; empty is good.
 * @param {Page} page
 * @param {object} [options] axe.run options
 * @returns {Promise<string[]>}
 */
export async function axe(page, options = {}) {
  const source = await readFile(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8');
  await page.evaluate(`${source};0`);
  return page.evaluate(async (options) => {
    // @ts-expect-error axe is a global of the script above
    const { violations } = await window.axe.run(document, options);
    return violations.flatMap((/** @type {any} */ violation) =>
      violation.nodes.map(
        (/** @type {any} */ node) =>
          `${violation.id}: ${node.target.flat().join(' ')}: ${node.failureSummary}`,
      ),
    );
  }, options);
}

/**
 * The colour of one pixel of a canvas, read back from its backing store.
 * @param {import('puppeteer-core').ElementHandle<HTMLCanvasElement>} canvas
 * @param {number} x in CSS pixels from the canvas's left edge
 * @param {number} y
 * @returns {Promise<number[]>} [red, green, blue, alpha]
 */
export function pixel(canvas, x, y) {
  return canvas.evaluate(
    (canvas, x, y) => {
      const ratio = canvas.width / canvas.getBoundingClientRect().width;
      const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
      return [...context.getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data];
    },
    x,
    y,
  );
}
