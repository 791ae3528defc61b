/**
 * The names of a Transformer's parameters here and in PyTorch: nn.Transformer under `transformer.`, the
 * embeddings and the output layer beside it. nn.MultiheadAttention stacks query, key and value in one
 * matrix, in_proj; a decoder by itself is PyTorch's encoder under a causal mask.
 */

/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {{ name: string, parts: string[] }} Stack  PyTorch's name, our names one above the other */

/**
 * @param {string} name  our own
 * @param {boolean} decoderOnly
 */
function torchName(name, decoderOnly) {
  const [, side, layer, rest] = name.match(/^(encoder|decoder)\.(\d+\.)?(.*)$/) ?? [];
  if (side === undefined) return name;
  const stack = decoderOnly ? 'encoder' : side;
  if (layer === undefined) return `transformer.${stack}.${rest}`;
  const inner = rest
    .replace(/^(self_)?attention\./, 'self_attn.')
    .replace(/^cross_attention\./, 'multihead_attn.')
    .replace(/\.(query|key|value)\.(weight|bias)$/, '.in_proj_$2')
    .replace(/\.output\./, '.out_proj.')
    .replace(/^feed_forward\./, '');
  return `transformer.${stack}.layers.${layer}${inner}`;
}

/**
 * @param {string[]} names
 * @returns {Stack[]}
 */
export const ownStacks = (names) => names.map((name) => ({ name, parts: [name] }));

/**
 * @param {string[]} names  all of a Transformer's, query before key before value
 * @returns {Stack[]}
 */
export function torchStacks(names) {
  const decoderOnly = !names.some((name) => name.startsWith('encoder.'));
  /** @type {Map<string, string[]>} */
  const stacks = new Map();
  for (const name of names) {
    const torch = torchName(name, decoderOnly);
    stacks.set(torch, [...(stacks.get(torch) ?? []), name]);
  }
  return Array.from(stacks, ([name, parts]) => ({ name, parts }));
}

/**
 * @param {Record<string, Tensor>} tensors  by our names
 * @param {Stack[]} stacks  of them
 * @returns {Record<string, Tensor>}  by the stacks' names
 */
export function stacked(tensors, stacks) {
  return Object.fromEntries(
    stacks.map(({ name, parts }) => {
      const { shape } = tensors[parts[0]];
      const length = shape.reduce((product, size) => product * size, 1);
      const data = new Float32Array(length * parts.length);
      for (const [i, part] of parts.entries()) data.set(tensors[part].data, i * length);
      return [name, { shape: [shape[0] * parts.length, ...shape.slice(1)], data }];
    }),
  );
}

/**
 * @param {Tensor} tensor  a stack of `count` parts along its first axis
 * @param {number} count
 * @param {number} i
 * @returns {Tensor}
 */
export function part({ shape, data }, count, i) {
  const length = data.length / count;
  return {
    shape: [shape[0] / count, ...shape.slice(1)],
    data: data.subarray(i * length, (i + 1) * length),
  };
}
