/** The own rules of <attention-heatmap>, beside the look that all elements share. */
import { sheet } from '../style.js';

export const style = sheet(`
.frame { position: relative; max-width: 100%; }
canvas { display: block; max-width: 100%; touch-action: manipulation; }
canvas[hidden] { display: none; }
canvas.focused { outline: 2px solid var(--attn-query); outline-offset: 6px; border-radius: 1px; }
.before { position: absolute; top: 0; left: 0; opacity: 0; pointer-events: none; animation: fade var(--attn-motion); }
@keyframes fade { from { opacity: 1; } }
.unseen :focus-visible { outline: none; }
.caption { margin: 0 0 4px; overflow-wrap: anywhere; }
.caption:empty, :host([thumbnail]) .caption { display: none; }
.readout { margin: 8px 0 0; min-height: 1.5em; overflow-wrap: anywhere; }
@media (max-width: 480px) { .readout { min-height: 3em; } }
.edit {
  position: absolute;
  margin: 0;
  padding: 0 4px;
  border: 2px solid var(--attn-query);
  border-radius: 4px;
  background: var(--attn-paper);
  color: var(--attn-ink);
  text-align: center;
}
.edit:focus-visible { outline: none; }
.edit[hidden] { display: none; }
.edit-note {
  position: absolute;
  left: 0;
  z-index: 1;
  width: max-content;
  max-width: 100%;
  padding: 2px 6px;
  border: 1px solid var(--attn-hairline);
  border-radius: 4px;
  background: var(--attn-paper);
}
:host([thumbnail]) { padding: 0; }
:host([thumbnail]) .readout { display: none; }
@media print {
  canvas { height: auto !important; }
  .readout { display: none; }
}
`);
