/** Attributes and properties of <attention-heatmap>, good and wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cividis } from '../../build/colour-tables.js';
import { eachBrowser } from './harness.js';
import { entry, heatmapPage, small } from './heatmap-page.js';

eachBrowser((browser) => {
  const { open, cell, colour, text } = heatmapPage(browser);

  test('attributes draw a figure without a script of the page', async () => {
    const page = await open(
      {},
      {
        attributes: `values="[[0.5, null], [1, 0]]" rows='["a","b"]' columns='["c","d"]'
          mask="[[0,0],[0,2]]" range="[0, 2]" palette="viridis" row-axis="token" column-axis="head"
          label="From attributes"`,
      },
    );
    await page.mouse.move(...(await cell(page, 1, 1)).centre);
    await page.evaluate(() => window.heatmap.updated);
    assert.equal(await text(page, '.readout'), 'token b → head d: 0, masked: causal');
    assert.equal(await text(page, '[role=alert]'), '');
    await page.evaluate(() => {
      window.heatmap.setAttribute('range', 'largest');
    });
    assert.equal(await page.evaluate(() => window.heatmap.range), 'largest');
  });

  test('wrong attributes are explained and the last good figure stays', async () => {
    const page = await open(small);
    for (const [name, value, said] of [
      ['values', '[[1,', /values is not JSON/],
      ['values', '[[1, 2], [3]]', /row needs 2 numbers like row 0; row 1 has 1/],
      ['values', '[["a"]]', /row 0, column 0 is not a number: a/],
      ['values', '5', /nested arrays of numbers; got 5/],
      ['rows', '["a"]', /3 × 3 cells need 3 query labels; got 1/],
      ['columns', '"abc"', /list of strings or bytes; got abc/],
      ['mask', '[[1]]', /mask of shape \[1\] do not fit 3 × 3/],
      ['kind', 'wieghts', /"weights" or "signed"; got "wieghts"/],
      ['range', '[2, 1]', /low ≤ high; got \[2,1\]/],
      ['range', 'all', /"unit", "largest"/],
      ['palette', 'jet', /"cividis" or "viridis"; got "jet"/],
    ]) {
      await page.evaluate(
        async (name, value) => {
          const { heatmap } = window;
          heatmap.setAttribute(name, value);
          await heatmap.updated;
        },
        String(name),
        String(value),
      );
      assert.match(await text(page, '[role=alert]'), /** @type {RegExp} */ (said));
      assert.deepEqual(await colour(page, 1, 1), entry(cividis, 191), `${name} ${value}`);
      await page.evaluate(
        async (name, small) => {
          const { heatmap } = window;
          heatmap.removeAttribute(name);
          await Object.assign(heatmap, small).updated;
        },
        String(name),
        small,
      );
      assert.equal(await text(page, '[role=alert]'), '');
    }
  });

  test('a matrix of no rows is drawn as nothing', async () => {
    const page = await open(small);
    await page.evaluate(async () => {
      Object.assign(window.heatmap, {
        matrix: [],
        rowLabels: null,
        columnLabels: null,
        mask: null,
      });
      await window.heatmap.updated;
      // Behind the moment of rest in which a picture is copied.
      await new Promise((resolve) => setTimeout(resolve, 1000));
    });
    assert.equal(await text(page, '[role=alert]'), '');
  });

  test('wrong properties throw and name shape and limit', async () => {
    const page = await open(small);
    const messages = await page.evaluate(() => {
      const { heatmap } = window;
      return [
        { matrix: { shape: [2, 2], data: new Float32Array(3) } },
        { matrix: { shape: [1, 2, 3], data: new Float32Array(6) } },
        { matrix: { shape: [2049, 1], data: new Float32Array(2049) } },
        { matrix: { shape: [2, 2], data: new Float32Array(4), offset: 1 } },
        { matrix: 'x' },
        { matrix: [1, 2] },
        { rowLabels: [1] },
        { edited: [1] },
        { kind: 'x' },
      ].map((wrong) => {
        try {
          Object.assign(heatmap, wrong);
          return '';
        } catch (error) {
          return String(error);
        }
      });
    });
    for (const [at, said] of [
      /RangeError: attention-heatmap: shape \[2, 2\] needs 4 numbers; got 3/,
      /2 axes, \[rows, columns\]; got shape \[1, 2, 3\]/,
      /at most 2048 rows and 2048 columns.*2049 × 1/,
      /shape \[2, 2\] needs 5 numbers; got 4/,
      /\{ shape, data \}.*got x/,
      /2 axes.*got shape \[2\]/,
      /row labels are a list of strings or bytes; got \[1\]/,
      /list of \[row, column\]; got \[1\]/,
      /got "x"/,
    ].entries()) {
      assert.match(messages[at], said);
    }
    await page.evaluate(() => window.heatmap.updated);
    assert.deepEqual(await colour(page, 1, 1), entry(cividis, 191));
    assert.equal(await text(page, '[role=alert]'), '');
  });
});
