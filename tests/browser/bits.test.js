/**
 * The same bits everywhere: the hash over all functions, and one larger call, on both binaries in each
 * browser and under Node. The C tests hold gcc, clang and the sanitizers to the same constant.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createEngine } from '../../wasm/attention.js';
import { eachBrowser } from './harness.js';

/** What runs on each side; it may use nothing around it. */
const compute = (/** @type {import('../../wasm/attention.js').Engine} */ engine) => {
  const [q, k, v] = ['q', 'k', 'v'].map((name) => engine.random({ shape: [2, 3, 70, 24], name }));
  const options = { causal: true, window: 40, dropout: 0.1, seed: 5, temperature: 0.7 };
  const { output } = engine.attention(q, k, v, options);
  const fused = engine.attention(q, k, v, { ...options, needWeights: false }).output;
  const hash = [output, fused].map(({ data }) =>
    new Uint32Array(data.buffer).reduce((sum, word) => Math.imul(sum ^ word, 16777619) >>> 0, 7),
  );
  return { simd: engine.simd, selfTest: engine.selfTest(), hash };
};

const header = await readFile(new URL('../../src/attn.h', import.meta.url), 'utf8');
const answer = Number(/ATTN_SELF_TEST_ANSWER (0x[0-9a-f]+)u/.exec(header)?.[1]);
const here = compute(await createEngine());

test('Node gives the known answer', () => assert.equal(here.selfTest, answer));

eachBrowser((browser) => {
  for (const simd of /** @type {const} */ (['on', 'off'])) {
    test(`simd ${simd} gives the bits of Node`, async () => {
      const page = await browser.open('<p></p>', { policy: null });
      const code = `export default ${compute};`;
      const there = await page.evaluate(
        async (simd, address, code) => {
          const { createEngine } = await import(address);
          const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
          const { default: compute } = await import(url);
          return compute(await createEngine({ simd }));
        },
        simd,
        '/dist/attention.js',
        code,
      );
      assert.deepEqual(there, { ...here, simd: simd === 'on' });
    });
  }
});
