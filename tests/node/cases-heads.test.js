// Heads, positions and norms: small inputs on which other implementations went wrong, each named by
// its case number.

import assert from 'node:assert/strict';
import {
  assertClose,
  assertFails,
  assertSame,
  filled,
  onEachEngine,
  take,
  tensor,
} from './helpers.js';

onEachEngine('H1: heads that do not divide the hiddens', (engine) => {
  const projection = { weight: filled([1600, 1600], 0) };
  const params = { query: projection, key: projection, value: projection, output: projection };
  const x = filled([1, 1600], 1);
  const call = () => engine.multiHeadAttention(x, x, x, { heads: 48, params });
  assertFails(call, /BAD_SHAPE|BAD_VALUE/, 1600, 48);
  assertFails(
    () => engine.attentionLayer({ hiddens: 1600, heads: 48 }),
    /BAD_SHAPE|BAD_VALUE/,
    1600,
    48,
  );
});

onEachEngine('H3: sinusoidal positions of an odd width', (engine) => {
  const table = engine.positionalEncoding({ kind: 'sinusoidal', length: 2, hiddens: 5 });
  assertClose(table, [
    [0, 1, 0, 1, 0],
    [0.84147098, 0.54030231, 0.02511622, 0.99968454, 0.00063096],
  ]);
  const second = engine.positionalEncoding({
    kind: 'sinusoidal',
    length: 1,
    hiddens: 5,
    offset: 1,
  });
  assertSame(second, take(table, [1]));
});

onEachEngine('H4: the pairing of rotary positions', (engine) => {
  const x = [[1, 0, 0, 0]];
  const turned = (pairing, positions) => engine.rotary(x, { positions, pairing });
  assertClose(turned('halves', 1), [[0.5403023, 0, 0.841471, 0]]);
  assertClose(turned('interleaved', 1), [[0.5403023, 0.841471, 0, 0]]);
  assertSame(turned('halves', [1]), turned('halves', 1));
  assertSame(turned('halves', 0), x);
  assertSame(turned('interleaved', 0), x);
});

onEachEngine('H5: layer norm divides by the biased deviation', (engine) => {
  const right = [1.7320046, -0.5773349, -0.5773349, -0.5773349];
  assertClose(engine.layerNorm([1, 0, 0, 0], { eps: 1e-5 }), right);
  assertClose(engine.layerNorm([[1, 0, 0, 0]]), [right]);
});

onEachEngine('H6: the two forms of GELU', (engine) => {
  assertClose(engine.gelu([1, 3], { form: 'erf' }), [0.8413447, 2.9959503]);
  assertClose(engine.gelu([1, 3], { form: 'tanh' }), [0.841192, 2.9963626]);
  assertSame(engine.gelu([1, 3]), engine.gelu([1, 3], { form: 'erf' }));
});

onEachEngine(
  'H7: weights are shown before dropout, dropped weights under their own name',
  (engine) => {
    const one = [filled([64, 1], 1), [[1]], [[3]]];
    const { weights, droppedWeights, output } = engine.attention(...one, { dropout: 0.2, seed: 7 });
    assertSame(weights, filled([64, 1], 1));
    const kinds = new Set(droppedWeights.data);
    assert.deepEqual([...kinds].sort(), [0, 1.25]);
    assertClose(
      output,
      tensor(
        [64, 1],
        droppedWeights.data.map((weight) => 3 * weight),
      ),
    );

    const kept = engine.attention(...one);
    assert.equal(kept.droppedWeights, undefined);
    assertSame(kept.output, filled([64, 1], 3));
  },
);
