/* Scores: how well each query fits each key.
 *
 *   dot        raw_scores[i, j] = Σ_d query[i, d] key[j, d]
 *   additive   raw_scores[i, j] = Σ_a weight[a] tanh(query[i, a] + key[j, a])
 *   gaussian   raw_scores[i, j] = -½ Σ_d ((query[i, d] - key[j, d]) width)²
 *
 * for each batch and head. The general and the cosine score are dot scores of keys times a matrix
 * and of vectors of length 1; nn/attention.c composes them. Masked cells are computed too: a NaN in
 * a masked key reaches only its own column, which apply_mask then replaces. */
#include "math/functions.h"
#include "math/gemm.h"
#include "math/rows.h"
#include "ops/ops.h"

static attn_tensor *push_scores(attn_tape *tape, const char *op, const attn_tensor *query,
                                const attn_tensor *key, const attn_tensor *weight) {
  if (!ATTN_READY(tape, query, key)) return NULL;
  if (query->shape[0] != key->shape[0] || query->shape[1] != key->shape[1])
    return attn_fail(tape, ATTN_BAD_SHAPE,
                     "query has %d batches and %d heads, key has %d and %d; they must agree",
                     query->shape[0], query->shape[1], key->shape[0], key->shape[1]);
  if (query->shape[3] != key->shape[3])
    return attn_fail(tape, ATTN_BAD_SHAPE, "query has the width %d, key %d; they must agree",
                     query->shape[3], key->shape[3]);
  return attn_push(tape, op, "raw_scores",
                   attn_shape4("B", query->shape[0], "h", query->shape[1], "Tq", query->shape[2],
                               "Tk", key->shape[2]),
                   ATTN_INPUTS(query, key, weight));
}

attn_tensor *attn_dot_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key) {
  attn_tensor *scores = push_scores(tape, "dot_scores", query, key, NULL);
  if (!scores) return NULL;
  const attn_mark mark = attn_scratch_mark(tape);
  attn_real *workspace = attn_scratch(tape, ATTN_GEMM_WORKSPACE);
  if (!workspace) return NULL;
  const int32_t queries = query->shape[2], keys = key->shape[2], width = query->shape[3];
  const ptrdiff_t blocks = (ptrdiff_t)query->shape[0] * query->shape[1];
  for (ptrdiff_t block = 0; block < blocks; block++)
    attn_gemm(scores->data + block * queries * keys, keys, query->data + block * queries * width,
              width, 1, key->data + block * keys * width, 1, width, queries, keys, width, false,
              workspace);
  attn_scratch_release(tape, mark);
  return attn_finish(tape, scores);
}

attn_tensor *attn_additive_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                                  const attn_tensor *weight) {
  if (!ATTN_READY(tape, query, key, weight)) return NULL;
  const int32_t features = attn_last(query);
  if (weight->rank != 2 || weight->shape[0] != 1 || weight->shape[1] != features)
    return attn_fail(tape, ATTN_BAD_SHAPE,
                     "the additive score's value weight has the shape [%d, %d]; it must be [1, %d]",
                     weight->shape[0], weight->rank == 2 ? weight->shape[1] : 1, features);
  attn_tensor *scores = push_scores(tape, "additive_scores", query, key, weight);
  if (!scores) return NULL;
  const attn_mark mark = attn_scratch_mark(tape);
  const int32_t padded = (features + 3) / 4 * 4;
  attn_real *sum = attn_scratch(tape, (size_t)padded);
  if (!sum) return NULL;
  for (int32_t a = features; a < padded; a++) sum[a] = 0;
  const int32_t queries = query->shape[2], keys = key->shape[2];
  const ptrdiff_t rows = attn_rows(query);
  for (ptrdiff_t row = 0; row < rows; row++) {
    const attn_real *q = query->data + row * features;
    const attn_real *k = key->data + row / queries * keys * features;
    for (int32_t j = 0; j < keys; j++, k += features) {
      for (int32_t a = 0; a < features; a++) sum[a] = q[a] + k[a];
      for (int32_t a = 0; a < padded; a += 4)
        attn_f32x4_store(sum + a, attn_tanh_x4(attn_f32x4_load(sum + a)));
      scores->data[row * keys + j] = attn_row_dot(sum, weight->data, features);
    }
  }
  attn_scratch_release(tape, mark);
  return attn_finish(tape, scores);
}

attn_tensor *attn_gaussian_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                                  const attn_tensor *width) {
  if (width && attn_length(width) != 1)
    return attn_fail(tape, ATTN_BAD_SHAPE, "the Gaussian score's width has %d elements, not 1",
                     (int)attn_length(width));
  attn_tensor *scores = push_scores(tape, "gaussian_scores", query, key, width);
  if (!scores) return NULL;
  const attn_mark mark = attn_scratch_mark(tape);
  const int32_t queries = query->shape[2], keys = key->shape[2], size = query->shape[3];
  attn_real *difference = attn_scratch(tape, (size_t)size);
  if (!difference) return NULL;
  const attn_real factor = width ? width->data[0] : 1;
  const ptrdiff_t rows = attn_rows(query);
  for (ptrdiff_t row = 0; row < rows; row++) {
    const attn_real *q = query->data + row * size;
    const attn_real *k = key->data + row / queries * keys * size;
    for (int32_t j = 0; j < keys; j++, k += size) {
      for (int32_t d = 0; d < size; d++) difference[d] = (q[d] - k[d]) * factor;
      scores->data[row * keys + j] = (attn_real)-0.5 * attn_row_dot(difference, difference, size);
    }
  }
  attn_scratch_release(tape, mark);
  return attn_finish(tape, scores);
}

attn_tensor *attn_unit_rows(attn_tape *tape, const char *name, const attn_tensor *x) {
  if (!ATTN_READY(tape, x)) return NULL;
  attn_tensor *out = attn_push(tape, "unit_rows", name, attn_shape_of(x), ATTN_INPUTS(x));
  if (!out) return NULL;
  const int32_t width = attn_last(x);
  for (ptrdiff_t row = 0; row < attn_rows(x); row++) {
    const attn_real *from = x->data + row * width;
    attn_real *to = out->data + row * width;
    const attn_real norm = attn_sqrt(attn_row_dot(from, from, width));
    for (int32_t d = 0; d < width; d++) to[d] = norm == 0 ? 0 : from[d] / norm;
  }
  return attn_finish(tape, out);
}
