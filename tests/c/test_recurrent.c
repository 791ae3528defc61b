/*
 * Recurrent units against PyTorch's nn.GRU, and the cutting and joining of sequences; gradients
 * against central differences.
 */
#include "derivative.h"
#include "golden.h"
#include "nn/gru.h"

static attn_tensor *x, *y, *target;

/* ---- slice, join, repeat ------------------------------------------------------------------ */

static attn_tensor *error_of(const attn_tensor *prediction) {
  return attn_squared_error(tape, "loss", prediction, target, ATTN_REDUCTION_SUM);
}

static int32_t slice_axis;

static attn_tensor *slice_loss(void) {
  return error_of(attn_slice(tape, "part", x, slice_axis, 1, 2));
}

static void a_slice_is_a_stretch_of_one_axis(void) {
  for (slice_axis = 0; slice_axis < 3; slice_axis++) {
    fresh();
    x = parameter("x", attn_shape3("i", 3, "j", 4, "k", 5));
    int32_t size[] = {3, 4, 5};
    size[slice_axis] = 2;
    target = given("target", 3, size);
    NOTE("axis %d", slice_axis);
    const attn_tensor *part = attn_slice(tape, "part", x, slice_axis, 1, 2);
    for (int i = 0; i < size[0]; i++)
      for (int j = 0; j < size[1]; j++)
        for (int k = 0; k < size[2]; k++) {
          const int from = ((i + (slice_axis == 0)) * 4 + j + (slice_axis == 1)) * 5 + k;
          CHECK_BITS(part->data[(i * size[1] + j) * size[2] + k],
                     x->data[from + (slice_axis == 2)]);
        }
    CHECK_GRADIENTS(slice_loss);
  }
  fresh();
  CHECK(!attn_slice(tape, "part", given("x", SHAPE(2, 3)), 1, 2, 2));
  CHECK_FAILED(ATTN_BAD_VALUE, "a slice of 2 from 2 on leaves x, which has 3 there");
  fresh();
  CHECK(!attn_slice(tape, "part", given("x", SHAPE(2, 3)), 2, 0, 1));
  CHECK_FAILED(ATTN_BAD_SHAPE, "x has 2 axes; there is no axis 2 to slice");
}

enum { MOST_PIECES = 70 };
static const attn_tensor *pieces[MOST_PIECES];
static int32_t piece_count, join_axis;

static attn_tensor *join_loss(void) {
  return error_of(attn_join(tape, "whole", join_axis, piece_count, pieces));
}

static void joined_pieces_are_found_again_by_slices(void) {
  static const int32_t counts[] = {1, 2, 8, 9, MOST_PIECES};
  for (int c = 0; c < 5; c++)
    for (join_axis = 0; join_axis < 3; join_axis++) {
      fresh();
      piece_count = counts[c];
      NOTE("%d pieces along axis %d", piece_count, join_axis);
      int32_t size[] = {2, 3, 2}, total = 0;
      for (int p = 0; p < piece_count; p++) {
        size[join_axis] = 1 + p % 3;
        total += size[join_axis];
        pieces[p] = parameter("piece", attn_shape3("i", size[0], "j", size[1], "k", size[2]));
      }
      size[join_axis] = total;
      target = given("target", 3, size);
      const attn_tensor *whole = attn_join(tape, "whole", join_axis, piece_count, pieces);
      int32_t from = 0;
      for (int p = 0; p < piece_count; p++) {
        const int32_t count = pieces[p]->shape[join_axis];
        CHECK(equal_tensors(attn_slice(tape, "s", whole, join_axis, from, count), pieces[p]));
        from += count;
      }
      CHECK_GRADIENTS(join_loss);
    }
  fresh();
  pieces[0] = given("x", SHAPE(2, 3));
  pieces[1] = given("y", SHAPE(3, 3));
  CHECK(!attn_join(tape, "whole", 1, 2, pieces));
  CHECK_FAILED(ATTN_BAD_SHAPE, "x and y cannot be joined: their other axes differ");
}

static attn_tensor *repeat_loss(void) { return error_of(attn_repeat(tape, "times", x, 4)); }

static void repeat_gives_each_step_the_same_row(void) {
  fresh();
  x = parameter("x", attn_shape3("B", 2, "T", 1, "H", 3));
  target = given("target", SHAPE(2, 4, 3));
  const attn_tensor *times = attn_repeat(tape, "times", x, 4);
  for (int i = 0; i < 24; i++) CHECK_BITS(times->data[i], x->data[i / 12 * 3 + i % 3]);
  CHECK_GRADIENTS(repeat_loss);
  fresh();
  CHECK(!attn_repeat(tape, "times", given("x", SHAPE(2, 2, 3)), 4));
  CHECK_FAILED(ATTN_BAD_SHAPE, "x has 3 axes and 4 rows; to repeat it must be [B, 1, H]");
}

/* ---- recurrent units ---------------------------------------------------------------------- */

static const char *keyed(const char *format, int layer) {
  static char key[40];
  snprintf(key, sizeof key, format, layer);
  return key;
}

static void check_gradient(const attn_tensor *tensor, const char *key) {
  if (tensor) CHECK_GOLDEN(tensor->gradient, attn_length(tensor), key);
}

static void recurrent_units_agree_with_pytorch(void) {
  for (golden_open("gru"); golden_next();) {
    fresh();
    attn_gru_stack stack = {.layers = (int32_t)golden_number("layers")};
    const attn_tensor *first[ATTN_GRU_MAX_LAYERS], *state[ATTN_GRU_MAX_LAYERS];
    x = golden_parameter("x");
    for (int l = 0; l < stack.layers; l++) {
      stack.layer[l].input_weight = golden_parameter(keyed("weight_ih_l%d", l));
      stack.layer[l].hidden_weight = golden_parameter(keyed("weight_hh_l%d", l));
      stack.layer[l].input_bias = golden_parameter(keyed("bias_ih_l%d", l));
      stack.layer[l].hidden_bias = golden_parameter(keyed("bias_hh_l%d", l));
      first[l] = state[l] = golden_parameter(keyed("state_%d", l));
    }
    const attn_tensor *output = attn_gru_run(tape, &stack, x, state, 0, 0);
    CHECK_OK();
    if (!output) continue;
    CHECK_GOLDEN(output->data, attn_length(output), "output");
    attn_tensor *loss =
        attn_squared_error(tape, "loss", output, golden_parameter("target"), ATTN_REDUCTION_SUM);
    for (int l = 0; l < stack.layers; l++) {
      CHECK_GOLDEN(state[l]->data, attn_length(state[l]), keyed("last_%d", l));
      const attn_tensor *wanted = golden_parameter(keyed("last_target_%d", l));
      loss = attn_add(tape, "loss", loss,
                      attn_squared_error(tape, "of_state", state[l], wanted, ATTN_REDUCTION_SUM));
    }
    CHECK_EQUAL(attn_backward(tape, loss), ATTN_OK);
    check_gradient(x, "d_x");
    for (int l = 0; l < stack.layers; l++) {
      check_gradient(first[l], keyed("d_state_%d", l));
      check_gradient(stack.layer[l].input_weight, keyed("d_weight_ih_l%d", l));
      check_gradient(stack.layer[l].hidden_weight, keyed("d_weight_hh_l%d", l));
      check_gradient(stack.layer[l].input_bias, keyed("d_bias_ih_l%d", l));
      check_gradient(stack.layer[l].hidden_bias, keyed("d_bias_hh_l%d", l));
    }
  }
}

static attn_gru_stack units;
static const attn_tensor *before;

static attn_tensor *recurrent_loss(void) {
  const attn_tensor *state[ATTN_GRU_MAX_LAYERS] = {before};
  const attn_tensor *output = attn_gru_run(tape, &units, x, state, 0.25f, 7);
  return attn_add(tape, "loss", error_of(output),
                  attn_squared_error(tape, "state", state[0], y, ATTN_REDUCTION_SUM));
}

static void recurrent_units_pass_gradients_back_through_layers_and_dropout(void) {
  for (int layers = 1; layers <= 3; layers++)
    for (int hiddens = 3; hiddens <= 5; hiddens++) {
      fresh();
      NOTE("layers %d, hiddens %d", layers, hiddens);
      x = parameter("x", attn_shape3("B", 2, "T", 4, "H", 3));
      before = hiddens == 4 ? NULL : parameter("before", attn_shape3("B", 2, "T", 1, "H", hiddens));
      attn_gru_declare(tape, &units, layers, 3, hiddens, ATTN_INITIALISER_XAVIER, 5);
      target = given("target", SHAPE(2, 4, hiddens));
      y = given("y", SHAPE(2, 1, hiddens));
      CHECK_GRADIENTS(recurrent_loss);
    }
}

static void step_by_step_is_the_whole_sequence(void) {
  fresh();
  x = given("x", SHAPE(3, 6, 5));
  attn_gru_declare(tape, &units, 2, 5, 7, ATTN_INITIALISER_XAVIER, 1);
  const attn_tensor *whole_state[2] = {NULL, NULL}, *state[2] = {NULL, NULL};
  const attn_tensor *whole = attn_gru_run(tape, &units, x, whole_state, 0, 0);
  for (int t = 0; t < 6; t++) {
    const attn_tensor *step = attn_slice(tape, "x_t", x, 1, t, 1);
    const attn_tensor *output = attn_gru_run(tape, &units, step, state, 0, 0);
    CHECK(equal_tensors(output, attn_slice(tape, "h_t", whole, 1, t, 1)));
  }
  CHECK_OK();
  for (int l = 0; l < 2; l++) CHECK(equal_tensors(state[l], whole_state[l]));
}

static void check_bound(const attn_tensor *x, double bound) {
  double largest = 0;
  for (ptrdiff_t i = 0; i < attn_length(x); i++) largest = fmax(largest, fabs(x->data[i]));
  CHECK(0.95 * bound < largest && largest <= bound * (1 + slack));
}

static void initial_weights_are_those_of_pytorch_or_xavier(void) {
  fresh();
  attn_gru_declare(tape, &units, 2, 90, 30, ATTN_INITIALISER_TORCH, 1);
  for (int l = 0; l < 2; l++) {
    check_bound(units.layer[l].input_weight, 1 / sqrt(30));
    check_bound(units.layer[l].hidden_weight, 1 / sqrt(30));
    check_bound(units.layer[l].input_bias, 1 / sqrt(30));
    check_bound(units.layer[l].hidden_bias, 1 / sqrt(30));
  }
  fresh();
  attn_gru_declare(tape, &units, 2, 90, 30, ATTN_INITIALISER_XAVIER, 1);
  check_bound(units.layer[0].input_weight, sqrt(6.0 / (90 + 90)));
  check_bound(units.layer[1].input_weight, sqrt(6.0 / (90 + 30)));
  check_bound(units.layer[1].hidden_weight, sqrt(6.0 / (90 + 30)));
  check_bound(units.layer[1].hidden_bias, 1 / sqrt(30));
}

static void recurrent_units_name_what_does_not_fit(void) {
  fresh();
  const attn_tensor *state[ATTN_GRU_MAX_LAYERS] = {NULL};
  CHECK(!attn_gru_declare(tape, &units, 9, 3, 4, ATTN_INITIALISER_XAVIER, 1));
  CHECK_FAILED(ATTN_BAD_VALUE, "layers 9; there can be 1 to 8");
  fresh();
  attn_gru_declare(tape, &units, 1, 3, 4, ATTN_INITIALISER_XAVIER, 1);
  CHECK(!attn_gru_run(tape, &units, given("x", SHAPE(2, 5, 2)), state, 0, 0));
  CHECK_FAILED(ATTN_BAD_SHAPE,
               "weight_ih_l0 and weight_hh_l0 must be [12, 2] and [12, 4], their biases lists of "
               "12, for 4 hiddens and x");
  fresh();
  attn_gru_declare(tape, &units, 1, 3, 4, ATTN_INITIALISER_XAVIER, 1);
  state[0] = given("state", SHAPE(2, 4));
  CHECK(!attn_gru_run(tape, &units, given("x", SHAPE(2, 5, 3)), state, 0, 0));
  CHECK_FAILED(ATTN_BAD_SHAPE, "state must have the shape [2, 1, 4] to go with x");
}

int main(void) {
  RUN(a_slice_is_a_stretch_of_one_axis);
  RUN(joined_pieces_are_found_again_by_slices);
  RUN(repeat_gives_each_step_the_same_row);
  RUN(recurrent_units_agree_with_pytorch);
  RUN(recurrent_units_pass_gradients_back_through_layers_and_dropout);
  RUN(step_by_step_is_the_whole_sequence);
  RUN(initial_weights_are_those_of_pytorch_or_xavier);
  RUN(recurrent_units_name_what_does_not_fit);
  return report();
}
