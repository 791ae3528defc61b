/** A page with one heatmap as the tests hold it: its cells, colours, words and events. */
import { pixel } from './harness.js';

/** @typedef {import('./harness.js').Page} Page */
/** @typedef {import('../../web/elements/heatmap/attention-heatmap.js').AttentionHeatmap} Heatmap */

export const hostile = '"><img src=x onerror=alert(1)>';
export const values = [
  [0.5, 0, 0],
  [0.25, 0.75, 0],
  [0.125, 0.42, 0.455],
];
export const words = ['the', 'cat', 'sat'];
export const causal = [
  [0, 2, 2],
  [0, 0, 2],
  [0, 0, 0],
];
export const small = { matrix: values, rowLabels: words, columnLabels: words, mask: causal };

/** @param {string} hex @returns {number[]} */
export const rgb = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
/** @param {number[]} table @param {number} index */
export const entry = (table, index) => table.slice(index * 3, index * 3 + 3);

/** @param {import('./harness.js').Browser} browser */
export function heatmapPage(browser) {
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
        /** @type {string} */ ('/web/elements/heatmap/attention-heatmap.js')
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

  return { open, set, canvasOf, cell, colour, colours, events, text, selected };
}
