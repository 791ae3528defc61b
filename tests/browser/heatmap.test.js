/** What <attention-heatmap> draws, in whichever page it stands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cividis, redBlue } from '../../build/colour-tables.js';
import { palette } from '../../web/elements/style.js';
import { axe, eachBrowser, pixel } from './harness.js';
import { causal, entry, heatmapPage, hostile, rgb, small, values, words } from './heatmap-page.js';

/** @typedef {import('../../web/elements/heatmap/attention-heatmap.js').AttentionHeatmap} Heatmap */

eachBrowser((browser) => {
  const { open, set, canvasOf, cell, colour, colours, events, text, selected } =
    heatmapPage(browser);

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

  test('P5: equal cells have one colour, and a legend without a range says constant', async () => {
    const page = await open({ kind: 'signed', matrix: [[0, 0]] });
    assert.deepEqual(await colour(page, 0, 0), entry(redBlue, 128));
    assert.deepEqual(await colour(page, 0, 1), entry(redBlue, 128));
    const svg = await page.evaluate(async () => {
      return (await window.heatmap.exportAs('svg')).text();
    });
    assert.ok(svg.includes('>constant 0</text>'));
    const ranged = await page.evaluate(async () => {
      Object.assign(window.heatmap, { kind: 'weights', range: [0, 0.5], matrix: [[0.25, 0.25]] });
      return (await window.heatmap.exportAs('svg')).text();
    });
    assert.ok(ranged.includes('>0.5</text>') && !ranged.includes('constant'));
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
        /** @type {string} */ ('/web/elements/heatmap/attention-heatmap.js')
      );
      defineHeatmap();
      const again = await import(`/web/elements/heatmap/attention-heatmap.js?${'again'}`);
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
    const page = await open();
    // Timers of the page run when the test says so: whether a change follows at once is not left to
    // the machine.
    await page.evaluate(() => {
      const waiting = /** @type {Map<number, () => void>} */ (new Map());
      let count = 0;
      Object.assign(window, {
        setTimeout(/** @type {() => void} */ act) {
          waiting.set(++count, act);
          return count;
        },
        clearTimeout: (/** @type {number} */ timer) => waiting.delete(timer),
        rest() {
          for (const act of waiting.values()) act();
          waiting.clear();
        },
      });
    });
    const rest = () => page.evaluate(() => /** @type {any} */ (window).rest());
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
    const gone = () =>
      page.waitForFunction(() => !window.heatmap.shadowRoot.querySelector('.before'));
    assert.equal(await change([[1, 0]]), null, 'there is nothing before the first state');
    await rest();
    const faded = await change([[0, 1]]);
    assert.deepEqual(faded, { colour: entry(cividis, 255), lasts: '0.12s' });
    assert.deepEqual(await colour(page, 0, 0), entry(cividis, 0), 'the new state is there at once');
    assert.equal(await change([[1, 1]]), null, 'a change that follows at once');
    await rest();
    assert.ok(await change([[0, 0]]));
    await gone();
    if (browser.name === 'firefox') return; // emulates no wish for less motion
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
    await rest();
    assert.match((await change([[1, 0]]))?.lasts ?? 'no fade', /^0m?s$/);
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
