/** How the training panel looks: rules of the playground's sheet. */
export const trainingRules = `
.panel + .panel { margin-top: 20px; }
.act { min-height: 30px; padding: 3px 6px; border: 1px solid var(--attn-hairline); border-radius: 4px; }
.act:hover:not([aria-disabled='true']) { border-color: var(--attn-query); }
.act.main { min-width: 104px; border-color: var(--attn-query); color: var(--attn-query); font-weight: 600; }
.acts { display: flex; flex-wrap: wrap; gap: 4px; }
.kept-run { margin-top: 8px; }
.training progress { display: block; width: 100%; height: 3px; margin: 12px 0 6px; border: 0; border-radius: 0; background: var(--attn-hairline); appearance: none; }
.training progress::-webkit-progress-bar { background: var(--attn-hairline); }
.training progress::-webkit-progress-value { background: var(--attn-query); }
.training progress::-moz-progress-bar { background: var(--attn-query); }
.training .line > label { font-size: 13px; }
.speed { min-height: 18px; }
.training .curves { margin-top: 8px; }
.score { margin-top: 12px; min-height: 58px; }
.score b { min-width: 56px; font-weight: 600; }
.score .line > :first-child { min-width: 40px; }
.score.stale b { color: var(--attn-quiet); font-weight: 400; }
.none-held-out .score { display: none; }
.model-file { margin-top: 8px; }
.running attention-heatmap { --attn-motion: 0ms; }
[data-drop] { outline: 2px dashed var(--attn-query); outline-offset: 6px; border-radius: 4px; }
`;
