/* Operations on each element or each row by itself.
 *
 *   scale        y = x × factor
 *   layer norm   y = (x - mean(x)) ÷ √(mean((x - mean(x))²) + eps) × weight + bias,
 *                along the last axis; its gradient: attn_row_layer_norm_backward
 *   relu         y = max(0, x)
 *   gelu         y = ½ x (1 + erf(x ÷ √2))
 *   gelu-tanh    y = ½ x (1 + tanh(√(2 ÷ π) (x + 0.044715 x³))) */
#include "math/functions.h"
#include "math/rows.h"
#include "ops/ops.h"

static void scale_backward(attn_tape *tape, const attn_tensor *y) {
  const attn_real factor = *(const attn_real *)y->attributes, *dy = y->gradient;
  attn_real *dx = attn_gradient(tape, y->inputs[0]);
  const ptrdiff_t count = attn_length(y);
  for (ptrdiff_t i = 0; i < count; i++) dx[i] += dy[i] * factor;
}

attn_tensor *attn_scale_by(attn_tape *tape, const char *name, const attn_tensor *x,
                           attn_real factor) {
  if (!ATTN_READY(tape, x)) return NULL;
  attn_tensor *y = attn_push(tape, "scale", name, attn_shape_of(x), ATTN_INPUTS(x));
  if (!y) return NULL;
  y->backward = scale_backward;
  attn_real *kept = attn_attributes(tape, y, sizeof *kept);
  if (kept) *kept = factor;
  const ptrdiff_t count = attn_length(x);
  const attn_real *from = x->data;
  attn_real *to = y->data;
  for (ptrdiff_t i = 0; i < count; i++) to[i] = from[i] * factor;
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

typedef struct layer_norm_attributes {
  attn_tensor *weight, *bias; /* either may be NULL */
  attn_moments moments[];     /* of each row */
} layer_norm_attributes;

static void layer_norm_backward(attn_tape *tape, const attn_tensor *y) {
  const layer_norm_attributes *kept = y->attributes;
  const attn_tensor *x = y->inputs[0];
  attn_real *dx = attn_gradient(tape, y->inputs[0]);
  attn_real *dweight = kept->weight ? attn_gradient(tape, kept->weight) : NULL;
  attn_real *dbias = kept->bias ? attn_gradient(tape, kept->bias) : NULL;
  const attn_real *weight = kept->weight ? kept->weight->data : NULL;
  const int32_t width = attn_last(y);
  for (ptrdiff_t row = 0; row < attn_rows(y); row++) {
    const attn_real *dy = y->gradient + row * width;
    if (attn_row_is_zero(dy, width)) continue;
    attn_row_layer_norm_backward(dx ? dx + row * width : NULL, dweight, dbias, dy,
                                 x->data + row * width, weight, kept->moments[row], width);
  }
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
  const ptrdiff_t rows = attn_rows(x);
  y->backward = layer_norm_backward;
  const size_t moments_bytes = (size_t)rows * sizeof(attn_moments);
  layer_norm_attributes *kept = attn_attributes(tape, y, sizeof *kept + moments_bytes);
  if (kept) {
    kept->weight = (attn_tensor *)weight;
    kept->bias = (attn_tensor *)bias;
  }
  for (ptrdiff_t row = 0; row < rows; row++) {
    const attn_moments moments =
        attn_row_layer_norm(y->data + row * width, x->data + row * width,
                            weight ? weight->data : NULL, bias ? bias->data : NULL, eps, width);
    if (kept) kept->moments[row] = moments;
  }
  return attn_finish(tape, y);
}

/* Of four cells: y of x, and what dy gives to dx. */
typedef struct activation {
  const char *op;
  attn_f32x4 (*apply)(attn_f32x4 x);
  attn_f32x4 (*backward)(attn_f32x4 x, attn_f32x4 dy);
} activation;

static attn_f32x4 times(attn_real factor, attn_f32x4 x) {
  return attn_f32x4_mul(attn_f32x4_splat(factor), x);
}

static attn_f32x4 plus(attn_real term, attn_f32x4 x) {
  return attn_f32x4_add(attn_f32x4_splat(term), x);
}

static attn_f32x4 relu(attn_f32x4 x) {
  const attn_f32x4 zero = attn_f32x4_splat(0);
  return attn_f32x4_select(attn_f32x4_le(x, zero), zero, x);
}

static attn_f32x4 relu_backward(attn_f32x4 x, attn_f32x4 dy) {
  const attn_f32x4 zero = attn_f32x4_splat(0);
  return attn_f32x4_select(attn_f32x4_le(x, zero), zero, dy);
}

/* 1 + erf(x ÷ √2) = 2 Φ(x) */
static attn_f32x4 twice_normal(attn_f32x4 x) {
  const attn_real root_half = (attn_real)0.70710678118654752440;
  return plus(1, attn_erf_x4(times(root_half, x)));
}

static attn_f32x4 gelu(attn_f32x4 x) {
  return attn_f32x4_mul(times((attn_real)0.5, x), twice_normal(x));
}

/* Φ(x) + x φ(x) */
static attn_f32x4 gelu_backward(attn_f32x4 x, attn_f32x4 dy) {
  const attn_real root_2_pi_inverse = (attn_real)0.39894228040143267794;
  const attn_f32x4 bell = attn_exp_x4(attn_f32x4_mul(times((attn_real)-0.5, x), x));
  const attn_f32x4 slope = attn_f32x4_add(times((attn_real)0.5, twice_normal(x)),
                                          attn_f32x4_mul(x, times(root_2_pi_inverse, bell)));
  return attn_f32x4_mul(dy, slope);
}

static const attn_real root_2_by_pi = (attn_real)0.79788456080286535588;
static const attn_real cubic = (attn_real)0.044715;

static attn_f32x4 gelu_tanh_inner(attn_f32x4 x) {
  const attn_f32x4 cube = attn_f32x4_mul(attn_f32x4_mul(times(cubic, x), x), x);
  return attn_tanh_x4(times(root_2_by_pi, attn_f32x4_add(x, cube)));
}

static attn_f32x4 gelu_tanh(attn_f32x4 x) {
  return attn_f32x4_mul(times((attn_real)0.5, x), plus(1, gelu_tanh_inner(x)));
}

/* ½ (1 + t) + ½ x (1 - t²) √(2 ÷ π) (1 + 3 × 0.044715 x²) */
static attn_f32x4 gelu_tanh_backward(attn_f32x4 x, attn_f32x4 dy) {
  const attn_f32x4 t = gelu_tanh_inner(x);
  const attn_f32x4 inner_slope =
      times(root_2_by_pi, plus(1, attn_f32x4_mul(times(3 * cubic, x), x)));
  const attn_f32x4 steep = attn_f32x4_sub(attn_f32x4_splat(1), attn_f32x4_mul(t, t));
  const attn_f32x4 slope =
      attn_f32x4_add(plus(1, t), attn_f32x4_mul(x, attn_f32x4_mul(steep, inner_slope)));
  return attn_f32x4_mul(dy, times((attn_real)0.5, slope));
}

static const activation activations[] = {
    [ATTN_ACTIVATION_RELU] = {"relu", relu, relu_backward},
    [ATTN_ACTIVATION_GELU] = {"gelu", gelu, gelu_backward},
    [ATTN_ACTIVATION_GELU_TANH] = {"gelu_tanh", gelu_tanh, gelu_tanh_backward}};

static void activate_backward(attn_tape *tape, const attn_tensor *y) {
  const attn_tensor *x = y->inputs[0];
  const activation *kind = y->attributes;
  attn_real *dx = attn_gradient(tape, y->inputs[0]);
  const ptrdiff_t count = attn_length(y);
  for (ptrdiff_t i = 0; i < count; i += 4) {
    const attn_f32x4 change = kind->backward(attn_f32x4_load_some(x->data + i, count - i, 0),
                                             attn_f32x4_load_some(y->gradient + i, count - i, 0));
    const attn_f32x4 before = attn_f32x4_load_some(dx + i, count - i, 0);
    attn_f32x4_store_some(dx + i, count - i, attn_f32x4_add(before, change));
  }
}

attn_tensor *attn_activate(attn_tape *tape, const char *name, const attn_tensor *x,
                           int32_t activation_choice) {
  if (!ATTN_READY(tape, x)) return NULL;
  if (!ATTN_CHECK_CHOICE(tape, "activation", activation_choice, ATTN_ACTIVATION_LIST)) return NULL;
  const activation *kind = &activations[activation_choice];
  attn_tensor *y = attn_push(tape, kind->op, name, attn_shape_of(x), ATTN_INPUTS(x));
  if (!y) return NULL;
  y->backward = activate_backward;
  y->attributes = kind;
  const ptrdiff_t count = attn_length(x);
  for (ptrdiff_t i = 0; i < count; i += 4)
    attn_f32x4_store_some(y->data + i, count - i,
                          kind->apply(attn_f32x4_load_some(x->data + i, count - i, 0)));
  return attn_finish(tape, y);
}
