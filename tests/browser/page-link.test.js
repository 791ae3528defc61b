/** The address names the figure: the same bits in the other browser, and nothing from a hostile one. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eachBrowser, launch, serve } from './harness.js';
import { figureOn, linkOf, openFigure, script } from './page-figure.js';

eachBrowser((browser) => {
  const address = (/** @type {string} */ hash) => `/dist/index.html${hash}`;

  test('the address follows the figure, and the figure the address', async () => {
    const figure = await openFigure(browser);
    const { page } = figure;
    await figure.after(() => figure.press('Causal'));
    await page.waitForFunction(() => location.hash.startsWith('#v1.'));
    const hash = await page.evaluate(() => location.hash);
    await figure.after(() => figure.press('Undo'));
    await page.waitForFunction(() => location.hash === '');
    await figure.after(() => page.evaluate((hash) => location.assign(hash), hash));
    assert.equal((await figure.map()).mask?.[1], 2);
    await figure.after(() => figure.press('Undo'));
    assert.equal((await figure.map()).mask?.[1], 0);
  });

  test('a figure follows the address from when it is told to, until it is told not to', async () => {
    const figure = await openFigure(
      browser,
      `${script}<h1>Test</h1><attention-playground lang="en"></attention-playground>`,
    );
    const { page } = figure;
    const tell = (/** @type {boolean} */ follow) =>
      page.evaluate(
        (follow) =>
          document.querySelector('attention-playground')?.toggleAttribute('follow-hash', follow),
        follow,
      );
    const goTo = (/** @type {string} */ hash) =>
      page.evaluate((hash) => location.assign(hash), hash);
    const heads = () => figure.inside((root) => root.querySelectorAll('.heads li').length - 1);
    await tell(true);
    await figure.after(() => goTo(linkOf({ heads: 2 })));
    assert.equal(await heads(), 2);
    await tell(false);
    await goTo(linkOf({ heads: 8 }));
    await figure.after(() => figure.press('Causal'));
    assert.equal(await heads(), 2);
    assert.equal(await page.evaluate(() => location.hash), linkOf({ heads: 8 }));
  });

  test('another lesson does not read the link of the one before, and takes it away', async () => {
    const figure = await openFigure(browser, address(linkOf({ heads: 2, seed: 5 })));
    const { page } = figure;
    await page.evaluate(() =>
      document.querySelector('attention-playground')?.setAttribute('lesson', 'kernel-regression'),
    );
    await page.waitForFunction(() => location.hash === '');
    assert.deepEqual(await figure.notices(), []);
  });

  test('an experiment is an ordinary link', async () => {
    const figure = await openFigure(browser);
    const link = await figure.byName('no look ahead');
    const href = await link.evaluate(async (link) => {
      const anchor = /** @type {HTMLAnchorElement} */ (link);
      while (!anchor.hash) await new Promise(requestAnimationFrame);
      return anchor.href;
    });
    const other = await openFigure(browser, href);
    assert.deepEqual((await other.map()).rowLabels, ['we', 'only', 'look', 'back']);
    assert.match(
      await other.inside((root) => root.querySelector('.look')?.textContent ?? ''),
      /causal mask/,
    );
  });

  describe('P6 a broken or hostile hash gives the defaults, a notice, and a working figure', () => {
    const hashes = {
      '#%': /broken/,
      '#v1.%E0%A4%A': /broken/,
      '#v2.AAAA': /another version/,
      [`#v1.${'A'.repeat(9000)}`]: /longer than/,
      [linkOf(Buffer.alloc(3_000_000))]: /broken/,
      [linkOf({ head: 9 })]: /\(head\)/,
      [linkOf({ validLength: 9 })]: /\(validLength\)/,
      [linkOf({ source: Array(65).fill('x'), temperature: -1 })]: /\(source, temperature\)/,
      [linkOf(Buffer.from('{"__proto__":{"heads":2}}'))]: /\(__proto__\)/,
    };
    for (const [hash, notice] of Object.entries(hashes)) {
      test(hash.slice(0, 24), async () => {
        const figure = await openFigure(browser, address(hash));
        assert.match((await figure.notices()).join(), notice);
        assert.deepEqual((await figure.map()).rowLabels, ['the', 'cat', 'sat', 'on', 'the', 'mat']);
        await figure.press('Dismiss');
        assert.deepEqual(await figure.notices(), []);
        await figure.after(() => figure.press('Causal'));
        assert.equal((await figure.map()).mask?.[1], 2);
      });
    }
  });

  describe('in the other browser', () => {
    /** @type {import('puppeteer-core').Browser} */
    let other;
    /** @type {Awaited<ReturnType<typeof serve>>} */
    let server;
    before(async () => {
      server = await serve();
      other = await launch(browser.name === 'chromium' ? 'firefox' : 'chromium');
    });
    after(async () => {
      await other?.close();
      await server?.close();
    });

    test('a link gives the same bits', async () => {
      const state = {
        source: ['我', '喜欢', 'attention', '👩‍👩‍👧', '。'],
        cross: true,
        causal: true,
        window: 2,
        closed: ['', '01'],
        hiddens: 60,
        heads: 5,
        score: 'additive',
        temperature: 0.3,
        position: 'sinusoidal',
        seed: 2024,
        silenced: [1],
        edits: [
          ['attention.scores', [0, 6, 4], 'NaN'],
          ['attention.query', [2, 1, 3], 1.5],
        ],
        show: 'attention.output',
      };
      const here = await openFigure(browser, address(linkOf(state)));
      assert.deepEqual(await here.notices(), []);
      const page = await other.newPage();
      await page.goto(server.origin + address(linkOf(state)));
      const there = await figureOn(/** @type {any} */ (page));
      const [a, b] = [await here.map(), await there.map()];
      assert.equal(a.columns, 60);
      assert.deepEqual(a, b);
    });
  });
});
