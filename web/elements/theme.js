/**
 * What surrounds a figure and changes how it is painted: the scheme (light or dark), forced
 * colours, print, and how many device pixels make one CSS pixel.
 *
 * The scheme is the nearest word of an ancestor (shadow hosts included), the element itself first:
 * `data-theme` (Sphinx, Quarto, many others), `data-bs-theme` (Bootstrap) or
 * `data-md-color-scheme` (MkDocs Material). Where none says light or dark, the system's
 * `prefers-color-scheme` decides.
 */

/** @typedef {import('./style.js').Scheme} Scheme */
/** @typedef {import('../draw/pen.js').Theme} Theme */

const names = /** @type {const} */ ([
  'paper',
  'ink',
  'quiet',
  'hairline',
  'hatch',
  'query',
  'key',
  'alert',
  'font',
  'mono',
]);

const attributes = ['data-theme', 'data-bs-theme', 'data-md-color-scheme'];

/** @type {Record<string, Scheme>} */
const words = { light: 'light', default: 'light', dark: 'dark', slate: 'dark' };

/**
 * @param {Element} element
 * @returns {Element | null} its parent, stepping out of shadow trees
 */
function parentOf(element) {
  if (element.parentElement) return element.parentElement;
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

/**
 * @param {Element} element
 * @returns {Scheme}
 */
export function schemeOf(element) {
  for (let at = /** @type {Element | null} */ (element); at; at = parentOf(at)) {
    for (const attribute of attributes) {
      const scheme = words[at.getAttribute(attribute)?.trim().toLowerCase() ?? ''];
      if (scheme) return scheme;
    }
  }
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/**
 * The theme as it stands on an element that has adopted the shared tokens. System colours
 * (`CanvasText`) are valid canvas colours and pass through.
 * @param {Element} element
 * @returns {Theme}
 */
export function themeOf(element) {
  const style = getComputedStyle(element);
  const theme = names.map((name) => [name, style.getPropertyValue(`--attn-${name}`).trim()]);
  return /** @type {Theme} */ (Object.fromEntries(theme));
}

/**
 * Calls `changed` whenever an ancestor's attribute or the system's wish may have changed the
 * scheme, when printing starts and ends, and when the device pixel ratio changes.
 * @param {Element} element a connected element
 * @param {(reason: 'scheme' | 'print' | 'ratio') => void} changed
 * @returns {() => void} stops watching
 */
export function watchSurroundings(element, changed) {
  const stop = new AbortController();
  const { signal } = stop;

  const observer = new MutationObserver(() => changed('scheme'));
  for (let at = /** @type {Element | null} */ (element); at; ) {
    const root = at.getRootNode();
    observer.observe(root, { subtree: true, attributes: true, attributeFilter: attributes });
    at = root instanceof ShadowRoot ? root.host : null;
  }

  /**
   * @param {string} query
   * @param {'scheme' | 'print'} reason
   */
  const listen = (query, reason) =>
    matchMedia(query).addEventListener('change', () => changed(reason), { signal });
  listen('(prefers-color-scheme: dark)', 'scheme');
  listen('(forced-colors: active)', 'scheme');
  listen('print', 'print');

  const watchRatio = () =>
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener(
      'change',
      () => {
        changed('ratio');
        watchRatio();
      },
      { signal, once: true },
    );
  watchRatio();

  return () => {
    observer.disconnect();
    stop.abort();
  };
}
