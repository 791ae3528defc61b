/*
 * Bad options and tensors: each is refused with a message that names what was found and what would
 * be right, and with the option at fault as callers write it. Sizes of zero are good.
 */
#include "fixture.h"
#include "ops/ops.h"

static attn_attention_options options;
static const attn_tensor *query, *key, *value;
static attn_multi_head_weights heads_weights;

static void start(void) {
  fresh();
  options = attn_attention_defaults();
}

static void check_option(const char *option) {
  const char *actual = attn_tape_option(tape);
  CLAIM(strcmp(actual, option) == 0, "the option at fault is \"%s\", should be \"%s\"", actual,
        option);
}

/* The call must fail just so; spoiling comes first and may be anything. */
#define REFUSES(call, status, option, message) \
  do {                                         \
    CHECK((call) == NULL);                     \
    CHECK_FAILED(status, message);             \
    check_option(option);                      \
    start();                                   \
  } while (0)

/* ---- attention ---------------------------------------------------------------------------- */

static const attn_tensor *attend(void) {
  query = given("query", SHAPE(2, 3, 4, 5));
  key = given("key", SHAPE(2, 3, 6, 5));
  value = given("value", SHAPE(2, 3, 6, 7));
  return attn_attention(tape, query, key, value, &options);
}

#define SPOILT(field, bad, status, option, message) \
  options.field = bad;                              \
  REFUSES(attend(), status, option, message)

static void numbers_out_of_range_are_refused(void) {
  start();
  SPOILT(temperature, 0, ATTN_BAD_VALUE, "temperature", "temperature 0 must be a number above 0");
  SPOILT(temperature, -1.5f, ATTN_BAD_VALUE, "temperature",
         "temperature -1.5 must be a number above 0");
  SPOILT(temperature, NAN, ATTN_BAD_VALUE, "temperature",
         "temperature NaN must be a number above 0");
  SPOILT(temperature, INFINITY, ATTN_BAD_VALUE, "temperature",
         "temperature Infinity must be a number above 0");
  SPOILT(dropout, 1, ATTN_BAD_VALUE, "dropout", "dropout 1 must be at least 0 and below 1");
  SPOILT(dropout, -0.1f, ATTN_BAD_VALUE, "dropout", "dropout -0.1 must be at least 0 and below 1");
  SPOILT(dropout, NAN, ATTN_BAD_VALUE, "dropout", "dropout NaN must be at least 0 and below 1");
  options.scale_mode = ATTN_SCALE_GIVEN;
  SPOILT(scale, INFINITY, ATTN_BAD_VALUE, "scale", "scale Infinity must be a finite number");
  options.fill_mode = ATTN_FILL_GIVEN;
  SPOILT(fill, NAN, ATTN_BAD_VALUE, "fill", "fill NaN must be a number or -Infinity");
  options.fill_mode = ATTN_FILL_GIVEN;
  SPOILT(fill, INFINITY, ATTN_BAD_VALUE, "fill", "fill Infinity must be a number or -Infinity");
  SPOILT(window_left, -2, ATTN_BAD_VALUE, "window", "window -2 must be at least 0");
  SPOILT(global_tokens, -1, ATTN_BAD_VALUE, "window", "-1 global tokens; there must be at least 0");
}

static void numbers_that_do_not_count_are_not_looked_at(void) {
  start();
  options.scale = NAN, options.fill = NAN, options.rotary_base = NAN;
  CHECK(attend() != NULL);
}

static void unknown_choices_are_refused(void) {
  start();
  SPOILT(score, 6, ATTN_BAD_VALUE, "", "score 6 is unknown; it must be 0 to 5");
  SPOILT(score, -1, ATTN_BAD_VALUE, "", "score -1 is unknown; it must be 0 to 5");
  SPOILT(normalise, 3, ATTN_BAD_VALUE, "", "normalise 3 is unknown; it must be 0 to 2");
  SPOILT(causal, 3, ATTN_BAD_VALUE, "", "causal 3 is unknown; it must be 0 to 2");
  SPOILT(scale_mode, 3, ATTN_BAD_VALUE, "", "scale mode 3 is unknown; it must be 0 to 2");
  SPOILT(fill_mode, 2, ATTN_BAD_VALUE, "", "fill mode 2 is unknown; it must be 0 to 1");
  SPOILT(rotary, 3, ATTN_BAD_VALUE, "", "rotary pairing 3 is unknown; it must be 0 to 2");
}

static void masks_name_their_option(void) {
  start();
  options.mask = given("m", SHAPE(2, 3, 4, 5));
  REFUSES(attend(), ATTN_BAD_SHAPE, "mask",
          "mask is [2, 3, 4, 5] as [B, h, Tq, Tk]; each size must be 1 or that of the scores, "
          "[2, 3, 4, 6]");
  options.bias = given("b", SHAPE(6));
  REFUSES(attend(), ATTN_BAD_SHAPE, "bias", "bias has 1 axes; it must have 4");
  options.valid_lengths = given("v", SHAPE(3));
  REFUSES(attend(), ATTN_BAD_SHAPE, "validLens",
          "valid lengths have the shape [3, 1]; they must be [B] = [2] or [B, Tq] = [2, 4]");
  options.valid_lengths = given("v", SHAPE(2, 1));
  options.valid_lengths->data[0] = 1, options.valid_lengths->data[1] = 7;
  REFUSES(attend(), ATTN_BAD_VALUE, "validLens",
          "valid length 7 is not a whole number from 0 to the 6 keys");
}

static const attn_tensor *attend_shapes(const int32_t *q, const int32_t *k, const int32_t *v) {
  query = given("q", 4, q), key = given("k", 4, k), value = given("v", 4, v);
  return attn_attention(tape, query, key, value, &options);
}

#define FOUR(...) \
  (int32_t[]) { __VA_ARGS__ }

static void tensors_that_do_not_fit_each_other_are_refused(void) {
  start();
  REFUSES(attend_shapes(FOUR(2, 3, 4, 5), FOUR(1, 3, 6, 5), FOUR(1, 3, 6, 5)), ATTN_BAD_SHAPE, "",
          "query, key and value have 2, 1 and 1 batches; they must agree");
  REFUSES(attend_shapes(FOUR(2, 3, 4, 5), FOUR(2, 3, 6, 5), FOUR(2, 1, 6, 5)), ATTN_BAD_SHAPE, "",
          "query, key and value have 3, 3 and 1 heads; they must agree");
  REFUSES(attend_shapes(FOUR(2, 3, 4, 5), FOUR(2, 3, 6, 5), FOUR(2, 3, 7, 5)), ATTN_BAD_SHAPE, "",
          "there are 6 keys and 7 values; they must agree");
  REFUSES(attend_shapes(FOUR(2, 3, 4, 5), FOUR(2, 3, 6, 4), FOUR(2, 3, 6, 5)), ATTN_BAD_SHAPE, "",
          "q has the width 5, k 4; they must agree");
  REFUSES(attend_shapes(FOUR(2, 3, 4, 0), FOUR(2, 3, 6, 0), FOUR(2, 3, 6, 5)), ATTN_BAD_SHAPE, "",
          "q has the width 0; it must be at least 1");
  REFUSES(attend_shapes(FOUR(2, 3, 4, 5), FOUR(2, 3, 6, 5), FOUR(2, 3, 6, 0)), ATTN_BAD_SHAPE, "",
          "v has the width 0; it must be at least 1");
  query = given("x", SHAPE(3, 4, 5));
  REFUSES(attn_attention(tape, query, query, query, &options), ATTN_BAD_SHAPE, "",
          "x has 3 axes; attention needs [B, h, T, D]");
  query = given("x", SHAPE(3, 4, 5));
  REFUSES(attn_masked_softmax(tape, query, &options), ATTN_BAD_SHAPE, "",
          "scores have 3 axes; they must be [B, h, Tq, Tk]");
}

static void scores_without_their_weights_are_refused(void) {
  start();
  SPOILT(score, ATTN_SCORE_ADDITIVE, ATTN_BAD_VALUE, "params",
         "the additive score needs the weights query, key and value");
  SPOILT(score, ATTN_SCORE_GENERAL, ATTN_BAD_VALUE, "params", "the general score needs a weight");
  options.score_weight = given("w", SHAPE(5, 6));
  SPOILT(score, ATTN_SCORE_GENERAL, ATTN_BAD_SHAPE, "",
         "w has the shape [5, 6]; it must be [out, 5] to fit key");
  options.score_weight = given("w", SHAPE(4, 5));
  SPOILT(score, ATTN_SCORE_GENERAL, ATTN_BAD_SHAPE, "",
         "query has the width 5, key_features 4; they must agree");
  options.score_width = given("width", SHAPE(5));
  SPOILT(score, ATTN_SCORE_GAUSSIAN, ATTN_BAD_SHAPE, "",
         "the Gaussian score's width has 5 elements, not 1");
  options.score_query_weight = options.score_key_weight = given("w", SHAPE(8, 5));
  options.score_value_weight = given("w_v", SHAPE(8, 1));
  SPOILT(score, ATTN_SCORE_ADDITIVE, ATTN_BAD_SHAPE, "",
         "the additive score's value weight has the shape [8, 1]; it must be [1, 8]");
}

/* ---- multi-head attention, layers --------------------------------------------------------- */

static const attn_tensor *attend_heads(void) {
  const attn_tensor *x = given("x", SHAPE(2, 4, 6)), *square = given("w", SHAPE(6, 6));
  if (!heads_weights.query_weight) heads_weights.query_weight = square;
  heads_weights.key_weight = heads_weights.value_weight = square;
  heads_weights.output_weight = square;
  return attn_multi_head_attention(tape, x, x, x, &heads_weights, &options);
}

static void start_heads(void) {
  start();
  heads_weights = (attn_multi_head_weights){0};
}

static void multi_head_attention_names_what_does_not_fit(void) {
  start_heads();
  options.heads = 4;
  REFUSES(attend_heads(), ATTN_BAD_SHAPE, "heads", "hiddens 6 is not a multiple of heads 4");
  start_heads();
  options.heads = 0;
  REFUSES(attend_heads(), ATTN_BAD_VALUE, "heads", "heads 0; there must be at least 1");
  start_heads();
  options.heads = 7;
  REFUSES(attend_heads(), ATTN_BAD_SHAPE, "heads", "hiddens 6 is not a multiple of heads 7");
  start_heads();
  heads_weights.query_weight = given("w_q", SHAPE(8, 6));
  REFUSES(attend_heads(), ATTN_BAD_SHAPE, "params",
          "queries are projected to 8 hiddens, keys to 6; they must agree");
  start_heads();
  heads_weights.query_bias = given("b_q", SHAPE(5));
  REFUSES(attend_heads(), ATTN_BAD_SHAPE, "", "b_q has 5 elements; its weight has 6 rows");
  start_heads();
  options.heads = 2;
  options.rotary = ATTN_PAIRING_HALVES;
  REFUSES(attend_heads(), ATTN_BAD_SHAPE, "", "rotary positions need an even width; query has 3");
  start_heads();
  options.head_mask = given("head_mask", SHAPE(3));
  REFUSES(attend_heads(), ATTN_BAD_SHAPE, "headMask",
          "the head mask must be a list of 1, one for each head; it has the rank 1 and 3 elements");
  start_heads();
  const attn_tensor *x = given("x", SHAPE(1, 2, 4, 6));
  REFUSES(attn_multi_head_attention(tape, x, x, x, &heads_weights, &options), ATTN_BAD_SHAPE, "",
          "x has 4 axes; multi-head attention needs [B, T, D]");
  x = given("x", SHAPE(2, 4, 6));
  REFUSES(attn_multi_head_attention(tape, x, x, x, &(attn_multi_head_weights){0}, &options),
          ATTN_BAD_VALUE, "params",
          "multi-head attention needs the weights query, key, value and output");
}

static void layers_name_what_does_not_fit(void) {
  start();
  const attn_tensor *x = given("x", SHAPE(2, 6));
  REFUSES(attn_layer_norm(tape, "y", x, NULL, NULL, 0), ATTN_BAD_VALUE, "eps",
          "eps 0 must be a number above 0");
  x = given("x", SHAPE(2, 6));
  REFUSES(attn_layer_norm(tape, "y", x, given("g", SHAPE(5)), NULL, 1), ATTN_BAD_SHAPE, "weight",
          "the layer norm's weight must be a list of 6; it has the rank 1 and 5 elements");
  x = given("x", SHAPE(2, 0));
  REFUSES(attn_layer_norm(tape, "y", x, NULL, NULL, 1), ATTN_BAD_SHAPE, "",
          "x has rows of width 0; a layer norm needs at least 1");
  x = given("x", SHAPE(2, 6));
  REFUSES(attn_activate(tape, "y", x, 3), ATTN_BAD_VALUE, "",
          "activation 3 is unknown; it must be 0 to 2");
  x = given("x", SHAPE(2, 6));
  REFUSES(attn_rotary(tape, "y", x, NULL, 0, ATTN_PAIRING_NONE, 10000), ATTN_BAD_VALUE, "",
          "pairing 0 is neither halves nor interleaved");
  x = given("x", SHAPE(2, 6));
  REFUSES(attn_rotary(tape, "y", x, NULL, 0, 1, 0.5f), ATTN_BAD_VALUE, "base",
          "rotary base 0.5 must be a number of at least 1");
  attn_tensor *positions = given("positions", SHAPE(2));
  positions->data[1] = NAN;
  x = given("x", SHAPE(2, 6));
  REFUSES(attn_rotary(tape, "y", x, positions, 0, 1, 10), ATTN_BAD_VALUE, "positions",
          "position NaN must lie between -2^31 and 2^31");
  REFUSES(attn_alibi_slopes(tape, "slopes", 0), ATTN_BAD_VALUE, "",
          "heads 0; there must be at least 1");
  attn_encoder_layer_options layer = attn_encoder_layer_defaults();
  layer.norm = 2;
  x = given("x", SHAPE(1, 2, 6));
  REFUSES(attn_encoder_layer(tape, x, &(attn_encoder_layer_weights){0}, &layer), ATTN_BAD_VALUE, "",
          "norm 2 is neither post nor pre");
  x = given("x", SHAPE(1, 2, 6));
  REFUSES(attn_feed_forward(tape, x, &(attn_feed_forward_weights){0}, 0), ATTN_BAD_VALUE, "params",
          "the feed-forward network needs the weights linear1 and linear2");
}

/* ---- sizes of zero ------------------------------------------------------------------------ */

static void no_keys_give_zeros_and_empty_rows(void) {
  for (int32_t need_weights = 0; need_weights < 2; need_weights++) {
    start();
    options.need_weights = need_weights;
    const attn_tensor *output = attend_shapes(FOUR(2, 1, 3, 4), FOUR(2, 1, 0, 4), FOUR(2, 1, 0, 5));
    CHECK_OK();
    CHECK(output && attn_length(output) == 30);
    for (int i = 0; i < 30; i++) CHECK_BITS(output->data[i], 0);
    for (int i = 0; i < 6; i++) CHECK_EQUAL(found("row_flags")->data[i], ATTN_ROW_EMPTY);
  }
}

static void no_queries_no_heads_or_no_batch_give_an_empty_output(void) {
  static const int32_t sizes[][3] = {{2, 3, 0}, {2, 0, 4}, {0, 3, 4}, {0, 0, 0}};
  for (int trial = 0; trial < 4 * 6 * 2; trial++) {
    start();
    const int32_t *size = sizes[trial % 4];
    options.score = trial / 4 % 6;
    options.need_weights = trial / 24;
    options.dropout = 0.5f;
    options.score_weight = options.score_query_weight = options.score_key_weight =
        given("w", SHAPE(5, 5));
    options.score_value_weight = given("w_v", SHAPE(1, 5));
    const attn_tensor *output =
        attend_shapes(FOUR(size[0], size[1], size[2], 5), FOUR(size[0], size[1], 6, 5),
                      FOUR(size[0], size[1], 6, 7));
    NOTE("trial %d", trial);
    CHECK_OK();
    CHECK(output && attn_length(output) == 0 && output->shape[3] == 7);
  }
}

static void layers_take_empty_tensors(void) {
  start();
  const attn_tensor *x = given("x", SHAPE(2, 0, 6)), *weight = given("w", SHAPE(4, 6));
  CHECK(attn_linear(tape, "linear", x, weight, NULL)->shape[2] == 4);
  CHECK(attn_layer_norm(tape, "norm", x, NULL, NULL, 1) != NULL);
  CHECK(attn_activate(tape, "relu", x, 0) != NULL);
  CHECK(attn_rotary(tape, "rotary", x, NULL, 0, 1, 10) != NULL);
  CHECK(attn_sinusoidal(tape, "sinusoidal", 0, 3, 0) != NULL);
  const attn_tensor *zeros = attn_linear(tape, "zeros", given("none", SHAPE(3, 0)),
                                         given("no columns", SHAPE(2, 0)), NULL);
  for (int i = 0; i < 6; i++) CHECK_BITS(zeros->data[i], 0);
  CHECK_OK();
}

static void what_is_missing_is_a_failure(void) {
  start();
  const attn_tensor *x = given("x", SHAPE(1, 1, 2, 3));
  const attn_transformer_batch batch = {.source = x, .target = x};
  const attn_decode_options decoding = attn_decode_defaults();
  const attn_training_options training = attn_training_defaults();
#define MISSES(call) REFUSES(call, ATTN_BAD_VALUE, "", "NULL where a tensor or a model is needed")
  MISSES(attn_attention(tape, x, NULL, x, &options));
  MISSES(attn_linear(tape, "linear", x, NULL, NULL));
  MISSES(attn_input_ready(tape, NULL));
  MISSES(attn_transformer_forward(tape, NULL, &batch, false, 0));
  MISSES(attn_seq2seq_forward(tape, NULL, &batch, false, 0));
  MISSES(attn_kernel_regression_forward(tape, NULL, x, x, x, false));
  MISSES(attn_decode(tape, NULL, x, x, &decoding));
  MISSES(attn_seq2seq_translate(tape, NULL, x, NULL, x, &decoding));
  MISSES(attn_consistency(tape, NULL, x, x, 1, 0, 0));
  CHECK_EQUAL(attn_train_step(tape, NULL, given("loss", SHAPE(1)), &training), ATTN_BAD_VALUE);
  start();
  CHECK_EQUAL(attn_backward(tape, NULL), ATTN_BAD_VALUE);
  start();
  attn_training_restart(NULL);
  CHECK_EQUAL(attn_counted_tokens(NULL), 0);
  CHECK_EQUAL(attn_counted_tokens(given("x", SHAPE(1))), 0);
  const attn_texts texts = {.bytes = "ab", .lengths = FOUR(2, -1), .count = 2};
  REFUSES(attn_token_embedding(tape, "embedding", &texts, 4, 0), ATTN_BAD_VALUE, "",
          "text 1 has a length of -1 bytes");
}

int main(void) {
  RUN(numbers_out_of_range_are_refused);
  RUN(numbers_that_do_not_count_are_not_looked_at);
  RUN(unknown_choices_are_refused);
  RUN(masks_name_their_option);
  RUN(tensors_that_do_not_fit_each_other_are_refused);
  RUN(scores_without_their_weights_are_refused);
  RUN(multi_head_attention_names_what_does_not_fit);
  RUN(layers_name_what_does_not_fit);
  RUN(no_keys_give_zeros_and_empty_rows);
  RUN(no_queries_no_heads_or_no_batch_give_an_empty_output);
  RUN(layers_take_empty_tensors);
  RUN(what_is_missing_is_a_failure);
  return report();
}
