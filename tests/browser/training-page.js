/**
 * A page with a lesson in which a model learns to translate, so small that it trains within a test, and
 * the readings of it that its tests share.
 */
import assert from 'node:assert/strict';
import { createEngine } from '../../wasm/attention.js';
import { createEvaluator } from '../../wasm/evaluate.js';
import { lessons } from '../../web/lessons/index.js';
import { encodeState } from '../../web/lessons/state.js';
import { openFigure, script } from './page-figure.js';

/** Twelve pairs; two of them are held out. */
const colours = { red: 'rouge', green: 'vert', black: 'noir' };
const things = { hat: 'chapeau', bike: 'vélo', bird: 'oiseau', scarf: 'foulard' };
export const own = Object.entries(colours)
  .flatMap(([colour, couleur]) =>
    Object.entries(things).map(
      ([thing, chose]) => `the ${colour} ${thing} .\tle ${chose} ${couleur} .`,
    ),
  )
  .join('\n');

/** What makes a model small. @type {Record<string, object>} */
const small = {
  transformer: { hiddens: 8, heads: 2, layers: 1, feedForward: 8 },
  bahdanau: { hiddens: 8, embedding: 8, layers: 1 },
};
const plan = { corpus: 'own', own, batchSize: 4, epochs: 10, learningRate: 0.01 };

/**
 * @param {object} values of the state, beside the small model
 * @param {'transformer' | 'bahdanau'} lesson
 */
function stateOf(values, lesson) {
  const { defaults, reduce } = lessons[lesson];
  return reduce(defaults, { type: 'load', values: { ...small[lesson], ...plan, ...values } });
}

/**
 * @param {object} values of the state, beside the small model
 * @param {'transformer' | 'bahdanau'} [lesson]
 */
export function linkTo(values, lesson = 'transformer') {
  return encodeState(lessons[lesson].table, stateOf(values, lesson));
}

/**
 * @param {object} values of the state, beside the small model
 * @param {'transformer' | 'bahdanau'} lesson
 * @returns {Promise<Uint8Array>} what the figure would save
 */
export async function savedModel(values, lesson) {
  const evaluate = createEvaluator(await createEngine());
  const { saved } = await evaluate({
    ...lessons[lesson].request(stateOf(values, lesson)),
    save: 'own',
  });
  return /** @type {Uint8Array} */ (saved);
}

/**
 * @param {import('./harness.js').Browser} browser
 * @param {object} [values] of the state, beside the small model
 * @param {{ lesson?: 'transformer' | 'bahdanau', arrived?: boolean } & Parameters<typeof openFigure>[2]}
 *   [options] `arrived` is false for a figure that is looked at on its way to the step
 */
export async function openTraining(browser, values = {}, options = {}) {
  const { lesson = 'transformer', arrived = true, ...more } = options;
  const link = await linkTo(values, lesson);
  const figure = await openFigure(
    browser,
    `${script}<h1>Test</h1><attention-playground lesson="${lesson}" state="${link}"></attention-playground>`,
    more,
  );
  if (arrived) {
    await figure.until((root) =>
      root.querySelector('.score b:not(:empty), .training .error:not([hidden])'),
    );
  }
  return Object.assign(figure, {
    /** How far the training is, of how many steps. */
    progress: () =>
      figure.inside((root) => {
        const { value, max } = /** @type {HTMLProgressElement} */ (root.querySelector('progress'));
        return { step: value, steps: max };
      }),
    /** The button that trains, pauses and resumes, in its words. */
    main: () => figure.inside((root) => root.querySelector('.act.main')?.textContent),
    /** @param {string} name one of the buttons of the panel */
    act: async (name) => {
      const pressed = await figure.inside((root, name) => {
        const button = [...root.querySelectorAll('.act')].find((act) => act.textContent === name);
        /** @type {HTMLElement | undefined} */ (button)?.click();
        return Boolean(button);
      }, name);
      assert.ok(pressed, `there is no button ${name}`);
    },
    /** Until numbers stand still at a step, and the pairs held out are judged. @param {number} step */
    at: (step) =>
      figure.until(
        (root, step) =>
          root.querySelector('progress')?.value === step &&
          root.querySelector('.act.main')?.textContent !== 'Pause' &&
          !root.querySelector('.score.stale'),
        step,
      ),
    /** The words of the pairs held out: their numbers, and how those changed. */
    score: () =>
      figure.inside((root) =>
        [...root.querySelectorAll('.score .figures .line')].map((line) =>
          [...line.children].map((part) => part.textContent ?? ''),
        ),
      ),
  });
}
