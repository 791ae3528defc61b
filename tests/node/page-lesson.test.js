/** The multi-head lesson: intents, dependent fields, requests, and undo. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as history from '../../web/lessons/history.js';
import { lessons } from '../../web/lessons/index.js';
import { isValid } from '../../web/lessons/state.js';
import { joinTokens, matchTokens, retokenise, tokenise } from '../../web/text/tokenise.js';

const lesson = lessons['multi-head'];
const { defaults, reduce, request, settle } = lesson;
const weights = 'attention.weights';

/** @param {Record<string, any>} values */
const state = (values) => settle({ ...defaults, ...values });

describe('tokens', () => {
  test('words of English and Chinese, with their punctuation', () => {
    assert.deepEqual(tokenise("It didn't cost $3.50!", 'words'), [
      'It',
      "didn't",
      'cost',
      '$',
      '3.50',
      '!',
    ]);
    assert.deepEqual(tokenise('我喜欢猫。', 'words'), ['我', '喜欢', '猫', '。']);
  });

  test('characters are graphemes, white space is one', () => {
    assert.deepEqual(tokenise(' a  👩‍👩‍👧é ', 'characters'), ['a', ' ', '👩‍👩‍👧', 'é']);
  });

  for (const text of [
    'The cat (a tabby) sat.',
    '猫坐在垫子上，睡着了。',
    'Say “hi” to 小猫!',
    '',
  ]) {
    for (const unit of /** @type {const} */ (['words', 'characters'])) {
      test(`joined ${unit} give the same tokens: ${text}`, () => {
        const tokens = tokenise(text, unit);
        assert.deepEqual(tokenise(joinTokens(tokens, unit), unit), tokens);
      });
    }
  }

  test('without Intl.Segmenter ideographs are words', () => {
    const { Segmenter } = Intl;
    try {
      // @ts-expect-error an old browser
      Intl.Segmenter = undefined;
      assert.deepEqual(tokenise("小猫 isn't, 3.5!", 'words'), [
        '小',
        '猫',
        "isn't",
        ',',
        '3.5',
        '!',
      ]);
      assert.deepEqual(tokenise('ab 歪', 'characters'), ['a', 'b', ' ', '歪']);
    } finally {
      Intl.Segmenter = Segmenter;
    }
  });

  for (const [unit, tokens, change, expected] of /** @type {const} */ ([
    ['words', ['New York', 'is', 'big'], ['big', 'bigger'], ['New York', 'is', 'bigger']],
    ['words', ['in', 'New York'], ['York', 'York now'], ['in', 'New York', 'now']],
    ['words', ['in', 'New York'], ['York', 'York!'], ['in', 'New York', '!']],
    ['words', ['New York', 'x'], ['New', 'Old New'], ['Old', 'New York', 'x']],
    ['words', ['New York', 'x'], ['w Y', 'w old Y'], ['New', 'old', 'York', 'x']],
    ['words', ['a', '\n', 'b c'], ['a', 'aa'], ['aa', '\n', 'b c']],
    ['words', ['a', 'x\r\ny', 'b'], ['b', 'bb'], ['a', 'x\r\ny', 'bb']],
    ['words', ['New York', 'x'], [' x', ''], ['New York']],
    ['characters', ['ab', 'c'], ['c', 'c d'], ['ab', 'c', ' ', 'd']],
    ['characters', ['c', 'ab'], ['ab', 'abd'], ['c', 'ab', 'd']],
  ])) {
    test(`typing beside tokens that their text does not give: ${JSON.stringify(expected)}`, () => {
      const before = joinTokens(tokens, unit).replace(/\r\n/g, '\n');
      const text = before.replace(change[0], change[1]);
      assert.deepEqual(retokenise(text, unit, { text: before, tokens }), expected);
    });
  }

  test('typed letter by letter, such a list stays beside what is typed', () => {
    let before = { text: 'New York', tokens: ['New York'] };
    for (const letter of ' is big, 大') {
      const text = before.text + letter;
      before = { text, tokens: retokenise(text, 'words', before) };
    }
    assert.deepEqual(before.tokens, ['New York', 'is', 'big', ',', '大']);
  });

  test('what typing leaves alone keeps its place', () => {
    assert.deepEqual(matchTokens(['a', 'b', 'c'], ['a', 'x', 'b', 'c']), [0, -1, 1, 2]);
    assert.deepEqual(matchTokens(['a', 'b', 'c'], ['a', 'c']), [0, 2]);
    assert.deepEqual(matchTokens(['a', 'b', 'c'], ['a', 'bb', 'c']), [0, 1, 2]);
    assert.deepEqual(matchTokens(['a', 'a'], ['a']), [0]);
    assert.deepEqual(matchTokens([], ['a']), [-1]);
  });
});

describe('dependent fields', () => {
  test('heads fall to the next divisor of the width', () => {
    const four = state({ heads: 4 });
    const thirty = reduce(four, { type: 'set', values: { hiddens: 30 } });
    assert.equal(lesson.headsOf(thirty), 3);
    assert.equal(request(thirty).input.heads, 3);
    assert.deepEqual(lesson.misfits(thirty), []);
    assert.equal(lesson.headsOf(reduce(thirty, { type: 'set', values: { hiddens: 37 } })), 1);
    assert.deepEqual(reduce(thirty, { type: 'set', values: { hiddens: 32 } }), four);
    assert.deepEqual(lesson.divisors(12), [1, 2, 3, 4, 6, 12]);
  });

  test('the valid length stays within the keys', () => {
    assert.equal(state({ source: ['a', 'b'], validLength: 9 }).validLength, 2);
    assert.deepEqual(lesson.misfits({ ...defaults, validLength: 9 }), ['validLength']);
    assert.deepEqual(lesson.misfits(defaults), []);
  });

  test('a default that does not fit is no fault of the link', () => {
    const short = { ...defaults, source: ['a', 'b'] };
    assert.deepEqual(lesson.misfits(short), []);
    assert.equal(settle(short).cell, null);
    assert.deepEqual(lesson.misfits({ ...short, cell: [2, 1] }), ['cell']);
  });

  test('what points outside goes', () => {
    const next = state({
      source: ['a', 'b'],
      hiddens: 8,
      heads: 2,
      head: 3,
      silenced: [1, 2],
      closed: ['001', '1'],
      cell: [5, 0],
      edits: [
        { name: weights, at: [1, 1, 1], value: 1 },
        { name: weights, at: [2, 1, 1], value: 1 },
        { name: 'source.position', at: [0, 0], value: 1 },
      ],
    });
    assert.equal(next.head, 1);
    assert.deepEqual(next.silenced, [1]);
    assert.deepEqual(next.closed, ['', '1']);
    assert.equal(next.cell, null);
    assert.deepEqual(next.edits, [{ name: weights, at: [1, 1, 1], value: 1 }]);
  });

  test('a tensor that is gone gives way to the weights', () => {
    const cross = state({ cross: true, show: 'target.input' });
    assert.equal(cross.show, 'target.input');
    assert.equal(reduce(cross, { type: 'set', values: lesson.variants.self }).show, weights);
  });

  test('a settled state is settled', () => {
    const once = state({ hiddens: 30, closed: ['10', '0'], validLength: 50 });
    assert.deepEqual(settle(once), once);
    for (const name of /** @type {const} */ (['closed', 'edits', 'silenced'])) {
      assert.equal(settle(once)[name], once[name]);
    }
  });

  test('every experiment is a valid, settled state in both languages', () => {
    for (const { values, chinese = {} } of lesson.experiments) {
      for (const wanted of [values, { ...values, ...chinese }]) {
        const next = reduce(defaults, { type: 'load', values: wanted });
        for (const [name, field] of Object.entries(lesson.table)) {
          assert.ok(isValid(field, next[name]), name);
          if (name in wanted) assert.deepEqual(next[name], wanted[name]);
        }
      }
    }
  });
});

describe('tokens take along what hangs on them', () => {
  const before = state({
    source: ['a', 'b', 'c'],
    closed: ['', '001'],
    edits: [
      { name: weights, at: [0, 1, 2], value: 0.5 },
      { name: 'source.embedding', at: [1, 7], value: 2 },
    ],
  });

  test('moving', () => {
    const after = reduce(before, {
      type: 'tokens',
      side: 'source',
      tokens: ['c', 'a', 'b'],
      from: [2, 0, 1],
    });
    assert.deepEqual(after.closed, ['', '', '1']);
    assert.deepEqual(
      after.edits.map((/** @type {any} */ edit) => edit.at),
      [
        [0, 2, 0],
        [2, 7],
      ],
    );
  });

  test('removing', () => {
    const after = reduce(before, {
      type: 'tokens',
      side: 'source',
      tokens: ['a', 'c'],
      from: [0, 2],
    });
    assert.deepEqual(after.closed, []);
    assert.deepEqual(after.edits, []);
  });

  test('in cross-attention each side moves its own axis', () => {
    const cross = state({ ...before, cross: true, target: ['x', 'y', 'z'] });
    const keys = reduce(cross, {
      type: 'tokens',
      side: 'source',
      tokens: ['c', 'b', 'a'],
      from: [2, 1, 0],
    });
    assert.deepEqual(keys.closed, ['', '1']);
    assert.deepEqual(keys.edits[0].at, [0, 1, 0]);
    const rows = reduce(cross, {
      type: 'tokens',
      side: 'target',
      tokens: ['y', 'x', 'z'],
      from: [1, 0, 2],
    });
    assert.deepEqual(rows.closed, ['001']);
    assert.deepEqual(rows.edits[0].at, [0, 0, 2]);
    assert.deepEqual(rows.edits[1].at, [1, 7]);
  });

  test('the hidden target of self-attention moves nothing', () => {
    const after = reduce(before, { type: 'tokens', side: 'target', tokens: ['q'], from: [-1] });
    assert.deepEqual(after.closed, before.closed);
    assert.deepEqual(after.edits, before.edits);
  });
});

describe('own cells and edits', () => {
  test('closing and opening a cell comes back to none', () => {
    const closed = reduce(defaults, { type: 'close', row: 2, column: 1, closed: true });
    assert.deepEqual(closed.closed, ['', '', '01']);
    assert.ok(lesson.isClosed(closed, 2, 1));
    assert.ok(!lesson.isClosed(closed, 1, 2));
    assert.deepEqual(reduce(closed, { type: 'close', row: 2, column: 1, closed: false }), defaults);
  });

  test('a second edit of a cell replaces the first, null takes it back', () => {
    const at = [0, 1, 1];
    const one = reduce(defaults, { type: 'edit', name: weights, at, value: 0.1 });
    const two = reduce(one, { type: 'edit', name: weights, at, value: NaN });
    assert.deepEqual(two.edits, [{ name: weights, at, value: NaN }]);
    assert.deepEqual(reduce(two, { type: 'edit', name: weights, at, value: null }), defaults);
  });
});

describe('the request', () => {
  test('says no more than the state asks', () => {
    const { config, input, overrides } = request(defaults);
    assert.deepEqual(config, { hiddens: 32, seed: 1, position: 'none', bias: false });
    assert.deepEqual(input, {
      source: defaults.source,
      heads: 4,
      causal: false,
      score: 'scaled-dot',
      temperature: 1,
      normalise: 'softmax',
      fill: 'exclude',
    });
    assert.deepEqual(overrides, []);
  });

  test('says all of it', () => {
    const { input, overrides, read } = request(
      state({
        cross: true,
        source: ['a', 'b'],
        target: ['x'],
        validLength: 1,
        window: 0,
        closed: ['01'],
        silenced: [3],
        scale: 'off',
        fill: 'pytorch',
        show: 'target.input',
        edits: [
          { name: weights, at: [0, 0, 1], value: 1 },
          { name: 'source.embedding', at: [1, 0], value: 2 },
          { name: 'attention.query.weight', at: [1, 0], value: 3 },
        ],
      }),
    );
    assert.deepEqual(input.target, ['x']);
    assert.deepEqual(input.validLens, [1]);
    assert.equal(input.window, 0);
    assert.deepEqual(input.mask, [[true, false]]);
    assert.deepEqual(input.headMask, [true, true, true, false]);
    assert.equal(input.scale, 1);
    assert.equal(input.fill, -Infinity);
    assert.deepEqual(
      overrides.map((/** @type {any} */ edit) => edit.at),
      [
        [0, 0, 0, 1],
        [1, 0],
        [1, 0],
      ],
    );
    assert.ok(read.includes('target.input'));
  });
});

describe('what is drawn', () => {
  const shape = [1, 2, 2, 3];
  const tensor = (/** @type {number[]} */ ...data) => ({ shape, data: Float32Array.from(data) });
  /** @type {import('../../web/lessons/multi-head-view.js').Result} */
  const result = {
    state: state({
      cross: true,
      source: ['a', 'b', 'c'],
      target: ['x', 'y'],
      hiddens: 4,
      heads: 2,
    }),
    tensors: [],
    values: {
      [weights]: tensor(1, 0, 0, 0, 0, 0, 0.25, 0.75, 0, 0.5, 0.5, 0),
      'attention.mask': { shape: [1, 1, 2, 3], data: Float32Array.of(0, 2, 1, 8, 2, 1) },
      'attention.entropy': { shape: [1, 2, 2], data: Float32Array.of(0.5, 0, 1, 2) },
      'attention.row_flags': { shape: [1, 2, 2], data: Float32Array.of(0, 1, 0, 0) },
      'attention.query': { shape: [1, 2, 2, 2], data: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8) },
      'attention.key': {
        shape: [1, 2, 3, 2],
        data: Float32Array.from({ length: 12 }, (_, i) => i),
      },
    },
  };

  test('one head of a tensor is a view into it', () => {
    const matrix = lesson.matrixOf(result, weights, 1);
    assert.deepEqual([...(matrix?.data ?? [])], [0.25, 0.75, 0, 0.5, 0.5, 0]);
    assert.equal(matrix?.data.buffer, result.values[weights].data.buffer);
    assert.equal(lesson.matrixOf(result, 'attention.output', 0), null);
  });

  test('a mask shared by all heads serves each of them', () => {
    assert.deepEqual([...lesson.reasonsOf(result, 1)], [0, 2, 1, 8, 2, 1]);
  });

  test('a key is hidden when no query sees it', () => {
    assert.deepEqual(lesson.hiddenKeys(lesson.reasonsOf(result, 0), 3), [0, 2, 1]);
  });

  test('rows without a key do not count in the mean entropy', () => {
    assert.deepEqual(lesson.entropies(result), { mean: 1, heads: [0.5, 1.5] });
  });

  test('the terms of a score', () => {
    const cell = lesson.readCell(result, 1, 0, 2);
    assert.deepEqual(cell.terms, [
      { query: 5, key: 10, product: 50 },
      { query: 6, key: 11, product: 66 },
    ]);
    assert.equal(cell.rowSum, 1);
    assert.equal(cell.reasons, 1);
    assert.equal(lesson.readCell(result, 0, 1, 0).flags, 1);
  });
});

describe('history', () => {
  const walk = (/** @type {history.History} */ at) => history.present(at).n;

  test('undo and redo', () => {
    let line = history.startHistory({ n: 0 });
    for (const n of [1, 2]) line = history.step(line, { n }, '', 0);
    line = history.travel(line, -1);
    assert.equal(walk(line), 1);
    assert.equal(walk(history.travel(line, 1)), 2);
    line = history.step(line, { n: 9 }, '', 0);
    assert.ok(!history.canRedo(line));
    assert.equal(walk(history.travel(line, -1)), 1);
  });

  test('a drag is one step, a pause ends it', () => {
    let line = history.startHistory({ n: 0 });
    for (const n of [1, 2, 3]) line = history.step(line, { n }, 'seed', n * 100);
    assert.equal(line.states.length, 2);
    line = history.step(line, { n: 4 }, 'seed', 2000);
    line = history.step(line, { n: 5 }, 'heads', 2001);
    assert.deepEqual(
      line.states.map((at) => at.n),
      [0, 3, 4, 5],
    );
  });

  test('a step after undo never joins the one undone', () => {
    let line = history.step(history.startHistory({ n: 0 }), { n: 1 }, 'seed', 1);
    line = history.step(history.travel(line, -1), { n: 2 }, 'seed', 2);
    assert.deepEqual(
      line.states.map((at) => at.n),
      [0, 2],
    );
  });

  test('a glance is no step', () => {
    const line = history.amend(history.startHistory({ n: 0 }), { n: 1 });
    assert.equal(walk(line), 1);
    assert.ok(!history.canUndo(line));
  });

  test('the line has an end', () => {
    let line = history.startHistory({ n: 0 });
    for (let n = 1; n < 600; n++) line = history.step(line, { n }, '', 0);
    assert.equal(line.states.length, 500);
    assert.equal(walk(line), 599);
  });
});
