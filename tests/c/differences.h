/*
 * Gradients against central differences: for each cell x of each parameter,
 *
 *   (loss(x + h) - loss(x - h)) ÷ 2h
 *
 * where the loss is the sum of all cells of an output, each times a weight of its own.
 */
#ifndef ATTN_TESTS_DIFFERENCES_H
#define ATTN_TESTS_DIFFERENCES_H

#include "fixture.h"
#include "ops/ops.h"

/*
 * With third derivatives and losses of size 10 a difference is off by some h² + rounding ÷ h:
 * 1e-10 + 1e-10 in double, 2.5e-4 + 4e-5 in float.
 */
static const double step = sizeof(attn_real) == sizeof(float) ? 0x1p-6 : 1e-5;
static const double difference_slack = sizeof(attn_real) == sizeof(float) ? 2e-3 : 1e-8;

/* A parameter of random numbers in [-1, 1). */
static inline attn_tensor *parameter(const char *name, int32_t rank, const int32_t *shape) {
  attn_shape described = {rank, {0}, {"i", "j", "k", "l"}};
  for (int32_t i = 0; i < rank; i++) described.size[i] = shape[i];
  attn_tensor *tensor = attn_parameter(tape, name, described);
  if (!tensor) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) tensor->data[i] = random_real();
  return attn_input_ready(tape, tensor);
}

static inline void dot_backward(attn_tape *on, const attn_tensor *loss) {
  const attn_tensor *weights = loss->inputs[1];
  attn_real *gradient = attn_gradient(on, loss->inputs[0]);
  for (ptrdiff_t i = 0; i < attn_length(weights); i++)
    gradient[i] += loss->gradient[0] * weights->data[i];
}

/* The sum of all cells, each times its weight. */
static inline attn_tensor *dot_of(const attn_tensor *output, const attn_tensor *weights) {
  attn_tensor *loss =
      attn_push(tape, "dot", "loss", (attn_shape){.rank = 0}, ATTN_INPUTS(output, weights));
  if (!loss) return NULL;
  loss->backward = dot_backward;
  loss->data[0] = 0;
  for (ptrdiff_t i = 0; i < attn_length(output); i++)
    loss->data[0] += output->data[i] * weights->data[i];
  return attn_finish(tape, loss);
}

/* Weights in [-1, 1), none like its neighbours. */
static inline attn_tensor *loss_of(const attn_tensor *output) {
  if (!output) return NULL;
  attn_tensor *weights = given("loss.weights", output->rank, output->shape);
  if (!weights) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(weights); i++)
    weights->data[i] = (attn_real)((uint32_t)(i + 1) * 2654435761u >> 8) * (attn_real)0x1p-23 - 1;
  return dot_of(output, weights);
}

static inline attn_tensor *sum_of(const attn_tensor *output) {
  if (!output) return NULL;
  attn_tensor *ones = given("ones", output->rank, output->shape);
  for (ptrdiff_t i = 0; ones && i < attn_length(ones); i++) ones->data[i] = 1;
  return ones ? dot_of(output, ones) : NULL;
}

static inline double loss_at(attn_real *cell, double value, const attn_tensor *(*build)(void)) {
  const attn_real before = *cell;
  attn_tape_rewind(tape);
  *cell = (attn_real)value;
  const attn_tensor *loss = loss_of(build());
  *cell = before;
  return loss ? loss->data[0] : NAN;
}

/* Compares the gradients of all parameters on the tape; what is on it stays. */
static inline void check_differences(const char *file, int line,
                                     const attn_tensor *(*build)(void)) {
  attn_tape_keep(tape);
  attn_gradients_zero(tape);
  attn_backward(tape, loss_of(build()));
  check_status(file, line, ATTN_OK, "");
  double largest = 0;
  for (attn_tensor *x = attn_tape_first(tape); x; x = x->next) {
    if (strcmp(x->op, "parameter") != 0) continue;
    for (ptrdiff_t i = 0; i < attn_length(x); i++) {
      const double above = loss_at(x->data + i, x->data[i] + step, build);
      const double below = loss_at(x->data + i, x->data[i] - step, build);
      const double expected = (above - below) / (2 * step);
      claim(fabs(x->gradient[i] - expected) <= difference_slack * (1 + fabs(expected)), file, line,
            "the gradient of %s[%d] is %.12g, the difference %.12g", x->name, (int)i,
            (double)x->gradient[i], expected);
      largest = fmax(largest, fabs(expected));
    }
  }
  claim(largest > 0.01, file, line, "no difference is above %g", largest);
  attn_tape_rewind(tape);
}
#define CHECK_DIFFERENCES(build) check_differences(__FILE__, __LINE__, build)

#endif
