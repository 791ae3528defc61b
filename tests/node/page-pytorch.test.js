/** The PyTorch script of a figure: its lines in the order of the tape, with masks and edits in place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../wasm/attention.js';
import { createEvaluator } from '../../wasm/evaluate.js';
import { lessons } from '../../web/lessons/index.js';
import { toPyTorch } from '../../web/lessons/pytorch.js';

const lesson = lessons['multi-head'];
const evaluate = createEvaluator(await createEngine());

/** @param {Record<string, any>} values */
async function script(values) {
  const state = lesson.settle({ ...lesson.defaults, ...values });
  const read = Object.keys(lesson.tensors);
  const answer = await evaluate({ ...lesson.request(state), read });
  return toPyTorch(state, { state, .../** @type {any} */ (answer) }).split('\n');
}

/** @param {string[]} lines @param {string[]} wanted in this order */
function inOrder(lines, wanted) {
  let at = -1;
  for (const line of wanted) {
    const found = lines.indexOf(line, at + 1);
    assert.ok(found > at, `“${line}” is missing or too early`);
    at = found;
  }
}

test('the plain layer', async () => {
  const lines = await script({});
  inOrder(lines, [
    'tokens = ["the","cat","sat","on","the","mat"]',
    'query = split(query_projection)',
    'raw_scores = query @ key.transpose(-2, -1)',
    'scores = raw_scores / math.sqrt(query.shape[-1])',
    "masked_scores = scores.masked_fill(~allowed, float('-inf'))",
    'heads = weights @ value',
    'output = merged_heads @ output_weight.T',
  ]);
  const weight = lines.findIndex((line) => line.startsWith('query_weight = '));
  const literal = lines
    .slice(weight, weight + 32)
    .join('')
    .replace('dtype=torch.float32', '');
  assert.equal(literal.match(/-?\d[\d.e-]*/g)?.length, 32 * 32);
});

test('masks, scale, fill and heads that are off', async () => {
  inOrder(
    await script({
      causal: true,
      validLength: 4,
      window: 1,
      closed: ['', '101'],
      scale: 0.25,
      temperature: 2,
      fill: 'd2l',
      normalise: 'sigmoid',
      silenced: [0, 2],
    }),
    [
      'scores = raw_scores * 0.25 / 2',
      'allowed &= torch.ones(Tq, Tk).tril(Tk - Tq).bool()',
      'allowed &= torch.arange(Tk) < 4',
      'allowed &= (torch.arange(Tq)[:, None] + Tk - Tq - torch.arange(Tk)).abs() <= 1',
      'allowed[1, [0, 2]] = False',
      'masked_scores = scores.masked_fill(~allowed, -1e6)',
      'weights = masked_scores.sigmoid()',
      'masked_heads = heads * torch.tensor([0, 1, 0, 1])[:, None, None]',
      'merged_heads = masked_heads.transpose(0, 1).reshape(Tq, -1)',
    ],
  );
});

test('each edit comes right after the line of its tensor', async () => {
  const lines = await script({
    edits: [
      { name: 'attention.weights', at: [1, 0, 2], value: 0.5 },
      { name: 'attention.scores', at: [0, 1, 2], value: NaN },
      { name: 'attention.scores', at: [0, 1, 3], value: -Infinity },
    ],
  });
  const scores = lines.indexOf('scores = raw_scores / math.sqrt(query.shape[-1])');
  assert.deepEqual(lines.slice(scores + 1, scores + 3), [
    "scores[0, 1, 2] = float('nan')",
    "scores[0, 1, 3] = float('-infinity')",
  ]);
  const weights = lines.findIndex((line) => line.startsWith('weights = '));
  assert.equal(lines[weights + 1], 'weights[1, 0, 2] = 0.5');
});

test('the other scores, and a second text', async () => {
  assert.ok(
    (await script({ score: 'cosine' })).some((line) => line.includes('F.normalize(query, dim=-1)')),
  );
  assert.ok(
    (await script({ score: 'general' })).some((line) =>
      line.startsWith('score_weight = torch.tensor'),
    ),
  );
  const additive = await script({ score: 'additive', cross: true, target: ['x', 'y"'] });
  assert.ok(additive.some((line) => line.startsWith('score_value_weight = torch.tensor')));
  inOrder(additive, ['target_tokens = ["x","y\\""]', 'query_projection = target @ query_weight.T']);
});
