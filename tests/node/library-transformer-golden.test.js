// The Transformer against nn.Transformer of PyTorch 1.13: the same parameters and tokens give the same
// logits, loss and gradients, and the same model after ten clipped steps of Adam.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { assertClose, onEachEngine, tensor } from './helpers.js';

const golden = JSON.parse(
  readFileSync(new URL('../golden/models/transformer.json', import.meta.url), 'utf8'),
  (_key, value) => (Array.isArray(value?.shape) ? tensor(value.shape, value.data) : value),
);

/** The golden parameters that a model has. */
function load(engine, config) {
  const model = engine.transformer(config);
  const names = Object.keys(model.parameters({ names: 'torch' }));
  const chosen = names.map((name) => [name, golden.parameters[name]]);
  model.load(Object.fromEntries(chosen), { names: 'torch' });
  return model;
}

for (const { name, config, expect } of golden.cases) {
  onEachEngine(`${name}: logits`, (engine) => {
    const { labels, ...input } = golden.batch;
    const { logits } = load(engine, config).forward(input);
    assert.deepEqual(logits.shape, expect.logits.shape);
    const { targetLens, target } = golden.batch;
    const [, length, width] = logits.shape;
    for (let b = 0; b < target.length; b++) {
      const rows = ({ data }) =>
        data.slice(b * length * width, (b * length + targetLens[b]) * width);
      assertClose(
        tensor([targetLens[b], width], rows(logits)),
        tensor([targetLens[b], width], rows(expect.logits)),
        `logits of sentence ${b}`,
      );
    }
  });
}

/** |a - b| as a share of |b|, all cells of a tensor together. */
function distance(actual, expected) {
  assert.deepEqual(actual.shape, expected.shape);
  const norm = (values) => Math.hypot(...values);
  const difference = expected.data.map((value, i) => actual.data[i] - value);
  return norm(difference) / norm(expected.data);
}

function assertNear(actual, expected, what) {
  assert.ok(Math.abs(actual / expected - 1) <= 1e-4, `${what}: ${actual} instead of ${expected}`);
}

/**
 * Softmax does not see what a key's bias adds to a whole row of scores: its gradient is 0, and what is
 * found there is rounding, which Adam makes steps of.
 */
function split(name, { shape, data }) {
  if (!name.endsWith('in_proj_bias')) return { weighed: { shape, data } };
  const [query, key, value] = [0, 1, 2].map((i) =>
    data.slice((i * data.length) / 3, ((i + 1) * data.length) / 3),
  );
  return { weighed: tensor([query.length * 2], [...query, ...value]), key };
}

for (const { name, config, training, expect } of golden.cases) {
  onEachEngine(`${name}: the loss, its norm and every gradient`, (engine) => {
    const model = load(engine, config);
    const before = model.parameters({ names: 'torch' });
    const { loss, tokens, gradientNorm } = model.trainStep(golden.batch, training);
    assertNear(loss, expect.losses[0], 'loss');
    assertNear(gradientNorm, expect.gradientNorms[0], 'gradient norm');
    assert.equal(tokens, 8);
    const gradients = model.gradients({ names: 'torch' });
    assert.deepEqual(Object.keys(gradients).sort(), Object.keys(expect.gradients).sort());
    for (const [parameter, expected] of Object.entries(expect.gradients)) {
      const [ours, theirs] = [split(parameter, gradients[parameter]), split(parameter, expected)];
      const off = distance(ours.weighed, theirs.weighed);
      assert.ok(off <= 1e-4, `the gradient of ${parameter} is off by ${off}`);
      for (const cell of ours.key ?? []) assert.ok(Math.abs(cell) <= 1e-6 * gradientNorm);
    }
    const moved = model.parameters({ names: 'torch' });
    for (const [parameter, { data }] of Object.entries(moved)) {
      assert.notDeepEqual(data, before[parameter].data, `${parameter} has not moved`);
    }
  });

  onEachEngine(`${name}: ten steps`, (engine) => {
    const model = load(engine, config);
    for (const [i, loss] of expect.losses.entries()) {
      const step = model.trainStep(golden.batch, training);
      assertNear(step.loss, loss, `loss of step ${i}`);
      assertNear(step.gradientNorm, expect.gradientNorms[i], `gradient norm of step ${i}`);
    }
    const parameters = model.parameters({ names: 'torch' });
    for (const [parameter, expected] of Object.entries(expect.parameters)) {
      const [ours, theirs] = [split(parameter, parameters[parameter]), split(parameter, expected)];
      const off = distance(ours.weighed, theirs.weighed);
      assert.ok(off <= 1e-4, `${parameter} is off by ${off}`);
    }
  });
}
