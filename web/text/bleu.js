/**
 * BLEU as D2L defines it, of one sentence against one label:
 *
 *   exp(min(0, 1 − len_label / len_prediction)) · Π_{n=1..N} p_n^(1/2ⁿ)
 *
 * p_n is the share of the prediction's n-grams that the label holds, each as often as it has it
 * (Papineni et al. 2002). A prediction shorter than N has no n-grams of the longest lengths: those
 * factors are left out, where D2L divides by zero. An empty prediction scores 0, unless so is the label.
 *
 * The score is shown and enters no model, so `Math.exp` may differ in its last bit between engines.
 */

/**
 * @param {readonly string[]} prediction
 * @param {readonly string[]} label
 * @param {number} [longest]  N, the longest n-gram
 */
export function bleu(prediction, label, longest = 2) {
  if (prediction.length === 0) return label.length === 0 ? 1 : 0;
  let score = Math.exp(Math.min(0, 1 - label.length / prediction.length));
  for (let n = 1; n <= Math.min(longest, prediction.length); n += 1) {
    let factor = precision(prediction, label, n);
    for (let root = 0; root < n; root += 1) factor = Math.sqrt(factor);
    score *= factor;
  }
  return score;
}

/**
 * The mean over sentences, as D2L reports it.
 * @param {readonly (readonly string[])[]} predictions
 * @param {readonly (readonly string[])[]} labels
 * @param {number} [longest]
 */
export function meanBleu(predictions, labels, longest = 2) {
  if (predictions.length !== labels.length || labels.length === 0) {
    throw new RangeError(
      `BLEU compares ${predictions.length} predictions with ${labels.length} labels; both have to be as many, and at least 1`,
    );
  }
  const sum = predictions.reduce(
    (total, prediction, at) => total + bleu(prediction, labels[at], longest),
    0,
  );
  return sum / labels.length;
}

/** p_n @param {readonly string[]} prediction @param {readonly string[]} label @param {number} n */
function precision(prediction, label, n) {
  const unmatched = counts(label, n);
  const grams = nGrams(prediction, n);
  let matches = 0;
  for (const gram of grams) {
    const left = unmatched.get(gram) ?? 0;
    if (left > 0) matches += 1;
    unmatched.set(gram, left - 1);
  }
  return matches / grams.length;
}

/** @param {readonly string[]} tokens @param {number} n */
function counts(tokens, n) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const gram of nGrams(tokens, n)) found.set(gram, (found.get(gram) ?? 0) + 1);
  return found;
}

/** @param {readonly string[]} tokens @param {number} n */
function nGrams(tokens, n) {
  return Array.from({ length: Math.max(0, tokens.length - n + 1) }, (_, at) =>
    JSON.stringify(tokens.slice(at, at + n)),
  );
}
