/*
 * Masks: the picture each kind draws, their reasons, all combinations against the definition, and
 * the span of keys by which the fused path skips.
 *
 * In pictures a row is a query, a sign a key: a dot may be attended to, a digit is the sum of the
 * reasons (in base 32: causal 2, all five v).
 */
#include <limits.h>
#include <stdlib.h>

#include "ops/ops.h"
#include "reference.h"

static attn_attention_options options;

static void start(void) {
  fresh();
  options = attn_attention_defaults();
}

static attn_tensor *numbers(const char *name, int32_t rank, const int32_t *shape,
                            const attn_real *data) {
  attn_tensor *tensor = given(name, rank, shape);
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) tensor->data[i] = data[i];
  return tensor;
}

/* The mask of one batch and head. */
static const char *drawn(const attn_tensor *mask, int b, int head) {
  static char picture[512];
  char *out = picture;
  for (int i = 0; i < mask->shape[2]; i++) {
    if (i) *out++ = '/';
    for (int j = 0; j < mask->shape[3]; j++)
      *out++ = ".123456789abcdefghijklmnopqrstuv"[(int)vector_of(mask, b, head, i)[j]];
  }
  *out = 0;
  return picture;
}

static void check_picture(const attn_tensor *mask, int b, int head, const char *expected) {
  const char *actual = mask ? drawn(mask, b, head) : attn_tape_message(tape);
  CLAIM(strcmp(actual, expected) == 0, "%s should be %s", actual, expected);
}

static const attn_tensor *masked_softmax(int batch, int heads, int queries, int keys) {
  attn_tensor *scores = given("given", SHAPE(batch, heads, queries, keys));
  attn_masked_softmax(tape, scores, &options);
  return attn_tape_status(tape) == ATTN_OK ? found("mask") : NULL;
}

static void check_alone(int queries, int keys, const char *expected) {
  check_picture(masked_softmax(1, 1, queries, keys), 0, 0, expected);
  attn_tape_reset(tape);
}

/* ---- each kind ---------------------------------------------------------------------------- */

static void nothing_is_masked_by_default(void) {
  start();
  check_alone(2, 3, ".../...");
}

static void causal_stands_at_the_bottom_right(void) {
  start();
  options.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
  check_alone(3, 3, ".22/..2/...");
  check_alone(2, 5, "....2/.....");
  check_alone(5, 2, "22/22/22/.2/..");
  check_alone(1, 4, "....");
  check_alone(4, 1, "2/2/2/.");
}

static void causal_stands_at_the_top_left_on_request(void) {
  start();
  options.causal = ATTN_CAUSAL_TOP_LEFT;
  check_alone(3, 3, ".22/..2/...");
  check_alone(2, 5, ".2222/..222");
  check_alone(5, 2, ".2/../../../..");
}

static void windows_reach_left_and_right_of_the_position(void) {
  start();
  options.window_left = 1;
  check_alone(4, 4, "..../..../4.../44..");
  options.window_right = 0;
  check_alone(4, 4, ".444/..44/4..4/44..");
  options.window_left = -1;
  check_alone(4, 4, ".444/..44/...4/....");
  options.window_left = 0;
  check_alone(4, 4, ".444/4.44/44.4/444.");
  options.window_left = INT_MAX, options.window_right = INT_MAX;
  check_alone(2, 2, "../..");
}

static void windows_follow_the_alignment_of_the_causal_mask(void) {
  start();
  options.window_left = options.window_right = 1;
  check_alone(2, 5, "44.../444..");
  check_alone(5, 2, "44/44/.4/../..");
  options.causal = ATTN_CAUSAL_TOP_LEFT;
  check_alone(2, 5, ".2666/..266");
  check_alone(5, 2, ".2/../4./44/44");
}

static void global_tokens_see_and_are_seen_through_the_window(void) {
  start();
  options.window_left = options.window_right = 0;
  options.global_tokens = 1;
  check_alone(4, 4, "..../..44/.4.4/.44.");
  options.global_tokens = 2;
  check_alone(4, 4, "..../..../...4/..4.");
  options.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
  check_alone(4, 4, ".222/..22/...6/..4.");
  options.causal = ATTN_CAUSAL_NONE;
  check_alone(2, 4, "...4/..4.");
  check_alone(4, 2, "../../../..");
  options.global_tokens = INT_MAX;
  check_alone(2, 2, "../..");
}

static void global_tokens_without_a_window_change_nothing(void) {
  start();
  options.global_tokens = 2;
  options.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
  check_alone(3, 3, ".22/..2/...");
}

static void valid_lengths_cut_the_keys_of_a_batch_or_of_a_query(void) {
  start();
  options.valid_lengths = numbers("lengths", SHAPE(3, 1), (attn_real[]){2, 0, 3});
  const attn_tensor *mask = masked_softmax(3, 2, 2, 3);
  for (int head = 0; head < 2; head++) {
    check_picture(mask, 0, head, "..1/..1");
    check_picture(mask, 1, head, "111/111");
    check_picture(mask, 2, head, ".../...");
  }
  start();
  options.valid_lengths = numbers("lengths", SHAPE(2, 3), (attn_real[]){0, 1, 2, 3, 2, 1});
  mask = masked_softmax(2, 1, 3, 3);
  check_picture(mask, 0, 0, "111/.11/..1");
  check_picture(mask, 1, 0, ".../..1/.11");
}

static void cells_spread_along_axes_of_size_1(void) {
  const attn_real cells[] = {1, 0, 0, 1};
  start();
  options.mask = numbers("cells", SHAPE(1, 1, 2, 2), cells);
  check_picture(masked_softmax(2, 2, 2, 2), 1, 1, ".8/8.");
  start();
  options.mask = numbers("cells", SHAPE(1, 1, 1, 4), cells);
  check_picture(masked_softmax(2, 2, 2, 4), 1, 0, ".88./.88.");
  start();
  options.mask = numbers("cells", SHAPE(1, 1, 4, 1), cells);
  check_picture(masked_softmax(2, 2, 4, 2), 0, 1, "../88/88/..");
  start();
  options.mask = numbers("cells", SHAPE(2, 2, 1, 1), cells);
  const attn_tensor *mask = masked_softmax(2, 2, 1, 2);
  check_picture(mask, 0, 0, "..");
  check_picture(mask, 0, 1, "88");
  check_picture(mask, 1, 0, "88");
  check_picture(mask, 1, 1, "..");
  start();
  options.mask = numbers("cells", SHAPE(1, 1, 1, 1), cells + 1);
  check_picture(masked_softmax(1, 1, 2, 2), 0, 0, "88/88");
}

static void every_number_but_zero_lets_a_cell_through(void) {
  start();
  options.mask =
      numbers("cells", SHAPE(1, 1, 1, 7), (attn_real[]){1, 0, -1, -0.0f, 1e-30f, NAN, -INFINITY});
  check_alone(1, 7, ".8.8...");
}

static void a_bias_masks_where_it_is_minus_infinity_and_nowhere_else(void) {
  start();
  options.bias =
      numbers("bias", SHAPE(1, 1, 1, 6), (attn_real[]){0, -INFINITY, -3e38f, 5, NAN, INFINITY});
  check_alone(1, 6, ".g....");
}

static void a_masked_cell_tells_all_its_reasons(void) {
  start();
  options.valid_lengths = numbers("lengths", SHAPE(1, 1), (attn_real[]){2});
  options.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
  options.window_left = options.window_right = 0;
  options.mask = numbers("cells", SHAPE(1, 1, 1, 3), (attn_real[]){1, 1, 0});
  options.bias = numbers("bias", SHAPE(1, 1, 3, 1), (attn_real[]){-INFINITY, 0, 0});
  check_alone(3, 3, "gmv/4.f/449");
}

static void the_mask_names_all_its_sources(void) {
  start();
  options.valid_lengths = numbers("lengths", SHAPE(1, 1), (attn_real[]){2});
  options.mask = numbers("cells", SHAPE(1, 1, 1, 2), (attn_real[]){1, 1});
  options.bias = numbers("bias", SHAPE(1, 1, 1, 2), (attn_real[]){0, 0});
  const attn_tensor *mask = masked_softmax(1, 1, 2, 2);
  CHECK(mask->input_count == 3 && mask->inputs[0] == options.valid_lengths);
  CHECK(mask->inputs[1] == options.mask && mask->inputs[2] == options.bias);
  const attn_tensor *masked = found("masked_scores");
  CHECK(masked->input_count == 3 && masked->inputs[1] == mask);
}

/* ---- all together ------------------------------------------------------------------------- */

enum { BATCH = 2, HEADS = 2, WIDTH = 3 };

static void add_valid_lengths(int kind, int queries, int keys) {
  if (kind == 0) return;
  attn_tensor *lengths = given("lengths", SHAPE(BATCH, kind == 1 ? 1 : queries));
  for (ptrdiff_t i = 0; i < attn_length(lengths); i++)
    lengths->data[i] = (attn_real)random_below(keys + 1);
  options.valid_lengths = lengths;
}

static void add_window(int kind) {
  static const int32_t windows[][3] = {{-1, -1, 0}, {1, -1, 0}, {-1, 2, 0}, {1, 1, 0}, {0, 1, 2}};
  options.window_left = windows[kind][0];
  options.window_right = windows[kind][1];
  options.global_tokens = windows[kind][2];
}

static const attn_tensor *spreading(const char *name, int kind, int queries, int keys) {
  switch (kind) {
    case 1:
      return given(name, SHAPE(1, 1, queries, keys));
    case 2:
      return given(name, SHAPE(BATCH, 1, 1, keys));
    default:
      return given(name, SHAPE(BATCH, HEADS, queries, keys));
  }
}

static void add_cells(int kind, int queries, int keys) {
  if (kind == 0) return;
  options.mask = spreading("cells", kind, queries, keys);
  for (ptrdiff_t i = 0; i < attn_length(options.mask); i++)
    if (random_below(3) == 0) options.mask->data[i] = 0;
}

static void add_bias(int kind, int queries, int keys) {
  if (kind == 0) return;
  options.bias = spreading("bias", kind, queries, keys);
  for (ptrdiff_t i = 0; i < attn_length(options.bias); i++)
    if (random_below(4) == 0) options.bias->data[i] = -INFINITY;
}

static void check_combination(int causal, int lengths, int window, int cells, int bias, int alibi,
                              int queries, int keys, uint32_t seed) {
  start();
  random_state = seed;
  options.causal = causal;
  add_valid_lengths(lengths, queries, keys);
  add_window(window);
  add_cells(cells, queries, keys);
  add_bias(bias, queries, keys);
  if (alibi) options.alibi_slopes = attn_alibi_slopes(tape, "slopes", HEADS);
  NOTE("causal %d, lengths %d, window %d, cells %d, bias %d, ALiBi %d, %d × %d", causal, lengths,
       window, cells, bias, alibi, queries, keys);
  check_attention(&(attention_call){.query = given("q", SHAPE(BATCH, HEADS, queries, WIDTH)),
                                    .key = given("k", SHAPE(BATCH, HEADS, keys, WIDTH)),
                                    .value = given("v", SHAPE(BATCH, HEADS, keys, WIDTH)),
                                    .options = options});
}

static void all_combinations_follow_the_definition(void) {
  static const int sizes[][2] = {{5, 5}, {2, 6}, {6, 2}, {1, 4}};
  uint32_t seed = 0;
  for (int causal = 0; causal < 3; causal++)
    for (int lengths = 0; lengths < 3; lengths++)
      for (int window = 0; window < 5; window++)
        for (int cells = 0; cells < 4; cells++)
          for (int bias = 0; bias < 4; bias++) {
            const int *size = sizes[++seed % 4];
            check_combination(causal, lengths, window, cells, bias, seed % 3 == 0, size[0], size[1],
                              seed);
          }
}

static void combinations_of_several_blocks_follow_the_definition(void) {
  static const int sizes[][2] = {{65, 130}, {130, 65}, {64, 64}, {70, 128}, {3, 129}};
  uint32_t seed = 0;
  for (int causal = 0; causal < 3; causal++)
    for (int window = 0; window < 5; window++) {
      const int *size = sizes[++seed % 5];
      check_combination(causal, (int)seed % 3, window, (int)seed % 4, (int)seed / 2 % 4, seed % 2,
                        size[0], size[1], seed);
    }
}

/* ---- spans -------------------------------------------------------------------------------- */

/* Every key outside of a span is masked by its position; without global tokens every key inside is
 * not. */
static void check_spans(int queries, int keys) {
  attn_mask mask;
  CHECK(attn_mask_make(tape, &mask, 1, 1, queries, keys, &options));
  for (int i = 0; i < queries; i++) {
    const attn_span span = attn_mask_span(&mask, 0, i);
    attn_real reasons[MOST_KEYS];
    attn_mask_reasons(reasons, &mask, 0, 0, i, 0, keys);
    CHECK(0 <= span.from && span.from <= span.to && span.to <= keys);
    for (int j = 0; j < keys; j++) {
      const bool inside = span.from <= j && j < span.to;
      CLAIM(inside || reasons[j] != 0, "key %d of query %d is free outside [%d, %d)", j, i,
            span.from, span.to);
      CLAIM(!inside || reasons[j] == 0 || options.global_tokens,
            "key %d of query %d is masked inside [%d, %d)", j, i, span.from, span.to);
    }
  }
}

static void spans_hold_exactly_the_keys_that_positions_allow(void) {
  static const int32_t reaches[] = {-1, 0, 1, 3, 50, INT_MAX - 1, INT_MAX};
  enum { REACHES = sizeof reaches / sizeof *reaches };
  for (int trial = 0; trial < 2 * 3 * REACHES * REACHES; trial++) {
    start();
    options.causal = trial % 3;
    options.window_left = reaches[trial / 3 % REACHES];
    options.window_right = reaches[trial / 3 / REACHES % REACHES];
    options.global_tokens = trial >= 3 * REACHES * REACHES ? 2 : 0;
    const int queries = 1 + trial % 9, keys = 1 + trial % 7;
    attn_tensor *lengths = given("lengths", SHAPE(1, queries));
    for (int i = 0; i < queries; i++) lengths->data[i] = (attn_real)random_below(keys + 1);
    options.valid_lengths = lengths;
    NOTE("causal %d, window %d and %d, %d global, %d × %d", options.causal, options.window_left,
         options.window_right, options.global_tokens, queries, keys);
    check_spans(queries, keys);
  }
}

/* ---- errors ------------------------------------------------------------------------------- */

static void check_bad(attn_status status, const char *message) {
  CHECK(masked_softmax(2, 3, 4, 5) == NULL);
  CHECK_FAILED(status, message);
  start();
}

static void masks_that_do_not_fit_are_named(void) {
  start();
  options.mask = given("cells", SHAPE(4, 5));
  check_bad(ATTN_BAD_SHAPE, "mask has 2 axes; it must have 4");
  options.mask = given("cells", SHAPE(2, 3, 5, 5));
  check_bad(ATTN_BAD_SHAPE,
            "mask is [2, 3, 5, 5] as [B, h, Tq, Tk]; each size must be 1 or that of the scores, "
            "[2, 3, 4, 5]");
  options.bias = given("bias", SHAPE(1, 0, 4, 5));
  check_bad(ATTN_BAD_SHAPE,
            "bias is [1, 0, 4, 5] as [B, h, Tq, Tk]; each size must be 1 or that of the scores, "
            "[2, 3, 4, 5]");
  options.alibi_slopes = given("slopes", SHAPE(2));
  check_bad(ATTN_BAD_SHAPE,
            "ALiBi needs a list of 3 slopes, one for each head; it has the rank 1 and 2 elements");
  options.valid_lengths = given("lengths", SHAPE(2, 3));
  check_bad(ATTN_BAD_SHAPE,
            "valid lengths have the shape [2, 3]; they must be [B] = [2] or [B, Tq] = [2, 4]");
  options.valid_lengths = given("lengths", SHAPE(3, 1));
  check_bad(ATTN_BAD_SHAPE,
            "valid lengths have the shape [3, 1]; they must be [B] = [2] or [B, Tq] = [2, 4]");
}

static void lengths_out_of_range_are_named(void) {
  static const struct {
    attn_real length;
    const char *text;
  } cases[] = {{6, "6"},
               {-1, "-1"},
               {1.5f, "1.5"},
               {NAN, "NaN"},
               {INFINITY, "Infinity"},
               {3e9f, "3000000000"},
               {-INFINITY, "-Infinity"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char message[120];
    snprintf(message, sizeof message, "valid length %s is not a whole number from 0 to the 5 keys",
             cases[i].text);
    start();
    options.valid_lengths = numbers("lengths", SHAPE(2, 1), (attn_real[]){5, cases[i].length});
    check_bad(ATTN_BAD_VALUE, message);
  }
}

static void windows_and_global_tokens_out_of_range_are_named(void) {
  start();
  options.window_left = -2;
  check_bad(ATTN_BAD_VALUE, "window -2 must be at least 0");
  options.window_right = INT_MIN;
  check_bad(ATTN_BAD_VALUE, "window -2147483648 must be at least 0");
  options.global_tokens = -1;
  check_bad(ATTN_BAD_VALUE, "-1 global tokens; there must be at least 0");
  options.causal = 3;
  check_bad(ATTN_BAD_VALUE, "causal 3 is unknown; it must be 0 to 2");
}

int main(void) {
  RUN(nothing_is_masked_by_default);
  RUN(causal_stands_at_the_bottom_right);
  RUN(causal_stands_at_the_top_left_on_request);
  RUN(windows_reach_left_and_right_of_the_position);
  RUN(windows_follow_the_alignment_of_the_causal_mask);
  RUN(global_tokens_see_and_are_seen_through_the_window);
  RUN(global_tokens_without_a_window_change_nothing);
  RUN(valid_lengths_cut_the_keys_of_a_batch_or_of_a_query);
  RUN(cells_spread_along_axes_of_size_1);
  RUN(every_number_but_zero_lets_a_cell_through);
  RUN(a_bias_masks_where_it_is_minus_infinity_and_nowhere_else);
  RUN(a_masked_cell_tells_all_its_reasons);
  RUN(the_mask_names_all_its_sources);
  RUN(all_combinations_follow_the_definition);
  RUN(combinations_of_several_blocks_follow_the_definition);
  RUN(spans_hold_exactly_the_keys_that_positions_allow);
  RUN(masks_that_do_not_fit_are_named);
  RUN(lengths_out_of_range_are_named);
  RUN(windows_and_global_tokens_out_of_range_are_named);
  return report();
}
