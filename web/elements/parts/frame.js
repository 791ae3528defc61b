/**
 * What stands around every figure: experiments, undo, redo, reset and exports above it, sentences about
 * it, and behind one fold the panels that the page around it did not ask for.
 *
 *   experiments ···································· undo redo reset export
 *   ┌ input ───────┐ ┌ center ─────────────────────┐ ┌ side ─────┐
 *   │ groups       │ │                             │ │           │
 *
 * From 700 px the groups stand open beside the center; below, where all is one column, they stand folded
 * within it, where a change is seen.
 */
import { named } from '../../i18n/index.js';
import { h, setAttribute } from '../dom.js';
import { controlGroup } from './control-group.js';
import { experiments } from './experiments.js';
import { exportMenu } from './export-menu.js';
import { fold } from './fold.js';
import { notices } from './notices.js';

/**
 * @typedef {import('./controls.js').Context} Context
 * @typedef {import('./controls.js').Model} Model
 *
 * @typedef {object} Surroundings what the playground gives a figure beside its context
 * @property {{ undo: () => void, redo: () => void, reset: () => void }} actions
 * @property {import('./export-menu.js').Exports} exports
 * @property {{ save: (names: 'own' | 'torch') => Promise<Uint8Array>,
 *   attempt: import('../training/panel.js').Models['attempt'],
 *   restore: import('../training/panel.js').Models['restore'] }} model of a lesson that trains
 * @property {string[] | null} wanted names of panels, null for all
 * @property {ReturnType<ReturnType<typeof notices>['all']>} [notes] that are to be said again
 *
 * @typedef {object} Figure what the playground knows of a figure
 * @property {HTMLElement} element
 * @property {ReturnType<typeof notices>} notices
 * @property {(model: Model, can: { undo: boolean, redo: boolean }) => void} updateInputs the state
 *   changed; its numbers are still to come
 * @property {(model: Model) => void} updateOutputs
 * @property {(on: boolean) => void} setBusy
 * @property {(width: number) => boolean} fit chooses what fits a width; true when outputs are to be drawn
 *   again
 * @property {() => void} refresh the scheme may have changed
 * @property {() => void} connect
 * @property {() => void} disconnect
 * @property {(format: 'png' | 'svg' | 'csv' | 'npy') => Promise<Blob>} picture of what is shown large
 */

/** From this width on, in CSS pixels, groups stand open beside the center. */
const ROOMY = 700;

/**
 * @param {Context} context
 * @param {Surroundings} surroundings
 */
export function frame(context, { actions, exports, wanted, notes }) {
  const { lesson, strings } = context;
  const words = strings.playground;

  const groups = lesson.groups.map((group) => ({ group, ...controlGroup(group, context) }));
  const tries = experiments(context);
  const said = notices(strings, notes);
  const menu = exportMenu(strings, exports);
  const busy = h('p', { class: 'busy quiet', role: 'status' });

  /** @param {string} name @param {() => void} act */
  const button = (name, act) => h('button', { type: 'button', class: 'link', onclick: act }, name);
  const undo = button(words.undo, actions.undo);
  const redo = button(words.redo, actions.redo);

  const shows = (/** @type {string} */ name) => wanted?.includes(name) ?? true;
  const rest = fold(words.more);
  rest.element.hidden = wanted === null;
  const place = (/** @type {string} */ name, /** @type {Element} */ element) => {
    if (shows(name)) return element;
    rest.element.lastElementChild?.append(element);
    return null;
  };

  const groupList = h('div', { class: 'groups' });
  /** @type {boolean | null} */
  let roomy = null;

  return {
    /** Whether a panel stands in the figure, not behind the fold. */
    shows,
    busy,
    menu,
    notices: said,
    /**
     * The figure's element. Each part of a column is a panel with a name, which goes behind the fold
     * where the page did not ask for it, or an element that always stands.
     * @param {Record<'input' | 'center' | 'side', ([name: string, panel: Element] | Element)[]>} columns
     */
    compose(columns) {
      const buttons = h(
        'div',
        { class: 'buttons' },
        undo,
        redo,
        button(words.reset, actions.reset),
        place('export', menu.element),
      );
      const top = h('div', { class: 'top' }, place('experiments', tries.element), buttons);
      const filled = Object.entries(columns).map(([name, parts]) => {
        const placed = parts.map((part) => (Array.isArray(part) ? place(...part) : part));
        return h('div', { class: name }, ...placed);
      });
      groupList.append(...groups.flatMap(({ group, element }) => place(group, element) ?? []));
      const [input, ...others] = filled;
      const standing = [input, groupList, ...others].filter(
        (column) => column.childElementCount > 0,
      );
      const layout = h('div', { class: 'layout' }, ...standing);
      layout.classList.toggle(
        'no-input',
        !standing.includes(input) && !standing.includes(groupList),
      );
      layout.classList.toggle('no-side', !standing.some(({ className }) => className === 'side'));
      return h(
        'div',
        {
          class: 'playground waiting',
          role: 'group',
          'aria-label': named(lesson.name, strings).name,
        },
        top,
        menu.byHand,
        said.element,
        layout,
        rest.element,
      );
    },
    /**
     * @param {Model} model
     * @param {{ undo: boolean, redo: boolean }} can
     */
    update(model, can) {
      // A disabled button would lose the focus.
      setAttribute(undo, 'aria-disabled', !can.undo);
      setAttribute(redo, 'aria-disabled', !can.redo);
      for (const part of [...groups, tries]) part.update(model);
    },
    /** @param {boolean} on */
    setBusy(on) {
      busy.textContent = on ? words.computing : '';
    },
    /** Whether the groups stand beside the center. */
    get roomy() {
      return roomy === true;
    },
    /**
     * Opens or folds the groups, and puts them where the width has room; true when that changed.
     * @param {number} width
     * @param {readonly string[]} open names of groups that start open where there is room
     * @param {Element} center the column beside which the groups stand
     * @param {Element} below the part of it before which they stand where all is one column
     */
    fit(width, open, center, below) {
      const now = width >= ROOMY;
      if (now === roomy) return false;
      roomy = now;
      for (const { group, element } of groups) element.open = now && open.includes(group);
      if (groupList.isConnected) (now ? center : below).before(groupList);
      return true;
    },
  };
}
