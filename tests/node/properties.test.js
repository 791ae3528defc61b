// What holds for any input: random sizes, masks and numbers, shrunk to the smallest that fails. What
// holds between calls and between binaries is in properties-same.test.js.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  anySeed,
  bothPaths,
  holds,
  maskKinds,
  masksOf,
  problems,
  size,
  squares,
} from './arbitraries.js';
import {
  assertClose,
  assertEqual,
  assertFlags,
  assertSame,
  assertSameResults,
  filled,
  mapCells,
  randomParams,
  randomTensor,
  seeded,
  take,
} from './helpers.js';
import { isVisible, reference } from './reference.js';

// ---- right ---------------------------------------------------------------------------------------

holds(
  'any masks: plain and fused agree with float64',
  problems,
  maskKinds,
  (engine, problem, kinds) => {
    const { q, k, v } = problem;
    const options = masksOf(kinds, problem);
    const right = reference(q, k, v, options);
    const plain = engine.attention(q, k, v, options);
    for (const name of ['scores', 'weights', 'output']) assertClose(plain[name], right[name], name);
    assertFlags(plain.emptyRows, right.emptyRows);
    const fused = engine.attention(q, k, v, { ...options, needWeights: false });
    assertClose(fused.output, right.output, 'output of the fused path');
    assertFlags(fused.emptyRows, right.emptyRows);
    fused.output.data.forEach((value, i) => {
      const difference = Math.abs(value - plain.output.data[i]);
      assert.ok(
        difference <= 1e-6 * Math.max(1, Math.abs(value)),
        `fused and plain: ${difference}`,
      );
    });
  },
);

holds(
  'any masks: rows sum to 1, or to 0 when empty',
  problems,
  maskKinds,
  (engine, problem, kinds) => {
    const { q, k, v } = problem;
    const { weights, emptyRows } = engine.attention(q, k, v, masksOf(kinds, problem));
    const keys = k.shape[2];
    emptyRows.forEach((empty, row) => {
      const cells = weights.data.subarray(row * keys, (row + 1) * keys);
      assert.ok(cells.every((weight) => weight >= 0 && weight <= 1));
      const sum = cells.reduce((total, weight) => total + weight, 0);
      if (empty) assert.equal(sum, 0);
      else assert.ok(Math.abs(sum - 1) <= 1e-6, `row ${row} sums to ${sum}`);
    });
  },
);

holds('long rows: plain and fused agree with float64', size(700), anySeed, (engine, keys, seed) => {
  const random = seeded(seed);
  const q = randomTensor(random, 1, 1, 3, 4);
  const [k, v] = [1, 2].map(() => randomTensor(random, 1, 1, keys, 4));
  const options = { validLens: [Math.ceil(keys * random())] };
  const right = reference(q, k, v, options);
  for (const path of bothPaths) {
    assertClose(engine.attention(q, k, v, { ...options, ...path }).output, right.output);
  }
});

// ---- symmetric -----------------------------------------------------------------------------------

holds(
  'permuting keys permutes weights and leaves the output',
  problems,
  (engine, { random, q, k, v }) => {
    const keys = k.shape[2];
    const order = Array.from({ length: keys }, (_, i) => i);
    for (let i = keys - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [order[i], order[j]] = [order[j], order[i]];
    }
    const move = (t) =>
      mapCells(t, (_, [b, h, j, d]) => {
        const [, heads, , width] = t.shape;
        return t.data[((b * heads + h) * keys + order[j]) * width + d];
      });
    for (const path of bothPaths) {
      const before = engine.attention(q, k, v, path);
      const after = engine.attention(q, move(k), move(v), path);
      assertClose(after.output, before.output);
      if (!path.needWeights) continue;
      const { weights } = before;
      const permuted = mapCells(weights, (_, [b, h, i, j]) => {
        const [, heads, queries] = weights.shape;
        return weights.data[((b * heads + h) * queries + i) * keys + order[j]];
      });
      assertClose(after.weights, permuted);
    }
  },
);

holds(
  'adding one number to a row of scores changes no bit of its weights',
  fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 70 }),
  fc.integer({ min: -4000, max: 4000 }),
  (engine, eighths, shift) => {
    // Multiples of 1/8 below 2^20 are exact in float32, and so are their sums.
    const scores = [eighths.map((value) => value / 8)];
    const moved = [eighths.map((value) => value / 8 + shift)];
    const { weights } = engine.maskedSoftmax(scores);
    assertSame(engine.maskedSoftmax(moved).weights, weights);
    assertSame(engine.maskedSoftmax(scores, { bias: [[shift]] }).weights, weights);
  },
);

holds(
  'a batch is its entries one by one, bit for bit',
  problems,
  maskKinds,
  (engine, problem, kinds) => {
    const { q, k, v } = problem;
    const options = masksOf(kinds, problem);
    for (const path of bothPaths) {
      const whole = engine.attention(q, k, v, { ...options, ...path });
      for (let b = 0; b < q.shape[0]; b++) {
        const part = { ...options, ...path };
        if (part.validLens) part.validLens = [part.validLens[b]];
        if (part.mask) part.mask = take(part.mask, [b]);
        if (part.bias) part.bias = take(part.bias, [b]);
        const alone = engine.attention(take(q, [b]), take(k, [b]), take(v, [b]), part);
        for (const name of ['output', 'weights', 'scores']) {
          if (whole[name]) assertSame(alone[name], take(whole[name], [b]), name);
        }
      }
    }
  },
);

holds(
  'a head whose mask is 0 is a head removed',
  size(3),
  size(4),
  anySeed,
  (engine, heads, width, seed) => {
    const random = seeded(seed);
    const hiddens = heads * width;
    const params = randomParams(random, hiddens);
    const x = randomTensor(random, 2, 5, hiddens);
    const removed = Math.floor(random() * heads);
    const headMask = Array.from({ length: heads }, (_, h) => Number(h !== removed));
    const inHead = (out) => Math.floor(out / width) === removed;
    const without = {
      ...params,
      output: {
        ...params.output,
        weight: mapCells(params.output.weight, (value, [, column]) => (inHead(column) ? 0 : value)),
      },
    };
    for (const path of bothPaths) {
      const masked = engine.multiHeadAttention(x, x, x, { heads, params, headMask, ...path });
      const gone = engine.multiHeadAttention(x, x, x, { heads, params: without, ...path });
      assertEqual(masked.output, gone.output);
      if (path.needWeights) assertSame(masked.weights, gone.weights);
    }
  },
);

// ---- masked is never read ------------------------------------------------------------------------

holds(
  'causal: an edit of the future changes no bit of the past',
  squares,
  (engine, { random, length, q, k, v }) => {
    const now = Math.floor(random() * (length - 1));
    const edit = (t) => mapCells(t, (value, [, , j]) => (j > now ? random() * 100 : value));
    const past = (t) => mapCells(t, (value, [, , i]) => (i <= now ? value : 0));
    for (const path of bothPaths) {
      const options = { causal: true, ...path };
      const before = engine.attention(q, k, v, options);
      const after = engine.attention(edit(q), edit(k), edit(v), options);
      assertSame(past(after.output), past(before.output));
      if (path.needWeights) assertSame(past(after.weights), past(before.weights));
    }
  },
);

holds(
  'valid lengths are the boolean mask of the same cells, bit for bit',
  problems,
  (engine, { random, q, k, v }) => {
    const [batch, , queries] = q.shape;
    const keys = k.shape[2];
    const validLens = Array.from({ length: batch }, () =>
      Array.from({ length: queries }, () => Math.floor(random() * (keys + 1))),
    );
    const mask = mapCells(filled([batch, queries, keys], 0), (_, [b, i, j]) =>
      Number(j < validLens[b][i]),
    );
    for (const path of bothPaths) {
      assertSameResults(
        engine.attention(q, k, v, { mask, ...path }),
        engine.attention(q, k, v, { validLens, ...path }),
      );
    }
    const { scores } = engine.attention(q, k, v);
    assertSameResults(
      engine.maskedSoftmax(scores, { mask }),
      engine.maskedSoftmax(scores, { validLens }),
    );
  },
);

holds(
  'causal and windows are the boolean mask of the same cells, bit for bit',
  squares,
  maskKinds,
  (engine, { length, q, k, v }, { causal, window }) => {
    const mask = mapCells(filled([length, length], 0), (_, [i, j]) =>
      Number(isVisible(i, j, length, length, { causal, window })),
    );
    for (const path of bothPaths) {
      assertSameResults(
        engine.attention(q, k, v, { causal, window, ...path }),
        engine.attention(q, k, v, { mask, ...path }),
      );
    }
  },
);

holds(
  'a bias of -inf is the boolean mask of the same cells, bit for bit',
  problems,
  (engine, { random, q, k, v }) => {
    const mask = mapCells(filled([q.shape[2], k.shape[2]], 0), () => Number(random() < 0.6));
    const bias = mapCells(mask, (allowed) => (allowed ? 0 : -Infinity));
    for (const path of bothPaths) {
      assertSameResults(
        engine.attention(q, k, v, { bias, ...path }),
        engine.attention(q, k, v, { mask, ...path }),
      );
    }
  },
);

holds(
  'what stands under a mask never reaches a result',
  problems,
  fc.constantFrom(NaN, Infinity, -Infinity, 3e38),
  fc.constantFrom('validLens', 'mask', 'bias'),
  (engine, { random, q, k, v }, poison, kind) => {
    const [batch, , keys] = k.shape;
    const valid = Array.from({ length: batch }, () => Math.floor(random() * (keys + 1)));
    const mask = mapCells(filled([batch, 1, keys], 0), (_, [b, , j]) => Number(j < valid[b]));
    const option = {
      validLens: valid,
      mask,
      bias: mapCells(mask, (allowed) => (allowed ? 0 : -Infinity)),
    }[kind];
    const spoil = (t) => mapCells(t, (value, [b, , j]) => (j < valid[b] ? value : poison));
    const results = ['output', 'weights', 'emptyRows', 'notFiniteRows'];
    for (const path of bothPaths) {
      const options = { [kind]: option, ...path };
      const clean = engine.attention(q, k, v, options);
      const spoilt = engine.attention(q, spoil(k), spoil(v), options);
      for (const name of results) assert.deepEqual(spoilt[name], clean[name], name);
      assert.ok(clean.output.data.every(Number.isFinite));
    }
  },
);

holds(
  'NaN and +inf in a query poison its own rows only',
  problems,
  fc.constantFrom(NaN, Infinity),
  (engine, { random, q, k: signed, v }, poison) => {
    const [, heads, queries] = q.shape;
    const row = Math.floor(random() * queries);
    const k = mapCells(signed, (value) => 0.1 + Math.abs(value)); // so that +inf stays +inf
    const spoilt = mapCells(q, (value, [, , i]) => (i === row ? poison : value));
    for (const path of bothPaths) {
      const clean = engine.attention(q, k, v, path);
      const result = engine.attention(spoilt, k, v, path);
      const others = (t) => mapCells(t, (value, [, , i]) => (i === row ? 0 : value));
      assertSame(others(result.output), others(clean.output));
      const own = mapCells(result.output, (value, [, , i]) => (i === row ? value : NaN));
      assert.ok(own.data.every(Number.isNaN), 'the poisoned rows are NaN');
      result.notFiniteRows.forEach((flag, i) => {
        assert.equal(flag, Number(i % queries === row), `row ${i} of ${heads} heads`);
      });
    }
  },
);

holds(
  'NaN in a key or value poisons exactly the rows that may attend to it',
  fc.integer({ min: 1, max: 150 }),
  anySeed,
  fc.constantFrom('key', 'value'),
  fc.constantFrom(1, 200), // so that many weights are exactly 0
  (engine, length, seed, side, scale) => {
    const random = seeded(seed);
    const [q, k, v] = [1, 2, 3].map(() => randomTensor(random, 1, 1, length, 3));
    const mask = mapCells(filled([length, length], 0), () => Number(random() < 0.5));
    const row = Math.floor(random() * length);
    const spoil = (t) => mapCells(t, (value, [, , j]) => (j === row ? NaN : value));
    for (const path of bothPaths) {
      const options = { mask, scale, ...path };
      const clean = engine.attention(q, k, v, options);
      const spoilt = engine.attention(
        q,
        side === 'key' ? spoil(k) : k,
        side === 'value' ? spoil(v) : v,
        options,
      );
      const reached = (i) => mask.data[i * length + row] === 1;
      assertSame(
        spoilt.output,
        mapCells(clean.output, (value, [, , i]) => (reached(i) ? NaN : value)),
      );
      spoilt.notFiniteRows.forEach((flag, i) => {
        assert.equal(flag, Number(side === 'key' && reached(i)), `flag of row ${i}`);
      });
    }
  },
);
