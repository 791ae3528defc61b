/* Losses: one number out of predictions and what they should have been.
 *
 *   cross entropy   L = c Σ_{b, t counted} (log Σ_v e^logits[b, t, v] - logits[b, t, labels[b, t]])
 *   squared error   L = c Σ_i (prediction[i] - target[i])²
 *
 * c is 1 for a sum and 1 ÷ the number of counted tokens (of elements) for a mean. D2L v1 takes the
 * mean of each sequence over all T, the padding too, and adds the sequences up: c = 1 ÷ T.
 *
 * Token (b, t) is counted when t < lengths[b] and its label is not -1. The logits of the others are
 * never read. Without any counted token the loss is 0. */
#include "math/functions.h"
#include "math/rows.h"
#include "ops/ops.h"

typedef struct token_loss {
  int32_t label;          /* -1: not counted */
  attn_real largest, sum; /* Σ_v e^(logits - largest) */
} token_loss;

typedef struct cross_entropy {
  attn_real factor;
  int32_t counted;
  token_loss tokens[];
} cross_entropy;

static bool check_lengths(attn_tape *tape, const attn_tensor *lengths, const attn_tensor *labels) {
  if (!lengths) return true;
  const int32_t batch = labels->shape[0], limit = labels->shape[1];
  if (lengths->rank != 1 || lengths->shape[0] != batch)
    return attn_fail(tape, ATTN_BAD_SHAPE,
                     "%s must be a list of %d, one for each sequence; it has the rank %d and %d "
                     "elements",
                     lengths->name, batch, lengths->rank, (int)attn_length(lengths));
  for (int32_t b = 0; b < batch; b++) {
    const attn_real length = lengths->data[b];
    if (!(length >= 0 && length <= (attn_real)limit) || length != (attn_real)(int32_t)length)
      return attn_fail(tape, ATTN_BAD_VALUE,
                       "%s holds %g, which is not a whole number from 0 to the %d tokens",
                       lengths->name, (double)length, limit);
  }
  return true;
}

/* Σ_v e^(logits[v] - largest), in the order of attn_row_sum. */
static attn_real sum_of_powers(const attn_real *logits, attn_real largest, int32_t vocabulary) {
  const attn_f32x4 shift = attn_f32x4_splat(largest);
  attn_f32x4 sum = attn_f32x4_splat(0);
  for (int32_t v = 0; v < vocabulary; v += 4) {
    attn_f32x4 x = attn_f32x4_load_some(logits + v, vocabulary - v, ATTN_MINUS_INFINITY);
    sum = attn_f32x4_add(sum, attn_exp_x4(attn_f32x4_sub(x, shift)));
  }
  return attn_f32x4_sum(sum);
}

static void cross_entropy_backward(attn_tape *tape, const attn_tensor *loss) {
  const cross_entropy *kept = loss->attributes;
  attn_tensor *logits = loss->inputs[0];
  attn_real *gradient = attn_gradient(tape, logits);
  if (!gradient) return;
  const int32_t vocabulary = attn_last(logits);
  const attn_real factor = kept->factor * loss->gradient[0];
  for (ptrdiff_t row = 0; row < attn_rows(logits); row++) {
    const token_loss *token = &kept->tokens[row];
    if (token->label < 0) continue;
    const attn_real *x = logits->data + row * vocabulary;
    attn_real *g = gradient + row * vocabulary;
    const attn_f32x4 shift = attn_f32x4_splat(token->largest);
    const attn_f32x4 scale = attn_f32x4_splat(factor / token->sum);
    for (int32_t v = 0; v < vocabulary; v += 4) {
      const int32_t left = vocabulary - v;
      attn_f32x4 power = attn_exp_x4(attn_f32x4_sub(attn_f32x4_load_some(x + v, left, 0), shift));
      attn_f32x4 sum = attn_f32x4_load_some(g + v, left, 0);
      attn_f32x4_store_some(g + v, left, attn_f32x4_add(sum, attn_f32x4_mul(power, scale)));
    }
    g[token->label] -= factor;
  }
}

attn_tensor *attn_cross_entropy(attn_tape *tape, const char *name, const attn_tensor *logits,
                                const attn_tensor *labels, const attn_tensor *lengths,
                                int32_t reduction) {
  if (!ATTN_READY(tape, logits, labels)) return NULL;
  if (!ATTN_CHECK_CHOICE(tape, "reduction", reduction, ATTN_REDUCTION_LIST)) return NULL;
  if (logits->rank != 3 || labels->rank != 2 || labels->shape[0] != logits->shape[0] ||
      labels->shape[1] != logits->shape[1] || logits->shape[2] == 0)
    return attn_fail(tape, ATTN_BAD_SHAPE,
                     "%s and %s must have the shapes [B, T, V] and [B, T]; they have %d and %d "
                     "axes and %d and %d rows",
                     logits->name, labels->name, logits->rank, labels->rank, (int)attn_rows(logits),
                     (int)attn_length(labels));
  const int32_t batch = logits->shape[0], length = logits->shape[1], vocabulary = logits->shape[2];
  if (!check_lengths(tape, lengths, labels) || !attn_check_ids(tape, labels, -1, vocabulary))
    return NULL;
  attn_tensor *loss = attn_push(tape, "cross_entropy", name, (attn_shape){.rank = 0},
                                ATTN_INPUTS(logits, labels, lengths));
  const size_t rows = (size_t)attn_length(labels);
  cross_entropy *kept = attn_tape_take(tape, sizeof *kept + rows * sizeof *kept->tokens);
  const attn_mark mark = attn_scratch_mark(tape);
  attn_real *losses = attn_scratch(tape, rows);
  if (!loss || !kept || !losses) return NULL;

  kept->counted = 0;
  for (int32_t b = 0; b < batch; b++)
    for (int32_t t = 0; t < length; t++) {
      const ptrdiff_t row = (ptrdiff_t)b * length + t;
      const attn_real *x = logits->data + row * vocabulary;
      const bool within = !lengths || t < (int32_t)lengths->data[b];
      token_loss *token = &kept->tokens[row];
      token->label = within ? (int32_t)labels->data[row] : -1;
      losses[row] = 0;
      if (token->label < 0) continue;
      token->largest = attn_row_max(x, vocabulary);
      token->sum = sum_of_powers(x, token->largest, vocabulary);
      losses[row] = attn_log(token->sum) - (x[token->label] - token->largest);
      kept->counted++;
    }
  const int32_t divisor = reduction == ATTN_REDUCTION_SUM      ? 1
                          : reduction == ATTN_REDUCTION_D2L_V1 ? length
                                                               : kept->counted;
  kept->factor = divisor > 0 ? 1 / (attn_real)divisor : 0;
  loss->data[0] = kept->factor * attn_row_sum(losses, (ptrdiff_t)rows);
  attn_scratch_release(tape, mark);
  loss->attributes = kept;
  loss->backward = cross_entropy_backward;
  return attn_finish(tape, loss);
}

int32_t attn_counted_tokens(const attn_tensor *cross_entropy_loss) {
  if (!cross_entropy_loss || cross_entropy_loss->backward != cross_entropy_backward) return 0;
  return ((const cross_entropy *)cross_entropy_loss->attributes)->counted;
}

static void squared_error_backward(attn_tape *tape, const attn_tensor *loss) {
  attn_tensor *prediction = loss->inputs[0], *target = loss->inputs[1];
  attn_real *of_prediction = attn_gradient(tape, prediction);
  attn_real *of_target = attn_gradient(tape, target);
  const attn_real factor = 2 * *(const attn_real *)loss->attributes * loss->gradient[0];
  for (ptrdiff_t i = 0; i < attn_length(prediction); i++) {
    const attn_real step = factor * (prediction->data[i] - target->data[i]);
    if (of_prediction) of_prediction[i] += step;
    if (of_target) of_target[i] -= step;
  }
}

static bool check_same_shape(attn_tape *tape, const attn_tensor *a, const attn_tensor *b) {
  if (a->rank != b->rank)
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d axes, %s %d; their shapes must agree",
                     a->name, a->rank, b->name, b->rank);
  for (int32_t i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i])
      return attn_fail(tape, ATTN_BAD_SHAPE,
                       "%s has the size %d on axis %s, %s %d; their shapes must agree", a->name,
                       a->shape[i], a->axes[i], b->name, b->shape[i]);
  return true;
}

attn_tensor *attn_squared_error(attn_tape *tape, const char *name, const attn_tensor *prediction,
                                const attn_tensor *target, int32_t reduction) {
  if (!ATTN_READY(tape, prediction, target)) return NULL;
  if (reduction != ATTN_REDUCTION_SUM && reduction != ATTN_REDUCTION_MEAN)
    return attn_fail(tape, ATTN_BAD_VALUE, "the squared error is a sum or a mean; reduction is %d",
                     reduction);
  if (!check_same_shape(tape, prediction, target)) return NULL;
  const ptrdiff_t count = attn_length(prediction);
  attn_tensor *loss = attn_push(tape, "squared_error", name, (attn_shape){.rank = 0},
                                ATTN_INPUTS(prediction, target));
  attn_real *factor = attn_tape_take(tape, sizeof *factor);
  const attn_mark mark = attn_scratch_mark(tape);
  attn_real *difference = attn_scratch(tape, (size_t)count);
  if (!loss || !factor || !difference) return NULL;
  for (ptrdiff_t i = 0; i < count; i++) difference[i] = prediction->data[i] - target->data[i];
  *factor = reduction == ATTN_REDUCTION_MEAN && count > 0 ? 1 / (attn_real)count : 1;
  loss->data[0] = *factor * attn_row_dot(difference, difference, count);
  attn_scratch_release(tape, mark);
  loss->attributes = factor;
  loss->backward = squared_error_backward;
  return attn_finish(tape, loss);
}
