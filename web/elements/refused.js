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
 * @param {ParentNode} root
 * @param {Map<string, string>} texts
 */
export function retype(root, texts) {
  for (const [name, text] of texts) {
    const field = /** @type {TextField | null} */ (
      root.querySelector(`textarea[name="${name}"], input[type="text"][name="${name}"]`)
    );
    if (!field) continue;
    field.value = text;
    field.dispatchEvent(new InputEvent('input'));
  }
}
