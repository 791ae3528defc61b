// The Transformer through the library: what can be read, changed, saved and decoded. Its numbers stand
// against PyTorch's in library-transformer-golden.test.js.

import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeSafetensors } from '../../wasm/safetensors.js';
import {
  assertClose,
  assertFails,
  assertSame,
  BATCH,
  engines,
  filled,
  INPUT,
  onEachEngine,
  SHAPE,
  tensor,
  UNKNOWN,
  VALUE,
} from './helpers.js';

const D2L = {
  ...{ sourceVocab: 184, targetVocab: 201, hiddens: 32, heads: 4, layers: 2, feedForward: 64 },
  ...{ attentionBias: false, initialiser: 'xavier' },
};
const SMALL = { sourceVocab: 11, targetVocab: 13, hiddens: 16, heads: 2, feedForward: 24, seed: 5 };
const INPUT_OF_TWO = { source: BATCH.source, sourceLens: BATCH.sourceLens };

const size = ({ shape }) => shape.reduce((product, length) => product * length, 1);

/** Of all bits. */
function hash(parameters) {
  let state = 2166136261;
  for (const { data } of Object.values(parameters)) {
    for (const word of new Uint32Array(data.slice().buffer)) {
      state = Math.imul(state ^ word, 16777619);
      state ^= state >>> 15;
    }
  }
  return state >>> 0;
}

// ---- parameters ----------------------------------------------------------------------------------

onEachEngine("transformer: D2L's model has 60,937 parameters", (engine) => {
  const parameters = Object.values(engine.transformer(D2L).parameters());
  assert.equal(
    parameters.reduce((sum, parameter) => sum + size(parameter), 0),
    60937,
  );
});

test('transformer: both binaries draw the same parameters', () => {
  const [simd, scalar] = Object.values(engines).map((engine) =>
    engine.transformer(SMALL).parameters(),
  );
  for (const [name, parameter] of Object.entries(simd)) assertSame(parameter, scalar[name], name);
});

onEachEngine('transformer: a saved model is the same model under both kinds of names', (engine) => {
  for (const kind of ['encoder-decoder', 'encoder', 'decoder']) {
    for (const names of ['own', 'torch']) {
      const model = engine.transformer({ ...SMALL, kind, finalNorm: true });
      const other = engine.transformer({ ...SMALL, kind, finalNorm: true, seed: 6 });
      other.load(model.save({ names, metadata: { kind } }), { names });
      assert.equal(hash(other.parameters()), hash(model.parameters()));
      assertSame(other.forward(INPUT).logits, model.forward(INPUT).logits);
    }
  }
});

onEachEngine('transformer: PyTorch names stack query, key and value', (engine) => {
  const model = engine.transformer(SMALL);
  const torch = model.parameters({ names: 'torch' });
  const own = model.parameters();
  const stack = torch['transformer.decoder.layers.1.multihead_attn.in_proj_weight'];
  assert.deepEqual(stack.shape, [48, 16]);
  assert.deepEqual(
    stack.data.slice(256, 512),
    own['decoder.1.cross_attention.key.weight'].data,
    'the key stands in the middle',
  );
  assert.ok('transformer.encoder.layers.0.self_attn.out_proj.bias' in torch);
  assert.ok('transformer.encoder.layers.0.linear1.weight' in torch);
});

onEachEngine('transformer: parameters that do not fit are named and change nothing', (engine) => {
  const model = engine.transformer(SMALL);
  const before = hash(model.parameters());
  const parameters = model.parameters();
  const { 'output.bias': bias, ...rest } = parameters;
  assertFails(() => model.load(rest), VALUE, 'output.bias', 'missing');
  assertFails(() => model.load({ ...parameters, more: bias }), VALUE, 'more');
  const wide = { ...parameters, 'output.bias': filled([14], 1) };
  assertFails(() => model.load(wide), SHAPE, 'output.bias', '[14]', '[13]');
  assertFails(() => model.load(parameters, { names: 'torch' }), VALUE);
  assertFails(() => model.load(parameters, { names: 'keras' }), VALUE, 'keras');
  assertFails(() => model.load('a string'), VALUE);
  assert.equal(hash(model.parameters()), before);
});

// ---- forward -------------------------------------------------------------------------------------

onEachEngine('transformer: the three kinds of weights, after any pass', (engine) => {
  const model = engine.transformer(SMALL);
  for (const pass of [() => model.forward(INPUT), () => model.trainStep(BATCH)]) {
    pass();
    for (const [name, shape] of Object.entries({
      'encoder.1.attention.weights': [2, 2, 4, 4],
      'decoder.0.self_attention.weights': [2, 2, 3, 3],
      'decoder.1.cross_attention.weights': [2, 2, 3, 4],
    })) {
      assert.deepEqual(model.tensor(name).shape, shape, name);
      assert.equal(model.tensors().find((info) => info.name === name).sumsToOne, 3);
    }
  }
});

onEachEngine('transformer: ids without a batch axis give logits without one', (engine) => {
  const model = engine.transformer(SMALL);
  const { logits } = model.forward({ source: [3, 1, 4], target: [2, 7] });
  assert.deepEqual(logits.shape, [2, 13]);
  const batched = model.forward({ source: [[3, 1, 4]], target: [[2, 7]] });
  assertSame(batched.logits, tensor([1, 2, 13], logits.data));
});

onEachEngine(
  'transformer: an encoder looks at its source alone, a decoder at its target',
  (engine) => {
    for (const [kind, own, other] of [
      ['encoder', 'source', 'target'],
      ['decoder', 'target', 'source'],
    ]) {
      const model = engine.transformer({ ...SMALL, kind });
      const alone = {
        [own]: [
          [3, 1, 4],
          [5, 9, 0],
        ],
        [`${own}Lens`]: [3, 2],
      };
      const nonsense = { [other]: [99], [`${other}Lens`]: [1.5, 7, -1] };
      const labels = [
        [1, 2, 3],
        [4, 5, 6],
      ];
      const loss = model.loss({ ...alone, labels });
      assert.equal(loss.tokens, 5, kind);
      assert.deepEqual(model.loss({ ...alone, ...nonsense, labels }), loss, kind);
      const { logits } = model.forward(alone);
      assertSame(model.forward({ ...alone, ...nonsense }).logits, logits, kind);
    }
    const decoder = engine.transformer({ ...SMALL, kind: 'decoder' });
    const sentence = decoder.decode({ target: [2] });
    assert.deepEqual(decoder.decode({ source: [[99]], sourceLens: 7, target: [2] }), sentence);
    const encoder = engine.transformer({ ...SMALL, kind: 'encoder' });
    assertFails(() => encoder.decode({ source: [1] }), VALUE, 'cannot decode');
  },
);

onEachEngine('transformer: an override is seen by what follows and by nothing else', (engine) => {
  const model = engine.transformer(SMALL);
  const { logits } = model.forward(INPUT);
  const weights = model.tensor('encoder.0.attention.weights');
  model.override('decoder.0.cross_attention.weights', { at: [0, 1, 2, 0], value: 0.5 });
  const edited = model.forward(INPUT).logits;
  assert.equal(model.tensor('decoder.0.cross_attention.weights').data[5 * 4], 0.5);
  assertSame(model.tensor('encoder.0.attention.weights'), weights);
  assert.deepEqual(edited.data.slice(0, 26), logits.data.slice(0, 26), 'tokens before it');
  assert.notDeepEqual(edited.data.slice(26, 39), logits.data.slice(26, 39));
  model.clearOverrides();
  assertSame(model.forward(INPUT).logits, logits);
});

// ---- training ------------------------------------------------------------------------------------

onEachEngine('transformer: training goes on from a file exactly as it would have', (engine) => {
  const config = { ...SMALL, dropout: { attention: 0.2, residual: 0.1 } };
  const [whole, first, second] = [1, 2, 3].map(() => engine.transformer(config));
  const options = {
    learningRate: 0.01,
    schedule: { kind: 'inverse-square-root', warmUp: 3 },
  };
  for (let i = 0; i < 6; i++) whole.trainStep(BATCH, options);
  for (let i = 0; i < 3; i++) first.trainStep(BATCH, options);
  second.load(first.save({ training: true }));
  for (let i = 0; i < 3; i++) second.trainStep(BATCH, options);
  assert.equal(second.steps, 6);
  assert.equal(hash(second.parameters()), hash(whole.parameters()));
  second.load(whole.save());
  assert.equal(second.steps, 0, 'without that, training starts anew');
});

onEachEngine('transformer: a step says its loss, tokens, rate and number', (engine) => {
  const model = engine.transformer(SMALL);
  const { loss, tokens } = model.loss(BATCH);
  const step = model.trainStep(BATCH, { learningRate: 0.3, schedule: { warmUp: 3 } });
  assert.equal(step.loss, loss);
  assert.equal(step.tokens, tokens);
  assert.equal(tokens, 5);
  assert.equal(step.step, 1);
  assert.equal(step.learningRate, Math.fround(Math.fround(0.3) / 3));
  assertClose(
    tensor([], [model.loss(BATCH, { loss: 'sum' }).loss]),
    tensor([], [model.loss(BATCH).loss * 5]),
  );
  assert.ok(model.loss(BATCH).loss !== loss);
});

onEachEngine('transformer: memory stays flat from step to step', (engine) => {
  const model = engine.transformer(SMALL);
  for (let i = 0; i < 3; i++) model.trainStep(BATCH);
  const bytes = model.memory;
  for (let i = 0; i < 300; i++) model.trainStep(BATCH);
  assert.equal(model.memory, bytes);
});

onEachEngine(
  'transformer: a loss that is not finite moves nothing and names a tensor',
  (engine) => {
    const model = engine.transformer(SMALL);
    assertFails(() => model.gradients(), 'NOT_FOUND', 'no step');
    const parameters = model.parameters();
    parameters['encoder.1.norm1.bias'].data[3] = Number.NaN;
    model.load(parameters);
    const before = hash(model.parameters());
    assertFails(() => model.trainStep(BATCH), 'NOT_FINITE', 'step 1', 'encoder.1.norm1.bias');
    assert.equal(hash(model.parameters()), before);
    assert.equal(model.steps, 0);
  },
);

onEachEngine('transformer: what no pass computes is not overridden', (engine) => {
  const model = engine.transformer(SMALL);
  const at = [0, 0];
  const decoded = model.decode(INPUT, { bos: 2 });
  for (const name of ['decoded_tokens', 'decoded_scores', 'output.weight', 'position', 'nothing']) {
    model.decode(INPUT, { bos: 2 });
    assertFails(() => model.override(name, { at, value: 1.5 }), 'NOT_FOUND', name, 'logits');
    const overrides = [{ name, at, value: 1.5 }];
    assertFails(() => model.decode({ ...INPUT, overrides }, { bos: 2 }), 'NOT_FOUND', name);
    const before = hash(model.parameters());
    assertFails(() => model.trainStep({ ...BATCH, overrides }), 'NOT_FOUND', name);
    assert.equal(hash(model.parameters()), before, 'nothing was trained');
    assert.equal(model.steps, 0);
  }
  assert.deepEqual(model.decode(INPUT, { bos: 2 }), decoded);
});

onEachEngine('transformer: a schedule needs what it falls by', (engine) => {
  const model = engine.transformer(SMALL);
  for (const [schedule, missing] of [
    [{ kind: 'cosine' }, 'schedule.total'],
    [{ kind: 'step' }, 'schedule.every'],
    [{ kind: 'step', every: 2 }, 'schedule.factor'],
  ]) {
    assertFails(() => model.trainStep(BATCH, { schedule }), VALUE, missing, 'missing');
  }
  assert.equal(model.steps, 0);
  model.trainStep(BATCH, { schedule: { kind: 'cosine', total: 4 } });
});

onEachEngine('transformer: gradients are those of these parameters', (engine) => {
  const model = engine.transformer(SMALL);
  model.trainStep(BATCH);
  const saved = model.save({ training: true });
  model.gradients();
  model.load(saved);
  assert.equal(model.steps, 1);
  assertFails(() => model.gradients(), 'NOT_FOUND', 'no step');
  model.trainStep(BATCH);
  model.gradients();
});

onEachEngine('transformer: moments that no training has are refused', (engine) => {
  const model = engine.transformer(SMALL);
  model.trainStep(BATCH);
  const state = decodeSafetensors(model.save({ training: true })).tensors;
  const before = hash(model.parameters());
  const { shape, data } = state['training.moments'];
  for (const [at, value] of [
    [0, Number.NaN],
    [shape[1] - 1, Infinity],
    [shape[1], -1e-9],
    [2 * shape[1] - 1, Number.NaN],
  ]) {
    const moments = { shape, data: data.map((x, i) => (i === at ? value : x)) };
    assertFails(() => model.load({ ...state, 'training.moments': moments }), VALUE, at);
  }
  model.load({
    ...state,
    'training.moments': { shape, data: data.map((x, i) => (i === 0 ? -1 : x)) },
  });
  assert.equal(hash(model.parameters()), before);
});

// ---- decoding ------------------------------------------------------------------------------------

onEachEngine('transformer: all caches decode the same sentences', (engine) => {
  const model = engine.transformer(SMALL);
  for (const method of ['greedy', 'beam', 'sample']) {
    const [none, representations, both] = ['none', 'representations', 'keys-values'].map((cache) =>
      model.decode(INPUT_OF_TWO, { method, cache, bos: 2, eos: 12, maxLength: 8 }),
    );
    assert.equal(none.length, 2);
    assert.deepEqual(representations, none, method);
    assert.deepEqual(both, none, method);
    for (const { tokens, finished } of none) {
      assert.ok(tokens.length <= 8 && !tokens.includes(12));
      assert.equal(finished, tokens.length < 8);
    }
  }
});

onEachEngine('transformer: what has no probability is never drawn', (engine) => {
  // Draws so near 1 that the sums of probabilities, in their roundings, end before them.
  const seeds = [6947430, 12811997, 17674200, 41268867];
  const config = { kind: 'decoder', hiddens: 8, heads: 1, layers: 1, feedForward: 8, seed: 8 };
  const model = engine.transformer({ ...config, targetVocab: 200 });
  for (const value of [-200, -Infinity]) {
    const overrides = [{ name: 'logits', at: [null, null, 7], value }];
    for (const seed of seeds) {
      const options = { method: 'sample', seed, maxLength: 1 };
      const { tokens } = model.decode({ target: [0], overrides }, options);
      assert.equal(tokens.length, 1);
      assert.notEqual(tokens[0], 7);
    }
  }
});

onEachEngine('transformer: padding changes no decoded sentence', (engine) => {
  const model = engine.transformer(SMALL);
  const options = { bos: 2, maxLength: 5 };
  const [, padded] = model.decode(INPUT_OF_TWO, options);
  assert.deepEqual(model.decode({ source: [5, 9] }, options), padded);
});

onEachEngine('transformer: a decoder continues its prompt', (engine) => {
  const model = engine.transformer({ ...SMALL, kind: 'decoder' });
  const whole = model.decode({ target: [2] }, { maxLength: 6 });
  const rest = model.decode({ target: [2, ...whole.tokens.slice(0, 3)] }, { maxLength: 3 });
  assert.deepEqual(rest.tokens, whole.tokens.slice(3));
});

onEachEngine(
  'transformer: what is given can be read token by token, as it would have been written',
  (engine) => {
    const model = engine.transformer(SMALL);
    const source = [3, 1, 4];
    for (const cache of ['none', 'representations', 'keys-values']) {
      for (const positions of ['correct', 'as-d2l']) {
        const how = { bos: 2, cache, positions };
        const whole = model.decode({ source }, { ...how, maxLength: 4 });
        const names = ['inputs', 'key', 'value'].map((name) => `decoder.1.self_attention.${name}`);
        const written = model.values([...names, 'logits']);
        const target = [2, ...whole.tokens.slice(0, 3)];
        const last = model.decode({ source, target }, { ...how, maxLength: 1, prefill: 1 });
        const place = `${cache}, ${positions}`;
        assert.deepEqual(last.tokens, whole.tokens.slice(3), place);
        assert.deepEqual(model.values([...names, 'logits']), written, place);
        if (cache === 'representations')
          assert.deepEqual(written[names[0]].shape, [1, 4, 16], place);
        model.decode({ source, target }, { ...how, maxLength: 1, prefill: 0 });
        const { data } = model.tensor('logits');
        const apart = Math.abs(data.at(-1) - written.logits.data.at(-1));
        assert.equal(apart > 1e-4, positions === 'as-d2l' && cache !== 'none', place);
      }
    }
  },
);

onEachEngine('transformer: H2, cached steps are the full pass', (engine) => {
  const model = engine.transformer(SMALL);
  const input = { source: [3, 1, 4], target: [2, 7, 1, 8] };
  for (const cache of ['none', 'representations', 'keys-values']) {
    for (const prefill of [1, 2]) {
      const { layers, largest } = model.consistency(input, { cache, prefill });
      assert.deepEqual(
        layers.map(({ name }) => name),
        ['decoder.0.output', 'decoder.1.output', 'logits'],
      );
      assert.ok(largest <= 1e-6, `${cache}, ${prefill}: ${largest}`);
    }
  }
  const { layers } = model.consistency(input, { positions: 'as-d2l' });
  for (const { name, differences } of layers) {
    assert.ok(differences[0] <= 1e-6 && differences[1] > 1e-3, name);
  }
});

// ---- what it refuses -----------------------------------------------------------------------------

onEachEngine('transformer: what makes no sense is named', (engine) => {
  assertFails(() => engine.transformer({ ...SMALL, hidden: 3 }), UNKNOWN, 'hidden');
  assertFails(() => engine.transformer({ ...SMALL, heads: 3 }), SHAPE, 16, 3);
  assertFails(() => engine.transformer({ targetVocab: 3 }), VALUE, 'sourceVocab');
  assertFails(() => engine.transformer({ ...SMALL, dropout: 1 }), VALUE, 'dropout');
  assertFails(() => engine.transformer({ ...SMALL, dropout: { where: 1 } }), UNKNOWN, 'where');
  assertFails(() => engine.transformer({ ...SMALL, initialiser: 'zero' }), VALUE, 'zero');
  const model = engine.transformer(SMALL);
  const { logits } = model.forward(INPUT);
  assertFails(() => model.forward({ source: [3], target: [13] }), VALUE, 'target', 13, 12);
  assertFails(() => model.forward({ source: [], target: [1] }), VALUE, 'source', 'empty');
  assertFails(() => model.forward({ ...INPUT, sourceLens: [4, 0] }), VALUE, 'source', 'empty');
  assertFails(() => model.forward({ ...INPUT, sourceLens: [4, 5] }), VALUE, 'sourceLens', 5, 4);
  assertFails(() => model.forward({ ...INPUT, sourceLens: [4, 1.5] }), VALUE, 'sourceLens', 1.5);
  assertFails(() => model.forward({ ...INPUT, targetLens: [3, NaN] }), VALUE, 'targetLens', NaN);
  assertFails(() => model.forward({ ...INPUT, sourceLens: [4] }), SHAPE, 1, 2);
  assertFails(() => model.forward({ source: [[1]], target: [[[1]]] }), SHAPE, 'target');
  assertFails(() => model.forward({ target: [1] }), VALUE, 'source');
  assertFails(
    () =>
      model.trainStep({
        ...BATCH,
        labels: [
          [1, 2, 13],
          [1, 2, 3],
        ],
      }),
    VALUE,
    13,
  );
  assertFails(() => model.trainStep(BATCH, { loss: 'huber' }), VALUE, 'huber');
  assertFails(() => model.trainStep(BATCH, { optimizer: 'sgd' }), UNKNOWN, 'optimizer');
  assertFails(() => model.trainStep(BATCH, { learningRate: -1 }), VALUE, 'learningRate');
  assertFails(() => model.decode({ source: [1] }, {}), VALUE, 'bos');
  assertFails(() => model.decode({ source: [1] }, { bos: 2, method: 'best' }), VALUE, 'best');
  assertFails(() => model.decode({ source: [1] }, { bos: 13 }), VALUE, 13);
  assertFails(() => model.decode({ source: [1] }, { bos: 2, prefill: 2 }), VALUE, 'prefill', 2, 1);
  const prefill = (prefill) => model.decode({ source: [1], target: [2, 3] }, { prefill });
  for (const bad of [-1, 5]) assertFails(() => prefill(bad), VALUE, 'prefill', bad, 0);
  assert.deepEqual(prefill(0), prefill(undefined));
  assertFails(() => model.consistency({ source: [1], target: [1] }, { prefill: 2 }), VALUE, 2);
  assertFails(
    () => model.decode({ ...INPUT_OF_TWO, sourceLens: [4, 5] }, { bos: 2 }),
    VALUE,
    'sourceLens',
    5,
    4,
  );
  assertSame(model.forward(INPUT).logits, logits, 'the pass after');
});
