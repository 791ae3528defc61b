/*
 * Gradients against central differences: for each cell x of each parameter on the tape,
 *
 *   (loss(x + h) - loss(x - h)) ÷ 2h
 *
 *   static attn_tensor *loss_of_x(void) { return attn_squared_error(tape, "loss", x, ...); }
 *   ...
 *   fresh();
 *   x = learned("x", SHAPE(5));
 *   CHECK_GRADIENTS(loss_of_x);
 *
 * What has more than one element becomes a loss by loss_of or sum_of; CHECK_GRADIENTS_OF does so.
 */
#ifndef ATTN_TESTS_DERIVATIVE_H
#define ATTN_TESTS_DERIVATIVE_H

#include "fixture.h"

/*
 * A difference is off by h²/6 times the third derivative, some h² = 1e-10 in double and 2.5e-4 in
 * float, and by the losses' own rounding, a few units in their last place, ÷ h.
 */
enum { IS_FLOAT = sizeof(attn_real) == sizeof(float) };
static const double difference_step = IS_FLOAT ? 0x1p-6 : 1e-5;
static const double difference_slack = IS_FLOAT ? 2e-3 : 1e-8;
static const double loss_rounding = IS_FLOAT ? 0x1p-20 : 0x1p-49;

/* A parameter of random numbers in [-1, 1). */
static inline attn_tensor *parameter(const char *name, attn_shape shape) {
  attn_tensor *tensor = attn_parameter(tape, name, shape);
  if (!tensor) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) tensor->data[i] = random_real();
  return attn_input_ready(tape, tensor);
}

/* The same, declared as given() declares an input. */
static inline attn_tensor *learned(const char *name, int32_t rank, const int32_t *shape) {
  attn_shape described = {rank, {0}, {"i", "j", "k", "l"}};
  for (int32_t i = 0; i < rank; i++) described.size[i] = shape[i];
  return parameter(name, described);
}

static inline bool is_parameter(const attn_tensor *tensor) {
  return strcmp(tensor->op, "parameter") == 0;
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

static inline double loss_with(attn_tensor *(*loss)(void), attn_real *cell, double value) {
  const attn_real before = *cell;
  *cell = (attn_real)value;
  attn_tape_rewind(tape);
  const attn_tensor *at = loss();
  *cell = before;
  return at ? at->data[0] : NAN;
}

/* Keeps what is on the tape; loss computes a loss from it. At most `most` cells of each parameter
 * are tried, spread over it. Returns the largest slope found. */
static inline double check_gradients(const char *file, int line, attn_tensor *(*loss)(void),
                                     ptrdiff_t most) {
  attn_tape_keep(tape);
  attn_gradients_zero(tape);
  claim(attn_backward(tape, loss()) == ATTN_OK, file, line, "the sweep fails: %s",
        attn_tape_message(tape));
  attn_tape_rewind(tape);
  double largest = 0;
  for (attn_tensor *x = attn_tape_first(tape); x; x = x->next) {
    if (!is_parameter(x)) continue;
    const ptrdiff_t count = attn_length(x), stride = count > most ? count / most : 1;
    for (ptrdiff_t i = 0; i < count; i += stride) {
      const double at = x->data[i];
      const double above = loss_with(loss, x->data + i, at + difference_step);
      const double below = loss_with(loss, x->data + i, at - difference_step);
      const double slope = (above - below) / (2 * difference_step);
      const double limit = difference_slack * (1 + fabs(slope)) +
                           loss_rounding * fmax(fabs(above), fabs(below)) / difference_step;
      claim(fabs(x->gradient[i] - slope) <= limit, file, line,
            "the gradient of %s[%d] is %.12g, the slope %.12g within %.3g", x->name, (int)i,
            (double)x->gradient[i], slope, limit);
      largest = fmax(largest, fabs(slope));
    }
  }
  attn_tape_rewind(tape);
  return largest;
}

static const attn_tensor *(*checked_output)(void);
static inline attn_tensor *checked_loss(void) { return loss_of(checked_output()); }

static inline void check_gradients_of(const char *file, int line,
                                      const attn_tensor *(*output)(void)) {
  checked_output = output;
  const double largest = check_gradients(file, line, checked_loss, 1000);
  claim(largest > 0.01, file, line, "no slope is above %g", largest);
}

#define CHECK_GRADIENTS(loss) check_gradients(__FILE__, __LINE__, loss, 64)
#define CHECK_GRADIENTS_OF(output) check_gradients_of(__FILE__, __LINE__, output)

#endif
