/*
 * The sweep back: what gets a gradient and what none, accumulation, edited and masked cells,
 * memory, errors. Whether the gradients are right: test_gradients.c.
 */
#include "derivative.h"
#include "ops/ops.h"

/* ---- who gets a gradient ------------------------------------------------------------------- */

static void only_what_leads_from_a_parameter_to_the_loss_gets_a_gradient(void) {
  fresh();
  const attn_tensor *w = learned("w", SHAPE(1, 3)), *unused = learned("unused", SHAPE(3));
  const attn_tensor *x = given("x", SHAPE(1, 3)), *constant = attn_add(tape, "constant", x, x);
  const attn_tensor *inside = attn_add(tape, "inside", w, constant);
  const attn_tensor *beside = attn_add(tape, "beside", w, unused);
  attn_tensor *loss = sum_of(inside);
  const attn_tensor *behind = attn_add(tape, "behind", loss, loss);
  CHECK(w->requires_gradient && inside->requires_gradient && loss->requires_gradient);
  CHECK(!x->requires_gradient && !constant->requires_gradient);
  CHECK_EQUAL(attn_backward(tape, loss), ATTN_OK);
  CHECK(!x->gradient && !constant->gradient && !beside->gradient && !behind->gradient);
  for (int i = 0; i < 3; i++) {
    CHECK_BITS(inside->gradient[i], 1);
    CHECK_BITS(w->gradient[i], 1);
    CHECK_BITS(unused->gradient[i], 0);
  }
  CHECK_BITS(loss->gradient[0], 1);
}

static void an_input_that_asks_for_a_gradient_gets_one(void) {
  fresh();
  attn_tensor *x = given("x", SHAPE(1, 3));
  attn_tape_keep(tape);
  x->requires_gradient = true;
  CHECK_EQUAL(attn_backward(tape, sum_of(x)), ATTN_OK);
  CHECK(x->gradient && x->gradient[2] == 1);
  attn_tape_rewind(tape);
  CHECK(x->gradient == NULL);
  CHECK_EQUAL(attn_backward(tape, sum_of(x)), ATTN_OK);
  CHECK_BITS(x->gradient[2], 1);
}

static void flags_and_masks_are_constants(void) {
  fresh();
  const attn_tensor *x = learned("x", SHAPE(1, 1, 3, 3));
  const attn_attention_options options = attn_attention_defaults();
  attn_masked_softmax(tape, x, &options);
  CHECK(found("weights")->requires_gradient && found("masked_scores")->requires_gradient);
  CHECK(!found("row_flags")->requires_gradient && !found("mask")->requires_gradient);
}

static void the_fused_path_is_for_what_needs_no_gradient(void) {
  for (int i = 0; i < 5; i++) {
    fresh();
    NOTE("input %d", i);
    attn_tensor *input[4];
    for (int j = 0; j < 4; j++) input[j] = given("x", SHAPE(1, 1, 3, 3));
    attn_attention_options options = attn_attention_defaults();
    options.need_weights = 0;
    options.bias = input[3];
    if (i < 4) input[i]->requires_gradient = true;
    const attn_tensor *output = attn_attention(tape, input[0], input[1], input[2], &options);
    CHECK(strcmp(output->op, i < 4 ? "mix" : "fused_attention") == 0);
  }
}

/* ---- accumulation -------------------------------------------------------------------------- */

static void gradients_gather_until_they_are_set_to_0(void) {
  fresh();
  const attn_tensor *w = learned("w", SHAPE(1, 3));
  attn_tape_keep(tape);
  for (int round = 1; round <= 3; round++) {
    attn_tensor *loss = sum_of(attn_add(tape, "double", w, w));
    attn_backward(tape, loss);
    CHECK_BITS(w->gradient[1], (attn_real)(4 * round - 2));
    attn_backward(tape, loss); /* of the same tape once more */
    CHECK_BITS(w->gradient[1], (attn_real)(4 * round));
    CHECK_BITS(found("double")->gradient[1], 1);
    attn_tape_rewind(tape);
  }
  attn_gradients_zero(tape);
  CHECK_BITS(w->gradient[1], 0);
}

static void a_sweep_reads_nothing_of_an_earlier_one(void) {
  fresh();
  const attn_tensor *w = learned("w", SHAPE(1, 2));
  const attn_tensor *odd = given("odd", SHAPE(2, 2));
  for (int i = 0; i < 4; i++) odd->data[i] = (attn_real)NAN;
  attn_tensor *bad = sum_of(attn_linear(tape, "bad", w, odd, NULL));
  attn_tensor *good = sum_of(w);
  attn_backward(tape, bad);
  CHECK(isnan(w->gradient[0]));
  attn_gradients_zero(tape);
  attn_backward(tape, good);
  CHECK_BITS(w->gradient[0], 1);
}

/* ---- edited cells -------------------------------------------------------------------------- */

static void an_edited_cell_passes_no_gradient_even_of_a_parameter(void) {
  fresh();
  attn_override(tape, "w", 2, (int32_t[]){0, 1}, 5);
  const attn_tensor *w = learned("w", SHAPE(1, 3));
  CHECK_BITS(w->data[1], 5);
  attn_backward(tape, sum_of(w));
  CHECK_BITS(w->gradient[0], 1);
  CHECK_BITS(w->gradient[1], 0);
}

static void edits_before_keep_stay_and_later_ones_go(void) {
  fresh();
  const attn_tensor *w = learned("w", SHAPE(1, 3));
  attn_override(tape, "y", 2, (int32_t[]){0, 0}, 5);
  attn_tape_keep(tape);
  for (int round = 0; round < 2; round++) {
    attn_override(tape, "y", 2, (int32_t[]){0, 1}, 6);
    const attn_tensor *y = attn_add(tape, "y", w, w);
    CHECK(y->data[0] == 5 && y->data[1] == 6);
    attn_tape_rewind(tape);
    y = attn_add(tape, "y", w, w);
    CHECK(y->data[0] == 5 && y->data[1] != 6);
    attn_tape_rewind(tape);
  }
}

/* ---- masked cells -------------------------------------------------------------------------- */

static attn_tensor *column(const char *name, attn_real first, attn_real second) {
  attn_tensor *tensor = learned(name, SHAPE(1, 1, 2, 1));
  tensor->data[0] = first, tensor->data[1] = second;
  return tensor;
}

static void near_case(double actual, double expected) {
  CHECK_NEAR(actual, expected, 1e-6 + 1e-5 * fabs(expected));
}

static void case_m3_one_row_of_two_is_empty(void) {
  fresh();
  const attn_tensor *query = column("query", 1, 1), *key = column("key", 1, 2);
  const attn_tensor *value = column("value", 10, 20), *mask = given("mask", SHAPE(1, 1, 2, 2));
  for (int i = 0; i < 4; i++) mask->data[i] = i < 2;
  attn_attention_options options = attn_attention_defaults();
  options.mask = mask;
  options.scale_mode = ATTN_SCALE_GIVEN, options.scale = 1;
  attn_backward(tape, sum_of(attn_attention(tape, query, key, value, &options)));
  CHECK_OK();
  near_case(query->gradient[0], 1.9661193);
  CHECK_BITS(query->gradient[1], 0);
  near_case(key->gradient[0], -1.9661193);
  near_case(key->gradient[1], 1.9661193);
  near_case(value->gradient[0], 0.26894142);
  near_case(value->gradient[1], 0.73105858);
}

/* M4 with gradients, for every score and normaliser: query 0 may see key 0 alone, query 1 none.
 * What is masked, key and value 1 and query 1, is NaN. */
static void case_m4_masked_nan_leaks_into_no_gradient(void) {
  for (int32_t score = ATTN_SCORE_SCALED_DOT; score <= ATTN_SCORE_GAUSSIAN; score++)
    for (int32_t normalise = ATTN_NORMALISE_SOFTMAX; normalise <= ATTN_NORMALISE_RELU; normalise++)
      for (int32_t odd = 0; odd < 2; odd++) {
        fresh();
        NOTE("score %d, normalise %d, odd %d", score, normalise, odd);
        const attn_real nan = odd ? (attn_real)INFINITY : (attn_real)NAN;
        const attn_tensor *query = column("query", 1, nan), *key = column("key", 1, nan);
        const attn_tensor *value = column("value", 10, nan);
        attn_tensor *mask = given("mask", SHAPE(1, 1, 2, 2));
        for (int i = 0; i < 4; i++) mask->data[i] = i == 0;
        attn_attention_options options = attn_attention_defaults();
        options.score = score, options.normalise = normalise;
        options.mask = mask;
        options.dropout = odd ? 0.5f : 0;
        options.score_query_weight = learned("query.weight", SHAPE(3, 1));
        options.score_key_weight = learned("key.weight", SHAPE(3, 1));
        options.score_value_weight = learned("value.weight", SHAPE(1, 3));
        options.score_weight = learned("weight", SHAPE(1, 1));
        options.score_width = learned("width", SHAPE(1));
        attn_backward(tape, sum_of(attn_attention(tape, query, key, value, &options)));
        CHECK_OK();
        CHECK_BITS(value->gradient[0], found("output")->data[0] / 10);
        CHECK_BITS(query->gradient[1], 0);
        CHECK_BITS(key->gradient[1], 0);
        CHECK_BITS(value->gradient[1], 0);
        for (int i = 1; i < 4; i++) CHECK_BITS(found("masked_scores")->gradient[i], 0);
        for (const attn_tensor *x = attn_tape_first(tape); x; x = x->next)
          for (ptrdiff_t i = 0; is_parameter(x) && i < attn_length(x); i++)
            CLAIM(isfinite(x->gradient[i]), "the gradient of %s[%d] is %g", x->name, (int)i,
                  (double)x->gradient[i]);
      }
}

/* Rows 0 of [1, 1, 2, 3] are NaN, and the loss gives them no gradient. */
static void rows_without_a_gradient_are_not_read(void) {
  for (int kind = 0; kind < 3; kind++) {
    fresh();
    NOTE("kind %d", kind);
    const attn_tensor *x = learned("x", SHAPE(1, 1, 2, 3)), *weight = learned("w", SHAPE(3));
    for (int i = 0; i < 3; i++) x->data[i] = (attn_real)NAN;
    const attn_tensor *y = kind == 0 ? attn_layer_norm(tape, "y", x, weight, NULL, 1)
                           : kind == 1
                               ? attn_unit_rows(tape, "y", x)
                               : attn_normalise_scores(tape, x, ATTN_NORMALISE_SOFTMAX, false);
    attn_tensor *weights = given("loss.weights", SHAPE(1, 1, 2, 3));
    for (int i = 0; i < 3; i++) weights->data[i] = 0;
    CHECK_EQUAL(attn_backward(tape, dot_of(y, weights)), ATTN_OK);
    for (int i = 0; i < 3; i++) {
      CHECK_BITS(x->gradient[i], 0);
      CHECK(isfinite(x->gradient[3 + i]) && x->gradient[3 + i] != 0);
      CHECK(isfinite(weight->gradient[i]));
    }
  }
}

static void a_masked_token_that_is_nan_leaves_the_projections_their_gradients(void) {
  fresh();
  const attn_tensor *queries = given("queries", SHAPE(1, 2, 4)), *x = given("x", SHAPE(1, 3, 4));
  for (int i = 8; i < 12; i++) x->data[i] = (attn_real)NAN;
  attn_tensor *lengths = given("lengths", SHAPE(1, 1));
  lengths->data[0] = 2;
  attn_attention_options options = attn_attention_defaults();
  options.valid_lengths = lengths;
  options.heads = 2;
  const attn_multi_head_weights weights = {.query_weight = learned("q", SHAPE(4, 4)),
                                           .key_weight = learned("k", SHAPE(4, 4)),
                                           .key_bias = learned("k.bias", SHAPE(4)),
                                           .value_weight = learned("v", SHAPE(4, 4)),
                                           .value_bias = learned("v.bias", SHAPE(4)),
                                           .output_weight = learned("o", SHAPE(4, 4))};
  attn_backward(tape, loss_of(attn_multi_head_attention(tape, queries, x, x, &weights, &options)));
  CHECK_OK();
  for (const attn_tensor *w = attn_tape_first(tape); w; w = w->next)
    for (ptrdiff_t i = 0; is_parameter(w) && i < attn_length(w); i++)
      CLAIM(isfinite(w->gradient[i]), "the gradient of %s[%d] is %g", w->name, (int)i,
            (double)w->gradient[i]);
}

/* ---- dropout ------------------------------------------------------------------------------- */

static void dropout_passes_what_it_kept_and_nothing_pushes_no_tensor(void) {
  fresh();
  const attn_tensor *x = learned("x", SHAPE(1, 1000));
  for (int i = 0; i < 1000; i++) x->data[i] = 1;
  CHECK(attn_dropout(tape, "none", x, 0, 1) == x && attn_tape_find(tape, "none") == NULL);
  const attn_tensor *out = attn_dropout(tape, "some", x, 0.25f, 1);
  attn_backward(tape, sum_of(out));
  int kept = 0;
  for (int i = 0; i < 1000; i++) {
    CHECK_BITS(x->gradient[i], out->data[i]);
    CHECK(out->data[i] == 0 || is_close(out->data[i], 1 / 0.75));
    kept += out->data[i] != 0;
  }
  CHECK_NEAR(kept, 750, 60);
  CHECK(!equal_tensors(attn_dropout(tape, "other", x, 0.25f, 1), out));
  CHECK(!equal_tensors(attn_dropout(tape, "some", x, 0.25f, 2), out));
  CHECK(equal_tensors(attn_dropout(tape, "some", x, 0.25f, 1), out));
}

/* ---- memory and errors --------------------------------------------------------------------- */

static const attn_encoder_layer_weights *layer(void) {
  static attn_encoder_layer_weights weights;
  const attn_tensor *square = learned("square", SHAPE(8, 8));
  weights = (attn_encoder_layer_weights){
      .attention = {.query_weight = square,
                    .key_weight = square,
                    .value_weight = square,
                    .output_weight = square},
      .feed_forward = {learned("w1", SHAPE(8, 8)), NULL, learned("w2", SHAPE(8, 8)), NULL}};
  return &weights;
}

static void one_step(const attn_encoder_layer_weights *weights) {
  attn_encoder_layer_options options = attn_encoder_layer_defaults();
  options.attention.dropout = 0.1f;
  options.attention.heads = 2;
  attn_tape_rewind(tape);
  attn_gradients_zero(tape);
  attn_backward(tape,
                sum_of(attn_encoder_layer(tape, given("x", SHAPE(2, 5, 8)), weights, &options)));
}

static size_t granted_bytes;

static size_t grow_exactly(size_t bytes) {
  if (bytes > BLOCK_BYTES) return 0;
  return granted_bytes = bytes;
}

static void memory_is_flat_from_step_to_step(void) {
  attn_tape *usual = tape;
  tape = attn_tape_new(block, 0, grow_exactly);
  const attn_encoder_layer_weights *weights = layer();
  attn_tape_keep(tape);
  one_step(weights);
  const size_t needed = granted_bytes;
  for (int i = 0; i < 10000; i++) one_step(weights);
  CHECK_OK();
  CHECK_EQUAL(granted_bytes, needed);
  tape = usual;
}

static size_t limit;

static size_t grow_to_the_limit(size_t bytes) { return bytes <= limit ? bytes : 0; }

static const attn_encoder_layer_weights *begin(size_t size) {
  tape = attn_tape_new(block, limit = size, grow_to_the_limit);
  random_state = 1;
  const attn_encoder_layer_weights *weights = layer();
  attn_tape_keep(tape);
  return weights;
}

/* Wherever in a step memory ends, the tape says so, and the next step with enough is as the first.
 */
static void memory_that_ends_anywhere_is_told_and_rewound(void) {
  attn_tape *usual = tape;
  const attn_encoder_layer_weights *weights = begin(BLOCK_BYTES);
  const size_t kept = attn_scratch_mark(tape);
  const uint32_t state = random_state;
  one_step(weights);
  const size_t needed = attn_scratch_mark(tape);
  const attn_real expected = weights->feed_forward.linear1_weight->gradient[3];
  for (size_t end = kept; end < needed; end += 64) {
    NOTE("memory ends at %zu of %zu", end, needed);
    weights = begin(kept);
    limit = end;
    one_step(weights);
    CHECK_EQUAL(attn_tape_status(tape), ATTN_NO_MEMORY);
    limit = BLOCK_BYTES;
    random_state = state;
    one_step(weights);
    CHECK_OK();
    CHECK_BITS(weights->feed_forward.linear1_weight->gradient[3], expected);
  }
  tape = usual;
}

static void losses_without_gradients_are_refused(void) {
  fresh();
  attn_tensor *w = learned("w", SHAPE(1, 2));
  attn_tape_keep(tape);
  CHECK_EQUAL(attn_backward(tape, w), ATTN_BAD_SHAPE);
  CHECK_FAILED(ATTN_BAD_SHAPE, "w has 2 elements; gradients are those of 1");
  CHECK_EQUAL(attn_backward(tape, w), ATTN_BAD_SHAPE);
  CHECK(given("x", SHAPE(1)) == NULL);
  attn_tape_rewind(tape);
  CHECK_OK();
  CHECK_EQUAL(attn_backward(tape, sum_of(given("x", SHAPE(2)))), ATTN_BAD_VALUE);
  CHECK_FAILED(ATTN_BAD_VALUE, "loss depends on no parameter: it has no gradients");
  attn_tape_rewind(tape);
  CHECK_EQUAL(attn_backward(tape, sum_of(w)), ATTN_OK);
  attn_tape_reset(tape);
  CHECK(attn_tape_first(tape) == NULL);
  attn_tape_rewind(tape);
  CHECK(attn_tape_first(tape) == NULL);
}

int main(void) {
  RUN(only_what_leads_from_a_parameter_to_the_loss_gets_a_gradient);
  RUN(an_input_that_asks_for_a_gradient_gets_one);
  RUN(flags_and_masks_are_constants);
  RUN(the_fused_path_is_for_what_needs_no_gradient);
  RUN(gradients_gather_until_they_are_set_to_0);
  RUN(a_sweep_reads_nothing_of_an_earlier_one);
  RUN(an_edited_cell_passes_no_gradient_even_of_a_parameter);
  RUN(edits_before_keep_stay_and_later_ones_go);
  RUN(case_m3_one_row_of_two_is_empty);
  RUN(case_m4_masked_nan_leaks_into_no_gradient);
  RUN(rows_without_a_gradient_are_not_read);
  RUN(a_masked_token_that_is_nan_leaves_the_projections_their_gradients);
  RUN(dropout_passes_what_it_kept_and_nothing_pushes_no_tensor);
  RUN(memory_is_flat_from_step_to_step);
  RUN(memory_that_ends_anywhere_is_told_and_rewound);
  RUN(losses_without_gradients_are_refused);
  return report();
}
