/**
 * The lessons, by the name that `<attention-playground lesson="…">` gives.
 *
 * A lesson is data and pure functions: a state table, what intents do to a state, the request for
 * the core, the controls, and what is drawn. The elements know lessons only through this shape.
 */
import * as multiHead from './multi-head.js';
import * as multiHeadControls from './multi-head-controls.js';
import * as multiHeadTensors from './multi-head-tensors.js';
import * as multiHeadView from './multi-head-view.js';
import * as pytorch from './pytorch.js';

/**
 * @typedef {import('./state.js').State} State
 *
 * @typedef {object} Control how a field is shown
 * @property {'radios' | 'select' | 'check' | 'slider' | 'cells' | 'readout' | 'seed'} as
 * @property {string} name of the field and of its words
 * @property {(state: State) => (string | number)[]} [choices] where they are not the field's own
 * @property {(state: State) => any} [read] what it shows, if not the field
 * @property {(value: any) => State} [write] what it sets, if not the field
 * @property {(state: State) => number} [max] where the limit depends on the state
 * @property {number} [step] of a slider
 * @property {number[]} [stops] the values of a slider that is not even
 * @property {string} [word] the value of a slider that is switched off
 * @property {(state: State) => number} [start] the value it has when switched on first
 * @property {(state: State) => Record<string, string | number>} [values] fills its note
 * @property {(state: State) => boolean} [when] shown only then
 *
 * @typedef {{ name: string, values: State, chinese?: State }} Experiment
 *
 * @typedef {typeof multiHead & typeof multiHeadTensors & typeof multiHeadControls &
 *   typeof multiHeadView & typeof pytorch} Lesson
 */

/** @type {Record<string, Lesson>} */
export const lessons = {
  [multiHead.name]: {
    ...multiHead,
    ...multiHeadTensors,
    ...multiHeadControls,
    ...multiHeadView,
    ...pytorch,
  },
};
