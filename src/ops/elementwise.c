/* Operations on each element or each row by itself.
 *
 *   scale        y = x × factor
 *   layer norm   y = (x - mean(x)) ÷ √(mean((x - mean(x))²) + eps) × weight + bias, along the last
 * axis relu         y = max(0, x) gelu         y = ½ x (1 + erf(x ÷ √2)) gelu-tanh    y = ½ x (1 +
 * tanh(√(2 ÷ π) (x + 0.044715 x³))) */
#include "math/functions.h"
#include "math/rows.h"
#include "ops/ops.h"

attn_tensor *attn_scale_by(attn_tape *tape, const char *name, const attn_tensor *x,
                           attn_real factor) {
  if (!ATTN_READY(tape, x)) return NULL;
  attn_tensor *y = attn_push(tape, "scale", name, attn_shape_of(x), ATTN_INPUTS(x));
  if (!y) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(x); i++) y->data[i] = x->data[i] * factor;
  return attn_finish(tape, y);
}

static bool check_affine(attn_tape *tape, const char *what, const attn_tensor *tensor,
                         int32_t width) {
  if (!tensor || (tensor->rank == 1 && tensor->shape[0] == width)) return true;
  return attn_fail_at(
      tape, what, ATTN_BAD_SHAPE,
      "the layer norm's %s must be a list of %d; it has the rank %d and %d elements", what, width,
      tensor->rank, (int)attn_length(tensor));
}

attn_tensor *attn_layer_norm(attn_tape *tape, const char *name, const attn_tensor *x,
                             const attn_tensor *weight, const attn_tensor *bias, float eps) {
  if (!ATTN_READY(tape, x)) return NULL;
  const int32_t width = attn_last(x);
  if (x->rank == 0 || width == 0)
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s has rows of width 0; a layer norm needs at least 1",
                     x->name);
  if (!check_affine(tape, "weight", weight, width) || !check_affine(tape, "bias", bias, width))
    return NULL;
  if (!(eps > 0) || eps - eps != 0)
    return attn_fail_at(tape, "eps", ATTN_BAD_VALUE, "eps %g must be a number above 0",
                        (double)eps);
  attn_tensor *y =
      attn_push(tape, "layer_norm", name, attn_shape_of(x), ATTN_INPUTS(x, weight, bias));
  if (!y) return NULL;
  for (ptrdiff_t row = 0; row < attn_rows(x); row++)
    attn_row_layer_norm(y->data + row * width, x->data + row * width, weight ? weight->data : NULL,
                        bias ? bias->data : NULL, eps, width);
  return attn_finish(tape, y);
}

static attn_real relu(attn_real x) { return x <= 0 ? 0 : x; }

static attn_real gelu(attn_real x) {
  const attn_real root_half = (attn_real)0.70710678118654752440;
  return (attn_real)0.5 * x * (1 + attn_erf(x * root_half));
}

static attn_real gelu_tanh(attn_real x) {
  const attn_real root_2_by_pi = (attn_real)0.79788456080286535588;
  const attn_real inner = root_2_by_pi * (x + (attn_real)0.044715 * x * x * x);
  return (attn_real)0.5 * x * (1 + attn_tanh(inner));
}

attn_tensor *attn_activate(attn_tape *tape, const char *name, const attn_tensor *x,
                           int32_t activation) {
  static const struct {
    const char *op;
    attn_real (*apply)(attn_real);
  } kinds[] = {[ATTN_ACTIVATION_RELU] = {"relu", relu},
               [ATTN_ACTIVATION_GELU] = {"gelu", gelu},
               [ATTN_ACTIVATION_GELU_TANH] = {"gelu_tanh", gelu_tanh}};
  if (!ATTN_READY(tape, x)) return NULL;
  if (!ATTN_CHECK_CHOICE(tape, "activation", activation, ATTN_ACTIVATION_LIST)) return NULL;
  attn_tensor *y = attn_push(tape, kinds[activation].op, name, attn_shape_of(x), ATTN_INPUTS(x));
  if (!y) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(x); i++) y->data[i] = kinds[activation].apply(x->data[i]);
  return attn_finish(tape, y);
}
