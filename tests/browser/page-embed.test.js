/** The one-file script wherever pages put it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { serve as serveFolder } from '../../tools/serve.js';
import { eachBrowser, root, serve } from './harness.js';
import { allDrawn, figureOn, openFigure, script } from './page-figure.js';

eachBrowser((browser) => {
  test('from a file', async () => {
    const figure = await openFigure(browser, pathToFileURL(`${root}dist/index.html`).href);
    await figure.after(() => figure.press('Causal'));
    assert.equal((await figure.map()).mask?.[1], 2);
    await figure.page.waitForFunction(() => location.hash.startsWith('#v1.'));
  });

  test('from another origin, without leave', async () => {
    const other = await serve({ policy: null });
    try {
      const page = await browser.open(
        `<script src="${other.origin}/dist/attention-playground.js"></script><attention-playground></attention-playground>`,
        { policy: null },
      );
      const figure = await figureOn(page);
      await figure.after(() => figure.press('Causal'));
      assert.equal((await figure.map()).mask?.[1], 2);
    } finally {
      await other.close();
    }
  });

  for (const [kind, sandbox] of [
    ['a frame', ''],
    ['a sandboxed frame', 'sandbox="allow-scripts"'],
  ]) {
    test(`in ${kind}, which tells its height`, async () => {
      const page = await browser.open(
        `<iframe ${sandbox} width="600" height="400" title="figure"></iframe>`,
        { policy: null },
      );
      await page.evaluate(() => {
        addEventListener('message', ({ data }) => Object.assign(window, { told: data }));
        const frame = /** @type {HTMLIFrameElement} */ (document.querySelector('iframe'));
        frame.src = '/dist/embed.html?controls=tokens+masks&lang=zh-CN&theme=dark';
      });
      const frame = await page.waitForFrame((at) => at.url().includes('embed.html'));
      const figure = await figureOn(frame);
      await figure.after(() => figure.press('因果掩码'));
      assert.equal((await figure.map()).mask?.[1], 2);
      assert.equal(await frame.evaluate(() => self.origin === 'null'), sandbox !== '');
      // The frame tells it once the size is observed, by a message.
      const heard = await page.waitForFunction(() => /** @type {any} */ (window).told);
      const told = /** @type {any} */ (await heard.jsonValue());
      assert.equal(told.type, 'attention-playground:height');
      assert.ok(told.height > 400, String(told.height));
      await figure.press('更多设置');
      await page.waitForFunction(
        (before) => /** @type {any} */ (window).told.height > before,
        {},
        told.height,
      );
    });
  }

  test('what a sandbox forbids to save or copy is shown', async () => {
    const page = await browser.open(
      '<iframe sandbox="allow-scripts" src="/dist/embed.html?lang=en" width="900" height="700" title="figure"></iframe>',
      { policy: null },
    );
    const frame = await page.waitForFrame((at) => at.url().includes('embed.html'));
    const figure = await figureOn(frame);
    const shown = (/** @type {string} */ source) =>
      figure.until((root, source) => {
        const area = /** @type {HTMLTextAreaElement} */ (root.querySelector('.by-hand textarea'));
        return !area.parentElement?.hidden && new RegExp(source).test(area.value);
      }, source);
    await figure.press('CSV');
    await shown('the,cat,sat');
    await figure.press('NumPy');
    await shown("b64decode\\('k05VTVBZ");
    await figure.press('PNG');
    const [width, height] = await figure.inside(async (root) => {
      const heatmap = /** @type {any} */ (root.querySelector('attention-heatmap'));
      const { width, height } = await createImageBitmap(await heatmap.exportAs('png'));
      return [width, height];
    });
    await figure.until(
      (root, width, height) => {
        const { canvas, why, text } = /** @type {Record<string, any>} */ ({
          canvas: root.querySelector('.by-hand canvas'),
          why: root.querySelector('.by-hand .note'),
          text: root.querySelector('.by-hand textarea'),
        });
        const drawn = canvas.getContext('2d').getImageData(0, 0, width, height).data.some(Boolean);
        const sized = canvas.width === width && canvas.height === height;
        return drawn && sized && text.hidden && /may not save files/.test(why.textContent);
      },
      width,
      height,
    );
    // Firefox lets a sandboxed frame write to the clipboard.
    await figure.press('Copy link');
    if (browser.name === 'chromium') await shown('/embed\\.html\\?lang=en$');
    else
      await figure.until((root) => root.querySelector('.export')?.textContent?.includes('Copied'));
    page.errors.length = 0; // Chromium reports the refused clipboard
  });

  for (const [sandbox, saves] of /** @type {const} */ ([
    ['allow-scripts allow-same-origin', false],
    ['allow-scripts allow-same-origin allow-downloads', true],
  ])) {
    test(`a sandbox with ${sandbox} ${saves ? 'saves' : 'shows'}`, async () => {
      const page = await browser.open(
        `<iframe sandbox="${sandbox}" src="/dist/embed.html?lang=en" title="figure"></iframe>`,
        { policy: null },
      );
      const frame = await page.waitForFrame((at) => at.url().includes('embed.html'));
      const figure = await figureOn(frame);
      await frame.evaluate(() => {
        HTMLAnchorElement.prototype.click = function () {
          Object.assign(window, { saved: this.download });
        };
      });
      await figure.press('CSV');
      if (saves) await frame.waitForFunction(() => /** @type {any} */ (window).saved);
      else await figure.until((root) => root.querySelector('.by-hand:not([hidden])'));
      assert.equal(await frame.evaluate(() => 'saved' in window), saves);
    });
  }

  test('P8 the script included twice', async () => {
    const page = await browser.open(
      `${script}${script}<attention-playground></attention-playground><attention-playground></attention-playground>`,
    );
    await (await figureOn(page)).map();
    await allDrawn(page);
  });

  test('two figures share nothing', async () => {
    const page = await browser.open(
      `${script}<attention-playground></attention-playground><attention-playground id="second" lang="zh-CN"></attention-playground>`,
    );
    const figure = await figureOn(page);
    const second = () =>
      page.evaluate(() => {
        const root = document.querySelector('#second')?.shadowRoot;
        return [...(root?.querySelectorAll('.chip') ?? [])].map((chip) => chip.textContent).join();
      });
    await page.waitForFunction(() =>
      document.querySelector('#second')?.shadowRoot?.querySelector('.playground:not(.waiting)'),
    );
    const before = await second();
    await figure.after(() => figure.press('no look ahead'));
    assert.equal(await second(), before);
    assert.equal(await page.evaluate(() => location.hash), '', 'none of them owns the address');
  });

  test('P7 first hidden, then shown', async () => {
    const page = await browser.open(
      `${script}<div hidden><attention-playground></attention-playground></div>`,
      { ratio: 2 },
    );
    const figure = await figureOn(page);
    await figure.map();
    await page.evaluate(() => document.querySelector('div')?.removeAttribute('hidden'));
    await figure.until((root) => {
      const map = root.querySelector('attention-heatmap')?.shadowRoot?.querySelector('canvas');
      const mini = root.querySelector('.mini canvas')?.getBoundingClientRect();
      return map && map.width > 300 && mini && mini.width > 50;
    });
    const { width, css } = await figure.inside((root) => {
      const map = root.querySelector('attention-heatmap')?.shadowRoot?.querySelector('canvas');
      return { width: map?.width, css: Number(map?.getBoundingClientRect().width) };
    });
    assert.equal(width, Math.round(css * 2));
  });

  test('the panels a page names, the others one click away', async () => {
    const page = await browser.open(
      `${script}<attention-playground controls="tokens masks" state="#v1.eJyrVspITUwpVrIyrAUAFssDrQ"></attention-playground>`,
    );
    const figure = await figureOn(page);
    const visible = (/** @type {string} */ selector) =>
      figure.inside(
        (root, selector) => /** @type {any} */ (root.querySelector(selector))?.checkVisibility(),
        selector,
      );
    assert.ok(await visible('.source textarea'));
    assert.ok(!(await visible('.inspector')));
    assert.ok(!(await visible('.experiments')));
    assert.equal(
      await figure.inside((root) => root.querySelectorAll('.heads li').length),
      2,
      'the state attribute says one head',
    );
    const gap = await figure.inside((root) => {
      const [layout, rest] = ['.layout', '.layout + .fold'].map((part) =>
        /** @type {Element} */ (root.querySelector(part)).getBoundingClientRect(),
      );
      return rest.top - layout.bottom;
    });
    assert.ok(gap >= 12, `${gap} px between the figure and the fold below it`);
    await figure.press('More controls');
    assert.ok(await visible('.inspector'));
    await figure.after(() => figure.press('Causal'));
    await figure.after(() => figure.press('Reset'));
    assert.equal(await figure.inside((root) => root.querySelectorAll('.heads li').length), 2);
    await figure.after(() =>
      page.evaluate(() =>
        document.querySelector('attention-playground')?.setAttribute('state', ''),
      ),
    );
    assert.equal(await figure.inside((root) => root.querySelectorAll('.heads li').length), 5);
  });

  test('moved in the page and taken off it', async () => {
    const page = await browser.open(
      `${script}<attention-playground></attention-playground><section></section>`,
    );
    const figure = await figureOn(page);
    await page.evaluate(() => {
      const element = /** @type {Element} */ (document.querySelector('attention-playground'));
      document.querySelector('section')?.append(element);
    });
    await figure.until((root) => root.querySelector('.playground:not(.waiting)'));
    await figure.after(() => figure.press('Causal'));
    assert.equal((await figure.map()).mask?.[1], 2);
    await page.evaluate(() => document.querySelector('attention-playground')?.remove());
  });

  test('the page of examples, as it is served', async () => {
    const served = await serveFolder({ root: `${root}dist` });
    try {
      const page = await browser.open(`${served.url}examples.html`);
      await allDrawn(page);
      const frames = page.frames().filter((frame) => frame.url().includes('embed.html'));
      assert.equal(frames.length, 2);
      for (const [index, frame] of frames.entries()) {
        // Chromium paints nothing in frames that are out of sight.
        await page.evaluate(
          (at) => document.querySelectorAll('iframe')[at].scrollIntoView(),
          index,
        );
        assert.ok((await (await figureOn(frame)).map()).rows > 2);
      }
    } finally {
      await served.close();
    }
  });
});
