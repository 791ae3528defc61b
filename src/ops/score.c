/* Scores: how well each query fits each key.
 *
 *   dot        raw_scores[i, j] = Σ_d query[i, d] key[j, d]
 *   additive   raw_scores[i, j] = Σ_a weight[a] tanh(query[i, a] + key[j, a])
 *   gaussian   raw_scores[i, j] = -½ Σ_d ((query[i, d] - key[j, d]) width)²
 *
 *   gradients   dot: dquery = dscores · key, dkey = dscoresᵀ · query; with t = tanh(…) and
 *               e = query - key, additive: dquery = dkey = weight (1 - t²), dweight = t, and
 *               gaussian: dquery = -dkey = -e width², dwidth = -|e|² width, each times dscore
 *
 * for each batch and head. The general and the cosine score are dot scores of keys times a matrix
 * and of vectors of length 1; nn/attention.c composes them. Masked cells are computed too: a NaN in
 * a masked key reaches only its own column, which apply_mask then replaces. On the way back a cell
 * whose gradient is 0, as all masked ones are, reads neither query nor key. */
#include "math/functions.h"
#include "math/gemm.h"
#include "math/rows.h"
#include "ops/ops.h"

attn_tensor *attn_push_scores(attn_tape *tape, const char *op, const attn_tensor *query,
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

static void dot_scores_backward(attn_tape *tape, const attn_tensor *scores) {
  const attn_tensor *query = scores->inputs[0], *key = scores->inputs[1];
  attn_real *dquery = attn_gradient(tape, scores->inputs[0]);
  attn_real *dkey = attn_gradient(tape, scores->inputs[1]);
  attn_real *workspace = attn_scratch(tape, ATTN_GEMM_WORKSPACE);
  if (!workspace) return;
  const int32_t queries = query->shape[2], keys = key->shape[2], width = query->shape[3];
  const ptrdiff_t blocks = (ptrdiff_t)query->shape[0] * query->shape[1];
  for (ptrdiff_t block = 0; block < blocks; block++) {
    const attn_real *dscores = scores->gradient + block * queries * keys;
    const ptrdiff_t q = block * queries * width, k = block * keys * width;
    if (dquery)
      attn_mix_block(tape, dquery + q, dscores, keys, 1, NULL, key->data + k, queries, keys, width,
                     workspace);
    if (dkey)
      attn_mix_block(tape, dkey + k, dscores, 1, keys, NULL, query->data + q, keys, queries, width,
                     workspace);
  }
}

attn_tensor *attn_dot_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key) {
  attn_tensor *scores = attn_push_scores(tape, "dot_scores", query, key, NULL);
  if (!scores) return NULL;
  scores->backward = dot_scores_backward;
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

/* sum[a] = tanh(q[a] + k[a]); sum has room for whole fours. */
static void add_and_squash(attn_real *sum, const attn_real *q, const attn_real *k,
                           int32_t features) {
  for (int32_t a = 0; a < features; a += 4) {
    const attn_f32x4 x = attn_f32x4_load_some(q + a, features - a, 0);
    const attn_f32x4 y = attn_f32x4_load_some(k + a, features - a, 0);
    attn_f32x4_store(sum + a, attn_tanh_x4(attn_f32x4_add(x, y)));
  }
}

static void add_times(attn_real *to, const attn_real *x, attn_real factor, int32_t count) {
  for (int32_t i = 0; i < count; i++) to[i] += x[i] * factor;
}

static void additive_scores_backward(attn_tape *tape, const attn_tensor *scores) {
  const attn_tensor *query = scores->inputs[0], *key = scores->inputs[1];
  const attn_real *weight = scores->inputs[2]->data;
  attn_real *dquery = attn_gradient(tape, scores->inputs[0]);
  attn_real *dkey = attn_gradient(tape, scores->inputs[1]);
  attn_real *dweight = attn_gradient(tape, scores->inputs[2]);
  const int32_t features = attn_last(query), queries = query->shape[2], keys = key->shape[2];
  attn_real *sum = attn_scratch(tape, (size_t)features + 3);
  if (!sum) return;
  for (ptrdiff_t row = 0; row < attn_rows(query); row++)
    for (int32_t j = 0; j < keys; j++) {
      const attn_real dscore = scores->gradient[row * keys + j];
      if (dscore == 0) continue;
      const ptrdiff_t q = row * features, k = (row / queries * keys + j) * features;
      add_and_squash(sum, query->data + q, key->data + k, features);
      if (dweight) add_times(dweight, sum, dscore, features);
      for (int32_t a = 0; a < features; a++) sum[a] = weight[a] * (1 - sum[a] * sum[a]);
      if (dquery) add_times(dquery + q, sum, dscore, features);
      if (dkey) add_times(dkey + k, sum, dscore, features);
    }
}

attn_tensor *attn_additive_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                                  const attn_tensor *weight) {
  if (!ATTN_READY(tape, query, key, weight)) return NULL;
  const int32_t features = attn_last(query);
  if (weight->rank != 2 || weight->shape[0] != 1 || weight->shape[1] != features)
    return attn_fail(tape, ATTN_BAD_SHAPE,
                     "the additive score's value weight has the shape [%d, %d]; it must be [1, %d]",
                     weight->shape[0], weight->rank == 2 ? weight->shape[1] : 1, features);
  attn_tensor *scores = attn_push_scores(tape, "additive_scores", query, key, weight);
  if (!scores) return NULL;
  scores->backward = additive_scores_backward;
  const attn_mark mark = attn_scratch_mark(tape);
  attn_real *sum = attn_scratch(tape, (size_t)features + 3);
  if (!sum) return NULL;
  const int32_t queries = query->shape[2], keys = key->shape[2];
  const ptrdiff_t rows = attn_rows(query);
  for (ptrdiff_t row = 0; row < rows; row++) {
    const attn_real *q = query->data + row * features;
    const attn_real *k = key->data + row / queries * keys * features;
    for (int32_t j = 0; j < keys; j++, k += features) {
      add_and_squash(sum, q, k, features);
      scores->data[row * keys + j] = attn_row_dot(sum, weight->data, features);
    }
  }
  attn_scratch_release(tape, mark);
  return attn_finish(tape, scores);
}

static void gaussian_scores_backward(attn_tape *tape, const attn_tensor *scores) {
  const attn_tensor *query = scores->inputs[0], *key = scores->inputs[1];
  attn_tensor *width = scores->input_count > 2 ? scores->inputs[2] : NULL;
  const attn_real factor = width ? width->data[0] : 1;
  attn_real *dquery = attn_gradient(tape, scores->inputs[0]);
  attn_real *dkey = attn_gradient(tape, scores->inputs[1]);
  attn_real *dwidth = width ? attn_gradient(tape, width) : NULL;
  const int32_t size = attn_last(query), queries = query->shape[2], keys = key->shape[2];
  attn_real *difference = attn_scratch(tape, (size_t)size);
  if (!difference) return;
  for (ptrdiff_t row = 0; row < attn_rows(query); row++)
    for (int32_t j = 0; j < keys; j++) {
      const attn_real dscore = scores->gradient[row * keys + j];
      if (dscore == 0) continue;
      const ptrdiff_t q = row * size, k = (row / queries * keys + j) * size;
      for (int32_t d = 0; d < size; d++) difference[d] = query->data[q + d] - key->data[k + d];
      const attn_real slope = dscore * factor;
      if (dquery) add_times(dquery + q, difference, -slope * factor, size);
      if (dkey) add_times(dkey + k, difference, slope * factor, size);
      if (dwidth) *dwidth -= slope * attn_row_dot(difference, difference, size);
    }
}

attn_tensor *attn_gaussian_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                                  const attn_tensor *width) {
  if (width && attn_length(width) != 1)
    return attn_fail(tape, ATTN_BAD_SHAPE, "the Gaussian score's width has %d elements, not 1",
                     (int)attn_length(width));
  attn_tensor *scores = attn_push_scores(tape, "gaussian_scores", query, key, width);
  if (!scores) return NULL;
  scores->backward = gaussian_scores_backward;
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

static void unit_rows_backward(attn_tape *tape, const attn_tensor *out) {
  const attn_tensor *x = out->inputs[0];
  attn_real *dx = attn_gradient(tape, out->inputs[0]);
  const int32_t width = attn_last(x);
  for (ptrdiff_t at = 0; at < attn_length(x); at += width) {
    const attn_real *from = x->data + at, *dout = out->gradient + at;
    const attn_real square = attn_row_dot(from, from, width);
    if (square == 0 || attn_row_is_zero(dout, width)) continue;
    const attn_real norm = attn_sqrt(square), along = attn_row_dot(dout, from, width) / square;
    for (int32_t d = 0; d < width; d++) dx[at + d] += (dout[d] - along * from[d]) / norm;
  }
}

attn_tensor *attn_unit_rows(attn_tape *tape, const char *name, const attn_tensor *x) {
  if (!ATTN_READY(tape, x)) return NULL;
  attn_tensor *out = attn_push(tape, "unit_rows", name, attn_shape_of(x), ATTN_INPUTS(x));
  if (!out) return NULL;
  out->backward = unit_rows_backward;
  const int32_t width = attn_last(x);
  for (ptrdiff_t row = 0; row < attn_rows(x); row++) {
    const attn_real *from = x->data + row * width;
    attn_real *to = out->data + row * width;
    const attn_real norm = attn_sqrt(attn_row_dot(from, from, width));
    for (int32_t d = 0; d < width; d++) to[d] = norm == 0 ? 0 : from[d] / norm;
  }
  return attn_finish(tape, out);
}
