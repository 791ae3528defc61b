/**
 * The lessons, by the name that `<attention-playground lesson="…">` gives.
 *
 * A lesson is data and pure functions: a state table, what intents do to a state, the request for
 * the core, the controls, and what is drawn. The playground and the parts that all figures share know
 * lessons only through this shape; each kind of figure also knows what its own lessons add.
 */
import { bahdanau } from './bahdanau.js';
import * as kernelRegression from './kernel-regression.js';
import * as kernelRegressionControls from './kernel-regression-controls.js';
import * as kernelRegressionPytorch from './kernel-regression-pytorch.js';
import * as kernelRegressionView from './kernel-regression-view.js';
import * as multiHead from './multi-head.js';
import * as multiHeadControls from './multi-head-controls.js';
import * as multiHeadTensors from './multi-head-tensors.js';
import * as multiHeadView from './multi-head-view.js';
import * as pytorch from './pytorch.js';
import { transformer } from './transformer.js';
import { translationControls } from './translation-controls.js';
import * as translationPytorch from './translation-pytorch.js';
import * as translationView from './translation-view.js';

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
 * @property {(state: State) => string} [words] the name of its words, if not the field's
 * @property {(state: State, result: any) => Record<string, string | number>} [values] fills its note, beside
 *   its limits; the result may be of an older state, or null
 * @property {(result: any) => Record<string, string | number>} [results] fills a readout
 * @property {(state: State, on: boolean) => State} [draw] what drawing cells by hand sets
 * @property {(state: State) => boolean} [when] shown only then
 *
 * @typedef {{ name: string, values: State, chinese?: State }} Experiment
 *
 * @typedef {{ type: 'set' | 'load', values: State }} CommonIntent set: these fields; load: these, and
 *   the defaults of all others
 *
 * @typedef {object} Lesson
 * @property {string} name
 * @property {import('./state.js').Table} table
 * @property {State} defaults
 * @property {readonly string[]} groups of controls, in reading order
 * @property {readonly string[]} panels that a page can ask for by name
 * @property {Record<string, Control[]>} controls by group
 * @property {(group: string, state: State, strings: import('../i18n/index.js').Strings) => string[]} summary
 *   of a folded group
 * @property {Experiment[]} experiments
 * @property {(experiment: Experiment, chinese: boolean) => State} experimentValues differences from the
 *   defaults
 * @property {(state: State) => State} settle makes fields fit each other
 * @property {(state: State) => string[]} misfits fields of a state from elsewhere that do not fit
 * @property {(state: State, intent: any) => State} reduce
 * @property {(option: string) => string | null} fieldOf the field that answers for an option of the core
 * @property {(state: State) => import('../../wasm/evaluate.js').Request} request
 * @property {(state: State, failure: { code?: string, message: string, option?: string }) => boolean} [leaveAside]
 *   goes on without what caused a failure; whether it could: the same state is then asked for once more
 * @property {(state: State) => { key: string, steps: number, perEpoch: number }} [plan] of a lesson that
 *   trains: what names the run, the steps until its end. Such a lesson has the field `step`, and `running`
 *   where training goes on by itself
 * @property {(state: State) => string[] | 'all'} everything names of the tensors that a file of all numbers holds
 * @property {(state: State, result: any) => string} toPyTorch a script that gives the same numbers
 *
 * @typedef {Lesson & typeof kernelRegression & typeof kernelRegressionControls &
 *   typeof kernelRegressionView & typeof kernelRegressionPytorch} KernelRegression
 *
 * @typedef {Lesson & typeof multiHead & typeof multiHeadTensors & typeof multiHeadControls &
 *   typeof multiHeadView & typeof pytorch} MultiHead
 *
 * @typedef {Lesson & ReturnType<typeof import('./translation.js').translationLesson> &
 *   typeof translationView & typeof translationPytorch} Translation
 */

/** @type {KernelRegression} */
const theKernelRegression = {
  ...kernelRegression,
  ...kernelRegressionControls,
  ...kernelRegressionView,
  ...kernelRegressionPytorch,
};

/** @type {MultiHead} */
const theMultiHead = {
  ...multiHead,
  ...multiHeadTensors,
  ...multiHeadControls,
  ...multiHeadView,
  ...pytorch,
};

/** @type {Translation[]} */
const translations = [
  { ...bahdanau, ...translationControls('bahdanau'), ...translationView, ...translationPytorch },
  {
    ...transformer,
    ...translationControls('transformer'),
    ...translationView,
    ...translationPytorch,
  },
];

/** @type {Record<string, Lesson>} */
export const lessons = Object.fromEntries(
  [theKernelRegression, theMultiHead, ...translations].map((lesson) => [lesson.name, lesson]),
);

/** The lesson of a figure or a page that names none. */
export const defaultLesson = theMultiHead.name;
