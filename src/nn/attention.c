/* Attention: score, scale, mask, normalise, drop, mix, each a step of the tape.
 *
 *   raw_scores     score(query, key)                            [B, h, Tq, Tk]
 *   scores         raw_scores × scale ÷ temperature
 *   masked_scores  scores + bias, masked cells filled           see ops/mask.c
 *   weights        softmax, sigmoid or relu of them             see ops/weights.c
 *   output         weights · value                              [B, h, Tq, Dv]
 *
 * Where weights are not asked for and the score is a dot product under a softmax, one fused step
 * takes the place of the last five; it has no gradient, so where one is needed the steps stay.
 * Sizes and options are checked here once; operations rely on it.
 */
#include "nn/attention.h"

#include <float.h>

#include "math/simd.h"
#include "ops/ops.h"

attn_attention_options attn_attention_defaults(void) {
  return (attn_attention_options){.window_left = -1,
                                  .window_right = -1,
                                  .temperature = 1,
                                  .need_weights = 1,
                                  .heads = 1,
                                  .rotary_base = 10000};
}

static bool is_number(float x) { return x - x == 0; }

static bool check_options(attn_tape *tape, const attn_attention_options *options) {
  if (!ATTN_CHECK_CHOICE(tape, "score", options->score, ATTN_SCORE_LIST) ||
      !ATTN_CHECK_CHOICE(tape, "normalise", options->normalise, ATTN_NORMALISE_LIST) ||
      !ATTN_CHECK_CHOICE(tape, "causal", options->causal, ATTN_CAUSAL_LIST) ||
      !ATTN_CHECK_CHOICE(tape, "scale mode", options->scale_mode, ATTN_SCALE_LIST) ||
      !ATTN_CHECK_CHOICE(tape, "fill mode", options->fill_mode, ATTN_FILL_LIST) ||
      !ATTN_CHECK_CHOICE(tape, "rotary pairing", options->rotary, ATTN_PAIRING_LIST))
    return false;
  if (!(options->temperature > 0) || !is_number(options->temperature))
    return attn_fail_at(tape, "temperature", ATTN_BAD_VALUE,
                        "temperature %g must be a number above 0", (double)options->temperature);
  if (options->scale_mode == ATTN_SCALE_GIVEN && !is_number(options->scale))
    return attn_fail_at(tape, "scale", ATTN_BAD_VALUE, "scale %g must be a finite number",
                        (double)options->scale);
  if (options->fill_mode == ATTN_FILL_GIVEN && !(options->fill <= FLT_MAX))
    return attn_fail_at(tape, "fill", ATTN_BAD_VALUE, "fill %g must be a number or -Infinity",
                        (double)options->fill);
  if (!(options->dropout >= 0 && options->dropout < 1))
    return attn_fail_at(tape, "dropout", ATTN_BAD_VALUE,
                        "dropout %g must be at least 0 and below 1", (double)options->dropout);
  if (options->window_left < -1 || options->window_right < -1)
    return attn_fail_at(tape, "window", ATTN_BAD_VALUE, "window %d must be at least 0",
                        options->window_left < -1 ? options->window_left : options->window_right);
  if (options->global_tokens < 0)
    return attn_fail_at(tape, "window", ATTN_BAD_VALUE,
                        "%d global tokens; there must be at least 0", options->global_tokens);
  return true;
}

static bool check_tensors(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                          const attn_tensor *value) {
  const attn_tensor *const all[] = {query, key, value};
  for (int i = 0; i < 3; i++) {
    if (all[i]->rank != 4)
      return attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d axes; attention needs [B, h, T, D]",
                       all[i]->name, all[i]->rank);
    if (all[i]->shape[3] < 1)
      return attn_fail(tape, ATTN_BAD_SHAPE, "%s has the width 0; it must be at least 1",
                       all[i]->name);
  }
  for (int axis = 0; axis < 2; axis++)
    if (query->shape[axis] != key->shape[axis] || key->shape[axis] != value->shape[axis])
      return attn_fail(tape, ATTN_BAD_SHAPE, "query, key and value have %d, %d and %d %s",
                       query->shape[axis], key->shape[axis], value->shape[axis],
                       axis == 0 ? "batches; they must agree" : "heads; they must agree");
  if (key->shape[2] != value->shape[2])
    return attn_fail(tape, ATTN_BAD_SHAPE, "there are %d keys and %d values; they must agree",
                     key->shape[2], value->shape[2]);
  return true;
}

static attn_real factor_of(const attn_attention_options *options, int32_t width) {
  attn_real scale = 1;
  if (options->scale_mode == ATTN_SCALE_GIVEN)
    scale = options->scale;
  else if (options->scale_mode == ATTN_SCALE_DEFAULT && options->score == ATTN_SCORE_SCALED_DOT)
    scale = 1 / attn_sqrt((attn_real)width);
  return scale / options->temperature;
}

static bool is_dot(int32_t score) {
  return score != ATTN_SCORE_ADDITIVE && score != ATTN_SCORE_GAUSSIAN;
}

/* The score's learned or normed view of query and key; what then remains is a dot product, a sum
 * under tanh or a distance. */
static bool prepare(attn_tape *tape, const attn_tensor **query, const attn_tensor **key,
                    const attn_attention_options *options) {
  switch (options->score) {
    case ATTN_SCORE_ADDITIVE:
      if (!options->score_query_weight || !options->score_key_weight ||
          !options->score_value_weight)
        return attn_fail_at(tape, "params", ATTN_BAD_VALUE,
                            "the additive score needs the weights query, key and value");
      *query = attn_linear(tape, "query_features", *query, options->score_query_weight, NULL);
      *key = attn_linear(tape, "key_features", *key, options->score_key_weight, NULL);
      break;
    case ATTN_SCORE_GENERAL:
      if (!options->score_weight)
        return attn_fail_at(tape, "params", ATTN_BAD_VALUE, "the general score needs a weight");
      *key = attn_linear(tape, "key_features", *key, options->score_weight, NULL);
      break;
    case ATTN_SCORE_COSINE:
      *query = attn_unit_rows(tape, "unit_query", *query);
      *key = attn_unit_rows(tape, "unit_key", *key);
      break;
    default:
      break;
  }
  return *query && *key;
}

static attn_tensor *raw_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                               const attn_attention_options *options) {
  switch (options->score) {
    case ATTN_SCORE_ADDITIVE:
      return attn_additive_scores(tape, query, key, options->score_value_weight);
    case ATTN_SCORE_GAUSSIAN:
      return attn_gaussian_scores(tape, query, key, options->score_width);
    default:
      return attn_dot_scores(tape, query, key);
  }
}

static bool needs_gradient(const attn_tensor *query, const attn_tensor *key,
                           const attn_tensor *value, const attn_attention_options *options) {
  return query->requires_gradient || key->requires_gradient || value->requires_gradient ||
         (options->bias && options->bias->requires_gradient);
}

/* mask, masked_scores, row_flags, weights from scores; masked_scores goes to *masked. */
static attn_tensor *weigh(attn_tape *tape, const attn_tensor *scores, const attn_mask *mask,
                          attn_tensor **masked) {
  const attn_attention_options *options = mask->options;
  *masked = attn_apply_mask(tape, scores, mask);
  if (!*masked) return NULL;
  attn_row_flags(tape, *masked, (*masked)->inputs[1], options->fill_mode);
  return attn_normalise_scores(
      tape, *masked, options->normalise,
      options->fill_mode == ATTN_FILL_GIVEN && (attn_real)options->fill == ATTN_MINUS_INFINITY);
}

attn_tensor *attn_masked_softmax(attn_tape *tape, const attn_tensor *scores,
                                 const attn_attention_options *options) {
  attn_mask mask;
  attn_tensor *masked;
  if (!ATTN_READY(tape, scores) || !check_options(tape, options)) return NULL;
  if (scores->rank != 4)
    return attn_fail(tape, ATTN_BAD_SHAPE, "scores have %d axes; they must be [B, h, Tq, Tk]",
                     scores->rank);
  const int32_t *size = scores->shape;
  if (!attn_mask_make(tape, &mask, size[0], size[1], size[2], size[3], options)) return NULL;
  return weigh(tape, scores, &mask, &masked);
}

attn_tensor *attn_attention_named(attn_tape *tape, const char *name, const attn_tensor *query,
                                  const attn_tensor *key, const attn_tensor *value,
                                  const attn_attention_options *options) {
  attn_mask mask;
  if (!ATTN_READY(tape, query, key, value) || !check_options(tape, options) ||
      !check_tensors(tape, query, key, value) ||
      !attn_mask_make(tape, &mask, query->shape[0], query->shape[1], query->shape[2], key->shape[2],
                      options))
    return NULL;
  const attn_real factor = factor_of(options, query->shape[3]);
  if (!prepare(tape, &query, &key, options)) return NULL;
  if (query->shape[3] != key->shape[3])
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s has the width %d, %s %d; they must agree",
                     query->name, query->shape[3], key->name, key->shape[3]);

  if (!options->need_weights && is_dot(options->score) &&
      options->normalise == ATTN_NORMALISE_SOFTMAX && options->fill_mode == ATTN_FILL_EXCLUDE &&
      !needs_gradient(query, key, value, options))
    return attn_fused_attention(tape, name, query, key, value, factor, &mask);

  attn_tensor *masked;
  const attn_tensor *raw = raw_scores(tape, query, key, options);
  const attn_tensor *scores = attn_scale_by(tape, "scores", raw, factor);
  if (!scores) return NULL;
  const attn_tensor *weights = weigh(tape, scores, &mask, &masked);
  weights = attn_dropout(tape, ATTN_DROPPED_WEIGHTS, weights, options->dropout, options->seed);
  return attn_mix(tape, name, weights, value, masked);
}

attn_tensor *attn_attention(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                            const attn_tensor *value, const attn_attention_options *options) {
  return attn_attention_named(tape, "output", query, key, value, options);
}
