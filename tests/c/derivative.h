/*
 * A gradient against central differences. In float a difference says little, so there only the
 * sweep runs; the double build compares.
 *
 *   static attn_tensor *loss_of_x(void) { return attn_squared_error(tape, "loss", x, ...); }
 *   ...
 *   fresh();
 *   x = parameter("x", attn_shape1("i", 5));
 *   CHECK_GRADIENTS(loss_of_x);
 */
#ifndef ATTN_TESTS_DERIVATIVE_H
#define ATTN_TESTS_DERIVATIVE_H

#include "fixture.h"

/* A parameter of random numbers in [-1, 1). */
static inline attn_tensor *parameter(const char *name, attn_shape shape) {
  attn_tensor *tensor = attn_parameter(tape, name, shape);
  if (!tensor) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) tensor->data[i] = random_real();
  return attn_input_ready(tape, tensor);
}

static inline double loss_with(attn_tensor *(*loss_of)(void), attn_real *cell, attn_real value) {
  const attn_real before = *cell;
  *cell = value;
  attn_tape_rewind(tape);
  const attn_tensor *loss = loss_of();
  *cell = before;
  return loss ? loss->data[0] : NAN;
}

/* Keeps what is on the tape; loss_of computes a loss from it. At most `most` cells of each
 * parameter are tried, spread over it. */
static inline void check_gradients(const char *file, int line, attn_tensor *(*loss_of)(void),
                                   ptrdiff_t most) {
  attn_tape_keep(tape);
  attn_gradients_zero(tape);
  attn_tensor *loss = loss_of();
  claim(attn_backward(tape, loss) == ATTN_OK, file, line, "the sweep fails: %s",
        attn_tape_message(tape));
  attn_tape_rewind(tape);
  if (sizeof(attn_real) == sizeof(float)) return;
  const double step = 1e-5;
  for (attn_tensor *x = attn_tape_first(tape); x; x = x->next) {
    if (!x->requires_gradient) continue;
    const ptrdiff_t count = attn_length(x), stride = count > most ? count / most : 1;
    for (ptrdiff_t i = 0; i < count; i += stride) {
      const double at = x->data[i];
      const double slope = (loss_with(loss_of, x->data + i, (attn_real)(at + step)) -
                            loss_with(loss_of, x->data + i, (attn_real)(at - step))) /
                           (2 * step);
      claim(fabs(x->gradient[i] - slope) <= 1e-8 * (1 + fabs(slope)), file, line,
            "the gradient of %s[%d] is %.12g, the slope %.12g", x->name, (int)i,
            (double)x->gradient[i], slope);
    }
  }
  attn_tape_rewind(tape);
}

#define CHECK_GRADIENTS(loss_of) check_gradients(__FILE__, __LINE__, loss_of, 64)

#endif
