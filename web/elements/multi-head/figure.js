/**
 * The inside of a playground: every part of one figure in one language, and where each stands.
 *
 *   experiments ···································· undo redo reset export
 *   ┌ what goes in ┐ ┌ the stage ──────────────────┐ ┌ inspector ┐
 *   │ tokens       │ │ steps, the chosen one large │ │ one cell  │
 *   │ groups       │ │ heads                       │ │ tensors   │
 *
 * On a phone all is one column, and the groups stand folded right below the large map, where a change
 * is seen, also for the keyboard.
 *
 * A page that embeds the figure names the panels it wants; the others stay one click away.
 */

import { h, setAttribute } from '../dom.js';
import { controlGroup } from '../parts/control-group.js';
import { experiments } from '../parts/experiments.js';
import { exportMenu } from '../parts/export-menu.js';
import { fold } from '../parts/fold.js';
import { notices } from '../parts/notices.js';
import { heads } from './heads.js';
import { inspector } from './inspector.js';
import { pipeline } from './pipeline.js';
import { shapeTable } from './shape-table.js';
import { stage } from './stage.js';
import { tokensPanel } from './tokens-panel.js';
import { torchCode } from './torch-code.js';

/**
 * @typedef {import('../parts/controls.js').Context} Context
 * @typedef {import('../parts/controls.js').Model} Model
 * @typedef {import('../parts/token-editor.js').Pointed} Pointed
 * @typedef {{ row: number, column: number }} Cell
 *
 * @typedef {object} Actions
 * @property {() => void} undo
 * @property {() => void} redo
 * @property {() => void} reset
 */

/**
 * The names of the panels.
 * @param {import('../../lessons/index.js').Lesson} lesson
 */
export const panelsOf = ({ groups }) => [
  ...new Set(['experiments', 'tokens', ...groups, 'inspector', 'shapes', 'torch', 'export']),
];

/** From this width on, in CSS pixels, groups stand open beside the stage. */
const ROOMY = 700;
/** Between two steps, in CSS pixels. */
const GAP = 16;
/** Groups that start open where there is room. */
const open = ['variant', 'masks', 'heads'];

/**
 * @param {Context} context
 * @param {import('./painter.js').Painter} painter
 * @param {Actions} actions
 * @param {import('../parts/export-menu.js').Exports} exports
 * @param {string[] | null} wanted names of panels, null for all
 * @param {ReturnType<ReturnType<typeof notices>['all']>} [notes] that are to be said again
 */
export function figure(context, painter, actions, exports, wanted, notes) {
  const { lesson, strings } = context;
  const words = strings.playground;
  /** @type {Model | null} */
  let model = null;
  /** @type {Cell | null} */
  let looked = null;

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
    if (model) cellReader.update(model, looked);
  };

  const tokens = tokensPanel(context, point);
  const groups = lesson.groups
    .filter((group) => group !== 'tokens')
    .map((group) => ({ group, ...controlGroup(group, context) }));
  const steps = pipeline(context, painter);
  const large = stage(context, painter, { look, point });
  const multiples = heads(context, painter);
  const cellReader = inspector(context);
  const shapes = shapeTable(context);
  const tries = experiments(context);
  const said = notices(strings, notes);
  const menu = exportMenu(strings, exports);
  const torch = torchCode(context, menu.copyTorch);

  /** @param {string} name @param {() => void} act */
  const button = (name, act) => h('button', { type: 'button', class: 'link', onclick: act }, name);
  const undo = button(words.undo, actions.undo);
  const redo = button(words.redo, actions.redo);
  const busy = h('p', { class: 'busy quiet', role: 'status' });

  const shown = (/** @type {string} */ name) => wanted?.includes(name) ?? true;
  const rest = fold(words.more);
  const place = (/** @type {string} */ name, /** @type {Element} */ element) => {
    if (shown(name)) return element;
    rest.element.lastElementChild?.append(element);
    return null;
  };

  const buttons = h(
    'div',
    { class: 'buttons' },
    undo,
    redo,
    button(words.reset, actions.reset),
    place('export', menu.element),
  );
  const top = h('div', { class: 'top' }, place('experiments', tries.element), buttons);
  const input = h('div', { class: 'input' }, place('tokens', tokens.element));
  const groupList = h(
    'div',
    { class: 'groups' },
    ...groups
      .map(({ group, element }) => place(group, element))
      .filter((element) => element !== null),
  );
  const center = h(
    'div',
    { class: 'center' },
    steps.element,
    large.element,
    busy,
    multiples.element,
  );
  const side = h(
    'div',
    { class: 'side' },
    ...[
      place('inspector', cellReader.element),
      place('shapes', shapes.element),
      place('torch', torch.element),
    ].filter((element) => element !== null),
  );
  const columns = [input, groupList, center, side].filter((column) => column.childElementCount > 0);
  const layout = h('div', { class: 'layout' }, ...columns);
  layout.classList.toggle('no-input', !columns.includes(input) && !columns.includes(groupList));
  layout.classList.toggle('no-side', !columns.includes(side));
  rest.element.hidden = wanted === null;

  const element = h(
    'div',
    { class: 'playground waiting', role: 'group', 'aria-label': words.name },
    top,
    menu.byHand,
    said.element,
    layout,
    rest.element,
  );

  element.classList.toggle('inspected', shown('inspector'));
  let roomy = /** @type {boolean | null} */ (null);
  const inputs = [tokens, ...groups, tries];
  const outputs = [steps, large, multiples, shapes, torch];

  return {
    element,
    heatmap: large.heatmap,
    arcs: large.arcs,
    notices: said,
    /**
     * The state changed; its numbers are still to come.
     * @param {Model} next
     * @param {{ undo: boolean, redo: boolean }} can
     */
    updateInputs(next, can) {
      model = next;
      element.classList.toggle('cross', next.state.cross);
      // A disabled button would lose the focus.
      setAttribute(undo, 'aria-disabled', !can.undo);
      setAttribute(redo, 'aria-disabled', !can.redo);
      for (const part of inputs) part.update(next);
    },
    /** @param {Model} next */
    updateOutputs(next) {
      model = next;
      if (!next.result) return;
      element.classList.remove('waiting');
      const { Tq, Tk } = lesson.sizes(next.result.state);
      center.style.setProperty('--rows', String(Tq));
      center.style.setProperty('--columns', String(Tk));
      for (const part of outputs) part.update(next);
      cellReader.update(next, looked);
    },
    /** @param {boolean} on */
    setBusy(on) {
      busy.textContent = on ? words.computing : '';
    },
    /**
     * Chooses what fits a width; true when small maps changed their size.
     * @param {number} width
     */
    fit(width) {
      const now = width >= ROOMY;
      if (now !== roomy) {
        roomy = now;
        for (const { group, element: group_ } of groups) group_.open = now && open.includes(group);
        if (columns.includes(groupList)) {
          if (now) center.before(groupList);
          else multiples.element.before(groupList);
        }
        shapes.element.open = now;
      }
      const room = center.clientWidth;
      const across = room < 200 ? 2 : room < 480 ? 3 : 6;
      const size = Math.min(104, Math.floor((room + GAP) / across) - GAP);
      center.dataset.across = String(across);
      center.style.setProperty('--mini', `${size}px`);
      if (size === painter.size) return false;
      painter.size = size;
      return true;
    },
  };
}
