/* The output: each query's weighted sum of the values.
 *
 *   output[b, h, i, :] = Σ_j weights[b, h, i, j] value[b, h, j, :]
 *   dweights[b, h, i, j] = doutput[b, h, i, :] · value[b, h, j, :]
 *   dvalue[b, h, j, :] = Σ_i weights[b, h, i, j] doutput[b, h, i, :]
 *
 * A masked key's value is never read, even where it is NaN: 0 × NaN would be NaN. The product runs
 * over a copy of the values in which NaN and ±inf are 0; then each row that does attend to such a
 * value, and no other row, receives it. A cell counts as masked when its masked score is -inf and
 * its weight 0, so that a weight edited by hand takes part. Its dweights may be NaN then; whoever
 * made the weights knows that a weight of 0 passes nothing on. */
#include "math/gemm.h"
#include "math/rows.h"
#include "ops/ops.h"

static bool is_finite(attn_real x) { return x - x == 0; }

/* x - x is 0, or NaN where x is not finite. */
static bool all_finite(const attn_real *x, ptrdiff_t count) {
  attn_f32x4 sum = attn_f32x4_splat(0);
  for (ptrdiff_t i = 0; i < count; i += 4) {
    const attn_f32x4 cells = attn_f32x4_load_some(x + i, count - i, 0);
    sum = attn_f32x4_add(sum, attn_f32x4_sub(cells, cells));
  }
  return !attn_m32x4_any(attn_f32x4_ne(sum, sum));
}

void attn_mix_block(attn_tape *tape, attn_real *out, const attn_real *left, ptrdiff_t left_row,
                    ptrdiff_t left_col, const attn_real *masked, const attn_real *right,
                    int32_t rows, int32_t depth, int32_t width, attn_real *workspace) {
  const ptrdiff_t count = (ptrdiff_t)depth * width;
  if (all_finite(right, count)) {
    attn_gemm(out, width, left, left_row, left_col, right, width, 1, rows, width, depth, true,
              workspace);
    return;
  }
  const attn_mark mark = attn_scratch_mark(tape);
  attn_real *finite = attn_scratch(tape, (size_t)count);
  if (!finite) return;
  for (ptrdiff_t i = 0; i < count; i++) finite[i] = is_finite(right[i]) ? right[i] : 0;
  attn_gemm(out, width, left, left_row, left_col, finite, width, 1, rows, width, depth, true,
            workspace);
  attn_scratch_release(tape, mark);
  for (int32_t i = 0; i < rows; i++)
    for (int32_t k = 0; k < depth; k++) {
      const ptrdiff_t cell = i * left_row + k * left_col;
      if (left[cell] == 0 && (!masked || masked[cell] == ATTN_MINUS_INFINITY)) continue;
      for (int32_t d = 0; d < width; d++)
        if (!is_finite(right[(ptrdiff_t)k * width + d]))
          out[(ptrdiff_t)i * width + d] += left[cell] * right[(ptrdiff_t)k * width + d];
    }
}

static void mix_backward(attn_tape *tape, const attn_tensor *out) {
  const attn_tensor *weights = out->inputs[0], *value = out->inputs[1];
  attn_real *dweights = attn_gradient(tape, out->inputs[0]);
  attn_real *dvalue = attn_gradient(tape, out->inputs[1]);
  attn_real *workspace = attn_scratch(tape, ATTN_GEMM_WORKSPACE);
  if (!workspace) return;
  const int32_t queries = weights->shape[2], keys = weights->shape[3], width = value->shape[3];
  const ptrdiff_t blocks = (ptrdiff_t)weights->shape[0] * weights->shape[1];
  for (ptrdiff_t block = 0; block < blocks; block++) {
    const ptrdiff_t cells = block * queries * keys, vectors = block * keys * width;
    const attn_real *dout = out->gradient + block * queries * width;
    if (dweights)
      attn_gemm(dweights + cells, keys, dout, width, 1, value->data + vectors, 1, width, queries,
                keys, width, true, workspace);
    if (dvalue)
      attn_mix_block(tape, dvalue + vectors, weights->data + cells, 1, keys, NULL, dout, keys,
                     queries, width, workspace);
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
  out->backward = mix_backward;
  const attn_mark mark = attn_scratch_mark(tape);
  attn_real *workspace = attn_scratch(tape, ATTN_GEMM_WORKSPACE);
  if (!workspace) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(out); i++) out->data[i] = 0;
  const ptrdiff_t blocks = (ptrdiff_t)weights->shape[0] * weights->shape[1];
  for (ptrdiff_t block = 0; block < blocks; block++) {
    const ptrdiff_t cells = block * queries * keys;
    attn_mix_block(tape, out->data + block * queries * width, weights->data + cells, keys, 1,
                   masked_scores->data + cells, value->data + block * keys * width, queries, keys,
                   width, workspace);
  }
  attn_scratch_release(tape, mark);
  return attn_finish(tape, out);
}
