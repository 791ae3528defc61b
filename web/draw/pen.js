/**
 * What the drawings need beyond lines, boxes and text: a block of pixels, and hatching.
 *
 * A drawing takes any object with the part of CanvasRenderingContext2D that it uses. A real
 * context gets pixels and hatching through small off-screen canvases here; one that writes
 * something else than pixels (see export-svg.js) brings its own `drawPixels` and `hatch`.
 */

/** @typedef {{ width: number, height: number, data: Uint8ClampedArray<ArrayBuffer> }} Pixels */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

/**
 * @typedef {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} CanvasPen
 * @typedef {import('./export-svg.js').SvgPen} SvgPen
 * @typedef {CanvasPen | SvgPen} Pen
 */

/**
 * Colours and fonts as a canvas needs them.
 * @typedef {object} Theme
 * @property {string} paper
 * @property {string} ink
 * @property {string} quiet
 * @property {string} hairline
 * @property {string} hatch
 * @property {string} query
 * @property {string} key
 * @property {string} alert
 * @property {string} font
 * @property {string} mono
 */

const hatchPitch = 6;

/**
 * @param {Pen} pen
 * @param {Pixels} pixels one for each cell
 * @param {Box} box where they go; `smooth` averages when there are more cells than pixels
 * @param {boolean} smooth
 */
export function drawPixels(pen, pixels, box, smooth) {
  if ('drawPixels' in pen) return pen.drawPixels(pixels, box);
  const canvas = new OffscreenCanvas(pixels.width, pixels.height);
  canvas
    .getContext('2d')
    ?.putImageData(new ImageData(pixels.data, pixels.width, pixels.height), 0, 0);
  pen.imageSmoothingEnabled = smooth;
  pen.drawImage(canvas, box.x, box.y, box.width, box.height);
}

/**
 * @param {Pen} pen
 * @param {string} colour
 * @param {number} ratio device pixels in a CSS pixel
 * @returns {any} a fill style of thin diagonal lines
 */
export function hatch(pen, colour, ratio) {
  if ('hatch' in pen) return pen.hatch(colour, hatchPitch);
  const size = Math.round(hatchPitch * ratio);
  const tile = new OffscreenCanvas(size, size);
  const lines = /** @type {OffscreenCanvasRenderingContext2D} */ (tile.getContext('2d'));
  lines.strokeStyle = colour;
  lines.lineWidth = 1.25 * ratio;
  for (const shift of [-size, 0, size]) {
    lines.moveTo(shift - 1, size + 1);
    lines.lineTo(shift + size + 1, -1);
  }
  lines.stroke();
  const pattern = /** @type {CanvasPattern} */ (pen.createPattern(tile, 'repeat'));
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}

/**
 * One line of text around a middle line, the same in every browser and file format (`middle`
 * baselines differ).
 * @param {Pen} pen
 * @param {string} text
 * @param {number} x
 * @param {number} middle
 * @param {number} size of the font
 */
export function write(pen, text, x, middle, size) {
  pen.fillText(text, x, middle + 0.35 * size);
}

/** How far the controls of a quarter of a circle lie from its ends, as a part of the radius. */
const bend = 0.5523;

/**
 * The path of a circle, to be filled or stroked.
 * @param {Pen} pen
 * @param {number} x of its middle
 * @param {number} y
 * @param {number} radius
 */
export function circle(pen, x, y, radius) {
  const b = bend * radius;
  pen.beginPath();
  pen.moveTo(x + radius, y);
  pen.bezierCurveTo(x + radius, y + b, x + b, y + radius, x, y + radius);
  pen.bezierCurveTo(x - b, y + radius, x - radius, y + b, x - radius, y);
  pen.bezierCurveTo(x - radius, y - b, x - b, y - radius, x, y - radius);
  pen.bezierCurveTo(x + b, y - radius, x + radius, y - b, x + radius, y);
}

/**
 * ∅ beside an empty row, ! beside a row that holds NaN or +∞.
 * @param {Pen} pen
 * @param {number} flag of the row, not 0
 * @param {number} x
 * @param {number} y the middle of the line
 * @param {number} size
 * @param {Theme} theme
 */
export function writeFlag(pen, flag, x, y, size, theme) {
  pen.font = `${size}px ${theme.font}`;
  pen.textAlign = 'left';
  pen.fillStyle = theme.alert;
  write(pen, flag & 2 ? '!' : '∅', x, y, size);
}
