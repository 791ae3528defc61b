/** How the kernel regression figure looks: rules of the playground's sheet. */
export const regressionRules = `
.plot { position: relative; touch-action: pan-y; user-select: none; }
.plot canvas { display: block; }
.plot.near { cursor: grab; }
.plot.near:active { cursor: grabbing; }
.handle { position: absolute; width: 28px; height: 28px; margin: -14px 0 0 -14px; border-radius: 50%; touch-action: none; }
.plot > .handle { cursor: ew-resize; border-radius: 4px; }
.plot + .acts { margin-top: 8px; }
.learning { margin-top: 16px; }
.learning .acts { margin: 8px 0; }
@media print { .plot + .acts + .note { display: none; } }
.inspector > .formula div { margin-top: 10px; }
.terms .lit { color: var(--attn-query); }
.terms .lit i.bar::before { background: var(--attn-query); }
`;
