/* Four cells at a time; behind the end of a row the lanes take the number that changes nothing: 0
 * in a sum, -infinity in a maximum or a softmax, the mean in a variance. */
#include "math/rows.h"

#include "math/functions.h"

static const attn_real infinity = (attn_real)__builtin_inf();

void attn_row_copy(attn_real *out, const attn_real *in, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i += 4)
    attn_f32x4_store_some(out + i, n - i, attn_f32x4_load_some(in + i, n - i, 0));
}

attn_real attn_row_max(const attn_real *in, ptrdiff_t n) {
  attn_f32x4 max = attn_f32x4_splat(-infinity);
  attn_m32x4 nan = attn_f32x4_ne(max, max);
  for (ptrdiff_t i = 0; i < n; i += 4) {
    attn_f32x4 x = attn_f32x4_load_some(in + i, n - i, -infinity);
    max = attn_f32x4_max(max, x);
    nan = attn_m32x4_or(nan, attn_f32x4_ne(x, x));
  }
  if (attn_m32x4_any(nan)) return (attn_real)__builtin_nan("");
  attn_real lane[4];
  attn_f32x4_store(lane, max);
  attn_real left = lane[0] < lane[1] ? lane[1] : lane[0];
  attn_real right = lane[2] < lane[3] ? lane[3] : lane[2];
  return left < right ? right : left;
}

attn_real attn_row_sum(const attn_real *in, ptrdiff_t n) {
  attn_f32x4 sum = attn_f32x4_splat(0);
  for (ptrdiff_t i = 0; i < n; i += 4) {
    sum = attn_f32x4_add(sum, attn_f32x4_load_some(in + i, n - i, 0));
  }
  return attn_f32x4_sum(sum);
}

attn_real attn_row_dot(const attn_real *a, const attn_real *b, ptrdiff_t n) {
  attn_f32x4 sum = attn_f32x4_splat(0);
  for (ptrdiff_t i = 0; i < n; i += 4) {
    attn_f32x4 product = attn_f32x4_mul(attn_f32x4_load_some(a + i, n - i, 0),
                                        attn_f32x4_load_some(b + i, n - i, 0));
    sum = attn_f32x4_add(sum, product);
  }
  return attn_f32x4_sum(sum);
}

bool attn_row_is_zero(const attn_real *in, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i++)
    if (in[i] != 0) return false;
  return true;
}

static void fill(attn_real *out, attn_real value, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i++) out[i] = value;
}

unsigned attn_row_softmax(attn_real *out, const attn_real *in, ptrdiff_t n) {
  attn_real max = attn_row_max(in, n);
  if (max == -infinity) {
    fill(out, 0, n);
    return ATTN_ROW_EMPTY;
  }
  if (!(max < infinity)) {
    fill(out, (attn_real)__builtin_nan(""), n);
    return ATTN_ROW_NOT_FINITE;
  }
  attn_f32x4 max_x4 = attn_f32x4_splat(max);
  attn_f32x4 sum_x4 = attn_f32x4_splat(0);
  for (ptrdiff_t i = 0; i < n; i += 4) {
    attn_f32x4 x = attn_f32x4_load_some(in + i, n - i, -infinity);
    attn_f32x4 power = attn_exp_x4(attn_f32x4_sub(x, max_x4));
    attn_f32x4_store_some(out + i, n - i, power);
    sum_x4 = attn_f32x4_add(sum_x4, power);
  }
  attn_f32x4 sum = attn_f32x4_splat(attn_f32x4_sum(sum_x4));
  for (ptrdiff_t i = 0; i < n; i += 4) {
    attn_f32x4 power = attn_f32x4_load_some(out + i, n - i, 0);
    attn_f32x4_store_some(out + i, n - i, attn_f32x4_div(power, sum));
  }
  return 0;
}

static void add_some(attn_real *to, ptrdiff_t n, attn_f32x4 x) {
  attn_f32x4_store_some(to, n, attn_f32x4_add(attn_f32x4_load_some(to, n, 0), x));
}

static attn_f32x4 keep_where_weighed(attn_f32x4 weight, attn_f32x4 x) {
  const attn_f32x4 zero = attn_f32x4_splat(0);
  return attn_f32x4_select(attn_f32x4_eq(weight, zero), zero, x);
}

void attn_row_softmax_backward(attn_real *in_gradient, const attn_real *gradient,
                               const attn_real *out, ptrdiff_t n) {
  attn_f32x4 sum = attn_f32x4_splat(0);
  for (ptrdiff_t i = 0; i < n; i += 4) {
    attn_f32x4 y = attn_f32x4_load_some(out + i, n - i, 0);
    attn_f32x4 g = keep_where_weighed(y, attn_f32x4_load_some(gradient + i, n - i, 0));
    sum = attn_f32x4_add(sum, attn_f32x4_mul(g, y));
  }
  attn_f32x4 mean = attn_f32x4_splat(attn_f32x4_sum(sum));
  for (ptrdiff_t i = 0; i < n; i += 4) {
    attn_f32x4 y = attn_f32x4_load_some(out + i, n - i, 0);
    attn_f32x4 g = attn_f32x4_sub(attn_f32x4_load_some(gradient + i, n - i, 0), mean);
    add_some(in_gradient + i, n - i, keep_where_weighed(y, attn_f32x4_mul(y, g)));
  }
}

attn_moments attn_row_layer_norm(attn_real *out, const attn_real *in, const attn_real *weight,
                                 const attn_real *bias, attn_real eps, ptrdiff_t n) {
  attn_moments moments;
  moments.mean = attn_row_sum(in, n) / (attn_real)n;
  attn_f32x4 mean = attn_f32x4_splat(moments.mean);
  attn_f32x4 squares = attn_f32x4_splat(0);
  for (ptrdiff_t i = 0; i < n; i += 4) {
    attn_f32x4 x = attn_f32x4_sub(attn_f32x4_load_some(in + i, n - i, moments.mean), mean);
    squares = attn_f32x4_add(squares, attn_f32x4_mul(x, x));
  }
  attn_real variance = attn_f32x4_sum(squares) / (attn_real)n;
  moments.inverse_deviation = 1 / attn_sqrt(variance + eps);
  attn_f32x4 scale = attn_f32x4_splat(moments.inverse_deviation);
  for (ptrdiff_t i = 0; i < n; i += 4) {
    attn_f32x4 x = attn_f32x4_load_some(in + i, n - i, 0);
    x = attn_f32x4_mul(attn_f32x4_sub(x, mean), scale);
    if (weight) x = attn_f32x4_mul(x, attn_f32x4_load_some(weight + i, n - i, 0));
    if (bias) x = attn_f32x4_add(x, attn_f32x4_load_some(bias + i, n - i, 0));
    attn_f32x4_store_some(out + i, n - i, x);
  }
  return moments;
}

/* The i-th four of (in - mean) / deviation, 0 behind the end. */
static attn_f32x4 normed(const attn_real *in, attn_moments moments, ptrdiff_t i, ptrdiff_t n) {
  attn_f32x4 x = attn_f32x4_load_some(in + i, n - i, moments.mean);
  return attn_f32x4_mul(attn_f32x4_sub(x, attn_f32x4_splat(moments.mean)),
                        attn_f32x4_splat(moments.inverse_deviation));
}

static attn_f32x4 weighed(const attn_real *gradient, const attn_real *weight, ptrdiff_t i,
                          ptrdiff_t n) {
  attn_f32x4 g = attn_f32x4_load_some(gradient + i, n - i, 0);
  return weight ? attn_f32x4_mul(g, attn_f32x4_load_some(weight + i, n - i, 0)) : g;
}

void attn_row_layer_norm_backward(attn_real *in_gradient, attn_real *weight_gradient,
                                  attn_real *bias_gradient, const attn_real *gradient,
                                  const attn_real *in, const attn_real *weight,
                                  attn_moments moments, ptrdiff_t n) {
  attn_f32x4 sum = attn_f32x4_splat(0), product_sum = attn_f32x4_splat(0);
  for (ptrdiff_t i = 0; i < n; i += 4) {
    attn_f32x4 x = normed(in, moments, i, n), g = weighed(gradient, weight, i, n);
    sum = attn_f32x4_add(sum, g);
    product_sum = attn_f32x4_add(product_sum, attn_f32x4_mul(g, x));
    attn_f32x4 raw = attn_f32x4_load_some(gradient + i, n - i, 0);
    if (weight_gradient) add_some(weight_gradient + i, n - i, attn_f32x4_mul(raw, x));
    if (bias_gradient) add_some(bias_gradient + i, n - i, raw);
  }
  if (!in_gradient) return;
  attn_f32x4 mean = attn_f32x4_splat(attn_f32x4_sum(sum) / (attn_real)n);
  attn_f32x4 slope = attn_f32x4_splat(attn_f32x4_sum(product_sum) / (attn_real)n);
  attn_f32x4 scale = attn_f32x4_splat(moments.inverse_deviation);
  for (ptrdiff_t i = 0; i < n; i += 4) {
    attn_f32x4 x = normed(in, moments, i, n), g = weighed(gradient, weight, i, n);
    g = attn_f32x4_sub(attn_f32x4_sub(g, mean), attn_f32x4_mul(x, slope));
    add_some(in_gradient + i, n - i, attn_f32x4_mul(g, scale));
  }
}
