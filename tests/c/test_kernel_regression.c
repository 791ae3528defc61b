/*
 * Kernel regression against its definition, its gradients against central differences, and D2L's
 * run where its data is at hand.
 */
#include "derivative.h"
#include "golden.h"
#include "ops/ops.h"

static const attn_tensor *queries, *keys, *values, *target, *width;
static int32_t kernel;

static double kernel_of(double u) {
  if (kernel == ATTN_KERNEL_AVERAGE) return 1;
  if (kernel == ATTN_KERNEL_GAUSSIAN) return exp(-u * u / 2);
  if (u >= 1) return 0;
  if (kernel == ATTN_KERNEL_BOXCAR) return 1;
  if (kernel == ATTN_KERNEL_TRIANGULAR) return 1 - u;
  if (kernel == ATTN_KERNEL_EPANECHNIKOV) return 1 - u * u;
  return pow(1 - u * u * u, 3);
}

static attn_kernel_regression *model_of(float fixed_width) {
  attn_kernel_regression_config config = attn_kernel_regression_defaults();
  config.kernel = kernel;
  config.width = fixed_width;
  return attn_kernel_regression_new(tape, &config);
}

static void outputs_are_averages_weighted_by_the_kernel(void) {
  for (kernel = ATTN_KERNEL_AVERAGE; kernel <= ATTN_KERNEL_TRICUBE; kernel++)
    for (int size = 1; size <= 3; size++)
      for (int leave_out = 0; leave_out < 2; leave_out++) {
        fresh();
        NOTE("kernel %d, %d axes, leave one out %d", (int)kernel, size, leave_out);
        const attn_kernel_regression *model = model_of(-1.5f);
        queries = given("queries", SHAPE(1, 1, 7, size));
        keys = given("keys", SHAPE(1, 1, 7, size));
        values = given("values", SHAPE(1, 1, 7, 2));
        const attn_tensor *output =
            attn_kernel_regression_forward(tape, model, queries, keys, values, leave_out);
        const attn_tensor *weights = found("weights");
        CHECK_OK();
        for (int i = 0; i < 7; i++) {
          double weight[7], sum = 0, expected[2] = {0, 0};
          for (int j = 0; j < 7; j++) {
            double square = 0;
            for (int d = 0; d < size; d++)
              square += pow((double)queries->data[i * size + d] - keys->data[j * size + d], 2);
            weight[j] = leave_out && i == j ? 0 : kernel_of(sqrt(square) * 1.5);
            sum += weight[j];
          }
          for (int j = 0; j < 7; j++) {
            if (sum > 0) weight[j] /= sum;
            CHECK_NEAR(weights->data[i * 7 + j], weight[j], 10 * slack);
            for (int d = 0; d < 2; d++) expected[d] += weight[j] * values->data[j * 2 + d];
          }
          for (int d = 0; d < 2; d++) CHECK_NEAR(output->data[i * 2 + d], expected[d], 10 * slack);
        }
      }
}

static attn_tensor *regression_loss(void) {
  const attn_tensor *scores = attn_kernel_scores(tape, queries, keys, width, kernel);
  const attn_attention_options options = attn_attention_defaults();
  const attn_tensor *weights = attn_masked_softmax(tape, scores, &options);
  if (!weights) return NULL;
  const attn_tensor *output = attn_mix(tape, "output", weights, values, weights->inputs[0]);
  return attn_squared_error(tape, "loss", output, target, ATTN_REDUCTION_SUM);
}

/* The points lie so that none is near the edge of a kernel's reach. */
static void gradients_reach_width_queries_keys_and_values(void) {
  for (kernel = ATTN_KERNEL_AVERAGE; kernel <= ATTN_KERNEL_TRICUBE; kernel++)
    for (int sign = -1; sign <= 1; sign += 2) {
      fresh();
      NOTE("kernel %d, sign %d", (int)kernel, sign);
      attn_tensor *points[2] = {parameter("queries", attn_shape4("B", 1, "h", 1, "Tq", 3, "D", 2)),
                                parameter("keys", attn_shape4("B", 1, "h", 1, "Tk", 4, "D", 2))};
      for (int i = 0; i < 6; i++) points[0]->data[i] = (attn_real)(0.1 * i);
      for (int i = 0; i < 8; i++) points[1]->data[i] = (attn_real)(0.37 * (i / 2) + 0.05 * (i % 2));
      queries = points[0];
      keys = points[1];
      values = parameter("values", attn_shape4("B", 1, "h", 1, "Tk", 4, "D", 1));
      target = given("target", SHAPE(1, 1, 3, 1));
      attn_tensor *w = parameter("w", attn_shape1("1", 1));
      w->data[0] = (attn_real)(sign * 1.25);
      width = w;
      CHECK_GRADIENTS(regression_loss);
    }
}

static void a_query_out_of_reach_gives_zero_and_no_gradient(void) {
  fresh();
  kernel = ATTN_KERNEL_TRICUBE;
  attn_tensor *far = parameter("queries", attn_shape4("B", 1, "h", 1, "Tq", 1, "D", 1));
  far->data[0] = 50;
  queries = far;
  keys = given("keys", SHAPE(1, 1, 3, 1));
  values = given("values", SHAPE(1, 1, 3, 1));
  target = given("target", SHAPE(1, 1, 1, 1));
  width = parameter("w", attn_shape1("1", 1));
  CHECK_EQUAL(attn_backward(tape, regression_loss()), ATTN_OK);
  CHECK_BITS(found("output")->data[0], 0);
  CHECK_EQUAL((int)found("row_flags")->data[0], ATTN_ROW_EMPTY);
  CHECK_BITS(far->gradient[0], 0);
  CHECK_BITS(width->gradient[0], 0);
}

static void a_learned_width_starts_where_told_or_by_the_seed(void) {
  attn_kernel_regression_config config = attn_kernel_regression_defaults();
  config.learned = 1;
  config.width = 0.75f;
  fresh();
  attn_kernel_regression_new(tape, &config);
  CHECK_BITS(found("w")->data[0], (attn_real)0.75);
  CHECK(found("w")->requires_gradient);
  attn_real drawn[2];
  for (config.seed = 0; config.seed < 2; config.seed++) {
    fresh();
    config.width = 0;
    attn_kernel_regression_new(tape, &config);
    drawn[config.seed] = found("w")->data[0];
    CHECK(0 <= drawn[config.seed] && drawn[config.seed] < 1);
  }
  CHECK(!same_bits(drawn[0], drawn[1]));
  fresh();
  kernel = ATTN_KERNEL_GAUSSIAN;
  model_of(2);
  CHECK(!found("w")->requires_gradient);
}

static void what_cannot_be_is_named(void) {
  attn_kernel_regression_config config = attn_kernel_regression_defaults();
  fresh();
  config.kernel = 6;
  CHECK(!attn_kernel_regression_new(tape, &config));
  CHECK_FAILED(ATTN_BAD_VALUE, "kernel 6 is unknown; it must be 0 to 5");
  fresh();
  config.kernel = ATTN_KERNEL_BOXCAR;
  config.learned = 1;
  CHECK(!attn_kernel_regression_new(tape, &config));
  CHECK_FAILED(ATTN_BAD_VALUE,
               "the weights of the kernel 2 do not change with a small change of the width: there "
               "is nothing to learn");
  fresh();
  config = attn_kernel_regression_defaults();
  config.width = NAN;
  CHECK(!attn_kernel_regression_new(tape, &config));
  CHECK_FAILED(ATTN_BAD_VALUE, "width NaN must be a finite number");
  fresh();
  kernel = ATTN_KERNEL_GAUSSIAN;
  const attn_tensor *three = given("three", SHAPE(1, 1, 3, 1)),
                    *two = given("two", SHAPE(1, 1, 2, 1));
  CHECK(!attn_kernel_regression_forward(tape, model_of(1), two, three, three, true));
  CHECK_FAILED(ATTN_BAD_SHAPE,
               "there are 2 queries, 3 keys and 3 values; keys and values must be as many, and to "
               "leave one out queries too");
  fresh();
  three = given("three", SHAPE(3));
  CHECK(!attn_kernel_regression_forward(tape, model_of(1), three, three, three, false));
  CHECK_FAILED(ATTN_BAD_SHAPE, "three has 1 axes and 1 rows; kernel regression needs [1, 1, T, D]");
}

/* ---- D2L's run ---------------------------------------------------------------------------- */

static attn_tensor *points(const char *name, const char *key) {
  const int count = golden_list(golden_at(key), golden_numbers, GOLDEN_NUMBERS);
  attn_tensor *tensor = given(name, SHAPE(1, 1, count, 1));
  for (int i = 0; i < count; i++) tensor->data[i] = (attn_real)golden_numbers[i];
  return tensor;
}

static void five_steps_give_the_losses_that_d2l_published(void) {
  const char *path = getenv("NADARAYA_WATSON_D2L");
  if (!path) {
    skip("NADARAYA_WATSON_D2L names no file with the points of D2L's run");
    return;
  }
  golden_read(path);
  fresh();
  attn_kernel_regression_config config = attn_kernel_regression_defaults();
  config.learned = 1;
  config.width = (float)golden_number("w0");
  const attn_kernel_regression *model = attn_kernel_regression_new(tape, &config);
  const attn_tensor *x = points("x", "x_train"), *y = points("y", "y_train");
  attn_training *training = attn_training_new(tape);
  attn_training_options options = attn_training_defaults();
  options.optimiser = ATTN_OPTIMISER_SGD;
  options.learning_rate = 0.5f;
  double losses[5], widths[6];
  CHECK_EQUAL(golden_list(golden_at("losses"), losses, 5), 5);
  CHECK_EQUAL(golden_list(golden_at("w"), widths, 6), 6);
  attn_tape_keep(tape);
  for (int step = 0; step < 5; step++) {
    attn_tape_rewind(tape);
    CHECK_NEAR(found("w")->data[0], widths[step], 2e-5);
    const attn_tensor *output = attn_kernel_regression_forward(tape, model, x, x, y, true);
    attn_train_step(tape, training, attn_squared_error(tape, "loss", output, y, ATTN_REDUCTION_SUM),
                    &options);
    NOTE("step %d", step + 1);
    CHECK_NEAR(training->loss, losses[step], 5e-5);
  }
  CHECK_OK();
  CHECK_NEAR(found("w")->data[0], widths[5], 2e-5);
}

int main(void) {
  RUN(outputs_are_averages_weighted_by_the_kernel);
  RUN(gradients_reach_width_queries_keys_and_values);
  RUN(a_query_out_of_reach_gives_zero_and_no_gradient);
  RUN(a_learned_width_starts_where_told_or_by_the_seed);
  RUN(what_cannot_be_is_named);
  RUN(five_steps_give_the_losses_that_d2l_published);
  return report();
}
