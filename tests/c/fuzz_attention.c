/*
 * A fuzz target: bytes become options, sizes, tensors with special numbers and overrides; then one
 * of the functions runs.
 *
 * Whatever comes in, nothing crashes; a call that fails leaves a status and a message, and after a
 * reset the next one works; inputs stay as they were. Where a call succeeds without overrides, rows
 * of weights sum to 1, or are empty or not finite and say so; masked cells weigh exactly 0; and the
 * fused path agrees with the plain one. In half of the runs all inputs ask for gradients: the sweep
 * back then gives none to keys and values that no query may see.
 */
#include "fuzz.h"

static bool edited; /* there are overrides */

/* NULL more often than not; a wrong size now and then. */
static attn_tensor *optional(attn_tape *tape, const char *name, int32_t rank, const int32_t *shape,
                             bool spreads) {
  if (next_byte() % 4) return NULL;
  int32_t size[ATTN_MAX_RANK];
  for (int32_t i = 0; i < rank; i++) {
    const int byte = next_byte();
    size[i] = spreads && byte % 3 == 0 ? 1 : byte == 255 ? shape[i] ^ 1 : shape[i];
  }
  if (next_byte() == 255) rank--;
  return input(tape, name, rank, size, false);
}

static attn_tensor *lengths_of(attn_tape *tape, int32_t batch, int32_t queries, int32_t keys) {
  attn_tensor *lengths = optional(tape, "valid_lengths", 2, (int32_t[]){batch, queries}, true);
  if (!lengths || next_byte() == 255) return lengths;
  for (ptrdiff_t i = 0; i < attn_length(lengths); i++)
    lengths->data[i] = (attn_real)(next_byte() % (keys < 1 || keys > 200 ? 1 : keys + 1));
  return lengths;
}

static attn_attention_options next_options(attn_tape *tape, int32_t batch, int32_t heads,
                                           int32_t queries, int32_t keys, int32_t width) {
  attn_attention_options options = attn_attention_defaults();
  const int32_t cells[] = {batch, heads, queries, keys};
  options.score = next_choice(6);
  options.normalise = next_byte() % 2 ? 0 : next_choice(3);
  options.causal = next_choice(3);
  options.window_left = next_int(-1);
  options.window_right = next_int(-1);
  options.global_tokens = next_int(0);
  options.scale_mode = next_choice(3);
  options.scale = next_float(0.3f);
  options.temperature = next_float(1);
  options.fill_mode = next_byte() % 2 ? 0 : next_choice(2);
  options.fill = next_float(-1e6f);
  options.dropout = next_float(0);
  options.seed = (uint32_t)next_byte();
  options.need_weights = next_byte() % 2;
  options.heads = heads;
  options.rotary = next_byte() % 2 ? 0 : next_choice(3);
  options.rotary_base = next_float(10000);
  options.valid_lengths = lengths_of(tape, batch, queries, keys);
  options.mask = optional(tape, "cells", 4, cells, true);
  options.bias = optional(tape, "bias", 4, cells, true);
  options.alibi_slopes = optional(tape, "slopes", 1, &heads, false);
  options.head_mask = optional(tape, "head_mask", 1, &heads, false);
  if (options.score == ATTN_SCORE_ADDITIVE || options.score == ATTN_SCORE_GENERAL) {
    options.score_query_weight = input(tape, "w_q", 2, (int32_t[]){3, width}, false);
    options.score_key_weight = input(tape, "w_k", 2, (int32_t[]){3, width}, false);
    options.score_value_weight = optional(tape, "w_v", 2, (int32_t[]){1, 3}, false);
    options.score_weight = optional(tape, "w", 2, (int32_t[]){width, width}, false);
  }
  options.score_width = optional(tape, "width", 1, (int32_t[]){1}, false);
  return options;
}

static void next_overrides(attn_tape *tape) {
  static const char *const names[] = {"query",         "raw_scores", "scores", "mask",
                                      "masked_scores", "weights",    "output", "dropped_weights",
                                      "row_flags",     "no such",    "heads",  "source.input"};
  edited = next_byte() % 4 == 3;
  for (int i = edited ? 1 + next_byte() % 3 : 0; i > 0; i--) {
    int32_t at[5];
    for (int axis = 0; axis < 5; axis++)
      at[axis] = next_byte() % 4 ? next_byte() % 3 - 1 : next_int(0);
    const char *name = names[next_byte() % 12];
    const int32_t rank = strcmp(name, "row_flags") ? 4 : 3;
    attn_override(tape, name, next_byte() < 240 ? rank : next_byte() % 7 - 1, at, next_float(1));
  }
}

/* ---- what must hold ----------------------------------------------------------------------- */

static uint32_t hash_inputs(const attn_tape *tape) {
  uint32_t hash = 1;
  for (const attn_tensor *t = attn_tape_first(tape); t; t = t->next) {
    if (strcmp(t->op, "input")) continue;
    const uint8_t *bytes = (const uint8_t *)t->data;
    for (size_t i = 0; i < (size_t)attn_length(t) * sizeof(attn_real); i++)
      hash = (hash ^ bytes[i]) * 16777619u;
  }
  return hash;
}

static void check_weights_row(const attn_attention_options *options, const attn_real *weights,
                              const attn_real *reasons, int flags, int32_t keys) {
  double sum = 0;
  const bool excludes = options->fill_mode == ATTN_FILL_EXCLUDE;
  const bool softmax = options->normalise == ATTN_NORMALISE_SOFTMAX;
  for (int32_t j = 0; j < keys; j++) {
    sum += weights[j];
    REQUIRE(reasons[j] >= 0 && reasons[j] < 32);
    REQUIRE(weights[j] >= 0 || flags & ATTN_ROW_NOT_FINITE || !excludes);
    if (excludes && reasons[j] != 0 && !(softmax && flags & ATTN_ROW_NOT_FINITE))
      REQUIRE(weights[j] == 0);
  }
  if (!softmax) return;
  if (flags & ATTN_ROW_NOT_FINITE)
    REQUIRE(keys == 0 || isnan(sum));
  else if (flags & ATTN_ROW_EMPTY && excludes)
    REQUIRE(sum == 0);
  else if (flags & ATTN_ROW_EMPTY)
    REQUIRE(sum == 0 || fabs(sum - 1) < 1e-5 || isnan(sum));
  else
    REQUIRE(fabs(sum - 1) < 1e-5);
}

static void check_weights(attn_tape *tape, const attn_attention_options *options) {
  const attn_tensor *weights = attn_tape_find(tape, "weights"),
                    *mask = attn_tape_find(tape, "mask");
  const attn_tensor *flags = attn_tape_find(tape, "row_flags");
  if (!weights || edited) return;
  const int32_t keys = attn_last(weights);
  for (ptrdiff_t row = 0; row < attn_rows(weights); row++)
    check_weights_row(options, weights->data + row * keys, mask->data + row * keys,
                      (int)flags->data[row], keys);
  attn_mean_heads(tape, "mean", weights);
  attn_entropy(tape, "entropy", weights);
}

static void sweep_back(attn_tape *tape, const attn_tensor *output) {
  if (!learning || !output || !output->requires_gradient) return;
  const attn_tensor *target = attn_random(tape, "target", output->rank, output->shape, output->axes,
                                          1, ATTN_DISTRIBUTION_UNIFORM);
  attn_tensor *loss = attn_squared_error(tape, "loss", output, target, ATTN_REDUCTION_SUM);
  if (loss) attn_backward(tape, loss);
}

/* Whether no finite row of block (b, h) may see key j. */
static bool is_unseen(const attn_tensor *mask, const attn_tensor *flags, ptrdiff_t block,
                      int32_t j) {
  const int32_t queries = mask->shape[2], keys = mask->shape[3];
  for (ptrdiff_t row = block * queries; row < (block + 1) * queries; row++)
    if (mask->data[row * keys + j] == 0 || (int)flags->data[row] & ATTN_ROW_NOT_FINITE)
      return false;
  return true;
}

static double largest_of(const attn_tensor *tensor) {
  double largest = 0;
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) {
    if (!isfinite(tensor->data[i])) return INFINITY;
    largest = fmax(largest, fabs((double)tensor->data[i]));
  }
  return largest;
}

static void check_unseen(attn_tape *tape, const attn_tensor *key, const attn_tensor *value,
                         const attn_attention_options *options) {
  const attn_tensor *mask = attn_tape_find(tape, "mask"),
                    *flags = attn_tape_find(tape, "row_flags");
  if (edited || options->fill_mode != ATTN_FILL_EXCLUDE || !key->gradient || !value->gradient)
    return;
  /* Through a factor that is not finite, a gradient of 0 is NaN. */
  if (options->temperature < FLT_MIN) return;
  const attn_tensor *through[] = {options->score_key_weight, options->score_weight};
  for (int i = 0; i < 2; i++)
    if (through[i] && isinf(largest_of(through[i]))) return;
  const int32_t keys = mask->shape[3], key_width = attn_last(key), width = attn_last(value);
  for (ptrdiff_t row = 0; row < attn_rows(key); row++) {
    if (!is_unseen(mask, flags, row / keys, (int32_t)(row % keys))) continue;
    for (int32_t d = 0; d < key_width; d++) REQUIRE(key->gradient[row * key_width + d] == 0);
    for (int32_t d = 0; d < width; d++) REQUIRE(value->gradient[row * width + d] == 0);
  }
}

static void check_agreement(const attn_tensor *one, const attn_tensor *other,
                            const attn_tensor *value, const attn_attention_options *options) {
  const double largest = largest_of(value);
  if (edited || options->normalise != ATTN_NORMALISE_SOFTMAX || !(largest < 1e30)) return;
  const double limit = 1e-5 * (1 + largest) / (1 - (double)options->dropout);
  for (ptrdiff_t i = 0; i < attn_length(one); i++) {
    /* A NaN that was dropped is 0 in one path and spoils its row in the other. */
    const bool both_spoilt = isnan(one->data[i]) && isnan(other->data[i]);
    const bool spoilt = isnan(one->data[i]) || isnan(other->data[i]);
    if (spoilt && options->dropout > 0) continue;
    REQUIRE(both_spoilt || fabs((double)one->data[i] - other->data[i]) <= limit);
  }
}

/* ---- calls -------------------------------------------------------------------------------- */

static void fuzz_attention(attn_tape *tape) {
  const int32_t batch = next_size(2), heads = next_size(3), queries = next_size(70);
  const int32_t keys = next_size(140), width = next_size(9);
  const attn_tensor *query =
      input(tape, "query", 4, (int32_t[]){batch, heads, queries, width}, false);
  const attn_tensor *key = input(tape, "key", 4, (int32_t[]){batch, heads, keys, width}, false);
  const attn_tensor *value =
      input(tape, "value", 4, (int32_t[]){batch, heads, keys, next_size(6)}, true);
  attn_attention_options options = next_options(tape, batch, heads, queries, keys, width);
  if (attn_tape_status(tape)) return;
  const uint32_t before = hash_inputs(tape);
  const attn_tensor *output = attn_attention(tape, query, key, value, &options);
  if (output) {
    check_weights(tape, &options);
    options.need_weights = !options.need_weights; /* the same names: they seed the dropout */
    const attn_tensor *other = attn_attention(tape, query, key, value, &options);
    if (other) check_agreement(output, other, value, &options);
    sweep_back(tape, output);
    if (!attn_tape_status(tape)) check_unseen(tape, key, value, &options);
  }
  REQUIRE(hash_inputs(tape) == before);
}

static void fuzz_masked_softmax(attn_tape *tape) {
  const int32_t shape[] = {next_size(2), next_size(3), next_size(9), next_size(70)};
  const attn_tensor *scores = input(tape, "given", 4, shape, false);
  const attn_attention_options options =
      next_options(tape, shape[0], shape[1], shape[2], shape[3], 1);
  if (attn_tape_status(tape)) return;
  const attn_tensor *weights = attn_masked_softmax(tape, scores, &options);
  if (weights) check_weights(tape, &options);
  sweep_back(tape, weights);
}

static void fuzz_encoder_layer(attn_tape *tape) {
  const int32_t batch = next_size(2), length = next_size(9), hiddens = next_size(12);
  attn_encoder_layer_options options = attn_encoder_layer_defaults();
  options.attention = next_options(tape, batch, next_size(4), length, length, 4);
  options.norm = next_choice(2);
  options.activation = next_choice(3);
  options.eps = next_float(1e-5f);
  const int32_t square[] = {hiddens, hiddens};
  const attn_encoder_layer_weights weights = {
      .attention = {input(tape, "w_q", 2, square, false), optional(tape, "b_q", 1, &hiddens, false),
                    input(tape, "w_k", 2, square, false), optional(tape, "b_k", 1, &hiddens, false),
                    input(tape, "w_v", 2, square, false), optional(tape, "b_v", 1, &hiddens, false),
                    input(tape, "w_o", 2, square, false),
                    optional(tape, "b_o", 1, &hiddens, false)},
      .norm1_weight = optional(tape, "g1", 1, &hiddens, false),
      .norm2_bias = optional(tape, "b2", 1, &hiddens, false),
      .feed_forward = {optional(tape, "w1", 2, square, false), NULL,
                       input(tape, "w2", 2, square, false), NULL}};
  const attn_tensor *x = input(tape, "x", 3, (int32_t[]){batch, length, hiddens}, false);
  if (attn_tape_status(tape)) return;
  const uint32_t before = hash_inputs(tape);
  sweep_back(tape, attn_encoder_layer(tape, x, &weights, &options));
  REQUIRE(hash_inputs(tape) == before);
}

static void fuzz_attention_layer(attn_tape *tape) {
  enum { TOKENS = 6 };
  char bytes[3 * TOKENS];
  int32_t lengths[TOKENS], count = next_byte() % (TOKENS + 1);
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)next_byte();
  for (int i = 0; i < TOKENS; i++) lengths[i] = next_byte() % 4;
  const attn_texts texts = {bytes, lengths, count};
  attn_attention_layer_options options = attn_attention_layer_defaults();
  options.attention = next_options(tape, 1, next_size(3), count, count, 4);
  options.hiddens = next_size(20);
  options.position = next_choice(5);
  options.bias = next_byte() % 2;
  options.parameter_seed = (uint32_t)next_byte();
  if (attn_tape_status(tape)) return;
  attn_attention_layer(tape, &texts, next_byte() % 2 ? &texts : NULL, &options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bytes_left = data, bytes_end = data + size;
  const int kind = next_byte();
  attn_tape *tape = next_tape();
  next_overrides(tape);
  learning = kind / 8 % 2;
  switch (kind % 8) {
    case 0:
      fuzz_masked_softmax(tape);
      break;
    case 1:
      fuzz_encoder_layer(tape);
      break;
    case 2:
      fuzz_attention_layer(tape);
      break;
    default:
      fuzz_attention(tape);
      break;
  }
  attn_overrides_check(tape);
  check_end(tape);
  return 0;
}
