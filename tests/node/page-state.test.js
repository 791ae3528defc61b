/** The link of a state: a round trip, and what strangers may send. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import * as lesson from '../../web/lessons/multi-head.js';
import { decodeState, encodeState, isAnchor, isValid, openLink } from '../../web/lessons/state.js';

const { table, defaults } = lesson;
const read = (/** @type {string} */ link) => decodeState(table, link);

/** @param {unknown} content */
const linkTo = (content) =>
  `#v1.${deflateSync(typeof content === 'string' ? content : JSON.stringify(content)).toString('base64url')}`;

test('an address is a link, an anchor of the page, or neither', () => {
  for (const hash of ['#section-2', '#v2-news', '#%E7%AC%AC', '#/route?x=1']) {
    assert.ok(isAnchor(hash), hash);
  }
  for (const hash of ['', '#%', '#v1.', '#v9.abc', '#v1.%E0%A4%A', linkTo({})]) {
    assert.ok(!isAnchor(hash), hash);
  }
});

describe('round trip', () => {
  test('the defaults need no link', async () => {
    assert.equal(await encodeState(table, defaults), '');
    assert.deepEqual(await read(''), { state: defaults, problems: [] });
  });

  test('every default passes its own check', () => {
    for (const [name, field] of Object.entries(table)) {
      assert.ok(isValid(field, field.default), name);
    }
  });

  test('tokens of any kind, masks and odd numbers come back as they were', async () => {
    const state = {
      ...defaults,
      source: ['"><img src=x onerror=alert(1)>', '歪', '👩‍👩‍👧', '\ud83d', '%', '__proto__'],
      causal: true,
      closed: ['01', '', '001'],
      temperature: 0.30000000000000004,
      edits: [NaN, Infinity, -Infinity, -0, 1.1754944e-38].map((value, row) => ({
        name: 'attention.scores',
        at: [0, row, 1],
        value,
      })),
    };
    const { state: back, problems } = await read(await encodeState(table, state));
    assert.deepEqual(problems, []);
    assert.deepEqual(back, state);
  });

  test('a fleeting field is not in the link', async () => {
    assert.equal(await encodeState(table, { ...defaults, drawing: true }), '');
  });

  test('64 tokens with a mask drawn at random fit', async () => {
    const words = Array.from({ length: 64 }, (_, at) => `词${at}`);
    const bits = (/** @type {number} */ row) =>
      words.map((_, at) => ((row * 2654435761 + at * 40503) >>> 7) & 1).join('');
    const state = { ...defaults, source: words, closed: words.map((_, row) => bits(row)) };
    const link = await encodeState(table, state);
    assert.ok(link.length < 8192, String(link.length));
    assert.deepEqual((await read(link)).state, state);
  });

  test('a state too long for a link says so', async () => {
    const noise = (/** @type {number} */ seed) =>
      Array.from({ length: 48 }, (_, at) =>
        String.fromCharCode(0x4e00 + ((Math.imul(seed * 48 + at + 1, 2654435761) >>> 9) % 20000)),
      ).join('');
    const source = Array.from({ length: 64 }, (_, at) => noise(at));
    const target = Array.from({ length: 64 }, (_, at) => noise(at + 64));
    await assert.rejects(encodeState(table, { ...defaults, source, target }), /more than 8192/);
  });
});

describe('a state comes back from its own link', () => {
  const places = fc.nat({ max: 70 });
  const tokens = fc.array(fc.string({ minLength: 1, maxLength: 8 }), {
    minLength: 1,
    maxLength: 8,
  });
  /** @param {string} name @returns {fc.Arbitrary<unknown>} a value that the field may take */
  const valueFor = (name) => {
    const { type, choices = [], words = [], min = 0, max = 0 } = table[name];
    const word = words.map((value) => fc.constant(value));
    if (type === 'choice') return fc.constantFrom(...choices);
    if (type === 'flag') return fc.boolean();
    if (type === 'integer') return fc.oneof(...word, fc.integer({ min, max }));
    if (type === 'number')
      return fc.oneof(
        ...word,
        fc.constant(Math.max(min, -0)),
        fc.double({ min, max, noNaN: true }),
      );
    if (type === 'tokens') return tokens;
    if (type === 'indexes') return fc.uniqueArray(fc.nat({ max: 12 }), { maxLength: 4 });
    if (type === 'cell') return fc.option(fc.tuple(places, places));
    return fc.constant([]);
  };
  const set = fc
    .constantFrom(...Object.keys(table).filter((name) => table[name].linked !== false))
    .chain((name) => fc.record({ [name]: valueFor(name) }))
    .map((values) => ({ type: 'set', values }));
  const retyped = fc
    .tuple(fc.constantFrom('source', 'target'), tokens, fc.array(fc.integer({ min: -1, max: 7 })))
    .map(([side, next, from]) => ({
      type: 'tokens',
      side,
      tokens: next,
      from: next.map((_, at) => (from.indexOf(from[at]) === at ? (from[at] ?? -1) : -1)),
    }));
  const close = fc.record({
    type: fc.constant('close'),
    row: fc.nat({ max: 63 }),
    column: fc.nat({ max: 63 }),
    closed: fc.boolean(),
  });
  const edit = fc.record({
    type: fc.constant('edit'),
    name: fc.constantFrom(...(table.edits.choices ?? [])),
    at: fc.array(fc.nat({ max: 5 }), { minLength: 2, maxLength: 3 }),
    value: fc.option(fc.float()),
  });

  /** @param {Record<string, any>} state */
  async function comesBack(state) {
    const back = await openLink(lesson, await encodeState(table, state));
    assert.deepEqual(back, { state, code: null, names: [] });
  }

  test('whatever a reader does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(set, set, retyped, close, edit)), async (intents) => {
        await comesBack(
          intents.reduce((at, next) => lesson.reduce(at, /** @type {any} */ (next)), defaults),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('heads that a drag of the width has left behind', async () => {
    const set = (/** @type {any} */ at, /** @type {any} */ values) =>
      lesson.reduce(at, { type: 'set', values });
    const state = set(set(defaults, { heads: 8 }), { hiddens: 36 });
    assert.equal(lesson.headsOf(state), 6);
    await comesBack(state);
  });

  test('more edits than anyone makes by hand, or a refusal', async () => {
    /** @type {any} */
    let state = defaults;
    for (let at = 0; at < 1024; at++) {
      const place = [at >> 5, at & 31];
      state = lesson.reduce(state, {
        type: 'edit',
        name: 'attention.key.weight',
        at: place,
        value: 0.5,
      });
      if (at === 600) await comesBack(state);
    }
    assert.equal(state.edits.length, 1024);
    await comesBack(state);
    const long = { ...state, edits: Array(4).fill(state.edits).flat() };
    await assert.rejects(encodeState(table, long), /more than 65536/);
  });

  test('a default that its other fields leave no room for is not complained of', async () => {
    const { state, names } = await openLink(lesson, linkTo({ source: ['a', 'b'] }));
    assert.deepEqual(names, []);
    assert.equal(state.cell, null);
    assert.deepEqual((await openLink(lesson, linkTo({ source: ['a', 'b'], cell: [2, 1] }))).names, [
      'cell',
    ]);
  });
});

describe('hostile links keep the defaults', () => {
  const broken = {
    'P6 a lone percent sign': '#%',
    'P6 a cut escape': '#v1.%E0%A4%A',
    'no content': '#v1.',
    'not base64': '#v1.{}',
    'not deflate': '#v1.AAAA',
    'not JSON': linkTo('{'),
    'not UTF-8': `#v1.${deflateSync(Buffer.from([0x22, 0xff, 0x22])).toString('base64url')}`,
    'a list': linkTo([1]),
    null: linkTo(null),
    'a bomb': `#v1.${deflateSync(Buffer.alloc(5_000_000)).toString('base64url')}`,
    'a cut link': linkTo({ heads: 2, seed: 7 }).slice(0, -3),
  };
  for (const [kind, link] of Object.entries(broken)) {
    test(kind, async () => {
      assert.deepEqual(await read(link), { state: defaults, problems: [{ code: 'broken' }] });
    });
  }

  test('the work on a bomb is bounded', async () => {
    const bomb = deflateSync(Buffer.alloc(5_000_000)).toString('base64url');
    assert.ok(bomb.length < 8192);
    const before = process.memoryUsage().arrayBuffers;
    await read(`#v1.${bomb}`);
    assert.ok(process.memoryUsage().arrayBuffers - before < 2_000_000);
  });

  test('another version and an endless link are told apart', async () => {
    assert.deepEqual((await read('#v2.AAAA')).problems, [{ code: 'version' }]);
    assert.deepEqual((await read(`#v1.${'A'.repeat(9000)}`)).problems, [{ code: 'too-long' }]);
  });

  test('a wrong field is named and the others are read', async () => {
    const { state, problems } = await read(linkTo({ heads: 2, seed: 'x', source: [1], evil: 1 }));
    assert.equal(state.heads, 2);
    assert.deepEqual({ ...state, heads: 4 }, defaults);
    assert.deepEqual(
      problems.map((problem) => 'name' in problem && problem.name),
      ['seed', 'source', 'evil'],
    );
  });

  test('names of the object prototype are only names', async () => {
    const link = linkTo('{"__proto__":{"polluted":1},"constructor":1,"heads":2}');
    const { state, problems } = await read(link);
    assert.equal(state.heads, 2);
    assert.equal(problems.length, 2);
    assert.equal(/** @type {any} */ ({}).polluted, undefined);
    assert.equal(Object.getPrototypeOf(state), Object.prototype);
  });

  for (const [name, value] of Object.entries({
    source: [],
    target: Array(65).fill('x'),
    unit: 'toString',
    heads: 2.5,
    hiddens: 1e9,
    seed: -1,
    temperature: 0,
    scale: 'NaN',
    validLength: -1,
    closed: ['2'],
    silenced: [0, 0],
    cell: [0],
    show: '__proto__',
    edits: [['attention.mask', [0, 0, 0], 1]],
    causal: 1,
    drawing: true,
  })) {
    test(`${name} = ${JSON.stringify(value).slice(0, 40)}`, async () => {
      const { state, problems } = await read(linkTo({ [name]: value }));
      assert.deepEqual(state, defaults);
      assert.deepEqual(problems, [{ code: 'field', name }]);
    });
  }
});
