// The three translation experiments of the book "Dive into Deep Learning" (PyTorch edition, "Sequence
// to Sequence Learning", "Bahdanau Attention", "Transformer"), with its settings and its data.
//
//   node tools/d2l.js FRA_ENG [--seeds 1,2,3,4,5] [--only transformer] [--results build/d2l.json]
//
// FRA_ENG is Tatoeba's list of English–French pairs; the first 601 are used. Each finished run is
// written to the results at once: stopped and started again, the command goes on behind it.
//
// The loss is what the book plots: the mean over all steps of a sequence, padding included, summed over
// the sequences and divided by the number of target tokens, in the last epoch. BLEU counts unigrams and
// bigrams. The published values are those of the book's printed runs.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { createEngine } from '../wasm/attention.js';
import { train } from '../wasm/epochs.js';
import { bleu } from '../web/text/bleu.js';
import { DataSet, decode, encode } from '../web/text/data-set.js';
import { readPairs } from '../web/text/pairs.js';
import { BOS, EOS } from '../web/text/vocabulary.js';

const PAIRS = 601;
const STEPS = 10;
const SENTENCES = [
  ['go .', 'va !'],
  ['i lost .', "j'ai perdu ."],
  ["he's calm .", 'il est calme .'],
  ["i'm home .", 'je suis chez moi .'],
].map((pair) => pair.map((text) => text.split(' ')));

const SIZES = { hiddens: 32, layers: 2, initialiser: 'xavier' };

/**
 * @typedef {object} Experiment
 * @property {string} name
 * @property {'seq2seq' | 'transformer'} model
 * @property {object} config
 * @property {number} epochs
 * @property {[number, number]} loss  published, from and to
 * @property {number} bleu  published, of the four sentences
 */
/** @type {Experiment[]} */
const EXPERIMENTS = [
  {
    name: 'seq2seq',
    model: 'seq2seq',
    config: { ...SIZES, embedding: 32, dropout: 0.1, attention: 'none' },
    epochs: 300,
    loss: [0.019, 0.021],
    bleu: 0.677,
  },
  {
    name: 'bahdanau',
    model: 'seq2seq',
    config: { ...SIZES, embedding: 32, dropout: 0.1, attention: 'bahdanau' },
    epochs: 250,
    loss: [0.019, 0.022],
    bleu: 0.883,
  },
  {
    name: 'transformer',
    model: 'transformer',
    config: {
      ...SIZES,
      heads: 4,
      feedForward: 64,
      attentionBias: false,
      dropout: { embedding: 0.1, attention: 0.1, residual: 0.1 },
    },
    epochs: 200,
    loss: [0.03, 0.033],
    bleu: 0.94,
  },
];

/** @typedef {import('../wasm/sequences.js').Decoded} Decoded */
/**
 * @typedef {object} Run
 * @property {string} name
 * @property {number} seed
 * @property {number} loss
 * @property {number} speed  target tokens a second
 * @property {string[]} translations
 * @property {number} bleu  mean of the four
 */

/**
 * @param {import('../wasm/functions.js').Engine} engine
 * @param {DataSet} pairs
 * @param {Experiment} experiment
 * @param {number} seed
 * @returns {Run}
 */
function run(engine, pairs, { name, model: kind, config, epochs }, seed) {
  const { sourceVocabulary, targetVocabulary } = pairs;
  const model = engine[kind]({
    ...config,
    sourceVocab: sourceVocabulary.size,
    targetVocab: targetVocabulary.size,
    seed,
  });
  const step = /** @type {const} */ ({
    optimiser: 'adam',
    learningRate: 0.005,
    clip: 1,
    loss: 'd2l-v1',
  });
  const start = performance.now();
  let [loss, tokens, allTokens] = [0, 0, 0];
  for (const done of train(engine, model, pairs, { epochs, seed, step })) {
    loss += done.loss;
    tokens += done.tokens;
    allTokens += done.tokens;
    if (!done.last) continue;
    const seconds = (performance.now() - start) / 1000;
    progress(
      `${name}, seed ${seed}: epoch ${done.epoch + 1} of ${epochs}, ` +
        `loss ${(loss / tokens).toFixed(4)}, ${Math.round(allTokens / seconds)} tokens/s`,
    );
    if (done.epoch + 1 < epochs) [loss, tokens] = [0, 0];
  }
  const speed = allTokens / ((performance.now() - start) / 1000);
  const translations = SENTENCES.map(([source]) => {
    const { ids, length } = encode(source, sourceVocabulary, STEPS);
    const input = { source: ids, sourceLens: [length] };
    const how = /** @type {const} */ ({
      bos: BOS,
      eos: EOS,
      maxLength: STEPS,
      positions: 'as-d2l',
    });
    const { tokens: written } = /** @type {Decoded} */ (model.decode(input, how));
    return decode(written, targetVocabulary);
  });
  const scores = translations.map((words, at) => bleu(words, SENTENCES[at][1]));
  return {
    name,
    seed,
    loss: loss / tokens,
    speed,
    translations: translations.map((words) => words.join(' ')),
    bleu: mean(scores),
  };
}

/** @param {number[]} list */
const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;

/** The standard error of the mean. @param {number[]} list */
function error(list) {
  const center = mean(list);
  const variance = list.reduce((sum, value) => sum + (value - center) ** 2, 0) / (list.length - 1);
  return Math.sqrt(variance / list.length);
}

/** One line that is written over by the next. @param {string} text */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

/** @param {Run} run */
const row = ({ seed, loss, speed, bleu: score, translations }) =>
  `  seed ${String(seed).padEnd(4)} loss ${loss.toFixed(4)}  BLEU ${score.toFixed(3)}  ` +
  `${String(Math.round(speed)).padStart(6)} tokens/s  ${translations.join(' | ')}`;

/**
 * @param {Experiment} experiment
 * @param {Run[]} runs
 */
function summary({ loss: [from, to], bleu: published }, runs) {
  const inBand = runs.filter(({ loss }) => loss >= from - 0.0005 && loss < to + 0.0005).length;
  const scores = runs.map((each) => each.bleu);
  const spread = runs.length > 1 ? ` ± ${error(scores).toFixed(3)}` : '';
  return (
    `  loss ${from} to ${to} published: ${inBand} of ${runs.length} in this band\n` +
    `  BLEU ${published} published, ${mean(scores).toFixed(3)}${spread} here`
  );
}

/** @param {string} path @returns {Promise<Run[]>} */
async function finishedRuns(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return [];
    throw error;
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '1,2,3,4,5' },
    only: { type: 'string' },
    results: { type: 'string', default: 'build/d2l.json' },
  },
});
const [file] = positionals;
if (!file) {
  console.error(
    'usage: make d2l FRA_ENG=PATH   the English–French pairs of Tatoeba, tab-separated',
  );
  process.exit(2);
}
const { pairs: read } = readPairs(await readFile(file, 'utf8'), { limit: PAIRS });
const pairs = new DataSet(read, { minFrequency: 2, steps: STEPS });
console.log(
  `${pairs.size} pairs, vocabularies ${pairs.sourceVocabulary.size} and ${pairs.targetVocabulary.size}`,
);

const engine = await createEngine();
const runs = await finishedRuns(values.results);
await mkdir(dirname(values.results), { recursive: true });
for (const experiment of EXPERIMENTS) {
  if (values.only && values.only !== experiment.name) continue;
  console.log(`${experiment.name}, ${experiment.epochs} epochs`);
  const seeds = values.seeds.split(',').map(Number);
  for (const seed of seeds) {
    const known = runs.find((each) => each.name === experiment.name && each.seed === seed);
    const done = known ?? run(engine, pairs, experiment, seed);
    progress('');
    console.log(row(done));
    if (!known) {
      runs.push(done);
      await writeFile(values.results, JSON.stringify(runs, null, 2));
    }
  }
  console.log(
    summary(
      experiment,
      runs.filter((each) => each.name === experiment.name && seeds.includes(each.seed)),
    ),
  );
}
