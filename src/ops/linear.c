/* Linear layers, and sums.
 *
 *   linear   y[…, o] = Σ_i x[…, i] weight[o, i] + bias[o]     (torch linear)
 *            dx = dy weight,  dweight = dyᵀ x,  dbias = Σ dy over all rows
 *   add      z[…] = x[…] + y[…], y repeated along the leading axes it lacks
 *            dx = dz,  dy = Σ dz over those axes */
#include "math/gemm.h"
#include "ops/ops.h"

static const char *hidden_axis(const attn_tensor *weight) {
  return weight->rank == 2 ? weight->axes[0] : "H";
}

static void linear_backward(attn_tape *tape, const attn_tensor *y) {
  const attn_tensor *x = y->inputs[0], *weight = y->inputs[1];
  attn_real *dx = attn_gradient(tape, y->inputs[0]), *dweight = attn_gradient(tape, y->inputs[1]);
  attn_real *dbias = y->input_count > 2 ? attn_gradient(tape, y->inputs[2]) : NULL;
  attn_real *workspace = attn_scratch(tape, ATTN_GEMM_WORKSPACE);
  if (!workspace) return;
  const attn_real *dy = y->gradient;
  const int32_t out = attn_last(y), in = attn_last(x);
  const ptrdiff_t rows = attn_rows(y);
  if (dx) attn_gemm(dx, in, dy, out, 1, weight->data, in, 1, (int)rows, in, out, true, workspace);
  if (dweight)
    attn_mix_block(tape, dweight, dy, 1, out, NULL, x->data, out, (int32_t)rows, in, workspace);
  if (dbias)
    for (ptrdiff_t row = 0; row < rows; row++)
      for (int32_t o = 0; o < out; o++) dbias[o] += dy[row * out + o];
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
  y->backward = linear_backward;
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

static void add_backward(attn_tape *tape, const attn_tensor *sum) {
  attn_real *dx = attn_gradient(tape, sum->inputs[0]), *dy = attn_gradient(tape, sum->inputs[1]);
  const attn_real *dsum = sum->gradient;
  const ptrdiff_t length = attn_length(sum), period = attn_length(sum->inputs[1]);
  if (dx)
    for (ptrdiff_t i = 0; i < length; i++) dx[i] += dsum[i];
  if (dy)
    for (ptrdiff_t at = 0; at < length; at += period)
      for (ptrdiff_t i = 0; i < period; i++) dy[i] += dsum[at + i];
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
  sum->backward = add_backward;
  const ptrdiff_t period = attn_length(y);
  for (ptrdiff_t at = 0; at < attn_length(x); at += period)
    for (ptrdiff_t i = 0; i < period; i++) sum->data[at + i] = x->data[at + i] + y->data[i];
  return attn_finish(tape, sum);
}
