/**
 * A pen that writes SVG: the same drawing functions that paint a canvas make the file, so the
 * picture exported is the picture seen.
 *
 *   const pen = new SvgPen();
 *   drawHeatmap(pen, heatmap);                 // a geometry laid out with ratio 1
 *   pen.svg(width, height, 'Weights');    // → '<svg …'
 *
 * Text is escaped here and nowhere else, and nothing needs a style attribute, so that the file can
 * stand inside a page with a strict policy. Blocks of pixels become one path a colour.
 */

/** @typedef {import('./pen.js').Pixels} Pixels */
/** @typedef {import('./pen.js').Box} Box */

const anchors = { left: 'start', center: 'middle', right: 'end' };

/** @param {number} value */
const round = (value) => Number(value.toFixed(3));

/**
 * Text for XML: markup escaped, and what XML cannot hold left out.
 * @param {string} text
 */
export function escapeXml(text) {
  return text
    .replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Cs}/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

export class SvgPen {
  /** @type {any} */
  fillStyle = '#000';
  /** @type {any} */
  strokeStyle = '#000';
  lineWidth = 1;
  globalAlpha = 1;
  font = '';
  /** @type {'left' | 'center' | 'right' | 'start' | 'end'} */
  textAlign = 'left';

  #parts = /** @type {string[]} */ ([]);
  #definitions = /** @type {string[]} */ ([]);
  #moves = /** @type {string[]} */ ([]);
  #saved = /** @type {string[][]} */ ([]);
  #path = '';

  /**
   * The whole file.
   * @param {number} width
   * @param {number} height
   * @param {string} title
   */
  svg(width, height, title) {
    const definitions = this.#definitions.length
      ? `<defs>${this.#definitions.join('')}</defs>`
      : '';
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}" role="img"><title>${escapeXml(title)}</title>${definitions}${this.#parts.join('')}</svg>\n`;
  }

  save() {
    this.#saved.push([...this.#moves]);
  }

  restore() {
    this.#moves = this.#saved.pop() ?? [];
  }

  /**
   * Forgets earlier moves. SVG has no device pixels, so only the identity is meant.
   */
  setTransform() {
    this.#moves = [];
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  translate(x, y) {
    this.#moves.push(`translate(${round(x)} ${round(y)})`);
  }

  /** @param {number} angle in radians */
  rotate(angle) {
    this.#moves.push(`rotate(${round((angle * 180) / Math.PI)})`);
  }

  /** The paper starts empty. */
  clearRect() {}

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  fillRect(x, y, width, height) {
    this.#add('rect', { ...rect(x, y, width, height), ...this.#fill() });
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  strokeRect(x, y, width, height) {
    this.#add('rect', { ...rect(x, y, width, height), ...this.#stroke() });
  }

  beginPath() {
    this.#path = '';
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  moveTo(x, y) {
    this.#path += `M${round(x)} ${round(y)}`;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  lineTo(x, y) {
    this.#path += `L${round(x)} ${round(y)}`;
  }

  /** @param {...number} points two control points, then the end: x, y each */
  bezierCurveTo(...points) {
    this.#path += `C${points.map(round).join(' ')}`;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  rect(x, y, width, height) {
    const [wide, high] = [round(width), round(height)];
    this.#path += `M${round(x)} ${round(y)}h${wide}v${high}h${-wide}z`;
  }

  fill() {
    if (this.#path) this.#add('path', { d: this.#path, ...this.#fill() });
  }

  stroke() {
    if (this.#path) this.#add('path', { d: this.#path, ...this.#stroke() });
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   */
  fillText(text, x, y) {
    const anchor = anchors[/** @type {keyof typeof anchors} */ (this.textAlign)] ?? this.textAlign;
    const place = { x: round(x), y: round(y), 'text-anchor': anchor };
    const [, size, family] = /** @type {string[]} */ (/^(\S+)px (.+)$/.exec(this.font) ?? []);
    const font = { 'font-size': size, 'font-family': family };
    this.#add('text', { ...place, ...font, ...this.#fill() }, text);
  }

  /**
   * @param {Pixels} pixels
   * @param {Box} box
   */
  drawPixels({ width, height, data }, box) {
    /** @type {Map<string, string>} */
    const paths = new Map();
    const words = new Uint32Array(data.buffer, data.byteOffset, width * height);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; ) {
        const first = x;
        const at = y * width + x;
        while (x < width && words[y * width + x] === words[at]) x++;
        const [red, green, blue, alpha] = data.subarray(at * 4, at * 4 + 4);
        if (alpha === 0) continue;
        const colour = `rgb(${red},${green},${blue})`;
        const run = `M${first} ${y}h${x - first}v1h${first - x}z`;
        paths.set(colour, (paths.get(colour) ?? '') + run);
      }
    }
    const scale = `scale(${box.width / width} ${box.height / height})`;
    const transform = [...this.#moves, `translate(${round(box.x)} ${round(box.y)})`, scale].join(
      ' ',
    );
    this.#parts.push(`<g transform="${transform}" shape-rendering="crispEdges">`);
    for (const [fill, d] of paths) this.#parts.push(`<path fill="${fill}" d="${d}"/>`);
    this.#parts.push('</g>');
  }

  /**
   * @param {string} colour
   * @param {number} pitch
   * @returns {string} a fill style of thin diagonal lines
   */
  hatch(colour, pitch) {
    const id = `hatch-${this.#definitions.length}`;
    const line = `M-1 1L1 -1M0 ${pitch}L${pitch} 0M${pitch - 1} ${pitch + 1}L${pitch + 1} ${pitch - 1}`;
    this.#definitions.push(
      `<pattern id="${id}" width="${pitch}" height="${pitch}" patternUnits="userSpaceOnUse"><path d="${line}" stroke="${escapeXml(colour)}" stroke-width="1.25"/></pattern>`,
    );
    return `url(#${id})`;
  }

  #fill() {
    return { fill: this.fillStyle, 'fill-opacity': this.globalAlpha };
  }

  #stroke() {
    return {
      fill: 'none',
      stroke: this.strokeStyle,
      'stroke-width': round(this.lineWidth),
      'stroke-opacity': this.globalAlpha,
    };
  }

  /**
   * @param {string} tag
   * @param {Record<string, string | number>} attributes
   * @param {string} [text]
   */
  #add(tag, attributes, text) {
    const all = this.#moves.length
      ? { ...attributes, transform: this.#moves.join(' ') }
      : attributes;
    const written = Object.entries(all)
      .filter(([name, value]) => !(name.endsWith('-opacity') && value === 1))
      .map(([name, value]) => ` ${name}="${escapeXml(String(value))}"`)
      .join('');
    this.#parts.push(
      text === undefined ? `<${tag}${written}/>` : `<${tag}${written}>${escapeXml(text)}</${tag}>`,
    );
  }
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function rect(x, y, width, height) {
  return { x: round(x), y: round(y), width: round(width), height: round(height) };
}
