/**
 * The kernel regression lesson's figure: every part of it in one language, and where each stands.
 *
 *   ┌ what goes in ┐ ┌ points and curve ───────────┐ ┌ the query ┐
 *   │ kernel       │ │ learning the width          │ │ its sum   │
 *   │ groups       │ │ the weights of all queries  │ │ tensors   │
 */
import { frame } from '../parts/frame.js';
import { shapeTable } from '../parts/shape-table.js';
import { torchCode } from '../parts/torch-code.js';
import { inspector } from './inspector.js';
import { PlotView } from './plot.js';
import { trainingPanel } from './training.js';
import { weightsMap } from './weights-map.js';

/**
 * @typedef {import('../parts/controls.js').Model<
 *   import('../../lessons/kernel-regression-view.js').Result>} Model
 * @typedef {import('./plot.js').Looked} Looked
 */

/**
 * @param {import('./plot.js').Context} context
 * @param {import('../parts/frame.js').Surroundings} surroundings
 * @returns {import('../parts/frame.js').Figure}
 */
export function regressionFigure(context, surroundings) {
  const around = frame(context, surroundings);
  /** @type {Model | null} */
  let model = null;
  /** @type {Looked} */
  let looked = { query: null, place: null };

  /** @param {Partial<Looked>} more */
  const look = (more) => {
    const next = { ...looked, ...more };
    if (next.query === looked.query && next.place === looked.place) return;
    const other = next.query !== looked.query;
    looked = next;
    if (!model?.result) return;
    plot.light(looked);
    map.light(looked.place);
    if (other) query.show(model.result, looked.query ?? model.result.state.query);
    query.light(looked.place);
  };

  const plot = new PlotView(context, look);
  const training = trainingPanel(context);
  const map = weightsMap(context, look);
  const query = inspector(context, look);
  const shapes = shapeTable(context);
  const torch = torchCode(context, around.menu.copyTorch);
  const element = around.compose({
    input: [],
    center: [plot.element, around.busy, training.element, ['map', map.element]],
    side: [
      ['inspector', query.element],
      ['shapes', shapes.element],
      ['torch', torch.element],
    ],
  });
  element.classList.toggle('inspected', around.shows('inspector'));
  const column = /** @type {Element} */ (plot.element.parentElement);

  return {
    element,
    notices: around.notices,
    setBusy: around.setBusy,
    updateInputs(next, can) {
      model = next;
      around.update(next, can);
      training.update(next);
    },
    updateOutputs(next) {
      model = next;
      const { result } = next;
      if (!result) return;
      element.classList.remove('waiting');
      const places = result.state.points.length;
      if (Number(looked.place) >= places) looked = { ...looked, place: null };
      plot.update(next);
      training.show(result);
      map.show(result);
      map.light(looked.place);
      query.show(result, looked.query ?? result.state.query);
      query.light(looked.place);
      shapes.update(next);
      torch.update(next);
    },
    fit(width) {
      if (around.fit(width, context.lesson.groups, column, around.busy)) {
        shapes.element.open = around.roomy;
      }
      return false;
    },
    refresh() {},
    connect() {
      plot.connect();
      training.connect();
    },
    disconnect() {
      plot.disconnect();
      training.disconnect();
    },
    picture(format) {
      if (format === 'png' || format === 'svg') return plot.picture(format);
      return map.heatmap.exportAs(format);
    },
  };
}
