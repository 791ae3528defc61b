/* The smallest whole model: tokens in, one multi-head attention, its weights out.
 *
 *   source.input = embedding(source) (+ position)    [T, H] → [1, Tk, H]
 *   target.input likewise for the queries of cross-attention
 *   attention.*  = multi_head_attention(target or source, source, source)
 *
 * Nothing here is learned: embeddings come from the tokens' texts and the seed, weights from their
 * names and the seed, so that equal words have equal vectors and a seed names the whole model. */
#include "ops/ops.h"

attn_attention_layer_options attn_attention_layer_defaults(void) {
  return (attn_attention_layer_options){.attention = attn_attention_defaults(), .hiddens = 16};
}

static attn_tensor *random_matrix(attn_tape *tape, const char *name, attn_shape shape,
                                  uint32_t seed) {
  return attn_random(tape, name, 2, shape.size, shape.axes, seed, ATTN_DISTRIBUTION_XAVIER);
}

static attn_tensor *random_vector(attn_tape *tape, const char *name, int32_t size, uint32_t seed) {
  attn_tensor *vector = attn_random(tape, name, 1, (int32_t[]){size}, (const char *[]){"H"}, seed,
                                    ATTN_DISTRIBUTION_NORMAL);
  return vector;
}

/* [T, H] as a batch of one. */
static attn_tensor *as_batch(attn_tape *tape, const char *name, const attn_tensor *x) {
  if (!ATTN_READY(tape, x)) return NULL;
  attn_tensor *out =
      attn_push(tape, "as_batch", name, attn_shape3("B", 1, "T", x->shape[0], "H", x->shape[1]),
                ATTN_INPUTS(x));
  if (!out) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(x); i++) out->data[i] = x->data[i];
  return attn_finish(tape, out);
}

static attn_tensor *embed(attn_tape *tape, const char *scope, const attn_texts *texts,
                          const attn_attention_layer_options *options) {
  const int32_t hiddens = options->hiddens, length = texts->count;
  const uint32_t seed = options->parameter_seed;
  const int32_t previous = attn_scope_enter(tape, scope);
  const attn_tensor *x = attn_token_embedding(tape, "embedding", texts, hiddens, seed);
  const attn_tensor *position = NULL;
  if (options->position == ATTN_POSITION_SINUSOIDAL)
    position = attn_sinusoidal(tape, "position", length, hiddens, 0);
  if (options->position == ATTN_POSITION_LEARNED)
    position = attn_random(tape, "position", 2, (int32_t[]){length, hiddens},
                           (const char *[]){"T", "H"}, seed, ATTN_DISTRIBUTION_NORMAL);
  if (position) x = attn_add(tape, "positioned", x, position);
  attn_tensor *out = as_batch(tape, "input", x);
  attn_scope_leave(tape, previous);
  return out;
}

static void random_projection(attn_tape *tape, const attn_tensor **weight, const attn_tensor **bias,
                              const char *weight_name, const char *bias_name,
                              const attn_attention_layer_options *options) {
  const uint32_t seed = options->parameter_seed;
  *weight = random_matrix(tape, weight_name,
                          attn_shape2("H", options->hiddens, "H", options->hiddens), seed);
  *bias = options->bias ? random_vector(tape, bias_name, options->hiddens, seed) : NULL;
}

static void random_score_weights(attn_tape *tape, attn_attention_options *attention, int32_t width,
                                 uint32_t seed) {
  if (attention->score == ATTN_SCORE_ADDITIVE) {
    const attn_shape hidden = attn_shape2("A", width, "D", width);
    attention->score_query_weight = random_matrix(tape, "score.query.weight", hidden, seed);
    attention->score_key_weight = random_matrix(tape, "score.key.weight", hidden, seed);
    attention->score_value_weight =
        random_matrix(tape, "score.value.weight", attn_shape2("1", 1, "A", width), seed);
  }
  if (attention->score == ATTN_SCORE_GENERAL)
    attention->score_weight =
        random_matrix(tape, "score.weight", attn_shape2("D", width, "D", width), seed);
}

attn_tensor *attn_attention_layer(attn_tape *tape, const attn_texts *source,
                                  const attn_texts *target,
                                  const attn_attention_layer_options *options) {
  attn_attention_options attention = options->attention;
  const int32_t hiddens = options->hiddens;
  if (hiddens < 1)
    return attn_fail_at(tape, "hiddens", ATTN_BAD_SHAPE, "hiddens %d; there must be at least 1",
                        hiddens);
  if (attention.heads < 1)
    return attn_fail_at(tape, "heads", ATTN_BAD_VALUE, "heads %d; there must be at least 1",
                        attention.heads);
  if (hiddens % attention.heads)
    return attn_fail_at(tape, "heads", ATTN_BAD_SHAPE, "hiddens %d is not a multiple of heads %d",
                        hiddens, attention.heads);
  if (!ATTN_CHECK_CHOICE(tape, "position", options->position, ATTN_POSITION_LIST)) return NULL;
  const attn_tensor *keys = embed(tape, "source", source, options);
  const attn_tensor *queries = target ? embed(tape, "target", target, options) : keys;

  const int32_t previous = attn_scope_enter(tape, "attention");
  attn_multi_head_weights weights;
  random_projection(tape, &weights.query_weight, &weights.query_bias, "query.weight", "query.bias",
                    options);
  random_projection(tape, &weights.key_weight, &weights.key_bias, "key.weight", "key.bias",
                    options);
  random_projection(tape, &weights.value_weight, &weights.value_bias, "value.weight", "value.bias",
                    options);
  random_projection(tape, &weights.output_weight, &weights.output_bias, "output.weight",
                    "output.bias", options);
  random_score_weights(tape, &attention, hiddens / attention.heads, options->parameter_seed);
  if (options->position == ATTN_POSITION_ROTARY) attention.rotary = ATTN_PAIRING_HALVES;
  if (options->position == ATTN_POSITION_ALIBI)
    attention.alibi_slopes = attn_alibi_slopes(tape, "alibi_slopes", attention.heads);
  attn_tensor *output = attn_multi_head_attention(tape, queries, keys, keys, &weights, &attention);
  const attn_tensor *computed = attn_find_after(tape, weights.output_weight, "weights");
  if (output && computed) {
    attn_mean_heads(tape, "mean_weights", computed);
    attn_entropy(tape, "entropy", computed);
  }
  attn_scope_leave(tape, previous);
  return output;
}
