/**
 * The figure of the lessons in which models translate: every part of it in one language, and where
 * each stands.
 *
 *   ┌ what goes in ┐ ┌ the stage ──────────────────┐ ┌ training ─┐
 *   │ sentence     │ │ all weights, one map large  │ │ curves    │
 *   │ corpus       │ │ decoding                    │ │ inspector │
 *   │ groups       │ │                             │ │           │
 *
 * Where there is no room for three columns the training stands below the stage.
 */
import { bringFile } from '../../lessons/translation.js';
import { frame } from '../parts/frame.js';
import { shapeTable } from '../parts/shape-table.js';
import { torchCode } from '../parts/torch-code.js';
import { trainingPanel } from '../training/panel.js';
import { corpusPanel } from './corpus-panel.js';
import { decoding } from './decoding.js';
import { cellInspector } from './inspector.js';
import { kinds } from './kinds.js';
import { large } from './large.js';
import { Pictures } from './pictures.js';
import { sentencePanel } from './sentence-panel.js';

/**
 * @typedef {import('./views.js').Model} Model
 * @typedef {{ row: number, column: number }} Cell
 */

/** From this width on, in CSS pixels, the training has a column of its own. */
const WIDE = 1100;
/** Groups that start open where there is room. */
const open = ['model', 'training'];

/**
 * @param {import('./views.js').Context} context
 * @param {import('../parts/frame.js').Surroundings} surroundings
 * @returns {import('../parts/frame.js').Figure}
 */
export function translationFigure(context, surroundings) {
  const { host, lesson } = context;
  const pictures = new Pictures(host, lesson);
  const around = frame(context, surroundings);
  /** @type {Model | null} */
  let model = null;
  /** @type {Cell | null} */
  let looked = null;

  const sentence = sentencePanel(context);
  const corpus = corpusPanel(context);
  const maps = kinds(context, pictures);
  const map = large(context, pictures, (cell) => {
    looked = cell;
    if (model) cellReader.update(model, looked);
  });
  const { save, attempt, restore } = surroundings.model;
  const training = trainingPanel(context, {
    // A recurrent model's own names are PyTorch's already.
    save: () => save(lesson.name === 'transformer' ? 'torch' : 'own'),
    bring: bringFile,
    attempt,
    restore,
  });
  const written = decoding(context, pictures);
  const cellReader = cellInspector(context);
  const shapes = shapeTable(context);
  shapes.element.addEventListener('toggle', () => model && shapes.update(model));
  const torch = torchCode(context, around.menu.copyTorch);

  const element = around.compose({
    input: [
      ['sentence', sentence.element],
      ['corpus', corpus.element],
    ],
    center: [
      maps.element,
      map.element,
      ['run', training.element],
      ['translation', written.element],
      around.busy,
    ],
    side: [
      ['inspector', cellReader.element],
      ['shapes', shapes.element],
      ['torch', torch.element],
    ],
  });
  const center = /** @type {HTMLElement} */ (map.element.parentElement);
  const side = /** @type {HTMLElement | null} */ (element.querySelector('.side'));
  element.classList.toggle('inspected', around.shows('inspector'));
  let wide = false;

  return {
    element,
    notices: around.notices,
    setBusy: around.setBusy,
    updateInputs(next, can) {
      model = next;
      element.classList.toggle('running', next.state.running);
      element.classList.toggle('none-held-out', !lesson.data(next.state).unseen);
      around.update(next, can);
      for (const part of [sentence, corpus, training]) part.update(next);
    },
    updateOutputs(next) {
      model = next;
      const { state, result } = next;
      if (!result) return;
      element.classList.remove('waiting');
      for (const part of [maps, map, written, torch]) part.update({ ...next, result });
      if (shapes.element.open) shapes.update(next);
      const row = state.token === 'all' ? null : Math.max(0, written.written - 1);
      const block = lesson.blocksOf(result).find(({ tensor }) => tensor === state.show);
      map.light(block?.kind === 'encoder' ? null : row);
      cellReader.update(next, looked);
    },
    fit(width) {
      around.fit(width, open, center, around.busy);
      if (width >= WIDE !== wide && side && around.shows('run')) {
        wide = width >= WIDE;
        if (wide) side.prepend(training.element);
        else map.element.after(training.element);
      }
      return maps.fit(center.clientWidth);
    },
    refresh: () => pictures.refresh(),
    connect: () => training.connect(),
    disconnect: () => training.disconnect(),
    picture: (format) => map.heatmap.exportAs(format),
  };
}
