/**
 * The multi-head lesson's figure: every part of it in one language, and where each stands.
 *
 *   ┌ what goes in ┐ ┌ the stage ──────────────────┐ ┌ inspector ┐
 *   │ tokens       │ │ steps, the chosen one large │ │ one cell  │
 *   │ groups       │ │ heads                       │ │ tensors   │
 */
import { frame } from '../parts/frame.js';
import { shapeTable } from '../parts/shape-table.js';
import { torchCode } from '../parts/torch-code.js';
import { heads } from './heads.js';
import { inspector } from './inspector.js';
import { Painter } from './painter.js';
import { pipeline } from './pipeline.js';
import { stage } from './stage.js';
import { tokensPanel } from './tokens-panel.js';

/**
 * @typedef {import('../parts/controls.js').Context<import('../../lessons/index.js').MultiHead>} Context
 * @typedef {import('../parts/controls.js').Model<import('../../lessons/multi-head-view.js').Result>} Model
 * @typedef {import('./token-editor.js').Pointed} Pointed
 * @typedef {{ row: number, column: number }} Cell
 */

/** Between two steps, in CSS pixels. */
const GAP = 16;
/** Groups that start open where there is room. */
const open = ['variant', 'masks', 'heads'];

/**
 * @param {Context} context
 * @param {import('../parts/frame.js').Surroundings} surroundings
 * @returns {import('../parts/frame.js').Figure}
 */
export function multiHeadFigure(context, surroundings) {
  const { lesson, host } = context;
  const painter = new Painter(host, lesson);
  const around = frame(context, surroundings);
  /** What the maps show: the present state may be ahead of it. @type {Model | null} */
  let drawn = null;
  /** @type {Cell | null} */
  let looked = null;
  /** Whether the figure stood without numbers: one that is made anew in another language has them at once. */
  let stoodEmpty = false;

  /** @param {Pointed} pointed */
  const point = (pointed) => {
    const { style } = center;
    style.setProperty('--row', String(pointed.query ?? -1));
    style.setProperty('--column', String(pointed.key ?? -1));
    center.classList.toggle('pointing-query', (pointed.query ?? null) !== null);
    center.classList.toggle('pointing-key', (pointed.key ?? null) !== null);
    large.light(pointed);
  };
  /** @param {Cell | null} cell */
  const look = (cell) => {
    looked = cell;
    if (drawn) cellReader.update(drawn, looked);
  };

  const tokens = tokensPanel(context, point);
  const steps = pipeline(context, painter);
  const large = stage(context, painter, { look, point });
  const multiples = heads(context, painter);
  const cellReader = inspector(context);
  const shapes = shapeTable(context);
  const torch = torchCode(context, around.menu.copyTorch);
  const { heatmap, arcs } = large;

  const element = around.compose({
    input: [['tokens', tokens.element]],
    center: [steps.element, large.element, around.busy, multiples.element],
    side: [
      ['inspector', cellReader.element],
      ['shapes', shapes.element],
      ['torch', torch.element],
    ],
  });
  const center = /** @type {HTMLElement} */ (large.element.parentElement);
  element.classList.toggle('inspected', around.shows('inspector'));
  const maps = [steps, large, multiples];
  const beside = () => {
    if (!drawn) return;
    shapes.update(drawn);
    torch.update(drawn);
    cellReader.update(drawn, looked);
  };

  return {
    element,
    notices: around.notices,
    setBusy: around.setBusy,
    updateInputs(next, can) {
      stoodEmpty ||= !next.result;
      element.classList.toggle('cross', next.state.cross);
      around.update(next, can);
      tokens.update(next);
    },
    updateOutputs(next) {
      if (!next.result) return;
      drawn = next;
      element.classList.remove('waiting');
      const { Tq, Tk } = lesson.sizes(next.result.state);
      center.style.setProperty('--rows', String(Tq));
      center.style.setProperty('--columns', String(Tk));
      for (const part of maps) part.update(next);
      if (stoodEmpty)
        requestAnimationFrame(() => setTimeout(beside)); // the maps are seen a frame sooner
      else beside();
      stoodEmpty = false;
    },
    fit(width) {
      if (around.fit(width, open, center, multiples.element)) {
        shapes.element.open = around.roomy;
      }
      const room = center.clientWidth;
      painter.look();
      const across = room < 200 ? 2 : room < 480 ? 3 : 6;
      const size = Math.min(104, Math.floor((room + GAP) / across) - GAP);
      center.dataset.across = String(across);
      center.style.setProperty('--mini', `${size}px`);
      if (size === painter.size) return false;
      painter.size = size;
      return true;
    },
    refresh: () => painter.refresh(),
    connect: () => arcs.connect(),
    disconnect: () => arcs.disconnect(),
    picture(format) {
      if (heatmap.hidden && (format === 'png' || format === 'svg')) return arcs.exportAs(format);
      return heatmap.exportAs(format);
    },
  };
}
