/** Pointer, keys, screen readers and numbers typed in place on <attention-heatmap>. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cividis } from '../../build/colour-tables.js';
import { palette } from '../../web/elements/style.js';
import { eachBrowser, pixel } from './harness.js';
import { entry, heatmapPage, rgb, small } from './heatmap-page.js';

eachBrowser((browser) => {
  const { open, set, canvasOf, cell, colour, events, text, selected } = heatmapPage(browser);

  test('the pointer reads cells out', async () => {
    const page = await open(small);
    await page.mouse.move(...(await cell(page, 2, 1)).centre);
    await page.mouse.move(...(await cell(page, 0, 1)).centre);
    await page.evaluate(() => window.heatmap.updated);
    assert.equal(await text(page, '.readout'), 'query the → key cat: 0, masked: causal');
    const { table, key, query } = { table: cividis, ...palette.light };
    const row = await cell(page, 0, 2);
    const line = await pixel(await canvasOf(page), row.inX + 20, row.inY - 0.5);
    assert.deepEqual(line.slice(0, 3), rgb(query), 'its row is lit');
    const column = await cell(page, 2, 1);
    const side = await pixel(await canvasOf(page), column.inX - 0.5, column.inY + 20);
    assert.deepEqual(side.slice(0, 3), rgb(key), 'its column is lit');
    assert.deepEqual(await colour(page, 2, 2), entry(table, 116), 'nothing else changes');
    await page.mouse.move(1000, 700);
    assert.deepEqual(await events(page), [
      { type: 'cellhover', row: 2, column: 1, value: Math.fround(0.42), masked: 0 },
      { type: 'cellhover', row: 0, column: 1, value: 0, masked: 2 },
      { type: 'cellhover' },
    ]);
  });

  test('click and tap choose a cell', async () => {
    const page = await open(small);
    await page.mouse.click(...(await cell(page, 1, 0)).centre);
    const clicked = (await events(page)).filter(({ type }) => type !== 'cellhover');
    assert.deepEqual(clicked, [
      { type: 'cellselect', row: 1, column: 0, value: 0.25, masked: 0 },
      { type: 'cellclick', row: 1, column: 0, value: 0.25, masked: 0, by: 'click' },
    ]);
    await page.touchscreen.tap(...(await cell(page, 2, 2)).centre);
    await page.waitForFunction(() => window.events.some(({ type }) => type === 'cellclick'));
    assert.equal(await selected(page), '2,2');
  });

  test('a focused map that changes its size keeps its cell', async () => {
    const page = await open({ matrix: [0, 3, 6].map((at) => [at, at + 1, at + 2]) });
    await page.mouse.click(...(await cell(page, 2, 2)).centre);
    await page.keyboard.press('ArrowUp');
    const before = (await events(page)).length;
    await page.evaluate(async () => {
      const heatmap = /** @type {any} */ (document.querySelector('attention-heatmap'));
      heatmap.matrix = [
        [1, 2],
        [3, 4],
      ];
      await heatmap.updated;
    });
    await page.waitForFunction(() => {
      const cell = document.querySelector('attention-heatmap')?.shadowRoot?.activeElement;
      const row = cell?.parentElement?.getAttribute('aria-rowindex');
      return row === '2' && cell?.getAttribute('aria-colindex') === '2';
    });
    assert.equal(await selected(page), '1,1');
    for (const { row, column } of (await events(page)).slice(before)) {
      assert.deepEqual([row, column], [1, 1]);
    }
  });

  test('keys move over the cells, one Tab stop', async () => {
    const page = await open(
      { matrix: Array.from({ length: 20 }, () => [1, 2, 3, 4, 5]), kind: 'signed' },
      { around: ['<button id="before">b</button>', '<button id="after">a</button>'] },
    );
    await page.focus('#before');
    await page.keyboard.press('Tab');
    assert.equal(await selected(page), '0,0');
    for (const [key, to] of [
      ['ArrowRight', '0,1'],
      ['ArrowDown', '1,1'],
      ['End', '1,4'],
      ['ArrowRight', '1,4'],
      ['PageDown', '9,4'],
      ['Home', '9,0'],
      ['PageUp', '1,0'],
      ['ArrowLeft', '1,0'],
      ['ArrowUp', '0,0'],
      ['ArrowUp', '0,0'],
    ]) {
      await page.keyboard.press(/** @type {import('puppeteer-core').KeyInput} */ (key));
      assert.equal(await selected(page), to, key);
    }
    await page.keyboard.down('Control');
    await page.keyboard.press('End');
    assert.equal(await selected(page), '19,4');
    await page.keyboard.press('Home');
    await page.keyboard.up('Control');
    assert.equal(await selected(page), '0,0');
    await events(page);
    await page.keyboard.press(' ');
    await page.keyboard.press('Enter');
    assert.deepEqual(
      (await events(page)).map(({ type, by }) => [type, by]),
      [
        ['cellclick', 'keydown'],
        ['cellclick', 'keydown'],
      ],
    );
    const outline = await page.evaluate(
      () => getComputedStyle(window.heatmap.shadowRoot.querySelector('canvas')).outlineStyle,
    );
    assert.equal(outline, 'solid', 'the focus is seen');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'after');
  });

  test('the grid names every cell', async () => {
    const page = await open({ ...small, rowFlags: [0, 2, 0], edited: [[2, 0]], label: 'Weights' });
    await page.waitForFunction(
      () => window.heatmap.shadowRoot.querySelectorAll('[role=gridcell]').length === 9,
    );
    const { grid, cells } = await page.evaluate(() => {
      const root = window.heatmap.shadowRoot;
      const grid = root.querySelector('[role=grid]');
      const of = (/** @type {Element} */ element, /** @type {string} */ names) =>
        names.split(' ').map((name) => element.getAttribute(`aria-${name}`));
      return {
        grid: of(grid, 'label rowcount colcount readonly'),
        cells: Array.from(root.querySelectorAll('[role=gridcell]'), (cell) => [
          ...of(cell.parentElement, 'rowindex'),
          ...of(cell, 'colindex'),
          cell.textContent,
        ]),
      };
    });
    assert.deepEqual(grid, ['Weights, 3 × 3', '3', '3', 'true']);
    assert.deepEqual(cells[1], ['1', '2', 'query the → key cat: 0, masked: causal']);
    assert.deepEqual(cells[4], ['2', '2', 'query cat → key cat: 0.75, NaN or +∞ in this row']);
    assert.deepEqual(cells[6], ['3', '1', 'query sat → key the: 0.125, edited']);
    await set(page, {
      matrix: [[0.5]],
      rowLabels: ['a'],
      columnLabels: null,
      mask: null,
      rowFlags: null,
    });
    await page.waitForFunction(
      () =>
        window.heatmap.shadowRoot.querySelector('[role=grid]').textContent ===
        'query a → key 0: 0.5',
    );
  });

  test('above 64 × 64 the chosen cell is read out and CSV is offered', async () => {
    const matrix = Array.from({ length: 65 }, (_, row) => [row, row + 0.5]);
    const page = await open({ matrix, kind: 'signed' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('ArrowRight');
    const read = await page.evaluate(() => {
      const root = window.heatmap.shadowRoot;
      const active = root.activeElement;
      return [
        root.querySelectorAll('[role=gridcell]').length,
        active.textContent,
        active.parentElement.getAttribute('aria-rowindex'),
        active.getAttribute('aria-colindex'),
        root.querySelector('[role=grid]').getAttribute('aria-label'),
      ];
    });
    assert.deepEqual(read.slice(0, 4), [1, 'query 8 → key 1: 8.5', '9', '2']);
    assert.match(String(read[4]), /65 × 2 cells.*CSV/);
  });

  test('a value is typed in place', async () => {
    const page = await open({ ...small, editable: true });
    await page.mouse.click(...(await cell(page, 1, 0)).centre, { count: 2 });
    const input = () =>
      page.evaluate(() => {
        const input = window.heatmap.shadowRoot.querySelector('input');
        return input.hidden ? null : input.value;
      });
    assert.equal(await input(), '0.25');
    await page.keyboard.type('1');
    await events(page);
    await page.keyboard.press('Enter');
    assert.deepEqual(await events(page), [
      { type: 'celledit', row: 1, column: 0, value: 1, previous: 0.25, masked: 0 },
    ]);
    assert.equal(await input(), null);
    await page.evaluate(() => window.heatmap.updated);
    assert.deepEqual(await colour(page, 1, 0), entry(cividis, 255));
    assert.deepEqual(await page.evaluate(() => window.heatmap.edited), [[1, 0]]);

    await page.keyboard.press('F2');
    await page.keyboard.type('9');
    await page.keyboard.press('Escape');
    assert.deepEqual([await input(), await events(page)], [null, []]);

    await page.keyboard.press('Enter');
    await page.keyboard.type('half');
    await page.keyboard.press('Enter');
    assert.equal(await input(), 'half', 'what was typed stays');
    assert.match(await text(page, '.edit-note'), /“half” is not a number: type one such as 0.5/);
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.type('1e39');
    await page.keyboard.press('Enter');
    assert.match(await text(page, '.edit-note'), /3.4028235e38/);
    await page.keyboard.press('Escape');

    await page.keyboard.press('.');
    await page.keyboard.type('5');
    await page.keyboard.press('Enter');
    assert.equal((await events(page)).at(-1).value, 0.5);
    await page.keyboard.press('Delete');
    assert.deepEqual(await events(page), [
      { type: 'celledit', row: 1, column: 0, value: null, previous: 0.5, masked: 0 },
    ]);
    assert.deepEqual(await page.evaluate(() => window.heatmap.edited), []);
    await page.keyboard.press('ArrowRight');
    assert.equal(await selected(page), '1,1', 'keys go on from the cell');
  });

  test('a page that recomputes cancels the edit', async () => {
    const page = await open({ ...small, editable: true });
    await page.evaluate(() => document.addEventListener('celledit', (e) => e.preventDefault()));
    await page.mouse.click(...(await cell(page, 0, 0)).centre);
    await page.keyboard.press('7');
    await page.keyboard.press('Enter');
    const kept = await page.evaluate(() => {
      const { heatmap, events } = window;
      return [events.at(-1).value, heatmap.matrix.data[0], heatmap.edited.length];
    });
    assert.deepEqual(kept, [7, 0.5, 0]);
  });

  test('P4: Enter that ends an IME composition takes nothing', async () => {
    const page = await open({ ...small, editable: true });
    await page.mouse.click(...(await cell(page, 0, 0)).centre);
    await page.keyboard.press('7');
    await events(page);
    const press = (/** @type {KeyboardEventInit} */ more) =>
      page.evaluate((more) => {
        const input = window.heatmap.shadowRoot.querySelector('input');
        const init = { key: 'Enter', bubbles: true, composed: true, cancelable: true, ...more };
        input.dispatchEvent(new KeyboardEvent('keydown', init));
        return input.hidden;
      }, more);
    assert.equal(await press({ isComposing: true }), false);
    assert.equal(await press({ keyCode: 229 }), false);
    const edits = async () => (await events(page)).filter(({ type }) => type === 'celledit').length;
    assert.equal(await edits(), 0);
    assert.equal(await press({}), true);
    assert.equal(await edits(), 1);
  });

  test('a figure that is not editable stays as it is', async () => {
    const page = await open(small);
    await page.mouse.click(...(await cell(page, 1, 0)).centre, { count: 2 });
    await page.keyboard.press('5');
    await page.keyboard.press('F2');
    await page.keyboard.press('Delete');
    const open_ = await page.evaluate(
      () => !window.heatmap.shadowRoot.querySelector('input').hidden,
    );
    assert.equal(open_, false);
    assert.ok((await events(page)).every(({ type }) => type !== 'celledit'));
  });
});
