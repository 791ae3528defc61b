/**
 * Sequence to sequence with gated recurrent units, by a fixed context or by Bahdanau's attention.
 * (Sutskever et al. 2014; Bahdanau et al. 2015; D2L "Sequence-to-Sequence Learning", "The Bahdanau
 * Attention Mechanism".)
 */

import { checkNames, integer, number, required, seed } from './options.js';
import { SequenceModel } from './sequences.js';

/** @typedef {import('./engine.js').Core} Core */
/**
 * @typedef {object} Seq2seqConfig
 * @property {'bahdanau' | 'none'} [attention]  default 'none': the encoder's last state is every step's context
 * @property {number} sourceVocab
 * @property {number} targetVocab
 * @property {number} [embedding]  default 32
 * @property {number} [hiddens]  default 32
 * @property {number} [layers]  of the encoder and of the decoder, default 2
 * @property {number} [dropout]  between layers and of the weights, default 0
 * @property {'torch' | 'xavier'} [initialiser]  PyTorch's own, or D2L's (default): each matrix ±√(6 ÷ (in + out))
 * @property {number} [seed]  of parameters and dropout, default 0
 */

const CONFIG = [
  ...['attention', 'sourceVocab', 'targetVocab', 'embedding', 'hiddens', 'layers', 'dropout'],
  ...['initialiser', 'seed'],
];

export class Seq2seq extends SequenceModel {
  /**
   * Use engine.seq2seq().
   * @param {Core} core
   * @param {Seq2seqConfig} config
   */
  constructor(core, config) {
    checkNames('seq2seq', config, CONFIG);
    const fields = {
      attention: config.attention,
      source_vocab: integer(config.sourceVocab, 'sourceVocab', 1),
      target_vocab: integer(config.targetVocab, 'targetVocab', 1),
      embedding: integer(config.embedding, 'embedding', 1),
      hiddens: integer(config.hiddens, 'hiddens', 1),
      layers: integer(config.layers, 'layers', 1),
      dropout: number(config.dropout, 'dropout'),
      initialiser: config.initialiser,
      seed: seed(config.seed),
    };
    super(core, {
      create: () => core.call('seq2seq', core.struct('seq2seq_config', fields)),
      forward: 'seq2seq_forward',
      sides: ['source', 'target'],
    });
  }

  /**
   * The encoder has read padding in training, so it does here.
   * @protected
   * @override
   * @param {import('./sequences.js').Sentence | undefined} source
   * @param {number} prefix
   * @param {number} options
   */
  continue(source, prefix, options) {
    const { core } = this;
    const { ids, length } = required(source, 'source');
    return core.call(
      'seq2seq_translate',
      this.pointer,
      core.input('source', ids, ['B', 'T']),
      core.input('source_lengths', { shape: [1], data: Float32Array.of(length) }, ['B']),
      prefix,
      options,
    );
  }
}
