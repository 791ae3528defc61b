/*
 * Gradients: the sweep back over the tape.
 */
#include "fixture.h"

static attn_tensor *parameter(const char *name, attn_shape shape) {
  attn_tensor *tensor = attn_parameter(tape, name, shape);
  if (!tensor) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) tensor->data[i] = random_real();
  return attn_input_ready(tape, tensor);
}

/* [1, n] · weight [1, n]: a loss whose gradient is the weight. */
static attn_tensor *weighted_sum(const attn_tensor *x, const attn_tensor *weight) {
  return attn_linear(tape, "loss", x, weight, NULL);
}

static void a_linear_layer_and_a_sum_pass_gradients_back(void) {
  fresh();
  const attn_tensor *x = parameter("x", attn_shape2("B", 1, "i", 3));
  const attn_tensor *w = parameter("w", attn_shape2("o", 2, "i", 3));
  const attn_tensor *b = parameter("b", attn_shape1("o", 2));
  const attn_tensor *v = given("v", SHAPE(1, 2));
  const attn_tensor *y = attn_linear(tape, "y", x, w, b);
  const attn_tensor *sum = attn_add(tape, "sum", y, y);
  attn_tensor *loss = weighted_sum(sum, v);
  CHECK_EQUAL(attn_backward(tape, loss), ATTN_OK);
  CHECK_CLOSE(loss->gradient[0], 1);
  CHECK(v->gradient == NULL);
  for (int o = 0; o < 2; o++) {
    const double dy = 2 * (double)v->data[o];
    CHECK_CLOSE(sum->gradient[o], v->data[o]);
    CHECK_CLOSE(y->gradient[o], dy);
    CHECK_CLOSE(b->gradient[o], dy);
    for (int i = 0; i < 3; i++) CHECK_CLOSE(w->gradient[o * 3 + i], dy * x->data[i]);
  }
  for (int i = 0; i < 3; i++)
    CHECK_CLOSE(x->gradient[i],
                2 * ((double)v->data[0] * w->data[i] + (double)v->data[1] * w->data[3 + i]));
}

static void kept_parameters_gather_gradients_and_the_rest_goes(void) {
  fresh();
  const attn_tensor *w = parameter("w", attn_shape2("o", 1, "i", 4));
  attn_tape_keep(tape);
  void *above = NULL;
  for (int step = 1; step <= 1000; step++) {
    attn_tape_rewind(tape);
    const attn_tensor *x = given("x", SHAPE(1, 4));
    for (int i = 0; i < 4; i++) x->data[i] = (attn_real)(i + 1);
    attn_backward(tape, weighted_sum(x, w));
    for (int i = 0; i < 4; i++) CHECK_CLOSE(w->gradient[i], step * (i + 1));
    void *here = attn_tape_take(tape, 1);
    if (above) CHECK(here == above);
    above = here;
  }
  CHECK_OK();
  attn_gradients_zero(tape);
  for (int i = 0; i < 4; i++) CHECK_BITS(w->gradient[i], 0);
  CHECK(attn_tape_first(tape) == w);
}

int main(void) {
  RUN(a_linear_layer_and_a_sum_pass_gradients_back);
  RUN(kept_parameters_gather_gradients_and_the_rest_goes);
  return report();
}
