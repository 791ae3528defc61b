/**
 * What a page wrote into an element's attributes and nobody knows: one warning in the console for
 * each, with the words that are known. The figure itself goes on as without the attribute.
 */

/**
 * @param {Element} element
 * @param {string} attribute
 * @param {readonly string[]} unknown
 * @param {readonly string[]} known
 */
function warn(element, attribute, unknown, known) {
  if (unknown.length === 0) return;
  const quoted = unknown.map((name) => `"${name}"`).join(', ');
  console.warn(
    `${element.localName}: ${attribute} knows no ${quoted}; it knows ${known.join(', ')}.`,
  );
}

/**
 * The panels a page wants: null for all, as without the attribute or when it names none that exist.
 * @param {Element} element
 * @param {readonly string[]} known
 * @returns {string[] | null}
 */
export function wantedPanels(element, known) {
  const text = element.getAttribute('controls');
  if (text === null) return null;
  const names = text.split(/[\s,]+/).filter(Boolean);
  const unknown = names.filter((name) => !known.includes(name));
  warn(element, 'controls', unknown, known);
  return names.length > 0 && unknown.length === names.length ? null : names;
}

/** @param {Element} element */
export function checkTheme(element) {
  const theme = element.getAttribute('theme');
  const known = ['light', 'dark'];
  if (theme !== null && !known.includes(theme)) warn(element, 'theme', [theme], known);
}

/** @param {Element} element */
export function checkLanguage(element) {
  const tag = element.getAttribute('lang');
  if (tag !== null && !/^(en|zh)\b/i.test(tag)) warn(element, 'lang', [tag], ['en', 'zh-CN']);
}
