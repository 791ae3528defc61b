/** The playground under the hands of a reader: typing, clicking, keys, and what the maps then show. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eachBrowser } from './harness.js';
import { openFigure } from './page-figure.js';

const close = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) < 1e-6;

eachBrowser((browser) => {
  describe('tokens', () => {
    test('typing cuts English and Chinese into words and draws them', async () => {
      const figure = await openFigure(browser);
      const text = await figure.find('.source textarea');
      await figure.after(() => figure.type(text, 'one two'));
      await figure.until((root) => root.querySelectorAll('.source .chip').length === 2);
      await figure.type(text, '我喜欢猫');
      await figure.until((root) => root.querySelectorAll('.source .chip').length === 3);
      assert.deepEqual(await figure.chips(), ['我', '喜欢', '猫']);
      await figure.until((root) => {
        const { rowLabels } = /** @type {any} */ (root.querySelector('attention-heatmap'));
        return rowLabels.join() === '我,喜欢,猫';
      });
      const { data, rows } = await figure.map();
      for (let row = 0; row < rows; row++) {
        const sum = data
          .slice(row * rows, (row + 1) * rows)
          .reduce((all, weight) => all + weight, 0);
        assert.ok(close(sum, 1), `row ${row} sums to ${sum}`);
      }
    });

    test('characters keep the text and its spaces; words bring the old tokens back', async () => {
      const figure = await openFigure(browser);
      await figure.after(() => figure.press('characters'));
      assert.equal((await figure.chips()).join(''), 'the␣cat␣sat␣on␣the␣mat');
      await figure.after(() => figure.press('words'));
      assert.deepEqual(await figure.chips(), ['the', 'cat', 'sat', 'on', 'the', 'mat']);
    });

    test('P2 a hostile token is only its letters', async () => {
      const figure = await openFigure(browser);
      const hostile = '"><img src=x onerror=alert(1)>';
      await figure.click('.source li:nth-child(2) .chip');
      await figure.after(() => figure.page.keyboard.type(hostile));
      await figure.page.keyboard.press('Enter');
      await figure.until(
        (root, hostile) =>
          root.querySelector('.source li:nth-child(2) .chip')?.textContent === hostile,
        hostile,
      );
      const { rowLabels } = await figure.map();
      assert.equal(rowLabels[1], hostile);
      assert.equal(await figure.inside((root) => root.querySelectorAll('img').length), 0);
      assert.match(
        await figure.inside((root) => root.querySelector('.place')?.textContent ?? ''),
        /<img src=x/,
      );
    });

    test('a chip is edited, taken back with Escape, removed and added', async () => {
      const figure = await openFigure(browser);
      await figure.click('.source li:nth-child(2) .chip');
      await figure.after(() => figure.page.keyboard.type('dog'));
      await figure.page.keyboard.press('Escape');
      assert.equal((await figure.chips())[1], 'cat');
      await figure.after(() => figure.page.keyboard.press('Delete'));
      assert.deepEqual(await figure.chips(), ['the', 'sat', 'on', 'the', 'mat']);
      await figure.after(() => figure.click('.source .add'));
      await figure.after(() => figure.page.keyboard.type('again'));
      await figure.page.keyboard.press('Enter');
      assert.deepEqual(await figure.chips(), ['the', 'sat', 'on', 'the', 'mat', 'again']);
      assert.equal(
        await figure.inside(
          (root) =>
            /** @type {HTMLTextAreaElement} */ (root.querySelector('.source textarea')).value,
        ),
        'the sat on the mat again',
      );
    });

    test('P4 the Enter that ends a composition submits nothing', async () => {
      const figure = await openFigure(browser);
      await figure.click('.source li:nth-child(2) .chip');
      const open = await figure.inside((root) => {
        const input = /** @type {HTMLInputElement} */ (root.querySelector('input.chip'));
        const compose = (/** @type {string} */ type, /** @type {string} */ data) =>
          input.dispatchEvent(new CompositionEvent(type, { data, bubbles: true, composed: true }));
        compose('compositionstart', '');
        input.value = 'mao';
        input.dispatchEvent(new InputEvent('input', { isComposing: true, bubbles: true }));
        input.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }),
        );
        return root.querySelector('input.chip') === input;
      });
      assert.ok(open, 'the field is still open');
      assert.equal((await figure.map()).rowLabels[1], 'cat', 'half a word is not a token');
      await figure.after(() =>
        figure.inside((root) => {
          const input = /** @type {HTMLInputElement} */ (root.querySelector('input.chip'));
          input.value = '猫';
          input.dispatchEvent(
            new CompositionEvent('compositionend', { data: '猫', bubbles: true }),
          );
        }),
      );
      assert.equal((await figure.map()).rowLabels[1], '猫');
    });

    test('moving a token by key permutes the weights and changes none', async () => {
      const figure = await openFigure(browser);
      const before = await figure.map();
      await (await figure.find('.source li:nth-child(2) .chip')).focus();
      await figure.after(async () => {
        await figure.page.keyboard.down('Alt');
        await figure.page.keyboard.press('ArrowRight');
        await figure.page.keyboard.up('Alt');
      });
      assert.deepEqual(await figure.chips(), ['the', 'sat', 'cat', 'on', 'the', 'mat']);
      const moved = await figure.map();
      const from = [0, 2, 1, 3, 4, 5];
      moved.data.forEach((weight, cell) => {
        const row = from[Math.floor(cell / 6)];
        assert.ok(close(weight, before.data[row * 6 + from[cell % 6]]), `cell ${cell}`);
      });
      assert.notDeepEqual(moved.data, before.data);
      assert.equal(
        await figure.inside((root) => root.activeElement?.textContent),
        'cat',
        'the focus went along',
      );
    });

    test('dragging a token moves it live, and is one step to undo', async () => {
      const figure = await openFigure(browser);
      const from = await (await figure.find('.source li:nth-child(1) .chip')).boundingBox();
      const to = await (await figure.find('.source li:nth-child(3) .chip')).boundingBox();
      assert.ok(from && to);
      const { mouse } = figure.page;
      await mouse.move(from.x + 8, from.y + 8);
      await mouse.down();
      await figure.after(() => mouse.move(to.x + 8, to.y + 8, { steps: 6 }));
      await figure.until(
        (root) => root.querySelector('.source li:nth-child(3) .chip')?.textContent === 'the',
      );
      await mouse.up();
      assert.deepEqual(await figure.chips(), ['cat', 'sat', 'the', 'on', 'the', 'mat']);
      assert.equal(await figure.inside((root) => root.querySelector('input.chip')), null);
      await figure.after(() => figure.press('Undo'));
      assert.deepEqual(await figure.chips(), ['the', 'cat', 'sat', 'on', 'the', 'mat']);
    });

    test('65 tokens: a sentence, nothing lost, the last figure stays, the next action works', async () => {
      const figure = await openFigure(browser);
      const many = Array.from({ length: 65 }, (_, at) => `w${at}`).join(' ');
      await figure.paste(many);
      assert.match((await figure.errors()).join(), /65 tokens are more than 64/);
      assert.equal((await figure.map()).rows, 6);
      await figure.after(() => figure.press('Causal'));
      assert.equal(
        await figure.inside(
          (root) =>
            /** @type {HTMLTextAreaElement} */ (root.querySelector('.source textarea')).value,
        ),
        many,
      );
      await figure.after(() => figure.paste(many.slice(0, -4)));
      assert.deepEqual(await figure.errors(), []);
      assert.equal((await figure.map()).rows, 64);
    });

    test('pointing at a token lights its row and its column', async () => {
      const figure = await openFigure(browser);
      await (await figure.find('.source li:nth-child(2) .chip')).hover();
      await figure.until((root) => root.querySelector('.center.pointing-query.pointing-key'));
      assert.deepEqual(
        await figure.inside((root) => ({
          .../** @type {any} */ (root.querySelector('attention-heatmap')).highlight,
        })),
        { row: 1, column: 1 },
      );
    });
  });

  describe('masks', () => {
    test('causal, valid length, window and own cells combine, each with its reason', async () => {
      const figure = await openFigure(browser);
      await figure.after(() => figure.press('Causal'));
      await figure.press('Valid length');
      const length = await figure.byName('Valid length');
      assert.ok(length);
      const number = await figure.find('.slider .number');
      await figure.after(() => figure.type(number, '4'));
      const { mask, data } = await figure.map();
      assert.equal(mask?.[1], 2, 'causal');
      assert.equal(mask?.[5 * 6 + 4], 1, 'beyond the valid length');
      assert.equal(mask?.[5], 3, 'both');
      assert.equal(data[5], 0);
      assert.equal(data[0], 1, 'the first query has one key left');
      const struck = await figure.inside((root) =>
        [...root.querySelectorAll('.source .struck')].map((chip) => chip.getAttribute('title')),
      );
      assert.equal(struck.length, 2);
      assert.match(struck[0] ?? '', /masked for every query: .*valid length/);
    });

    test('own cells are drawn by mouse and by key', async () => {
      const figure = await openFigure(browser);
      await figure.press('Own cells');
      const { x, y } = await figure.cell(1, 3);
      await figure.after(() => figure.page.mouse.click(x, y));
      let { mask, data } = await figure.map();
      assert.equal(mask?.[1 * 6 + 3], 8);
      assert.equal(data[1 * 6 + 3], 0);
      await figure.page.keyboard.press('ArrowRight');
      await figure.after(() => figure.page.keyboard.press(' '));
      ({ mask, data } = await figure.map());
      assert.equal(mask?.[1 * 6 + 4], 8);
      await figure.after(() => figure.page.keyboard.press(' '));
      ({ mask } = await figure.map());
      assert.equal(mask?.[1 * 6 + 4], 0);
      await figure.after(() => figure.press('Open all'));
      ({ mask } = await figure.map());
      assert.ok(mask?.every((reason) => reason === 0));
    });

    test('a drag closes every cell on its way, or opens them, and one undo takes it back', async () => {
      const figure = await openFigure(browser);
      const { mouse } = figure.page;
      await figure.press('Own cells');
      const drag = async (/** @type {[number, number][]} */ cells) => {
        const [first, ...rest] = await Promise.all(cells.map((cell) => figure.cell(...cell)));
        await mouse.move(first.x, first.y);
        await mouse.down();
        for (const { x, y } of rest) await mouse.move(x, y);
        await mouse.up();
      };
      const closed = (/** @type {number[]} */ cells) =>
        figure.until((root, cells) => {
          const { mask } = /** @type {any} */ (root.querySelector('attention-heatmap'));
          const shut = [...(mask ?? [])].flatMap((reason, cell) => (reason ? [cell] : []));
          return shut.join() === cells.join();
        }, cells);
      await drag([
        [1, 1],
        [1, 4],
        [3, 4],
      ]);
      const way = [7, 8, 9, 10, 16, 22];
      await closed(way); // also those that the pointer leapt over
      await drag([
        [2, 4],
        [2, 5],
        [1, 4],
      ]);
      await closed([7, 8, 9, 22]); // a drag from a closed cell opens
      await figure.press('Undo');
      await closed(way);
      await figure.press('Undo');
      await closed([]);
    });

    test('an empty row, in the three ways of filling it', async () => {
      const figure = await openFigure(browser);
      await figure.after(() => figure.press('an empty row'));
      const inspected = await figure.inside((root) => root.querySelector('.place')?.textContent);
      assert.equal(inspected, 'query a → key a');
      let { data } = await figure.map();
      assert.deepEqual(data.slice(0, 4), [0.25, 0.25, 0.25, 0.25]);
      await figure.after(() => figure.press('−∞'));
      ({ data } = await figure.map());
      assert.ok(data.slice(0, 4).every(Number.isNaN));
      const { mask } = await figure.map();
      assert.deepEqual(mask?.slice(0, 4), [0, 0, 0, 0], 'NaN is shown, not hatched');
      await figure.after(() => figure.press('left out'));
      ({ data } = await figure.map());
      assert.deepEqual(data.slice(0, 4), [0, 0, 0, 0]);
      assert.match(
        await figure.inside((root) => root.querySelector('.look')?.textContent ?? ''),
        /no key left/,
      );
    });

    test('what an experiment says of its sentence is not said of another language’s', async () => {
      const figure = await openFigure(browser);
      const told = () =>
        figure.inside((root) => [
          root.querySelector('.experiments [aria-current]')?.textContent ?? '',
          root.querySelector('.look')?.textContent ?? '',
        ]);
      await figure.after(() => figure.press('the same word twice'));
      assert.match((await told())[1], /Both “the”/);
      await figure.page.evaluate(() => {
        /** @type {HTMLElement} */ (document.querySelector('attention-playground')).lang = 'zh-CN';
      });
      await figure.until((root) => root.textContent?.includes('掩码'));
      assert.deepEqual(await told(), ['', '']);
    });

    test('half of a number that does not fit leaves no trace', async () => {
      const figure = await openFigure(browser);
      const width = await figure.find('input[name=hiddens]');
      const columns = (/** @type {number} */ count) =>
        figure.until(
          (root, count) =>
            /** @type {any} */ (root.querySelector('attention-heatmap')).columnLabels.length ===
            count,
          count,
        );
      await figure.after(() => figure.click('.pipeline li:nth-child(6) button'));
      await figure.type(width, '25');
      await columns(25);
      await figure.page.keyboard.type('6');
      assert.match((await figure.errors()).join(), /from 4 to 128; “256” is not/);
      await columns(32);
      await figure.after(() => figure.type(width, '64'));
      await columns(64);
      assert.deepEqual(await figure.errors(), []);
    });

    test('numbers that do not fit are refused beside their control', async () => {
      const figure = await openFigure(browser);
      await figure.press('Valid length');
      const length = await figure.find('.slider .number');
      await figure.type(length, '9');
      assert.deepEqual(await figure.errors(), [
        'Valid length is at most 6, the number of keys; got 9.',
      ]);
      await figure.after(() => figure.type(length, '2'));
      assert.deepEqual(await figure.errors(), []);

      await figure.press('Scoring');
      const temperature = await figure.byName('Temperature');
      for (const wrong of ['-1', 'NaN', 'warm', '']) {
        await figure.inside((root, wrong) => {
          const label = [...root.querySelectorAll('label')].find((at) =>
            at.textContent?.startsWith('Temp'),
          );
          const input = /** @type {HTMLInputElement} */ (label?.control);
          input.value = wrong;
          input.dispatchEvent(new InputEvent('input', { bubbles: true }));
        }, wrong);
        const [error] = await figure.errors();
        assert.equal(error, `Temperature τ is a number from 0.01 to 100; “${wrong}” is not.`);
      }
      const before = (await figure.map()).data;
      await figure.after(() => figure.type(temperature, '0.5'));
      const taken = (await figure.map()).data;
      assert.notDeepEqual(taken, before);
      assert.deepEqual(await figure.errors(), []);

      await temperature.press('Enter');
      await figure.after(() => figure.press('Causal'));
      await figure.after(() => figure.press('Causal'));
      await figure.type(temperature, 'cold');
      assert.match((await figure.errors()).join(), /“cold” is not/);
      assert.deepEqual((await figure.map()).data, taken, 'what was taken with Enter stays');
    });
  });

  describe('heads, scores, vectors', () => {
    test('only divisors are offered; a drag of the width comes back to the same figure', async () => {
      const figure = await openFigure(browser);
      const offered = () =>
        figure.inside((root) => {
          const group = [...root.querySelectorAll('fieldset')].find((set) =>
            set.textContent?.startsWith('Heads h'),
          );
          return [...(group?.querySelectorAll('.choice') ?? [])].map(
            (choice) => choice.textContent,
          );
        });
      assert.deepEqual(await offered(), ['1', '2', '4', '8', '16', '32']);
      const before = await figure.map();
      const width = await figure.byName('Width H');
      await figure.after(() => figure.type(width, '30'));
      assert.deepEqual(await offered(), ['1', '2', '3', '5', '6', '10', '15', '30']);
      assert.equal(
        await figure.inside((root) => root.querySelectorAll('.heads li').length),
        4,
        'mean and 3',
      );
      await figure.after(() => figure.type(width, '32'));
      assert.deepEqual(await figure.map(), before);
    });

    test('a head is shown large, switched off, and the mean is one click away', async () => {
      const figure = await openFigure(browser);
      const first = await figure.map();
      await figure.after(() => figure.click('.heads li:nth-child(3) button'));
      const second = await figure.map();
      assert.notDeepEqual(second.data, first.data);
      await figure.after(() => figure.click('.heads li.mean button'));
      const mean = await figure.map();
      assert.ok(mean.data[0] > 0 && mean.data[0] < 1);
      await figure.after(() => figure.click('.pipeline li:nth-child(6) button'));
      const output = await figure.map();
      assert.equal(output.columns, 32);
      await figure.after(() => figure.click('.heads li:nth-child(3) input'));
      assert.notDeepEqual((await figure.map()).data, output.data);
    });

    test('without the scale the entropy falls as the width grows', async () => {
      const figure = await openFigure(browser);
      const entropy = () =>
        figure.inside((root) => Number.parseFloat(root.querySelector('output')?.textContent ?? ''));
      await figure.press('Scoring');
      await figure.after(() => figure.press('off'));
      const seen = [];
      for (const width of ['16', '64', '128']) {
        const field = await figure.byName('Width H');
        await figure.after(() => figure.type(field, width));
        seen.push(await entropy());
      }
      assert.ok(seen[0] > seen[1] && seen[1] > seen[2], seen.join(' > '));
    });

    test('equal words have equal columns until positions tell them apart', async () => {
      const figure = await openFigure(browser);
      let { data } = await figure.map();
      for (let row = 0; row < 6; row++) assert.equal(data[row * 6], data[row * 6 + 4]);
      await figure.press('Vectors');
      await figure.after(() => figure.press('sinusoidal'));
      ({ data } = await figure.map());
      assert.notEqual(data[0], data[4]);
    });

    test('the seed rolls to other numbers, and back by undo', async () => {
      const figure = await openFigure(browser);
      const before = await figure.map();
      await figure.press('Vectors');
      await figure.after(() => figure.press('Roll again'));
      assert.notDeepEqual(await figure.map(), before);
      await figure.after(() => figure.press('Undo'));
      assert.deepEqual(await figure.map(), before);
    });

    test('cross-attention has two texts, queries down and keys across', async () => {
      const figure = await openFigure(browser);
      await figure.after(() => figure.press('cross'));
      const { rows, columns, rowLabels } = await figure.map();
      assert.deepEqual([rows, columns], [7, 6]);
      assert.equal(rowLabels[1], 'chat');
      const target = await figure.find('.target textarea');
      await figure.after(() => figure.type(target, '狗'));
      await figure.until(
        (root) => /** @type {any} */ (root.querySelector('attention-heatmap')).matrix.rows === 1,
      );
    });
  });
});
