/** The address of a page: what it asks for, what is copied of it, what going elsewhere and back finds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachBrowser } from './harness.js';
import { linkOf, openFigure, script } from './page-figure.js';

/** Pairs too long for a link. */
const long = Array.from({ length: 300 }, (_, at) => {
  const word = (/** @type {number} */ place) =>
    (Math.sin(at * 4 + place) ** 2).toString(36).slice(2);
  return `${word(0)}${word(1)}\t${word(2)}${word(3)}`;
}).join('\n');

eachBrowser((browser) => {
  test('a copied link is the page as the reader has it', async () => {
    for (const page of ['/dist/?theme=dark', '/dist/embed.html?controls=tokens+masks&lang=en']) {
      const figure = await openFigure(browser, page, { lang: 'en' });
      await figure.after(() => figure.press('Causal'));
      const link = await figure.copied('Copy link');
      assert.equal(link, `${browser.server.origin}${page}${new URL(link).hash}`);
      const other = await openFigure(browser, link);
      assert.equal((await other.map()).mask?.[1], 2);
    }
  });

  test('a page that opens no links offers none, nor a frame that may not be there', async () => {
    const markup = `${script}<attention-playground lang="en"></attention-playground>`;
    const address = browser.server.add(markup).replace('localhost', 'course.localhost');
    const figure = await openFigure(browser, address);
    const entries = await figure.inside((root) =>
      [...root.querySelectorAll('.entries button')].map((entry) => entry.textContent),
    );
    assert.ok(!entries.includes('Copy link'), entries.join());
    assert.match(await figure.copied('Copy embed code'), /src="http:\/\/course\.localhost/);
    assert.match(await figure.copied('Copy frame code'), /src="embed\.html\?/);
    await figure.page.evaluate(() =>
      document.querySelector('attention-playground')?.setAttribute('follow-hash', ''),
    );
    assert.equal(await figure.copied('Copy link'), address);
  });

  test('the address asks for a language and a theme, until the reader chooses others', async () => {
    const figure = await openFigure(browser, '/dist/?lesson=bahdanau&lang=zh&theme=dark');
    const { page } = figure;
    const seen = () =>
      page.evaluate(() => {
        const { lang, dataset } = document.documentElement;
        return { lang, theme: dataset.theme, title: document.title, asks: location.search };
      });
    assert.deepEqual(await seen(), {
      lang: 'zh-CN',
      theme: 'dark',
      title: 'Bahdanau 注意力 · 注意力演示台',
      asks: '?lesson=bahdanau&lang=zh&theme=dark',
    });
    await page.click('attention-settings button[lang="en"]');
    await page.waitForFunction(() => /Bahdanau attention · Attention/.test(document.title));
    await page.click('attention-settings button:not([lang])');
    assert.equal((await seen()).asks, '?lesson=bahdanau&lang=en&theme=light');
    await page.click('nav a:last-child');
    assert.deepEqual(await seen(), {
      lang: 'en',
      theme: 'light',
      title: 'Transformer · Attention Playground',
      asks: '?lesson=transformer&lang=en&theme=light',
    });
    const frame = await openFigure(browser, '/dist/embed.html?lesson=transformer&lang=zh-CN');
    assert.equal(await frame.page.title(), 'Transformer · 注意力演示台');
  });

  test('another lesson and back finds everything as it was', async () => {
    const figure = await openFigure(browser, '/dist/', { lang: 'en' });
    const { page } = figure;
    const go = (/** @type {number} */ place) => page.click(`nav a:nth-child(${place})`);
    const shows = (/** @type {string} */ lesson, /** @type {string} */ text) =>
      figure.until(
        (root, lesson, text) =>
          root.host.getAttribute('lesson') === lesson &&
          root.querySelector('.playground:not(.waiting) .source textarea')?.value === text,
        lesson,
        text,
      );
    await figure.after(() => figure.paste('we look back'));
    await go(4);
    await figure.until((root) => root.querySelector('.corpus'));
    await figure.press('your own');
    await figure.paste(long, '.corpus textarea');
    await figure.until((root) => root.querySelector('.notice'));
    assert.match((await figure.notices()).join(), /too large for a link/);
    await go(2);
    await shows('multi-head', 'we look back');
    await figure.after(() => figure.press('Undo'));
    await shows('multi-head', 'the cat sat on the mat');
    await figure.after(() => figure.press('Redo'));

    await page.goBack();
    await figure.until((root) => root.querySelector('.corpus textarea:not([hidden])'));
    assert.equal(
      await figure.inside((root) => root.querySelector('.corpus textarea')?.value.length),
      long.length,
    );
    assert.equal(await page.evaluate(() => document.querySelectorAll('main > *').length), 1);
    await figure.press('Undo');
    await figure.until((root) => !root.querySelector('.notice'));
    await page.goForward();
    await shows('multi-head', 'we look back');
    await page.waitForFunction(() => location.hash);
    await figure.inside((root) => {
      for (const fold of root.querySelectorAll('details')) fold.open = true;
    });
    await page.goBack();
    await figure.until((root) => root.querySelector('.corpus'));
    await go(2);
    await shows('multi-head', 'we look back');
    assert.ok(
      await figure.inside((root) =>
        [...root.querySelectorAll('details')].every((fold) => fold.open),
      ),
      'what was unfolded stays so',
    );
    await go(1);
    await page.reload();
    await page.waitForSelector('nav a[aria-current]:first-child');
    await go(2);
    await shows('multi-head', 'we look back');
  });

  test('a page asks before it loses what no address holds', async () => {
    const figure = await openFigure(browser, '/dist/?lesson=bahdanau', { lang: 'en' });
    const asks = () =>
      figure.page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
    await figure.press('your own');
    assert.equal(await asks(), false);
    await figure.paste(long, '.corpus textarea');
    await figure.until((root) => root.querySelector('.notice'));
    assert.equal(await asks(), true);
    await figure.page.click('nav a');
    assert.equal(await asks(), true, 'also from another lesson');
    await figure.page.goBack();
    await figure.page.goForward();
    await figure.until((root) => root.querySelector('.plot'));
    await figure.page.click('nav a:nth-child(3)');
    await figure.until((root) => root.querySelector('.corpus'));
    assert.equal(
      await figure.inside((root) => root.querySelector('.corpus textarea')?.value.length),
      long.length,
      'found again',
    );
    assert.equal(await asks(), true);
    await figure.press('Undo');
    await figure.until((root) => !root.querySelector('.notice'));
    assert.equal(await asks(), false);
  });

  test('a figure that is gone, or whose address is none of its own, asks nothing', async () => {
    const figure = await openFigure(
      browser,
      `${script}<attention-playground follow-hash lang="en" lesson="bahdanau"></attention-playground>`,
    );
    const { page } = figure;
    const asks = () =>
      page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
    const follow = (/** @type {boolean} */ on) =>
      page.evaluate((on) => {
        document.querySelector('attention-playground')?.toggleAttribute('follow-hash', on);
      }, on);
    await figure.press('your own');
    await figure.paste(long, '.corpus textarea');
    await figure.until((root) => root.querySelector('.notice'));
    assert.equal(await asks(), true);
    await follow(false);
    assert.equal(await asks(), false);
    await follow(true);
    assert.equal(await asks(), true);
    await page.evaluate(() => document.querySelector('attention-playground')?.remove());
    assert.equal(await asks(), false);
  });

  test('an address that is there when a figure begins to follow it is opened', async () => {
    const markup = `${script}<attention-playground lang="en"></attention-playground>`;
    const hash = linkOf({ heads: 2 });
    const figure = await openFigure(browser, browser.server.add(markup) + hash);
    await figure.page.evaluate(() =>
      document.querySelector('attention-playground')?.setAttribute('follow-hash', ''),
    );
    await figure.until((root) => root.querySelectorAll('.heads .mini, .heads .tile').length === 3);
    await figure.after(() => figure.press('Causal'));
    assert.equal((await figure.map()).mask?.[1], 2);
  });

  test('a lesson that there is not, even by an inherited name', async () => {
    for (const name of ['constructor', '__proto__', 'nothing']) {
      const figure = await openFigure(browser, `/dist/?lesson=${name}`, { lang: 'en' });
      const { page } = figure;
      assert.match((await figure.notices()).join(), new RegExp(name));
      const current = () =>
        page.$$eval('nav a', (links) => links.map((link) => link.getAttribute('aria-current')));
      assert.deepEqual(await current(), [null, 'page', null, null]);
      await page.click('nav a');
      await figure.until((root) => root.querySelector('.plot'));
      assert.deepEqual(await current(), ['page', null, null, null]);
    }
  });

  test('where nothing can be stored a lesson is found again too', async () => {
    const page = await browser.open(
      '<iframe sandbox="allow-scripts" src="/dist/index.html" width="1200" height="900"></iframe>',
      { policy: null },
    );
    const frame = await page.waitForFrame((frame) => frame.url().endsWith('index.html'));
    const text = (/** @type {string} */ wanted) =>
      frame.waitForFunction(
        (wanted) =>
          /** @type {any} */ (
            document
              .querySelector('attention-playground')
              ?.shadowRoot?.querySelector('.playground:not(.waiting) .source textarea')
          )?.value === wanted,
        {},
        wanted,
      );
    await text('the cat sat on the mat');
    await frame.evaluate(() => {
      const area = /** @type {any} */ (
        document
          .querySelector('attention-playground')
          ?.shadowRoot?.querySelector('.source textarea')
      );
      area.value = 'we look back';
      area.dispatchEvent(new InputEvent('input', { bubbles: true }));
    });
    await frame.waitForFunction(() => location.hash);
    await frame.click('nav a');
    await frame.waitForFunction(() =>
      document.querySelector('attention-playground')?.shadowRoot?.querySelector('.plot'),
    );
    await frame.click('nav a:nth-child(2)');
    await text('we look back');
  });
});
