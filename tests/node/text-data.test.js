/** From a file of sentence pairs to batches of ids, and BLEU. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { alignmentAgreement } from '../../web/text/alignment.js';
import { bleu, meanBleu } from '../../web/text/bleu.js';
import { DataSet, decode, encode } from '../../web/text/data-set.js';
import { hash, REASONS, readPairs, splitPairs, textOf, tokensOf } from '../../web/text/pairs.js';
import {
  BOS,
  countVocabulary,
  EOS,
  PAD,
  SPECIAL_TOKENS,
  UNK,
  Vocabulary,
} from '../../web/text/vocabulary.js';

const words = (/** @type {string} */ text) => text.split(' ');
const close = (/** @type {number} */ a, /** @type {number} */ b) =>
  assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

describe('vocabulary', () => {
  const vocabulary = countVocabulary([words('b a c a'), words('c d a')], 2);

  test('special tokens, then the most frequent first, and among equals the first seen', () => {
    assert.deepEqual(vocabulary.tokens, ['<unk>', '<pad>', '<bos>', '<eos>', 'a', 'c']);
    assert.deepEqual([UNK, PAD, BOS, EOS], [0, 1, 2, 3]);
    assert.deepEqual(countVocabulary([words('b a c c a b')]).tokens.slice(4), ['b', 'a', 'c']);
  });

  test('a rare token is <unk>, and a list of tokens is a vocabulary again', () => {
    const again = new Vocabulary(vocabulary.tokens);
    assert.deepEqual(
      words('a b c constructor').map((token) => again.id(token)),
      [4, UNK, 5, UNK],
    );
    assert.equal(again.token(5), 'c');
    assert.equal(again.size, 6);
  });

  test('a special token in a text gets no second id', () => {
    assert.deepEqual(countVocabulary([words('<eos> a')]).tokens, [...SPECIAL_TOKENS, 'a']);
    assert.equal(countVocabulary([words('<eos> a b a')]).words, 2);
  });

  test('refuses a list without special tokens, a token twice, an id outside', () => {
    assert.throws(() => new Vocabulary(['a']), /token 0 of a vocabulary is "a".*<unk>/);
    assert.throws(() => new Vocabulary([...SPECIAL_TOKENS, 'a', 'a']), /"a" twice/);
    assert.throws(() => vocabulary.token(6), /id 6 .* 6 tokens/);
  });
});

describe('a file of pairs', () => {
  test('two or three columns, a byte order mark, any line end, empty lines', () => {
    const { pairs, problems } = readPairs('\uFEFFGo.\tVa !\r\n\nHi.\tSalut\u202f!\tCC-BY\r\r\n');
    assert.deepEqual(problems, []);
    assert.deepEqual(pairs, [
      { source: ['go', '.'], target: ['va', '!'] },
      { source: ['hi', '.'], target: ['salut', '!'] },
    ]);
  });

  test('every malformed line is named', () => {
    const { pairs, problems } = readPairs(
      'a\tb\nalone\na\tb\tc\td\n\tb\na\t \nx\t\uFFFD\nx\0\t\0y\n',
    );
    assert.equal(pairs.length, 1);
    assert.deepEqual(problems, [
      { line: 2, reason: 'one-column' },
      { line: 3, reason: 'many-columns' },
      { line: 4, reason: 'empty-source' },
      { line: 5, reason: 'empty-target' },
      { line: 6, reason: 'not-utf8' },
      { line: 7, reason: 'not-utf8' },
    ]);
    assert.deepEqual(new Set(Object.keys(REASONS)), new Set(problems.map((p) => p.reason)));
  });

  test('columns change places, and a limit stops', () => {
    const { pairs } = readPairs('a\tb\nc\td\ne\tf', { swap: true, limit: 2 });
    assert.deepEqual(pairs, [
      { source: ['b'], target: ['a'] },
      { source: ['d'], target: ['c'] },
    ]);
    assert.deepEqual(readPairs('\tb', { swap: true }).problems, [
      { line: 1, reason: 'empty-target' },
    ]);
  });

  test('writing without spaces is cut into characters, unless words are asked for', () => {
    const text = "I'm here...\t我 在这儿。\nOK.\tOK。\nYes.\t是。\n";
    const found = readPairs(text);
    assert.deepEqual([found.sourceUnit, found.targetUnit], ['words', 'characters']);
    assert.deepEqual(found.pairs[0], {
      source: ["i'm", 'here', '.', '.', '.'],
      target: ['我', '在', '这', '儿', '。'],
    });
    assert.deepEqual(readPairs(text, { targetUnit: 'words' }).pairs[0].target, ['我', '在这儿。']);
  });

  test('an empty file has no pairs', () => {
    assert.deepEqual(readPairs('').pairs, []);
  });
});

describe('a typed sentence', () => {
  const known = countVocabulary([words("l' oiseau est vert . 一 本 书 。 书本 cat s")]);

  test('is cut into the longest words of the lexicon', () => {
    const cut = (/** @type {string} */ text) => tokensOf(text, 'lexicon', known);
    assert.deepEqual(cut('L’oiseau est vert.'), ["l'", 'oiseau', 'est', 'vert', '.']);
    assert.deepEqual(cut('一本书。'), ['一', '本', '书', '。']);
    assert.deepEqual(cut('一书本。'), ['一', '书本', '。']);
    assert.deepEqual(cut('一本新书。'), ['一', '本', '新', '书', '。']);
  });

  test('a text without a space is cut as fast as it is long', { timeout: 60_000 }, () => {
    const signs = Array(20_000).fill('书');
    assert.deepEqual(tokensOf(signs.join(''), 'lexicon', known), signs);
  });

  test('a word of an alphabet with an unknown rest stays whole', () => {
    assert.deepEqual(tokensOf("l'arbre catx", 'lexicon', known), ["l'arbre", 'catx']);
    assert.deepEqual(tokensOf('Hi, Tom!', 'words', known), ['hi', ',', 'tom', '!']);
    assert.deepEqual(tokensOf('一 本', 'characters', known), ['一', '本']);
  });
});

describe('a sentence to read', () => {
  test("l' and its noun are one word, an English genitive and its noun two", () => {
    const read = (/** @type {string} */ text) => textOf(words(text), 'lexicon');
    assert.equal(read("est-ce qu' il n' a pas l' oiseau ?"), "est-ce qu'il n'a pas l'oiseau?");
    assert.equal(read("the dogs' hats ."), "the dogs' hats.");
    assert.equal(read('我 买 了 一 本 书 。'), '我买了一本书。');
    assert.equal(textOf([...'我 OK。'], 'characters'), '我 OK。');
  });
});

describe('the split', () => {
  const pairs = Array.from({ length: 50 }, (_, at) => ({ source: [`s${at}`], target: [`t${at}`] }));

  test('a fifth is held out, and the order of the pairs does not matter', () => {
    const { training, heldOut } = splitPairs(pairs);
    assert.deepEqual([training.length, heldOut.length], [40, 10]);
    const again = splitPairs([...pairs].reverse());
    assert.deepEqual(new Set(again.heldOut), new Set(heldOut));
    assert.deepEqual(
      training.map((pair) => pairs.indexOf(pair)),
      training.map((pair) => pairs.indexOf(pair)).sort((a, b) => a - b),
    );
  });

  test('all translations of a sentence are in one part', () => {
    const twice = [...pairs, ...pairs.map(({ source }) => ({ source, target: ['other'] }))];
    const { training, heldOut } = splitPairs(twice);
    const trained = new Set(training.map((pair) => pair.source[0]));
    assert.ok(heldOut.every((pair) => !trained.has(pair.source[0])));
    assert.equal(heldOut.length, 20);
  });

  test('the hash is FNV-1a, mixed', () => {
    assert.deepEqual(['', 'a', '书'].map(hash), [2872998923, 444641715, 3448637034]);
  });
});

describe('a data set', () => {
  const data = new DataSet([
    { source: words('a b c'), target: words('x') },
    { source: words('a'), target: words('x y z w') },
  ]);

  test('has steps for the longest sentence and its <eos>', () => {
    assert.equal(data.steps, 5);
    assert.equal(data.size, 2);
    assert.deepEqual(data.batch([1, 0]), {
      source: [
        [4, EOS, PAD, PAD, PAD],
        [4, 5, 6, EOS, PAD],
      ],
      sourceLens: [2, 4],
      target: [
        [BOS, 4, 5, 6, 7],
        [BOS, 4, EOS, PAD, PAD],
      ],
      targetLens: [5, 2],
      labels: [
        [4, 5, 6, 7, EOS],
        [4, EOS, PAD, PAD, PAD],
      ],
    });
  });

  test('a sentence that is too long loses its end', () => {
    const { sourceVocabulary } = data;
    assert.deepEqual(encode(words('a b c'), sourceVocabulary, 2), { ids: [4, 5], length: 2 });
    assert.deepEqual(encode(words('b q'), sourceVocabulary, 3), { ids: [5, UNK, EOS], length: 3 });
  });

  test('what a model wrote ends at <eos>', () => {
    assert.deepEqual(decode([5, 4, EOS, 6], data.targetVocabulary), ['y', 'x']);
  });

  test('an epoch is every pair once, in the given order', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6], { minLength: 7 }),
        fc.integer({ min: 1, max: 9 }),
        (order, size) => {
          const many = new DataSet(order.map((_, at) => ({ source: [`s${at}`], target: ['t'] })));
          const batches = [...many.batches(Float32Array.from(order), size)];
          assert.deepEqual(
            batches.flatMap((batch) => batch.source.map(([id]) => id - 4)),
            order,
          );
          assert.ok(batches.slice(0, -1).every((batch) => batch.source.length === size));
        },
      ),
    );
  });

  test('refuses an order that is none, sizes that are none, no pairs', () => {
    assert.throws(() => [...data.batches([0, 0], 1)], /no permutation of 2 pairs/);
    assert.throws(() => [...data.batches([0, 2], 1)], /pair 2 .* 2 pairs/);
    assert.throws(() => [...data.batches([0, 1], 0)], /batch size is 0/);
    assert.throws(() => new DataSet(data.pairs, { steps: 1.5 }), /steps is 1.5/);
    assert.throws(() => new DataSet([]), /0 pairs/);
  });
});

describe('BLEU', () => {
  test('as the formula says', () => {
    const label = words('a b c d e f');
    close(bleu(label, label), 1);
    close(bleu(words('a b b c d'), label), Math.exp(1 - 6 / 5) * (4 / 5) ** 0.5 * (3 / 4) ** 0.25);
    close(bleu(words('a b c d e f g'), label), (6 / 7) ** 0.5 * (5 / 6) ** 0.25);
    assert.equal(bleu(words('a b c e f'), label, 4), 0);
    close(
      bleu(words('a b c d f'), label, 3),
      Math.exp(1 - 6 / 5) * (3 / 4) ** 0.25 * (2 / 3) ** 0.125,
    );
    assert.equal(bleu(words('x y'), label), 0);
  });

  test('an n-gram counts only as often as the label has it', () => {
    close(bleu(words('the the the'), words('the cat'), 1), (1 / 3) ** 0.5);
    close(bleu(['a b'], words('a b'), 1), 0);
  });

  test('a prediction of one token or none is no division by zero', () => {
    close(bleu(['a'], words('a b')), Math.exp(-1));
    close(bleu(['a'], ['a']), 1);
    assert.equal(bleu([], ['a']), 0);
    assert.equal(bleu([], []), 1);
  });

  test('of many sentences it is the mean', () => {
    close(meanBleu([['a'], ['b']], [['a'], ['c']]), 0.5);
    assert.throws(() => meanBleu([['a']], []), /1 predictions with 0 labels/);
  });
});

describe('agreement with an alignment', () => {
  /** @type {import('../../web/text/pairs.js').Pair[]} */
  const pairs = [
    {
      source: words('a b'),
      target: words('x y z'),
      alignment: [
        [0, 0],
        [1, 0],
        [1, 2],
      ],
    },
    { source: words('a'), target: words('x'), alignment: [[0, 0]] },
  ];
  // Two heads that disagree: for each pair a head's rows are the queries x y z <eos>, its columns the keys.
  const data = [
    [0.1, 0.9, 0.0, 1.0, 0.6, 0.4, 1, 1],
    [0.1, 0.9, 0.0, 1.0, 0.3, 0.7, 1, 1],
    [0.6, 0.4, 1.0, 0.0, 1.0, 0.0, 1, 1],
    [0.3, 0.7, 0.0, 1.0, 0.0, 1.0, 1, 1],
  ].flat();

  test('counts the aligned target words and the rows that are largest on one of theirs', () => {
    // x of the first pair: key 1, aligned. z: .9 against 1.1, key 1, aligned. x of the second: key 1, not.
    assert.deepEqual(alignmentAgreement(pairs, { shape: [2, 2, 4, 2], data }), {
      agreeing: 2,
      words: 3,
    });
  });

  test('a pair without an alignment, and words behind the last step, do not count', () => {
    const weights = { shape: [1, 1, 2, 2], data: [1, 0, 1, 0] };
    assert.deepEqual(alignmentAgreement([pairs[0]], weights), { agreeing: 1, words: 1 });
    const zeros = { ...weights, data: weights.data.map(() => 0) };
    assert.deepEqual(alignmentAgreement([pairs[0]], zeros), { agreeing: 0, words: 1 });
    const plain = [{ source: ['a'], target: ['x'] }];
    assert.deepEqual(alignmentAgreement(plain, weights), { agreeing: 0, words: 0 });
  });

  test('refuses weights of other pairs', () => {
    assert.throws(
      () => alignmentAgreement(pairs, { shape: [1, 1, 2, 2], data: [] }),
      /\[1, 1, 2, 2\] do not belong to 2 pairs/,
    );
  });
});

const file = process.env.FRA_ENG;
const without = file ? false : 'FRA_ENG names no file: set it to the 601 pairs that D2L trains on';

describe("D2L's translation data", () => {
  /** @returns {DataSet} */
  const load = () => {
    const { pairs, problems } = readPairs(readFileSync(String(file), 'utf8'));
    assert.deepEqual([pairs.length, problems.length], [601, 0]);
    return new DataSet(pairs, { minFrequency: 2, steps: 10 });
  };

  test('has vocabularies of 184 and 201, in its order', { skip: without }, () => {
    const { sourceVocabulary, targetVocabulary } = load();
    assert.deepEqual([sourceVocabulary.size, targetVocabulary.size], [184, 201]);
    const some = (/** @type {Vocabulary} */ { tokens }) => tokens.slice(4, 12).join(' ');
    assert.equal(some(sourceVocabulary), ". ! i i'm it go tom ?");
    assert.equal(some(targetVocabulary), ". ! je suis tom ? j'ai nous");
  });

  test('its first pair as ids', { skip: without }, () => {
    const { source, sourceLens, target, targetLens, labels } = load().batch([0]);
    assert.deepEqual(source, [[9, 4, EOS, PAD, PAD, PAD, PAD, PAD, PAD, PAD]]);
    assert.deepEqual([sourceLens, targetLens], [[3], [3]]);
    assert.deepEqual(labels[0].slice(0, 4), [16, 5, EOS, PAD]);
    assert.deepEqual(target[0].slice(0, 4), [BOS, 16, 5, EOS]);
  });
});
