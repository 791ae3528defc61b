/**
 * Making and filling nodes. Text enters only as text nodes and attribute values, so that a token
 * such as `<img onerror=…>` is never more than its letters.
 */

/**
 * @typedef {Node | string | null | undefined | false} Child
 * @typedef {Record<string, any>} Settings `on…` are listeners, `class` and everything with a dash
 *   are attributes, the rest are properties
 */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Settings | null} [settings]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, settings, ...children) {
  /** @type {any} */
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(settings ?? {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'class' || name === 'role' || name.includes('-'))
      setAttribute(element, name, value);
    /** @type {any} */ else element[name] = value;
  }
  element.append(
    ...children.filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/**
 * Sets an attribute only where it differs; null, undefined and false take it away.
 * @param {Element} element
 * @param {string} name
 * @param {string | number | boolean | null | undefined} value
 */
export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/**
 * Sets a text only where it differs: unchanged nodes cost no layout.
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Makes a parent hold as many children as there are items and updates each in place.
 * @template Item
 * @template {Element} Row
 * @param {Element} parent
 * @param {readonly Item[]} items
 * @param {(index: number) => Row} make
 * @param {(row: Row, item: Item, index: number) => void} update
 */
export function list(parent, items, make, update) {
  while (parent.children.length > items.length) parent.lastElementChild?.remove();
  while (parent.children.length < items.length) parent.append(make(parent.children.length));
  for (let index = 0; index < items.length; index++) {
    update(/** @type {Row} */ (parent.children[index]), items[index], index);
  }
}

let count = 0;

/** An id that no other node of this script has. */
export function freshId() {
  count += 1;
  return `attn-${count}`;
}

/**
 * A MathML tree made by the build as nodes: a tag, its attributes where it has any, its children.
 * @typedef {[string, ...(Record<string, string> | MathTree | string)[]]} MathTree
 * @param {MathTree} tree
 * @returns {Element}
 */
export function math([tag, ...parts]) {
  const element = document.createElementNS('http://www.w3.org/1998/Math/MathML', tag);
  for (const part of parts) {
    if (typeof part === 'string') element.append(part);
    else if (Array.isArray(part)) element.append(math(part));
    else for (const [name, value] of Object.entries(part)) element.setAttribute(name, value);
  }
  return element;
}
