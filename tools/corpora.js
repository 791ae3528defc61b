// How far the default Transformer learns the project's own corpora: trained on four fifths of the
// pairs, tried on the rest.
//
//   node tools/corpora.js [--seeds 0,1,2] [--epochs 60]
//
// BLEU counts unigrams and bigrams of greedy translations, mean over the unseen pairs. Alignment is the
// share of their target words whose largest cross-attention weight, averaged over the heads of the best
// layer, lies on a source word that they are aligned with.

import { parseArgs } from 'node:util';
import { createEngine } from '../wasm/attention.js';
import { train } from '../wasm/epochs.js';
import { alignmentAgreement } from '../web/text/alignment.js';
import { meanBleu } from '../web/text/bleu.js';
import { englishChinese } from '../web/text/corpora/english-chinese.js';
import { englishFrench } from '../web/text/corpora/english-french.js';
import { DataSet, decode } from '../web/text/data-set.js';
import { splitPairs } from '../web/text/pairs.js';
import { BOS, EOS } from '../web/text/vocabulary.js';

/** @typedef {import('../wasm/sequences.js').Decoded} Decoded */

const CORPORA = { 'English–French': englishFrench(), 'English–Chinese': englishChinese() };
const STEP = /** @type {const} */ ({ optimiser: 'adam', learningRate: 0.005, clip: 1 });
const LAYERS = 2;

/**
 * @param {import('../wasm/transformer.js').Transformer} model
 * @param {DataSet} unseen
 */
function translate(model, unseen) {
  const { source, sourceLens } = unseen.batch(unseen.pairs.keys());
  const how = { bos: BOS, eos: EOS, maxLength: unseen.steps };
  const decoded = /** @type {Decoded[]} */ (model.decode({ source, sourceLens }, how));
  return decoded.map(({ tokens }) => decode(tokens, unseen.targetVocabulary));
}

/**
 * @param {import('../wasm/transformer.js').Transformer} model
 * @param {DataSet} unseen
 */
function agreement(model, unseen) {
  const { labels: _, ...input } = unseen.batch(unseen.pairs.keys());
  model.forward(input);
  const shares = Array.from({ length: LAYERS }, (_, layer) => {
    const weights = model.tensor(`decoder.${layer}.cross_attention.weights`);
    const { agreeing, words } = alignmentAgreement(unseen.pairs, weights);
    return agreeing / words;
  });
  return Math.max(...shares);
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '0,1,2' },
    epochs: { type: 'string', default: '60' },
  },
});
const epochs = Number(values.epochs);
const engine = await createEngine();
for (const [name, pairs] of Object.entries(CORPORA)) {
  const { training, heldOut } = splitPairs(pairs);
  const all = new DataSet(pairs);
  const { sourceVocabulary, targetVocabulary, steps } = all;
  const shared = { sourceVocabulary, targetVocabulary, steps };
  const seen = new DataSet(training, shared);
  const unseen = new DataSet(heldOut, shared);
  console.log(
    `${name}: ${seen.size} pairs to learn, ${unseen.size} unseen, ` +
      `vocabularies ${sourceVocabulary.size} and ${targetVocabulary.size}, ${epochs} epochs`,
  );
  for (const seed of values.seeds.split(',').map(Number)) {
    const model = engine.transformer({
      sourceVocab: sourceVocabulary.size,
      targetVocab: targetVocabulary.size,
      layers: LAYERS,
      dropout: 0.1,
      seed,
    });
    let loss = 0;
    for (const done of train(engine, model, seen, { epochs, seed, step: STEP })) loss = done.loss;
    const bleu = meanBleu(
      translate(model, unseen),
      heldOut.map(({ target }) => target),
    );
    const aligned = 100 * agreement(model, unseen);
    console.log(
      `  seed ${seed}  loss ${loss.toFixed(4)}  BLEU ${bleu.toFixed(3)} (0.9 asked)  ` +
        `alignment ${aligned.toFixed(1)} % (80 asked)`,
    );
  }
}
