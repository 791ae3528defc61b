/** The kernel regression lesson by mouse, keys and link; its numbers are Node's, bit for bit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../wasm/attention.js';
import { createEvaluator } from '../../wasm/evaluate.js';
import { lessons } from '../../web/lessons/index.js';
import { encodeState } from '../../web/lessons/state.js';
import { eachBrowser } from './harness.js';
import { assertAccessible, assertNothingCut, assertOneLanguage, unfold } from './page-checks.js';
import { openFigure } from './page-figure.js';

/** @typedef {Awaited<ReturnType<typeof openFigure>>} Opened */

const lesson = /** @type {import('../../web/lessons/index.js').KernelRegression} */ (
  lessons['kernel-regression']
);
const evaluate = createEvaluator(await createEngine());

/** @param {Record<string, any>} values */
const stateOf = (values) => lesson.reduce(lesson.defaults, { type: 'load', values });

/** @param {Record<string, any>} values */
async function address(values) {
  return `/dist/index.html?lesson=kernel-regression${await encodeState(lesson.table, stateOf(values))}`;
}

/** What Node computes for a state. @param {Record<string, any>} values */
async function resultOf(values) {
  const state = stateOf(values);
  return { state, ...(await evaluate(lesson.request(state))) };
}

/** @param {Opened} figure */
const read = (figure) =>
  figure.inside((root) => ({
    at: root.querySelector('.inspector .place')?.textContent,
    prediction: root.querySelector('.inspector .value')?.textContent,
    terms: root.querySelectorAll('.inspector .terms li').length,
    rest: root.querySelector('.inspector .part .note')?.textContent,
    points: [...root.querySelectorAll('.handles .handle')].map((handle) =>
      handle.getAttribute('aria-valuetext'),
    ),
    focused: root.activeElement?.getAttribute('aria-label') ?? '',
  }));

/** The middle of a slider above the plot. @param {Opened} figure @param {string} selector */
const middle = async (figure, selector) => {
  await figure.painted();
  return figure.inside((root, selector) => {
    const box = /** @type {Element} */ (root.querySelector(selector)).getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }, selector);
};

eachBrowser((browser) => {
  test('a point dragged by mouse or finger takes the prediction along; one undo takes it back', async () => {
    const figure = await openFigure(browser, await address({}));
    const { mouse } = figure.page;
    const before = await read(figure);
    assert.equal(before.at, 'x = 2.4');
    const { prediction } = lesson.readQuery(await resultOf({}), 120);
    assert.equal(Math.fround(Number(before.prediction)), prediction);

    const { x, y } = await middle(figure, '.handle:nth-child(13)');
    await mouse.move(x, y);
    await mouse.down();
    await figure.after(() => mouse.move(x + 4, y - 20));
    await figure.after(() => mouse.move(x + 4, y - 60));
    await mouse.up();
    const after = await read(figure);
    assert.match(String(after.points[12]), /^key 2\.5\d, value 4/);
    assert.ok(Number(after.prediction) > Number(before.prediction), 'pulled up');
    assert.match(after.focused, /^Point 13 of 30$/);
    await figure.after(() => figure.press('Undo'));
    const undone = await read(figure);
    assert.deepEqual(undone.points, before.points);
    assert.equal(undone.prediction, before.prediction);

    const { touchscreen } = figure.page;
    const finger = await middle(figure, '.handle:nth-child(9)');
    await touchscreen.touchStart(finger.x, finger.y);
    await figure.after(() => touchscreen.touchMove(finger.x, finger.y + 60));
    await touchscreen.touchEnd();
    assert.match(String((await read(figure)).points[8]), /^key 1\.77, value 3/);
  });

  test('points by keys: move, go to the next, remove; and by a double click: add', async () => {
    const figure = await openFigure(browser, await address({}));
    const { keyboard, mouse } = figure.page;
    await figure.inside((root) =>
      /** @type {HTMLElement} */ (root.querySelector('.handle')).focus(),
    );
    await figure.after(() => keyboard.press('ArrowUp'));
    await figure.after(() => keyboard.press('ArrowLeft'));
    assert.match(String((await read(figure)).points[0]), /^key 0\.34, value 1\.47/);
    await keyboard.press('PageDown');
    assert.equal((await read(figure)).focused, 'Point 2 of 30');
    await figure.after(() => keyboard.press('Delete'));
    const removed = await read(figure);
    assert.equal(removed.points.length, 29);
    assert.equal(removed.focused, 'Point 2 of 29');
    assert.match(String(removed.points[1]), /^key 0\.68/);

    const query = await middle(figure, '.plot > .handle');
    const top = await middle(figure, '.handle:nth-child(8)');
    await figure.after(() => mouse.click(query.x - 160, top.y, { count: 2 }));
    await figure.until((root) => root.querySelectorAll('.handles .handle').length === 30);
    assert.match((await read(figure)).focused, /^Point \d of 30$/);
    await figure.after(() => figure.press('Remove the point'));
    const places = (/** @type {(string | null)[]} */ points) =>
      points.map((point) => point?.replace(/, weight.*/, ''));
    assert.deepEqual(places((await read(figure)).points), places(removed.points));
  });

  test('the query by mouse, keys and map; the width makes its row narrow', async () => {
    const figure = await openFigure(browser, await address({}));
    const { keyboard, mouse } = figure.page;
    const { x, y } = await middle(figure, '.plot > .handle');
    await mouse.move(x, y);
    await mouse.down();
    await figure.after(() => mouse.move(x + 100, y - 5));
    await mouse.up();
    const moved = await read(figure);
    assert.ok(Number(moved.at?.slice(4)) > 3, moved.at);
    await figure.after(() => keyboard.press('ArrowRight'));
    assert.equal(
      (Number(String((await read(figure)).at).slice(4)) - Number(moved.at?.slice(4))).toFixed(2),
      '0.02',
    );
    const cell = await figure.cell(5, 3);
    await mouse.move(cell.x, cell.y);
    await figure.until((root) => root.querySelector('.place')?.textContent === 'x = 1');
    await figure.until((root) => root.querySelectorAll('.terms .lit').length === 1);
    await figure.after(() => mouse.click(cell.x, cell.y));
    await mouse.move(5, 5);
    const wide = await read(figure);
    assert.equal(wide.at, 'x = 1');
    await figure.type(await figure.find('input[name=width]'), '20');
    await figure.until((root) => root.querySelectorAll('.inspector .terms li').length < 4);
    const narrow = await read(figure);
    assert.ok(narrow.terms < 4 && wide.terms > 15, `${narrow.terms} and ${wide.terms} terms`);
    assert.match(String(narrow.rest), new RegExp(`^${30 - narrow.terms} more`));
  });

  test('a link to a learned width gives the bits of Node; a broken one the defaults', async () => {
    for (const values of [
      { learned: true, rate: 0.05, step: 7, query: 33 },
      { kernel: 'tricube', learned: true, width: 0.4, rate: 0.02, step: 40, points: odd() },
    ]) {
      const figure = await openFigure(browser, await address(values));
      assert.deepEqual(await figure.notices(), []);
      const there = await resultOf(values);
      assert.deepEqual(
        Float32Array.from((await figure.map()).data),
        lesson.mapOf(there, 'weights').data,
      );
      const { width } = await figure.inside((root) => ({
        width: root.querySelector('.learning output')?.textContent,
      }));
      const learned = lesson.widthOf(there).toPrecision(3);
      assert.equal(width, `learned w = ${Number(learned)}`);
    }
    const broken = await openFigure(browser, '/dist/index.html?lesson=kernel-regression#v1.AAAA');
    assert.match((await broken.notices()).join(), /broken/);
    assert.equal((await read(broken)).points.length, 30);
  });

  test('learning plays, pauses, goes step by step and back; the curve chooses a step', async () => {
    const figure = await openFigure(browser, await address({ learned: true }));
    const slider = () =>
      figure.inside((root) => {
        const canvas = root.querySelector('.curves canvas');
        return [canvas?.getAttribute('aria-valuenow'), canvas?.getAttribute('aria-valuetext')];
      });
    // Training tells what it passes, so one change may be drawn more than once.
    const reached = (/** @type {number} */ step) =>
      figure.until(
        (root, step) =>
          root.querySelector('.curves canvas')?.getAttribute('aria-valuenow') === String(step),
        step,
      );
    assert.deepEqual(await slider(), ['0', 'step 0, sum of squared errors, width w 1']);
    await figure.press('Play');
    await figure.until(
      (root) => Number(root.querySelector('.curves canvas')?.getAttribute('aria-valuenow')) >= 3,
    );
    await figure.press('Pause');
    // The step that was under way may still come: read in the moment of the press.
    const paused = await figure.after(() =>
      figure.inside((root) => {
        const now = root.querySelector('.curves canvas')?.getAttribute('aria-valuenow');
        const acts = [...root.querySelectorAll('.act')];
        const one = acts.find((act) => act.textContent === 'One step');
        /** @type {HTMLElement} */ (one).click();
        return Number(now);
      }),
    );
    await reached(paused + 1);
    const there = await resultOf({ learned: true, step: paused + 1 });
    const width = Number(lesson.widthOf(there).toPrecision(3));
    const words = `^step ${paused + 1}, sum of squared errors \\d[\\d.]+, width w ${width}$`;
    assert.match(String((await slider())[1]), new RegExp(words));
    await figure.inside((root) =>
      /** @type {HTMLElement} */ (root.querySelector('.curves canvas')).focus(),
    );
    await figure.after(() => figure.page.keyboard.press('End'));
    await reached(100);
    assert.equal(
      await figure.inside((root) => root.querySelector('.learning output')?.textContent),
      'learned w = 2.74',
    );
    assert.match(String((await slider())[1]), /^step 100, .*, width w 2\.74$/);
    const at = await figure.inside((root) => {
      const canvas = /** @type {Element} */ (root.querySelector('.curves canvas'));
      canvas.scrollIntoView({ block: 'center' });
      const box = canvas.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    });
    await figure.page.mouse.click(at.x, at.y);
    await figure.until((root) => {
      const now = root.querySelector('.curves canvas')?.getAttribute('aria-valuenow');
      return Math.abs(Number(now) - 50) < 8;
    });
    const [middle] = await slider();
    await figure.press('Rewind');
    await reached(0);
    await figure.press('Undo');
    await reached(Number(middle));
  });

  test('axe finds nothing, and on a phone nothing is cut, in both languages', async () => {
    for (const [lang, theme] of /** @type {const} */ ([
      ['en', 'light'],
      ['zh-CN', 'dark'],
    ])) {
      const values = { learned: true, step: 5, kernel: 'tricube', width: 8 };
      const figure = await openFigure(browser, await address(values), {
        lang,
        theme,
        width: 320,
        height: 700,
      });
      await unfold(figure);
      await figure.until((root) => root.querySelector('canvas')?.width);
      await assertAccessible(figure);
      await assertNothingCut(figure);
      await assertOneLanguage(figure, lang, '.formula', /Tricube|SGD|Delete|Shift|Page|Down|sin/g);
    }
  });

  test('the row of lessons, and links that keep the lesson', async () => {
    const figure = await openFigure(browser, '/dist/index.html');
    const { page } = figure;
    const row = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('nav a')].map((link) => [
          link.textContent,
          link.getAttribute('aria-current'),
        ]),
      );
    assert.deepEqual((await row())[1], ['Multi-head attention', 'page']);
    assert.deepEqual((await row()).length, Object.keys(lessons).length);
    await page.click('nav a');
    await page.waitForFunction(() =>
      document
        .querySelector('attention-playground')
        ?.shadowRoot?.querySelector('.playground:not(.waiting) .handle'),
    );
    assert.deepEqual((await row())[0], ['Kernel regression', 'page']);
    for (const [entry, pattern] of /** @type {const} */ ([
      ['Copy link', /index\.html\?lesson=kernel-regression$/],
      ['Copy embed code', /<attention-playground lesson="kernel-regression" lang=/],
      ['Copy frame code', /embed\.html\?lesson=kernel-regression&amp;lang=/],
      ['Copy as PyTorch', /queries = torch\.arange\(251\)/],
    ])) {
      assert.match(await figure.copied(entry), pattern);
    }
  });
});

/** Points that no kernel of width 5 reaches from everywhere, two of them with the same key. */
function odd() {
  return [
    [0, 0],
    [5, 4.99],
    [2.5, -1],
    [2.5, 3],
    [2.7, 1],
  ];
}
