/**
 * The same numbers in PyTorch, from the model that the reader has saved with PyTorch's names.
 */
import { literal } from './pytorch.js';
import { headsOf } from './transformer.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./translation-view.js').Result} Result */

const reading = `
def read(path):  # a safetensors file
    raw = open(path, 'rb').read()
    size, = struct.unpack('<Q', raw[:8])
    header = json.loads(raw[8:8 + size])
    header.pop('__metadata__', None)
    def tensor(info):
        start, end = (8 + size + offset for offset in info['data_offsets'])
        return torch.frombuffer(bytearray(raw[start:end]), dtype=torch.float32).view(info['shape'])
    return {name: tensor(info) for name, info in header.items()}`;

/** The tables that are added to the embeddings. @type {Record<string, string[]>} */
const positions = {
  none: ['source_positions = target_positions = torch.zeros(1000, H)'],
  sinusoidal: [
    'angles = torch.arange(1000)[:, None] / 10000 ** (torch.arange(0, H, 2) / H)',
    'source_positions = target_positions = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :H]',
  ],
  learned: [
    "source_positions = saved['source_position.weight']",
    "target_positions = saved['target_position.weight']",
  ],
};

/** Whether PyTorch has such a model. @param {State} state */
const isBuiltIn = ({ position }) => position === undefined || Object.hasOwn(positions, position);

/** @param {State} state */
function transformerSteps(state) {
  if (!isBuiltIn(state)) return [`# nn.Transformer has no ${state.position} positions`];
  const norm = state.norm === 'pre';
  return [
    `H = ${state.hiddens}`,
    `transformer = nn.Transformer(H, ${headsOf(state)}, ${state.layers}, ${state.layers}, ${state.feedForward},`,
    `    activation='${state.activation}', norm_first=${norm ? 'True' : 'False'}, batch_first=True).train(False)`,
    ...(norm ? [] : ['transformer.encoder.norm = transformer.decoder.norm = None']),
    'transformer.load_state_dict({name[12:]: tensor for name, tensor in saved.items()',
    "    if name.startswith('transformer.')})",
    ...positions[state.position],
    'def embed(ids, table, positions):',
    '    return F.embedding(ids, table) * math.sqrt(H) + positions[:ids.shape[1]]',
    "x = embed(source, saved['source_embedding.weight'], source_positions)",
    "y = embed(target, saved['target_embedding.weight'], target_positions)",
    'causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])',
    "logits = transformer(x, y, tgt_mask=causal) @ saved['output.weight'].T + saved['output.bias']",
  ];
}

/** @param {State} state */
function seq2seqSteps({ embedding, hiddens, layers, attention }) {
  const inputs = `${embedding} + ${hiddens}`;
  const word = 'embedded[:, t:t + 1]';
  const read = attention === 'none' ? `${word}, context` : `context, ${word}`;
  return [
    'part = lambda prefix: {n[len(prefix):]: t for n, t in saved.items() if n.startswith(prefix)}',
    `encoder = nn.GRU(${embedding}, ${hiddens}, ${layers}, batch_first=True)`,
    "encoder.load_state_dict(part('encoder.rnn.'))",
    `decoder = nn.GRU(${inputs}, ${hiddens}, ${layers}, batch_first=True)`,
    "decoder.load_state_dict(part('decoder.rnn.'))",
    "outputs, state = encoder(F.embedding(source, saved['encoder.embedding.weight']))",
    "embedded = F.embedding(target, saved['decoder.embedding.weight'])",
    ...(attention === 'none' ? ['context = state[-1][:, None]'] : []),
    'steps = []',
    'for t in range(target.shape[1]):',
    ...(attention === 'none'
      ? []
      : [
          "    query = state[-1][:, None] @ saved['decoder.attention.W_q.weight'].T",
          "    features = torch.tanh(query + outputs @ saved['decoder.attention.W_k.weight'].T)",
          "    scores = (features @ saved['decoder.attention.w_v.weight'].T).transpose(1, 2)",
          '    allowed = torch.arange(source.shape[1]) < length',
          "    weights = scores.masked_fill(~allowed, -float('inf')).softmax(-1)",
          '    context = weights @ outputs',
        ]),
    `    step, state = decoder(torch.cat([${read}], -1), state)`,
    '    steps.append(step)',
    "logits = torch.cat(steps, 1) @ saved['decoder.dense.weight'].T + saved['decoder.dense.bias']",
  ];
}

/**
 * @param {State} state
 * @returns {string[]}
 */
export const torchSteps = (state) =>
  'feedForward' in state ? transformerSteps(state) : seq2seqSteps(state);

/**
 * @param {State} state
 * @param {Result} result with all tensors
 * @returns {string} a script that runs beside the saved model
 */
export function toPyTorch(state, { values }) {
  const ids = (/** @type {string} */ name) =>
    `torch.tensor([[${Array.from(values[name].data).join(', ')}]])`;
  const plain = state.silenced.length === 0 && state.edits.length === 0;
  const lengths = values.source_lengths?.data ?? [];
  if (!isBuiltIn(state)) return [...torchSteps(state), ''].join('\n');
  return [
    '# The numbers of the figure, computed by PyTorch from model.safetensors beside this script: save the',
    "# model there with PyTorch's names.",
    'import json, math, struct',
    'import torch',
    'import torch.nn.functional as F',
    'from torch import nn',
    reading,
    '',
    "saved = read('model.safetensors')",
    `source = ${ids('source')}`,
    `length = ${lengths[0] ?? values.source.data.length}`,
    `target = ${ids('target')}`,
    ...torchSteps(state),
    ...(plain
      ? [
          `expected = ${literal(values.logits, 2)}`,
          'torch.testing.assert_close(logits[0], expected, rtol=1e-4, atol=1e-4)',
        ]
      : ['# Heads that are off and edited numbers are not in this script.']),
    'print(logits)',
    '',
  ].join('\n');
}
