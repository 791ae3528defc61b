/* The output: each query's weighted sum of the values.
 *
 *   output[b, h, i, :] = Σ_j weights[b, h, i, j] value[b, h, j, :]
 *
 * A masked key's value is never read, even where it is NaN: 0 × NaN would be NaN. The product runs
 * over a copy of the values in which NaN and ±inf are 0; then each row that does attend to such a
 * value, and no other row, receives it. A cell counts as masked when its masked score is -inf and
 * its weight 0, so that a weight edited by hand takes part. */
#include "math/gemm.h"
#include "math/rows.h"
#include "ops/ops.h"

static bool is_finite(attn_real x) { return x - x == 0; }

static bool all_finite(const attn_real *x, ptrdiff_t count) {
  for (ptrdiff_t i = 0; i < count; i++)
    if (!is_finite(x[i])) return false;
  return true;
}

void attn_mix_block(attn_real *out, const attn_real *weights, ptrdiff_t weights_stride,
                    const attn_real *masked, ptrdiff_t masked_stride, const attn_real *value,
                    int32_t rows, int32_t keys, int32_t width, attn_real *scratch,
                    attn_real *workspace) {
  const ptrdiff_t count = (ptrdiff_t)keys * width;
  if (all_finite(value, count)) {
    attn_gemm(out, width, weights, weights_stride, 1, value, width, 1, rows, width, keys, true,
              workspace);
    return;
  }
  for (ptrdiff_t i = 0; i < count; i++) scratch[i] = is_finite(value[i]) ? value[i] : 0;
  attn_gemm(out, width, weights, weights_stride, 1, scratch, width, 1, rows, width, keys, true,
            workspace);
  for (int32_t i = 0; i < rows; i++)
    for (int32_t j = 0; j < keys; j++) {
      const attn_real weight = weights[i * weights_stride + j];
      if (weight == 0 && masked[i * masked_stride + j] == ATTN_MINUS_INFINITY) continue;
      for (int32_t d = 0; d < width; d++)
        if (!is_finite(value[(ptrdiff_t)j * width + d]))
          out[(ptrdiff_t)i * width + d] += weight * value[(ptrdiff_t)j * width + d];
    }
}

attn_tensor *attn_mix(attn_tape *tape, const char *name, const attn_tensor *weights,
                      const attn_tensor *value, const attn_tensor *masked_scores) {
  if (!ATTN_READY(tape, weights, value, masked_scores)) return NULL;
  const int32_t queries = weights->shape[2], keys = weights->shape[3], width = value->shape[3];
  attn_tensor *out = attn_push(
      tape, "mix", name,
      attn_shape4("B", weights->shape[0], "h", weights->shape[1], "Tq", queries, "D", width),
      ATTN_INPUTS(weights, value));
  if (!out) return NULL;
  const attn_mark mark = attn_scratch_mark(tape);
  attn_real *scratch = attn_scratch(tape, (size_t)keys * (size_t)width);
  attn_real *workspace = attn_scratch(tape, ATTN_GEMM_WORKSPACE);
  if (!scratch || !workspace) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(out); i++) out->data[i] = 0;
  const ptrdiff_t blocks = (ptrdiff_t)weights->shape[0] * weights->shape[1];
  for (ptrdiff_t block = 0; block < blocks; block++) {
    const ptrdiff_t cells = block * queries * keys;
    attn_mix_block(out->data + block * queries * width, weights->data + cells, keys,
                   masked_scores->data + cells, keys, value->data + block * keys * width, queries,
                   keys, width, scratch, workspace);
  }
  attn_scratch_release(tape, mark);
  return attn_finish(tape, out);
}
