/** What the page does while a core trains: it follows, interrupts, and survives a worker that dies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../wasm/attention.js';
import { AttentionError } from '../../wasm/error.js';
import { createEvaluator } from '../../wasm/evaluate.js';
import { Evaluator } from '../../web/elements/evaluator.js';
import { lessons } from '../../web/lessons/index.js';
import { bringFile } from '../../web/lessons/translation.js';

const lesson = lessons.transformer;
const engine = await createEngine();
const small = { hiddens: 8, heads: 1, layers: 1, feedForward: 8, batchSize: 100, epochs: 5 };

/** A client whose core is here; `dying` kills it once at its first word behind that step. */
function clientOf({ dying = Infinity } = {}) {
  let evaluate = createEvaluator(engine);
  let alive = true;
  const client = {
    requests: /** @type {any[]} */ ([]),
    evaluate(/** @type {any} */ request, /** @type {any} */ { progress, signal } = {}) {
      client.requests.push(request);
      const answer = evaluate(request, {
        slice: 0,
        interrupted: () => !alive || (signal?.aborted ?? false),
        progress(told) {
          if (told.answer.step > dying) {
            dying = Infinity;
            alive = false;
          }
          if (alive) progress?.(told);
        },
      });
      return answer.then((/** @type {any} */ done) => {
        if (alive) return done;
        alive = true;
        evaluate = createEvaluator(engine);
        throw new AttentionError('WORKER_DIED', 'The worker stopped');
      });
    },
    close() {},
  };
  return client;
}

/** @param {object} values */
function figure(values, client = clientOf()) {
  let state = lesson.reduce(lesson.defaults, { type: 'load', values: { ...small, ...values } });
  /** @type {any[]} */
  const results = [];
  /** @type {any[]} */
  const failures = [];
  const evaluator = new Evaluator(lesson, /** @type {any} */ (client), {
    present: () => state,
    reached(step) {
      state = { ...state, step, running: state.running && step < lesson.plan(state).steps };
    },
    computed: (result) => results.push(result),
    failed: (failure) => failures.push(failure),
  });
  return {
    results,
    failures,
    client,
    evaluator,
    get state() {
      return state;
    },
    set(/** @type {object} */ more) {
      state = lesson.reduce(state, { type: 'set', values: more });
      evaluator.ask();
    },
    async until(/** @type {() => unknown} */ holds) {
      const end = Date.now() + 10_000;
      while (!holds()) {
        assert.ok(Date.now() < end, `never true: ${holds}`);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
  };
}

const last = (/** @type {any} */ { results }) => results.at(-1);
const weights = (/** @type {any} */ { values }) =>
  Array.from(values['decoder.0.cross_attention.weights'].data);

test('a run takes the state along, and ends', async () => {
  const run = figure({});
  run.set({ running: true });
  await run.until(() => !run.state.running);
  await run.until(() => last(run).score);
  assert.equal(run.state.step, 20);
  assert.equal(last(run).run.losses.length, 20);
  assert.deepEqual(last(run).run.saved, [4, 8, 12, 16, 20]);
  assert.deepEqual(new Set(run.results.map(({ step }) => step)).size, 20, 'each step was seen');
});

test('a pause stays where it is found; another sentence does not stop the run; a scrub goes back', async () => {
  const straight = figure({ step: 3 });
  straight.evaluator.ask();
  await straight.until(() => last(straight)?.score);

  const run = figure({});
  run.set({ running: true });
  await run.until(() => run.state.step >= 6);
  run.set({ sentence: 'the hat is red .' });
  await run.until(() => last(run).values.source.data.length === 6);
  assert.ok(run.state.running);
  run.set({ running: false });
  await run.until(() => last(run).score);
  assert.ok(run.state.step >= 6 && run.state.step < 20, `paused at ${run.state.step}`);
  assert.equal(last(run).step, run.state.step);
  run.set({ step: 3, sentence: '' });
  await run.until(() => last(run).step === 3 && last(run).score);
  assert.deepEqual(weights(last(run)), weights(last(straight)));
  assert.equal(run.state.step, 3);
});

test('a file that does not fit is left aside: the same state is shown without it, and trains', async () => {
  const run = figure({ step: 4 });
  const loaded = bringFile('mine.safetensors', await run.evaluator.save('own'));
  await run.evaluator.attempt({ loaded, step: 0 });
  assert.equal(lesson.leftAside({ ...run.state, loaded }), undefined);
  await run.evaluator.attempt({ loaded, step: 0, hiddens: 12 });
  assert.match(lesson.leftAside({ ...run.state, loaded, hiddens: 12 })?.message ?? '', /shape/);
  assert.deepEqual(run.results, [], 'an attempt shows nothing');
  await assert.rejects(run.evaluator.attempt({ heads: 0 }), /heads/);

  run.set({ loaded, hiddens: 16 });
  run.set({ running: true });
  await run.until(() => run.state.step === 20 && last(run).score);
  const plain = figure({ hiddens: 16, step: 20 });
  plain.evaluator.ask();
  await plain.until(() => last(plain)?.score);
  assert.deepEqual(weights(last(run)), weights(last(plain)));
  assert.deepEqual(run.failures, []);
  assert.equal(run.state.loaded, loaded);
});

test('a run that is started over is seen from its start again', async () => {
  const run = figure({});
  run.set({ running: true });
  await run.until(() => last(run)?.score);
  const before = run.results.length;
  run.set({ step: 0, running: true });
  await run.until(() => !run.state.running && last(run).score);
  const steps = run.results.slice(before).map(({ step }) => step);
  assert.deepEqual(
    [...new Set(steps)],
    Array.from({ length: 20 }, (_, at) => at + 1),
  );
});

test('a worker that dies in mid-training goes on from the last saved epoch, to the same bits', async () => {
  const straight = figure({ step: 20 });
  straight.evaluator.ask();
  await straight.until(() => last(straight)?.score);

  const run = figure({}, clientOf({ dying: 14 }));
  run.set({ running: true });
  await run.until(() => last(run)?.score && last(run).step === 20);
  const [, second] = run.client.requests;
  assert.equal(second.training.from.step, 12);
  assert.deepEqual(weights(last(run)), weights(last(straight)));
  assert.deepEqual(last(run).run.losses, last(straight).run.losses);
  assert.deepEqual(run.failures, []);
});

test('a file of all numbers in the middle of a run, which then goes on', async () => {
  const run = figure({});
  run.set({ running: true });
  await run.until(() => run.state.step >= 4);
  const saved = await run.evaluator.save('torch');
  assert.ok(saved.length > 1000);
  assert.ok(run.state.step < 20, 'asking does not train to the end');
  await run.until(() => run.state.step === 20);
});

test('what an earlier visit saved is where a run goes on', async () => {
  const first = figure({ step: 8 });
  first.evaluator.ask();
  await first.until(() => last(first)?.score);
  const { key, latest, losses, rates } = last(first).run;
  const again = figure({ step: 10 });
  again.evaluator.restore({ key, ...latest, losses: [...losses], rates: [...rates] });
  again.evaluator.ask();
  await again.until(() => last(again)?.score);
  assert.equal(again.client.requests[0].training.from.step, 8);
  assert.equal(last(again).run.losses.length, 10);
});
