// Attention once more in plain float64 loops over named indices, to check the engine against.

import { asTensor, filled, mapCells, tensor } from './helpers.js';

/** mask or bias at one cell; missing leading axes and axes of length 1 spread. */
function spread(given, at) {
  const { shape, data } = given;
  // [Tq, Tk] has neither batch nor heads, [B, Tq, Tk] no heads.
  const axes = { 2: [2, 3], 3: [0, 2, 3], 4: [0, 1, 2, 3] }[shape.length];
  const flat = axes.reduce((sum, axis, i) => sum * shape[i] + (shape[i] === 1 ? 0 : at[axis]), 0);
  return data[flat];
}

/** May query i attend to key j? By causal, window and valid length alone. */
export function isVisible(i, j, queries, keys, { causal = false, window, validLength = keys }) {
  const position = causal === 'top-left' ? i : i + keys - queries;
  if (j >= validLength || (causal && j > position)) return false;
  if (window === undefined) return true;
  const {
    left,
    right,
    global = 0,
  } = typeof window === 'number' ? { left: window, right: window } : window;
  const near = j >= position - left && j <= position + right;
  return near || j < global || (position >= 0 && position < global);
}

/**
 * softmax(q·kᵀ × scale ÷ temperature + bias) v over the allowed cells, in float64.
 * query [B, h, Tq, D], key [B, h, Tk, D], value [B, h, Tk, Dv].
 */
export function reference(query, key, value, options = {}) {
  const [batch, heads, queries, width] = query.shape;
  const [keys, valueWidth] = value.shape.slice(2);
  const { scale = 1 / Math.sqrt(width), temperature = 1, mask, bias, validLens } = options;
  const scores = [];
  const weights = [];
  const output = [];
  const emptyRows = [];
  for (let bh = 0; bh < batch * heads; bh++) {
    const b = Math.floor(bh / heads);
    const h = bh % heads;
    for (let i = 0; i < queries; i++) {
      const lengths = validLens && asTensor(validLens);
      const validLength = lengths
        ? lengths.data[lengths.shape.length === 1 ? b : b * queries + i]
        : keys;
      const row = [];
      for (let j = 0; j < keys; j++) {
        let dot = 0;
        for (let d = 0; d < width; d++) {
          dot += query.data[(bh * queries + i) * width + d] * key.data[(bh * keys + j) * width + d];
        }
        const score = (dot * scale) / temperature;
        scores.push(score);
        const added = bias ? spread(bias, [b, h, i, j]) : 0;
        const allowed =
          isVisible(i, j, queries, keys, { ...options, validLength }) &&
          (!mask || spread(mask, [b, h, i, j]) !== 0) &&
          added !== -Infinity;
        row.push(allowed ? score + added : undefined);
      }
      const present = row.filter((score) => score !== undefined);
      const largest = Math.max(...present);
      const total = present.reduce((sum, score) => sum + Math.exp(score - largest), 0);
      const rowWeights = row.map((score) =>
        score === undefined ? 0 : Math.exp(score - largest) / total,
      );
      weights.push(...rowWeights);
      emptyRows.push(Number(present.length === 0));
      for (let d = 0; d < valueWidth; d++) {
        output.push(
          rowWeights.reduce(
            (sum, weight, j) =>
              weight === 0 ? sum : sum + weight * value.data[(bh * keys + j) * valueWidth + d],
            0,
          ),
        );
      }
    }
  }
  return {
    scores: tensor([batch, heads, queries, keys], scores),
    weights: tensor([batch, heads, queries, keys], weights),
    output: tensor([batch, heads, queries, valueWidth], output),
    emptyRows,
  };
}

export const project = (x, { weight, bias }) => {
  const [out, width] = weight.shape;
  const rows = x.data.length / width;
  const data = new Float64Array(rows * out);
  for (let r = 0; r < rows; r++) {
    for (let o = 0; o < out; o++) {
      let sum = bias ? bias.data[o] : 0;
      for (let i = 0; i < width; i++) sum += x.data[r * width + i] * weight.data[o * width + i];
      data[r * out + o] = sum;
    }
  }
  return { shape: [...x.shape.slice(0, -1), out], data };
};

export const split = ({ shape: [batch, length, hiddens], data }, heads) => {
  const width = hiddens / heads;
  const shape = [batch, heads, length, width];
  const parts = new Float64Array(data.length);
  let to = 0;
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      for (let t = 0; t < length; t++) {
        for (let d = 0; d < width; d++) {
          parts[to++] = data[(b * length + t) * hiddens + h * width + d];
        }
      }
    }
  }
  return { shape, data: parts };
};

const join = ({ shape: [batch, heads, length, width], data }) => {
  const joined = new Float64Array(data.length);
  let from = 0;
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      for (let t = 0; t < length; t++) {
        for (let d = 0; d < width; d++) {
          joined[((b * length + t) * heads + h) * width + d] = data[from++];
        }
      }
    }
  }
  return { shape: [batch, length, heads * width], data: joined };
};

/**
 * Multi-head attention of queries x over keys and values y; params and results as the library's.
 * `turn` changes the heads' queries and keys, as rotary positions do.
 */
export function multiHead(
  x,
  y,
  params,
  heads,
  options,
  { headMask = Array(heads).fill(1), turn = (part) => part } = {},
) {
  const [q, k, v] = ['query', 'key', 'value'].map((name, i) =>
    split(project(i === 0 ? x : y, params[name]), heads),
  );
  const result = reference(turn(q, 'query'), turn(k, 'key'), v, options);
  const masked = mapCells(result.output, (value, [, h]) => value * headMask[h]);
  const [batch, , queries, keys] = result.weights.shape;
  const mean = filled([batch, queries, keys], 0);
  mapCells(result.weights, (value, [b, , i, j]) => {
    mean.data[(b * queries + i) * keys + j] += value / heads;
    return value;
  });
  const output = project(join(masked), params.output);
  return {
    output: tensor(output.shape, output.data),
    weights: result.weights,
    scores: result.scores,
    meanWeights: mean,
    heads: result.output,
    emptyRows: result.emptyRows,
  };
}
