/** Nothing a reader made or typed is lost: not by a move, not by another address, not by a refusal. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eachBrowser } from './harness.js';
import { figureOn, linkOf, openFigure, script } from './page-figure.js';

const address = (/** @type {string} */ hash) => `/dist/index.html${hash}`;
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
const chipsAre = (/** @type {ShadowRoot} */ root, /** @type {string} */ expected) =>
  [...root.querySelectorAll('.source .chip')].map((chip) => chip.textContent).join() === expected;

eachBrowser((browser) => {
  const textOf = (/** @type {Awaited<ReturnType<typeof figureOn>>} */ figure) =>
    figure.inside(
      (root) => /** @type {HTMLTextAreaElement} */ (root.querySelector('.source textarea')).value,
    );

  test('a figure that is moved keeps its state and its history', async () => {
    const page = await browser.open(
      `${script}<attention-playground></attention-playground><section></section>`,
    );
    const figure = await figureOn(page);
    await figure.after(async () =>
      figure.type(await figure.find('.source textarea'), 'alpha beta gamma'),
    );
    await figure.after(() => figure.press('Causal'));
    const move = () =>
      page.evaluate(() => {
        const element = /** @type {Element} */ (document.querySelector('attention-playground'));
        document.querySelector('section')?.append(element);
      });
    await figure.after(move);
    assert.deepEqual((await figure.map()).rowLabels, ['alpha', 'beta', 'gamma']);
    assert.equal((await figure.map()).mask?.[1], 2);
    await figure.after(() => figure.press('Undo'));
    assert.equal((await figure.map()).mask?.[1], 0);
    await page.evaluate(() => {
      const element = /** @type {Element} */ (document.querySelector('attention-playground'));
      element.remove();
      element.setAttribute('state', '#v1.eJyrVspITUwpVrIyrAUAFssDrQ');
      document.body.append(element);
    });
    await figure.until((root) => root.querySelectorAll('.heads li').length === 2);
  });

  test('heads behind a narrower width come back from the address', async () => {
    const figure = await openFigure(browser, address(linkOf({ heads: 8, hiddens: 36 })));
    assert.deepEqual(await figure.notices(), []);
    assert.equal(await figure.inside((root) => root.querySelectorAll('.heads li').length), 7);
  });

  describe('an address that cannot be read stays until the reader goes on', () => {
    for (const hash of ['#%', '#v9.abc', '#v1.%%%', linkOf([1])]) {
      test(hash, async () => {
        const figure = await openFigure(browser, address(hash));
        const now = () => figure.page.evaluate(() => location.hash);
        await pause(500);
        assert.equal(await now(), hash);
        assert.equal((await figure.notices()).length, 1);
        await figure.after(() => figure.press('Causal'));
        await figure.page.waitForFunction((hash) => location.hash !== hash, {}, hash);
        const link = await now();
        await figure.page.evaluate((hash) => location.assign(hash), hash);
        await figure.until((root) => root.querySelector('.notice'));
        await pause(500);
        assert.equal(await now(), hash);
        await figure.after(() => figure.page.evaluate((link) => location.assign(link), link));
        assert.deepEqual(await figure.notices(), [], 'a good link takes the notice away');
      });
    }
  });

  test('an address of a part of the page leaves the figure alone', async () => {
    const figure = await openFigure(browser, address('#section-2'));
    const { page } = figure;
    assert.deepEqual(await figure.notices(), []);
    await figure.after(() => figure.press('Causal'));
    await page.waitForFunction(() => location.hash.startsWith('#v1.'));
    for (const hash of ['#section-2', '#%E7%AC%AC']) {
      await page.evaluate((hash) => location.assign(hash), hash);
      await pause(500);
      assert.equal(await page.evaluate(() => location.hash), hash);
      assert.equal((await figure.map()).mask?.[1], 2);
      assert.deepEqual(await figure.notices(), []);
    }
    await figure.after(() => figure.press('Undo'));
    await page.waitForFunction(() => location.hash === '');
  });

  test('the last address wins over whatever is under way', async () => {
    const figure = await openFigure(browser);
    const { page } = figure;
    const texts = Array.from({ length: 12 }, (_, at) => [`x${at}`, 'y', 'z']);
    for (const [at, source] of texts.entries()) {
      await figure.press('Causal');
      await pause(150 + 6 * at);
      const hash = linkOf({ source });
      await page.evaluate((hash) => location.assign(hash), hash);
      await figure.until(chipsAre, source.join());
      await pause(300);
      assert.equal(await page.evaluate(() => location.hash), hash);
      await figure.until(chipsAre, source.join());
    }
    await page.evaluate(
      (links) => {
        for (const link of links) location.hash = link;
      },
      texts.concat(texts).map((source) => linkOf({ source })),
    );
    await figure.until(chipsAre, 'x11,y,z');
    await pause(300);
    assert.equal(await page.evaluate(() => location.hash), linkOf({ source: ['x11', 'y', 'z'] }));
  });

  test('a refused text stays while chips go and the language changes', async () => {
    const figure = await openFigure(browser);
    const { page } = figure;
    const many = Array.from({ length: 65 }, (_, at) => `w${at}`).join(' ');
    await figure.paste(many.slice(0, -4));
    await (await figure.find('.source textarea')).press('End');
    await page.keyboard.type(many.slice(-4));
    // Its last fitting text has 64 tokens.
    await figure.until((root) => root.querySelectorAll('.source .chip').length === 64);
    assert.match((await figure.errors()).join(), /65 tokens/);
    await figure.after(async () => (await figure.find('.source .chip')).press('Delete'));
    assert.equal((await figure.map()).rows, 63);
    assert.equal(await textOf(figure), many);
    assert.match((await figure.errors()).join(), /65 tokens/);
    await figure.inside((root) => {
      for (const fold of root.querySelectorAll('details')) fold.open = true;
    });
    await figure.type(await figure.byName('Width'), '3000');
    assert.match((await figure.errors()).join(), /65 tokens.*3000/s);
    await page.evaluate(() => document.documentElement.setAttribute('lang', 'zh-CN'));
    await figure.until((root) => root.textContent?.includes('掩码'));
    assert.equal(await textOf(figure), many);
    assert.match((await figure.errors()).join(), /65 个词元.*3000/s);
    await figure.after(async () => figure.type(await figure.find('.source textarea'), 'a b'));
    assert.deepEqual((await figure.map()).rowLabels, ['a', 'b']);
    assert.match((await figure.errors()).join(), /^[^词]*3000[^词]*$/);
  });

  test('a refused token stays under edit until it fits or Escape', async () => {
    const figure = await openFigure(browser);
    const { page } = figure;
    const field = () =>
      figure.inside((root) => /** @type {any} */ (root.querySelector('input.chip'))?.value ?? null);
    await figure.click('.source .chip');
    await page.keyboard.type('x'.repeat(50));
    await page.keyboard.press('Enter');
    assert.equal(await field(), 'x'.repeat(50));
    await figure.click('.source li:nth-child(3) .chip');
    assert.equal(await field(), 'x'.repeat(50));
    assert.match((await figure.errors()).join(), /50 letters/);
    await page.keyboard.press('Escape');
    assert.equal(await field(), null);
    assert.deepEqual(await figure.errors(), []);
    assert.equal((await figure.chips())[0], 'the');
  });

  test('a refused token and a refused number outlive another language, which keeps its button', async () => {
    const figure = await openFigure(browser);
    const { page } = figure;
    await figure.click('.source li:nth-child(2) .chip');
    await figure.after(() => page.keyboard.type('x'.repeat(50)));
    const weight = await figure.byName('weight');
    await figure.type(weight, 'much');
    await weight.press('Enter');
    assert.match((await figure.errors()).join(), /50 letters.*much/);
    await (await page.$('attention-settings [lang="zh-CN"]'))?.click();
    await figure.until((root) => root.textContent?.includes('掩码'));
    assert.match((await figure.errors()).join(), /50 个字符.*much/);
    const kept = await figure.inside((root) => {
      const field = /** @type {HTMLInputElement} */ (root.querySelector('input.chip'));
      const place = [...root.querySelectorAll('.source .chip')].indexOf(field);
      return { text: field.value, place, focus: document.activeElement?.textContent };
    });
    assert.deepEqual(kept, { text: 'x'.repeat(50), place: 1, focus: '中文' });
    await figure.after(async () => figure.type(await figure.find('input.chip'), 'dog'));
    assert.deepEqual((await figure.map()).rowLabels.slice(0, 3), ['the', 'dog', 'sat']);
    // The field has another number by now, and what was refused stands in it until Escape.
    const field = await figure.byName('权重');
    const text = () => field.evaluate((input) => /** @type {HTMLInputElement} */ (input).value);
    assert.equal(await text(), 'much');
    await field.press('Escape');
    assert.ok(Number(await text()) > 0 && Number(await text()) < 1, await text());
    assert.deepEqual(await figure.errors(), []);
  });

  test('an undo ends the edit of a chip where all can see it', async () => {
    const figure = await openFigure(browser);
    const { page } = figure;
    await figure.click('.source .chip');
    await figure.after(() => page.keyboard.type('hello'));
    await figure.after(() =>
      page.evaluate(() =>
        /** @type {any} */ (document.querySelector('attention-playground')).undo(),
      ),
    );
    assert.equal(await figure.inside((root) => root.querySelector('input.chip')), null);
    assert.equal((await figure.chips())[0], 'the');
    assert.equal((await figure.map()).rowLabels[0], 'the');
    assert.equal(await figure.inside((root) => root.activeElement?.textContent), 'the');
    await figure.after(() =>
      page.evaluate(() =>
        /** @type {any} */ (document.querySelector('attention-playground')).redo(),
      ),
    );
    assert.equal((await figure.chips())[0], 'hello');
  });

  test('tokens with white space outlive typing beside them', async () => {
    const figure = await openFigure(browser, address(linkOf({ source: ['New York', '\n', 'is'] })));
    const field = await figure.find('.source textarea');
    await figure.after(async () => {
      await field.evaluate((element) => {
        const text = /** @type {HTMLTextAreaElement} */ (element);
        text.setSelectionRange(text.value.length, text.value.length);
      });
      await field.type(' big');
    });
    await figure.until(
      (root) => /** @type {any} */ (root.querySelector('attention-heatmap')).rowLabels[3] === 'big',
    );
    assert.deepEqual((await figure.map()).rowLabels, ['New York', '\n', 'is', 'big']);
  });

  test('a figure put back while it computes says so again', async () => {
    const page = await browser.open(
      `<script>/* a slow core, in a worker and on the page's thread */
        for (const { prototype } of [Worker, MessagePort]) {
          const post = prototype.postMessage;
          prototype.postMessage = function (...args) {
            setTimeout(() => post.apply(this, args), 900);
          };
        }</script>${script}<attention-playground></attention-playground>`,
      { policy: null },
    );
    const busy = () =>
      page.waitForFunction(
        () =>
          document.querySelector('attention-playground')?.shadowRoot?.querySelector('.busy')
            ?.textContent,
      );
    await busy();
    await page.evaluate(() => {
      const element = /** @type {Element} */ (document.querySelector('attention-playground'));
      element.remove();
      document.body.append(element);
    });
    await busy();
    await figureOn(page);
  });
});
