/* From masked scores to weights, and what is told about a row of them.
 *
 *   softmax   weights[i, j] = e^(s[i, j] - max_j s) ÷ Σ_j e^(s[i, j] - max_j s)
 *   sigmoid   weights[i, j] = 1 ÷ (1 + e^-s[i, j])
 *   relu      weights[i, j] = max(0, s[i, j])
 *
 * A cell of -inf weighs exactly 0. A row without any other cell is empty: zeros, or NaN where
 * PyTorch is imitated. NaN and +inf spoil their own row only. Gradients, with weights w and their
 * gradients g:
 *
 *   softmax   ds = w (g - Σ_j g w)
 *   sigmoid   ds = g w (1 - w)
 *   relu      ds = g
 *
 * where w is 0, as in all masked cells, g is not read: a masked NaN is behind it. */
#include "math/functions.h"
#include "math/rows.h"
#include "ops/ops.h"

/* An edited weight passes nothing on, but its score still counts in the sum of the row: there the
 * weight before the edit is needed. */
static void softmax_backward(attn_tape *tape, const attn_tensor *weights) {
  attn_real *dscores = attn_gradient(tape, weights->inputs[0]);
  const int32_t keys = attn_last(weights);
  attn_real *computed = weights->overridden ? attn_scratch(tape, (size_t)keys) : NULL;
  for (ptrdiff_t row = 0; row < attn_rows(weights); row++) {
    const ptrdiff_t at = row * keys;
    if (attn_row_is_zero(weights->gradient + at, keys)) continue;
    if (computed) attn_row_softmax(computed, weights->inputs[0]->data + at, keys);
    attn_row_softmax_backward(dscores + at, weights->gradient + at,
                              computed ? computed : weights->data + at, keys);
  }
}

static void sigmoid_backward(attn_tape *tape, const attn_tensor *weights) {
  attn_real *dscores = attn_gradient(tape, weights->inputs[0]);
  for (ptrdiff_t i = 0; i < attn_length(weights); i++) {
    const attn_real weight = weights->data[i];
    if (weight != 0) dscores[i] += weights->gradient[i] * weight * (1 - weight);
  }
}

static void relu_backward(attn_tape *tape, const attn_tensor *weights) {
  attn_real *dscores = attn_gradient(tape, weights->inputs[0]);
  for (ptrdiff_t i = 0; i < attn_length(weights); i++)
    if (weights->data[i] != 0) dscores[i] += weights->gradient[i];
}

attn_tensor *attn_normalise_scores(attn_tape *tape, const attn_tensor *masked_scores,
                                   int32_t normalise, bool empty_is_nan) {
  static const struct {
    const char *op;
    void (*backward)(attn_tape *, const attn_tensor *);
  } kinds[] = {[ATTN_NORMALISE_SOFTMAX] = {"softmax", softmax_backward},
               [ATTN_NORMALISE_SIGMOID] = {"sigmoid", sigmoid_backward},
               [ATTN_NORMALISE_RELU] = {"relu", relu_backward}};
  if (!ATTN_READY(tape, masked_scores)) return NULL;
  attn_tensor *weights = attn_push(tape, kinds[normalise].op, "weights",
                                   attn_shape_of(masked_scores), ATTN_INPUTS(masked_scores));
  if (!weights) return NULL;
  weights->backward = kinds[normalise].backward;
  const int32_t keys = attn_last(masked_scores);
  const attn_real *in = masked_scores->data;
  attn_real *out = weights->data;
  for (ptrdiff_t row = 0; row < attn_rows(masked_scores); row++, in += keys, out += keys) {
    if (normalise == ATTN_NORMALISE_SOFTMAX) {
      if (attn_row_softmax(out, in, keys) & ATTN_ROW_EMPTY && empty_is_nan)
        for (int32_t j = 0; j < keys; j++) out[j] = ATTN_NAN;
    } else if (normalise == ATTN_NORMALISE_SIGMOID) {
      for (int32_t j = 0; j < keys; j++) out[j] = attn_sigmoid(in[j]);
    } else {
      for (int32_t j = 0; j < keys; j++) out[j] = in[j] <= 0 ? 0 : in[j];
    }
  }
  if (normalise == ATTN_NORMALISE_SOFTMAX) weights->sum_axis = weights->rank - 1;
  return attn_finish(tape, weights);
}

attn_tensor *attn_row_flags(attn_tape *tape, const attn_tensor *masked_scores,
                            const attn_tensor *mask, int32_t fill_mode) {
  if (!ATTN_READY(tape, masked_scores, mask)) return NULL;
  attn_tensor *flags =
      attn_push(tape, "row_flags", "row_flags",
                attn_shape3("B", masked_scores->shape[0], "h", masked_scores->shape[1], "Tq",
                            masked_scores->shape[2]),
                ATTN_INPUTS(masked_scores, mask));
  if (!flags) return NULL;
  const int32_t keys = attn_last(masked_scores);
  for (ptrdiff_t row = 0; row < attn_rows(masked_scores); row++) {
    int flag = ATTN_ROW_EMPTY;
    for (int32_t j = 0; j < keys; j++) {
      const attn_real score = masked_scores->data[row * keys + j];
      const bool filled = fill_mode == ATTN_FILL_GIVEN && mask->data[row * keys + j] != 0;
      if (score != ATTN_MINUS_INFINITY && !filled) flag &= ~ATTN_ROW_EMPTY;
      if (score != score || score == -ATTN_MINUS_INFINITY) flag |= ATTN_ROW_NOT_FINITE;
    }
    flags->data[row] = (attn_real)flag;
  }
  return attn_finish(tape, flags);
}

static bool check_axes(attn_tape *tape, const attn_tensor *weights) {
  if (weights->rank == 4) return true;
  return attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d axes; weights are [B, h, Tq, Tk]",
                   weights->name, weights->rank);
}

static void mean_heads_backward(attn_tape *tape, const attn_tensor *mean) {
  const attn_tensor *weights = mean->inputs[0];
  attn_real *dweights = attn_gradient(tape, mean->inputs[0]);
  const int32_t heads = weights->shape[1];
  const ptrdiff_t block = (ptrdiff_t)weights->shape[2] * weights->shape[3];
  for (ptrdiff_t i = 0; i < (ptrdiff_t)weights->shape[0] * heads; i++) {
    const attn_real *dmean = mean->gradient + i / heads * block;
    for (ptrdiff_t j = 0; j < block; j++) dweights[i * block + j] += dmean[j] / (attn_real)heads;
  }
}

attn_tensor *attn_mean_heads(attn_tape *tape, const char *name, const attn_tensor *weights) {
  if (!ATTN_READY(tape, weights) || !check_axes(tape, weights)) return NULL;
  attn_tensor *mean = attn_push(
      tape, "mean_heads", name,
      attn_shape3("B", weights->shape[0], "Tq", weights->shape[2], "Tk", weights->shape[3]),
      ATTN_INPUTS(weights));
  if (!mean) return NULL;
  mean->backward = mean_heads_backward;
  const int32_t heads = weights->shape[1];
  const ptrdiff_t block = (ptrdiff_t)weights->shape[2] * weights->shape[3];
  for (int32_t b = 0; b < weights->shape[0]; b++) {
    const attn_real *from = weights->data + b * heads * block;
    attn_real *to = mean->data + b * block;
    for (ptrdiff_t i = 0; i < block; i++) {
      attn_real sum = 0;
      for (int32_t head = 0; head < heads; head++) sum += from[head * block + i];
      to[i] = sum / (attn_real)heads;
    }
  }
  if (weights->sum_axis == 3) mean->sum_axis = 2;
  return attn_finish(tape, mean);
}

/* With p = weight ÷ sum: dweight = -(ln p + entropy) ÷ sum, 0 where the weight is 0. */
static void entropy_backward(attn_tape *tape, const attn_tensor *entropy) {
  const attn_tensor *weights = entropy->inputs[0];
  attn_real *dweights = attn_gradient(tape, entropy->inputs[0]);
  const int32_t keys = attn_last(weights);
  for (ptrdiff_t row = 0; row < attn_rows(weights); row++) {
    const attn_real *weight = weights->data + row * keys;
    const attn_real sum = attn_row_sum(weight, keys);
    for (int32_t j = 0; j < keys; j++)
      if (weight[j] != 0)
        dweights[row * keys + j] -=
            entropy->gradient[row] * (attn_log(weight[j] / sum) + entropy->data[row]) / sum;
  }
}

attn_tensor *attn_entropy(attn_tape *tape, const char *name, const attn_tensor *weights) {
  if (!ATTN_READY(tape, weights) || !check_axes(tape, weights)) return NULL;
  attn_tensor *entropy = attn_push(
      tape, "entropy", name,
      attn_shape3("B", weights->shape[0], "h", weights->shape[1], "Tq", weights->shape[2]),
      ATTN_INPUTS(weights));
  if (!entropy) return NULL;
  entropy->backward = entropy_backward;
  const int32_t keys = attn_last(weights);
  for (ptrdiff_t row = 0; row < attn_rows(weights); row++) {
    const attn_real *weight = weights->data + row * keys;
    const attn_real sum = attn_row_sum(weight, keys);
    attn_real total = 0;
    for (int32_t j = 0; j < keys; j++) {
      const attn_real p = weight[j] / sum;
      if (weight[j] != 0) total -= p * attn_log(p);
    }
    entropy->data[row] = total;
  }
  return attn_finish(tape, entropy);
}
