/*
 * Embeddings, losses and initial values against their definitions in double, and the gradients of
 * the first two against central differences.
 */
#include "derivative.h"
#include "ops/ops.h"

static attn_tensor *list(const char *name, int32_t rank, const int32_t *shape, const double *data) {
  attn_tensor *tensor = given(name, rank, shape);
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) tensor->data[i] = (attn_real)data[i];
  return tensor;
}

static attn_tensor *ids, *table, *x, *labels, *lengths, *weight;
static int32_t reduction;

/* ---- embedding ---------------------------------------------------------------------------- */

static attn_tensor *embed_and_square(void) {
  const attn_tensor *y = attn_embedding(tape, "y", ids, table);
  return attn_squared_error(tape, "loss", y, weight, ATTN_REDUCTION_SUM);
}

static void an_embedding_is_the_rows_that_its_ids_name(void) {
  fresh();
  table = parameter("table", attn_shape2("V", 5, "H", 3));
  ids = list("ids", SHAPE(2, 2), (double[]){4, 0, 4, 2});
  weight = given("weight", SHAPE(2, 2, 3));
  const attn_tensor *y = attn_embedding(tape, "y", ids, table);
  CHECK(y->rank == 3 && y->shape[0] == 2 && y->shape[1] == 2 && y->shape[2] == 3);
  for (int i = 0; i < 12; i++)
    CHECK_BITS(y->data[i], table->data[(int)ids->data[i / 3] * 3 + i % 3]);
  CHECK_GRADIENTS(embed_and_square);
}

static void a_row_of_the_table_gathers_the_gradients_of_all_its_ids(void) {
  fresh();
  table = parameter("table", attn_shape2("V", 3, "H", 1));
  ids = list("ids", SHAPE(4), (double[]){2, 0, 2, 2});
  weight = list("weight", SHAPE(4, 1), (double[]){1, 2, 3, 4});
  for (int v = 0; v < 3; v++) table->data[v] = 0;
  attn_backward(tape, embed_and_square());
  CHECK_CLOSE(table->gradient[0], -4);
  CHECK_CLOSE(table->gradient[1], 0);
  CHECK_CLOSE(table->gradient[2], -16);
}

static void an_id_outside_the_vocabulary_is_named(void) {
  static const struct {
    double id;
    const char *message;
  } cases[] = {{5, "ids holds the id 5; a vocabulary of 5 has the ids 0 to 4"},
               {-1, "ids holds the id -1; a vocabulary of 5 has the ids 0 to 4"},
               {1.5, "ids holds the id 1.5; a vocabulary of 5 has the ids 0 to 4"},
               {NAN, "ids holds the id NaN; a vocabulary of 5 has the ids 0 to 4"}};
  for (int i = 0; i < 4; i++) {
    fresh();
    CHECK(!attn_embedding(tape, "y", list("ids", SHAPE(1, 2), (double[]){0, cases[i].id}),
                          given("table", SHAPE(5, 3))));
    CHECK_FAILED(ATTN_BAD_VALUE, cases[i].message);
  }
  fresh();
  CHECK(!attn_check_ids(tape, list("ids", SHAPE(1), (double[]){0}), 0, INT32_MIN));
  CHECK_FAILED(ATTN_BAD_VALUE, "ids holds the id 0; a vocabulary of -2147483648 has none");
  fresh();
  CHECK(!attn_embedding(tape, "y", list("ids", SHAPE(1), (double[]){0}), given("t", SHAPE(5))));
  CHECK_FAILED(ATTN_BAD_SHAPE,
               "t has 1 axes and ids 1; an embedding needs a table [V, H] and at most 3 axes of "
               "ids");
}

/* ---- cross entropy ------------------------------------------------------------------------ */

static double token_loss(const attn_real *logits, int vocabulary, int label) {
  double largest = -INFINITY, sum = 0;
  for (int v = 0; v < vocabulary; v++) largest = fmax(largest, logits[v]);
  for (int v = 0; v < vocabulary; v++) sum += exp(logits[v] - largest);
  return log(sum) + largest - logits[label];
}

static attn_tensor *cross_entropy(void) {
  return attn_cross_entropy(tape, "loss", x, labels, lengths, reduction);
}

enum { BATCH = 3, LENGTH = 4 };

static void given_sentences(int vocabulary) {
  fresh();
  x = parameter("logits", attn_shape3("B", BATCH, "T", LENGTH, "V", vocabulary));
  for (ptrdiff_t i = 0; i < attn_length(x); i++) x->data[i] *= 5;
  labels = given("labels", SHAPE(BATCH, LENGTH));
  for (int i = 0; i < BATCH * LENGTH; i++) labels->data[i] = (attn_real)random_below(vocabulary);
  labels->data[1] = -1;
  lengths = list("lengths", SHAPE(BATCH), (double[]){4, 0, 3});
}

static void cross_entropy_is_that_of_its_definition(void) {
  for (int vocabulary = 1; vocabulary < 12; vocabulary++)
    for (int has_lengths = 0; has_lengths < 2; has_lengths++) {
      given_sentences(vocabulary);
      if (!has_lengths) lengths = NULL;
      double sum = 0;
      int counted = 0;
      for (int b = 0; b < BATCH; b++)
        for (int t = 0; t < LENGTH; t++) {
          const int row = b * LENGTH + t;
          if (labels->data[row] < 0 || (lengths && t >= lengths->data[b])) continue;
          sum += token_loss(x->data + row * vocabulary, vocabulary, (int)labels->data[row]);
          counted++;
        }
      CHECK_EQUAL(counted, has_lengths ? 6 : 11);
      const double expected[] = {sum, sum / counted, sum / LENGTH};
      for (reduction = 0; reduction < 3; reduction++) {
        NOTE("vocabulary %d, lengths %d, reduction %d", vocabulary, has_lengths, (int)reduction);
        const attn_tensor *loss = cross_entropy();
        CHECK_NEAR(loss->data[0], expected[reduction], 4 * slack * (1 + sum));
        CHECK_EQUAL(attn_counted_tokens(loss), counted);
      }
      for (reduction = 0; reduction < 3; reduction++) CHECK_GRADIENTS(cross_entropy);
    }
}

static void a_token_that_does_not_count_is_never_read(void) {
  given_sentences(5);
  reduction = ATTN_REDUCTION_MEAN;
  const attn_real expected = cross_entropy()->data[0];
  for (int row = 0; row < BATCH * LENGTH; row++)
    if (row == 1 || row / LENGTH == 1 || row == BATCH * LENGTH - 1)
      for (int v = 0; v < 5; v++) x->data[row * 5 + v] = NAN;
  attn_tensor *loss = cross_entropy();
  CHECK_BITS(loss->data[0], expected);
  attn_backward(tape, loss);
  for (int row = 0; row < BATCH * LENGTH; row++)
    for (int v = 0; v < 5; v++) {
      CHECK(isfinite(x->gradient[row * 5 + v]));
      if (row == 1 || row / LENGTH == 1) CHECK_BITS(x->gradient[row * 5 + v], 0);
    }
}

static void a_loss_of_no_token_is_zero(void) {
  given_sentences(3);
  lengths = list("none", SHAPE(BATCH), (double[]){0, 0, 0});
  for (reduction = 0; reduction < 3; reduction++) {
    attn_tensor *loss = cross_entropy();
    CHECK_BITS(loss->data[0], 0);
    CHECK_EQUAL(attn_counted_tokens(loss), 0);
    attn_backward(tape, loss);
  }
  for (ptrdiff_t i = 0; i < attn_length(x); i++) CHECK_BITS(x->gradient[i], 0);
}

static void large_logits_neither_overflow_nor_vanish(void) {
  fresh();
  x = list("x", SHAPE(1, 2, 2), (double[]){30000, 0, 0, 30000});
  labels = list("labels", SHAPE(1, 2), (double[]){0, 0});
  CHECK_CLOSE(attn_cross_entropy(tape, "loss", x, labels, NULL, ATTN_REDUCTION_SUM)->data[0],
              30000);
}

static void cross_entropy_names_what_does_not_fit(void) {
  fresh();
  x = given("logits", SHAPE(2, 3, 4));
  labels = list("labels", SHAPE(2, 3), (double[]){0, 1, 2, 3, 4, 0});
  CHECK(!attn_cross_entropy(tape, "loss", x, labels, NULL, ATTN_REDUCTION_SUM));
  CHECK_FAILED(ATTN_BAD_VALUE, "labels holds the id 4; a vocabulary of 4 has the ids -1 to 3");
  fresh();
  x = given("logits", SHAPE(2, 3, 4));
  labels = list("labels", SHAPE(2, 3), (double[]){0, 1, 2, 3, 3, 0});
  lengths = list("lengths", SHAPE(2), (double[]){3, 4});
  CHECK(!attn_cross_entropy(tape, "loss", x, labels, lengths, ATTN_REDUCTION_SUM));
  CHECK_FAILED(ATTN_BAD_VALUE,
               "lengths holds 4, which is not a whole number from 0 to the 3 tokens");
  fresh();
  x = given("logits", SHAPE(2, 3, 4));
  CHECK(
      !attn_cross_entropy(tape, "loss", x, given("labels", SHAPE(3, 2)), NULL, ATTN_REDUCTION_SUM));
  CHECK_FAILED(ATTN_BAD_SHAPE,
               "logits and labels must have the shapes [B, T, V] and [B, T]; they have 3 and 2 "
               "axes and 6 and 6 rows");
  fresh();
  x = given("logits", SHAPE(1, 1, 4));
  labels = list("labels", SHAPE(1, 1), (double[]){0});
  CHECK(!attn_cross_entropy(tape, "loss", x, labels, NULL, 3));
  CHECK_FAILED(ATTN_BAD_VALUE, "reduction 3 is unknown; it must be 0 to 2");
}

/* ---- squared error ------------------------------------------------------------------------ */

static attn_tensor *squared_error(void) {
  return attn_squared_error(tape, "loss", x, weight, reduction);
}

static void squared_error_is_that_of_its_definition(void) {
  for (int count = 1; count < 10; count++) {
    fresh();
    x = parameter("x", attn_shape1("i", count));
    weight = parameter("y", attn_shape1("i", count));
    double sum = 0;
    for (int i = 0; i < count; i++)
      sum += ((double)x->data[i] - weight->data[i]) * ((double)x->data[i] - weight->data[i]);
    for (reduction = 0; reduction < 2; reduction++) {
      CHECK_CLOSE(squared_error()->data[0], reduction ? sum / count : sum);
      CHECK_GRADIENTS(squared_error);
    }
  }
  fresh();
  CHECK(!attn_squared_error(tape, "loss", given("x", SHAPE(3)), given("y", SHAPE(2)), 0));
  CHECK_FAILED(ATTN_BAD_SHAPE, "x has the size 3 on axis i, y 2; their shapes must agree");
  fresh();
  CHECK(!attn_squared_error(tape, "loss", given("x", SHAPE(3, 2)), given("y", SHAPE(2, 3)), 0));
  CHECK_FAILED(ATTN_BAD_SHAPE, "x has the size 3 on axis i, y 2; their shapes must agree");
  fresh();
  CHECK(!attn_squared_error(tape, "loss", given("x", SHAPE(3, 2)), given("y", SHAPE(6)), 0));
  CHECK_FAILED(ATTN_BAD_SHAPE, "x has 2 axes, y 1; their shapes must agree");
  fresh();
  CHECK(!attn_squared_error(tape, "loss", given("x", SHAPE(3)), given("y", SHAPE(3)), 2));
  CHECK_FAILED(ATTN_BAD_VALUE, "the squared error is a sum or a mean; reduction is 2");
}

/* ---- initial values ----------------------------------------------------------------------- */

static void check_spread(const attn_tensor *tensor, double low, double high, double deviation) {
  double sum = 0, squares = 0;
  const double count = (double)attn_length(tensor);
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) {
    CHECK(low <= tensor->data[i] && tensor->data[i] <= high);
    sum += tensor->data[i];
    squares += (double)tensor->data[i] * tensor->data[i];
  }
  const double mean = sum / count;
  CHECK_NEAR(mean, low > -INFINITY ? (low + high) / 2 : 0, 5 * deviation / sqrt(count));
  CHECK_NEAR(sqrt(squares / count - mean * mean) / deviation, 1, 0.05);
}

static void initial_values_have_the_spread_asked_for(void) {
  fresh();
  const attn_shape shape = attn_shape2("out", 60, "in", 100);
  check_spread(attn_fill_normal(tape, attn_parameter(tape, "a", shape), 1, (attn_real)0.02),
               -INFINITY, INFINITY, 0.02);
  check_spread(attn_fill_uniform(tape, attn_parameter(tape, "b", shape), 1, 1, 3), 1, 3,
               2 / sqrt(12));
  const double xavier = sqrt(6.0 / 160);
  check_spread(attn_fill_xavier(tape, attn_parameter(tape, "c", shape), 1), -xavier, xavier,
               xavier / sqrt(3));
  check_spread(attn_fill_fan_in(tape, attn_parameter(tape, "d", shape), 1, 100), -0.1, 0.1,
               0.1 / sqrt(3));
  const attn_tensor *ones = attn_fill_constant(tape, attn_parameter(tape, "e", shape), 1);
  for (ptrdiff_t i = 0; i < attn_length(ones); i++) CHECK_BITS(ones->data[i], 1);
  CHECK_OK();
}

static void initial_values_follow_from_the_seed_and_the_full_name(void) {
  fresh();
  const attn_shape shape = attn_shape1("H", 40);
  const attn_tensor *a = attn_fill_normal(tape, attn_parameter(tape, "a", shape), 1, 1);
  const int32_t previous = attn_scope_enter(tape, "layer");
  const attn_tensor *scoped = attn_fill_normal(tape, attn_parameter(tape, "a", shape), 1, 1);
  attn_scope_leave(tape, previous);
  const attn_tensor *again = attn_fill_normal(tape, attn_parameter(tape, "layer.a", shape), 1, 1);
  const attn_tensor *other = attn_fill_normal(tape, attn_parameter(tape, "a", shape), 2, 1);
  CHECK(equal_tensors(scoped, again));
  CHECK(!equal_tensors(a, scoped));
  CHECK(!equal_tensors(a, other));
}

int main(void) {
  RUN(an_embedding_is_the_rows_that_its_ids_name);
  RUN(a_row_of_the_table_gathers_the_gradients_of_all_its_ids);
  RUN(an_id_outside_the_vocabulary_is_named);
  RUN(cross_entropy_is_that_of_its_definition);
  RUN(a_token_that_does_not_count_is_never_read);
  RUN(a_loss_of_no_token_is_zero);
  RUN(large_logits_neither_overflow_nor_vanish);
  RUN(cross_entropy_names_what_does_not_fit);
  RUN(squared_error_is_that_of_its_definition);
  RUN(initial_values_have_the_spread_asked_for);
  RUN(initial_values_follow_from_the_seed_and_the_full_name);
  return report();
}
