/* Kernels over one row of n numbers.
 *
 * Sums have one order in every build: lane j of four adds up elements j, j + 4, j + 8, ... from 0,
 * then the lanes are added as (0 + 2) + (1 + 3). */
#ifndef ATTN_MATH_ROWS_H
#define ATTN_MATH_ROWS_H

#include "math/simd.h"

typedef struct {
  attn_real mean;
  attn_real inverse_deviation; /* 1 / sqrt(variance + eps) */
} attn_moments;

/* out = in, both [n]. */
void attn_row_copy(attn_real *out, const attn_real *in, ptrdiff_t n);

/* The largest of in [n]; NaN if any is NaN, -inf if n is 0. */
attn_real attn_row_max(const attn_real *in, ptrdiff_t n);

attn_real attn_row_sum(const attn_real *in, ptrdiff_t n);

/* The sum of a[i] b[i], both [n]. */
attn_real attn_row_dot(const attn_real *a, const attn_real *b, ptrdiff_t n);

/* Whether in [n] holds only zeros: most rows tell at their first cells that they do not. */
bool attn_row_is_zero(const attn_real *in, ptrdiff_t n);

/* out[i] = exp(in[i] - max) / sum of all exp(in[j] - max), both [n]; out may be in.
 * A cell of -inf is not allowed and gets exactly 0. Returns flags: with no cell allowed out is all
 * 0 (ATTN_ROW_EMPTY); with a NaN or +inf anywhere it is all NaN (ATTN_ROW_NOT_FINITE). */
unsigned attn_row_softmax(attn_real *out, const attn_real *in, ptrdiff_t n);

/* in_gradient[i] += out[i] * (gradient[i] - sum of all gradient[j] out[j]), all [n], out being that
 * of attn_row_softmax. Where out is 0 the gradient is not read: it may be NaN. */
void attn_row_softmax_backward(attn_real *in_gradient, const attn_real *gradient,
                               const attn_real *out, ptrdiff_t n);

/* out[i] = (in[i] - mean) / sqrt(variance + eps) * weight[i] + bias[i], all [n], n > 0; out may be
 * in. The variance is the biased one: squares are divided by n. weight and bias may be NULL. */
attn_moments attn_row_layer_norm(attn_real *out, const attn_real *in, const attn_real *weight,
                                 const attn_real *bias, attn_real eps, ptrdiff_t n);

/* With x = (in - mean) / deviation and g = gradient * weight:
 * in_gradient += (g - mean of g - x * mean of g x) / deviation, weight_gradient += gradient * x,
 * bias_gradient += gradient. Each of the three may be NULL; weight may be NULL. */
void attn_row_layer_norm_backward(attn_real *in_gradient, attn_real *weight_gradient,
                                  attn_real *bias_gradient, const attn_real *gradient,
                                  const attn_real *in, const attn_real *weight,
                                  attn_moments moments, ptrdiff_t n);

#endif
