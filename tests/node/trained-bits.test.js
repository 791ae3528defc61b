// Twenty steps of training: the same bits in both binaries as in every native build. The constants,
// and the models they belong to, stand in tests/c/test_trained_bits.c.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { onEachEngine, tensor } from './helpers.js';

const [BATCH, LENGTH, VOCABULARY, STEPS] = [5, 7, 13, 20];
const source = await readFile(new URL('../c/test_trained_bits.c', import.meta.url), 'utf8');
const answer = (name) => Number(new RegExp(`define ${name} (0x[0-9a-f]+)u`).exec(source)[1]);

const ids = (salt) =>
  tensor(
    [BATCH, LENGTH],
    Array.from(
      { length: BATCH * LENGTH },
      (_, i) => (7 * Math.floor(i / LENGTH) + 3 * (i % LENGTH) + salt) % VOCABULARY,
    ),
  );
const lens = tensor([BATCH], [3, 4, 5, 6, 7]);

function hashOf(numbers, start) {
  return new Uint32Array(Float32Array.from(numbers).buffer).reduce((hash, word) => {
    const product = Math.imul(hash ^ word, 16777619);
    return product ^ (product >>> 15);
  }, start);
}

function trained(engine, config, options) {
  const model = engine.transformer({
    ...{ sourceVocab: VOCABULARY, targetVocab: VOCABULARY, hiddens: 12, heads: 2 },
    ...{ feedForward: 20, dropout: 0.1, seed: 3, ...config },
  });
  let hash = 1;
  for (let step = 0; step < STEPS; step++) {
    const target = { target: ids(step + 1), targetLens: lens };
    const { loss, gradientNorm } = model.trainStep(
      {
        ...{ source: ids(step), sourceLens: lens, labels: ids(step + 2) },
        ...(config.kind === 'encoder' ? {} : target),
      },
      options,
    );
    hash = hashOf([loss, gradientNorm], hash);
  }
  for (const { data } of Object.values(model.parameters())) hash = hashOf(data, hash);
  return hash >>> 0;
}

for (const [name, config, options] of [
  [
    'POST_RELU_ADAM',
    { initialiser: 'xavier', attentionBias: false },
    { learningRate: 0.005, clip: 1 },
  ],
  [
    'PRE_GELU_ADAMW',
    { norm: 'pre', activation: 'gelu', position: 'rotary' },
    { optimiser: 'adamw', weightDecay: 0.01 },
  ],
  [
    'ENCODER_SGD',
    { kind: 'encoder', activation: 'gelu-tanh', position: 'learned', maxLength: LENGTH },
    { optimiser: 'sgd', momentum: 0.9, learningRate: 0.05 },
  ],
]) {
  onEachEngine(`${name} is the known one`, (engine) => {
    assert.equal(trained(engine, config, options), answer(name));
  });
}
