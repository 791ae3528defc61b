/**
 * What a figure keeps when its parts are made anew in another language: which folds stand open, and
 * where the focus and the selection of a text are. The new parts stand as the old ones did, so a part
 * is found again by its way down from the root.
 */

/**
 * @param {ShadowRoot} root
 * @returns {() => void} puts it back, once the new parts are there
 */
export function keep(root) {
  const folds = [...root.querySelectorAll('details')].map(({ open }) => open);
  const active = root.activeElement;
  const way = active && wayTo(root, active);
  const selection =
    active instanceof HTMLTextAreaElement ||
    (active instanceof HTMLInputElement && active.type === 'text')
      ? /** @type {const} */ ([active.selectionStart ?? 0, active.selectionEnd ?? 0])
      : null;

  return () => {
    for (const [index, fold] of root.querySelectorAll('details').entries()) {
      fold.open = folds[index] ?? fold.open;
    }
    if (!way) return;
    /** @type {Element | undefined} */
    let found = root.children[way[0]];
    for (const index of way.slice(1)) found = found?.children[index];
    if (!(found instanceof HTMLElement) || found.tagName !== active?.tagName) return;
    found.focus({ preventScroll: true });
    if (selection) /** @type {HTMLTextAreaElement} */ (found).setSelectionRange(...selection);
  };
}

/**
 * @param {ShadowRoot} root
 * @param {Element} element
 * @returns {number[]} a place among siblings for each step down
 */
function wayTo(root, element) {
  const way = [];
  for (let at = element; ; at = at.parentElement) {
    const parent = at.parentElement ?? root;
    way.unshift([...parent.children].indexOf(at));
    if (!at.parentElement) return way;
  }
}
