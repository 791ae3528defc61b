/**
 * How far cross-attention agrees with a known word alignment.
 *
 * Query row t of the decoder predicts target word t. The row agrees when its largest weight, averaged
 * over the heads, lies on a source word that target word t is aligned with. A row of
 * zeros, of a head that is off, agrees with nothing. Target words that are aligned with none, <eos> and
 * padding do not count.
 */

/** @typedef {import('./pairs.js').Pair} Pair */

/**
 * @param {readonly Pair[]} pairs  B of them, in the order of the batch
 * @param {{ shape: readonly number[], data: ArrayLike<number> }} weights  [B, h, Tq, Tk], of one layer
 * @returns {{ agreeing: number, words: number }}  to be summed over batches
 */
export function alignmentAgreement(pairs, { shape, data }) {
  const [batch, heads, queries, keys] = shape;
  if (shape.length !== 4 || batch !== pairs.length) {
    throw new RangeError(
      `weights [${shape.join(', ')}] do not belong to ${pairs.length} pairs; they have to be [${pairs.length}, h, Tq, Tk]`,
    );
  }
  let [agreeing, words] = [0, 0];
  pairs.forEach(({ target, alignment = [] }, row) => {
    for (let query = 0; query < Math.min(target.length, queries); query += 1) {
      const sources = alignment.filter(([, place]) => place === query).map(([place]) => place);
      if (sources.length === 0) continue;
      words += 1;
      if (sources.includes(mostAttended(row, query))) agreeing += 1;
    }
  });
  return { agreeing, words };

  /** @param {number} row @param {number} query */
  function mostAttended(row, query) {
    let [most, largest] = [-1, 0];
    for (let key = 0; key < keys; key += 1) {
      let sum = 0;
      for (let head = 0; head < heads; head += 1) {
        sum += data[((row * heads + head) * queries + query) * keys + key];
      }
      if (sum > largest) [most, largest] = [key, sum];
    }
    return most;
  }
}
