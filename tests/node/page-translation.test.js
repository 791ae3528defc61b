/** The lessons that learn to translate: state, requests, links, and what is read from their results. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../wasm/attention.js';
import { createEvaluator } from '../../wasm/evaluate.js';
import { lessons } from '../../web/lessons/index.js';
import { decodeState, encodeState } from '../../web/lessons/state.js';
import { bringFile } from '../../web/lessons/translation.js';

/** @type {Record<string, any>} */
const { transformer, bahdanau } = lessons;
const engine = await createEngine();
const evaluate = createEvaluator(engine);

/** Small enough for a test. */
const small = { hiddens: 16, heads: 2, layers: 1, feedForward: 16, batchSize: 200, epochs: 4 };
const own = Array.from('abcdefghij', (a, i) => `${a} b c\t${a} z ${i % 2 ? 'y' : 'x'}`).join('\n');

/** @param {any} lesson @param {object} values */
async function result(lesson, values, more = {}) {
  const state = lesson.reduce(lesson.defaults, { type: 'load', values });
  return { state, ...(await evaluate({ ...lesson.request(state), ...more })) };
}

for (const lesson of [transformer, bahdanau]) {
  test(`${lesson.name}: a link brings the same state, hostile ones bring none`, async () => {
    assert.equal(await encodeState(lesson.table, lesson.defaults), '');
    const values = {
      seed: 3,
      step: 5,
      sentence: 'i like this book .',
      method: 'beam',
      corpus: 'own',
      own,
    };
    const state = lesson.reduce(lesson.defaults, { type: 'load', values });
    assert.equal(state.step, 5);
    const link = await encodeState(lesson.table, state);
    assert.deepEqual((await decodeState(lesson.table, link)).state, state);
    const wild = {
      ...lesson.defaults,
      corpus: 'own',
      own: 'no tab in it',
      step: 10 ** 9,
      loaded: 'x',
    };
    const settled = lesson.settle(wild);
    assert.equal(settled.corpus, 'english-french');
    assert.equal(settled.loaded, '');
    assert.equal(settled.step, 1000 * lesson.plan(settled).perEpoch, 'no plan is longer');
    assert.deepEqual(lesson.misfits({ ...lesson.defaults, step: 10 ** 9 }), ['step']);
    const edits = [{ name: 'logits', at: [2, 2, 2, 1], value: 0 }];
    assert.deepEqual(lesson.misfits({ ...lesson.defaults, edits }), ['edits']);
  });

  test(`${lesson.name}: another model starts from its initial weights, another sentence does not`, () => {
    const at = lesson.reduce(lesson.defaults, { type: 'set', values: { step: 7 } });
    const running = lesson.reduce(at, { type: 'set', values: { running: true } });
    assert.equal(lesson.request(running).training.steps, lesson.plan(running).steps);
    const other = lesson.reduce(running, { type: 'set', values: { hiddens: 64 } });
    assert.deepEqual([other.step, other.running], [0, false]);
    const elsewhere = lesson.reduce(running, {
      type: 'set',
      values: { sentence: 'is the hat red ?' },
    });
    assert.deepEqual([elsewhere.step, elsewhere.running], [7, true]);
    assert.equal(lesson.plan(elsewhere).key, lesson.plan(at).key);
    assert.notEqual(lesson.plan(other).key, lesson.plan(at).key);
    const back = lesson.reduce(running, { type: 'set', values: { step: 3 } });
    assert.deepEqual([back.step, back.running], [3, false]);
  });
}

for (const lesson of [transformer, bahdanau]) {
  /** Types into the field of epochs, letter by letter. @param {any} state @param {...number} values */
  const type = (state, ...values) =>
    values.reduce(
      (state, epochs) => lesson.reduce(state, { type: 'set', values: { epochs } }),
      state,
    );
  const values = { batchSize: 200, epochs: 8 };
  const started = lesson.reduce(lesson.defaults, { type: 'load', values });
  const { key, perEpoch } = lesson.plan(started);
  const trained = { ...started, step: 8 * perEpoch };

  test(`${lesson.name}: another number of epochs takes nothing back of what is trained`, async () => {
    assert.ok(perEpoch > 1);
    const shorter = type(trained, 1);
    assert.equal(shorter.step, 8 * perEpoch, 'beyond the plan');
    assert.equal(lesson.plan(shorter).key, key);
    assert.deepEqual(type(trained, 1, 12), { ...trained, epochs: 12 });
    const running = lesson.reduce(shorter, { type: 'set', values: { running: true } });
    assert.equal(running.running, false, 'the shorter plan is complete');
    const link = await encodeState(lesson.table, shorter);
    assert.deepEqual((await decodeState(lesson.table, link)).state, shorter);
    assert.deepEqual(lesson.misfits(shorter), []);
    assert.equal(lesson.request(shorter).training.steps, 8 * perEpoch);
  });

  test(`${lesson.name}: by the cosine another number of epochs is another run`, () => {
    const cosine = { ...trained, schedule: 'cosine', step: 3 * perEpoch };
    const other = type(cosine, 12);
    assert.notEqual(lesson.plan(other).key, lesson.plan(cosine).key);
    assert.equal(other.step, 0);
    assert.equal(type(cosine, 8).step, 3 * perEpoch, 'the same one');
    const beyond = { ...cosine, step: 9 * perEpoch };
    assert.equal(lesson.settle(beyond).step, 8 * perEpoch, 'the rates end there');
  });
}

test('transformer: maps, labels, translation, candidates, cache and score', async () => {
  const longer = { ...small, epochs: 40, learningRate: 0.02, step: 80 };
  const found = await result(transformer, { ...longer, sentence: 'is the hat red ?' });
  assert.equal(found.step, 80);
  const blocks = transformer.blocksOf(found);
  assert.deepEqual(
    blocks.map(({ block, kind }) => `${block} ${kind}`),
    [
      'encoder.0.attention encoder',
      'decoder.0.self_attention decoder',
      'decoder.0.cross_attention cross',
    ],
  );
  const map = transformer.matrixOf(found, 'decoder.0.cross_attention.weights', -1);
  const keys = transformer.labelsOf(found, 'Tk', map.tensor, map.columns);
  const queries = transformer.labelsOf(found, 'Tq', map.tensor, map.rows);
  assert.deepEqual(keys, ['is', 'the', 'hat', 'red', '?', '<eos>']);
  assert.deepEqual(queries.slice(0, 4), ['<bos>', 'est-ce', 'que', 'le'], 'the reference');
  for (let row = 0; row < map.rows; row += 1) {
    const sum = map.data
      .subarray(row * map.columns, (row + 1) * map.columns)
      .reduce((a, b) => a + b);
    assert.ok(Math.abs(sum - 1) < 1e-5);
  }
  const mask = transformer.maskOf(found, 'decoder.0.self_attention.weights');
  assert.equal(mask[1], 2, 'the first word does not see the second: causal');
  const score = transformer.scoreOf(found);
  assert.ok(score.loss > 0 && score.bleu >= 0 && score.bleu <= 1);

  const written = transformer.writtenOf(found);
  const third = await result(transformer, {
    ...longer,
    sentence: 'is the hat red ?',
    token: 3,
  });
  assert.deepEqual(transformer.writtenOf(third), written, 'looking at a token changes no word');
  const [likeliest, ...others] = transformer.candidatesOf(third);
  assert.equal(likeliest.token, written[2]);
  assert.ok(others.every(({ probability }) => probability <= likeliest.probability));
  const cache = transformer.cacheOf(third, 0);
  assert.deepEqual(
    cache.map(({ tensor, rows }) => `${tensor} ${rows}`),
    ['decoder.0.self_attention.key 3', 'decoder.0.self_attention.value 3'],
  );
  assert.equal(
    transformer.matrixOf(third, map.tensor, 0).rows,
    3,
    'rows for the tokens written so far',
  );
});

test('transformer: what decoding shows is what was decoded, by every method, cache and position', async () => {
  const values = {
    ...small,
    epochs: 10,
    learningRate: 0.01,
    step: 20,
    sentence: 'is the hat red ?',
  };
  for (const method of ['greedy', 'beam']) {
    for (const cache of ['keys-values', 'representations', 'none']) {
      for (const positions of ['correct', 'as-d2l']) {
        const how = { ...values, method, cache, positions };
        const whole = await result(transformer, how);
        const words = transformer.writtenOf(whole);
        let sum = 0;
        for (const [at, word] of words.entries()) {
          const step = await result(transformer, { ...how, token: at + 1 });
          const likely = transformer.candidatesOf(step, Infinity);
          sum += Math.log(
            likely.find((/** @type {any} */ { token }) => token === word).probability,
          );
          const rows = transformer.cacheOf(step, 0).map((/** @type {any} */ map) => map.rows);
          const kept = { 'keys-values': 2, representations: 1, none: 0 }[cache];
          assert.deepEqual(rows, Array(kept).fill(at + 1), `${method}, ${cache}, ${positions}`);
        }
        const worth = method === 'beam' ? sum / words.length ** 0.75 : sum;
        const off = Math.abs(worth - Number(whole.decoded?.score));
        assert.ok(
          off < 1e-4,
          `${method}, ${cache}, ${positions}: ${worth} ${whole.decoded?.score}`,
        );
      }
    }
  }
});

test('transformer: candidates of sampling have the probabilities that they are drawn by', async () => {
  const likely = async (/** @type {number} */ temperature) => {
    const how = { ...small, step: 8, method: 'sample', temperature, token: 1 };
    return transformer.candidatesOf(await result(transformer, how), Infinity);
  };
  const one = await likely(1);
  const half = await likely(0.5);
  const squares = one.map((/** @type {any} */ { probability }) => probability ** 2);
  const sum = squares.reduce((/** @type {number} */ all, /** @type {number} */ each) => all + each);
  for (const [at, square] of squares.entries()) {
    assert.ok(Math.abs(half[at].probability - square / sum) < 1e-6, `${at}`);
  }
});

test('transformer: a silenced head and an edited cell reach the weights, the score and the translation', async () => {
  const name = 'decoder.0.cross_attention';
  const values = { ...small, step: 8 };
  const whole = await result(transformer, values);
  const silenced = [0, 1].map((head) => `${name}/${head}`);
  const blind = await result(transformer, { ...values, silenced });
  assert.ok(
    blind.values[`${name}.weights`].data.every((/** @type {number} */ weight) => weight === 0),
  );
  assert.notEqual(blind.score?.loss, whole.score?.loss);
  const edits = [
    { name: `${name}.weights`, at: [1, 0, 2], value: 0.75 },
    { name: `${name}.weights`, at: [1, 30, 2], value: 0.75 },
  ];
  const edited = await result(transformer, { ...values, edits });
  const map = transformer.matrixOf(edited, `${name}.weights`, 1);
  assert.equal(map.data[2], 0.75, 'and the edit of a row that is not there waits');
  assert.deepEqual(transformer.editedCells(edited.state, map)[0], [0, 2]);
});

test('bahdanau: the padding is masked, an edited weight moves what follows', async () => {
  const values = { hiddens: 8, embedding: 8, layers: 1, batchSize: 200, epochs: 2, step: 4 };
  const plain = await result(bahdanau, values, { read: 'all' });
  const map = bahdanau.matrixOf(plain, 'decoder.attention.weights', 0);
  const mask = bahdanau.maskOf(plain, map.tensor);
  const labels = bahdanau.labelsOf(plain, 'Tk', map.tensor, map.columns);
  assert.deepEqual(
    labels.map((/** @type {string} */ label) => label === '<pad>'),
    Array.from(mask.subarray(0, map.columns), (reason) => reason === 1),
  );
  const edits = [{ name: map.tensor, at: [0, 1, 0], value: 2 }];
  const edited = await result(bahdanau, { ...values, edits }, { read: 'all' });
  assert.equal(bahdanau.matrixOf(edited, map.tensor, 0).data[map.columns], 2);
  assert.notDeepEqual(edited.values.logits.data, plain.values.logits.data);
  const none = await result(bahdanau, { ...values, attention: 'none' });
  assert.deepEqual(bahdanau.blocksOf(none), []);
});

test('the known alignment of the words across, and how far the largest weights agree', async () => {
  const name = 'decoder.0.cross_attention.weights';
  const sentence = 'i am drawing a green bike.';
  const edits = [0, 1].map((head) => ({ name, at: [head, 4, 4], value: 0.9 }));
  const plain = await result(transformer, { ...small, sentence, edits });
  const map = transformer.matrixOf(plain, name, 0);
  const { cells, agreement } = transformer.alignmentOf(plain, map);
  assert.deepEqual(transformer.targetOf(plain).slice(4), ['vélo', 'vert', '.']);
  assert.equal(transformer.sourceOf(plain)[4], 'green');
  for (const cell of [
    [3, 5],
    [4, 4],
    [5, 6],
  ]) {
    assert.ok(
      cells.some((/** @type {number[]} */ known) => known.join() === cell.join()),
      `${cell}`,
    );
  }
  assert.equal(agreement.words, 6);
  const off = {
    ...map,
    data: map.data.map(
      (/** @type {number} */ weight, /** @type {number} */ at) =>
        Number(at === 4 * map.columns + 4) * weight,
    ),
  };
  assert.equal(
    transformer.alignmentOf(plain, off).agreement.agreeing,
    1,
    'rows of zeros do not agree',
  );

  const written = await result(transformer, { ...small, sentence, reading: 'translation' });
  assert.equal(transformer.alignmentOf(written, map), null, 'an untrained model writes no pair');
  const strange = await result(transformer, { ...small, sentence: 'bike bike' });
  assert.equal(transformer.alignmentOf(strange, transformer.matrixOf(strange, name, 0)), null);
});

test('own pairs, and a model from a file', async () => {
  const values = { ...small, corpus: 'own', own, batchSize: 4, step: 2 };
  const trained = await result(transformer, values, { save: 'torch' });
  assert.equal(trained.step, 2);
  const loaded = bringFile('mine.safetensors', /** @type {Uint8Array} */ (trained.saved));
  const again = await result(transformer, { ...values, step: 0, loaded });
  assert.deepEqual(again.values, trained.values);
});

for (const lesson of [transformer, bahdanau]) {
  test(`${lesson.name}: a loaded file is left aside where it does not fit, and used again where it does`, async () => {
    const values = { ...small, embedding: 16, corpus: 'own', own, batchSize: 4, step: 2 };
    const trained = await result(lesson, values, { save: 'own' });
    const loaded = bringFile('mine.safetensors', /** @type {Uint8Array} */ (trained.saved));
    const fits = lesson.reduce(trained.state, { type: 'set', values: { loaded } });
    assert.equal(fits.step, 0);
    for (const change of [{ corpus: 'english-chinese' }, { hiddens: 32 }]) {
      const other = lesson.reduce(fits, { type: 'set', values: change });
      assert.equal(lesson.leftAside(other), undefined, 'nobody knows yet');
      const failure = await evaluate(lesson.request(other)).catch((error) => error);
      assert.match(failure.message, /has the shape \[.*\]; the model's is \[.*\]/);
      assert.ok(lesson.leaveAside(other, failure));
      assert.equal(lesson.leftAside(other), failure);
      const without = lesson.reduce(other, { type: 'set', values: { loaded: '' } });
      assert.equal(lesson.plan(other).key, lesson.plan(without).key);
      const shown = await evaluate(lesson.request(other));
      const initial = await evaluate(lesson.request(without));
      assert.deepEqual(shown.values, initial.values);
      const { corpus, hiddens } = fits;
      const back = lesson.reduce(other, { type: 'set', values: { corpus, hiddens } });
      assert.equal(lesson.leftAside(back), undefined);
      assert.deepEqual((await evaluate(lesson.request(back))).values.logits, trained.values.logits);
    }
    assert.equal(lesson.leaveAside(fits, new Error('of another kind')), false);
  });
}

test('a head that is not there cannot be silenced; decoding leaves the model as it is', () => {
  const name = 'decoder.0.cross_attention';
  const silenced = ['0', '3', '99', '-1', 'x'].map((head) => `${name}/${head}`);
  const { silenced: left } = transformer.settle({ ...transformer.defaults, silenced });
  assert.deepEqual(left, [`${name}/0`, `${name}/3`]);
  const fewer = transformer.reduce(
    { ...transformer.defaults, silenced: left },
    {
      type: 'set',
      values: { heads: 2 },
    },
  );
  assert.deepEqual(fewer.silenced, [`${name}/0`]);
  // A click may come from a figure that still shows heads of before.
  const late = transformer.reduce(fewer, { type: 'silence', block: name, head: 3, off: true });
  assert.deepEqual(late.silenced, [`${name}/0`]);
  const trained = transformer.reduce(transformer.defaults, { type: 'load', values: { step: 70 } });
  for (const values of [{ positions: 'as-d2l' }, { cache: 'none' }, { method: 'beam' }]) {
    assert.equal(transformer.reduce(trained, { type: 'set', values }).step, 70);
  }
});

test('two files of one name are two models', () => {
  const bytes = new Uint8Array(100_000);
  const first = bringFile('m.safetensors', bytes.slice());
  bytes[99_999] = 1;
  assert.notEqual(bringFile('m.safetensors', bytes), first);
  for (let last = 0; last < 8; last++) {
    bytes[99_999] = last;
    assert.match(bringFile('m.safetensors', bytes), /^m\.safetensors \d+ \d+$/);
  }
});

test('the PyTorch script: an odd width, and positions that nn.Transformer does not have', async () => {
  const odd = await result(transformer, { ...small, hiddens: 9, heads: 3 }, { read: 'all' });
  assert.ok(transformer.toPyTorch(odd.state, odd).includes('.flatten(1)[:, :H]\n'));
  for (const position of ['rotary', 'alibi']) {
    const turned = await result(transformer, { ...small, position }, { read: 'all' });
    const script = transformer.toPyTorch(turned.state, turned);
    assert.equal(script, `# nn.Transformer has no ${position} positions\n`);
  }
});
