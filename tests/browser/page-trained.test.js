/**
 * A link names a trained model: opened anywhere it trains to the same bits, in both browsers and under
 * Node, in a worker and on the page's own thread.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../wasm/attention.js';
import { createEvaluator } from '../../wasm/evaluate.js';
import { lessons } from '../../web/lessons/index.js';
import { encodeState } from '../../web/lessons/state.js';
import { eachBrowser } from './harness.js';
import { openFigure } from './page-figure.js';

const evaluate = createEvaluator(await createEngine());
const small = { hiddens: 16, layers: 1, batchSize: 128, epochs: 3, step: 9, head: 0 };

/** Each with the tensor whose numbers the figure shows large. @type {Record<string, any>} */
const cases = {
  transformer: { ...small, heads: 2, feedForward: 16, show: 'decoder.0.cross_attention.weights' },
  bahdanau: { ...small, embedding: 8, show: 'decoder.attention.weights' },
};

/** @param {string} name */
async function underNode(name) {
  const lesson = lessons[name];
  const state = lesson.reduce(lesson.defaults, { type: 'load', values: cases[name] });
  const { step, values } = await evaluate(lesson.request(state));
  const { shape, data } = values[state.show];
  const [rows, columns] = shape.slice(-2);
  assert.equal(step, small.step);
  return {
    link: await encodeState(lesson.table, state),
    numbers: Array.from(data.subarray(0, rows * columns)),
  };
}

eachBrowser((browser) => {
  for (const name of Object.keys(cases)) {
    for (const policy of [undefined, "worker-src 'none'"]) {
      test(`${name}${policy ? ', without a worker' : ''}`, async () => {
        const { link, numbers } = await underNode(name);
        const figure = await openFigure(
          browser,
          `/dist/embed.html?lesson=${name}${link}`,
          policy
            ? { policy: `default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; ${policy}` }
            : {},
        );
        await figure.until((root) => /step 9 of 12|第 9 步/.test(root.textContent ?? ''));
        let map = await figure.map();
        for (const end = Date.now() + 15_000; Date.now() < end; map = await figure.map()) {
          if (map.data.length === numbers.length && map.data.every((x, i) => x === numbers[i]))
            break;
        }
        assert.deepEqual(map.data, numbers);
        if (policy) figure.page.errors.splice(0);
      });
    }
  }
});
