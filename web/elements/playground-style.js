/**
 * How a playground looks: one column on a phone, two on a tablet, three on a desk, by the width of the
 * element itself and not of the window, since it may stand in a narrow column of someone's page.
 */
import { regressionRules } from './regression/style.js';
import { sheet } from './style.js';
import { trainingRules } from './training/style.js';
import { translationRules } from './translation/style.js';

export const playgroundStyle = sheet(`
:host { --positive: #b2182b; --negative: #2166ac; }
[data-theme='dark'] { --positive: #ef8a62; --negative: #67a9cf; }
:host::before { grid-template-columns: minmax(0, 1120px); }
[hidden] { display: none !important; }

/* A container of its own width has none of its content: it takes the host's, whatever the page makes of that. */
.playground { container: playground / inline-size; flex: none; width: 100%; font-size: 13px; }
.scroll, .terms, .row, .code, .formula.large { scrollbar-width: thin; scrollbar-color: var(--attn-hatch) transparent; }
p, ol, fieldset { margin: 0; padding: 0; border: 0; }
ol { list-style: none; }
button, input, select, textarea { font: inherit; color: inherit; }
.line { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; }
.gap { flex: 1; }
.note { margin-top: 4px; color: var(--attn-quiet); font-size: 13px; line-height: 1.4; }
.note:empty { display: none; }
.title { font-weight: 600; }

button, summary { cursor: pointer; }
button { border: 0; background: none; padding: 2px 4px; }
button:disabled, [aria-disabled='true'] { color: var(--attn-quiet); cursor: default; opacity: 0.55; }
.link { min-height: 24px; font-size: 13px; text-decoration: underline; text-decoration-color: var(--attn-hairline); text-underline-offset: 3px; }
.link:hover:not([aria-disabled='true']), a:hover { text-decoration-color: currentColor; }
a { color: inherit; text-decoration-color: var(--attn-hairline); text-underline-offset: 3px; }

input[type='range'] { accent-color: var(--attn-query); }
input[type='checkbox'] { accent-color: var(--attn-query); margin: 0; width: 16px; height: 16px; }
input[type='text'], textarea, select {
  border: 1px solid var(--attn-hairline);
  border-radius: 4px;
  background: var(--attn-paper);
  padding: 3px 6px;
}
input[aria-invalid='true'], textarea[aria-invalid='true'] { border-color: var(--attn-alert); }
select { max-width: 100%; }
textarea { display: block; width: 100%; resize: vertical; line-height: 1.4; }

.top {
  display: flex;
  flex-wrap: wrap;
  align-items: baseline;
  justify-content: space-between;
  gap: 4px 24px;
  padding-bottom: 10px;
  border-bottom: 1px solid var(--attn-hairline);
}
.top:has(> .buttons:only-child) { justify-content: flex-end; }
.experiments { flex: 1 1 320px; font-size: 13px; }
.experiments a { padding: 3px 0; }
.experiments a[aria-current] { color: var(--attn-query); text-decoration-color: currentColor; }
.look { max-width: 72ch; font-size: 13px; }
.look:not(:empty) { margin-top: 6px; }
.buttons, .export { display: flex; flex-wrap: wrap; align-items: baseline; gap: 8px; }

.menu { position: relative; font-size: 13px; }
.menu summary { padding: 2px 4px; min-height: 24px; list-style: none; }
.menu summary::after { content: ' ▾'; }
.menu summary::-webkit-details-marker { display: none; }
.menu .entries {
  position: absolute;
  right: 0;
  z-index: 2;
  display: flex;
  flex-direction: column;
  min-width: 184px;
  padding: 4px;
  border: 1px solid var(--attn-hairline);
  border-radius: 4px;
  background: var(--attn-paper);
}
.menu .entries button { padding: 5px 8px; text-align: start; border-radius: 4px; }
.menu .entries button:hover { background: var(--attn-hairline); }
.by-hand { padding: 10px 0; }
.by-hand canvas { display: block; max-width: 100%; max-height: 320px; border: 1px solid var(--attn-hairline); }
.notice {
  display: flex;
  align-items: baseline;
  gap: 12px;
  padding: 8px 0;
  border-bottom: 1px solid var(--attn-hairline);
  color: var(--attn-alert);
}

.waiting .center, .waiting .side { visibility: hidden; }
.layout {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  grid-template-areas: 'input' 'center' 'side';
  gap: 20px 36px;
  padding-top: 16px;
}
.input { grid-area: input; }
.groups { grid-area: groups; }
.layout:not(:has(> .input)) > .groups { grid-row-start: input-start; }
.center { grid-area: center; min-width: 0; }
.side { grid-area: side; min-width: 0; }
.center > .groups { margin: 4px 0 20px; }
@container playground (min-width: 700px) {
  .inspected attention-heatmap::part(readout) { display: none; }
  .layout {
    grid-template-columns: 252px minmax(0, 1fr);
    grid-template-rows: auto auto 1fr;
    grid-template-areas: 'input center' 'groups center' 'groups side';
  }
  .layout.no-input { grid-template-columns: minmax(0, 1fr); grid-template-areas: 'center' 'side'; }
}
@container playground (width < 240px) {
  .pipeline .formula { display: none; }
}
@container playground (860px <= width < 1100px) {
  .inspector { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 32px; }
  .inspector > .note, .headline, .edits { grid-column: 1 / -1; }
}
@container playground (min-width: 1100px) {
  .layout {
    grid-template-columns: 252px minmax(0, 1fr) 308px;
    grid-template-rows: auto 1fr;
    grid-template-areas: 'input center side' 'groups center side';
  }
  .layout.no-side { grid-template-columns: 252px minmax(0, 1fr); grid-template-areas: 'input center' 'groups center'; }
  .layout.no-input { grid-template-columns: minmax(0, 1fr) 308px; grid-template-areas: 'center side'; }
  .layout.no-input.no-side { grid-template-columns: minmax(0, 1fr); grid-template-areas: 'center'; }
}

.fold { border-top: 1px solid var(--attn-hairline); }
.fold > summary { display: flex; align-items: baseline; gap: 10px; padding: 7px 0; list-style: none; }
.fold > summary::-webkit-details-marker { display: none; }
.fold > summary::before { content: ''; flex: none; align-self: center; width: 5px; height: 5px; border: solid var(--attn-quiet); border-width: 0 1.5px 1.5px 0; transform: rotate(-45deg); transition: transform var(--attn-motion); }
.fold[open] > summary::before { transform: rotate(45deg); }
.fold > summary .quiet { font-size: 13px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
.groups .fold[open] > summary .quiet { display: none; }
.fold > .content { padding: 2px 0 14px; }

.control { margin-top: 8px; min-width: 0; }
.control:has(> .check) { margin-top: 3px; }
.inline { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 14px; }
.inline legend { float: left; }
.fold .control:first-child { margin-top: 2px; }
.control legend, .control > label { padding: 0; font-size: 13px; color: var(--attn-quiet); }
.groups .content > fieldset:first-child:nth-last-child(2) > legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.control .check, .control > .check { display: inline-flex; align-items: center; gap: 8px; min-height: 24px; font-size: 13px; color: var(--attn-ink); }
.choices { display: flex; flex-wrap: wrap; gap: 2px 14px; }
.choice { position: relative; color: var(--attn-quiet); }
.choice input { position: absolute; inset: 0; margin: 0; opacity: 0; cursor: pointer; }
.choice span { display: block; min-width: 12px; min-height: 26px; border-bottom: 2px solid transparent; text-align: center; }
.choice:hover span { color: var(--attn-ink); }
.choice input:checked + span { color: var(--attn-ink); border-bottom-color: var(--attn-query); }
.choice input:focus-visible + span { outline: 2px solid var(--attn-query); outline-offset: 1px; border-radius: 4px; }
.slider .pair { display: flex; align-items: center; gap: 8px; margin-top: 2px; }
.slider input[type='range'] { flex: 1; min-width: 0; height: 24px; margin: 0; }
.slider .number { width: 58px; text-align: end; font: 12px/1.5 var(--attn-mono); }
.without-range { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; }
.without-range input[type='range'] { display: none; }
.without-range .number { width: 104px; }

.tokens + .tokens { margin-top: 14px; }
.tokens > label { display: block; margin-bottom: 4px; font-weight: 600; }
.tokens .line { display: block; margin-top: 8px; }
.chips { display: inline; }
.chips li, .add { display: inline-block; max-width: 100%; margin: 0 4px 4px 0; vertical-align: top; }
.chip {
  max-width: 100%;
  min-width: 24px;
  min-height: 26px;
  padding: 2px 7px;
  border: 1px solid var(--attn-hairline);
  border-radius: 4px;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: pre;
  cursor: grab;
  touch-action: pan-y;
  user-select: none;
  transition: border-color var(--attn-motion);
}
input.chip { cursor: text; user-select: auto; border-color: var(--attn-query); field-sizing: content; }
.chip:hover { border-color: var(--attn-query); }
.playground.cross .target .chip { border-bottom: 2px solid var(--attn-query); }
.playground.cross .source .chip { border-bottom: 2px solid var(--attn-key); }
.playground.cross .target > label { color: var(--attn-query); }
.playground.cross .source > label { color: var(--attn-key); }
.chip.struck { color: var(--attn-quiet); text-decoration: line-through; }
.dragged .chip { border-color: var(--attn-query); color: var(--attn-query); cursor: grabbing; }
.add { flex: none; min-width: 26px; min-height: 26px; border: 1px dashed var(--attn-hairline); border-radius: 4px; color: var(--attn-quiet); }
.add:hover { border-color: var(--attn-query); color: var(--attn-query); }

[data-across='2'] { --across: 2; }
[data-across='3'] { --across: 3; }
[data-across='6'] { --across: 6; }
.pipeline, .heads { display: grid; grid-template-columns: repeat(var(--across), minmax(0, 1fr)); gap: 12px 16px; }
.pipeline li { position: relative; }
.pipeline li + li::before { content: '→'; position: absolute; right: calc(100% + 1px); top: calc(24px + var(--mini) / 2 - 11px); font-size: 13px; color: var(--attn-quiet); }
[data-across='2'] li:nth-child(2n + 1)::before, [data-across='3'] li:nth-child(3n + 1)::before { display: none; }
.step, .head { display: block; padding: 0; text-align: start; color: var(--attn-quiet); }
.step .title, .head .title { display: block; font-size: 13px; font-weight: 400; line-height: 24px; }
.step[aria-pressed='true'], .head[aria-pressed='true'] { color: var(--attn-ink); }
.step[aria-pressed='true'] .title, .head[aria-pressed='true'] .title { font-weight: 600; }
.step:hover, .head:hover { color: var(--attn-ink); }
.well { display: flex; align-items: flex-start; width: var(--mini); min-height: var(--mini); padding-bottom: 4px; border-bottom: 2px solid transparent; }
[aria-pressed='true'] > .well { border-bottom-color: var(--attn-query); }
.mini { position: relative; display: block; line-height: 0; }
.mini canvas { image-rendering: pixelated; background: repeating-linear-gradient(-45deg, transparent 0 3px, var(--attn-hatch) 3px 4px); }
.mini .edit { position: absolute; outline: 2px solid var(--attn-query); outline-offset: -1px; }
.row-light, .column-light { position: absolute; opacity: 0; pointer-events: none; transition: opacity var(--attn-motion); }
.row-light { left: 0; right: 0; top: calc(100% * var(--row, 0) / var(--rows)); height: calc(100% / var(--rows)); outline: 1.5px solid var(--attn-query); }
.column-light { top: 0; bottom: 0; left: calc(100% * var(--column, 0) / var(--columns)); width: calc(100% / var(--columns)); outline: 1.5px solid var(--attn-key); }
.pointing-query .row-light, .pointing-key .of-keys .column-light { opacity: 1; }
.formula { min-height: 2em; color: var(--attn-quiet); font-size: 12px; }
.formula.large { font-size: 16px; color: var(--attn-ink); overflow: auto hidden; }

.stage { margin-top: 20px; padding-top: 12px; border-top: 1px solid var(--attn-hairline); }
.stage .bar { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 20px; margin-bottom: 12px; }
.stage .bar .control { display: flex; align-items: baseline; gap: 12px; margin: 0; font-size: 13px; }
.stage .bar legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
attention-heatmap { padding: 0; }
attention-heatmap::part(caption) { display: none; }
attention-heatmap.drawing { cursor: crosshair; touch-action: pinch-zoom; user-select: none; }
.stage > .note { margin-top: 12px; }
.busy { min-height: 20px; font-size: 13px; }

canvas[role='slider'] { display: block; touch-action: pan-y; cursor: pointer; }

.heads li { position: relative; max-width: var(--mini); }
[data-across='2'] .heads { --across: 1; }
[data-across='2'] .heads li { max-width: none; }
.heads li > input { position: absolute; right: 0; bottom: 22px; }
.heads .number { display: block; font-size: 13px; font-variant-numeric: tabular-nums; white-space: nowrap; }
.heads .well { min-height: 0; }
.silenced .well { opacity: 0.35; }

.headline .place { font-size: 13px; }
.headline { overflow-wrap: anywhere; }
.headline .value { font: 22px/1.4 var(--attn-mono); font-variant-numeric: tabular-nums; }
.part { margin-top: 12px; }
.terms, .row { display: grid; gap: 0 8px; max-height: calc(16.5 * 19px); overflow-y: auto; padding: 2px 0; }
.terms { grid-template-columns: auto minmax(24px, 1fr); }
.row { grid-template-columns: minmax(0, 84px) minmax(24px, 1fr) auto; }
.sum { max-width: 198px; padding-top: 2px; border-top: 1px solid var(--attn-hairline); text-align: end; }
.sum:empty { display: none; }
.terms li, .row li { display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; align-items: center; line-height: 19px; }
.row .token { overflow: hidden; text-overflow: ellipsis; white-space: pre; font: 13px var(--attn-font); }
.row .number { text-align: end; white-space: nowrap; }
.bar[class] { position: relative; }
i.bar { display: block; height: 8px; }
i.bar::before { content: ''; position: absolute; top: 0; bottom: 0; left: 0; width: calc(100% * var(--size)); min-width: 1px; background: var(--attn-key); }
.terms i.bar { border-inline: 0; background: linear-gradient(var(--attn-quiet), var(--attn-quiet)) center / 1px 100% no-repeat; }
.terms i.bar::before { left: 50%; width: calc(50% * var(--size)); background: var(--positive); }
.terms i.bar.negative::before { left: auto; right: 50%; background: var(--negative); }
.row [aria-current] { font-weight: 700; }
.row [aria-current] i.bar::before { background: var(--attn-query); }
.number-field { display: grid; grid-template-columns: minmax(0, 104px) minmax(132px, 1fr) 24px; align-items: center; gap: 4px; min-height: 30px; }
.number-field .name { font-size: 13px; color: var(--attn-quiet); }
.number-field input { text-align: end; }
.number-field .error { grid-column: 1 / -1; }
.number-field.edited input { color: var(--attn-query); border-color: var(--attn-query); }
.number-field > span:last-child { grid-column: 2 / -1; font-size: 13px; }
.number-field .struck { color: var(--attn-quiet); }
.icon { min-width: 24px; min-height: 24px; padding: 0; color: var(--attn-quiet); }
.edits { color: var(--attn-query); font-size: 13px; }

.side .fold, .layout + .fold { margin-top: 16px; }
.code { margin: 0 0 6px; padding: 2px 0; overflow-x: auto; font: 11px/1.6 var(--attn-mono); }
.scroll { max-height: 420px; overflow: auto; }
.shapes { width: 100%; table-layout: fixed; border-collapse: collapse; font-size: 12px; line-height: 1.35; }
.shapes th, .shapes td { padding: 4px 10px 4px 0; border-bottom: 1px solid var(--attn-hairline); text-align: start; vertical-align: top; font-weight: 400; }
.shapes th:first-child { width: 40%; }
.shapes th:nth-child(2) { width: 34%; }
.shapes thead th { position: sticky; top: 0; background: var(--attn-paper); color: var(--attn-quiet); }
.shapes td span { display: block; }
.shapes td { overflow-wrap: anywhere; }
.shapes td:nth-child(2) { font: 11px/1.5 var(--attn-mono); }
.shapes .link { padding: 0; font-size: 12px; text-align: start; overflow-wrap: anywhere; }
.shapes .link:disabled { color: inherit; opacity: 1; text-decoration: none; }
.shapes [aria-pressed='true'] { font-weight: 700; color: var(--attn-query); }

${regressionRules}${trainingRules}${translationRules}
@media (forced-colors: active) {
  .choice span { border-bottom-color: Canvas; }
  .choice input:checked + span { background: Highlight; color: HighlightText; forced-color-adjust: none; }
  i.bar::before, .fold > summary::before { forced-color-adjust: none; background: CanvasText; }
  .mini canvas, .terms i.bar { forced-color-adjust: none; }
  [aria-pressed='true'] > .well { border-bottom-color: Highlight; }
  .well { border-bottom-color: Canvas; }
}
@media print {
  .playground { print-color-adjust: exact; }
  .top, .groups, .input, .busy, .stage .bar fieldset, .heads input, .tiles input, .icon,
  .act, .steps, .model-file, .stage .check { display: none !important; }
  .layout { display: block; }
  .side { margin-top: 24px; }
  .scroll, .terms, .row { max-height: none; }
}
`);
