import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cividis, redBlue } from '../../build/colour-tables.js';
import { palette } from '../../web/elements/style.js';
import { axe, eachBrowser, pixel } from './harness.js';

/** @typedef {import('./harness.js').Page} Page */
/** @typedef {import('../../web/elements/attention-heatmap.js').AttentionHeatmap} Heatmap */

const hostile = '"><img src=x onerror=alert(1)>';
const values = [
  [0.5, 0, 0],
  [0.25, 0.75, 0],
  [0.125, 0.42, 0.455],
];
const words = ['the', 'cat', 'sat'];
const causal = [
  [0, 2, 2],
  [0, 0, 2],
  [0, 0, 0],
];
const small = { matrix: values, rowLabels: words, columnLabels: words, mask: causal };

/** @param {string} hex @returns {number[]} */
const rgb = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
/** @param {number[]} table @param {number} index */
const entry = (table, index) => table.slice(index * 3, index * 3 + 3);

eachBrowser((browser) => {
  /**
   * A page with one heatmap that remembers its events in `window.events`.
   * @param {object} [properties]
   * @param {import('./harness.js').OpenOptions & { attributes?: string, around?: string[] }} [options]
   */
  async function open(properties = {}, { attributes = '', around = ['', ''], ...options } = {}) {
    const markup = `<attention-heatmap ${attributes}></attention-heatmap>`;
    const page = await browser.open(around.join(markup), options);
    await page.evaluate(async (properties) => {
      const heatmap = /** @type {Heatmap} */ (document.querySelector('attention-heatmap'));
      const events = /** @type {object[]} */ ([]);
      Object.assign(window, { heatmap, events });
      for (const type of ['cellhover', 'cellselect', 'cellclick', 'celledit']) {
        document.addEventListener(type, (event) => {
          const { detail } = /** @type {CustomEvent} */ (event);
          const { originalEvent, ...rest } = detail ?? {};
          events.push({ type, ...rest, ...(originalEvent && { by: originalEvent.type }) });
        });
      }
      const { defineHeatmap } = await import(
        /** @type {string} */ ('/web/elements/attention-heatmap.js')
      );
      defineHeatmap();
      Object.assign(heatmap, properties);
      await heatmap.updated;
    }, properties);
    return page;
  }

  /** @param {Page} page @param {object} properties */
  const set = (page, properties) =>
    page.evaluate(async (properties) => {
      await Object.assign(window.heatmap, properties).updated;
    }, properties);

  /** @param {Page} page */
  const canvasOf = async (page) =>
    /** @type {import('puppeteer-core').ElementHandle<HTMLCanvasElement>} */ (
      await page.evaluateHandle(() => window.heatmap.shadowRoot.querySelector('canvas'))
    );

  /**
   * Where a cell is: in the window, and inside the canvas.
   * @param {Page} page @param {number} row @param {number} column
   * @returns {Promise<{ x: number, y: number, width: number, height: number,
   *   inX: number, inY: number, centre: [number, number] }>}
   */
  const cell = (page, row, column) =>
    page.evaluate(
      (row, column) => {
        const { heatmap } = window;
        const { x, y, width, height } = heatmap.cellRect(row, column);
        const origin = heatmap.shadowRoot.querySelector('canvas').getBoundingClientRect();
        const centre = /** @type {[number, number]} */ ([x + width / 2, y + height / 2]);
        return { x, y, width, height, inX: x - origin.x, inY: y - origin.y, centre };
      },
      row,
      column,
    );

  /** The colour near a corner of a cell, away from its text. @param {Page} page @param {number} row @param {number} column */
  async function colour(page, row, column) {
    const { inX, inY } = await cell(page, row, column);
    return (await pixel(await canvasOf(page), inX + 4, inY + 4)).slice(0, 3);
  }

  /** All colours inside a cell. @param {Page} page @param {number} row @param {number} column */
  async function colours(page, row, column) {
    const { inX, inY, width, height } = await cell(page, row, column);
    const found = await (await canvasOf(page)).evaluate(
      (canvas, x, y, width, height) => {
        const ratio = canvas.width / canvas.getBoundingClientRect().width;
        const box = [x, y, width, height].map((side) => Math.round(side * ratio));
        const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
        const { data } = pen.getImageData(box[0], box[1], box[2], box[3]);
        const seen = new Set();
        for (let at = 0; at < data.length; at += 4) seen.add(data.slice(at, at + 3).join());
        return [...seen];
      },
      inX,
      inY,
      width,
      height,
    );
    return /** @type {string[]} */ (found);
  }

  /** What happened since the last call. @param {Page} page */
  const events = (page) => page.evaluate(() => window.events.splice(0));

  /** @param {Page} page @param {string} selector */
  const text = (page, selector) =>
    page.evaluate(
      (selector) => window.heatmap.shadowRoot.querySelector(selector).textContent,
      selector,
    );

  /** @param {Page} page */
  const selected = (page) =>
    page.evaluate(() => window.heatmap.selected && Object.values(window.heatmap.selected).join());

  test('paints cells in the colours of the table', async () => {
    const page = await open({ matrix: [[0, 0.25, 0.5, 1]] });
    for (const [column, index] of [0, 64, 128, 255].entries()) {
      assert.deepEqual(await colour(page, 0, column), entry(cividis, index));
    }
    await set(page, { kind: 'signed', matrix: [[-3, 0, 1.5, 3]] });
    for (const [column, index] of [0, 128, 191, 255].entries()) {
      assert.deepEqual(await colour(page, 0, column), entry(redBlue, index));
    }
    await set(page, { kind: 'weights', range: [0, 6], matrix: [[3, 6, 7, -1]] });
    for (const [column, index] of [128, 255, 255, 0].entries()) {
      assert.deepEqual(await colour(page, 0, column), entry(cividis, index));
    }
  });

  test('hatches masked cells and crosses NaN', async () => {
    const page = await open({ matrix: [[0.5, 0, NaN, 0.5]], mask: [[0, 2, 0, 1]] });
    const { paper, hatch, alert } = palette.light;
    const masked = await colours(page, 0, 1);
    assert.ok(masked.includes(rgb(paper).join()) && masked.length > 2, masked.join(' '));
    assert.ok(!masked.includes(entry(cividis, 0).join()), 'not the lowest colour');
    const darkest = Math.min(...masked.map((colour) => Number(colour.split(',')[0])));
    assert.ok(darkest >= rgb(hatch)[0], 'only hatching on paper');
    const leaking = await colours(page, 0, 3);
    assert.ok(leaking.includes(entry(cividis, 128).join()) && leaking.length > 4);
    const { inX, inY, width, height } = await cell(page, 0, 2);
    const centre = await pixel(await canvasOf(page), inX + width / 2, inY + height / 2);
    assert.deepEqual(centre.slice(0, 3), rgb(alert));
  });

  test('P5: equal cells have one colour and the legend says constant', async () => {
    const page = await open({ kind: 'signed', matrix: [[0, 0]] });
    assert.deepEqual(await colour(page, 0, 0), entry(redBlue, 128));
    assert.deepEqual(await colour(page, 0, 1), entry(redBlue, 128));
    const svg = await page.evaluate(async () => {
      return (await window.heatmap.exportAs('svg')).text();
    });
    assert.ok(svg.includes('>constant 0</text>'));
  });

  for (const ratio of [1, 1.25, 2]) {
    test(`P7: sharp at ${ratio} device pixels`, async () => {
      const page = await open(small, { ratio, width: 801 });
      const size = await (await canvasOf(page)).evaluate((canvas) => {
        const { width, height } = canvas.getBoundingClientRect();
        const device = [width * devicePixelRatio, height * devicePixelRatio];
        return { ratio: devicePixelRatio, store: [canvas.width, canvas.height], device };
      });
      assert.equal(size.ratio, ratio);
      assert.deepEqual(size.store, size.device.map(Math.round));
      for (const [at, store] of size.store.entries()) {
        assert.ok(Math.abs(store - size.device[at]) < 0.1, `${store} for ${size.device[at]}`);
      }
      assert.deepEqual(await colour(page, 1, 1), entry(cividis, 191));
    });
  }

  test('P7: follows a change of the ratio and of the room', async () => {
    const page = await open(small);
    const room = (/** @type {string} */ width) =>
      page.evaluate((width) => {
        window.heatmap.style.width = width;
      }, width);
    /** Waits for a store of the right size between two widths. */
    const settled = (/** @type {number} */ least, /** @type {number} */ most) =>
      page.waitForFunction(
        (least, most) => {
          const canvas = window.heatmap.shadowRoot.querySelector('canvas');
          const store = Math.round(canvas.getBoundingClientRect().width * devicePixelRatio);
          return canvas.width === store && store >= least && store <= most;
        },
        {},
        least,
        most,
      );
    await room('300px');
    const width = await (await canvasOf(page)).evaluate((canvas) => canvas.width);
    // Chromium tells of an emulated ratio only when the window changes with it.
    await page.setViewport({ width: 1200, height: 800, deviceScaleFactor: 2 });
    await settled(2 * width - 4, 2 * width);
    await room('100px');
    await settled(150, 200);
  });

  test('P7: starts hidden, is drawn when shown', async () => {
    const page = await open(small, { around: ['<div hidden id="fold">', '</div>'] });
    const cells = () => page.evaluate(() => window.heatmap.cellRect(0, 0) !== null);
    assert.equal(await cells(), false);
    await page.evaluate(() => document.getElementById('fold')?.removeAttribute('hidden'));
    await page.waitForFunction(() => window.heatmap.cellRect(0, 0) !== null);
    assert.deepEqual(await colour(page, 0, 0), entry(cividis, 128));
  });

  test('P8: defined twice, and properties set before', async () => {
    const page = await browser.open('<attention-heatmap id="early"></attention-heatmap>');
    const shape = await page.evaluate(async () => {
      const early = /** @type {Heatmap} */ (document.getElementById('early'));
      early.matrix = [[0.5, 0.5]];
      const { defineHeatmap } = await import(
        /** @type {string} */ ('/web/elements/attention-heatmap.js')
      );
      defineHeatmap();
      const again = await import(`/web/elements/attention-heatmap.js?${'again'}`);
      again.defineHeatmap();
      const later = /** @type {Heatmap} */ (document.createElement('attention-heatmap'));
      later.matrix = [[1]];
      document.body.append(later);
      await Promise.all([early.updated, later.updated]);
      return [early, later].map((heatmap) => [heatmap.matrix?.columns, !!heatmap.cellRect(0, 0)]);
    });
    assert.deepEqual(shape, [
      [2, true],
      [1, true],
    ]);
  });

  test('many changes cost one drawing', async () => {
    const page = await open(small);
    const drawings = await page.evaluate(async () => {
      const { heatmap } = window;
      let count = 0;
      const { clearRect } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.clearRect = function (...box) {
        count++;
        return clearRect.apply(this, box);
      };
      for (let at = 0; at < 20; at++) {
        heatmap.matrix = [[at / 20, 1]];
        heatmap.rowLabels = ['a'];
        heatmap.columnLabels = ['a', 'b'];
        heatmap.mask = null;
        heatmap.setAttribute('kind', at % 2 ? 'signed' : 'weights');
      }
      await heatmap.updated;
      return count;
    });
    assert.equal(drawings, 1);
  });

  test('the state before fades from the new one, not in a drag, not where motion is unwanted', async () => {
    const page = await open({ matrix: [[1, 0]] });
    const change = (/** @type {number[][]} */ matrix) =>
      page.evaluate(async (matrix) => {
        const { heatmap } = window;
        heatmap.matrix = matrix;
        await heatmap.updated;
        const before = heatmap.shadowRoot.querySelector('.before');
        if (!before) return null;
        const { data } = before.getContext('2d').getImageData(4, 40, 1, 1);
        return { colour: [...data.slice(0, 3)], lasts: getComputedStyle(before).animationDuration };
      }, matrix);
    const rest = () => new Promise((resolve) => setTimeout(resolve, 400));
    const gone = () =>
      page.waitForFunction(() => !window.heatmap.shadowRoot.querySelector('.before'));
    await rest();
    const faded = await change([[0, 1]]);
    assert.deepEqual(faded, { colour: entry(cividis, 255), lasts: '0.12s' });
    assert.deepEqual(await colour(page, 0, 0), entry(cividis, 0), 'the new state is there at once');
    assert.equal(await change([[1, 1]]), null, 'a change that follows at once');
    await rest();
    await change([[0, 0]]);
    await gone();
    if (browser.name === 'firefox') return; // emulates no wish for less motion
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
    await rest();
    assert.match((await change([[1, 0]]))?.lasts ?? '0s', /^0m?s$/);
  });

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

  test('P2: a hostile token is text everywhere', async () => {
    const labels = [hostile, '=1+1', 'c'];
    const page = await open({ ...small, rowLabels: labels, columnLabels: labels });
    await page.mouse.move(...(await cell(page, 0, 0)).centre);
    await page.evaluate(() => window.heatmap.updated);
    assert.ok((await text(page, '.readout')).includes(hostile));
    const files = await page.evaluate(async () => {
      const { heatmap } = window;
      const svg = await (await heatmap.exportAs('svg')).text();
      const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml');
      return {
        images: heatmap.shadowRoot.querySelectorAll('img').length,
        inSvg: parsed.querySelectorAll('img, script, parsererror').length,
        texts: Array.from(parsed.querySelectorAll('text'), (text) => text.textContent),
        csv: await (await heatmap.exportAs('csv')).text(),
      };
    });
    assert.deepEqual([files.images, files.inSvg], [0, 0]);
    assert.ok(files.texts.some((text) => text?.startsWith('"><img src')));
    assert.ok(files.csv.includes(`"""><img src=x onerror=alert(1)>"`));
    assert.ok(files.csv.includes(`\r\n'=1+1,`));
  });

  test('P3: cut signs are shown as bytes', async () => {
    const page = await open(small);
    await page.evaluate(async () => {
      const { heatmap } = window;
      heatmap.rowLabels = [Uint8Array.of(0xe6, 0xad), Uint8Array.of(0xaa), '\ud83d'];
      heatmap.selected = { row: 0, column: 0 };
      await heatmap.updated;
    });
    assert.equal(await text(page, '.readout'), 'query <E6 AD> → key the: 0.5');
  });

  test('a page from right to left moves nothing inside the figure', async () => {
    const token = 'קטן';
    const page = await open(
      { ...small, editable: true, columnLabels: ['a', token, 'c'] },
      { around: ['<div dir="rtl">', '</div>'] },
    );
    const from = await cell(page, 1, 1);
    await page.mouse.click(...from.centre, { count: 2 });
    const input = await page.evaluate(() => {
      const box = window.heatmap.shadowRoot.querySelector('input').getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    });
    for (const [at, middle] of input.entries()) {
      assert.ok(Math.abs(middle - from.centre[at]) <= 1, `${input} over ${from.centre}`);
    }
    await page.evaluate(() => window.heatmap.updated);
    assert.equal(await text(page, '.readout'), `query cat → key \u2068${token}\u2069: 0.75`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowRight');
    assert.equal(await selected(page), '1,2');
  });

  test('exports what is shown', async () => {
    const page = await open({ ...small, selected: { row: 0, column: 0 } });
    const files = await page.evaluate(async () => {
      const { heatmap } = window;
      const bytes = async (/** @type {string} */ format) =>
        Array.from(new Uint8Array(await (await heatmap.exportAs(format)).arrayBuffer()));
      return {
        png: await bytes('png'),
        csv: await bytes('csv'),
        json: await bytes('json'),
        npy: await bytes('npy'),
      };
    });
    assert.deepEqual(files.png.slice(1, 4), [...Buffer.from('PNG')]);
    assert.ok(files.png.length > 1000);
    assert.deepEqual(files.csv.slice(0, 3), [0xef, 0xbb, 0xbf]);
    assert.match(
      Buffer.from(files.csv).toString(),
      /,the,cat,sat\r\nthe,0.5,0,0\r\ncat,0.25,0.75,0\r\n/,
    );
    const { shape, data, mask, rows } = JSON.parse(Buffer.from(files.json).toString());
    assert.deepEqual(
      { shape, data, mask, rows },
      {
        shape: [3, 3],
        data: values.flat(),
        mask: causal.flat(),
        rows: words,
      },
    );
    assert.equal(files.npy.length, 128 + 36);
  });

  test('follows the scheme of the page around it, also when it changes', async () => {
    const page = await open(small);
    const paper = async () => (await pixel(await canvasOf(page), 0.5, 30)).slice(0, 3);
    const settle = () => page.evaluate(() => Promise.resolve().then(() => window.heatmap.updated));
    assert.deepEqual(await paper(), rgb(palette.light.paper));
    for (const [attribute, word, scheme] of /** @type {const} */ ([
      ['data-theme', 'dark', 'dark'],
      ['data-theme', 'light', 'light'],
      ['data-theme', 'auto', 'light'],
      ['data-bs-theme', 'dark', 'dark'],
      ['data-md-color-scheme', 'slate', 'dark'],
      ['data-md-color-scheme', 'default', 'light'],
    ])) {
      await page.evaluate(
        (attribute, word) => document.documentElement.setAttribute(attribute, word),
        attribute,
        word,
      );
      await settle();
      assert.deepEqual(await paper(), rgb(palette[scheme].paper), `${attribute}="${word}"`);
      if (word !== 'auto') {
        await page.evaluate((name) => document.documentElement.removeAttribute(name), attribute);
      }
    }
    await page.evaluate(() => {
      const host = document.createElement('div');
      host.setAttribute('data-theme', 'dark');
      document.body.append(host);
      host.attachShadow({ mode: 'open' }).append(window.heatmap);
    });
    await settle();
    assert.deepEqual(await paper(), rgb(palette.dark.paper), 'through a shadow root');
    await page.evaluate(() => {
      window.heatmap.getRootNode().host.setAttribute('data-theme', 'light');
    });
    await settle();
    assert.deepEqual(await paper(), rgb(palette.light.paper), 'live through a shadow root');
  });

  test('tokens can be set from outside', async () => {
    const page = await open(small);
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('attention-heatmap { --attn-paper: #102030 }');
      document.adoptedStyleSheets = [sheet];
    });
    await set(page, { highlight: null });
    assert.deepEqual((await pixel(await canvasOf(page), 0.5, 30)).slice(0, 3), [16, 32, 48]);
  });

  test('speaks the language around it', async () => {
    const page = await open(
      { ...small, selected: { row: 0, column: 1 } },
      { attributes: 'lang="zh-CN"' },
    );
    assert.equal(await text(page, '.readout'), '查询 the → 键 cat：0、已掩蔽：因果掩码');
    await page.evaluate(() => {
      window.heatmap.lang = 'en';
    });
    await page.waitForFunction(() =>
      window.heatmap.shadowRoot.querySelector('.readout').textContent.startsWith('query the'),
    );
  });

  test('a thumbnail is a picture', async () => {
    const page = await open({ ...small, thumbnail: true, label: 'Head 3' });
    const about = await page.evaluate(() => {
      const root = window.heatmap.shadowRoot;
      const canvas = root.querySelector('canvas');
      return [
        canvas.getAttribute('role'),
        canvas.getAttribute('aria-label'),
        root.querySelectorAll('[role=grid]').length,
      ];
    });
    assert.deepEqual(about, ['img', 'Head 3, 3 × 3', 0]);
    const { inX, inY } = await cell(page, 0, 0);
    assert.deepEqual([inX, inY], [0, 0]);
    await page.mouse.click(...(await cell(page, 1, 1)).centre);
    assert.ok((await events(page)).some(({ type }) => type === 'cellclick'));
  });

  test('axe finds nothing, light and dark, with and without errors', async () => {
    const page = await open(
      { ...small, editable: true, selected: { row: 1, column: 1 }, label: 'Weights' },
      { around: ['<h1>Figure</h1>', ''] },
    );
    await page.waitForFunction(() => window.heatmap.shadowRoot.querySelector('[role=gridcell]'));
    assert.deepEqual(await axe(page), []);
    await page.evaluate(() => {
      document.documentElement.dataset.theme = 'dark';
      window.heatmap.setAttribute('kind', 'wrong');
    });
    await page.mouse.click(...(await cell(page, 1, 1)).centre, { count: 2 });
    await page.keyboard.type('x');
    await page.keyboard.press('Enter');
    assert.deepEqual(await axe(page), []);
  });

  if (browser.name === 'chromium') {
    test('follows the system: dark, print, forced colours', async () => {
      const page = await open(small);
      const session = await page.createCDPSession();
      /** Emulates, then waits for the figure to have this ground. */
      const emulate = async (
        /** @type {string} */ media,
        /** @type {string[]} */ [name, value],
        /** @type {number[]} */ ground,
      ) => {
        await session.send('Emulation.setEmulatedMedia', { media, features: [{ name, value }] });
        let paper;
        for (let tries = 0; tries < 50; tries++) {
          paper = (await pixel(await canvasOf(page), 0.5, 30)).slice(0, 3);
          if (String(paper) === String(ground)) return;
          await page.evaluate(() => new Promise(requestAnimationFrame));
        }
        assert.deepEqual(paper, ground, `${media} ${name}`);
      };
      const dark = ['prefers-color-scheme', 'dark'];
      await emulate('', dark, rgb(palette.dark.paper));
      await emulate('print', dark, rgb(palette.light.paper));
      await emulate('', ['forced-colors', 'active'], [255, 255, 255]);
    });
  }
});
