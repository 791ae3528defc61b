/**
 * A playground as the browser tests hold it: open a page with one, act on it, read its numbers.
 *
 * Parts are found by CSS inside the element's shadow root. What the figure computed is read from the
 * matrix of its large map, the numbers that are drawn. A figure that is open has its numbers and its
 * place: what a size changes once more, in the frame after the first numbers, has happened.
 */
import { deflateSync } from 'node:zlib';
import { defaultLesson, lessons } from '../../web/lessons/index.js';
import { openLink, sameState } from '../../web/lessons/state.js';

/** @typedef {import('./harness.js').Page} Page */
/** @typedef {import('./harness.js').Browser} Browser */

/** What a page needs before its figures. */
export const script = '<script src="/dist/attention-playground.js"></script>';

/** A link as anybody may write one, also of what is no state. @param {unknown} content bytes, or for JSON */
export const linkOf = (content) => {
  const bytes = content instanceof Uint8Array ? content : JSON.stringify(content);
  return `#v1.${deflateSync(bytes).toString('base64url')}`;
};

/** Until every figure of a page has its numbers. @param {Page} page */
export const allDrawn = (page) =>
  page.waitForFunction(() =>
    [...document.querySelectorAll('attention-playground')].every((element) =>
      element.shadowRoot?.querySelector('.playground:not(.waiting)'),
    ),
  );

/**
 * @param {Browser} browser
 * @param {string} [address]
 * @param {import('./harness.js').OpenOptions & { lang?: string, theme?: string }} [options]
 */
export async function openFigure(browser, address = '/dist/index.html', options = {}) {
  const { lang, theme, ...rest } = options;
  const page = await browser.open(address, rest);
  await page.evaluate(
    (lang, theme) => {
      if (lang) document.documentElement.lang = lang;
      if (theme) document.documentElement.dataset.theme = theme;
    },
    lang,
    theme,
  );
  return figureOn(page);
}

/**
 * A call of a function with the figure's shadow root, as source: Firefox hands over no shadow roots.
 * @param {Function} read
 * @param {unknown[]} args
 */
function call(read, args) {
  const rest = args.map((value) => `, ${JSON.stringify(value)}`).join('');
  return `(${read})(document.querySelector('attention-playground').shadowRoot${rest})`;
}

/** How long a page may take to come where a test waits for it. */
const PATIENCE = 15_000;

/** Has the document remember, from now on, the state whose numbers its playground drew last. */
function watchDrawings() {
  const page = /** @type {any} */ (window);
  page.drawn = null;
  if (page.watched) return;
  page.watched = true;
  document.addEventListener('attentionchange', ({ target, detail }) => {
    if (target === document.querySelector('attention-playground')) page.drawn = detail.state;
  });
}

/** What names the present state, and what is drawn. JSON has no sign for some numbers. */
async function presentAndDrawn() {
  const figure = /** @type {any} */ (document.querySelector('attention-playground'));
  const link = await figure.link();
  const { drawn } = /** @type {any} */ (window);
  const sign = (/** @type {string} */ _, /** @type {any} */ value) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  return { name: figure.getAttribute('lesson'), link, drawn: JSON.stringify(drawn, sign) };
}

/** @param {Page | import('puppeteer-core').Frame} page with one playground */
export async function figureOn(page) {
  const root = (/** @type {string} */ selector) => `attention-playground >>> ${selector}`;

  /**
   * Runs in the page with the figure's shadow root.
   * @template Value
   * @param {(root: ShadowRoot, ...args: any[]) => Value} read
   * @param {...any} args
   * @returns {Promise<Awaited<Value>>}
   */
  const inside = async (read, ...args) => {
    await page.waitForSelector('attention-playground');
    return /** @type {any} */ (page.evaluate(call(read, args)));
  };

  /**
   * Waits until something in the shadow root is true.
   * @param {(root: ShadowRoot, ...args: any[]) => unknown} condition
   * @param {...any} args
   */
  const until = async (condition, ...args) => {
    const deadline = Date.now() + PATIENCE;
    while (!(await page.evaluate(`Boolean(${call(condition, args)})`))) {
      if (Date.now() > deadline)
        throw new Error(`never true: ${condition} ${JSON.stringify(args)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  await page.waitForSelector('attention-playground');
  await until((root) => root.querySelector('.playground:not(.waiting)'));
  /** Until the next frame is painted, with the sizes and drawings that were waiting for it. */
  const painted = () =>
    inside(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  await painted();

  const figure = {
    page,
    inside,
    until,
    painted,

    /** The numbers of the large map and what stands along it. */
    map: async () => {
      const map = await inside(async (root) => {
        const heatmap = /** @type {any} */ (root.querySelector('attention-heatmap'));
        await heatmap.updated;
        const { rows, columns, data } = heatmap.matrix;
        return {
          rows,
          columns,
          // NaN does not cross to the test as a number.
          data: Array.from(/** @type {Float32Array} */ (data), String),
          rowLabels: [...heatmap.rowLabels],
          columnLabels: [...heatmap.columnLabels],
          mask: heatmap.mask && Array.from(heatmap.mask),
          edited: heatmap.edited.map((/** @type {number[]} */ cell) => [...cell]),
        };
      });
      return { ...map, data: map.data.map(Number) };
    },

    /**
     * Does something and waits until numbers are drawn, and they are those of the state it led to: what
     * is typed passes other states, and what came before may still be on its way.
     * @template Value
     * @param {() => Promise<Value>} action
     */
    async after(action) {
      await page.evaluate(watchDrawings);
      const value = await action();
      for (const deadline = Date.now() + PATIENCE; ; ) {
        const { name, link, drawn } = await page.evaluate(presentAndDrawn);
        const lesson = lessons[name ?? defaultLesson];
        const { state } = await openLink(lesson, link);
        const shown = JSON.parse(drawn);
        if (shown && sameState(lesson.table, state, shown, (field) => field.linked !== false))
          break;
        if (Date.now() > deadline) throw new Error(`never drawn: ${link} but ${drawn}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return value;
    },

    /**
     * The middle of a cell of the large map in the window, where the pointer reaches it.
     * @param {number} row
     * @param {number} column
     */
    cell: async (row, column) => {
      await inside(async (root) => {
        const heatmap = /** @type {any} */ (root.querySelector('attention-heatmap'));
        heatmap.scrollIntoView({ block: 'nearest' });
        await heatmap.updated;
      });
      await painted();
      return inside(
        (root, row, column) => {
          const heatmap = /** @type {any} */ (root.querySelector('attention-heatmap'));
          const { x, y, width, height } = heatmap.cellRect(row, column);
          return { x: x + width / 2, y: y + height / 2 };
        },
        row,
        column,
      );
    },

    /** @param {string} selector */
    find: async (selector) => {
      const found = await page.waitForSelector(root(selector));
      if (!found) throw new Error(`there is no ${selector}`);
      return found;
    },

    /** @param {string} selector */
    click: async (selector) => (await figure.find(selector)).click(),

    /**
     * The control whose label, legend or own text begins with these words.
     * @param {string} words
     */
    byName: async (words) => {
      const handle = await page.waitForFunction(
        (words) => {
          const root = document.querySelector('attention-playground')?.shadowRoot;
          const own = [...(root?.querySelectorAll('button, a, summary, option') ?? [])];
          const labels = [...(root?.querySelectorAll('label') ?? [])];
          const starts = (/** @type {Element} */ element) =>
            element.textContent?.trim().startsWith(words);
          const label = /** @type {HTMLLabelElement | undefined} */ (labels.find(starts));
          return label?.control ?? own.find(starts) ?? null;
        },
        {},
        words,
      );
      return /** @type {import('puppeteer-core').ElementHandle<HTMLElement>} */ (handle);
    },

    /** @param {string} words */
    press: async (words) => {
      const control = await figure.byName(words);
      await control.evaluate((element) => element.click());
    },

    /** What an entry of the menu copies. @param {string} entry @returns {Promise<string>} */
    copied: async (entry) => {
      await page.evaluate(() => {
        const writeText = async (/** @type {string} */ copied) => Object.assign(window, { copied });
        Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } });
        Object.assign(window, { copied: '' });
      });
      await figure.press(entry);
      const text = await page.waitForFunction(() => /** @type {any} */ (window).copied);
      return /** @type {any} */ (text.jsonValue());
    },

    /**
     * Replaces what a field holds, as a person does.
     * @param {import('puppeteer-core').ElementHandle<Element>} field
     * @param {string} text
     */
    async type(field, text) {
      await field.evaluate((element) => /** @type {HTMLInputElement} */ (element).select());
      await field.type(text);
    },

    /** Puts a whole text into a field at once, by default that of the source. @param {string} text */
    paste: (text, field = '.source textarea') =>
      inside(
        (root, text, field) => {
          const area = /** @type {HTMLTextAreaElement} */ (root.querySelector(field));
          area.value = text;
          area.dispatchEvent(new InputEvent('input', { bubbles: true }));
          area.dispatchEvent(new Event('change', { bubbles: true }));
        },
        text,
        field,
      ),

    chips: () =>
      inside((root) =>
        [...root.querySelectorAll('.source .chip')].map((chip) => chip.textContent ?? ''),
      ),

    errors: () =>
      inside((root) =>
        [...root.querySelectorAll('.error')]
          .map((error) => error.textContent ?? '')
          .filter(Boolean),
      ),

    notices: () =>
      inside((root) =>
        [...root.querySelectorAll('.notice span')].map((notice) => notice.textContent ?? ''),
      ),
  };
  return figure;
}
