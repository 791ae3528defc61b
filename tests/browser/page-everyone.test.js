/** Every reader: languages, themes, screen readers, keyboards, phones, preferences, print. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lessons } from '../../web/lessons/index.js';
import { axe, eachBrowser } from './harness.js';
import { assertAccessible, assertNothingCut, assertOneLanguage, unfold } from './page-checks.js';
import { allDrawn, linkOf, openFigure, script } from './page-figure.js';

eachBrowser((browser) => {
  describe('axe finds nothing', () => {
    for (const lang of ['en', 'zh-CN']) {
      for (const theme of ['light', 'dark']) {
        test(`${lang}, ${theme}`, async () => {
          const figure = await openFigure(browser, '/dist/index.html', { lang, theme });
          await unfold(figure);
          await assertAccessible(figure);
          await figure.after(() => figure.press(lang === 'en' ? 'cross' : '交叉'));
          await figure.after(() => figure.press(lang === 'en' ? 'Causal' : '因果'));
          await assertAccessible(figure);
        });
      }
    }

    test('examples.html', async () => {
      const page = await browser.open('/dist/examples.html');
      await allDrawn(page);
      assert.deepEqual(await axe(page, { iframes: false }), []);
      page.expectErrors(/frame-src/); // the frames need the policy of the project's own server
    });
  });

  test('both languages are complete on the screen and switch at once', async () => {
    const figure = await openFigure(browser, '/dist/index.html', { lang: 'zh-CN' });
    const data = '.chips, .formula, .place, .number, .figures, .heads, textarea';
    const kept = /sigmoid|ReLU|Luong|Delete|Alt/g;
    await figure.until((root) => root.textContent?.includes('掩码'));
    await assertOneLanguage(figure, 'zh-CN', data, kept);
    await (await figure.page.$('attention-settings button[lang="en"]'))?.click();
    await figure.until((root) => root.textContent?.includes('Masks'));
    await assertOneLanguage(figure, 'en', data, kept);
    assert.equal(await figure.page.evaluate(() => document.documentElement.lang), 'en');
    await figure.after(() => figure.press('Causal'));
  });

  for (const width of [320, 700, 1280]) {
    test(`${width} px: every formula and every name of a step keeps to its column`, async () => {
      const figure = await openFigure(browser, '/dist/index.html', { width, height: 900 });
      const { score, normalise, fill } = lessons['multi-head'].table;
      const states = [
        ...(score.choices ?? []).map((score) => ({ score })),
        ...(normalise.choices ?? []).map((normalise) => ({ normalise })),
        ...(fill.choices ?? []).map((fill) => ({ fill })),
        { scale: 2 },
        { scale: 'off' },
      ];
      for (const [at, state] of states.entries()) {
        await figure.after(() =>
          figure.page.evaluate(
            (hash, lang) => {
              document.documentElement.lang = lang;
              location.hash = hash;
            },
            linkOf({ ...state, seed: at }),
            at % 2 ? 'en' : 'zh-CN',
          ),
        );
        const beyond = await figure.inside((root) =>
          [...root.querySelectorAll('.pipeline li')].flatMap((step) => {
            const range = document.createRange();
            const parts = [...step.querySelectorAll('.title, .formula')].flatMap((part) => {
              range.selectNodeContents(part);
              return [...range.getClientRects()];
            });
            const over = Math.max(...parts.map(({ right }) => right));
            const { right } = step.getBoundingClientRect();
            return over > right + 0.5 ? [`${step.textContent}: ${over - right}`] : [];
          }),
        );
        assert.deepEqual(beyond, [], JSON.stringify(state));
      }
    });
  }

  for (const [width, lang] of /** @type {const} */ ([
    [160, 'en'],
    [320, 'en'],
    [320, 'zh-CN'],
    [768, 'en'],
    [1280, 'en'],
  ])) {
    test(`${width} px in ${lang}: nothing is cut, nothing scrolls sideways`, async () => {
      const figure = await openFigure(browser, '/dist/index.html', { width, lang, height: 700 });
      await unfold(figure, 'details.fold');
      const many = Array.from({ length: 24 }, (_, at) => `token${at}`).join(' ');
      await figure.after(async () => figure.type(await figure.find('.source textarea'), 'x'));
      await figure.after(() => figure.paste(many));
      await figure.painted();
      await assertNothingCut(figure);
    });
  }

  test('a language set before the first layout leaves the groups open', async () => {
    const figure = await openFigure(browser, '/dist/index.html', { lang: 'zh-CN' });
    assert.deepEqual(
      await figure.inside((root) =>
        [...root.querySelectorAll('.groups details')].map(
          (fold) => /** @type {HTMLDetailsElement} */ (fold).open,
        ),
      ),
      [true, true, true, false, false],
    );
  });

  test('on a phone groups are folded behind a line that says how they stand', async () => {
    const figure = await openFigure(browser, '/dist/index.html', { width: 360, height: 700 });
    const lines = await figure.inside((root) =>
      [...root.querySelectorAll('.groups summary')].map((line) => line.textContent),
    );
    assert.deepEqual(lines, [
      'Variantself',
      'Masksno mask',
      'Heads4 heads, each 8 wide',
      'Scoringscaled dot product',
      'Vectorsno positions · seed 1',
    ]);
    assert.equal(
      await figure.inside((root) => root.querySelectorAll('.groups details[open]').length),
      0,
    );
    const parts = ['.input', '.pipeline', '.stage', '.groups', '.heads', '.side'];
    const order = await figure.inside((root, parts) => {
      const all = [...root.querySelectorAll('*')];
      return parts.map((/** @type {string} */ part) => {
        const element = /** @type {Element} */ (root.querySelector(part));
        return [element.getBoundingClientRect().top, all.indexOf(element)];
      });
    }, parts);
    for (const sort of [0, 1]) {
      const places = order.map((/** @type {number[]} */ place) => place[sort]);
      assert.deepEqual(
        places,
        [...places].sort((a, b) => a - b),
        sort ? 'for the keyboard' : 'for the eye',
      );
    }
    await figure.press('Masks');
    await figure.after(() => figure.press('Causal'));
    assert.equal(
      await figure.inside((root) => root.querySelectorAll('.groups summary')[1].textContent),
      'Maskscausal',
    );
  });

  test('arrows stand between two steps of a line, never before the first', async () => {
    for (const [width, lines] of [
      [160, 3],
      [320, 2],
      [1280, 1],
    ]) {
      const figure = await openFigure(browser, '/dist/index.html', { width });
      const first = await figure.inside((root) => {
        const steps = [...root.querySelectorAll('.pipeline li')];
        const left = steps[0].getBoundingClientRect().left;
        return steps.map((step) => {
          const { content, display } = getComputedStyle(step, '::before');
          const arrow = content !== 'none' && display !== 'none';
          return [step.getBoundingClientRect().left === left, arrow];
        });
      });
      assert.equal(first.filter(([starts]) => starts).length, lines, `lines at ${width} px`);
      for (const [starts, arrow] of first) assert.equal(arrow, !starts, `at ${width} px`);
    }
  });

  test('all of it by keyboard, with a focus that can be seen', async () => {
    const figure = await openFigure(browser);
    const { page } = figure;
    const stops = new Set();
    for (let press = 0; press < 60; press++) {
      await page.keyboard.press('Tab');
      const stop = await figure.inside((root) => {
        let at = root.activeElement;
        while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
        if (!at) return null;
        const style = getComputedStyle(at);
        const near = at.nextElementSibling ? getComputedStyle(at.nextElementSibling) : style;
        const seen = style.outlineStyle !== 'none' || near.outlineStyle !== 'none';
        const kind = at.closest('[role=group], details, .buttons, .pipeline, .heads')?.className;
        return { kind: kind || at.getAttribute('role') || at.localName, seen, grid: at.role };
      });
      if (!stop) continue;
      stops.add(stop.kind);
      if (stop.grid !== 'gridcell') assert.ok(stop.seen, `${stop.kind} shows no focus`);
    }
    for (const part of ['experiments', 'pipeline', 'heads', 'fold']) {
      assert.ok(
        [...stops].some((stop) => stop?.includes(part)),
        `${part} cannot be reached: ${[...stops].join(', ')}`,
      );
    }
  });

  test('the grid companion reads row, column, value and flag', async () => {
    const figure = await openFigure(browser);
    await figure.after(() => figure.press('an empty row'));
    // It is written a moment after the map is drawn.
    await figure.until((root) => {
      const shadow = root.querySelector('attention-heatmap')?.shadowRoot;
      const cell = shadow?.querySelector('[role=grid] [role=gridcell]')?.textContent ?? '';
      return /query a → key a: 0\.25.*masked.*own cell.*no key allowed/.test(cell);
    });
  });

  if (browser.name === 'chromium') {
    test('reduced motion, forced colours and print', async () => {
      const figure = await openFigure(browser);
      const { page } = figure;
      await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
      assert.match(
        await figure.inside(
          (root) =>
            getComputedStyle(/** @type {Element} */ (root.querySelector('.chip')))
              .transitionDuration,
        ),
        /^0s$/,
      );
      const session = await page.createCDPSession();
      await session.send('Emulation.setEmulatedMedia', {
        features: [{ name: 'forced-colors', value: 'active' }],
      });
      const [chosen, other] = await figure.inside((root) =>
        [':checked', ':not(:checked)'].map(
          (state) =>
            getComputedStyle(
              /** @type {Element} */ (root.querySelector(`.choice input${state} + span`)),
            ).backgroundColor,
        ),
      );
      assert.notEqual(chosen, other, 'a choice is seen without the colours of the page');
      await session.send('Emulation.setEmulatedMedia', { media: 'print', features: [] });
      const printed = await figure.inside((root) =>
        ['.top', '.groups', '.center', '.inspector'].map((part) =>
          /** @type {any} */ (root.querySelector(part)).checkVisibility(),
        ),
      );
      assert.deepEqual(printed, [false, false, true, true]);
    });
  }

  test('the theme of the page, of a frame around, of the element', async () => {
    const page = await browser.open(
      `${script}<div data-bs-theme="dark"><attention-playground></attention-playground></div>`,
    );
    const paper = () =>
      page.evaluate(
        () =>
          getComputedStyle(/** @type {Element} */ (document.querySelector('attention-playground')))
            .backgroundColor,
      );
    await page.waitForFunction(() => customElements.get('attention-playground'));
    assert.equal(await paper(), 'rgb(22, 23, 26)');
    await page.evaluate(() =>
      document.querySelector('div')?.setAttribute('data-bs-theme', 'light'),
    );
    await page.waitForFunction(
      () =>
        getComputedStyle(/** @type {Element} */ (document.querySelector('attention-playground')))
          .backgroundColor === 'rgb(252, 252, 250)',
    );
    await page.evaluate(() =>
      document.querySelector('attention-playground')?.setAttribute('theme', 'dark'),
    );
    assert.equal(await paper(), 'rgb(22, 23, 26)');
  });
});
