/**
 * The look that every element shares: design tokens and a few base rules, as constructable
 * stylesheets, so that the page runs under `style-src 'self'` without inline styles.
 *
 * An element adopts `[tokens of its scheme, base, its own sheets]`; changing the scheme swaps the
 * first sheet. The tokens stand on `:host`, hence a page may override any of them from outside:
 * `attention-heatmap { --attn-query: rebeccapurple }`, and so may it the padding. What a page says of
 * its text (spacing, case, direction), even by a rule for all elements, ends at `:host`: the figure speaks
 * languages written from left to right.
 *
 *   --attn-paper     ground              --attn-query   query side, and what the user edited
 *   --attn-ink       text                --attn-key     key side
 *   --attn-quiet     secondary text      --attn-alert   errors, NaN
 *   --attn-hairline  1 px lines          --attn-hatch   hatching of masked cells
 *   --attn-font  --attn-mono             --attn-motion  time between states (0 when reduced)
 *
 * Text colours keep at least 4.5:1 on the ground of their own scheme. Print is always the light
 * scheme; forced colours use the system's.
 */

/** @typedef {'light' | 'dark'} Scheme */

/** Colours by scheme, the names of the tokens without their prefix. */
export const palette = {
  light: {
    paper: '#fcfcfa',
    ink: '#1d1d1b',
    quiet: '#65645f',
    hairline: '#e4e3de',
    hatch: '#d2d0c9',
    query: '#b8430e',
    key: '#0b6b74',
    alert: '#a3155b',
  },
  dark: {
    paper: '#16171a',
    ink: '#e8e6e1',
    quiet: '#9b9a95',
    hairline: '#2c2e33',
    hatch: '#3b3e45',
    query: '#ff9d6c',
    key: '#5cc8c2',
    alert: '#ff8fb1',
  },
};

const forced = {
  paper: 'Canvas',
  ink: 'CanvasText',
  quiet: 'CanvasText',
  hairline: 'GrayText',
  hatch: 'GrayText',
  query: 'Highlight',
  key: 'LinkText',
  alert: 'CanvasText',
};

const baseText = `
:host {
  display: block;
  box-sizing: border-box;
  padding: 12px;
  background: var(--attn-paper);
  unicode-bidi: isolate;
}
:host > * {
  color: var(--attn-ink);
  writing-mode: horizontal-tb;
  direction: ltr;
  font: 16px/1.5 var(--attn-font);
  letter-spacing: normal;
  word-spacing: normal;
  white-space: normal;
  word-break: normal;
  overflow-wrap: normal;
  hyphens: manual;
  text-align: start;
  text-indent: 0;
  text-transform: none;
  text-shadow: none;
  -webkit-text-size-adjust: 100%;
}
:host([hidden]) { display: none; }
/* What the figure wants where the parent is as wide as its content; it takes less where that is less. */
:host::before { content: ''; display: grid; grid-template-columns: minmax(0, 640px); }
*, ::before, ::after { box-sizing: border-box; }
:focus-visible { outline: 2px solid var(--attn-query); outline-offset: 2px; border-radius: 4px; }
/* Where no font of the system is made for formulas, the browser looks each letter up by itself. */
math { font-family: 'DejaVu Math TeX Gyre', math; }
.label { font-size: 13px; line-height: 1.4; }
.quiet { color: var(--attn-quiet); }
.figures { font: 12px/1.5 var(--attn-mono); font-variant-numeric: tabular-nums; }
.error { margin: 4px 0 0; color: var(--attn-alert); font-size: 13px; line-height: 1.4; }
.error:empty { display: none; }
.query { color: var(--attn-query); }
.key { color: var(--attn-key); }
.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  margin: 0;
  padding: 0;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
`;

/** @typedef {(document: Document) => CSSStyleSheet} Sheet */

/**
 * A stylesheet of one text, made once for each document: a document takes only sheets of its own, and
 * an element may move to another one.
 * @param {string} text
 * @returns {Sheet}
 */
export function sheet(text) {
  /** @type {WeakMap<Document, CSSStyleSheet>} */
  const made = new WeakMap();
  return (document) => {
    let own = made.get(document);
    if (!own) {
      const { CSSStyleSheet } = /** @type {typeof globalThis} */ (document.defaultView);
      own = new CSSStyleSheet();
      own.replaceSync(text);
      made.set(document, own);
    }
    return own;
  };
}

/** @param {Record<string, string>} colours */
const declare = (colours) =>
  Object.entries(colours)
    .map(([name, value]) => `--attn-${name}: ${value};`)
    .join(' ');

/** @param {Scheme} scheme */
const tokens = (scheme) => `
:host {
  ${declare(palette[scheme])}
  --attn-font: system-ui, 'Noto Sans CJK SC', sans-serif;
  --attn-mono: 'DejaVu Sans Mono', ui-monospace, Menlo, Consolas, monospace;
  --attn-motion: 120ms;
  color-scheme: ${scheme};
}
@media (prefers-reduced-motion: reduce) { :host { --attn-motion: 0ms; } }
@media (forced-colors: active) { :host { ${declare(forced)} } }
@media print { :host { ${declare(palette.light)} color-scheme: light; } }
`;

const base = sheet(baseText);
const schemes = { light: sheet(tokens('light')), dark: sheet(tokens('dark')) };

/**
 * Puts the shared look on a shadow root: call again when the scheme or the document changes.
 * @param {ShadowRoot} root
 * @param {Scheme} scheme
 * @param {...Sheet} own sheets of the element itself
 */
export function adopt(root, scheme, ...own) {
  const document = root.ownerDocument;
  if (!document.defaultView) return; // a document that no window shows has no sheets
  root.adoptedStyleSheets = [schemes[scheme], base, ...own].map((sheet) => sheet(document));
}
