// Formulas: LaTeX in, trees of MathML out, so that a page makes the nodes with createElementNS and
// needs neither a LaTeX library nor innerHTML.
//
//   'QK^\top'  →  { tag: 'math', attributes: {…}, children: [{ tag: 'mi', …, children: ['Q'] }, …] }
//
// Inline styles are left out, since the page's content security policy forbids them; spacing that
// they alone would give (\!, \kern) is lost.

import temml from 'temml';

/** @typedef {{ tag: string, attributes: Record<string, string>, children: (MathTree | string)[] }} MathTree */

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
 * @param {boolean} display whether it stands on a line of its own
 * @returns {MathTree}
 */
export function mathTree(latex, display) {
  const markup = temml.renderToString(latex, { displayMode: display, throwOnError: true });
  /** @type {MathTree} */
  const root = { tag: '', attributes: {}, children: [] };
  const open = [root];
  for (const [, closing, tag, attributes, text] of markup.matchAll(
    /<(\/?)([\w-]+)((?:\s+[\w-]+="[^"]*")*)>|([^<]+)/g,
  )) {
    const parent = open[open.length - 1];
    if (text) {
      parent.children.push(decode(text));
    } else if (closing) {
      if (parent.tag !== tag) throw new Error(`</${tag}> closes <${parent.tag}> in ${markup}`);
      open.pop();
    } else {
      /** @type {MathTree} */
      const node = { tag, attributes: {}, children: [] };
      for (const [, name, value] of attributes.matchAll(/([\w-]+)="([^"]*)"/g)) {
        if (name !== 'style') node.attributes[name] = decode(value);
      }
      parent.children.push(node);
      open.push(node);
    }
  }
  const [math] = root.children;
  if (open.length !== 1 || root.children.length !== 1 || typeof math === 'string') {
    throw new Error(`not one MathML element: ${markup}`);
  }
  return math;
}
