// The border between JavaScript and WebAssembly: growing memory, files that are no WebAssembly, and
// the call after one that failed; each named by its case number.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import test from 'node:test';
import { createEngine } from '../../wasm/attention.js';
import {
  assertClose,
  assertFails,
  assertIsError,
  assertSame,
  filled,
  identity,
  onEachEngine,
  randomTensor,
  seeded,
} from './helpers.js';

const binary = readFileSync(new URL('../../dist/attention.wasm', import.meta.url));
const HTML = '<!doctype html><title>Not found</title>';

const small = [[[1]], [[1], [2]], [[10], [20]]];
const SMALL_OUTPUT = [[17.3105858]];

/** Serves one answer to whatever is asked for, and hands its address to `body`. */
async function serving({ status = 200, type, content }, body) {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': type });
    response.end(content);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await body(new URL(`http://127.0.0.1:${server.address().port}/attention.wasm`));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function assertRejects(promise, code, ...words) {
  const error = await promise.then(
    () => assert.fail('an engine was made'),
    (thrown) => thrown,
  );
  assertIsError(error, code, ...words);
  return error;
}

test('B1: results stay right when memory grows', async () => {
  const engine = await createEngine();
  const x = randomTensor(seeded(1), 4, 8);
  const before = engine.attention(x, x, x);
  const copies = Object.fromEntries(
    ['output', 'weights', 'scores'].map((name) => [name, before[name].data.slice()]),
  );
  const onTape = engine.tensor('weights');
  const onTapeCopy = onTape.data.slice();

  const large = randomTensor(seeded(2), 800, 8); // 800² scores: more than memory starts with
  const grown = engine.attention(large, large, large);
  assert.equal(grown.weights.data.length, 800 * 800);
  for (const name of Object.keys(copies)) assert.deepEqual(before[name].data, copies[name], name);
  assert.deepEqual(onTape.data, onTapeCopy);

  const after = engine.attention(before.output, x, x);
  assertSame(after.output, engine.attention({ shape: [4, 8], data: copies.output }, x, x).output);
  assertSame(engine.attention(x, x, x).output, before.output);
});

onEachEngine('B1: the first call may be the one that grows', async (engine) => {
  const fresh = await createEngine({ simd: engine.simd ? 'on' : 'off' });
  const x = filled([800, 4], 0);
  const { weights, output } = fresh.attention(x, x, filled([800, 4], 2));
  assertClose(output, filled([800, 4], 2));
  assertClose(weights, filled([800, 800], 1 / 800));
});

test('B2: an HTML page where WebAssembly should be', async () => {
  await serving({ type: 'text/html', content: HTML }, async (address) => {
    await assertRejects(
      createEngine({ wasm: address }),
      'BAD_WASM',
      `HTML, not WebAssembly, at ${address}`,
    );
  });
  await serving({ type: 'application/wasm', content: HTML }, async (address) => {
    await assertRejects(
      createEngine({ wasm: address }),
      'BAD_WASM',
      `HTML, not WebAssembly, at ${address}`,
    );
  });
  await assertRejects(createEngine({ wasm: new TextEncoder().encode(HTML) }), 'BAD_WASM', 'HTML');
});

test('B2: a missing, truncated or foreign file', async () => {
  await serving({ status: 404, type: 'text/plain', content: 'no' }, async (address) => {
    await assertRejects(createEngine({ wasm: address }), 'BAD_WASM', 404, String(address));
  });
  for (const length of [0, 3, 8, 1000, binary.length - 1]) {
    await assertRejects(createEngine({ wasm: binary.subarray(0, length) }), 'BAD_WASM');
  }
  const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0); // a module, though not this one
  await assertRejects(createEngine({ wasm: empty }), 'BAD_WASM');
  await assertRejects(
    createEngine({ wasm: new URL('http://127.0.0.1:1/attention.wasm') }),
    'BAD_WASM',
    '127.0.0.1:1',
  );
});

test('B2: the right file by bytes and by address, whatever its content type', async () => {
  const address = new URL('../../dist/attention.wasm', import.meta.url);
  for (const wasm of [binary, new Uint8Array(binary).buffer, address]) {
    const engine = await createEngine({ wasm });
    assertClose(engine.attention(...small).output, SMALL_OUTPUT);
  }
  for (const type of ['application/wasm', 'application/octet-stream']) {
    await serving({ type, content: binary }, async (address) => {
      const served = await createEngine({ wasm: address });
      assertClose(served.attention(...small).output, SMALL_OUTPUT);
    });
  }
});

onEachEngine('B3: after a call too big the next one works', (engine) => {
  const calls = [
    [32768, 'TOO_BIG'], // 32768² × 4 is 0 in 32 bits
    [65536, 'TOO_BIG'], // so is the number of its cells
    [20000, /TOO_BIG|NO_MEMORY/],
  ];
  for (const [length, code] of calls) {
    const x = filled([length, 1], 0);
    assertFails(() => engine.attention(x, x, x), code, /\d/);
    assertClose(engine.attention(...small).output, SMALL_OUTPUT);
  }
  assertFails(
    () => engine.positionalEncoding({ kind: 'sinusoidal', length: 2 ** 30, hiddens: 4 }),
    'TOO_BIG',
  );
  assertClose(engine.attention(...small).output, SMALL_OUTPUT);
});

onEachEngine('B3: after memory runs out halfway the next call works', (engine) => {
  const column = filled([11584, 1], 0); // 11584² × 4 bytes alone would fill the memory
  const linear1 = { weight: [[1]] };
  const params = { linear1, linear2: { weight: column } };
  assertFails(() => engine.feedForward(column, { params }), 'NO_MEMORY', /\d/);
  assertClose(engine.attention(...small).output, SMALL_OUTPUT);
  assertFails(() => engine.attention(column, column, column), 'NO_MEMORY', /\d/);
  assertClose(engine.attention(...small).output, SMALL_OUTPUT);
});

onEachEngine('B3: after a call refused the next one works', (engine) => {
  assertFails(() => engine.attention([[1, 2]], [[1]], [[1]]), 'BAD_SHAPE');
  assertClose(engine.attention(...small).output, SMALL_OUTPUT);
  assertFails(() => engine.attention(...small, { temperature: -1 }), 'BAD_VALUE', -1);
  assertSame(
    engine.attention(identity(2), identity(2), identity(2), { scale: 0 }).output,
    filled([2, 2], 0.5),
  );
});
