// The attention layer, the smallest model: tokens in, every tensor on the way by name, edits of any
// of them, and the same bits from both binaries.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  assertClose,
  assertEqual,
  assertFails,
  assertSame,
  engines,
  filled,
  mapCells,
  onEachEngine,
  take,
  tensor,
} from './helpers.js';

const SOURCE = ['the', 'cat', '坐', 'the', 'mat'];
const TARGET = ['le', 'chat', 'the'];

const layerOf = (engine, options) =>
  engine.attentionLayer({ hiddens: 12, heads: 3, seed: 1, ...options });

const projections = (model) =>
  Object.fromEntries(
    ['query', 'key', 'value', 'output'].map((name) => {
      const weight = model.tensor(`attention.${name}.weight`);
      const bias = model.tensors().some((entry) => entry.name === `attention.${name}.bias`);
      return [name, { weight, ...(bias && { bias: model.tensor(`attention.${name}.bias`) }) }];
    }),
  );

/** A [T, H] tensor as [1, T, H]. */
const batched = ({ shape, data }) => tensor(shape.length === 2 ? [1, ...shape] : shape, data);

onEachEngine('model: every tensor has its name and shape', (engine) => {
  const model = layerOf(engine);
  model.forward({ source: SOURCE });
  const shapes = Object.fromEntries(model.tensors().map(({ name, shape }) => [name, shape.join()]));
  for (const [name, shape] of Object.entries({
    'source.embedding': '5,12',
    'attention.query.weight': '12,12',
    'attention.key.weight': '12,12',
    'attention.value.weight': '12,12',
    'attention.output.weight': '12,12',
    'attention.query': '1,3,5,4',
    'attention.key': '1,3,5,4',
    'attention.value': '1,3,5,4',
    'attention.raw_scores': '1,3,5,5',
    'attention.scores': '1,3,5,5',
    'attention.mask': '1,3,5,5',
    'attention.masked_scores': '1,3,5,5',
    'attention.weights': '1,3,5,5',
    'attention.mean_weights': '1,5,5',
    'attention.entropy': '1,3,5',
    'attention.row_flags': '1,3,5',
    'attention.heads': '1,3,5,4',
    'attention.output': '1,5,12',
  })) {
    assert.equal(shapes[name], shape, name);
    assert.equal(model.tensor(name).shape.join(), shape, name);
  }
});

onEachEngine('model: sources of each tensor are tensors of the model', (engine) => {
  const model = layerOf(engine, { position: 'sinusoidal', bias: true });
  model.forward({ source: SOURCE, target: TARGET, causal: true });
  const tensors = model.tensors();
  const names = new Set(tensors.map(({ name }) => name));
  assert.equal(names.size, tensors.length, 'names differ');
  for (const { name, shape, axes, op, inputs } of tensors) {
    assert.equal(axes.length, shape.length, name);
    assert.equal(typeof op, 'string', name);
    for (const input of inputs) assert.ok(names.has(input), `${input}, a source of ${name}`);
  }
  for (const name of [
    'source.position',
    'target.embedding',
    'target.position',
    'attention.query.bias',
  ]) {
    assert.ok(names.has(name), name);
  }
});

onEachEngine('model: it is multi-head attention over embeddings', (engine) => {
  for (const bias of [false, true]) {
    for (const options of [
      {},
      { causal: true },
      { validLens: [3] },
      { score: 'dot', temperature: 2 },
    ]) {
      const model = layerOf(engine, { bias });
      model.forward({ source: SOURCE, ...options });
      const x = batched(model.tensor('source.embedding'));
      const right = engine.multiHeadAttention(x, x, x, {
        heads: 3,
        params: projections(model),
        ...options,
      });
      assertSame(model.tensor('attention.output'), right.output);
      assertSame(model.tensor('attention.weights'), right.weights);
      assertSame(model.tensor('attention.mean_weights'), right.meanWeights);
      assertSame(model.tensor('attention.heads'), right.heads);
      assertSame(model.tensor('attention.scores'), right.scores);
    }
  }
});

onEachEngine('model: entropy of each row, in nats', (engine) => {
  const model = layerOf(engine);
  model.forward({ source: SOURCE, causal: true, validLens: [4] });
  const weights = model.tensor('attention.weights');
  const entropy = mapCells(model.tensor('attention.entropy'), (_, [, h, i]) => {
    const row = weights.data.subarray((h * 5 + i) * 5, (h * 5 + i + 1) * 5);
    return row.reduce((sum, weight) => (weight > 0 ? sum - weight * Math.log(weight) : sum), 0);
  });
  assertClose(model.tensor('attention.entropy'), entropy);
  assert.equal(entropy.data[0], 0, 'one key leaves no doubt');
});

onEachEngine('model: flags and reasons', (engine) => {
  const model = layerOf(engine);
  model.forward({ source: SOURCE, validLens: [0] });
  assertSame(model.tensor('attention.row_flags'), filled([1, 3, 5], 1));
  assertSame(model.tensor('attention.mask'), filled([1, 3, 5, 5], 1));
  model.override('attention.scores', { at: [0, 1, 2, 3], value: Infinity });
  model.forward({ source: SOURCE });
  const flagged = ([, h, i]) => (h === 1 && i === 2 ? 2 : 0);
  assertSame(
    model.tensor('attention.row_flags'),
    mapCells(filled([1, 3, 5], 0), (_, at) => flagged(at)),
  );
});

onEachEngine('model: cross-attention asks with the target', (engine) => {
  const model = layerOf(engine);
  model.forward({ source: SOURCE, target: TARGET });
  const x = batched(model.tensor('target.embedding'));
  const y = batched(model.tensor('source.embedding'));
  const right = engine.multiHeadAttention(x, y, y, { heads: 3, params: projections(model) });
  assert.deepEqual(model.tensor('attention.weights').shape, [1, 3, 3, 5]);
  assertSame(model.tensor('attention.output'), right.output);
  const the = take(model.tensor('target.embedding'), [2]);
  assertSame(the, take(model.tensor('source.embedding'), [0]), 'equal words on both sides');
});

onEachEngine('model: equal words have equal vectors, which the seed decides', (engine) => {
  const embedding = (options, source = SOURCE) => {
    const model = layerOf(engine, options);
    model.forward({ source });
    return model.tensor('source.embedding');
  };
  const first = embedding();
  assertSame(take(first, [3]), take(first, [0]));
  assert.notDeepEqual(take(first, [1]).data, take(first, [0]).data);
  assertSame(embedding({ heads: 2 }), first);
  assertSame(embedding({}, [...SOURCE].reverse()), take(first, [4, 3, 2, 1, 0]));
  assertSame(embedding({ seed: 1 }), first);
  assert.notDeepEqual(embedding({ seed: 2 }).data, first.data);
  for (const token of [
    '',
    ' ',
    '\u0000',
    '"><img src=x onerror=alert(1)>',
    '歪',
    '👩‍👩‍👧',
    'a'.repeat(300),
  ]) {
    const [other, again] = [embedding({}, [token]), embedding({}, [token])];
    assertSame(again, other);
    assert.ok(other.data.every(Number.isFinite), JSON.stringify(token));
  }
});

onEachEngine(
  'model: without positions, reordered tokens permute the weights and nothing else',
  (engine) => {
    const weights = (source, position) => {
      const model = layerOf(engine, { position });
      model.forward({ source });
      return model.tensor('attention.weights');
    };
    const source = ['a', 'b', 'c', 'd'];
    const order = [2, 0, 3, 1];
    const moved = order.map((i) => source[i]);
    const permute = (t) =>
      mapCells(t, (_, [, h, i, j]) => t.data[(h * 4 + order[i]) * 4 + order[j]]);
    assertClose(weights(moved, 'none'), permute(weights(source, 'none')));
    assert.throws(() =>
      assertClose(weights(moved, 'sinusoidal'), permute(weights(source, 'sinusoidal'))),
    );
  },
);

onEachEngine('model: sinusoidal positions are added to the embedding', (engine) => {
  const model = layerOf(engine, { position: 'sinusoidal' });
  model.forward({ source: SOURCE });
  const table = engine.positionalEncoding({ kind: 'sinusoidal', length: 5, hiddens: 12 });
  assertSame(model.tensor('source.position'), table);
  const embedding = model.tensor('source.embedding');
  const sum = mapCells(embedding, (value, [t, i]) => Math.fround(value + table.data[t * 12 + i]));
  assertSame(model.tensor('source.input'), batched(sum));
});

onEachEngine('model: the number of heads may change from one pass to the next', (engine) => {
  const model = layerOf(engine);
  model.forward({ source: SOURCE });
  const three = model.tensor('attention.weights');
  model.forward({ source: SOURCE, heads: 6 });
  assert.deepEqual(model.tensor('attention.weights').shape, [1, 6, 5, 5]);
  model.forward({ source: SOURCE });
  assertSame(model.tensor('attention.weights'), three);
});

onEachEngine('model: an override changes what follows, until it is cleared', (engine) => {
  const model = layerOf(engine);
  model.forward({ source: SOURCE });
  const names = ['attention.scores', 'attention.weights', 'attention.heads', 'attention.output'];
  const before = Object.fromEntries(names.map((name) => [name, model.tensor(name)]));

  model.override('attention.weights', { at: [0, 2, 1, 0], value: 0.5 });
  model.forward({ source: SOURCE });
  assertSame(model.tensor('attention.scores'), before['attention.scores']);
  const edited = mapCells(before['attention.weights'], (value, [, h, i, j]) =>
    h === 2 && i === 1 && j === 0 ? 0.5 : value,
  );
  assertSame(model.tensor('attention.weights'), edited);
  const value = model.tensor('attention.value');
  const heads = mapCells(before['attention.heads'], (old, [, h, i, d]) =>
    h === 2 && i === 1
      ? old + (0.5 - before['attention.weights'].data[(2 * 5 + 1) * 5]) * value.data[2 * 20 + d]
      : old,
  );
  assertClose(model.tensor('attention.heads'), heads);
  const rows = (t, keep) => mapCells(t, (cell, [, i]) => (keep(i) ? cell : 0));
  const others = (i) => i !== 1;
  assertSame(
    rows(model.tensor('attention.output'), others),
    rows(before['attention.output'], others),
    'other rows',
  );
  assert.notDeepEqual(model.tensor('attention.output').data, before['attention.output'].data);

  model.forward({ source: SOURCE, causal: true });
  assert.equal(model.tensor('attention.weights').data[(2 * 5 + 1) * 5], 0.5, 'it outlives a pass');

  model.clearOverrides();
  model.forward({ source: SOURCE });
  for (const name of names) assertSame(model.tensor(name), before[name], name);
});

onEachEngine('model: an override of scores renormalises its row', (engine) => {
  const model = layerOf(engine);
  model.override('attention.scores', { at: [0, 0, 2, null], value: 1 });
  model.forward({ source: SOURCE });
  const row = model.tensor('attention.weights').data.subarray(10, 15);
  assertClose(tensor([5], row), filled([5], 0.2));
});

onEachEngine('model: an override of a parameter reaches everything', (engine) => {
  const model = layerOf(engine);
  model.override('attention.query.weight', { at: [null, null], value: 0 });
  model.forward({ source: SOURCE });
  assertEqual(model.tensor('attention.scores'), filled([1, 3, 5, 5], 0));
  assertClose(model.tensor('attention.weights'), filled([1, 3, 5, 5], 0.2));
});

onEachEngine('model: parameters by name, as copies', (engine) => {
  const model = layerOf(engine, { bias: true });
  model.forward({ source: SOURCE });
  const parameters = model.parameters();
  for (const part of ['query', 'key', 'value', 'output']) {
    assert.deepEqual(parameters[`attention.${part}.weight`].shape, [12, 12], part);
    assert.deepEqual(parameters[`attention.${part}.bias`].shape, [12], part);
  }
  assertSame(parameters['attention.key.weight'], model.tensor('attention.key.weight'));
  parameters['attention.key.weight'].data.fill(0);
  const output = model.tensor('attention.output');
  model.forward({ source: SOURCE });
  assertSame(model.tensor('attention.output'), output);
});

onEachEngine(
  'model: two models, and the engine between them, do not disturb each other',
  (engine) => {
    const [first, second] = [layerOf(engine), layerOf(engine, { seed: 2, hiddens: 6 })];
    first.forward({ source: SOURCE });
    const output = first.tensor('attention.output');
    second.override('attention.weights', { at: [null, null, null, null], value: 0 });
    second.forward({ source: ['x', 'y'] });
    engine.attention([[1]], [[1]], [[1]]);
    assertSame(first.tensor('attention.output'), output);
    first.forward({ source: SOURCE });
    assertSame(first.tensor('attention.output'), output);
  },
);

test('model: both binaries give the same bits for every tensor', () => {
  for (const position of ['none', 'sinusoidal']) {
    const models = [engines.simd, engines.scalar].map((engine) =>
      layerOf(engine, { position, bias: true }),
    );
    for (const model of models) model.forward({ source: SOURCE, target: TARGET, validLens: [4] });
    assert.deepEqual(models[0].tensors(), models[1].tensors());
    for (const { name } of models[0].tensors()) {
      assertSame(models[0].tensor(name), models[1].tensor(name), name);
    }
  }
});

onEachEngine('model: an override after a failed call waits for the next pass', (engine) => {
  const model = layerOf(engine);
  const { weights } = model.forward({ source: SOURCE });
  assert.throws(() => model.forward({ source: SOURCE, temperature: -1 }));
  model.override('attention.weights', { at: [0, 0, 4, 0], value: 0.5 });
  assert.equal(model.forward({ source: SOURCE }).weights.data[4 * 5], 0.5);
  model.clearOverrides();
  assert.throws(() => model.forward({ source: SOURCE, temperature: -1 }));
  model.override('attention.wieghts', { at: [0, 0, 4, 0], value: 0.5 });
  assertFails(() => model.forward({ source: SOURCE }), 'NOT_FOUND', 'attention.wieghts');
  model.clearOverrides();
  assertSame(model.forward({ source: SOURCE }).weights, weights);
});

onEachEngine('model: a call from within another one is refused', (engine) => {
  const x = [[1, 2]];
  const { output } = engine.attention(x, x, x);
  const nested = {
    get scale() {
      engine.attention([[9]], [[9]], [[9]]);
      return true;
    },
  };
  assertFails(() => engine.attention(x, x, x, nested), 'BAD_VALUE', 'in the middle');
  assertSame(engine.attention(x, x, x).output, output);
});

onEachEngine('model: an override that fits nothing is refused at the door', (engine) => {
  const model = layerOf(engine);
  model.override('attention.weights', { at: [0, 0, 4, 0], value: 0.5 });
  model.forward({ source: SOURCE });
  for (const [name, at] of [
    ['attention.wieghts', [0, 0, 0, 0]],
    ['attention.weights', [0, 0, 0]],
  ]) {
    assert.throws(() => model.override(name, { at, value: 1 }), { option: 'overrides' });
  }
  const { weights } = model.forward({ source: SOURCE });
  assert.equal(weights.data[4 * 5], 0.5);
  assert.throws(() => model.forward({ source: SOURCE.slice(1) }), { option: 'overrides' });
  assertSame(model.forward({ source: SOURCE }).weights, weights);
});
