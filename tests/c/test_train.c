/*
 * Optimisers against torch.optim, schedules against their formulas, and what a step of training
 * promises: it names what is not finite, it can be repeated and resumed, and it takes no memory.
 */
#include "derivative.h"
#include "golden.h"
#include "ops/ops.h"

static attn_tensor *a, *b;

static attn_tensor *error(const attn_tensor *x, const attn_tensor *target) {
  return attn_squared_error(tape, "error", x, target, ATTN_REDUCTION_SUM);
}

/* ---- optimisers --------------------------------------------------------------------------- */

static float option(const char *key, float otherwise) {
  return golden_at(key) ? (float)golden_number(key) : otherwise;
}

static const attn_tensor *golden_target(const char *name, int step) {
  char key[40];
  snprintf(key, sizeof key, "%s_target_%d", name, step);
  return golden_parameter(key);
}

static void check_step(const attn_real *data, ptrdiff_t length, const char *name, int step) {
  char key[40];
  snprintf(key, sizeof key, "%s_%d", name, step);
  CHECK_GOLDEN(data, length, key);
}

static void optimisers_agree_with_pytorch(void) {
  for (golden_open("optimisers"); golden_next();) {
    fresh();
    attn_training_options options = attn_training_defaults();
    options.optimiser = (int32_t)golden_number("optimiser");
    options.learning_rate = option("learning_rate", 0);
    options.clip = option("clip", 0);
    options.momentum = option("momentum", 0);
    options.weight_decay = option("weight_decay", 0);
    options.beta1 = option("beta1", options.beta1);
    options.beta2 = option("beta2", options.beta2);
    options.eps = option("eps", options.eps);
    a = golden_parameter("a");
    b = golden_parameter("b");
    attn_training *training = attn_training_new(tape);
    attn_tape_keep(tape);
    for (int step = 0; step < 6; step++) {
      attn_tape_rewind(tape);
      attn_tensor *loss = attn_add(tape, "loss", error(a, golden_target("a", step)),
                                   error(b, golden_target("b", step)));
      CHECK_EQUAL(attn_train_step(tape, training, loss, &options), ATTN_OK);
      CHECK_BITS(training->loss, loss->data[0]);
      CHECK_EQUAL(training->steps, step + 1);
      check_step(&training->gradient_norm, 1, "norm", step);
      check_step(a->data, 15, "a", step);
      check_step(b->data, 7, "b", step);
    }
  }
}

static void gradients_stay_readable_as_they_were_before_clipping(void) {
  fresh();
  a = parameter("a", attn_shape1("i", 3));
  attn_training *training = attn_training_new(tape);
  attn_training_options options = attn_training_defaults();
  options.optimiser = ATTN_OPTIMISER_SGD;
  options.learning_rate = 1;
  options.clip = 0.5f;
  const attn_tensor *zero = given("zero", SHAPE(3));
  double before[3], length = 0;
  for (int i = 0; i < 3; i++) {
    zero->data[i] = 0;
    before[i] = a->data[i];
    length += 4 * before[i] * before[i];
  }
  attn_train_step(tape, training, error(a, zero), &options);
  CHECK_CLOSE(training->gradient_norm, sqrt(length));
  for (int i = 0; i < 3; i++) {
    CHECK_CLOSE(a->gradient[i], 2 * before[i]);
    CHECK_CLOSE(a->data[i], before[i] - 2 * before[i] * 0.5 / (sqrt(length) + 1e-6));
  }
}

static void an_option_out_of_range_is_named(void) {
  static const struct {
    size_t offset;
    float value;
    const char *message;
  } cases[] = {
#define OPTION(member) offsetof(attn_training_options, member)
      {OPTION(learning_rate), -1, "learningRate -1 must be a number that is at least 0"},
      {OPTION(momentum), 1, "momentum 1 must be a number from 0 to below 1"},
      {OPTION(beta1), -0.5f, "beta1 -0.5 must be a number from 0 to below 1"},
      {OPTION(beta2), 2, "beta2 2 must be a number from 0 to below 1"},
      {OPTION(eps), NAN, "eps NaN must be a number above 0"},
      {OPTION(eps), 0, "eps 0 must be a number above 0"},
      {OPTION(eps), INFINITY, "eps Infinity must be a number above 0"},
      {OPTION(weight_decay), -1, "weightDecay -1 must be a number that is at least 0"},
      {OPTION(clip), INFINITY, "clip Infinity must be a number that is at least 0"},
#undef OPTION
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fresh();
    a = parameter("a", attn_shape1("i", 2));
    attn_training *training = attn_training_new(tape);
    attn_training_options options = attn_training_defaults();
    memcpy((char *)&options + cases[i].offset, &cases[i].value, sizeof(float));
    attn_tensor *loss = error(a, given("t", SHAPE(2)));
    CHECK_EQUAL(attn_train_step(tape, training, loss, &options), ATTN_BAD_VALUE);
    CHECK_FAILED(ATTN_BAD_VALUE, cases[i].message);
  }
  fresh();
  a = parameter("a", attn_shape1("i", 2));
  attn_training *training = attn_training_new(tape);
  attn_training_options options = attn_training_defaults();
  options.optimiser = 3;
  attn_train_step(tape, training, error(a, given("t", SHAPE(2))), &options);
  CHECK_FAILED(ATTN_BAD_VALUE, "optimiser 3 is unknown; it must be 0 to 2");
}

/* ---- steps -------------------------------------------------------------------------------- */

/* A small classifier: x [5, 1, 3] → logits [5, 1, 4]. */
static attn_training *new_classifier(void) {
  fresh();
  a = attn_fill_xavier(tape, attn_parameter(tape, "a.weight", attn_shape2("H", 6, "D", 3)), 3);
  b = attn_fill_xavier(tape, attn_parameter(tape, "b.weight", attn_shape2("V", 4, "H", 6)), 3);
  attn_training *training = attn_training_new(tape);
  attn_tape_keep(tape);
  return training;
}

static attn_tensor *classify(int step, attn_real first_cell) {
  attn_tape_rewind(tape);
  random_state = (uint32_t)step + 1;
  const attn_tensor *x = given("x", SHAPE(5, 1, 3)), *labels = given("labels", SHAPE(5, 1));
  if (first_cell != 0) x->data[0] = first_cell;
  for (int i = 0; i < 5; i++) labels->data[i] = (attn_real)random_below(4);
  const attn_tensor *hidden = attn_linear(tape, "hidden", x, a, NULL);
  hidden = attn_activate(tape, "activated", hidden, ATTN_ACTIVATION_GELU);
  const attn_tensor *logits = attn_linear(tape, "logits", hidden, b, NULL);
  return attn_cross_entropy(tape, "loss", logits, labels, NULL, ATTN_REDUCTION_MEAN);
}

static void steps_go_on_exactly_from_a_saved_state(void) {
  attn_training_options options = attn_training_defaults();
  options.clip = 0.5f;
  options.weight_decay = 0.01f;
  attn_training *training = new_classifier();
  attn_real parameters[18 + 24], moments[2 * (18 + 24)], after[18 + 24];
  CHECK_EQUAL(training->count, 18 + 24);
  CHECK_EQUAL(training->parameter_count, 2);
  for (int step = 0; step < 20; step++) {
    if (step == 10) {
      memcpy(parameters, a->data, 18 * sizeof *parameters);
      memcpy(parameters + 18, b->data, 24 * sizeof *parameters);
      memcpy(moments, training->moments, sizeof moments);
    }
    CHECK_EQUAL(attn_train_step(tape, training, classify(step, 0), &options), ATTN_OK);
  }
  memcpy(after, a->data, 18 * sizeof *after);
  memcpy(after + 18, b->data, 24 * sizeof *after);

  training = new_classifier();
  memcpy(a->data, parameters, 18 * sizeof *parameters);
  memcpy(b->data, parameters + 18, 24 * sizeof *parameters);
  memcpy(training->moments, moments, sizeof moments);
  training->steps = 10;
  for (int step = 10; step < 20; step++)
    attn_train_step(tape, training, classify(step, 0), &options);
  for (int i = 0; i < 18; i++) CHECK_BITS(a->data[i], after[i]);
  for (int i = 0; i < 24; i++) CHECK_BITS(b->data[i], after[18 + i]);

  attn_training_restart(training);
  CHECK_EQUAL(training->steps, 0);
  for (int i = 0; i < 2 * (18 + 24); i++) CHECK_BITS(training->moments[i], 0);
}

static void training_lowers_the_loss_and_takes_no_memory(void) {
  attn_training_options options = attn_training_defaults();
  options.learning_rate = 0.05f;
  attn_training *training = new_classifier();
  void *top = NULL;
  attn_real first = 0;
  for (int step = 0; step < 1000; step++) {
    attn_train_step(tape, training, classify(0, 0), &options);
    if (step == 0) first = training->loss;
    void *here = attn_tape_take(tape, 1);
    CHECK(here && (!top || here == top));
    top = here;
  }
  CHECK_OK();
  CLAIM(training->loss < first / 10, "the loss went from %g to %g", (double)first,
        (double)training->loss);
}

static void a_step_that_is_not_finite_names_the_first_tensor_and_moves_nothing(void) {
  attn_training_options options = attn_training_defaults();
  attn_training *training = new_classifier();
  attn_train_step(tape, training, classify(0, 0), &options);
  const attn_real a_before = a->data[0], b_before = b->data[0], m_before = training->moments[0];
  CHECK_EQUAL(attn_train_step(tape, training, classify(1, NAN), &options), ATTN_NOT_FINITE);
  CHECK_FAILED(ATTN_NOT_FINITE, "step 2: the loss is NaN, which first appears in x");
  attn_tape_rewind(tape);
  CHECK_OK();
  CHECK_EQUAL(training->steps, 1);

  attn_override(tape, "logits", 3, (int32_t[]){0, 0, 0}, INFINITY);
  CHECK_OK();
  const attn_tensor *x = given("x", SHAPE(1, 1, 3)), *labels = given("labels", SHAPE(1, 1));
  labels->data[0] = 0;
  const attn_tensor *logits =
      attn_linear(tape, "logits", attn_linear(tape, "h", x, a, NULL), b, NULL);
  attn_tensor *loss = attn_cross_entropy(tape, "loss", logits, labels, NULL, ATTN_REDUCTION_MEAN);
  CHECK_EQUAL(attn_train_step(tape, training, loss, &options), ATTN_NOT_FINITE);
  CHECK_FAILED(ATTN_NOT_FINITE, "step 2: the loss is NaN, which first appears in loss");
  CHECK_BITS(a->data[0], a_before);
  CHECK_BITS(b->data[0], b_before);
  CHECK_BITS(training->moments[0], m_before);
  attn_tape_rewind(tape);
  CHECK_EQUAL(attn_train_step(tape, training, classify(1, 0), &options), ATTN_OK);
}

static void gradients_that_overflow_are_named(void) {
  if (sizeof(attn_real) != sizeof(float)) return;
  fresh();
  a = parameter("a", attn_shape1("i", 2));
  b = parameter("b", attn_shape1("i", 2));
  attn_training *training = attn_training_new(tape);
  attn_training_options options = attn_training_defaults();
  a->data[0] = a->data[1] = 1e-30f;
  b->data[0] = b->data[1] = 0;
  attn_tensor *far = given("far", SHAPE(2)), *near = given("near", SHAPE(2));
  far->data[0] = far->data[1] = 1e19f;
  near->data[0] = near->data[1] = 0;
  attn_tensor *loss = attn_add(tape, "loss", error(a, near), error(b, far));
  CHECK(isfinite(loss->data[0]));
  CHECK_EQUAL(attn_train_step(tape, training, loss, &options), ATTN_NOT_FINITE);
  CHECK_FAILED(ATTN_NOT_FINITE, "step 1: the gradients have the norm Infinity; look at that of b");
}

/* ---- schedules ---------------------------------------------------------------------------- */

static void schedules_follow_their_formulas(void) {
  fresh();
  const double rate = 0.5;
  attn_schedule schedule = attn_schedule_defaults();
  schedule.rate = (float)rate;
  schedule.every = 3;
  schedule.factor = 0.5f;
  schedule.last_rate = 0.125f;
  for (int warm_up = 0; warm_up < 6; warm_up += 5)
    for (int kind = 0; kind < 4; kind++)
      for (int step = 0; step < 40; step++) {
        schedule.kind = kind;
        schedule.warm_up = warm_up;
        schedule.total = 30;
        const int s = step - warm_up, span = 30 - warm_up;
        const double expected[] = {
            rate, rate * pow(0.5, s / 3),
            s >= span ? 0.125 : 0.125 + (rate - 0.125) * (1 + cos(acos(-1) * s / span)) / 2,
            rate * sqrt((warm_up ? warm_up : 1) / (step + 1.))};
        NOTE("kind %d, warm-up %d, step %d", kind, warm_up, step);
        CHECK_NEAR(attn_learning_rate(tape, &schedule, step),
                   s < 0 ? rate * (step + 1) / warm_up : expected[kind], 1e-6 * rate);
      }
  CHECK_OK();
}

static void a_schedule_that_makes_no_sense_is_named(void) {
  fresh();
  attn_schedule schedule = attn_schedule_defaults();
  schedule.kind = 4;
  CHECK(isnan(attn_learning_rate(tape, &schedule, 0)));
  CHECK_FAILED(ATTN_BAD_VALUE, "schedule 4 is unknown; it must be 0 to 3");
  fresh();
  schedule.kind = ATTN_SCHEDULE_STEP;
  schedule.every = 0;
  CHECK(isnan(attn_learning_rate(tape, &schedule, 0)));
  CHECK_FAILED(ATTN_BAD_VALUE,
               "step 0 with a warm-up of 0 and a fall every 0 steps; the first two must be at "
               "least 0, the last at least 1");
}

/* ---- the known answer --------------------------------------------------------------------- */

static void twenty_steps_of_every_model_give_the_same_bits_everywhere(void) {
  if (sizeof(attn_real) != sizeof(float)) return;
  for (int fill = 0; fill < 256; fill += 85) {
    memset(block, fill, 4 << 20);
    NOTE("memory full of %d", fill);
    CHECK_EQUAL(attn_training_test(attn_tape_new(block, sizeof block, NULL)),
                ATTN_TRAINING_TEST_ANSWER);
  }
  tape = NULL;
}

int main(void) {
  RUN(optimisers_agree_with_pytorch);
  RUN(gradients_stay_readable_as_they_were_before_clipping);
  RUN(an_option_out_of_range_is_named);
  RUN(steps_go_on_exactly_from_a_saved_state);
  RUN(training_lowers_the_loss_and_takes_no_memory);
  RUN(a_step_that_is_not_finite_names_the_first_tensor_and_moves_nothing);
  RUN(gradients_that_overflow_are_named);
  RUN(schedules_follow_their_formulas);
  RUN(a_schedule_that_makes_no_sense_is_named);
  RUN(twenty_steps_of_every_model_give_the_same_bits_everywhere);
  return report();
}
