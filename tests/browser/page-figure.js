/**
 * A playground as the browser tests hold it: open a page with one, act on it, read its numbers.
 *
 * Parts are found by CSS inside the element's shadow root. What the figure computed is read from the
 * matrix of its large map, the numbers that are drawn.
 */

/** @typedef {import('./harness.js').Page} Page */
/** @typedef {import('./harness.js').Browser} Browser */

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
    const deadline = Date.now() + 15_000;
    while (!(await page.evaluate(`Boolean(${call(condition, args)})`))) {
      if (Date.now() > deadline)
        throw new Error(`never true: ${condition} ${JSON.stringify(args)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  await page.waitForSelector('attention-playground');
  await until((root) => root.querySelector('.playground:not(.waiting)'));

  const figure = {
    page,
    inside,
    until,

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
     * Does something and waits until the numbers of another state are drawn.
     * @template Value
     * @param {() => Promise<Value>} action
     */
    async after(action) {
      await page.evaluate(() => {
        const element = /** @type {any} */ (document.querySelector('attention-playground'));
        element.drawn = new Promise((resolve) =>
          element.addEventListener('attentionchange', resolve, { once: true }),
        );
      });
      const value = await action();
      await page.evaluate(
        () => /** @type {any} */ (document.querySelector('attention-playground')).drawn,
      );
      return value;
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

    /**
     * Replaces what a field holds, as a person does.
     * @param {import('puppeteer-core').ElementHandle<Element>} field
     * @param {string} text
     */
    async type(field, text) {
      await field.evaluate((element) => /** @type {HTMLInputElement} */ (element).select());
      await field.type(text);
    },

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
