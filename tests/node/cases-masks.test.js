// Masks and softmax: small inputs on which other implementations went wrong, each named by its case
// number. What is exact is compared by bits, everything else within 1e-6 + 1e-5·|right|.

import assert from 'node:assert/strict';
import {
  assertClose,
  assertFails,
  assertFlags,
  assertSame,
  filled,
  identity,
  onEachEngine,
  tensor,
} from './helpers.js';

const ONE = 0.26894142;
const TWO = 0.73105858;
const THIRD = 1 / 3;
const LARGEST = -3.4028234663852886e38;

/** The output by the plain path and by the fused one, which never holds the weights. */
function outputs(engine, q, k, v, options) {
  return [true, false].map(
    (needWeights) => engine.attention(q, k, v, { ...options, needWeights }).output,
  );
}

/** Which cells are not 0, a string for each row. */
function pattern({ shape, data }) {
  const width = shape.at(-1);
  const cells = Array.from(data, (value) => (value === 0 ? '0' : '1')).join('');
  return cells.match(new RegExp(`.{${width}}`, 'g'));
}

const M1 = [
  [[1], [1]],
  [[1], [2]],
  [[10], [20]],
];
const M1_OPTIONS = {
  mask: [
    [1, 1],
    [0, 0],
  ],
  scale: 1,
};

onEachEngine('M1: a row with no key allowed is zero and flagged', (engine) => {
  const { weights, emptyRows, notFiniteRows } = engine.attention(...M1, M1_OPTIONS);
  assertClose(
    weights,
    [
      [ONE, TWO],
      [0, 0],
    ],
    'weights',
  );
  assertFlags(emptyRows, [0, 1]);
  assertFlags(notFiniteRows, [0, 0]);
  for (const output of outputs(engine, ...M1, M1_OPTIONS)) {
    assertClose(output, [[17.3105858], [0]], 'output');
    assert.equal(output.data[1], 0);
  }
  const fused = engine.attention(...M1, { ...M1_OPTIONS, needWeights: false });
  assertFlags(fused.emptyRows, [0, 1], 'flags of the fused path');
});

onEachEngine('M2: valid length 0 gives zeros, 2 of 3 gives two weights', (engine) => {
  const none = engine.maskedSoftmax([1, 2, 3], { validLens: [0] });
  assertSame(none.weights, [0, 0, 0]);
  assertFlags(none.emptyRows, [1]);
  const two = engine.maskedSoftmax([1, 2, 3], { validLens: [2] });
  assertClose(two.weights, [ONE, TWO, 0]);
  assert.equal(two.weights.data[2], 0);
  assertFlags(two.emptyRows, [0]);

  const qkv = [[[1]], [[1], [2], [3]], identity(3)];
  for (const output of outputs(engine, ...qkv, { scale: 1, validLens: [0] })) {
    assertSame(output, [[0, 0, 0]]);
  }
  for (const output of outputs(engine, ...qkv, { scale: 1, validLens: [2] })) {
    assertClose(output, [[ONE, TWO, 0]]);
    assert.equal(output.data[2], 0);
  }
});

onEachEngine('M4: NaN under the mask never leaks', (engine) => {
  const qkv = [[[1]], [[1], [NaN]], [[10], [NaN]]];
  for (const options of [{ mask: [[1, 0]] }, { validLens: [1] }, { bias: [[0, -Infinity]] }]) {
    for (const output of outputs(engine, ...qkv, options)) assertSame(output, [[10]]);
    const { weights, notFiniteRows } = engine.attention(...qkv, options);
    assertSame(weights, [[1, 0]]);
    assertFlags(notFiniteRows, [0]);
  }
  for (const value of [NaN, Infinity, -Infinity]) {
    assertSame(engine.maskedSoftmax([[0, value]], { mask: [[1, 0]] }).weights, [[1, 0]]);
  }
});

onEachEngine('M5: +inf in a score is NaN and flagged, -inf is weight 0', (engine) => {
  const up = engine.maskedSoftmax([0, Infinity]);
  assertSame(up.weights, [NaN, NaN]);
  assertFlags(up.notFiniteRows, [1]);
  const down = engine.maskedSoftmax([0, -Infinity]);
  assertSame(down.weights, [1, 0]);
  assertFlags(down.notFiniteRows, [0]);
});

onEachEngine('M5: NaN and +inf poison their own row only', (engine) => {
  const scores = [
    [0, 0],
    [NaN, 0],
    [0, 0],
    [0, Infinity],
    [0, 0],
  ];
  const { weights, notFiniteRows, emptyRows } = engine.maskedSoftmax(scores);
  const half = [0.5, 0.5];
  assertSame(weights, [half, [NaN, NaN], half, [NaN, NaN], half]);
  assertFlags(notFiniteRows, [0, 1, 0, 1, 0]);
  assertFlags(emptyRows, [0, 0, 0, 0, 0]);

  const q = [[0], [NaN], [0], [Infinity]];
  for (const output of outputs(engine, q, [[1], [1]], [[2], [4]], { scale: 1 })) {
    assertSame(output, [[3], [NaN], [3], [NaN]]);
  }
});

onEachEngine('M6: scores far below the largest have weight exactly 0', (engine) => {
  assertSame(engine.maskedSoftmax([-0.0293463, -1e9, -1e9]).weights, [1, 0, 0]);
  const bias = [[0, -1e9, -1e9]];
  const qkv = [[[-0.0293463]], [[1], [1], [1]], identity(3)];
  for (const output of outputs(engine, ...qkv, { bias })) assertSame(output, [[1, 0, 0]]);
});

onEachEngine('M7: a masked weight is exactly 0', (engine) => {
  const { weights } = engine.maskedSoftmax([[1, 2, 3]], { mask: [[1, 1, 0]] });
  assertClose(weights, [[ONE, TWO, 0]]);
  assert.equal(weights.data[2], 0);
  const vector = engine.maskedSoftmax([1, 2, 3], { mask: [[1, 1, 0]] });
  assertSame(vector.weights, tensor([3], weights.data));
});

onEachEngine('M7: booleans and numbers are the same mask', (engine) => {
  const numbers = engine.maskedSoftmax([[1, 2, 3]], { mask: [[1, 1, 0]] });
  const booleans = engine.maskedSoftmax([[1, 2, 3]], { mask: [[true, true, false]] });
  assertSame(booleans.weights, numbers.weights);
});

onEachEngine('M8: causal over zeros', (engine) => {
  const right = [
    [1, 0, 0],
    [0.5, 0.5, 0],
    [THIRD, THIRD, THIRD],
  ];
  const zeros = filled([3, 3], 0);
  assertClose(engine.maskedSoftmax(zeros, { causal: true }).weights, right);
  assert.deepEqual(pattern(engine.maskedSoftmax(zeros, { causal: true }).weights), [
    '100',
    '110',
    '111',
  ]);
  for (const output of outputs(engine, zeros, zeros, identity(3), { causal: true })) {
    assertClose(output, right);
  }
});

for (const { causal, wide, tall } of [
  { causal: true, wide: ['11110', '11111'], tall: ['00', '00', '00', '10', '11'] },
  { causal: 'bottom-right', wide: ['11110', '11111'], tall: ['00', '00', '00', '10', '11'] },
  { causal: 'top-left', wide: ['10000', '11000'], tall: ['10', '11', '11', '11', '11'] },
]) {
  onEachEngine(`M9: causal ${causal} where queries and keys differ in number`, (engine) => {
    for (const [queries, keys, right] of [
      [2, 5, wide],
      [5, 2, tall],
    ]) {
      const empty = right.map((row) => Number(!row.includes('1')));
      const softmax = engine.maskedSoftmax(filled([queries, keys], 0), { causal });
      assert.deepEqual(pattern(softmax.weights), right);
      assertFlags(softmax.emptyRows, empty);
      const qkv = [filled([queries, 3], 0), filled([keys, 3], 0), identity(keys)];
      for (const output of outputs(engine, ...qkv, { causal })) {
        assert.deepEqual(pattern(output), right);
      }
      assertFlags(engine.attention(...qkv, { causal }).emptyRows, empty);
    }
  });
}

onEachEngine('M10: padding masks keys, for every query', (engine) => {
  const tokens = [5, 7, 0, 0];
  const zeros = filled([4, 4], 0);
  const mask = [tokens.map((id) => id !== 0)];
  const everyRow = ['1100', '1100', '1100', '1100'];
  for (const options of [{ mask }, { validLens: [2] }, { mask: [mask] }, { mask: [[mask[0]]] }]) {
    assert.deepEqual(pattern(engine.maskedSoftmax(zeros, options).weights), everyRow);
    for (const output of outputs(engine, zeros, zeros, identity(4), options)) {
      assert.deepEqual(pattern(output), everyRow);
    }
  }
});

onEachEngine('M11: a row of the lowest number is uniform, a row of -inf is empty', (engine) => {
  for (const scores of [[[1, 1, 1]], [[0, 0, 0]]]) {
    const low = engine.maskedSoftmax(scores, { bias: filled([1, 3], LARGEST) });
    assertClose(low.weights, [[THIRD, THIRD, THIRD]]);
    assertFlags(low.emptyRows, [0]);
    const none = engine.maskedSoftmax(scores, { bias: filled([1, 3], -Infinity) });
    assertSame(none.weights, [[0, 0, 0]]);
    assertFlags(none.emptyRows, [1]);
  }
  const qkv = [[[1]], [[1], [1], [1]], identity(3)];
  for (const output of outputs(engine, ...qkv, { bias: filled([1, 3], LARGEST) })) {
    assertClose(output, [[THIRD, THIRD, THIRD]]);
  }
  for (const output of outputs(engine, ...qkv, { bias: filled([1, 3], -Infinity) })) {
    assertSame(output, [[0, 0, 0]]);
  }
});

onEachEngine('M12: scale 0 is zero, and no scale is 1/√d', (engine) => {
  const q = [[1, 2, 3, 4]];
  const k = [
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [0, 0, 1, 0],
  ];
  for (const output of outputs(engine, q, k, identity(3), { scale: 0, mask: [[1, 1, 0]] })) {
    assertSame(output, [[0.5, 0.5, 0]]);
  }
  assertSame(engine.attention(q, k, identity(3), { scale: 0 }).scores, [[0, 0, 0]]);
  for (const scale of [undefined, true, 0.5]) {
    assertSame(engine.attention(q, k, identity(3), { scale }).scores, [[0.5, 1, 1.5]]);
  }
  assertSame(engine.attention(q, k, identity(3), { scale: false }).scores, [[1, 2, 3]]);
});

onEachEngine('M13: softmax runs along the keys', (engine) => {
  const right = [
    [0.25, 0.75],
    [0.5, 0.5],
  ];
  assertClose(
    engine.maskedSoftmax([
      [0, Math.log(3)],
      [0, 0],
    ]).weights,
    right,
  );
  const q = [[1], [0]];
  const k = [[0], [Math.log(3)]];
  assertClose(engine.attention(q, k, identity(2), { scale: 1 }).weights, right);
  for (const output of outputs(engine, q, k, identity(2), { scale: 1 })) assertClose(output, right);
});

onEachEngine('M14: width 0 and heads 0 are errors', (engine) => {
  const nothing = tensor([1, 0], []);
  assertFails(() => engine.attention(nothing, nothing, [[1]]), /BAD_SHAPE|BAD_VALUE/, 0);
  const params = Object.fromEntries(
    ['query', 'key', 'value', 'output'].map((name) => [name, { weight: identity(2) }]),
  );
  const x = [[1, 2]];
  assertFails(
    () => engine.multiHeadAttention(x, x, x, { heads: 0, params }),
    /BAD_SHAPE|BAD_VALUE/,
    0,
  );
  assertFails(() => engine.attentionLayer({ hiddens: 8, heads: 0 }), /BAD_SHAPE|BAD_VALUE/, 0);
});

onEachEngine('M14: no keys leave every row empty, no queries give an empty output', (engine) => {
  const q = filled([2, 3], 1);
  const noKeys = [q, tensor([0, 3], []), tensor([0, 4], [])];
  for (const output of outputs(engine, ...noKeys, {})) assertSame(output, filled([2, 4], 0));
  const result = engine.attention(...noKeys);
  assert.deepEqual(result.weights.shape, [2, 0]);
  assertFlags(result.emptyRows, [1, 1]);

  const noQueries = [tensor([0, 3], []), q, filled([2, 4], 1)];
  for (const output of outputs(engine, ...noQueries, {})) assertSame(output, tensor([0, 4], []));
  assertFlags(engine.attention(...noQueries).emptyRows, []);
});
