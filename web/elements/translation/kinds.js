/**
 * Every attention of the model at once: the kinds side by side, each with its tokens at one layer and
 * head, and below it all layers × heads as small maps, the mean first, all on one scale. A click shows
 * one large; the box below a head silences it.
 */
import { fill } from '../../draw/format.js';
import { h, setAttribute, setText } from '../dom.js';
import { MiniMap } from '../heatmap/mini-map.js';
import { LabelledMap } from './labelled-map.js';
import {
  headWords,
  isSilenced,
  kindWords,
  MEAN,
  shownHead,
  shownHeads,
  tileWords,
} from './views.js';

/**
 * @typedef {import('./views.js').Block} Block
 * @typedef {import('./views.js').Context} Context
 * @typedef {import('./views.js').Result} Result
 * @typedef {import('../../lessons/state.js').State} State
 * @typedef {import('./pictures.js').Pictures} Pictures
 *
 * @typedef {object} Shown what all parts show
 * @property {State} state
 * @property {Result} result
 * @property {number} layer whose tokens are written
 * @property {{ large: number, tile: number }} sizes in CSS pixels
 */

/** A map under its tokens leaves so much room for them. */
const LABELS = 62;
const GAP = 20;

/**
 * @param {Context} context
 * @param {Pictures} pictures
 */
export function kinds(context, pictures) {
  const { lesson, strings } = context;
  const element = h('div', {
    class: 'kinds',
    role: 'group',
    'aria-label': strings.translation.weights,
  });
  const columns = many(element, () => kind(context, pictures));
  let sizes = { large: 0, tile: 0 };
  let room = 0;
  /** Kinds, and the most maps in a line. */
  let counts = [3, 5];

  /** @returns {boolean} whether maps are to be painted again */
  function measure() {
    const [groups, maps] = counts;
    const across = room < 420 ? 1 : groups;
    const wide = (room - GAP * (across - 1)) / across;
    // In one column the map that is shown large is near enough.
    const large = across === 1 && groups > 1 ? 0 : Math.floor(Math.min(wide - LABELS, 200));
    const tile = Math.max(20, Math.floor(Math.min(48, (wide + 6) / Math.min(maps, 5) - 6)));
    element.style.setProperty('--across', String(across));
    if (large === sizes.large && tile === sizes.tile) return false;
    sizes = { large, tile };
    return true;
  }

  return {
    element,
    /** @param {number} width */
    fit(width) {
      room = width;
      return measure();
    },
    /** @param {{ state: State, result: Result }} model */
    update({ state, result }) {
      const blocks = lesson.blocksOf(result);
      const names = [...new Set(blocks.map(({ kind }) => kind))];
      const groups = names.map((kind) => blocks.filter((block) => block.kind === kind));
      element.hidden = blocks.length < 2;
      counts = [groups.length, Math.max(...blocks.map((block) => shownHeads(block).length))];
      measure();
      const last = Math.max(...blocks.map(({ layer }) => layer));
      const layer = blocks.find(({ tensor }) => tensor === state.show)?.layer ?? last;
      columns(groups, { state, result, layer, sizes });
    },
  };
}

/** @param {Context} context @param {Pictures} pictures */
function kind(context, pictures) {
  const { lesson, strings } = context;
  const words = strings.translation;
  const title = h('p', { class: 'title' });
  const layers = h('div');
  const rows = many(layers, () => layer(context, pictures));
  /** @type {Block} */
  let block;
  /** @type {State} */
  let state;
  const enlarge = h('button', {
    type: 'button',
    class: 'enlarge',
    onclick: () => showLarge(context, block, shownHead(block, state)),
  });
  const map = new LabelledMap(enlarge);
  return {
    element: h('section', { class: 'kind' }, title, map.element, layers),
    /** @param {Block[]} blocks @param {Shown} shown */
    update(blocks, shown) {
      const { result, sizes } = shown;
      state = shown.state;
      block = blocks[Math.min(shown.layer, blocks.length - 1)];
      const head = shownHead(block, state);
      setText(title, kindWords(words, block));
      setAttribute(title, 'title', words.kindHelp[block.kind]);
      setAttribute(enlarge, 'aria-label', tileWords(words, block, head));
      map.element.hidden = sizes.large === 0;
      setAttribute(enlarge, 'aria-pressed', String(block.tensor === state.show));
      const picture = pictures.of(result, block.tensor, head);
      if (picture && sizes.large > 0)
        map.paint(
          picture,
          labelsAlong(lesson, result, picture.matrix),
          sizes.large,
          pictures.theme,
        );
      rows(blocks, shown);
    },
  };
}

/** @param {Context} context @param {Pictures} pictures */
function layer(context, pictures) {
  const { strings } = context;
  const name = h('p', { class: 'quiet' });
  const list = h('ol', { class: 'tiles' });
  const tiles = many(list, () => tile(context, pictures));
  return {
    element: h('div', { class: 'layer' }, name, list),
    /** @param {Block} block @param {Shown} shown */
    update(block, shown) {
      setText(name, fill(strings.translation.layer, { layer: block.layer + 1 }));
      tiles(shownHeads(block), { ...shown, block });
    },
  };
}

/** @param {Context} context @param {Pictures} pictures */
function tile(context, pictures) {
  const { strings, dispatch } = context;
  const words = strings.translation;
  const map = new MiniMap();
  /** @type {Block} */
  let block;
  let head = MEAN;
  const button = h(
    'button',
    { type: 'button', class: 'tile', onclick: () => showLarge(context, block, head) },
    map.element,
  );
  const box = h('input', {
    type: 'checkbox',
    onchange: () => dispatch({ type: 'silence', block: block.block, head, off: !box.checked }),
  });
  const element = h('li', null, button, box);
  return {
    element,
    /** @param {number} at @param {Shown & { block: Block }} shown */
    update(at, { state, result, sizes, block: of }) {
      block = of;
      head = at;
      const name = tileWords(words, block, head);
      setAttribute(button, 'aria-label', name);
      setAttribute(button, 'title', headWords(words, head));
      const pressed = block.tensor === state.show && head === shownHead(block, state);
      setAttribute(button, 'aria-pressed', String(pressed));
      const off = isSilenced(state, block, head);
      element.classList.toggle('silenced', off);
      box.hidden = head === MEAN;
      box.checked = !off;
      setAttribute(box, 'aria-label', fill(words.silence, { tile: name }));
      setAttribute(box, 'title', fill(words.silence, { tile: headWords(words, head) }));
      const picture = pictures.of(result, block.tensor, head);
      if (picture) map.paint(picture, sizes.tile, pictures.theme);
    },
  };
}

/** @param {Context} context @param {Block} block @param {number} head */
function showLarge({ dispatch }, { tensor }, head) {
  dispatch({ type: 'set', values: { show: tensor, head, cell: null } });
}

/**
 * @param {import('./views.js').Lesson} lesson
 * @param {Result} result
 * @param {import('./views.js').Matrix} matrix
 */
export function labelsAlong(lesson, result, { tensor, rowAxis, columnAxis, rows, columns }) {
  return {
    rows: lesson.labelsOf(result, rowAxis, tensor, rows),
    columns: lesson.labelsOf(result, columnAxis, tensor, columns),
  };
}

/**
 * As many parts within a parent as there are items, each updated in place.
 * @template Item, Shown
 * @param {Element} parent
 * @param {() => { element: Element, update: (item: Item, shown: Shown) => void }} make
 * @returns {(items: readonly Item[], shown: Shown) => void}
 */
function many(parent, make) {
  /** @type {ReturnType<typeof make>[]} */
  const parts = [];
  return (items, shown) => {
    while (parts.length > items.length) parts.pop()?.element.remove();
    while (parts.length < items.length) {
      const part = make();
      parts.push(part);
      parent.append(part.element);
    }
    for (const [at, part] of parts.entries()) part.update(items[at], shown);
  };
}
