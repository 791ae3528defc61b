/* The known answer: every function once on fixed inputs, all result bits in one hash.
 *
 * It tells whether this build, on this machine, computes what every other one does. Tests ask for
 * the whole. At load there is time for a part only, for a function is compiled when it is first
 * called. */
#include "ops/ops.h"
#include "tape/hash.h"

static uint32_t hash_tape(uint32_t hash, const attn_tape *tape) {
  for (const attn_tensor *tensor = attn_tape_first(tape); tensor; tensor = tensor->next)
    hash = attn_hash_numbers(hash, tensor->data, attn_length(tensor));
  return attn_hash_word(hash, (uint32_t)attn_tape_status(tape));
}

/* Uniform in [-½, ½). */
static attn_tensor *numbers(attn_tape *tape, const char *name, attn_shape shape) {
  attn_tensor *out =
      attn_random(tape, name, shape.rank, shape.size, shape.axes, 7, ATTN_DISTRIBUTION_UNIFORM);
  if (!out) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(out); i++) out->data[i] -= (attn_real)0.5;
  return out;
}

static uint32_t test_attention(uint32_t hash, attn_tape *tape, int32_t score, int32_t normalise) {
  attn_tape_reset(tape);
  attn_attention_options options = attn_attention_defaults();
  options.score = score;
  options.normalise = normalise;
  options.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
  options.window_left = 9;
  options.global_tokens = 1;
  options.dropout = 0.25f;
  options.temperature = 0.75f;
  options.valid_lengths = numbers(tape, "lengths", attn_shape2("B", 2, "Tq", 1));
  options.bias = numbers(tape, "bias", attn_shape4("B", 1, "h", 2, "Tq", 11, "Tk", 1));
  options.alibi_slopes = attn_alibi_slopes(tape, "slopes", 2);
  if (!options.valid_lengths) return 0;
  options.valid_lengths->data[0] = 13;
  options.valid_lengths->data[1] = 6;
  options.score_query_weight = numbers(tape, "w_q", attn_shape2("A", 5, "D", 6));
  options.score_key_weight = numbers(tape, "w_k", attn_shape2("A", 5, "D", 6));
  options.score_value_weight = numbers(tape, "w_v", attn_shape2("A", 1, "D", 5));
  options.score_weight = numbers(tape, "w", attn_shape2("A", 6, "D", 6));
  const attn_tensor *query = numbers(tape, "q", attn_shape4("B", 2, "h", 2, "Tq", 11, "D", 6));
  const attn_tensor *key = numbers(tape, "k", attn_shape4("B", 2, "h", 2, "Tk", 13, "D", 6));
  const attn_tensor *value = numbers(tape, "v", attn_shape4("B", 2, "h", 2, "Tk", 13, "D", 7));
  attn_attention(tape, query, key, value, &options);
  if (score != ATTN_SCORE_SCALED_DOT) return hash_tape(hash, tape);
  options.need_weights = 0;
  attn_scope_enter(tape, "fused");
  attn_attention(tape, query, key, value, &options);
  return hash_tape(hash, tape);
}

static uint32_t test_encoder(uint32_t hash, attn_tape *tape, int32_t norm, int32_t activation) {
  attn_tape_reset(tape);
  attn_encoder_layer_options options = attn_encoder_layer_defaults();
  options.norm = norm;
  options.activation = activation;
  options.attention.heads = 2;
  options.attention.rotary = norm == ATTN_NORM_PRE ? ATTN_PAIRING_INTERLEAVED : ATTN_PAIRING_HALVES;
  const attn_shape square = attn_shape2("H", 12, "H", 12);
  const attn_shape row = attn_shape1("H", 12);
  const attn_encoder_layer_weights weights = {
      .attention = {.query_weight = numbers(tape, "w_q", square),
                    .key_weight = numbers(tape, "w_k", square),
                    .key_bias = numbers(tape, "b_k", row),
                    .value_weight = numbers(tape, "w_v", square),
                    .output_weight = numbers(tape, "w_o", square)},
      .norm1_weight = numbers(tape, "g1", row),
      .norm2_bias = numbers(tape, "b2", row),
      .feed_forward = {.linear1_weight = numbers(tape, "f1", attn_shape2("F", 20, "H", 12)),
                       .linear2_weight = numbers(tape, "f2", attn_shape2("H", 12, "F", 20))}};
  const attn_tensor *x = numbers(tape, "x", attn_shape3("B", 2, "T", 5, "H", 12));
  x = attn_add(tape, "positioned", x, attn_sinusoidal(tape, "position", 5, 12, 1000));
  attn_encoder_layer(tape, x, &weights, &options);
  return hash_tape(hash, tape);
}

static uint32_t test_layer(uint32_t hash, attn_tape *tape, int32_t position, int32_t score) {
  static const int32_t lengths[] = {3, 3, 3, 2};
  const attn_texts source = {"thecatsaton", lengths, 4}, target = {"catthe", lengths, 2};
  attn_tape_reset(tape);
  attn_attention_layer_options options = attn_attention_layer_defaults();
  options.position = position;
  options.bias = 1;
  options.attention.heads = 2;
  options.attention.score = score;
  attn_attention_layer(tape, &source, position == ATTN_POSITION_NONE ? &target : NULL, &options);
  return hash_tape(hash, tape);
}

/* Additive scores, softmax and the mix use every kind of kernel: the matrix product, e^x, tanh,
 * sums and maxima of rows, random numbers. */
uint32_t attn_load_test(attn_tape *tape) {
  const uint32_t hash =
      test_attention(ATTN_HASH_SEED, tape, ATTN_SCORE_ADDITIVE, ATTN_NORMALISE_SOFTMAX);
  attn_tape_reset(tape);
  return hash;
}

uint32_t attn_self_test(attn_tape *tape) {
  uint32_t hash = ATTN_HASH_SEED;
  for (int32_t score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_GAUSSIAN; score++)
    hash = test_attention(hash, tape, score, ATTN_NORMALISE_SOFTMAX);
  hash = test_attention(hash, tape, ATTN_SCORE_DOT, ATTN_NORMALISE_SIGMOID);
  hash = test_attention(hash, tape, ATTN_SCORE_DOT, ATTN_NORMALISE_RELU);
  hash = test_encoder(hash, tape, ATTN_NORM_POST, ATTN_ACTIVATION_RELU);
  hash = test_encoder(hash, tape, ATTN_NORM_PRE, ATTN_ACTIVATION_GELU);
  hash = test_encoder(hash, tape, ATTN_NORM_PRE, ATTN_ACTIVATION_GELU_TANH);
  for (int32_t position = ATTN_POSITION_NONE; position <= ATTN_POSITION_ALIBI; position++)
    hash = test_layer(hash, tape, position, position);
  attn_tape_reset(tape);
  return hash;
}
