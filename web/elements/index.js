/**
 * Registers the elements. Importing this, or loading the classic script, is all a page does; a second
 * copy of the script finds the names taken and leaves the first copy in place.
 */
import { AttentionHeatmap, defineHeatmap } from './attention-heatmap.js';
import { AttentionPlayground } from './attention-playground.js';
import { AttentionFrame, AttentionSettings } from './page.js';

export { AttentionHeatmap, AttentionPlayground };

/** @type {Record<string, CustomElementConstructor>} */
const elements = {
  'attention-playground': AttentionPlayground,
  'attention-frame': AttentionFrame,
  'attention-settings': AttentionSettings,
};

export function define() {
  defineHeatmap();
  for (const [name, element] of Object.entries(elements)) {
    if (!customElements.get(name)) customElements.define(name, element);
  }
}

define();
