/**
 * English–French: who draws, buys, hides or looks at what, and which colour things have.
 *
 * What differs: adjectives follow their noun and agree with it; le la un une follow its gender; a small
 * word loses its vowel before another (l' d' j' n' qu'); ne … pas stands around the verb; a negated `a`
 * is de; a question begins with est-ce que. Three tenses: présent, passé composé, futur proche.
 */

import { choose, english, FORMS, pairOf } from './grammar.js';

/** English, its plural, French, its plural, feminine */
const NOUNS = /** @type {const} */ ([
  ['bird', 'birds', 'oiseau', 'oiseaux', false],
  ['hat', 'hats', 'chapeau', 'chapeaux', false],
  ['bike', 'bikes', 'vélo', 'vélos', false],
  ['car', 'cars', 'voiture', 'voitures', true],
  ['flower', 'flowers', 'fleur', 'fleurs', true],
  ['scarf', 'scarves', 'écharpe', 'écharpes', true],
]);

/** English, French, feminine */
const COLOURS = /** @type {const} */ ([
  ['black', 'noir', 'noire'],
  ['green', 'vert', 'verte'],
  ['red', 'rouge', 'rouge'],
  ['yellow', 'jaune', 'jaune'],
]);

/** English, French where gender and vowel do not matter, plural */
const THE = /** @type {const} */ ([
  ['the', '', false],
  ['the', 'les', true],
]);
const A = /** @type {const} */ (['a', '', false]);
const NUMBERS = /** @type {const} */ ([
  ['two', 'deux', true],
  ['three', 'trois', true],
]);

/** English -ing, past, infinitive and what follows it; French present, stem of the other forms */
const VERBS = /** @type {const} */ ([
  ['drawing', 'drew', 'draw', '', 'dessine', 'dessin'],
  ['buying', 'bought', 'buy', '', 'achète', 'achet'],
  ['hiding', 'hid', 'hide', '', 'cache', 'cach'],
  ['looking', 'looked', 'look', 'at/v', 'regarde', 'regard'],
]);

/** English, its be; French, its ending in the present, avoir, aller */
const PERSONS = /** @type {const} */ ([
  ['i', 'am', 'je', '', 'ai', 'vais'],
  ['you', 'are', 'tu', 's', 'as', 'vas'],
  ['he', 'is', 'il', '', 'a', 'va'],
  ['she', 'is', 'elle', '', 'a', 'va'],
]);

/**
 * Determiner, noun and colour, in both languages.
 * @param {readonly [string, string, boolean]} determiner
 * @param {typeof NOUNS[number]} noun
 * @param {typeof COLOURS[number] | null} colour
 * @param {boolean} negated
 */
function nounPhrase([the, les, plural], [bird, birds, oiseau, oiseaux, feminine], colour, negated) {
  const le = feminine ? 'la' : 'le';
  const un = negated ? 'de' : feminine ? 'une' : 'un';
  return [
    `${the}/d ${colour ? `${colour[0]}/a` : ''} ${plural ? birds : bird}/n`,
    `${les || (the === 'a' ? un : le)}/d ${plural ? oiseaux : oiseau}/n ${colour ? agree(colour, feminine, plural) : ''}`,
  ];
}

/** @param {typeof COLOURS[number]} colour @param {boolean} feminine @param {boolean} plural */
function agree([, noir, noire], feminine, plural) {
  return `${feminine ? noire : noir}${plural ? 's' : ''}/a`;
}

/** @param {boolean} negated */
function objects(negated) {
  return [...THE, A, ...(negated ? [] : NUMBERS)].flatMap((determiner) =>
    NOUNS.flatMap((noun) =>
      [null, ...COLOURS].map((colour) => nounPhrase(determiner, noun, colour, negated)),
    ),
  );
}

/**
 * @param {import('./grammar.js').Form} form
 * @param {string} subject
 * @param {string} verb  the conjugated one
 * @param {string} rest
 */
function french(form, subject, verb, rest) {
  const sentence = {
    statement: `${subject} ${verb} ${rest} ./p`,
    negation: `${subject} ne/x ${verb} pas/x ${rest} ./p`,
    question: `est-ce/qp que ${subject} ${verb} ${rest} ?/p`,
  }[form];
  return sentence.replace(/(^| )(j|n|qu|l|d)[ea]((?:\/\w+)?) +(?=[aeioué])/g, "$1$2'$3 ");
}

function* actions() {
  for (const form of FORMS) {
    const phrases = objects(form === 'negation');
    for (const [i, am, je, s, ai, vais] of PERSONS) {
      if (form === 'question' && i === 'i') continue;
      for (const [drawing, drew, draw, at, dessine, dessin] of VERBS) {
        const did = form === 'statement' ? ['', `${drew}/vt`] : ['did/t', `${draw}/v`];
        const tenses = [
          [`${am}/v`, `${drawing}/v`, `${dessine}${s}/v`, ''],
          [...did, `${ai}/t`, `${dessin}é/v`],
          ['will/t', `${draw}/v`, `${vais}/t`, `${dessin}er/v`],
        ];
        for (const [auxiliary, verb, conjugated, other] of tenses) {
          const source = (/** @type {string} */ object) =>
            english(form, `${i}/s`, auxiliary, `${verb} ${at} ${object}`);
          for (const [object, objet] of choose(phrases, 3, ([object]) => source(object))) {
            yield pairOf(source(object), french(form, `${je}/s`, conjugated, `${other} ${objet}`));
          }
        }
      }
    }
  }
}

function* colours() {
  for (const form of FORMS) {
    for (const determiner of THE) {
      const plural = determiner[2];
      for (const noun of NOUNS) {
        const [subject, sujet] = nounPhrase(determiner, noun, null, false);
        for (const colour of COLOURS) {
          yield [
            english(form, subject, plural ? 'are/v' : 'is/v', `${colour[0]}/a`),
            french(form, sujet, plural ? 'sont/v' : 'est/v', agree(colour, noun[4], plural)),
          ];
        }
      }
    }
  }
}

export function englishFrench() {
  const some = choose(colours(), 104, ([source]) => source);
  return [...actions(), ...some.map(([source, target]) => pairOf(source, target))];
}
