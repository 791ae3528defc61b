// Formulas: LaTeX in, trees of MathML out, so that a page makes the nodes with createElementNS and
// needs neither a LaTeX library nor innerHTML.
//
//   'QK^\top'  →  ['math', { displaystyle: 'true' }, ['mi', 'Q'], …]
//
// Each is as large as on a line of its own, and flows with what stands beside it.
//
// Inline styles are left out, since the page's content security policy forbids them; spacing that
// they alone would give (\!, \kern) is lost. So are classes: the page has no rules for them.

import temml from 'temml';

/**
 * A tag, its attributes where it has any, its children.
 * @typedef {[string, ...(Record<string, string> | MathTree | string)[]]} MathTree
 */

/** @type {Record<string, string>} */
const ENTITIES = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** @param {string} text */
function decode(text) {
  return text.replace(/&(#x[\da-f]+|\w+);/gi, (whole, name) => {
    if (name.startsWith('#x')) return String.fromCodePoint(Number.parseInt(name.slice(2), 16));
    if (name in ENTITIES) return ENTITIES[name];
    throw new Error(`unknown entity ${whole} in a formula`);
  });
}

/**
 * @param {string} latex
 * @returns {MathTree}
 */
export function mathTree(latex) {
  const markup = temml.renderToString(latex, { displayMode: true, throwOnError: true });
  const root = /** @type {MathTree} */ (['']);
  const open = [root];
  for (const [, closing, tag, attributes, text] of markup.matchAll(
    /<(\/?)([\w-]+)((?:\s+[\w-]+="[^"]*")*)>|([^<]+)/g,
  )) {
    const parent = open[open.length - 1];
    if (text) {
      parent.push(decode(text));
    } else if (closing) {
      if (parent[0] !== tag) throw new Error(`</${tag}> closes <${parent[0]}> in ${markup}`);
      open.pop();
    } else {
      const kept = [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)]
        .filter(([, name]) => name !== 'style' && name !== 'class')
        .map(([, name, value]) => [name, decode(value)]);
      const node = /** @type {MathTree} */ ([tag]);
      if (kept.length > 0) node.push(Object.fromEntries(kept));
      parent.push(node);
      open.push(node);
    }
  }
  const [, math] = root;
  if (open.length !== 1 || root.length !== 2 || !Array.isArray(math)) {
    throw new Error(`not one MathML element: ${markup}`);
  }
  math[1] = { displaystyle: 'true' };
  return math;
}
