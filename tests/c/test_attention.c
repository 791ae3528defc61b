/*
 * Attention: every score and normaliser against the definition, the fused path against the plain
 * one, numbers that are not finite, dropout, and overrides of what lies on the way. Masks have a
 * file of their own.
 */
#include <float.h>
#include <stdlib.h>

#include "base/random.h"
#include "reference.h"

static attention_call call;

/* Random query, key and value for the call. */
static void start(int batch, int heads, int queries, int keys, int query_width, int key_width,
                  int value_width) {
  fresh();
  call.options = attn_attention_defaults();
  call.query = given("query", SHAPE(batch, heads, queries, query_width));
  call.key = given("key", SHAPE(batch, heads, keys, key_width));
  call.value = given("value", SHAPE(batch, heads, keys, value_width));
}

static const attn_tensor *run_call(int need_weights) {
  call.options.need_weights = need_weights;
  return attn_attention(tape, call.query, call.key, call.value, &call.options);
}

/* The same from a tensor of 1 × 1 × queries × keys written down. */
static attn_tensor *matrix(const char *name, int rows, int columns, const attn_real *data) {
  attn_tensor *tensor = given(name, SHAPE(1, 1, rows, columns));
  for (int i = 0; i < rows * columns; i++) tensor->data[i] = data[i];
  return tensor;
}

static void check_row(const attn_tensor *tensor, int row, const double *expected) {
  for (int j = 0; j < attn_last(tensor); j++)
    CHECK_CLOSE(tensor->data[row * attn_last(tensor) + j], expected[j]);
}

static double largest_difference(const attn_tensor *a, const attn_tensor *b) {
  double largest = 0;
  for (ptrdiff_t i = 0; i < attn_length(a); i++) {
    const double difference = fabs((double)a->data[i] - b->data[i]);
    if (!(difference <= largest)) largest = difference; /* NaN too */
  }
  return largest;
}

/* ---- the definition ----------------------------------------------------------------------- */

static void every_score_normaliser_and_scale_follows_the_definition(void) {
  for (int score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_GAUSSIAN; score++)
    for (int normalise = ATTN_NORMALISE_SOFTMAX; normalise <= ATTN_NORMALISE_RELU; normalise++)
      for (int scale = ATTN_SCALE_DEFAULT; scale <= ATTN_SCALE_GIVEN; scale++) {
        const bool mixed = score == ATTN_SCORE_ADDITIVE || score == ATTN_SCORE_GENERAL;
        start(2, 3, 4, 6, 5, mixed ? 7 : 5, 3);
        call.options.score = score;
        call.options.normalise = normalise;
        call.options.scale_mode = scale;
        call.options.scale = -0.375f;
        call.options.temperature = 0.625f;
        call.options.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        call.options.score_query_weight = given("w_q", SHAPE(9, 5));
        call.options.score_key_weight = given("w_k", SHAPE(9, 7));
        call.options.score_value_weight = given("w_v", SHAPE(1, 9));
        call.options.score_weight = given("w", SHAPE(5, 7));
        if (scale != ATTN_SCALE_OFF) call.options.score_width = given("width", SHAPE(1));
        NOTE("score %d, normalise %d, scale %d", score, normalise, scale);
        check_attention(&call);
      }
}

static void special_numbers_follow_the_definition(void) {
  static const attn_real special[] = {NAN, 0, INFINITY, -INFINITY};
  for (uint32_t seed = 1; seed <= 600; seed++) {
    start(1, 2, 3, 5, 3, 3, 2);
    random_state = seed * 7919;
    call.options.bias = given("bias", SHAPE(1, 1, 3, 5));
    call.options.normalise = (int)seed % 3;
    call.options.causal = (int)seed / 3 % 3;
    /* relu would turn +inf into an infinite weight: its row is spoilt, but not in one right way. */
    const int kinds = call.options.normalise == ATTN_NORMALISE_RELU ? 2 : 4;
    const attn_tensor *all[] = {call.query, call.key, call.value, call.options.bias};
    for (int t = 0; t < 4; t++)
      for (ptrdiff_t i = 0; i < attn_length(all[t]); i++)
        if (random_below(12) == 0) all[t]->data[i] = special[random_below(kinds)];
    NOTE("seed %u", seed);
    check_attention(&call);
  }
}

static void zero_vectors_have_the_cosine_0(void) {
  start(1, 1, 2, 2, 2, 2, 1);
  call.query = matrix("query", 2, 2, (attn_real[]){0, 0, 3, 4});
  call.key = matrix("key", 2, 2, (attn_real[]){0, 0, 4, 3});
  call.options.score = ATTN_SCORE_COSINE;
  run_call(1);
  check_row(found("raw_scores"), 0, (double[]){0, 0});
  check_row(found("raw_scores"), 1, (double[]){0, 0.96});
}

static void scores_of_any_size_keep_the_sum_of_1(void) {
  start(1, 1, 3, 3, 1, 1, 1);
  call.query = matrix("query", 3, 1, (attn_real[]){1, -1, 0x1p-126f});
  call.key = matrix("key", 3, 1, (attn_real[]){0x1.8p127f, -0x1.8p127f, 0});
  run_call(1);
  check_row(found("weights"), 0, (double[]){1, 0, 0});
  check_row(found("weights"), 1, (double[]){0, 1, 0});
  const double sum = exp(3) + exp(-3) + 1;
  check_row(found("weights"), 2, (double[]){exp(3) / sum, exp(-3) / sum, 1 / sum});
  check_attention(&call);
}

static void temperature_goes_from_the_largest_score_to_the_mean(void) {
  const attn_real keys[] = {1, 3, 2};
  for (int cold = 0; cold < 2; cold++) {
    start(1, 1, 1, 3, 1, 1, 1);
    call.query = matrix("query", 1, 1, (attn_real[]){1});
    call.key = matrix("key", 3, 1, keys);
    call.options.temperature = cold ? 1e-3f : 0x1p100f;
    run_call(1);
    check_row(found("weights"), 0, cold ? (double[]){0, 1, 0} : (double[]){1. / 3, 1. / 3, 1. / 3});
  }
}

static void tensors_tell_what_they_are(void) {
  start(1, 2, 3, 4, 5, 5, 6);
  call.options.dropout = 0.5f;
  run_call(1);
  static const struct {
    const char *name, *op, *axes[4];
    int rank, sum_axis;
  } expected[] = {{"raw_scores", "dot_scores", {"B", "h", "Tq", "Tk"}, 4, -1},
                  {"scores", "scale", {"B", "h", "Tq", "Tk"}, 4, -1},
                  {"mask", "mask", {"B", "h", "Tq", "Tk"}, 4, -1},
                  {"masked_scores", "apply_mask", {"B", "h", "Tq", "Tk"}, 4, -1},
                  {"row_flags", "row_flags", {"B", "h", "Tq"}, 3, -1},
                  {"weights", "softmax", {"B", "h", "Tq", "Tk"}, 4, 3},
                  {"dropped_weights", "dropout", {"B", "h", "Tq", "Tk"}, 4, -1},
                  {"output", "mix", {"B", "h", "Tq", "D"}, 4, -1}};
  const attn_tensor *tensor = call.value->next;
  for (int i = 0; i < 8 && tensor; i++, tensor = tensor->next) {
    NOTE("%s", expected[i].name);
    CHECK(strcmp(tensor->name, expected[i].name) == 0 && strcmp(tensor->op, expected[i].op) == 0);
    CHECK(tensor->rank == expected[i].rank && tensor->sum_axis == expected[i].sum_axis);
    for (int axis = 0; axis < tensor->rank; axis++)
      CHECK(strcmp(tensor->axes[axis], expected[i].axes[axis]) == 0);
  }
  CHECK(tensor == NULL);
  start(1, 2, 3, 4, 5, 5, 6);
  run_call(0);
  CHECK(strcmp(call.value->next->name, "row_flags") == 0);
  CHECK(strcmp(call.value->next->next->op, "fused_attention") == 0);
  CHECK(call.value->next->next->next == NULL);
}

static void one_tensor_may_be_query_key_and_value(void) {
  start(2, 2, 5, 5, 4, 4, 4);
  for (int32_t need_weights = 0; need_weights < 2; need_weights++) {
    const attn_tensor *x = call.query;
    attn_tensor *copies[3];
    for (int i = 0; i < 3; i++) {
      copies[i] = given("copy", SHAPE(2, 2, 5, 4));
      memcpy(copies[i]->data, x->data, (size_t)attn_length(x) * sizeof(attn_real));
    }
    call.options.need_weights = need_weights;
    const attn_tensor *apart = attn_attention(tape, copies[0], copies[1], copies[2], &call.options);
    const attn_tensor *one = attn_attention(tape, x, x, x, &call.options);
    CHECK(equal_tensors(one, apart));
    CHECK(equal_tensors(copies[0], x));
  }
}

/* ---- the fused path ----------------------------------------------------------------------- */

static void the_fused_path_agrees_with_the_plain_one_over_many_shapes(void) {
  static const int queries[] = {1, 7, 63, 64, 65, 128, 150}, keys[] = {1, 5, 64, 66, 127, 129, 200};
  static const int widths[] = {1, 3, 8, 33};
  for (int trial = 0; trial < 7 * 7 * 2; trial++) {
    const int width = widths[trial % 4];
    start(1 + trial % 2, 1 + trial % 3, queries[trial % 7], keys[trial / 7 % 7], width, width,
          widths[(trial + 1) % 4]);
    call.options.causal = trial % 3;
    call.options.dropout = trial % 5 ? 0.3f : 0;
    call.options.seed = (uint32_t)trial;
    call.options.window_left = trial % 4 == 0 ? 40 : -1;
    call.options.global_tokens = trial % 8 == 0 ? 3 : 0;
    call.options.score = trial % 6 == 1 ? ATTN_SCORE_COSINE : ATTN_SCORE_SCALED_DOT;
    attn_tensor *lengths = given("lengths", SHAPE(call.query->shape[0], call.query->shape[2]));
    for (ptrdiff_t i = 0; i < attn_length(lengths); i++)
      lengths->data[i] = (attn_real)random_below(call.key->shape[2] + 1);
    if (trial % 3 == 1) call.options.valid_lengths = lengths;
    const attn_tensor *plain = run_call(1), *fused = run_call(0);
    NOTE("trial %d: %d × %d", trial, call.query->shape[2], call.key->shape[2]);
    CHECK_OK();
    CHECK(strcmp(fused->op, "fused_attention") == 0 && strcmp(plain->op, "mix") == 0);
    CHECK_NEAR(largest_difference(plain, fused), 0, slack);
  }
}

static void rising_scores_change_the_largest_in_every_block(void) {
  start(1, 1, 2, 200, 1, 1, 2);
  for (int j = 0; j < 200; j++) call.key->data[j] = (attn_real)j / 4;
  call.query->data[0] = 1, call.query->data[1] = -1;
  check_attention(&call);
}

static void only_softmax_of_dots_without_a_fill_is_fused(void) {
  static const struct {
    int score, normalise, fill_mode;
    bool fused;
  } cases[] = {{ATTN_SCORE_SCALED_DOT, 0, 0, true}, {ATTN_SCORE_DOT, 0, 0, true},
               {ATTN_SCORE_COSINE, 0, 0, true},     {ATTN_SCORE_GENERAL, 0, 0, true},
               {ATTN_SCORE_GAUSSIAN, 0, 0, false},  {ATTN_SCORE_ADDITIVE, 0, 0, false},
               {ATTN_SCORE_DOT, 1, 0, false},       {ATTN_SCORE_DOT, 2, 0, false},
               {ATTN_SCORE_DOT, 0, 1, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    start(1, 1, 2, 3, 4, 4, 5);
    call.options.score = cases[i].score;
    call.options.normalise = cases[i].normalise;
    call.options.fill_mode = cases[i].fill_mode;
    call.options.score_weight = given("w", SHAPE(4, 4));
    call.options.score_query_weight = call.options.score_key_weight = call.options.score_weight;
    call.options.score_value_weight = given("w_v", SHAPE(1, 4));
    NOTE("case %zu", i);
    CHECK(run_call(0) && (attn_tape_find(tape, "weights") == NULL) == cases[i].fused);
  }
}

/* ---- numbers that are not finite ---------------------------------------------------------- */

/* Spoils keys and values from `first` on. */
static void spoil_from(int first, attn_real with) {
  const attn_tensor *both[] = {call.key, call.value};
  for (int t = 0; t < 2; t++) {
    const int keys = both[t]->shape[2], width = both[t]->shape[3];
    for (ptrdiff_t i = 0; i < attn_length(both[t]); i++)
      if (i / width % keys >= first) both[t]->data[i] = with;
  }
}

static void what_stands_in_masked_keys_and_values_changes_no_bit(void) {
  static const attn_real spoilers[] = {NAN, INFINITY, -INFINITY, 3e38f};
  for (int trial = 0; trial < 8; trial++) {
    start(2, 2, 70, 140, 4, 4, 5);
    attn_tensor *lengths = given("lengths", SHAPE(2, 1));
    lengths->data[0] = lengths->data[1] = 67;
    call.options.valid_lengths = lengths;
    call.options.dropout = trial > 3 ? 0.25f : 0;
    const attn_tensor *plain = run_call(1), *fused = run_call(0);
    spoil_from(67, spoilers[trial % 4]);
    NOTE("trial %d", trial);
    CHECK(equal_tensors(run_call(1), plain));
    CHECK(equal_tensors(run_call(0), fused));
    CHECK(largest_difference(plain, fused) <= slack);
  }
}

static void nan_spoils_the_rows_that_attend_to_it_and_no_other(void) {
  for (int32_t need_weights = 0; need_weights < 2; need_weights++) {
    start(1, 1, 140, 140, 4, 4, 5);
    call.options.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    const attn_tensor *clean = run_call(need_weights);
    spoil_from(100, NAN);
    call.query->data[50 * 4 + 1] = NAN;
    const attn_tensor *spoilt = run_call(need_weights);
    const attn_tensor *flags = spoilt;
    for (const attn_tensor *t = clean->next; t; t = t->next)
      if (strcmp(t->name, "row_flags") == 0) flags = t;
    for (int i = 0; i < 140; i++) {
      const bool expected = i >= 100 || i == 50;
      NOTE("row %d", i);
      CHECK_EQUAL(flags->data[i], expected ? ATTN_ROW_NOT_FINITE : 0);
      for (int d = 0; d < 5; d++)
        if (expected)
          CHECK(isnan(spoilt->data[i * 5 + d]));
        else
          CHECK_BITS(spoilt->data[i * 5 + d], clean->data[i * 5 + d]);
    }
  }
}

static void an_infinite_value_reaches_only_its_own_feature(void) {
  for (int32_t need_weights = 0; need_weights < 2; need_weights++) {
    start(1, 1, 2, 2, 1, 1, 2);
    call.value->data[0] = INFINITY;
    const attn_tensor *output = run_call(need_weights);
    CHECK(output->data[0] == INFINITY && output->data[2] == INFINITY);
    CHECK(fabs((double)output->data[1]) <= 1 && fabs((double)output->data[3]) <= 1);
  }
}

static void infinite_scores_are_flagged_or_excluded(void) {
  start(1, 1, 3, 2, 1, 1, 1);
  call.options.bias =
      matrix("bias", 3, 2, (attn_real[]){0, INFINITY, 0, -INFINITY, -INFINITY, -INFINITY});
  call.query = matrix("query", 3, 1, (attn_real[]){0, 0, 0});
  check_attention(&call);
  const attn_real *flags = found("row_flags")->data;
  CHECK_EQUAL(flags[0], ATTN_ROW_NOT_FINITE);
  CHECK_EQUAL(flags[1], 0);
  CHECK_EQUAL(flags[2], ATTN_ROW_EMPTY);
  check_row(found("weights"), 0, (double[]){NAN, NAN});
  check_row(found("weights"), 1, (double[]){1, 0});
  check_row(found("weights"), 2, (double[]){0, 0});
}

/* ---- fills -------------------------------------------------------------------------------- */

static void start_filled(float fill) {
  start(1, 1, 2, 4, 3, 3, 2);
  attn_tensor *lengths = given("lengths", SHAPE(1, 2));
  lengths->data[0] = 0, lengths->data[1] = 2;
  call.options.valid_lengths = lengths;
  call.options.fill_mode = ATTN_FILL_GIVEN;
  call.options.fill = fill;
  check_attention(&call);
}

static void a_fill_of_minus_a_million_makes_empty_rows_uniform(void) {
  start_filled(-1e6f);
  check_row(found("weights"), 0, (double[]){0.25, 0.25, 0.25, 0.25});
  CHECK_EQUAL(found("row_flags")->data[0], ATTN_ROW_EMPTY);
  CHECK_BITS(found("weights")->data[6], 0);
}

static void a_fill_of_minus_infinity_makes_empty_rows_nan(void) {
  start_filled(-INFINITY);
  check_row(found("weights"), 0, (double[]){NAN, NAN, NAN, NAN});
  CHECK_EQUAL(found("row_flags")->data[0], ATTN_ROW_EMPTY);
  CHECK(!isnan(found("output")->data[2]));
}

static void a_fill_near_the_scores_leaks(void) {
  start_filled(0.5f);
  CHECK(found("weights")->data[6] > 0.05f);
}

/* ---- dropout ------------------------------------------------------------------------------ */

static void dropout_follows_the_stream_of_its_name_cell_by_cell(void) {
  start(2, 3, 5, 7, 4, 4, 2);
  call.options.dropout = 0.375f;
  call.options.seed = 42;
  run_call(1);
  const attn_tensor *weights = found("weights"), *dropped = found("dropped_weights");
  const attn_random_key key = attn_random_key_from(42, "dropped_weights", 15);
  for (ptrdiff_t i = 0; i < attn_length(weights); i++) {
    uint32_t words[4];
    attn_random_block(words, key, (uint64_t)i / 4);
    const bool gone = attn_random_unit(words[i % 4]) < 0.375f;
    CHECK_CLOSE(dropped->data[i], gone ? 0 : weights->data[i] / 0.625);
  }
}

static void dropout_drops_its_share_and_keeps_the_mean(void) {
  start(1, 4, 64, 128, 2, 2, 1);
  call.options.dropout = 0.25f;
  run_call(1);
  const attn_tensor *dropped = found("dropped_weights");
  const double cells = (double)attn_length(dropped);
  double gone = 0, sum = 0;
  for (ptrdiff_t i = 0; i < attn_length(dropped); i++) {
    gone += dropped->data[i] == 0;
    sum += dropped->data[i];
  }
  CHECK_NEAR(gone / cells, 0.25, 4 * sqrt(0.25 * 0.75 / cells));
  CHECK_NEAR(sum / 256, 1, 0.03);
  CHECK_EQUAL(found("weights")->sum_axis, 3);
}

static void seeds_and_scopes_drop_other_cells(void) {
  start(1, 1, 8, 8, 2, 2, 1);
  call.options.dropout = 0.5f;
  const attn_tensor *first = run_call(1), *again = run_call(1);
  CHECK(equal_tensors(first, again));
  call.options.seed = 1;
  CHECK(!equal_tensors(first, run_call(1)));
  call.options.seed = 0;
  attn_scope_enter(tape, "layer");
  CHECK(!equal_tensors(first, run_call(1)));
}

/* ---- overrides ---------------------------------------------------------------------------- */

/* Two keys with the scores 0 and 0, values 10 and 20; then an override. */
static const attn_tensor *run_edited(const char *name, int at, attn_real value) {
  start(1, 1, 1, 2, 1, 1, 1);
  attn_override(tape, name, SHAPE(0, 0, 0, at), value);
  call.query = matrix("zero", 1, 1, (attn_real[]){0});
  call.value = matrix("values", 2, 1, (attn_real[]){10, 20});
  return run_call(1);
}

static void an_edited_number_is_followed_to_the_output(void) {
  const double quarter = log(3);
  CHECK_CLOSE(run_edited("raw_scores", 1, (attn_real)quarter)->data[0], 17.5);
  CHECK_CLOSE(run_edited("scores", 1, (attn_real)quarter)->data[0], 17.5);
  CHECK_CLOSE(found("weights")->data[1], 0.75);
  CHECK_CLOSE(run_edited("masked_scores", 0, (attn_real)quarter)->data[0], 12.5);
  CHECK_CLOSE(run_edited("weights", 0, 2)->data[0], 30);
  CHECK_CLOSE(run_edited("values", 0, 0)->data[0], 15);
}

static void a_cell_can_be_masked_and_freed_by_hand(void) {
  CHECK_CLOSE(run_edited("mask", 0, 8)->data[0], 20);
  CHECK(found("masked_scores")->data[0] == -INFINITY);
  CHECK_CLOSE(run_edited("masked_scores", 1, -INFINITY)->data[0], 10);
  static const char *const names[] = {"mask", "masked_scores", "weights"};
  static const double outputs[] = {15, 15, 10 + 0.5 * 20};
  for (int i = 0; i < 3; i++) {
    start(1, 1, 1, 2, 1, 1, 1);
    attn_override(tape, names[i], SHAPE(0, 0, 0, 1), i == 2 ? 0.5f : 0);
    call.query = matrix("zero", 1, 1, (attn_real[]){0});
    call.value = matrix("values", 2, 1, (attn_real[]){10, 20});
    call.options.mask = matrix("cells", 1, 2, (attn_real[]){1, 0});
    NOTE("%s", names[i]);
    CHECK_CLOSE(run_call(1)->data[0], outputs[i]);
  }
}

static void a_weight_given_by_hand_reads_its_value_even_where_that_is_nan(void) {
  for (int given_weight = 0; given_weight < 2; given_weight++) {
    start(1, 1, 1, 2, 1, 1, 1);
    attn_override(tape, "weights", SHAPE(0, 0, 0, 1), (attn_real)given_weight / 2);
    call.value = matrix("values", 2, 1, (attn_real[]){10, NAN});
    call.options.mask = matrix("cells", 1, 2, (attn_real[]){1, 0});
    CHECK_CLOSE(run_call(1)->data[0], given_weight ? NAN : 10);
  }
}

static void a_row_freed_by_hand_is_not_empty(void) {
  start(1, 1, 2, 2, 1, 1, 1);
  attn_override(tape, "masked_scores", SHAPE(0, 0, 1, 0), 3);
  attn_tensor *lengths = given("lengths", SHAPE(1, 1));
  lengths->data[0] = 0;
  call.options.valid_lengths = lengths;
  run_call(1);
  CHECK_EQUAL(found("row_flags")->data[0], ATTN_ROW_EMPTY);
  CHECK_EQUAL(found("row_flags")->data[1], 0);
  check_row(found("weights"), 1, (double[]){1, 0});
}

static void the_fused_path_says_that_it_has_no_weights_to_edit(void) {
  start(1, 1, 2, 2, 1, 1, 1);
  attn_override(tape, "weights", SHAPE(0, 0, 0, 0), 1);
  CHECK(run_call(0) != NULL);
  attn_overrides_check(tape);
  CHECK_FAILED(ATTN_NOT_FOUND,
               "an override names \"weights\"; nothing that this pass computes has that name");
}

int main(void) {
  RUN(every_score_normaliser_and_scale_follows_the_definition);
  RUN(special_numbers_follow_the_definition);
  RUN(zero_vectors_have_the_cosine_0);
  RUN(scores_of_any_size_keep_the_sum_of_1);
  RUN(temperature_goes_from_the_largest_score_to_the_mean);
  RUN(tensors_tell_what_they_are);
  RUN(one_tensor_may_be_query_key_and_value);
  RUN(the_fused_path_agrees_with_the_plain_one_over_many_shapes);
  RUN(rising_scores_change_the_largest_in_every_block);
  RUN(only_softmax_of_dots_without_a_fill_is_fused);
  RUN(what_stands_in_masked_keys_and_values_changes_no_bit);
  RUN(nan_spoils_the_rows_that_attend_to_it_and_no_other);
  RUN(an_infinite_value_reaches_only_its_own_feature);
  RUN(infinite_scores_are_flagged_or_excluded);
  RUN(a_fill_of_minus_a_million_makes_empty_rows_uniform);
  RUN(a_fill_of_minus_infinity_makes_empty_rows_nan);
  RUN(a_fill_near_the_scores_leaks);
  RUN(dropout_follows_the_stream_of_its_name_cell_by_cell);
  RUN(dropout_drops_its_share_and_keeps_the_mean);
  RUN(seeds_and_scopes_drop_other_cells);
  RUN(an_edited_number_is_followed_to_the_output);
  RUN(a_cell_can_be_masked_and_freed_by_hand);
  RUN(a_weight_given_by_hand_reads_its_value_even_where_that_is_nan);
  RUN(a_row_freed_by_hand_is_not_empty);
  RUN(the_fused_path_says_that_it_has_no_weights_to_edit);
  return report();
}
