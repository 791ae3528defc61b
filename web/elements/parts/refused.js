/**
 * What a reader typed and was refused stays theirs when a figure is made anew, in another language or
 * with other panels: it is typed once more into the field of the same name, which refuses it in its
 * own words.
 */

/**
 * @typedef {HTMLInputElement | HTMLTextAreaElement} TextField
 */

/**
 * @param {ParentNode} root
 * @returns {Map<string, string>} refused texts by the names of their fields
 */
export function refusedTexts(root) {
  /** @type {NodeListOf<TextField>} */
  const fields = root.querySelectorAll('[name][aria-invalid="true"]');
  return new Map(Array.from(fields, (field) => [field.name, field.value]));
}

/**
 * @param {ShadowRoot} root
 * @param {Map<string, string>} texts
 */
export function retype(root, texts) {
  for (const [name, text] of texts) {
    /** @type {() => TextField | null} */
    const find = () =>
      root.querySelector(`textarea[name="${name}"], input[type="text"][name="${name}"]`);
    const focused = /** @type {HTMLElement | null} */ (root.ownerDocument.activeElement);
    const there = find();
    /** @type {HTMLElement | null} */ (root.querySelector(`button[name="${name}"]`))?.click();
    const field = find();
    if (!field) continue;
    field.value = text;
    for (const type of ['input', 'change']) field.dispatchEvent(new InputEvent(type));
    if (there) continue;
    field.blur();
    focused?.focus({ preventScroll: true });
  }
}
