/** What the browser keeps of a training, for the next visit and for a figure that is moved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachBrowser } from './harness.js';
import { openTraining } from './training-page.js';

/**
 * Whether the browser keeps a training of that many steps.
 * @param {number} step
 */
const kept = (step) =>
  new Promise((resolve) => {
    const request = indexedDB.open('attention-playground');
    // Who looks first must not make a shelf: it would have no place for runs.
    request.onupgradeneeded = () => request.transaction?.abort();
    request.onerror = () => resolve(false);
    request.onsuccess = () => {
      const shelf = request.result;
      const found = shelf.transaction('runs').objectStore('runs').get('transformer');
      found.onsuccess = () => {
        shelf.close();
        resolve(found.result?.step === step);
      };
    };
  });

/** Forgets what other tests left. */
const forgetAll = () =>
  new Promise((resolve) => {
    const request = indexedDB.deleteDatabase('attention-playground');
    request.onsuccess = request.onerror = request.onblocked = () => resolve(undefined);
  });

/** Puts a record where the browser keeps a training. @param {unknown} record */
const put = (record) =>
  new Promise((resolve) => {
    const request = indexedDB.open('attention-playground');
    request.onsuccess = () => {
      const shelf = request.result;
      const written = shelf.transaction('runs', 'readwrite').objectStore('runs');
      written.put(record, 'transformer').onsuccess = () => {
        shelf.close();
        resolve(undefined);
      };
    };
  });

eachBrowser((browser) => {
  test('a closed page asks while it trains, and the next visit goes on from there', async () => {
    const earlier = await openTraining(browser, { epochs: 1000 });
    await earlier.page.evaluate(forgetAll);
    const figure = await openTraining(browser, { epochs: 1000 });
    const asks = () =>
      figure.page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
    assert.equal(await asks(), false);
    await figure.act('Train');
    await figure.until((root) => Number(root.querySelector('progress')?.value) >= 9);
    assert.equal(await asks(), true);
    await figure.act('Pause');
    await figure.until((root) => !root.querySelector('.score.stale'));
    assert.equal(await figure.main(), 'Resume');
    assert.equal(await asks(), false);
    const { step } = await figure.progress();
    const epoch = step - (step % 3);
    await figure.page.waitForFunction(kept, { polling: 50 }, epoch);

    const again = await openTraining(browser, { epochs: 1000 });
    await again.until((root) => root.querySelector('.kept-run:not([hidden])'));
    assert.match(
      (await again.inside((root) => root.querySelector('.kept-run')?.textContent)) ?? '',
      new RegExp(`left at step ${epoch}\\.`),
    );
    await again.press('Go on from there');
    await again.at(epoch);
    assert.equal(await again.inside((root) => root.querySelector('.kept-run:not([hidden])')), null);
    await again.act('Rewind');
    await again.at(0);

    const third = await openTraining(browser, { epochs: 1000 });
    await third.until((root) => root.querySelector('.kept-run:not([hidden])'));
    await third.press('Forget it');
    const fourth = await openTraining(browser, { epochs: 1000 });
    assert.equal(
      await fourth.inside((root) => root.querySelector('.kept-run:not([hidden])')),
      null,
    );
  });

  test('a figure that is moved in its page goes on from the last saved epoch', async () => {
    const figure = await openTraining(browser, { epochs: 1000 });
    await figure.act('Train');
    await figure.until((root) => root.querySelector('progress').value >= 60);
    const steps = await figure.page.evaluate(async () => {
      const element = /** @type {HTMLElement} */ (document.querySelector('attention-playground'));
      const step = () => element.shadowRoot?.querySelector('progress')?.value ?? 0;
      const before = step();
      document.body.prepend(element);
      const seen = [];
      for (let frame = 0; frame < 40; frame++) {
        await new Promise(requestAnimationFrame);
        seen.push(step());
      }
      return { before, least: Math.min(...seen) };
    });
    const perEpoch = 3;
    assert.ok(steps.least >= steps.before - perEpoch, `${steps.before}, then ${steps.least}`);
    await figure.until(
      (root, before) => root.querySelector('progress').value > before,
      steps.before,
    );
    await figure.act('Pause');
  });

  test('what is kept is not offered where the figure is, and what is in no form does not matter', async () => {
    const earlier = await openTraining(browser);
    await earlier.page.evaluate(forgetAll);
    const figure = await openTraining(browser);
    await figure.act('Train');
    await figure.at(30);
    await figure.page.waitForFunction(kept, { polling: 50 }, 30);
    const there = await openTraining(browser, { step: 30 });
    await there.at(30);
    assert.equal(await there.inside((root) => root.querySelector('.kept-run:not([hidden])')), null);

    for (const record of [42, {}, { state: {}, key: 'x', step: 3 }]) {
      await there.page.evaluate(put, record);
      const next = await openTraining(browser);
      await next.act('Train');
      await next.at(30);
      await next.page.waitForFunction(kept, { polling: 50 }, 30);
    }
  });
});
