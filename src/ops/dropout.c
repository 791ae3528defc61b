/* Dropout (Srivastava et al. 2014): each cell becomes 0 with the given probability, the others are
 * divided by what is left.
 *
 *   out[i] = 0 where word[i] < limit, else x[i] ÷ (1 - probability)
 *   dx[i]  = 0 where word[i] < limit, else dout[i] ÷ (1 - probability)
 *
 * word[i] is number i of the stream that the seed and the tensor's full name have; limit is the
 * probability as a part of 2³², rounded up to a multiple of 2⁸: a word counts by its upper 24 bits.
 */
#include "math/random.h"
#include "ops/ops.h"

attn_dropout_plan attn_dropout_plan_of(float probability) {
  const float part = probability * 0x1p24f; /* exact */
  const uint32_t whole = (uint32_t)part;
  return (attn_dropout_plan){.limit = (whole + ((float)whole < part)) << 8,
                             .factor = 1 / (1 - (attn_real)probability)};
}

void attn_dropout_row(attn_real *out, const attn_real *in, const uint32_t *words, ptrdiff_t count,
                      attn_dropout_plan plan) {
  for (ptrdiff_t i = 0; i < count; i++) {
    const attn_real kept = in[i] * plan.factor;
    out[i] = words[i] < plan.limit ? 0 : kept;
  }
}

typedef struct dropout_attributes {
  attn_dropout_plan plan;
  uint32_t words[];
} dropout_attributes;

static void dropout_backward(attn_tape *tape, const attn_tensor *out) {
  const dropout_attributes *how = out->attributes;
  const attn_dropout_plan plan = how->plan;
  const attn_real *dout = out->gradient;
  attn_real *dx = attn_gradient(tape, out->inputs[0]);
  const ptrdiff_t count = attn_length(out);
  for (ptrdiff_t i = 0; i < count; i++) {
    const attn_real kept = dout[i] * plan.factor;
    dx[i] += how->words[i] < plan.limit ? 0 : kept;
  }
}

attn_tensor *attn_dropout(attn_tape *tape, const char *name, const attn_tensor *x,
                          float probability, uint32_t seed) {
  if (!ATTN_READY(tape, x)) return NULL;
  if (probability == 0) return (attn_tensor *)x;
  const attn_random_key key = attn_name_key(tape, seed, name);
  attn_tensor *out = attn_push(tape, "dropout", name, attn_shape_of(x), ATTN_INPUTS(x));
  if (!out) return NULL;
  out->backward = dropout_backward;
  const ptrdiff_t count = attn_length(x);
  const size_t bytes = (size_t)count * sizeof(uint32_t);
  dropout_attributes *how = attn_attributes(tape, out, sizeof *how + bytes);
  const attn_mark mark = attn_scratch_mark(tape);
  uint32_t *words = how ? how->words : attn_tape_take(tape, bytes);
  if (!words) return NULL;
  const attn_dropout_plan plan = attn_dropout_plan_of(probability);
  if (how) how->plan = plan;
  attn_random_words(words, count, key, 0);
  attn_dropout_row(out->data, x->data, words, count, plan);
  attn_scratch_release(tape, mark);
  return attn_finish(tape, out);
}
