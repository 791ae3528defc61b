/**
 * English–Chinese (simplified, cut into words): who likes what, what they did, will do or want to do
 * with it, and which colour things have.
 *
 * What differs: between a number or 这 那 and a noun stands the measure word of the noun (一 本 书, 一 只
 * 猫), but not in a negated 没 买 书; nothing is inflected: 了 after the verb says done, 没 before it not
 * done, 会 what will be; 不 negates the rest; a question ends with 吗.
 */

import { choose, english, FORMS, pairOf } from './grammar.js';

/** English, its plural, Chinese, its measure word */
const NOUNS = /** @type {const} */ ([
  ['cat', 'cats', '猫', '只'],
  ['dog', 'dogs', '狗', '只'],
  ['book', 'books', '书', '本'],
  ['dictionary', 'dictionaries', '词典', '本'],
  ['car', 'cars', '汽车', '辆'],
  ['bike', 'bikes', '自行车', '辆'],
  ['chair', 'chairs', '椅子', '把'],
  ['guitar', 'guitars', '吉他', '把'],
]);

const COLOURS = /** @type {const} */ ([
  ['black', '黑'],
  ['white', '白'],
]);
const ADJECTIVES = /** @type {const} */ ([null, ...COLOURS, ['big', '大'], ['small', '小']]);

/** English, plural, Chinese, whether a measure word follows */
const THESE = /** @type {const} */ ([
  ['this', false, '这', true],
  ['that', false, '那', true],
  ['these', true, '这些', false],
  ['those', true, '那些', false],
]);
const ONE = /** @type {const} */ (['a', false, '一', true]);
const NUMBERS = /** @type {const} */ ([
  ['two', true, '两', true],
  ['three', true, '三', true],
]);

/** English, its past, Chinese */
const VERBS = /** @type {const} */ ([
  ['buy', 'bought', '买'],
  ['draw', 'drew', '画'],
  ['sell', 'sold', '卖'],
  ['find', 'found', '找到'],
]);

/** English, its do, its ending in the present, Chinese */
const PERSONS = /** @type {const} */ ([
  ['i', 'do', '', '我'],
  ['you', 'do', '', '你'],
  ['he', 'does', 's', '他'],
  ['she', 'does', 's', '她'],
  ['we', 'do', '', '我们'],
  ['they', 'do', '', '他们'],
]);

/** @typedef {readonly [string, boolean, string, boolean]} Determiner */

/**
 * Determiner, adjective and noun, in both languages.
 * @param {Determiner} determiner
 * @param {typeof NOUNS[number]} noun
 * @param {typeof ADJECTIVES[number]} adjective
 * @param {boolean} negated
 */
function nounPhrase([one, plural, yi, measured], [book, books, shu, ben], adjective, negated) {
  const bare = negated && one === 'a';
  return [
    `${one}/d ${adjective ? `${adjective[0]}/a` : ''} ${plural ? books : book}/n`,
    `${bare ? '' : `${yi}/d ${measured ? `${ben}/n` : ''}`} ${adjective ? `${adjective[1]}/a` : ''} ${shu}/n`,
  ];
}

/** @param {readonly Determiner[]} determiners @param {boolean} negated */
function objects(determiners, negated) {
  return determiners.flatMap((determiner) =>
    NOUNS.flatMap((noun) =>
      ADJECTIVES.map((adjective) => nounPhrase(determiner, noun, adjective, negated)),
    ),
  );
}

/**
 * @param {import('./grammar.js').Form} form
 * @param {string} subject
 * @param {string} not
 * @param {string} rest
 */
function chinese(form, subject, not, rest) {
  if (form === 'question') return `${subject} ${rest} 吗/qp ？/p`;
  return `${subject} ${form === 'negation' ? not : ''} ${rest} 。/p`;
}

/**
 * What a person may do: auxiliary and verb in English, negation and verb in Chinese, whether it sounds
 * natural only with this or that thing, and how many sentences to take.
 * @param {import('./grammar.js').Form} form
 * @param {string} does
 * @param {string} s
 * @returns {Generator<[string, string, string, string, boolean, number]>}
 */
function* predicates(form, does, s) {
  const [plain, negated] = [form === 'statement', form === 'negation'];
  const [auxiliary, ending] = plain ? ['', s] : [`${does}/t`, ''];
  yield [auxiliary, `like${ending}/v`, '不/tx', '喜欢/v', true, 5];
  for (const [buy, bought, mai] of VERBS) {
    const [did, verb] = plain ? ['', `${bought}/vt`] : ['did/t', `${buy}/v`];
    yield [did, verb, '没/tx', negated ? `${mai}/v` : `${mai}/v 了/t`, false, 2];
    yield [auxiliary, `want${ending}/w to/w ${buy}/v`, '不/tx', `想/w ${mai}/v`, false, 2];
    yield ['will/t', `${buy}/v`, '不/x', `会/t ${mai}/v`, negated, 2];
  }
}

function* actions() {
  for (const form of FORMS) {
    const negated = form === 'negation';
    const these = objects(THESE, negated);
    const all = [...these, ...objects(negated ? [ONE] : [ONE, ...NUMBERS], negated)];
    for (const [i, does, s, wo] of PERSONS) {
      if (form === 'question' && (i === 'i' || i === 'we')) continue;
      for (const [auxiliary, verb, not, dongci, definite, count] of predicates(form, does, s)) {
        const source = (/** @type {string} */ object) =>
          english(form, `${i}/s`, auxiliary, `${verb} ${object}`);
        const some = choose(definite ? these : all, count, ([object]) => source(object));
        for (const [object, binyu] of some) {
          yield pairOf(source(object), chinese(form, `${wo}/s`, not, `${dongci} ${binyu}`));
        }
      }
    }
  }
}

function* colours() {
  for (const form of FORMS) {
    for (const determiner of THESE) {
      for (const noun of NOUNS) {
        const [subject, zhuyu] = nounPhrase(determiner, noun, null, false);
        for (const [black, hei] of COLOURS) {
          yield [
            english(form, subject, determiner[1] ? 'are/v' : 'is/v', `${black}/a`),
            chinese(form, zhuyu, '不/x', `是/v ${hei}/a 的`),
          ];
        }
      }
    }
  }
}

export function englishChinese() {
  const some = choose(colours(), 60, ([source]) => source);
  return [...actions(), ...some.map(([source, target]) => pairOf(source, target))];
}
