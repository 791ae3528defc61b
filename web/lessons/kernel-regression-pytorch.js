/**
 * A state of the kernel regression lesson as a PyTorch script that gives the same numbers, the learned
 * width included. The script ends by comparing its weights and predictions with those of the figure.
 */
import { learns, order, placeOfQuery, QUERIES } from './kernel-regression.js';
import { number } from './pytorch.js';

/** @typedef {import('./state.js').State} State */

/**
 * Of u, the distance times the width. Of a narrow Gaussian only the ratios are left: far from all keys each
 * value alone would be 0.
 * @type {Record<string, string>}
 */
const kernels = {
  average: 'torch.ones_like(u)',
  gaussian: 'torch.softmax(-u ** 2 / 2 - 1e30 * (1 - allowed), -1)',
  boxcar: '(u < 1).float()',
  triangular: '(1 - u).clamp(min=0)',
  epanechnikov: '(1 - u ** 2).clamp(min=0)',
  tricube: '(1 - u ** 3).clamp(min=0) ** 3',
};

/**
 * The steps from points to predictions.
 * @param {State} state
 * @returns {string[]}
 */
export function torchSteps(state) {
  const { kernel, width, rate, step } = state;
  const predict = [
    'def attend(queries, allowed=1.0):',
    '    u = (queries[:, None] - keys).abs() * w.abs()',
    `    k = ${kernels[kernel]} * allowed`,
    '    # A query that no key reaches has zeros for weights.',
    '    return k / k.sum(-1, keepdim=True).clamp(min=1e-30)',
  ];
  const learn = learns(state)
    ? [
        `w = torch.tensor([${width}], dtype=torch.float32, requires_grad=True)`,
        `optimiser = torch.optim.SGD([w], lr=${rate})`,
        'others = 1 - torch.eye(len(keys))  # each point is predicted from the others',
        `for step in range(${step}):`,
        '    optimiser.zero_grad()',
        '    loss = ((attend(keys, others) @ values - values) ** 2).sum()',
        '    loss.backward()',
        '    optimiser.step()',
        'w = w.detach()',
      ]
    : [`w = torch.tensor([${width}], dtype=torch.float32)`];
  return [...predict, '', ...learn, '', 'weights = attend(queries)', 'output = weights @ values'];
}

/**
 * @param {State} state
 * @param {{ values: Record<string, { data: Float32Array }> }} result with all tensors
 * @returns {string} a script that runs by itself
 */
export function toPyTorch(state, { values }) {
  const points = order(state).map((index) => state.points[index]);
  const list = (/** @type {Iterable<number>} */ numbers) =>
    `torch.tensor([${Array.from(numbers, number).join(', ')}], dtype=torch.float32)`;
  return [
    '# The numbers of the figure, computed by PyTorch.',
    'import torch',
    '',
    `keys = ${list(points.map(([x]) => Math.fround(x)))}`,
    `values = ${list(points.map(([, y]) => Math.fround(y)))}`,
    `queries = torch.arange(${QUERIES}) / ${1 / placeOfQuery(1)}`,
    '',
    ...torchSteps(state),
    '',
    `expected_width = ${number(values.w.data[0])}`,
    'assert abs(w.item() - expected_width) <= 1e-3 * abs(expected_width)',
    `expected_output = ${list(values.output.data)}`,
    'torch.testing.assert_close(output, expected_output, rtol=1e-3, atol=1e-4)',
    "print(f'w = {w.item()}')",
    'print(output)',
    '',
  ].join('\n');
}
