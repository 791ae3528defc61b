/**
 * Registers the elements. Importing this, or loading the classic script, is all a page does; a second
 * copy of the script finds the names taken and leaves the first copy in place.
 */

import { AttentionPlayground } from './attention-playground.js';
import { AttentionHeatmap } from './heatmap/attention-heatmap.js';
import { AttentionFrame, AttentionLessons, AttentionSettings } from './page.js';
import { missing, standIn } from './support.js';

export { AttentionHeatmap, AttentionPlayground };

/** @type {Record<string, CustomElementConstructor>} */
const figures = {
  'attention-heatmap': AttentionHeatmap,
  'attention-playground': AttentionPlayground,
  'attention-frame': AttentionFrame,
};

export function define() {
  const complete = missing().length === 0;
  /** @param {string} name @param {CustomElementConstructor} element */
  const once = (name, element) => {
    if (!customElements.get(name)) customElements.define(name, element);
  };
  // The page's language and lesson are settled first, so that no figure is made twice.
  once('attention-settings', AttentionSettings);
  once('attention-lessons', AttentionLessons);
  for (const [name, element] of Object.entries(figures)) {
    once(name, complete ? element : standIn());
  }
}

define();
