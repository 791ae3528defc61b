/*
 * The tape: names and scopes, inputs, overrides, errors that stick until the reset, and memory that
 * neither leaks nor is written before a size is known to fit.
 */
#include <limits.h>
#include <stdlib.h>

#include "fixture.h"

static attn_tensor *doubled(const char *name, const attn_tensor *x) {
  return attn_add(tape, name, x, x);
}

static int count_tensors(void) {
  int count = 0;
  for (attn_tensor *tensor = attn_tape_first(tape); tensor; tensor = tensor->next) count++;
  return count;
}

/* ---- names -------------------------------------------------------------------------------- */

static void tensors_stand_in_the_order_of_computation_with_their_sources(void) {
  fresh();
  CHECK(attn_tape_first(tape) == NULL);
  const attn_tensor *x = given("x", SHAPE(2, 3)), *y = given("y", SHAPE(3));
  const attn_tensor *sum = attn_add(tape, "sum", x, y);
  const attn_tensor *active = attn_activate(tape, "active", sum, ATTN_ACTIVATION_RELU);
  CHECK(attn_tape_first(tape) == x && x->next == y && y->next == sum && sum->next == active);
  CHECK(active->next == NULL);
  CHECK_EQUAL(x->input_count, 0);
  CHECK(sum->input_count == 2 && sum->inputs[0] == x && sum->inputs[1] == y);
  CHECK(active->input_count == 1 && active->inputs[0] == sum);
  CHECK(strcmp(x->op, "input") == 0 && strcmp(sum->op, "add") == 0);
  CHECK(strcmp(active->op, "relu") == 0);
  CHECK_EQUAL(sum->sum_axis, -1);
}

static void sources_left_out_are_not_listed(void) {
  fresh();
  const attn_tensor *x = given("x", SHAPE(2, 3)), *weight = given("weight", SHAPE(4, 3));
  const attn_tensor *bias = given("bias", SHAPE(4));
  CHECK_EQUAL(attn_linear(tape, "plain", x, weight, NULL)->input_count, 2);
  CHECK_EQUAL(attn_linear(tape, "biased", x, weight, bias)->input_count, 3);
  const attn_tensor *norm = attn_layer_norm(tape, "norm", x, NULL, given("shift", SHAPE(3)), 1);
  CHECK(norm->input_count == 2 && norm->inputs[1] == attn_tape_find(tape, "shift"));
}

static void scopes_stand_before_names_and_nest(void) {
  fresh();
  given("x", SHAPE(1));
  const int32_t outside = attn_scope_enter(tape, "encoder");
  given("x", SHAPE(2));
  const int32_t encoder = attn_scope_enter(tape, "0");
  given("x", SHAPE(3));
  attn_scope_leave(tape, encoder);
  given("y", SHAPE(4));
  attn_scope_leave(tape, outside);
  given("z", SHAPE(5));
  static const char *const names[] = {"x", "encoder.x", "encoder.0.x", "encoder.y", "z"};
  for (int i = 0; i < 5; i++)
    if (found(names[i])) CHECK_EQUAL(found(names[i])->shape[0], i + 1);
  CHECK_EQUAL(count_tensors(), 5);
  CHECK(attn_tape_find(tape, "encoder") == NULL);
  CHECK(attn_tape_find(tape, "encoder.0.") == NULL);
  CHECK(attn_tape_find(tape, "") == NULL);
}

static void several_scopes_can_be_left_at_once_and_reset_leaves_all(void) {
  fresh();
  const int32_t outside = attn_scope_enter(tape, "a");
  attn_scope_enter(tape, "b");
  attn_scope_enter(tape, "c");
  attn_scope_leave(tape, outside);
  CHECK(strcmp(given("x", SHAPE(1))->name, "x") == 0);
  attn_scope_enter(tape, "a");
  attn_tape_reset(tape);
  CHECK(strcmp(given("x", SHAPE(1))->name, "x") == 0);
}

static void scopes_of_127_characters_work_and_of_128_fail(void) {
  char scope[128];
  memset(scope, 's', 127);
  scope[127] = 0;
  fresh();
  attn_scope_enter(tape, scope + 1); /* 126 and the dot */
  const attn_tensor *x = given("x", SHAPE(1));
  CHECK(x && strlen(x->name) == 128 && strcmp(x->name + 125, "s.x") == 0);
  fresh();
  attn_scope_enter(tape, scope);
  CHECK_EQUAL(attn_tape_status(tape), ATTN_BAD_VALUE);
  CHECK(strstr(attn_tape_message(tape), "is nested deeper than 127 characters"));
  CHECK(given("x", SHAPE(1)) == NULL);
}

static void a_thousand_nested_scopes_fail_and_can_be_left(void) {
  fresh();
  int32_t previous[1000];
  for (int i = 0; i < 1000; i++) previous[i] = attn_scope_enter(tape, "deep");
  CHECK_FAILED(ATTN_BAD_VALUE, "the scope \"deep\" is nested deeper than 127 characters");
  for (int i = 999; i >= 0; i--) attn_scope_leave(tape, previous[i]);
  attn_tape_reset(tape);
  CHECK(strcmp(given("x", SHAPE(1))->name, "x") == 0);
}

static void names_of_any_length_are_copied(void) {
  fresh();
  char name[5001];
  memset(name, 'n', 5000);
  name[5000] = 0;
  const attn_tensor *x = given(name, SHAPE(1));
  attn_override(tape, name, 1, (int32_t[]){0}, 7);
  memset(name, '#', 5000);
  CHECK(strlen(x->name) == 5000 && x->name[0] == 'n' && x->name[4999] == 'n');
  memset(name, 'n', 5000);
  CHECK(found(name) == x);
  CHECK_BITS(given(name, SHAPE(1))->data[0], 7);
}

static void random_numbers_depend_on_seed_and_full_name_alone(void) {
  char name[400], other[400];
  memset(name, 'n', sizeof name);
  memcpy(other, name, sizeof name);
  name[399] = other[399] = 0;
  other[398] = 'm';
  fresh();
#define DRAW(name, seed) \
  attn_random(tape, name, SHAPE(3, 5), (const char *[]){"i", "j"}, seed, ATTN_DISTRIBUTION_NORMAL)
  const attn_tensor *first = DRAW("w", 1);
  given("between", SHAPE(100));
  CHECK(equal_tensors(DRAW("w", 1), first));
  CHECK(!equal_tensors(DRAW("w", 2), first));
  CHECK(!equal_tensors(DRAW("v", 1), first));
  CHECK(!equal_tensors(DRAW(name, 1), DRAW(other, 1)));
  const attn_tensor *dotted = DRAW("scope.w", 1);
  attn_scope_enter(tape, "scope");
  CHECK(equal_tensors(DRAW("w", 1), dotted));
  CHECK(!equal_tensors(dotted, first));
#undef DRAW
}

/* ---- inputs ------------------------------------------------------------------------------- */

static void inputs_keep_shape_and_axes_and_are_aligned(void) {
  fresh();
  static const char *const axes[] = {"B", "h", "Tq", "Tk"};
  static const int32_t shape[] = {2, 3, 1, 5};
  for (int32_t rank = 0; rank <= 4; rank++) {
    const attn_tensor *x = attn_input(tape, "x", rank, shape, axes);
    NOTE("rank %d", rank);
    CHECK(x && x->rank == rank && (uintptr_t)x->data % 32 == 0);
    for (int32_t i = 0; i < rank; i++) CHECK(x->shape[i] == shape[i] && x->axes[i] == axes[i]);
    for (int32_t i = rank; i < 4; i++) CHECK(x->shape[i] == 0 && x->axes[i] == NULL);
    static const int lengths[] = {1, 2, 6, 6, 30};
    CHECK_EQUAL(attn_length(x), lengths[rank]);
  }
}

static void shapes_out_of_range_are_named(void) {
  fresh();
  CHECK(attn_input(tape, "x", 5, NULL, NULL) == NULL);
  CHECK_FAILED(ATTN_BAD_SHAPE, "x has 5 axes; at most 4 are possible");
  fresh();
  CHECK(attn_input(tape, "x", -1, NULL, NULL) == NULL);
  CHECK_FAILED(ATTN_BAD_SHAPE, "x has -1 axes; at most 4 are possible");
  fresh();
  CHECK(given("x", SHAPE(3, INT_MIN, 0)) == NULL);
  CHECK_FAILED(ATTN_BAD_SHAPE, "x: axis j has the size -2147483648");
  fresh();
  CHECK(attn_random(tape, "x", 5, NULL, NULL, 0, 0) == NULL);
  CHECK_FAILED(ATTN_BAD_SHAPE, "x has 5 axes; at most 4 are possible");
  fresh();
  CHECK(attn_random(tape, "x", SHAPE(3), (const char *[]){"i"}, 0, 2) == NULL);
  CHECK_FAILED(ATTN_BAD_SHAPE, "a Xavier tensor is [out, in]; x has 1 axes");
  fresh();
  CHECK(attn_random(tape, "x", SHAPE(3), (const char *[]){"i"}, 0, 3) == NULL);
  CHECK_FAILED(ATTN_BAD_VALUE, "distribution 3 is unknown; it must be 0 to 2");
}

/* ---- overrides ---------------------------------------------------------------------------- */

static void override(const char *name, int32_t rank, const int32_t *at, attn_real value) {
  CHECK_EQUAL(attn_override(tape, name, rank, at, value), ATTN_OK);
}

static void check_numbers(const attn_tensor *tensor, const attn_real *expected) {
  if (!tensor) {
    CLAIM(false, "no tensor: %s", attn_tape_message(tape));
    return;
  }
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) CHECK_BITS(tensor->data[i], expected[i]);
}

static const attn_tensor *counted(const char *name, int32_t rank, const int32_t *shape) {
  attn_tensor *x = attn_input(tape, name, rank, shape, (const char *[]){"i", "j", "k", "l"});
  for (ptrdiff_t i = 0; i < attn_length(x); i++) x->data[i] = (attn_real)i;
  return attn_input_ready(tape, x);
}

static void cells_rows_columns_and_all_can_be_overridden(void) {
  fresh();
  override("cell", SHAPE(1, 2), 9);
  override("row", SHAPE(1, -1), 9);
  override("column", SHAPE(-1, 0), 9);
  override("all", SHAPE(-1, -1), 9);
  check_numbers(counted("cell", SHAPE(2, 3)), (attn_real[]){0, 1, 2, 3, 4, 9});
  check_numbers(counted("row", SHAPE(2, 3)), (attn_real[]){0, 1, 2, 9, 9, 9});
  check_numbers(counted("column", SHAPE(2, 3)), (attn_real[]){9, 1, 2, 9, 4, 5});
  check_numbers(counted("all", SHAPE(2, 3)), (attn_real[]){9, 9, 9, 9, 9, 9});
  CHECK_EQUAL(attn_overrides_check(tape), ATTN_OK);
}

static void overrides_reach_every_rank_and_the_axis_they_name(void) {
  fresh();
  override("scalar", 0, NULL, 9);
  override("vector", SHAPE(2), 9);
  override("cube", SHAPE(1, -1, 0), 9);
  override("four", SHAPE(-1, 1, 0, -1), 9);
  check_numbers(counted("scalar", 0, NULL), (attn_real[]){9});
  check_numbers(counted("vector", SHAPE(3)), (attn_real[]){0, 1, 9});
  check_numbers(counted("cube", SHAPE(2, 2, 2)), (attn_real[]){0, 1, 2, 3, 9, 5, 9, 7});
  check_numbers(counted("four", SHAPE(2, 2, 2, 2)),
                (attn_real[]){0, 1, 2, 3, 9, 9, 6, 7, 8, 9, 10, 11, 9, 9, 14, 15});
}

static void the_later_override_wins_and_nan_is_a_value(void) {
  fresh();
  override("x", SHAPE(-1), NAN);
  override("x", SHAPE(1), 1);
  override("x", SHAPE(1), 2);
  check_numbers(counted("x", SHAPE(3)), (attn_real[]){NAN, 2, NAN});
}

static void what_follows_uses_the_overridden_number(void) {
  fresh();
  override("x", SHAPE(0), 5);
  override("sum", SHAPE(1), -3);
  const attn_tensor *sum = doubled("sum", counted("x", SHAPE(3)));
  check_numbers(sum, (attn_real[]){10, -3, 4});
  check_numbers(attn_activate(tape, "relu", sum, ATTN_ACTIVATION_RELU), (attn_real[]){10, 0, 4});
}

static void overrides_name_the_tensor_behind_its_scopes(void) {
  fresh();
  override("a.x", SHAPE(0), 9);
  check_numbers(counted("x", SHAPE(1)), (attn_real[]){0});
  CHECK_EQUAL(attn_overrides_check(tape), ATTN_NOT_FOUND);
  CHECK_FAILED(ATTN_NOT_FOUND,
               "an override names \"a.x\"; nothing that this pass computes has that name");
  fresh();
  attn_scope_enter(tape, "a");
  override("a.x", SHAPE(0), 9);
  check_numbers(counted("x", SHAPE(1)), (attn_real[]){9});
  CHECK_EQUAL(attn_overrides_check(tape), ATTN_OK);
}

static void check_refused(int32_t rank, const int32_t *at, attn_status status,
                          const char *message) {
  fresh();
  attn_override(tape, "x", rank, at, 1);
  CHECK(given("x", SHAPE(2, 3)) == NULL);
  CHECK_FAILED(status, message);
}

static void overrides_that_fit_no_cell_are_refused(void) {
  check_refused(SHAPE(2, 0), ATTN_BAD_VALUE,
                "an override of x at 2 on axis i, which has the size 2");
  check_refused(SHAPE(0, INT_MAX), ATTN_BAD_VALUE,
                "an override of x at 2147483647 on axis j, which has the size 3");
  check_refused(SHAPE(-2, 0), ATTN_BAD_VALUE,
                "an override of x at -2 on axis i, which has the size 2");
  check_refused(SHAPE(INT_MIN, 0), ATTN_BAD_VALUE,
                "an override of x at -2147483648 on axis i, which has the size 2");
  check_refused(SHAPE(1), ATTN_BAD_SHAPE, "an override of x names 1 axes; it has 2");
  check_refused(SHAPE(0, 0, 0, 0), ATTN_BAD_SHAPE, "an override of x names 4 axes; it has 2");
  check_refused(SHAPE(0, 0, 0, 0, 0), ATTN_BAD_SHAPE,
                "an override of x with 5 axes; at most 4 are possible");
  check_refused(-1, NULL, ATTN_BAD_SHAPE, "an override of x with -1 axes; at most 4 are possible");
}

static void empty_tensors_take_slices_and_refuse_cells(void) {
  fresh();
  override("x", SHAPE(-1, 1), 9);
  CHECK(given("x", SHAPE(0, 2)) != NULL);
  CHECK_EQUAL(attn_overrides_check(tape), ATTN_OK);
  fresh();
  override("x", SHAPE(0, 1), 9);
  CHECK(given("x", SHAPE(0, 2)) == NULL);
  CHECK_EQUAL(attn_tape_status(tape), ATTN_BAD_VALUE);
}

static void reset_drops_overrides(void) {
  fresh();
  override("x", SHAPE(0), 9);
  attn_tape_reset(tape);
  check_numbers(counted("x", SHAPE(1)), (attn_real[]){0});
  CHECK_EQUAL(attn_overrides_check(tape), ATTN_OK);
}

/* ---- errors ------------------------------------------------------------------------------- */

static void the_first_error_stays_until_the_reset(void) {
  fresh();
  const attn_tensor *x = given("x", SHAPE(2, 3)), *weight = given("weight", SHAPE(4, 2));
  CHECK(attn_linear(tape, "y", x, weight, NULL) == NULL);
  const char *message = "weight has the shape [4, 2]; it must be [out, 3] to fit x";
  CHECK_FAILED(ATTN_BAD_SHAPE, message);
  const int before = count_tensors();
  const attn_attention_options options = attn_attention_defaults();
  const attn_texts texts = {"ab", (int32_t[]){1, 1}, 2};
  const attn_attention_layer_options layer = attn_attention_layer_defaults();
  CHECK(given("z", SHAPE(1)) == NULL);
  CHECK(doubled("z", x) == NULL);
  CHECK(attn_alibi_slopes(tape, "z", -1) == NULL);
  CHECK(attn_sinusoidal(tape, "z", 2, 2, 0) == NULL);
  CHECK(attn_attention(tape, x, x, x, &options) == NULL);
  CHECK(attn_attention_layer(tape, &texts, NULL, &layer) == NULL);
  CHECK(attn_tape_take(tape, 1) == NULL);
  CHECK_EQUAL(attn_override(tape, "x", SHAPE(0, 0), 1), ATTN_BAD_SHAPE);
  CHECK_EQUAL(attn_overrides_check(tape), ATTN_BAD_SHAPE);
  CHECK_FAILED(ATTN_BAD_SHAPE, message);
  CHECK_EQUAL(count_tensors(), before);
  attn_tape_reset(tape);
  CHECK_OK();
  CHECK(given("x", SHAPE(2)) != NULL);
}

static void messages_of_endless_names_are_cut_and_terminated(void) {
  fresh();
  char name[4001];
  memset(name, 'n', 4000);
  name[4000] = 0;
  CHECK(given(name, SHAPE(-1)) == NULL);
  CHECK_EQUAL(strlen(attn_tape_message(tape)), 319);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void a_size_beyond_the_limit_leaves_the_tape_as_it_was(void) {
  fresh();
  given("x", SHAPE(2));
  const attn_mark before = attn_scratch_mark(tape);
  CHECK(given("y", SHAPE(32768, 32768)) == NULL);
  CHECK_FAILED(ATTN_TOO_BIG, sizeof(attn_real) == 4
                                 ? "y would need 4096 MiB; the limit is 512 MiB"
                                 : "y would need 8192 MiB; the limit is 512 MiB");
  CHECK_EQUAL(count_tensors(), 1);
  CHECK(attn_scratch_mark(tape) - before < 64); /* the name alone */
  fresh();
  CHECK(given("y", SHAPE(INT_MAX, INT_MAX, INT_MAX, 0)) == NULL);
  CHECK_EQUAL(attn_tape_status(tape), ATTN_TOO_BIG);
}

static void scores_beyond_the_limit_are_refused_before_the_product(void) {
  fresh();
  const attn_tensor *query = given("query", SHAPE(1, 1, 32768, 1));
  const attn_attention_options options = attn_attention_defaults();
  CHECK(attn_attention(tape, query, query, query, &options) == NULL);
  CHECK_EQUAL(attn_tape_status(tape), ATTN_TOO_BIG);
  CHECK_EQUAL(count_tensors(), 1);
}

static size_t rounded(size_t bytes) { return (bytes + 31) / 32 * 32; }

/* What the tape holds for tensors and nothing else. */
static size_t tensor_bytes(const attn_tensor *tensor) {
  size_t bytes = 0;
  for (; tensor; tensor = tensor->next)
    bytes += rounded(strlen(tensor->name) + 1) + rounded(sizeof *tensor) +
             rounded((size_t)attn_length(tensor) * sizeof(attn_real));
  return bytes;
}

/* Every kind of operation once, with need_weights as told. */
static void run_all(int32_t need_weights) {
  const attn_texts texts = {"abcabd", (int32_t[]){1, 2, 1, 2}, 4};
  for (int32_t score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_GAUSSIAN; score++)
    for (int32_t position = ATTN_POSITION_NONE; position <= ATTN_POSITION_ALIBI; position++) {
      attn_attention_layer_options options = attn_attention_layer_defaults();
      options.attention.score = score;
      options.attention.need_weights = need_weights;
      options.attention.heads = 2;
      options.attention.dropout = 0.5f;
      options.position = position;
      attn_attention_layer(tape, &texts, &texts, &options);
    }
  const attn_tensor *x = given("x", SHAPE(2, 5, 6)), *square = given("square", SHAPE(6, 6));
  attn_encoder_layer_options options = attn_encoder_layer_defaults();
  options.attention.need_weights = need_weights;
  const attn_encoder_layer_weights weights = {.attention = {.query_weight = square,
                                                            .key_weight = square,
                                                            .value_weight = square,
                                                            .output_weight = square},
                                              .feed_forward = {square, NULL, square, NULL}};
  attn_encoder_layer(tape, x, &weights, &options);
}

static void every_operation_gives_its_scratch_back(void) {
  for (int32_t need_weights = 0; need_weights < 2; need_weights++) {
    fresh();
    const attn_mark before = attn_scratch_mark(tape);
    run_all(need_weights);
    CHECK_OK();
    CHECK_EQUAL(rounded(attn_scratch_mark(tape)) - rounded(before),
                tensor_bytes(attn_tape_first(tape)));
  }
}

static size_t times_grown, granted_bytes;

static size_t grow_exactly(size_t bytes) {
  times_grown++;
  return granted_bytes = bytes;
}

static void repeated_runs_take_the_memory_of_the_first(void) {
  attn_tape *kept = tape;
  times_grown = 0;
  tape = attn_tape_new(block, 0, grow_exactly);
  CHECK(tape && times_grown == 1);
  run_all(1);
  const size_t needed = granted_bytes, times = times_grown;
  const attn_mark used = attn_scratch_mark(tape);
  for (int i = 0; i < 10; i++) {
    attn_tape_reset(tape);
    run_all(1);
    CHECK_OK();
    CHECK_EQUAL(attn_scratch_mark(tape), used);
  }
  CHECK_EQUAL(times_grown, times);
  CHECK_EQUAL(granted_bytes, needed);
  tape = kept;
}

static void a_block_too_small_for_the_head_makes_no_tape(void) {
  CHECK(attn_tape_new(block, 0, NULL) == NULL);
  CHECK(attn_tape_new(block, 100, NULL) == NULL);
}

static void wherever_memory_ends_the_call_says_so_and_the_next_one_works(void) {
  attn_tape *kept = tape;
  int failures = 0;
  for (size_t size = 4096; size < 900000; size += 3001) {
    uint8_t *memory = malloc(size); /* of this very size: the sanitizer guards its end */
    tape = attn_tape_new(memory, size, NULL);
    run_all(size / 3001 % 2);
    const attn_status status = attn_tape_status(tape);
    NOTE("%zu bytes", size);
    CHECK(status == ATTN_OK || status == ATTN_NO_MEMORY);
    if (status == ATTN_NO_MEMORY) {
      failures++;
      CHECK(strncmp(attn_tape_message(tape), "out of memory: ", 15) == 0);
      attn_tape_reset(tape);
      CHECK_OK();
      CHECK(doubled("two", counted("x", SHAPE(2)))->data[1] == 2);
    }
    free(memory);
  }
  tape = kept;
  CHECK(failures > 50);
}

static void out_of_memory_tells_how_much_is_in_use_and_how_much_was_asked_for(void) {
  attn_tape *kept = tape;
  tape = attn_tape_new(block, 3 << 20, NULL);
  CHECK(attn_tape_take(tape, (2 << 20) - rounded(attn_scratch_mark(tape))) != NULL);
  CHECK(attn_tape_take(tape, 3 << 19) == NULL);
  CHECK_FAILED(ATTN_NO_MEMORY, "out of memory: 2 MiB in use, 1.5 MiB more asked for");
  tape = kept;
}

int main(void) {
  RUN(tensors_stand_in_the_order_of_computation_with_their_sources);
  RUN(sources_left_out_are_not_listed);
  RUN(scopes_stand_before_names_and_nest);
  RUN(several_scopes_can_be_left_at_once_and_reset_leaves_all);
  RUN(scopes_of_127_characters_work_and_of_128_fail);
  RUN(a_thousand_nested_scopes_fail_and_can_be_left);
  RUN(names_of_any_length_are_copied);
  RUN(random_numbers_depend_on_seed_and_full_name_alone);
  RUN(inputs_keep_shape_and_axes_and_are_aligned);
  RUN(shapes_out_of_range_are_named);
  RUN(cells_rows_columns_and_all_can_be_overridden);
  RUN(overrides_reach_every_rank_and_the_axis_they_name);
  RUN(the_later_override_wins_and_nan_is_a_value);
  RUN(what_follows_uses_the_overridden_number);
  RUN(overrides_name_the_tensor_behind_its_scopes);
  RUN(overrides_that_fit_no_cell_are_refused);
  RUN(empty_tensors_take_slices_and_refuse_cells);
  RUN(reset_drops_overrides);
  RUN(the_first_error_stays_until_the_reset);
  RUN(messages_of_endless_names_are_cut_and_terminated);
  RUN(a_size_beyond_the_limit_leaves_the_tape_as_it_was);
  RUN(scores_beyond_the_limit_are_refused_before_the_product);
  RUN(every_operation_gives_its_scratch_back);
  RUN(repeated_runs_take_the_memory_of_the_first);
  RUN(a_block_too_small_for_the_head_makes_no_tape);
  RUN(wherever_memory_ends_the_call_says_so_and_the_next_one_works);
  RUN(out_of_memory_tells_how_much_is_in_use_and_how_much_was_asked_for);
  return report();
}
