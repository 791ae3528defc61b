/* One layer of gated recurrent units over a whole sequence (Cho et al. 2014, in torch nn.GRU's
 * form).
 *
 *   [a_r a_z a_n] = x_t W_ihᵀ + b_ih                     [B, 3H]
 *   [c_r c_z c_n] = h_{t-1} W_hhᵀ + b_hh                 [B, 3H]
 *   r = σ(a_r + c_r)    z = σ(a_z + c_z)    n = tanh(a_n + r c_n)
 *   h_t = (1 - z) n + z h_{t-1}
 *
 * x [B, T, in], h_0 [B, 1, H] or zeros, W_ih [3H, in], W_hh [3H, H]; the output [B, T, H] is every
 * h_t. All steps share one product with W_ih; the one with W_hh waits for the step before.
 *
 * Backward walks the steps from the last to the first. With dh the gradient of h_t, its own and
 * what step t + 1 sends back,
 *
 *   da_n = dh (1 - z) (1 - n²)    da_z = dh (h_{t-1} - n) z (1 - z)    da_r = da_n c_n r (1 - r)
 *   dc_r = da_r    dc_z = da_z    dc_n = da_n r    dh_{t-1} = dh z + dc W_hh */
#include "math/functions.h"
#include "math/gemm.h"
#include "ops/ops.h"

enum { INPUT, INPUT_WEIGHT, HIDDEN_WEIGHT, INPUT_BIAS, HIDDEN_BIAS, STATE };

/* The hidden states before step t, rows `stride` apart; NULL for zeros. */
typedef struct states {
  const attn_real *data;
  ptrdiff_t stride;
} states;

static states states_before(const attn_tensor *output, const attn_tensor *first, int32_t t) {
  const int32_t length = output->shape[1], hiddens = output->shape[2];
  if (t > 0)
    return (states){output->data + (ptrdiff_t)(t - 1) * hiddens, (ptrdiff_t)length * hiddens};
  return (states){first ? first->data : NULL, hiddens};
}

/* h_t of one sequence from its a, c and h_{t-1}; gates [4H] (or NULL) keeps r, z, n, c_n. */
static void step(attn_real *h, attn_real *gates, const attn_real *a, const attn_real *c,
                 const attn_real *a_bias, const attn_real *c_bias, const attn_real *before,
                 int32_t hiddens) {
  const attn_f32x4 one = attn_f32x4_splat(1);
  for (int32_t u = 0; u < hiddens; u += 4) {
    const int32_t left = hiddens - u;
    attn_f32x4 from_input[3], from_hidden[3];
    for (int gate = 0; gate < 3; gate++) {
      const ptrdiff_t at = (ptrdiff_t)gate * hiddens + u;
      from_input[gate] = attn_f32x4_add(attn_f32x4_load_some(a + at, left, 0),
                                        attn_f32x4_load_some(a_bias + at, left, 0));
      from_hidden[gate] = attn_f32x4_add(attn_f32x4_load_some(c + at, left, 0),
                                         attn_f32x4_load_some(c_bias + at, left, 0));
    }
    const attn_f32x4 r = attn_sigmoid_x4(attn_f32x4_add(from_input[0], from_hidden[0]));
    const attn_f32x4 z = attn_sigmoid_x4(attn_f32x4_add(from_input[1], from_hidden[1]));
    const attn_f32x4 n =
        attn_tanh_x4(attn_f32x4_add(from_input[2], attn_f32x4_mul(r, from_hidden[2])));
    attn_f32x4 next = attn_f32x4_mul(attn_f32x4_sub(one, z), n);
    if (before)
      next = attn_f32x4_add(next, attn_f32x4_mul(z, attn_f32x4_load_some(before + u, left, 0)));
    attn_f32x4_store_some(h + u, left, next);
    if (!gates) continue;
    attn_f32x4_store_some(gates + u, left, r);
    attn_f32x4_store_some(gates + hiddens + u, left, z);
    attn_f32x4_store_some(gates + 2 * (ptrdiff_t)hiddens + u, left, n);
    attn_f32x4_store_some(gates + 3 * (ptrdiff_t)hiddens + u, left, from_hidden[2]);
  }
}

/* From dh = dh_t + carry of one sequence: da [3H], dc [3H], and carry = dh z. */
static void step_back(attn_real *da, attn_real *dc, attn_real *carry, const attn_real *dh_t,
                      const attn_real *gates, const attn_real *before, int32_t hiddens) {
  const attn_f32x4 one = attn_f32x4_splat(1), zero = attn_f32x4_splat(0);
  for (int32_t u = 0; u < hiddens; u += 4) {
    const int32_t left = hiddens - u;
    const attn_f32x4 r = attn_f32x4_load_some(gates + u, left, 0);
    const attn_f32x4 z = attn_f32x4_load_some(gates + hiddens + u, left, 0);
    const attn_f32x4 n = attn_f32x4_load_some(gates + 2 * (ptrdiff_t)hiddens + u, left, 0);
    const attn_f32x4 c_n = attn_f32x4_load_some(gates + 3 * (ptrdiff_t)hiddens + u, left, 0);
    const attn_f32x4 h = before ? attn_f32x4_load_some(before + u, left, 0) : zero;
    const attn_f32x4 dh = attn_f32x4_add(attn_f32x4_load_some(dh_t + u, left, 0),
                                         attn_f32x4_load_some(carry + u, left, 0));
    const attn_f32x4 one_less_z = attn_f32x4_sub(one, z);
    const attn_f32x4 da_n =
        attn_f32x4_mul(attn_f32x4_mul(dh, one_less_z), attn_f32x4_sub(one, attn_f32x4_mul(n, n)));
    const attn_f32x4 da_z =
        attn_f32x4_mul(attn_f32x4_mul(dh, attn_f32x4_sub(h, n)), attn_f32x4_mul(z, one_less_z));
    const attn_f32x4 da_r =
        attn_f32x4_mul(attn_f32x4_mul(da_n, c_n), attn_f32x4_mul(r, attn_f32x4_sub(one, r)));
    attn_f32x4_store_some(da + u, left, da_r);
    attn_f32x4_store_some(da + hiddens + u, left, da_z);
    attn_f32x4_store_some(da + 2 * (ptrdiff_t)hiddens + u, left, da_n);
    attn_f32x4_store_some(dc + u, left, da_r);
    attn_f32x4_store_some(dc + hiddens + u, left, da_z);
    attn_f32x4_store_some(dc + 2 * (ptrdiff_t)hiddens + u, left, attn_f32x4_mul(da_n, r));
    attn_f32x4_store_some(carry + u, left, attn_f32x4_mul(dh, z));
  }
}

static void add_rows(attn_real *sum, const attn_real *x, ptrdiff_t rows, int32_t width) {
  for (ptrdiff_t row = 0; row < rows; row++)
    for (int32_t i = 0; i < width; i++) sum[i] += x[row * width + i];
}

static void gru_backward(attn_tape *tape, const attn_tensor *output) {
  const attn_tensor *x = output->inputs[INPUT];
  const attn_tensor *input_weight = output->inputs[INPUT_WEIGHT];
  const attn_tensor *hidden_weight = output->inputs[HIDDEN_WEIGHT];
  attn_tensor *first = output->input_count > STATE ? output->inputs[STATE] : NULL;
  attn_real *dx = attn_gradient(tape, output->inputs[INPUT]);
  attn_real *dinput_weight = attn_gradient(tape, output->inputs[INPUT_WEIGHT]);
  attn_real *dhidden_weight = attn_gradient(tape, output->inputs[HIDDEN_WEIGHT]);
  attn_real *dinput_bias = attn_gradient(tape, output->inputs[INPUT_BIAS]);
  attn_real *dhidden_bias = attn_gradient(tape, output->inputs[HIDDEN_BIAS]);
  attn_real *dfirst = first ? attn_gradient(tape, first) : NULL;

  const int32_t batch = output->shape[0], length = output->shape[1], hiddens = output->shape[2];
  const int32_t in = attn_last(x), gates = 3 * hiddens;
  const ptrdiff_t rows = attn_rows(output);
  attn_real *da = attn_scratch(tape, (size_t)rows * (size_t)gates);
  attn_real *dc = attn_scratch(tape, (size_t)batch * (size_t)gates);
  attn_real *carry = attn_scratch(tape, (size_t)batch * (size_t)hiddens);
  attn_real *workspace = attn_scratch(tape, ATTN_GEMM_WORKSPACE);
  if (!da || !dc || !carry || !workspace) return;

  const attn_real *kept = output->attributes;
  for (ptrdiff_t i = 0; i < (ptrdiff_t)batch * hiddens; i++) carry[i] = 0;
  for (int32_t t = length - 1; t >= 0; t--) {
    const states before = states_before(output, first, t);
    for (int32_t b = 0; b < batch; b++) {
      const ptrdiff_t row = (ptrdiff_t)b * length + t;
      step_back(da + row * gates, dc + (ptrdiff_t)b * gates, carry + (ptrdiff_t)b * hiddens,
                output->gradient + row * hiddens, kept + row * 4 * hiddens,
                before.data ? before.data + b * before.stride : NULL, hiddens);
    }
    if (dhidden_bias) add_rows(dhidden_bias, dc, batch, gates);
    if (dhidden_weight && before.data)
      attn_gemm(dhidden_weight, hiddens, dc, 1, gates, before.data, before.stride, 1, gates,
                hiddens, batch, true, workspace);
    if (t > 0 || dfirst)
      attn_gemm(carry, hiddens, dc, gates, 1, hidden_weight->data, hiddens, 1, batch, hiddens,
                gates, true, workspace);
  }
  if (dfirst)
    for (ptrdiff_t i = 0; i < (ptrdiff_t)batch * hiddens; i++) dfirst[i] += carry[i];
  if (dinput_bias) add_rows(dinput_bias, da, rows, gates);
  if (dinput_weight)
    attn_gemm(dinput_weight, in, da, 1, gates, x->data, in, 1, gates, in, (int)rows, true,
              workspace);
  if (dx)
    attn_gemm(dx, in, da, gates, 1, input_weight->data, in, 1, (int)rows, in, gates, true,
              workspace);
}

static bool has_shape(const attn_tensor *tensor, int32_t rank, int32_t size0, int32_t size1) {
  return tensor->rank == rank && tensor->shape[0] == size0 &&
         (rank < 2 || tensor->shape[1] == size1);
}

static bool check(attn_tape *tape, const attn_tensor *x, const attn_tensor *state,
                  const attn_gru_weights *weights) {
  const attn_tensor *hidden = weights->hidden_weight;
  const int32_t in = attn_last(x), hiddens = attn_last(hidden), gates = 3 * hiddens;
  if (x->rank != 3)
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d axes; recurrent units need [B, T, in]",
                     x->name, x->rank);
  if (!has_shape(weights->input_weight, 2, gates, in) || !has_shape(hidden, 2, gates, hiddens) ||
      !has_shape(weights->input_bias, 1, gates, 0) || !has_shape(weights->hidden_bias, 1, gates, 0))
    return attn_fail(tape, ATTN_BAD_SHAPE,
                     "%s and %s must be [%d, %d] and [%d, %d], their biases lists of %d, for %d "
                     "hiddens and %s",
                     weights->input_weight->name, hidden->name, gates, in, gates, hiddens, gates,
                     hiddens, x->name);
  if (state && (state->rank != 3 || state->shape[0] != x->shape[0] || state->shape[1] != 1 ||
                state->shape[2] != hiddens))
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s must have the shape [%d, 1, %d] to go with %s",
                     state->name, x->shape[0], hiddens, x->name);
  return true;
}

attn_tensor *attn_gru(attn_tape *tape, const char *name, const attn_tensor *x,
                      const attn_tensor *state, const attn_gru_weights *weights) {
  const attn_tensor *input_weight = weights->input_weight, *hidden_weight = weights->hidden_weight;
  const attn_tensor *input_bias = weights->input_bias, *hidden_bias = weights->hidden_bias;
  if (!ATTN_READY(tape, x, input_weight, hidden_weight, input_bias, hidden_bias) ||
      !check(tape, x, state, weights))
    return NULL;
  const int32_t batch = x->shape[0], length = x->shape[1], in = x->shape[2];
  const int32_t hiddens = attn_last(hidden_weight), gates = 3 * hiddens;
  attn_tensor *output =
      attn_push(tape, "gru", name, attn_shape3("B", batch, x->axes[1], length, "H", hiddens),
                ATTN_INPUTS(x, input_weight, hidden_weight, input_bias, hidden_bias, state));
  if (!output) return NULL;
  const ptrdiff_t rows = attn_rows(output);
  attn_real *kept = NULL;
  if (output->requires_gradient) {
    kept = attn_tape_take(tape, (size_t)rows * 4 * (size_t)hiddens * sizeof *kept);
    if (!kept) return NULL;
    output->attributes = kept;
    output->backward = gru_backward;
  }
  const attn_mark mark = attn_scratch_mark(tape);
  attn_real *a = attn_scratch(tape, (size_t)rows * (size_t)gates);
  attn_real *c = attn_scratch(tape, (size_t)batch * (size_t)gates);
  attn_real *workspace = attn_scratch(tape, ATTN_GEMM_WORKSPACE);
  if (!a || !c || !workspace) return NULL;
  attn_gemm(a, gates, x->data, in, 1, input_weight->data, 1, in, (int)rows, gates, in, false,
            workspace);
  for (int32_t t = 0; t < length; t++) {
    const states before = states_before(output, state, t);
    if (before.data)
      attn_gemm(c, gates, before.data, before.stride, 1, hidden_weight->data, 1, hiddens, batch,
                gates, hiddens, false, workspace);
    else
      for (ptrdiff_t i = 0; i < (ptrdiff_t)batch * gates; i++) c[i] = 0;
    for (int32_t b = 0; b < batch; b++) {
      const ptrdiff_t row = (ptrdiff_t)b * length + t;
      step(output->data + row * hiddens, kept ? kept + row * 4 * hiddens : NULL, a + row * gates,
           c + (ptrdiff_t)b * gates, input_bias->data, hidden_bias->data,
           before.data ? before.data + b * before.stride : NULL, hiddens);
    }
  }
  attn_scratch_release(tape, mark);
  return attn_finish(tape, output);
}
