/* Scores of kernels: the logarithm of K(u), so that a softmax over them is the kernel's weights.
 *
 *   u = |query[i] - key[j]| |width|        scores[i, j] = log K(u)
 *
 *   average      K = 1                     everywhere
 *   gaussian     K = e^(-u²/2)             see ops/score.c
 *   boxcar       K = 1                     within u < 1; 0 beyond, as all that follow
 *   triangular   K = 1 - u                 d log K / du = -1 ÷ (1 - u)
 *   epanechnikov K = 1 - u²                             = -2 u ÷ (1 - u²)
 *   tricube      K = (1 - u³)³                          = -9 u² ÷ (1 - u³)
 *
 * Factors in front of K would cancel in the softmax. A key beyond the kernel's reach has the score
 * -inf, which counts as masked: it weighs 0 and passes no gradient. */
#include "math/functions.h"
#include "math/rows.h"
#include "ops/ops.h"

static attn_real log_kernel(int32_t kernel, attn_real u) {
  if (kernel == ATTN_KERNEL_AVERAGE) return 0;
  if (u >= 1) return ATTN_MINUS_INFINITY;
  switch (kernel) {
    case ATTN_KERNEL_TRIANGULAR:
      return attn_log(1 - u);
    case ATTN_KERNEL_EPANECHNIKOV:
      return attn_log(1 - u * u);
    case ATTN_KERNEL_TRICUBE:
      return 3 * attn_log(1 - u * u * u);
    default:
      return u - u; /* boxcar: 0, and NaN stays NaN */
  }
}

static attn_real log_kernel_slope(int32_t kernel, attn_real u) {
  switch (kernel) {
    case ATTN_KERNEL_TRIANGULAR:
      return -1 / (1 - u);
    case ATTN_KERNEL_EPANECHNIKOV:
      return -2 * u / (1 - u * u);
    case ATTN_KERNEL_TRICUBE:
      return -9 * u * u / (1 - u * u * u);
    default:
      return 0;
  }
}

/* |query - key|, and query - key in difference. */
static attn_real distance(attn_real *difference, const attn_real *query, const attn_real *key,
                          int32_t width) {
  for (int32_t d = 0; d < width; d++) difference[d] = query[d] - key[d];
  return attn_sqrt(attn_row_dot(difference, difference, width));
}

static void kernel_backward(attn_tape *tape, const attn_tensor *scores) {
  const int32_t kernel = *(const int32_t *)scores->attributes;
  const attn_tensor *query = scores->inputs[0], *key = scores->inputs[1];
  const attn_tensor *width = scores->inputs[2];
  attn_real *dquery = attn_gradient(tape, scores->inputs[0]);
  attn_real *dkey = attn_gradient(tape, scores->inputs[1]);
  attn_real *dwidth = attn_gradient(tape, scores->inputs[2]);
  const int32_t queries = query->shape[2], keys = key->shape[2], size = attn_last(query);
  attn_real *difference = attn_scratch(tape, (size_t)size);
  if (!difference) return;
  const attn_real factor = attn_abs(width->data[0]), sign = width->data[0] < 0 ? -1 : 1;
  for (ptrdiff_t row = 0; row < attn_rows(query); row++)
    for (int32_t j = 0; j < keys; j++) {
      const ptrdiff_t cell = row * keys + j, other = row / queries * keys + j;
      if (scores->data[cell] == ATTN_MINUS_INFINITY) continue;
      const attn_real r =
          distance(difference, query->data + row * size, key->data + other * size, size);
      const attn_real du = scores->gradient[cell] * log_kernel_slope(kernel, r * factor);
      if (dwidth) dwidth[0] += du * r * sign;
      if (r == 0) continue;
      for (int32_t d = 0; d < size; d++) {
        const attn_real step = du * factor * difference[d] / r;
        if (dquery) dquery[row * size + d] += step;
        if (dkey) dkey[other * size + d] -= step;
      }
    }
}

attn_tensor *attn_kernel_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                                const attn_tensor *width, int32_t kernel) {
  if (!ATTN_READY(tape, query, key, width)) return NULL;
  if (!ATTN_CHECK_CHOICE(tape, "kernel", kernel, ATTN_KERNEL_LIST)) return NULL;
  if (kernel == ATTN_KERNEL_GAUSSIAN) return attn_gaussian_scores(tape, query, key, width);
  if (attn_length(width) != 1)
    return attn_fail(tape, ATTN_BAD_SHAPE, "the kernel's width has %d elements, not 1",
                     (int)attn_length(width));
  attn_tensor *scores = attn_push_scores(tape, "kernel_scores", query, key, width);
  int32_t *kept = attn_tape_take(tape, sizeof *kept);
  if (!scores || !kept) return NULL;
  *kept = kernel;
  scores->attributes = kept;
  scores->backward = kernel_backward;
  const int32_t queries = query->shape[2], keys = key->shape[2], size = attn_last(query);
  const attn_mark mark = attn_scratch_mark(tape);
  attn_real *difference = attn_scratch(tape, (size_t)size);
  if (!difference) return NULL;
  const attn_real factor = attn_abs(width->data[0]);
  for (ptrdiff_t row = 0; row < attn_rows(query); row++)
    for (int32_t j = 0; j < keys; j++) {
      const attn_real *k = key->data + (row / queries * keys + j) * size;
      const attn_real r = distance(difference, query->data + row * size, k, size);
      scores->data[row * keys + j] = log_kernel(kernel, r * factor);
    }
  attn_scratch_release(tape, mark);
  return attn_finish(tape, scores);
}
