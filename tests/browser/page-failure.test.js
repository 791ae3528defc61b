/** What can go wrong behind the page: each a sentence, nothing typed is lost, the next action works. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachBrowser } from './harness.js';
import { figureOn, script } from './page-figure.js';

const figureMarkup = '<attention-playground lang="en"></attention-playground>';

eachBrowser((browser) => {
  /** @param {string} before a script of the page that runs first */
  const open = async (before) => {
    const page = await browser.open(`<script>${before}</script>${script}${figureMarkup}`, {
      policy: null,
    });
    return figureOn(page);
  };

  /**
   * The same once the worker answers, not the page's own thread any more.
   * @param {string} [before]  Real is the browser's Worker, workers are those of the page
   */
  const openWithWorker = async (before = '') => {
    const figure = await open(`
      const Real = Worker;
      const workers = [];
      window.Worker = class extends Real {
        constructor(...all) {
          super(...all);
          workers.push(this);
          this.addEventListener('message', () => { window.workers = workers; }, { once: true });
        }
      };${before}`);
    await figure.page.waitForFunction('window.workers');
    return figure;
  };

  test('a worker that dies is replaced, and says so', async () => {
    const figure = await openWithWorker();
    const { page } = figure;
    const text = await figure.find('.source textarea');
    await figure.after(() => figure.type(text, 'one two three'));
    await figure.until((root) => root.querySelectorAll('.source .chip').length === 3);
    await page.evaluate(() =>
      /** @type {any} */ (window).workers[0].dispatchEvent(
        new ErrorEvent('error', { message: 'gone' }),
      ),
    );
    await figure.until((root) => root.querySelector('.notice'));
    assert.match((await figure.notices()).join(), /started again; nothing you typed is lost/);
    await figure.after(() => figure.press('Causal'));
    assert.deepEqual((await figure.map()).rowLabels, ['one', 'two', 'three']);
    assert.equal((await figure.map()).mask?.[1], 2);
  });

  test('a request whose worker dies is sent again', async () => {
    const figure = await openWithWorker(`
      const post = Real.prototype.postMessage;
      let killed = false;
      Real.prototype.postMessage = function (message, ...rest) {
        if (message.request?.input.causal && !killed) {
          killed = true;
          setTimeout(() => this.dispatchEvent(new ErrorEvent('error', { message: 'gone' })));
          return;
        }
        post.call(this, message, ...rest);
      };`);
    await figure.after(() => figure.press('Causal'));
    assert.equal((await figure.map()).mask?.[1], 2);
    assert.equal((await figure.notices()).length, 1);
  });

  test('a request that kills every worker is given up; undo brings the figure back', async () => {
    const figure = await openWithWorker(`
      const post = Real.prototype.postMessage;
      Real.prototype.postMessage = function (message, ...rest) {
        if (message.request?.input.causal) {
          setTimeout(() => this.dispatchEvent(new ErrorEvent('error', { message: 'gone' })));
          return;
        }
        post.call(this, message, ...rest);
      };`);
    const before = await figure.map();
    await figure.press('Causal');
    await figure.until((root) => root.textContent?.includes('stops each time'));
    assert.deepEqual(await figure.map(), before, 'the last good figure stays');
    await figure.after(() => figure.press('Undo'));
    await figure.after(() => figure.press('Roll again'));
    assert.notDeepEqual((await figure.map()).data, before.data);
  });

  test('without workers the page computes by itself', async () => {
    const figure = await open(
      'window.Worker = class { constructor() { throw new Error("no"); } };',
    );
    await figure.after(() => figure.press('Causal'));
    assert.equal((await figure.map()).mask?.[1], 2);
  });

  test('without storage, address and clipboard', async () => {
    const figure = await open(`
      Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no'); } });
      history.replaceState = () => { throw new DOMException('no', 'SecurityError'); };`);
    await figure.page.evaluate(() => {
      const element = /** @type {Element} */ (document.querySelector('attention-playground'));
      const other = document.createElement('attention-playground');
      other.setAttribute('follow-hash', '');
      other.setAttribute('lang', 'en');
      element.replaceWith(other, document.createElement('attention-settings'));
    });
    await figure.until((root) => root.querySelector('.playground:not(.waiting)'));
    await figure.after(() => figure.press('Causal'));
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.deepEqual(await figure.notices(), []);
  });

  test('an unknown lesson', async () => {
    const page = await browser.open(
      `${script}<attention-playground lesson="magic" lang="en"></attention-playground>`,
    );
    const figure = await figureOn(page);
    assert.match((await figure.notices()).join(), /no lesson “magic”; there are: .*multi-head/);
  });

  test('an error of the core stands beside its control and goes with the next state', async () => {
    const figure = await openWithWorker(`
      const post = Real.prototype.postMessage;
      Real.prototype.postMessage = function (message, ...rest) {
        if (message.request?.input.causal) message.request.input.temperature = -1;
        post.call(this, message, ...rest);
      };`);
    await figure.press('Causal');
    await figure.until((root) => root.querySelector('.groups .error:not(:empty)'));
    assert.deepEqual(await figure.errors(), ['temperature -1 must be a number above 0']);
    assert.ok(
      await figure.inside(
        (root) => root.querySelector('.groups .error:not(:empty)')?.closest('details')?.open,
      ),
      'the group of the control is open',
    );
    await figure.after(() => figure.press('Undo'));
    assert.deepEqual(await figure.notices(), []);
    assert.deepEqual(await figure.errors(), []);
  });

  test('a number that only the core refuses is refused in the words of the reader', async () => {
    const figure = await open('');
    await figure.inside((root) => {
      for (const fold of root.querySelectorAll('details')) fold.open = true;
    });
    await figure.after(() => figure.press('number'));
    const field = await figure.find('input[name="scale"]');
    await figure.type(field, '1e-50');
    await figure.until((root) => root.querySelector('.groups .error:not(:empty)'));
    assert.match((await figure.errors()).join(), /^1e-50 is too close to 0 for 32 bits/);
    await figure.page.evaluate(() =>
      document.querySelector('attention-playground')?.setAttribute('lang', 'zh-CN'),
    );
    await figure.until((root) => root.textContent?.includes('掩码'));
    const [sentence, ...others] = await figure.errors();
    assert.match(sentence, /^1e-50 太接近 0/);
    assert.deepEqual(others, []);
    await figure.after(async () => figure.type(await figure.find('input[name="scale"]'), '0.5'));
    assert.deepEqual(await figure.errors(), []);
  });

  test('a notice is said again in another language', async () => {
    const page = await browser.open(
      `${script}<attention-playground lang="en" state="#v9.x"></attention-playground>`,
    );
    const figure = await figureOn(page);
    assert.match((await figure.notices()).join(), /another version/);
    await page.evaluate(() =>
      document.querySelector('attention-playground')?.setAttribute('lang', 'zh-CN'),
    );
    await figure.until((root) =>
      root.querySelector('.notice')?.textContent?.includes('另一个版本'),
    );
    assert.equal((await figure.notices()).length, 1);
  });
});
