/** Reading, editing and taking back numbers; pictures of them; what leaves the page. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cividis } from '../../build/colour-tables.js';
import { axe, eachBrowser } from './harness.js';
import { openFigure } from './page-figure.js';

eachBrowser((browser) => {
  describe('the inspector', () => {
    test('walks from products to weight, and follows the pointer and the keys', async () => {
      const figure = await openFigure(browser);
      const read = () =>
        figure.inside((root) => ({
          place: root.querySelector('.place')?.textContent,
          value: root.querySelector('.value')?.textContent,
          terms: [...root.querySelectorAll('.terms li')].map((term) => term.textContent ?? ''),
          score: /** @type {HTMLInputElement} */ (root.querySelector('.number-field input')).value,
          mask: root.querySelector('.number-field > span:last-child')?.textContent,
        }));
      const first = await read();
      assert.equal(first.place, 'query sat → key cat');
      assert.equal(first.terms.length, 8);
      const sum = first.terms.reduce(
        (all, term) => all + Number(term.split('=')[1].replace('−', '-')),
        0,
      );
      assert.ok(Math.abs(sum - Number(first.score)) < 0.01, `${sum} and ${first.score}`);
      assert.equal(first.mask, 'may attend');
      const { data } = await figure.map();
      assert.equal(Math.fround(Number(first.value)), data[2 * 6 + 1]);

      const box = await figure.cell(0, 5);
      await figure.page.mouse.move(box.x, box.y);
      await figure.until(
        (root) => root.querySelector('.place')?.textContent === 'query the → key mat',
      );
      await figure.page.mouse.move(5, 5);
      await figure.until(
        (root) => root.querySelector('.place')?.textContent === 'query sat → key cat',
      );
      await figure.page.mouse.click(box.x, box.y);
      await figure.page.keyboard.press('ArrowDown');
      await figure.until(
        (root) => root.querySelector('.place')?.textContent === 'query cat → key mat',
      );
    });

    test('a score typed over moves what follows, is marked, and can be undone, redone and reset', async () => {
      const figure = await openFigure(browser);
      const before = await figure.map();
      const field = () => figure.find('.number-field:nth-child(2) input');
      await figure.after(async () => {
        await figure.type(await field(), '3');
        await figure.page.keyboard.press('Enter');
      });
      const edited = await figure.map();
      assert.ok(edited.data[13] > before.data[13]);
      assert.ok(edited.data[12] < before.data[12], 'the others of the row make room');
      assert.deepEqual(edited.data.slice(0, 12), before.data.slice(0, 12), 'other rows stay');
      assert.ok(await figure.inside((root) => Boolean(root.querySelector('.number-field.edited'))));
      await figure.after(() => figure.click('.pipeline li:nth-child(2) button'));
      assert.deepEqual((await figure.map()).edited, [[2, 1]]);
      await figure.after(() => figure.click('.pipeline li:nth-child(4) button'));

      await figure.after(() => figure.press('Undo'));
      await figure.after(() => figure.press('Undo'));
      await figure.after(() => figure.press('Undo'));
      assert.deepEqual(await figure.map(), before);
      await figure.after(() => figure.press('Redo'));
      assert.deepEqual((await figure.map()).data, edited.data);
      await figure.after(() => figure.press('Reset'));
      assert.deepEqual(await figure.map(), before);
      await figure.after(() => figure.press('Undo'));
      assert.deepEqual((await figure.map()).data, edited.data, 'reset can be undone');
      await figure.after(() => figure.press('Take all edits back'));
      assert.deepEqual((await figure.map()).data, before.data);
    });

    test('a weight typed into its cell in the map', async () => {
      const figure = await openFigure(browser);
      const { x, y } = await figure.cell(3, 2);
      await figure.page.mouse.click(x, y);
      await figure.page.keyboard.press('Enter');
      await figure.page.keyboard.type('0.5');
      await figure.after(() => figure.page.keyboard.press('Enter'));
      const { data, edited } = await figure.map();
      assert.equal(data[3 * 6 + 2], 0.5);
      assert.deepEqual(edited, [[3, 2]]);
    });

    test('NaN spreads over its row only and is flagged; nonsense is refused', async () => {
      const figure = await openFigure(browser);
      const field = await figure.find('.number-field:nth-child(2) input');
      await figure.type(field, 'much');
      await figure.page.keyboard.press('Enter');
      assert.match((await figure.errors()).join(), /“much” is not a number/);
      await figure.after(async () => {
        await figure.type(field, 'nan');
        await figure.page.keyboard.press('Enter');
      });
      const { data } = await figure.map();
      assert.ok(data.slice(12, 18).every(Number.isNaN));
      assert.ok([...data.slice(0, 12), ...data.slice(18)].every(Number.isFinite));
      assert.match((await figure.errors()).join(), /NaN or \+∞ in this row/);
    });

    test('Ctrl+Z and Ctrl+Shift+Z', async () => {
      const figure = await openFigure(browser);
      const before = await figure.map();
      await figure.after(() => figure.click('.heads li:nth-child(4) button'));
      const after = await figure.map();
      await figure.page.keyboard.down('Control');
      await figure.after(() => figure.page.keyboard.press('z'));
      assert.deepEqual(await figure.map(), before);
      await figure.page.keyboard.down('Shift');
      await figure.after(() => figure.page.keyboard.press('z'));
      await figure.page.keyboard.up('Shift');
      await figure.page.keyboard.up('Control');
      assert.deepEqual(await figure.map(), after);
    });
  });

  test('the table of tensors names them all and shows the one that is clicked', async () => {
    const figure = await openFigure(browser);
    const rows = await figure.inside((root) =>
      [...root.querySelectorAll('.shapes tbody tr')].map((row) =>
        [...row.children].map((cell) => [...cell.children].map((line) => line.textContent)),
      ),
    );
    const weights = rows.find(([[name]]) => name === 'attention.weights');
    assert.deepEqual(weights?.[1], ['[B, h, Tq, Tk]', '1 × 4 × 6 × 6']);
    assert.match(weights?.[2].join() ?? '', /masked_scores.*sums to 1 along Tk/);
    for (const name of ['attention.query', 'source.embedding', 'attention.row_flags']) {
      await figure.after(() => figure.press(name));
      await figure.until(
        (root, name) => root.querySelector('.stage .bar .figures')?.textContent?.startsWith(name),
        name,
      );
    }
    assert.deepEqual((await figure.map()).data, Array(24).fill(0), 'no row is flagged');
  });

  test('colours run to the largest weight of all heads, their mean among them, or to 1', async () => {
    const figure = await openFigure(browser);
    /** What the small maps hold: for each its numbers and the colours of its cells. */
    const maps = async () => {
      const colours = await figure.inside((root) =>
        [...root.querySelectorAll('.heads canvas')].map((canvas) => {
          const { width, height } = /** @type {HTMLCanvasElement} */ (canvas);
          const pen = /** @type {any} */ (canvas).getContext('2d');
          return [...pen.getImageData(0, 0, width, height).data];
        }),
      );
      const all = [];
      for (const [index, pixels] of colours.entries()) {
        await figure.click(`.heads li:nth-child(${index + 1}) button`);
        const name = index ? `attention.weights, head ${index}` : 'attention.mean_weights';
        await figure.until(
          (root, name) => root.querySelector('.stage .bar .figures')?.textContent === name,
          name,
        );
        all.push({ numbers: (await figure.map()).data, pixels });
      }
      const range = await figure.inside(
        (root) => /** @type {any} */ (root.querySelector('attention-heatmap')).range,
      );
      return { all, range };
    };
    const { all, range } = await maps();
    const largest = Math.max(...all.flatMap(({ numbers }) => numbers));
    assert.deepEqual(range, [0, largest], 'the ends that the legend names');
    const check = (/** @type {typeof all} */ maps, /** @type {number} */ high) => {
      for (const { numbers, pixels } of maps) {
        for (const [cell, value] of numbers.entries()) {
          const index = Math.round((value / high) * 255);
          const expected = cividis.slice(index * 3, index * 3 + 3);
          assert.deepEqual(pixels.slice(cell * 4, cell * 4 + 3), expected, `${value} of ${high}`);
        }
      }
    };
    check(all, largest);
    await figure.after(() => figure.press('0 to 1'));
    const unit = await maps();
    assert.deepEqual(unit.range, [0, 1]);
    check(unit.all, 1);
  });

  test('arcs are drawn instead of the map, and thicken with the weight', async () => {
    const figure = await openFigure(browser);
    await figure.after(() => figure.press('arcs'));
    await figure.until((root) => {
      const canvas = /** @type {HTMLCanvasElement} */ (
        root.querySelector('.stage > .frame canvas')
      );
      if (!canvas.width) return false;
      const { data } = /** @type {CanvasRenderingContext2D} */ (
        canvas.getContext('2d')
      ).getImageData(canvas.width / 2, 0, 1, canvas.height);
      const colours = new Set();
      for (let at = 0; at < data.length; at += 4) colours.add(data.slice(at, at + 3).join());
      return colours.size > 4;
    });
    assert.ok(
      await figure.inside((root) =>
        root.querySelector('attention-heatmap')?.hasAttribute('hidden'),
      ),
    );
    assert.deepEqual(await axe(/** @type {any} */ (figure.page)), []);
  });

  test('copied text: link, embed code, PyTorch; by hand where the clipboard is refused', async () => {
    const figure = await openFigure(browser);
    await figure.after(() => figure.press('Causal'));
    const { copied } = figure;
    const link = await copied('Copy link');
    assert.match(link, /\/dist\/index\.html#v1\./);
    const hash = new URL(link).hash;
    const tag = await copied('Copy embed code');
    assert.ok(tag.includes(`state="${hash}"`));
    assert.ok(tag.includes('src="attention-playground.js"'), 'no address of this machine');
    assert.ok(!tag.includes('controls'), 'all panels are on the screen');
    const frame = await copied('Copy frame code');
    assert.ok(frame.includes(`src="embed.html?lang=en${hash}"`));
    assert.match(frame, /attention-playground:height/);
    const torch = await copied('Copy as PyTorch');
    assert.match(torch, /import torch/);
    assert.match(torch, /tril\(Tk - Tq\)/);
    await figure.page.evaluate(() => {
      navigator.clipboard.writeText = async () => {
        throw new DOMException('no', 'NotAllowedError');
      };
    });
    await figure.press('Copy link');
    await figure.until(
      (root) => !(/** @type {HTMLElement} */ (root.querySelector('.by-hand')).hidden),
    );
    assert.equal(
      await figure.inside(
        (root) =>
          /** @type {HTMLTextAreaElement} */ (root.querySelector('.by-hand textarea')).value,
      ),
      link,
    );
  });

  test('files: PNG, SVG, CSV, NumPy and JSON', async () => {
    const figure = await openFigure(browser);
    await figure.page.evaluate(() => {
      const files = /** @type {Record<string, Blob>} */ ({});
      Object.assign(window, { files });
      const { createObjectURL } = URL;
      let last = /** @type {Blob | null} */ (null);
      URL.createObjectURL = (blob) => {
        last = /** @type {Blob} */ (blob);
        return createObjectURL(blob);
      };
      HTMLAnchorElement.prototype.click = function () {
        if (last) files[this.download] = last;
      };
    });
    const file = async (/** @type {string} */ entry, /** @type {string} */ name) => {
      await figure.press(entry);
      await figure.page.waitForFunction(
        (name) => /** @type {any} */ (window).files[name],
        {},
        name,
      );
      return figure.page.evaluate(async (name) => {
        const blob = /** @type {Blob} */ (/** @type {any} */ (window).files[name]);
        return { type: blob.type, text: await blob.text(), size: blob.size };
      }, name);
    };
    const { data } = await figure.map();
    assert.ok((await file('PNG', 'attention.png')).text.includes('PNG'));
    assert.match((await file('SVG', 'attention.svg')).text, /^<svg/);
    assert.match((await file('CSV', 'attention.csv')).text, /the,cat,sat/);
    assert.match((await file('NumPy', 'attention.npy')).text, /NUMPY.*'shape': \(6, 6\)/s);
    const json = JSON.parse((await file('JSON', 'attention.json')).text);
    const weights = json.tensors.find(
      (/** @type {any} */ tensor) => tensor.name === 'attention.weights',
    );
    assert.deepEqual(weights.shape, [1, 4, 6, 6]);
    assert.deepEqual(weights.data.slice(0, 36).map(Math.fround), data);
  });

  test('a cell that is pointed at before an undo has its numbers is read from those that are there', async () => {
    const figure = await openFigure(browser);
    await figure.after(() => figure.press('head 4'));
    await figure.after(() => figure.press('1'));
    await figure.after(() =>
      figure.inside((root) => {
        const heatmap = root.querySelector('attention-heatmap:not([thumbnail])');
        const canvas = /** @type {Element} */ (heatmap?.shadowRoot?.querySelector('canvas'));
        const { x, y, width, height } = canvas.getBoundingClientRect();
        /** @type {any} */ (root.host).undo();
        const middle = { clientX: x + width / 2, clientY: y + height / 2 };
        canvas.dispatchEvent(new PointerEvent('pointermove', { ...middle, bubbles: true }));
      }),
    );
    assert.equal((await figure.map()).rows, 6);
  });
});
