/**
 * The two corpora: enough of every word, true alignments, and each rule of the languages again, from
 * tables of this test's own.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { englishChinese } from '../../web/text/corpora/english-chinese.js';
import { englishFrench } from '../../web/text/corpora/english-french.js';
import { pairOf } from '../../web/text/corpora/grammar.js';
import { DataSet } from '../../web/text/data-set.js';
import { hash, splitPairs, textOf, tokensOf } from '../../web/text/pairs.js';
import { countVocabulary } from '../../web/text/vocabulary.js';

const french = englishFrench();
const chinese = englishChinese();
const lines = (/** @type {typeof french} */ pairs) =>
  pairs.map(({ source, target }) => `${source.join(' ')}\t${target.join(' ')}`);

/** Pairs of aligned words. @param {typeof french[number]} pair */
const aligned = ({ source, target, alignment }) =>
  alignment.map(([i, j]) => `${source[i]} ${target[j]}`);

/**
 * The pair of a source sentence.
 * @param {typeof french} pairs
 * @param {string} source
 */
function find(pairs, source) {
  const pair = pairs.find((one) => one.source.join(' ') === source);
  assert.ok(pair, `no sentence "${source}"`);
  return pair;
}

test('words that share a key are aligned, the others are not', () => {
  assert.deepEqual(pairOf('a/xy b  c/z', 'p/y q/zx r'), {
    source: ['a', 'b', 'c'],
    target: ['p', 'q', 'r'],
    alignment: [
      [0, 0],
      [0, 1],
      [2, 1],
    ],
  });
});

for (const [name, pairs, sizes, steps, fingerprint, unaligned] of /** @type {const} */ ([
  ['English–French', french, [500, 400, 100, 45, 71], 10, 2993721757, ["qu'", 'que']],
  ['English–Chinese', chinese, [524, 420, 104, 55, 44], 11, 1027343386, ['a', '的']],
])) {
  describe(name, () => {
    const { training, heldOut } = splitPairs(pairs);
    const data = new DataSet(pairs);

    test('about 500 pairs of few words, and a fifth of them held out', () => {
      const { sourceVocabulary, targetVocabulary } = data;
      const words = [sourceVocabulary.size - 4, targetVocabulary.size - 4];
      assert.deepEqual([pairs.length, training.length, heldOut.length, ...words], sizes);
      assert.equal(data.steps, steps);
    });

    test('the same pairs in the same order on every machine', () => {
      assert.equal(hash(lines(pairs).join('\n')), fingerprint);
    });

    test('no sentence occurs twice, in either language', () => {
      for (const side of /** @type {const} */ (['source', 'target'])) {
        assert.equal(new Set(pairs.map((pair) => pair[side].join(' '))).size, pairs.length);
      }
    });

    test('each word of the held-out part occurs at least 3 times in the other', () => {
      for (const side of /** @type {const} */ (['source', 'target'])) {
        const often = countVocabulary(
          training.map((pair) => pair[side]),
          3,
        );
        const words = new Set(heldOut.flatMap((pair) => pair[side]));
        assert.deepEqual(
          [...words].filter((word) => !often.has(word)),
          [],
        );
      }
    });

    test('every word is aligned but for the small ones of its own language', () => {
      /** @type {string[]} */
      const alone = [];
      for (const { source, target, alignment } of pairs) {
        const [from, to] = [0, 1].map((side) => new Set(alignment.map((link) => link[side])));
        alone.push(...source.filter((_, at) => !from.has(at)));
        alone.push(...target.filter((_, at) => !to.has(at)));
        assert.ok(alignment.every(([i, j]) => i < source.length && j < target.length));
        assert.equal(new Set(alignment.map(String)).size, alignment.length);
      }
      assert.deepEqual([...new Set(alone)].sort(), unaligned);
    });

    test('a typed sentence gives its tokens back', () => {
      for (const { source, target } of pairs) {
        const read = (
          /** @type {string[]} */ tokens,
          /** @type {typeof data.sourceVocabulary} */ v,
        ) => tokensOf(textOf(tokens, 'lexicon'), 'lexicon', v);
        assert.deepEqual(read(source, data.sourceVocabulary), source);
        assert.deepEqual(read(target, data.targetVocabulary), target);
      }
    });
  });
}

describe('French', () => {
  const NOUN = /^(?:(oiseau|chapeau|vélo)|voiture|fleur|écharpe)([xs]?)$/;
  const COLOUR = /^(?:(noir|vert)(e?)|rouge|jaune)(s?)$/;
  const VOWEL = /^[aeiouéê]/;
  /** Places of the words of a sentence that match. @param {string[]} words @param {RegExp} what */
  const places = (words, what) => words.flatMap((word, at) => (what.test(word) ? [at] : []));
  /** @param {string[]} words @param {number} at  of the noun */
  const nounAt = (words, at) => {
    const [, masculine, plural] = NOUN.exec(words[at]) ?? assert.fail(words.join(' '));
    return { masculine: Boolean(masculine), plural: plural !== '' };
  };

  test('le la je ne de que lose their vowel before another, and only there', () => {
    for (const { target } of french) {
      target.forEach((word, at) => {
        if (/^(le|la|je|ne|de|que)$/.test(word)) assert.doesNotMatch(target[at + 1], VOWEL);
        if (word.endsWith("'")) assert.match(target[at + 1], VOWEL);
      });
    }
  });

  test('the determiner has the gender and the number of its noun', () => {
    for (const { target } of french) {
      const [at, ...more] = places(target, NOUN);
      assert.deepEqual(more, []);
      const { masculine, plural } = nounAt(target, at);
      const fits = plural
        ? /^(les|deux|trois)$/
        : masculine
          ? /^(le|un|de|[ld]')$/
          : /^(la|une|de|[ld]')$/;
      assert.match(target[at - 1], fits, target.join(' '));
    }
  });

  test('the colour comes after its noun and agrees with it', () => {
    for (const { source, target } of french) {
      const at = places(target, NOUN)[0];
      const [colour, ...more] = places(target, COLOUR);
      assert.deepEqual(more, []);
      assert.equal(colour !== undefined, /black|green|red|yellow/.test(source.join(' ')));
      if (colour === undefined) continue;
      const between = target.slice(at + 1, colour).join(' ');
      assert.match(between, /^(|(ne |n' )?(est|sont)( pas)?)$/);
      const [, varies, e, s] = COLOUR.exec(target[colour]) ?? [];
      const { masculine, plural } = nounAt(target, at);
      assert.equal(s !== '', plural, target.join(' '));
      if (varies) assert.equal(e === '', masculine, target.join(' '));
    }
  });

  test('ne … pas stand around the conjugated verb where English has not', () => {
    for (const { source, target } of french) {
      const ne = places(target, /^n[e']$/);
      assert.deepEqual(
        places(target, /^pas$/),
        ne.map((at) => at + 2),
      );
      assert.equal(ne.length, source.includes('not') ? 1 : 0);
    }
  });

  test('a is un or une, and de or d’ after pas', () => {
    for (const { source, target } of french) {
      const negated = source.includes('not');
      const counts = [/^une?$/, /^d[e']$/].map((what) => places(target, what).length);
      const a = source.includes('a') ? 1 : 0;
      assert.deepEqual(counts, negated ? [0, a] : [a, 0], target.join(' '));
    }
  });

  test('subject and verb agree', () => {
    const forms = /^(j'|je|tu|il|elle|les \S+|(?:le|la|l') \S+) (?:ne |n' )?(\S+)/;
    for (const { target } of french) {
      const sentence = target.join(' ').replace(/^est-ce qu(e|') /, '');
      const [, subject, verb] = forms.exec(sentence) ?? assert.fail(sentence);
      const endings =
        subject === 'tu'
          ? /^(as|vas|\S+es)$/
          : /^j/.test(subject)
            ? /^(ai|vais|\S+e)$/
            : subject.startsWith('les')
              ? /^sont$/
              : subject.startsWith('l')
                ? /^est$/
                : /^(a|va|\S+e)$/;
      assert.match(verb, endings, sentence);
    }
  });

  test('three tenses and three forms', () => {
    const all = lines(french);
    for (const [english, pattern] of [
      [/ (am|are|is) \S+ing /, /(achète|cache|dessine|regarde)s? /],
      [/ (bought|drew|hid|looked) /, / (ai|as|a) (acheté|caché|dessiné|regardé) /],
      [/ will /, / (vais|vas|va) (pas )?(acheter|cacher|dessiner|regarder) /],
      [/\?\t/, /\test-ce qu(e|') .*\?$/],
    ]) {
      const found = all.filter((line) => english.test(line));
      assert.ok(found.length >= 40, `${english}: ${found.length}`);
      assert.deepEqual(
        found.filter((line) => !pattern.test(line)),
        [],
      );
    }
  });

  test('alignments, word for word', () => {
    assert.deepEqual(aligned(find(french, 'i bought the green bike .')), [
      "i j'",
      'bought ai',
      'bought acheté',
      'the le',
      'green vert',
      'bike vélo',
      '. .',
    ]);
    assert.deepEqual(aligned(find(french, 'he is not looking at a hat .')), [
      'he il',
      'is regarde',
      'not ne',
      'not pas',
      'looking regarde',
      'at regarde',
      'a de',
      'hat chapeau',
      '. .',
    ]);
    assert.deepEqual(aligned(find(french, 'is he drawing the yellow bird ?')), [
      'is est-ce',
      'is dessine',
      'he il',
      'drawing dessine',
      "the l'",
      'yellow jaune',
      'bird oiseau',
      '? est-ce',
      '? ?',
    ]);
  });
});

describe('Chinese', () => {
  const MEASURES = {
    猫: '只',
    狗: '只',
    书: '本',
    词典: '本',
    汽车: '辆',
    自行车: '辆',
    椅子: '把',
    吉他: '把',
  };

  test('a measure word stands after 一 两 三 这 那, and is that of the noun', () => {
    for (const { target } of chinese) {
      const noun = Object.keys(MEASURES).filter((word) => target.includes(word));
      assert.equal(noun.length, 1, target.join(''));
      const measure = MEASURES[/** @type {keyof typeof MEASURES} */ (noun[0])];
      target.forEach((word, at) => {
        if (/^[一两三这那]$/.test(word)) assert.equal(target[at + 1], measure, target.join(''));
        if (/^[只本辆把]$/.test(word)) assert.match(target[at - 1], /^[一两三这那]$/);
      });
    }
  });

  test('了 says done, 没 not done, 会 what will be, 不 negates the rest, 吗 asks', () => {
    const rules = /** @type {const} */ ([
      ['了', (/** @type {string} */ s) => /^did|bought|drew|sold|found/.test(s)],
      ['没', (/** @type {string} */ s) => s.includes('did not')],
      ['会', (/** @type {string} */ s) => s.includes('will')],
      ['不', (/** @type {string} */ s) => s.includes('not') && !s.includes('did')],
      ['想', (/** @type {string} */ s) => s.includes('want')],
      ['吗', (/** @type {string} */ s) => s.endsWith('?')],
      ['的', (/** @type {string} */ s) => /\b(is|are)\b/.test(s)],
      ['一', (/** @type {string} */ s) => / a /.test(s) && !s.includes('not')],
    ]);
    for (const { source, target } of chinese) {
      for (const [word, expected] of rules) {
        assert.equal(target.includes(word), expected(source.join(' ')), source.join(' '));
      }
    }
  });

  test('English has its s: on the noun, on the verb of he and she', () => {
    for (const { source } of chinese) {
      const sentence = source.join(' ');
      const many = /\b(these|those|two|three)\b/.test(sentence);
      assert.equal(
        /\b(cat|dog|book|car|bike|chair|guitar)s|dictionaries/.test(sentence),
        many,
        sentence,
      );
      if (/^(he|she) (like|want)/.test(sentence)) assert.match(sentence, /^s?he (like|want)s /);
      else assert.doesNotMatch(sentence, /likes|wants/);
    }
  });

  test('alignments, word for word', () => {
    assert.deepEqual(aligned(find(chinese, 'did she buy this black book ?')), [
      'did 了',
      'did 吗',
      'she 她',
      'buy 买',
      'this 这',
      'black 黑',
      'book 本',
      'book 书',
      '? 吗',
      '? ？',
    ]);
    assert.deepEqual(aligned(find(chinese, 'i did not draw a small cat .')), [
      'i 我',
      'did 没',
      'not 没',
      'draw 画',
      'small 小',
      'cat 猫',
      '. 。',
    ]);
  });
});
