/** How the figure of the translation lessons looks: rules of the playground's sheet. */
export const translationRules = `
.panel > .title { display: block; font-weight: 600; margin-bottom: 4px; }
input.sentence { width: 100%; }
.words { display: flex; flex-wrap: wrap; gap: 4px; margin: 8px 0; }
.words li, .word { min-height: 26px; border-radius: 4px; white-space: pre; }
.words li:not(:has(.word)), .word { padding: 2px 7px; border: 1px solid var(--attn-hairline); }
.words .unknown { border: 1px dashed var(--attn-alert); color: var(--attn-alert); }
.word[aria-current] { border-color: var(--attn-query); color: var(--attn-query); }
.ahead .word { border-style: dashed; color: var(--attn-quiet); }
.reference { margin-top: 4px; }
.corpus textarea { min-height: 84px; margin-top: 6px; white-space: pre; overflow-x: auto; }

.kinds { display: grid; grid-template-columns: repeat(var(--across, 1), minmax(0, 1fr)); gap: 24px 20px; }
.kind > .title { font-size: 13px; line-height: 24px; }
.enlarge { grid-area: 2 / 2; padding: 0; }
.labelled { display: grid; grid-template: auto auto / auto max-content; justify-content: start; font-size: 10px; line-height: 1; color: var(--attn-quiet); }
.across { grid-area: 1 / 2; display: flex; width: var(--length); align-items: flex-end; padding-bottom: 6px; }
.across span { flex: 1 1 0; min-width: 0; max-height: 52px; overflow: visible clip; writing-mode: vertical-rl; transform: rotate(180deg); display: flex; align-items: center; white-space: pre; }
.across .upright { transform: none; text-orientation: upright; }
.down { grid-area: 2 / 1; display: flex; flex-direction: column; height: var(--length); padding-right: 7px; }
.down span { flex: 1 1 0; min-height: 0; max-width: 54px; overflow: clip visible; text-overflow: ellipsis; white-space: pre; display: block; text-align: end; line-height: var(--room); }
.stage .bar > .figures { min-width: 0; overflow-wrap: anywhere; }
.stage .bar.named { gap: 2px 20px; }
.stage .bar.named legend { position: static; width: auto; height: auto; clip-path: none; margin-right: 10px; color: var(--attn-quiet); }
.labelled .mini { grid-area: 2 / 2; }
.mini.marked .row-light { opacity: 1; }
.enlarge[aria-pressed='true'] .mini, .tile[aria-pressed='true'] .mini { outline: 2px solid var(--attn-query); outline-offset: 1px; }
.layer { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 8px; margin-top: 8px; }
.layer > .quiet { flex: 1 0 100%; font-size: 13px; margin-bottom: 4px; }
.tiles { display: flex; flex-wrap: wrap; gap: 4px 6px; }
.tiles li { display: flex; flex-direction: column; align-items: center; gap: 4px; }
.tile { display: block; padding: 0; }
.tiles input[type='checkbox'] { width: 13px; height: 13px; accent-color: var(--attn-quiet); }
.tiles .silenced .mini { opacity: 0.35; }

.kinds[hidden] + .stage { margin-top: 0; padding-top: 0; border: 0; }

.decoding, .center > .training { margin-top: 20px; padding-top: 12px; border-top: 1px solid var(--attn-hairline); }
.decoding .title { margin: 0; }
.steps input[type='range'] { flex: 1 1 96px; min-width: 0; max-width: 220px; }
.decoding.stale .words, .decoding.stale .halves { opacity: 0.5; }
.halves { display: flex; flex-wrap: wrap; gap: 0 36px; }
.halves > * { flex: 1 1 220px; min-width: 0; }
.kept { display: flex; flex-wrap: wrap; gap: 12px 20px; }
.kept figure { margin: 0; max-width: 100%; overflow: auto hidden; }
.kept figcaption { font-size: 13px; overflow-wrap: anywhere; margin-top: 2px; }
.beams li { display: flex; justify-content: space-between; gap: 16px; max-width: 480px; }
`;
