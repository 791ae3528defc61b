/* Linear layers, and sums.
 *
 *   linear   y[…, o] = Σ_i x[…, i] weight[o, i] + bias[o]     (torch linear)
 *   add      z[…] = x[…] + y[…], y repeated along the leading axes it lacks */
#include "math/gemm.h"
#include "ops/ops.h"

static const char *hidden_axis(const attn_tensor *weight) {
  return weight->rank == 2 ? weight->axes[0] : "H";
}

attn_tensor *attn_linear(attn_tape *tape, const char *name, const attn_tensor *x,
                         const attn_tensor *weight, const attn_tensor *bias) {
  if (!ATTN_READY(tape, x, weight)) return NULL;
  const int32_t in = attn_last(x);
  if (x->rank == 0 || weight->rank != 2 || weight->shape[1] != in)
    return attn_fail(tape, ATTN_BAD_SHAPE,
                     "%s has the shape [%d, %d]; it must be [out, %d] to fit %s", weight->name,
                     weight->shape[0], weight->rank == 2 ? weight->shape[1] : 1, in, x->name);
  const int32_t out = weight->shape[0];
  if (bias && (bias->rank != 1 || bias->shape[0] != out))
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d elements; its weight has %d rows", bias->name,
                     (int)attn_length(bias), out);
  attn_shape shape = attn_shape_of(x);
  shape.size[shape.rank - 1] = out;
  shape.axes[shape.rank - 1] = hidden_axis(weight);
  attn_tensor *y = attn_push(tape, "linear", name, shape, ATTN_INPUTS(x, weight, bias));
  if (!y) return NULL;
  const attn_mark mark = attn_scratch_mark(tape);
  attn_real *workspace = attn_scratch(tape, ATTN_GEMM_WORKSPACE);
  if (!workspace) return NULL;
  const ptrdiff_t rows = attn_rows(x);
  attn_gemm(y->data, out, x->data, in, 1, weight->data, 1, in, (int)rows, out, in, false,
            workspace);
  if (bias)
    for (ptrdiff_t row = 0; row < rows; row++)
      for (int32_t o = 0; o < out; o++) y->data[row * out + o] += bias->data[o];
  attn_scratch_release(tape, mark);
  return attn_finish(tape, y);
}

attn_tensor *attn_add(attn_tape *tape, const char *name, const attn_tensor *x,
                      const attn_tensor *y) {
  if (!ATTN_READY(tape, x, y)) return NULL;
  bool fits = y->rank <= x->rank;
  for (int32_t i = 0; fits && i < y->rank; i++)
    fits = y->shape[y->rank - 1 - i] == x->shape[x->rank - 1 - i];
  if (!fits)
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s cannot be added to %s: their last axes differ",
                     y->name, x->name);
  attn_tensor *sum = attn_push(tape, "add", name, attn_shape_of(x), ATTN_INPUTS(x, y));
  if (!sum) return NULL;
  const ptrdiff_t period = attn_length(y);
  for (ptrdiff_t at = 0; at < attn_length(x); at += period)
    for (ptrdiff_t i = 0; i < period; i++) sum->data[at + i] = x->data[at + i] + y->data[i];
  return attn_finish(tape, sum);
}
