/**
 * A canvas that is sharp on every screen and drawn only when there is something to see.
 *
 * The figure tells the surface how wide it wants to be; the surface keeps the backing store at
 * round(CSS size × device pixel ratio), draws again when the room, the ratio, the scheme or the
 * medium changes, and folds any number of `invalidate()` calls into one animation frame. In a
 * hidden figure the room is 0 and nothing is drawn until it shows.
 *
 *   const surface = new Surface(host, (surface) => {
 *     const geometry = layout({ width: surface.width, ratio: surface.ratio, … });
 *     surface.resize(geometry.width, geometry.height);
 *     draw(surface.pen, geometry, surface.theme);
 *   });
 *   shadow.append(surface.frame);          // then connect() and disconnect() with the host
 */
import { themeOf, watchSurroundings } from '../theme.js';

export class Surface {
  frame = document.createElement('div');
  canvas = document.createElement('canvas');
  pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
  /** Room for the figure in CSS pixels: a whole number of device pixels. */
  width = 0;
  ratio = 1;
  theme = /** @type {import('../theme.js').Theme} */ ({});

  #host;
  #draw;
  // No OffscreenCanvas: Firefox gives that one the fonts of the page's language, an element others.
  #ruler = /** @type {CanvasRenderingContext2D} */ (
    document.createElement('canvas').getContext('2d')
  );
  #font = '';
  #room = 0;
  #frame = 0;
  #watcher = new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width === this.#room) return;
    this.#room = contentRect.width;
    this.invalidate();
  });
  /** @type {() => void} */
  #stop = () => {};
  /** @type {{ promise: Promise<void>, resolve: () => void } | null} */
  #drawn = null;

  /**
   * @param {Element} host the element that has adopted the shared tokens
   * @param {(surface: Surface) => void} draw called when there is room
   * @param {() => void} [schemeChanged] called before the drawing that shows the new scheme
   */
  constructor(host, draw, schemeChanged = () => {}) {
    this.#host = host;
    this.#draw = draw;
    this.schemeChanged = schemeChanged;
    this.frame.className = 'frame';
    this.frame.append(this.canvas);
  }

  connect() {
    this.#watcher.observe(this.frame);
    this.#stop = watchSurroundings(this.#host, (reason) => {
      if (reason === 'scheme') this.schemeChanged();
      if (reason === 'print') this.draw();
      else this.invalidate();
    });
    this.invalidate();
  }

  disconnect() {
    this.#watcher.disconnect();
    this.#stop();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#room = 0;
  }

  /** Asks for a drawing in the next animation frame. */
  invalidate() {
    if (!this.#host.isConnected) return;
    this.#frame ||= requestAnimationFrame(() => this.draw());
  }

  /** Resolves when what was asked for so far is drawn. */
  get drawn() {
    if (!this.#frame) return Promise.resolve();
    this.#drawn ??= withResolvers();
    return this.#drawn.promise;
  }

  /** Draws at once. */
  draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    // The observer speaks only after the first frame; a hidden frame has the width "auto".
    this.#room ||= Number.parseFloat(getComputedStyle(this.frame).width) || 0;
    if (this.#room > 0) {
      this.ratio = devicePixelRatio;
      this.width = Math.floor(this.#room * this.ratio + 0.01) / this.ratio;
      this.theme = themeOf(this.#host);
      this.#draw(this);
    }
    this.#drawn?.resolve();
    this.#drawn = null;
  }

  /**
   * @param {number} width in CSS pixels
   * @param {number} height
   */
  resize(width, height) {
    const wide = Math.round(width * this.ratio);
    const high = Math.round(height * this.ratio);
    const { canvas } = this;
    if (canvas.width === wide && canvas.height === high) return;
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${wide / this.ratio}px`;
    canvas.style.height = `${high / this.ratio}px`;
  }

  /** @type {import('../../draw/layout.js').Measure} */
  measure = (text, font) => {
    // Setting a font costs more than measuring with it.
    if (this.#font !== font) this.#ruler.font = font;
    this.#font = font;
    return this.#ruler.measureText(text).width;
  };
}

/** Promise.withResolvers, which browsers of 2023 lack. */
function withResolvers() {
  /** @type {() => void} */
  let resolve = () => {};
  const promise = /** @type {Promise<void>} */ (new Promise((done) => (resolve = done)));
  return { promise, resolve };
}
