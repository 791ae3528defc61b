/**
 * The figure of each lesson, by its name: made anew for a language and for the panels a page wants.
 */
import { multiHeadFigure } from './multi-head/figure.js';
import { regressionFigure } from './regression/figure.js';
import { translationFigure } from './translation/figure.js';

/** @type {Record<string, (context: import('./parts/controls.js').Context<any>, surroundings:
 *   import('./parts/frame.js').Surroundings) => import('./parts/frame.js').Figure>} */
export const figures = {
  'kernel-regression': regressionFigure,
  'multi-head': multiHeadFigure,
  bahdanau: translationFigure,
  transformer: translationFigure,
};
