/*
 * The gradient of each operation against central differences: alone, then inside attention under
 * every mask, then inside the layers. Each test declares parameters, then a function that computes
 * the output from them.
 */
#include "derivative.h"
#include "ops/ops.h"

static attn_tensor *x, *y, *weight, *bias; /* of the running test */
static attn_attention_options options;
static int32_t choice;

/* Away from 0, where relu has no derivative. */
static void keep_from_zero(attn_tensor *tensor) {
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++)
    tensor->data[i] += (attn_real)(tensor->data[i] < 0 ? -0.1 : 0.1);
}

/* Written over in some cells: no gradient flows through these. */
static void edit(const char *name, int32_t rank, const int32_t *at) {
  attn_override(tape, name, rank, at, (attn_real)0.25);
}

/* ---- each operation alone ------------------------------------------------------------------ */

static const attn_tensor *linear(void) { return attn_linear(tape, "out", x, weight, bias); }

static void linear_layers(void) {
  for (int32_t edited = 0; edited < 2; edited++) {
    fresh();
    x = learned("x", SHAPE(2, 3, 5)), weight = learned("weight", SHAPE(4, 5));
    bias = learned("bias", SHAPE(4));
    if (edited) edit("out", SHAPE(1, -1, 2));
    CHECK_GRADIENTS_OF(linear);
  }
  fresh();
  x = learned("x", SHAPE(1, 300)), weight = given("weight", SHAPE(9, 300)), bias = NULL;
  CHECK_GRADIENTS_OF(linear);
  fresh();
  x = given("x", SHAPE(300, 1)), weight = learned("weight", SHAPE(1, 1));
  CHECK_GRADIENTS_OF(linear);
}

static const attn_tensor *add(void) { return attn_add(tape, "out", x, y); }

static void sums_along_axes_that_are_missing(void) {
  for (int32_t rank = 0; rank <= 3; rank++) {
    fresh();
    NOTE("rank %d", rank);
    const int32_t shape[] = {2, 3, 4};
    x = learned("x", 3, shape), y = learned("y", rank, shape + 3 - rank);
    CHECK_GRADIENTS_OF(add);
  }
  fresh();
  x = y = learned("x", SHAPE(2, 3));
  edit("out", SHAPE(1, 1));
  CHECK_GRADIENTS_OF(add);
}

static const attn_tensor *scale(void) { return attn_scale_by(tape, "out", x, (attn_real)-1.5); }

static void scaling(void) {
  fresh();
  x = learned("x", SHAPE(2, 3));
  edit("out", SHAPE(0, -1));
  CHECK_GRADIENTS_OF(scale);
}

static const attn_tensor *layer_norm(void) {
  return attn_layer_norm(tape, "out", x, weight, bias, 1e-5f);
}

static void layer_norms_with_and_without_weight_and_bias(void) {
  for (int32_t kind = 0; kind < 4; kind++)
    for (int32_t width = 3; width <= 9; width++) {
      fresh();
      NOTE("kind %d, width %d", kind, width);
      x = learned("x", SHAPE(2, 2, width));
      weight = kind & 1 ? learned("weight", SHAPE(width)) : NULL;
      bias = kind & 2 ? learned("bias", SHAPE(width)) : NULL;
      for (int32_t i = 0; i < 4 * width; i++) x->data[i] += (attn_real)(i % 2);
      if (width == 5) edit("out", SHAPE(1, -1, 3));
      CHECK_GRADIENTS_OF(layer_norm);
    }
  fresh();
  x = given("x", SHAPE(3, 6)), weight = learned("weight", SHAPE(6)), bias = NULL;
  CHECK_GRADIENTS_OF(layer_norm);
}

static const attn_tensor *activate(void) { return attn_activate(tape, "out", x, choice); }

static void activations(void) {
  for (choice = ATTN_ACTIVATION_RELU; choice <= ATTN_ACTIVATION_GELU_TANH; choice++) {
    fresh();
    NOTE("activation %d", choice);
    x = learned("x", SHAPE(3, 7));
    for (int32_t i = 0; i < 21; i++) x->data[i] *= 4;
    keep_from_zero(x);
    edit("out", SHAPE(2, 2));
    CHECK_GRADIENTS_OF(activate);
  }
}

static const attn_tensor *normalise(void) { return attn_normalise_scores(tape, x, choice, false); }

static void normalisers_with_masked_cells_and_an_empty_row(void) {
  for (int32_t edited = 0; edited < 2; edited++)
    for (choice = ATTN_NORMALISE_SOFTMAX; choice <= ATTN_NORMALISE_RELU; choice++)
      for (int32_t keys = 2; keys <= 9; keys++) {
        fresh();
        NOTE("normalise %d, %d keys", choice, keys);
        x = learned("x", SHAPE(1, 2, 3, keys));
        keep_from_zero(x);
        for (int32_t j = 0; j < keys; j++) x->data[keys + j] = ATTN_MINUS_INFINITY;
        x->data[4 * keys - 1] = ATTN_MINUS_INFINITY;
        if (edited) edit("weights", SHAPE(0, -1, 2, 1));
        CHECK_GRADIENTS_OF(normalise);
        for (int32_t j = 0; j < keys; j++) CHECK_BITS(x->gradient[keys + j], 0);
        CHECK_BITS(x->gradient[4 * keys - 1], 0);
      }
}

static const attn_tensor *mix(void) {
  const attn_tensor *masked = given("masked", 4, x->shape);
  return attn_mix(tape, "out", x, y, masked);
}

static void mixing(void) {
  fresh();
  x = learned("x", SHAPE(2, 2, 3, 5)), y = learned("y", SHAPE(2, 2, 5, 4));
  edit("out", SHAPE(1, 0, -1, 2));
  CHECK_GRADIENTS_OF(mix);
}

static const attn_tensor *score(void) {
  return choice == ATTN_SCORE_ADDITIVE   ? attn_additive_scores(tape, x, y, weight)
         : choice == ATTN_SCORE_GAUSSIAN ? attn_gaussian_scores(tape, x, y, weight)
                                         : attn_dot_scores(tape, x, y);
}

static void scores_of_query_key_and_weight(void) {
  for (choice = ATTN_SCORE_SCALED_DOT; choice <= ATTN_SCORE_GAUSSIAN; choice++)
    for (int32_t width = 1; width <= 6; width++) {
      fresh();
      NOTE("score %d, width %d", choice, width);
      x = learned("x", SHAPE(2, 2, 3, width)), y = learned("y", SHAPE(2, 2, 4, width));
      weight = learned("weight", SHAPE(1, choice == ATTN_SCORE_ADDITIVE ? width : 1));
      if (width == 3) edit("raw_scores", SHAPE(1, -1, 0, 2));
      CHECK_GRADIENTS_OF(score);
    }
  fresh();
  choice = ATTN_SCORE_GAUSSIAN, weight = NULL;
  x = learned("x", SHAPE(1, 1, 3, 2)), y = learned("y", SHAPE(1, 1, 4, 2));
  CHECK_GRADIENTS_OF(score);
}

static const attn_tensor *unit_rows(void) { return attn_unit_rows(tape, "out", x); }

static void rows_of_length_1(void) {
  fresh();
  x = learned("x", SHAPE(3, 5));
  keep_from_zero(x);
  edit("out", SHAPE(1, 2));
  CHECK_GRADIENTS_OF(unit_rows);
  fresh();
  x = learned("x", SHAPE(1, 2));
  x->data[0] = x->data[1] = 0;
  attn_backward(tape, loss_of(unit_rows()));
  CHECK_BITS(x->gradient[0], 0);
}

static const attn_tensor *drop(void) { return attn_dropout(tape, "out", x, 0.4f, 7); }

static void dropout_with_a_fixed_seed(void) {
  fresh();
  x = learned("x", SHAPE(3, 11));
  edit("out", SHAPE(2, -1));
  CHECK_GRADIENTS_OF(drop);
}

static const attn_tensor *split(void) { return attn_split_heads(tape, "out", x, 3, "T"); }
static const attn_tensor *merge(void) { return attn_merge_heads(tape, "out", x); }
static const attn_tensor *mask_heads(void) { return attn_mask_heads(tape, "out", x, weight); }
static const attn_tensor *mean_heads(void) { return attn_mean_heads(tape, "out", x); }

static void heads(void) {
  fresh();
  x = learned("x", SHAPE(2, 4, 6));
  edit("out", SHAPE(1, 2, -1, 0));
  CHECK_GRADIENTS_OF(split);
  fresh();
  x = learned("x", SHAPE(2, 3, 4, 2)), weight = learned("weight", SHAPE(3));
  weight->data[1] = 0;
  edit("out", SHAPE(0, 2, -1));
  CHECK_GRADIENTS_OF(merge);
  fresh();
  x = learned("x", SHAPE(2, 3, 4, 2)), weight = learned("weight", SHAPE(3));
  weight->data[1] = 0;
  CHECK_GRADIENTS_OF(mask_heads);
  fresh();
  x = learned("x", SHAPE(2, 3, 4, 2));
  edit("out", SHAPE(0, 2, -1));
  CHECK_GRADIENTS_OF(mean_heads);
}

static const attn_tensor *entropy(void) { return attn_entropy(tape, "out", x); }

static void entropy_of_weights(void) {
  fresh();
  x = learned("x", SHAPE(1, 2, 3, 5));
  for (int32_t i = 0; i < 30; i++) x->data[i] += (attn_real)1.5;
  edit("out", SHAPE(0, 1, 1));
  CHECK_GRADIENTS_OF(entropy);
  attn_gradients_zero(tape);
  x->data[7] = 0;
  attn_backward(tape, loss_of(entropy()));
  CHECK_BITS(x->gradient[7], 0);
}

static const attn_tensor *rotate(void) { return attn_rotary(tape, "out", x, y, 3, choice, 100); }

static void rotary_positions(void) {
  for (choice = ATTN_PAIRING_HALVES; choice <= ATTN_PAIRING_INTERLEAVED; choice++)
    for (int32_t listed = 0; listed < 2; listed++) {
      fresh();
      NOTE("pairing %d, listed %d", choice, listed);
      x = learned("x", SHAPE(2, 2, 3, 6));
      y = listed ? given("positions", SHAPE(3)) : NULL;
      edit("out", SHAPE(0, 1, -1, 4));
      CHECK_GRADIENTS_OF(rotate);
    }
}

/* ---- attention under every mask ------------------------------------------------------------ */

enum { BATCH = 2, HEADS = 2, QUERIES = 3, KEYS = 4, WIDTH = 3, FEATURES = 5 };

static attn_tensor *query, *key, *value;

static const attn_tensor *attend(void) { return attn_attention(tape, query, key, value, &options); }

static void declare_attention(int32_t kind) {
  fresh();
  query = learned("query", SHAPE(BATCH, HEADS, QUERIES, WIDTH));
  key = learned("key", SHAPE(BATCH, HEADS, KEYS, WIDTH));
  value = learned("value", SHAPE(BATCH, HEADS, KEYS, 2));
  options = attn_attention_defaults();
  options.score = kind;
  if (kind == ATTN_SCORE_ADDITIVE) {
    options.score_query_weight = learned("query.weight", SHAPE(FEATURES, WIDTH));
    options.score_key_weight = learned("key.weight", SHAPE(FEATURES, WIDTH));
    options.score_value_weight = learned("value.weight", SHAPE(1, FEATURES));
  }
  if (kind == ATTN_SCORE_GENERAL) options.score_weight = learned("w", SHAPE(WIDTH, WIDTH));
  if (kind == ATTN_SCORE_GAUSSIAN) options.score_width = learned("width", SHAPE(1));
}

static const attn_tensor *cells(int32_t rank, const int32_t *shape) {
  attn_tensor *tensor = given("mask", rank, shape);
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) tensor->data[i] = tensor->data[i] > 0;
  return tensor;
}

static const attn_tensor *lengths(int32_t rank, const int32_t *shape) {
  attn_tensor *tensor = given("lengths", rank, shape);
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++)
    tensor->data[i] = (attn_real)random_below(KEYS + 1);
  return tensor;
}

static attn_tensor *spread_bias(int32_t rank, const int32_t *shape) {
  attn_tensor *tensor = learned("bias", rank, shape);
  tensor->data[0] = ATTN_MINUS_INFINITY;
  return tensor;
}

enum { SETTINGS = 18 };

static void set(int32_t setting) {
  switch (setting) {
    case 1:
      options.valid_lengths = lengths(SHAPE(BATCH, 1));
      break;
    case 2:
      options.valid_lengths = lengths(SHAPE(BATCH, QUERIES));
      break;
    case 3:
      options.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
      break;
    case 4:
      options.causal = ATTN_CAUSAL_TOP_LEFT;
      break;
    case 5:
      options.window_left = 1, options.window_right = 0;
      break;
    case 6:
      options.window_left = options.window_right = 0, options.global_tokens = 1;
      break;
    case 7:
      options.mask = cells(SHAPE(BATCH, HEADS, QUERIES, KEYS));
      break;
    case 8:
      options.mask = cells(SHAPE(1, HEADS, 1, KEYS));
      break;
    case 9:
      options.bias = spread_bias(SHAPE(BATCH, HEADS, QUERIES, KEYS));
      break;
    case 10:
      options.bias = spread_bias(SHAPE(1, HEADS, 1, KEYS));
      break;
    case 11:
      options.bias = spread_bias(SHAPE(BATCH, 1, QUERIES, 1));
      break;
    case 12:
      options.alibi_slopes = attn_alibi_slopes(tape, "slopes", HEADS);
      break;
    case 13:
      options.dropout = 0.3f, options.seed = 5;
      break;
    case 14:
      options.scale_mode = ATTN_SCALE_GIVEN, options.scale = 0.7f;
      break;
    case 15:
      options.temperature = 2;
      break;
    case 16:
      options.fill_mode = ATTN_FILL_GIVEN, options.fill = -3;
      options.valid_lengths = lengths(SHAPE(BATCH, QUERIES));
      options.bias = spread_bias(SHAPE(1, HEADS, QUERIES, KEYS));
      break;
    case 17:
      options.valid_lengths = lengths(SHAPE(BATCH, 1)), options.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
      options.bias = spread_bias(SHAPE(1, 1, QUERIES, KEYS)), options.dropout = 0.3f;
      options.alibi_slopes = attn_alibi_slopes(tape, "slopes", HEADS);
      break;
    default:
      break;
  }
}

static void attention_of_every_score_under_every_mask(void) {
  for (int32_t kind = ATTN_SCORE_SCALED_DOT; kind <= ATTN_SCORE_GAUSSIAN; kind++)
    for (int32_t setting = 0; setting < SETTINGS; setting++) {
      declare_attention(kind);
      set(setting);
      NOTE("score %d, setting %d", kind, setting);
      CHECK_GRADIENTS_OF(attend);
    }
}

/* A float's step is so wide that some score crosses relu's corner. */
static void attention_of_every_normaliser(void) {
  const int32_t last =
      sizeof(attn_real) == sizeof(float) ? ATTN_NORMALISE_SIGMOID : ATTN_NORMALISE_RELU;
  for (int32_t normaliser = ATTN_NORMALISE_SOFTMAX; normaliser <= last; normaliser++)
    for (int32_t setting = 0; setting < SETTINGS; setting++) {
      declare_attention(ATTN_SCORE_SCALED_DOT);
      options.normalise = normaliser;
      for (ptrdiff_t i = 0; i < attn_length(query); i++) query->data[i] *= 3;
      set(setting);
      NOTE("normalise %d, setting %d", normaliser, setting);
      CHECK_GRADIENTS_OF(attend);
    }
}

static void attention_edited_at_every_step(void) {
  static const char *const names[] = {"raw_scores", "scores",          "masked_scores",
                                      "weights",    "dropped_weights", "output"};
  for (int32_t i = 0; i < 6; i++)
    for (int32_t whole = 0; whole < 2; whole++) {
      declare_attention(ATTN_SCORE_SCALED_DOT);
      set(17);
      edit(names[i], SHAPE(1, 0, whole ? -1 : 2, 1));
      NOTE("%s edited, whole %d", names[i], whole);
      CHECK_GRADIENTS_OF(attend);
    }
}

/* ---- layers -------------------------------------------------------------------------------- */

static attn_encoder_layer_weights layer;
static attn_encoder_layer_options layer_options;

static const attn_tensor *encode(void) {
  return attn_encoder_layer(tape, x, &layer, &layer_options);
}

static attn_multi_head_weights multi_head(int32_t hiddens) {
  return (attn_multi_head_weights){.query_weight = learned("q.weight", SHAPE(hiddens, hiddens)),
                                   .query_bias = learned("q.bias", SHAPE(hiddens)),
                                   .key_weight = learned("k.weight", SHAPE(hiddens, hiddens)),
                                   .value_weight = learned("v.weight", SHAPE(hiddens, hiddens)),
                                   .value_bias = learned("v.bias", SHAPE(hiddens)),
                                   .output_weight = learned("o.weight", SHAPE(hiddens, hiddens)),
                                   .output_bias = learned("o.bias", SHAPE(hiddens))};
}

static void an_encoder_layer(void) {
  for (int32_t norm = ATTN_NORM_POST; norm <= ATTN_NORM_PRE; norm++) {
    fresh();
    NOTE("norm %d", norm);
    x = learned("x", SHAPE(2, 3, 4));
    layer = (attn_encoder_layer_weights){
        .attention = multi_head(4),
        .norm1_weight = learned("norm1.weight", SHAPE(4)),
        .norm1_bias = learned("norm1.bias", SHAPE(4)),
        .norm2_weight = learned("norm2.weight", SHAPE(4)),
        .feed_forward = {learned("w1", SHAPE(6, 4)), learned("b1", SHAPE(6)),
                         learned("w2", SHAPE(4, 6)), learned("b2", SHAPE(4))}};
    layer_options = attn_encoder_layer_defaults();
    layer_options.norm = norm;
    layer_options.activation = ATTN_ACTIVATION_GELU;
    layer_options.eps = 0.1f;
    layer_options.attention.heads = 2;
    layer_options.attention.need_weights = 0;
    layer_options.attention.rotary = ATTN_PAIRING_HALVES;
    layer_options.attention.head_mask = learned("head_mask", SHAPE(2));
    layer_options.attention.valid_lengths = lengths(SHAPE(2, 1));
    CHECK_GRADIENTS_OF(encode);
  }
}

int main(void) {
  RUN(linear_layers);
  RUN(sums_along_axes_that_are_missing);
  RUN(scaling);
  RUN(layer_norms_with_and_without_weight_and_bias);
  RUN(activations);
  RUN(normalisers_with_masked_cells_and_an_empty_row);
  RUN(mixing);
  RUN(scores_of_query_key_and_weight);
  RUN(rows_of_length_1);
  RUN(dropout_with_a_fixed_seed);
  RUN(heads);
  RUN(entropy_of_weights);
  RUN(rotary_positions);
  RUN(attention_of_every_score_under_every_mask);
  RUN(attention_of_every_normaliser);
  RUN(attention_edited_at_every_step);
  RUN(an_encoder_layer);
  return report();
}
