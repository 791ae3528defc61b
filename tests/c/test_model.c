/*
 * The small whole model, and the random numbers it is made of: what it puts on the tape, what
 * depends on which seed, and how reordered tokens reorder the weights.
 */
#include "reference.h"

static attn_attention_layer_options options;

static void start(void) {
  fresh();
  options = attn_attention_layer_defaults();
  options.attention.heads = 2;
  options.hiddens = 8;
}

/* Tokens of one sign each. */
static attn_texts letters(const char *text) {
  static const int32_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  return (attn_texts){text, ones, (int32_t)strlen(text)};
}

static const attn_tensor *run_model(const char *source, const char *target) {
  const attn_texts from = letters(source), to = letters(target ? target : "");
  return attn_attention_layer(tape, &from, target ? &to : NULL, &options);
}

static bool equal_rows(const attn_tensor *a, int i, const attn_tensor *b, int j) {
  for (int d = 0; d < attn_last(a); d++)
    if (!same_bits(a->data[i * attn_last(a) + d], b->data[j * attn_last(b) + d])) return false;
  return true;
}

/* ---- what is on the tape ------------------------------------------------------------------ */

static const char *line_of(const attn_tensor *tensor) {
  static char line[128];
  int at = snprintf(line, sizeof line, "%s", tensor->name);
  for (int axis = 0; axis < tensor->rank; axis++)
    at += snprintf(line + at, sizeof line - (size_t)at, " %s=%d", tensor->axes[axis],
                   tensor->shape[axis]);
  return line;
}

static void check_lines(const attn_tensor *tensor, const char *const *lines) {
  for (; tensor && *lines; tensor = tensor->next, lines++)
    CLAIM(strcmp(line_of(tensor), *lines) == 0, "\"%s\" should be \"%s\"", line_of(tensor), *lines);
  CLAIM(!tensor && !*lines, "%s is too much", tensor ? tensor->name : *lines);
}

static void self_attention_writes_these_tensors(void) {
  start();
  run_model("abc", NULL);
  check_lines(attn_tape_first(tape),
              (const char *const[]){"source.embedding T=3 H=8",
                                    "source.input B=1 T=3 H=8",
                                    "attention.query.weight H=8 H=8",
                                    "attention.key.weight H=8 H=8",
                                    "attention.value.weight H=8 H=8",
                                    "attention.output.weight H=8 H=8",
                                    "attention.query_projection B=1 T=3 H=8",
                                    "attention.query B=1 h=2 Tq=3 D=4",
                                    "attention.key_projection B=1 T=3 H=8",
                                    "attention.key B=1 h=2 Tk=3 D=4",
                                    "attention.value_projection B=1 T=3 H=8",
                                    "attention.value B=1 h=2 Tk=3 D=4",
                                    "attention.raw_scores B=1 h=2 Tq=3 Tk=3",
                                    "attention.scores B=1 h=2 Tq=3 Tk=3",
                                    "attention.mask B=1 h=2 Tq=3 Tk=3",
                                    "attention.masked_scores B=1 h=2 Tq=3 Tk=3",
                                    "attention.row_flags B=1 h=2 Tq=3",
                                    "attention.weights B=1 h=2 Tq=3 Tk=3",
                                    "attention.heads B=1 h=2 Tq=3 D=4",
                                    "attention.merged_heads B=1 Tq=3 H=8",
                                    "attention.output B=1 Tq=3 H=8",
                                    "attention.mean_weights B=1 Tq=3 Tk=3",
                                    "attention.entropy B=1 h=2 Tq=3",
                                    NULL});
}

static void each_option_adds_its_tensors(void) {
  start();
  options.bias = 1;
  options.position = ATTN_POSITION_SINUSOIDAL;
  options.attention.score = ATTN_SCORE_ADDITIVE;
  options.attention.dropout = 0.5f;
  run_model("abc", "ab");
  static const char *const names[] = {"source.position",
                                      "source.positioned",
                                      "target.embedding",
                                      "target.positioned",
                                      "target.input",
                                      "attention.query.bias",
                                      "attention.output.bias",
                                      "attention.score.query.weight",
                                      "attention.score.key.weight",
                                      "attention.score.value.weight",
                                      "attention.query_features",
                                      "attention.dropped_weights"};
  for (int i = 0; i < 12; i++) found(names[i]);
  CHECK(found("attention.weights")->shape[2] == 2 && found("attention.weights")->shape[3] == 3);
  start();
  options.position = ATTN_POSITION_ROTARY;
  options.attention.score = ATTN_SCORE_GENERAL;
  run_model("abc", NULL);
  found("attention.turned_query");
  found("attention.score.weight");
  start();
  options.position = ATTN_POSITION_ALIBI;
  run_model("abc", NULL);
  CHECK_EQUAL(attn_length(found("attention.alibi_slopes")), 2);
}

static void the_fused_path_writes_neither_weights_nor_their_mean(void) {
  start();
  options.attention.need_weights = 0;
  CHECK(run_model("abc", NULL) != NULL);
  CHECK(attn_tape_find(tape, "attention.weights") == NULL);
  CHECK(attn_tape_find(tape, "attention.mean_weights") == NULL);
  CHECK(attn_tape_find(tape, "attention.entropy") == NULL);
  found("attention.row_flags");
}

static void mean_and_entropy_are_those_of_the_weights(void) {
  start();
  options.attention.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
  run_model("abcd", NULL);
  const attn_tensor *weights = found("attention.weights");
  const attn_tensor *mean = found("attention.mean_weights");
  const attn_tensor *entropy = found("attention.entropy");
  CHECK_EQUAL(mean->sum_axis, 2);
  for (int i = 0; i < 4; i++) {
    double expected[2] = {0, 0};
    for (int j = 0; j < 4; j++) {
      const double both[] = {spread(weights, 0, 0, i, j), spread(weights, 0, 1, i, j)};
      CHECK_CLOSE(mean->data[i * 4 + j], (both[0] + both[1]) / 2);
      for (int head = 0; head < 2; head++)
        if (both[head] > 0) expected[head] -= both[head] * log(both[head]);
    }
    CHECK_CLOSE(entropy->data[i], expected[0]);
    CHECK_CLOSE(entropy->data[4 + i], expected[1]);
  }
}

static void the_model_works_inside_a_scope_and_a_second_time(void) {
  start();
  attn_scope_enter(tape, "first");
  run_model("abc", NULL);
  CHECK_EQUAL(found("first.attention.mean_weights")->shape[2], 3);
  attn_tape_reset(tape);
  run_model("abc", NULL);
  run_model("abcd", NULL);
  const attn_tensor *last = attn_tape_first(tape);
  while (last->next) last = last->next;
  CHECK(strcmp(last->name, "attention.entropy") == 0 && last->shape[2] == 4);
}

/* ---- tokens ------------------------------------------------------------------------------- */

static void equal_texts_have_equal_vectors_wherever_they_stand(void) {
  start();
  run_model("abcab", "cax");
  const attn_tensor *source = found("source.embedding"), *target = found("target.embedding");
  CHECK(equal_rows(source, 0, source, 3) && equal_rows(source, 1, source, 4));
  CHECK(equal_rows(source, 2, target, 0) && equal_rows(source, 0, target, 1));
  for (int i = 0; i < 3; i++) {
    CHECK(!equal_rows(source, i, source, (i + 1) % 3));
    CHECK(!equal_rows(source, i, target, 2));
  }
  attn_real kept[8];
  memcpy(kept, target->data, sizeof kept);
  start();
  options.attention.heads = 4;
  options.position = ATTN_POSITION_SINUSOIDAL;
  run_model("c", NULL);
  for (int d = 0; d < 8; d++) CHECK_BITS(found("source.embedding")->data[d], kept[d]);
}

static void texts_are_cut_by_their_lengths_alone(void) {
  fresh();
  const attn_texts one = {"abc", (int32_t[]){1, 2}, 2}, other = {"abc", (int32_t[]){2, 1}, 2};
  const attn_texts chinese = {"注意注", (int32_t[]){3, 3, 3}, 3},
                   empty = {"a", (int32_t[]){0, 1, 0}, 3};
  const attn_tensor *a = attn_token_embedding(tape, "a", &one, 5, 1);
  const attn_tensor *b = attn_token_embedding(tape, "b", &other, 5, 1);
  for (int i = 0; i < 4; i++) CHECK(!equal_rows(a, i / 2, b, i % 2));
  const attn_tensor *c = attn_token_embedding(tape, "c", &chinese, 5, 1);
  CHECK(equal_rows(c, 0, c, 2) && !equal_rows(c, 0, c, 1));
  const attn_tensor *d = attn_token_embedding(tape, "d", &empty, 5, 1);
  CHECK(equal_rows(d, 0, d, 2) && equal_rows(d, 1, a, 0));
  CHECK(!equal_rows(attn_token_embedding(tape, "a", &one, 5, 2), 0, a, 0));
}

static void reordered_tokens_reorder_scores_exactly_and_weights_to_rounding(void) {
  static const int order[] = {3, 0, 4, 1, 2};
  start();
  const attn_tensor *first = run_model("abcde", NULL), *second = run_model("daebc", NULL);
  const attn_tensor *scores[2], *weights[2];
  for (const attn_tensor *t = attn_tape_first(tape); t; t = t->next) {
    const bool late = t > first; /* later tensors stand higher in the block */
    if (strcmp(t->name, "attention.raw_scores") == 0) scores[late] = t;
    if (strcmp(t->name, "attention.weights") == 0) weights[late] = t;
  }
  for (int head = 0; head < 2; head++)
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 5; j++) {
        const ptrdiff_t from = (head * 5 + order[i]) * 5 + order[j], to = (head * 5 + i) * 5 + j;
        CHECK_BITS(scores[1]->data[to], scores[0]->data[from]);
        CHECK_CLOSE(weights[1]->data[to], weights[0]->data[from]);
      }
  for (int i = 0; i < 5 * 8; i++)
    CHECK_CLOSE(second->data[i], first->data[order[i / 8] * 8 + i % 8]);
}

static void reordered_queries_reorder_rows_exactly(void) {
  start();
  const attn_tensor *first = run_model("abcde", "xyz"), *second = run_model("abcde", "zxy");
  CHECK(equal_rows(first, 0, second, 1));
  CHECK(equal_rows(first, 1, second, 2));
  CHECK(equal_rows(first, 2, second, 0));
}

static void with_positions_order_matters(void) {
  for (int position = ATTN_POSITION_NONE; position <= ATTN_POSITION_ALIBI; position++) {
    start();
    options.position = position;
    const attn_tensor *first = run_model("abc", NULL), *second = run_model("acb", NULL);
    double difference = 0;
    for (int d = 0; d < 8; d++) difference += fabs((double)first->data[d] - second->data[d]);
    NOTE("position %d", position);
    CHECK((difference < 1e-5) == (position == ATTN_POSITION_NONE));
  }
}

static void positions_are_added_to_embeddings(void) {
  for (int position = ATTN_POSITION_SINUSOIDAL; position <= ATTN_POSITION_LEARNED; position++) {
    start();
    options.position = position;
    run_model("aba", "ab");
    const attn_tensor *embedding = found("source.embedding"), *input = found("source.input");
    const attn_tensor *table = found("source.position");
    for (int i = 0; i < 24; i++) CHECK_BITS(input->data[i], embedding->data[i] + table->data[i]);
    const bool same = equal_rows(table, 1, found("target.position"), 1);
    CHECK(same == (position == ATTN_POSITION_SINUSOIDAL));
  }
}

/* ---- random numbers ----------------------------------------------------------------------- */

static const attn_tensor *draw(int32_t rank, const int32_t *shape, int distribution) {
  return attn_random(tape, "draw", rank, shape, (const char *[]){"i", "j"}, 1, distribution);
}

static void check_moments(const attn_tensor *tensor, double mean, double variance,
                          double kurtosis) {
  const double count = (double)attn_length(tensor);
  double sum = 0, squares = 0, fourth = 0;
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) sum += tensor->data[i];
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) {
    const double square = pow(tensor->data[i] - mean, 2);
    squares += square;
    fourth += square * square;
  }
  CHECK_NEAR(sum / count, mean, 4 * sqrt(variance / count));
  CHECK_NEAR(squares / count, variance, 4 * variance * sqrt((kurtosis - 1) / count));
  CHECK_NEAR(fourth / count, kurtosis * variance * variance, 0.05 * kurtosis * variance * variance);
}

static void random_numbers_have_the_moments_of_their_distribution(void) {
  fresh();
  check_moments(draw(SHAPE(200, 301), ATTN_DISTRIBUTION_NORMAL), 0, 1, 3);
  const attn_tensor *uniform = draw(SHAPE(200, 301), ATTN_DISTRIBUTION_UNIFORM);
  check_moments(uniform, 0.5, 1. / 12, 1.8);
  const attn_tensor *xavier = draw(SHAPE(200, 301), ATTN_DISTRIBUTION_XAVIER);
  check_moments(xavier, 0, 2. / 501, 1.8);
  for (ptrdiff_t i = 0; i < attn_length(xavier); i++) {
    CHECK(uniform->data[i] >= 0 && uniform->data[i] < 1);
    CHECK(fabs((double)xavier->data[i]) <= sqrt(6. / 501) * (1 + slack));
  }
}

static void the_first_numbers_do_not_depend_on_how_many_are_drawn(void) {
  for (int distribution = 0; distribution < 2; distribution++)
    for (int count = 1; count < 12; count++) {
      fresh();
      const attn_tensor *few = draw(SHAPE(count), distribution);
      const attn_tensor *many = draw(SHAPE(1, 40), distribution);
      for (int i = 0; i < count; i++) CHECK_BITS(few->data[i], many->data[i]);
    }
}

/* One number of each kind of parameter. */
static void sample(attn_real out[4]) {
  static const char *const names[] = {"source.embedding", "source.position", "attention.key.weight",
                                      "attention.key.bias"};
  options.bias = 1;
  options.position = ATTN_POSITION_LEARNED;
  run_model("abc", NULL);
  for (int i = 0; i < 4; i++) out[i] = found(names[i])->data[5];
}

static void the_parameter_seed_changes_all_parameters_and_the_dropout_seed_none(void) {
  attn_real numbers[3][4];
  start();
  sample(numbers[0]);
  start();
  options.parameter_seed = 1;
  sample(numbers[1]);
  start();
  options.attention.seed = 1;
  sample(numbers[2]);
  for (int i = 0; i < 4; i++) {
    CHECK(numbers[1][i] != numbers[0][i]);
    CHECK_BITS(numbers[2][i], numbers[0][i]);
  }
}

/* ---- errors and edges --------------------------------------------------------------------- */

static void check_bad(attn_status status, const char *message) {
  CHECK(run_model("abc", NULL) == NULL);
  CHECK_FAILED(status, message);
  start();
}

static void options_out_of_range_are_named(void) {
  start();
  options.attention.heads = 3;
  check_bad(ATTN_BAD_SHAPE, "hiddens 8 is not a multiple of heads 3");
  options.attention.heads = 0;
  check_bad(ATTN_BAD_VALUE, "heads 0; there must be at least 1");
  options.hiddens = 0;
  check_bad(ATTN_BAD_SHAPE, "hiddens 0; there must be at least 1");
  options.hiddens = -8;
  check_bad(ATTN_BAD_SHAPE, "hiddens -8; there must be at least 1");
  options.position = 5;
  check_bad(ATTN_BAD_VALUE, "position 5 is unknown; it must be 0 to 4");
  options.position = ATTN_POSITION_ROTARY;
  options.hiddens = 6;
  check_bad(ATTN_BAD_SHAPE, "rotary positions need an even width; attention.query has 3");
}

static void a_text_without_tokens_attends_to_nothing(void) {
  start();
  const attn_tensor *output = run_model("", NULL);
  CHECK(output && attn_length(output) == 0);
  start();
  output = run_model("", "ab");
  CHECK(output && attn_length(output) == 16);
  for (int i = 0; output && i < 16; i++) CHECK_BITS(output->data[i], 0);
  for (int i = 0; i < 4; i++) CHECK_EQUAL(found("attention.row_flags")->data[i], ATTN_ROW_EMPTY);
}

int main(void) {
  RUN(self_attention_writes_these_tensors);
  RUN(each_option_adds_its_tensors);
  RUN(the_fused_path_writes_neither_weights_nor_their_mean);
  RUN(mean_and_entropy_are_those_of_the_weights);
  RUN(the_model_works_inside_a_scope_and_a_second_time);
  RUN(equal_texts_have_equal_vectors_wherever_they_stand);
  RUN(texts_are_cut_by_their_lengths_alone);
  RUN(reordered_tokens_reorder_scores_exactly_and_weights_to_rounding);
  RUN(reordered_queries_reorder_rows_exactly);
  RUN(with_positions_order_matters);
  RUN(positions_are_added_to_embeddings);
  RUN(random_numbers_have_the_moments_of_their_distribution);
  RUN(the_first_numbers_do_not_depend_on_how_many_are_drawn);
  RUN(the_parameter_seed_changes_all_parameters_and_the_dropout_seed_none);
  RUN(options_out_of_range_are_named);
  RUN(a_text_without_tokens_attends_to_nothing);
  return report();
}
