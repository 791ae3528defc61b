/* Layers of gated recurrent units, one on the other.
 *
 *   hidden_l0 = gru(x, state_l0)    hidden_l1 = gru(dropout(hidden_l0), state_l1)    …
 *
 * x [B, T, in], each hidden [B, T, H], each state [B, 1, H]. */
#include "nn/gru.h"

#include "base/text.h"

/* "state_l0": a name and the number of its layer. */
typedef struct layer_name {
  char text[24];
} layer_name;

static layer_name name_of(const char *name, int32_t layer) {
  layer_name out;
  attn_text text = attn_text_in(out.text, sizeof out.text);
  attn_text_add(&text, "%s_l%d", name, layer);
  return out;
}

/* A weight [3H, in], or with in = 0 a bias [3H]. */
static attn_tensor *declare(attn_tape *tape, const char *name, int32_t layer, int32_t hiddens,
                            int32_t in, int32_t initialiser, uint32_t seed) {
  const attn_shape shape =
      in ? attn_shape2("3H", 3 * hiddens, "H", in) : attn_shape1("3H", 3 * hiddens);
  attn_tensor *parameter = attn_parameter(tape, name_of(name, layer).text, shape);
  return in && initialiser == ATTN_INITIALISER_XAVIER
             ? attn_fill_xavier(tape, parameter, seed)
             : attn_fill_fan_in(tape, parameter, seed, hiddens);
}

bool attn_gru_declare(attn_tape *tape, attn_gru_stack *stack, int32_t layers, int32_t in,
                      int32_t hiddens, int32_t initialiser, uint32_t seed) {
  if (layers < 1 || layers > ATTN_GRU_MAX_LAYERS)
    return attn_fail_at(tape, "layers", ATTN_BAD_VALUE, "layers %d; there can be 1 to %d", layers,
                        ATTN_GRU_MAX_LAYERS);
  stack->layers = layers;
  for (int32_t l = 0; l < layers; l++) {
    attn_gru_weights *layer = &stack->layer[l];
    const int32_t width = l == 0 ? in : hiddens;
    layer->input_weight = declare(tape, "weight_ih", l, hiddens, width, initialiser, seed);
    layer->hidden_weight = declare(tape, "weight_hh", l, hiddens, hiddens, initialiser, seed);
    layer->input_bias = declare(tape, "bias_ih", l, hiddens, 0, initialiser, seed);
    layer->hidden_bias = declare(tape, "bias_hh", l, hiddens, 0, initialiser, seed);
  }
  return attn_tape_status(tape) == ATTN_OK;
}

const attn_tensor *attn_gru_run(attn_tape *tape, const attn_gru_stack *stack, const attn_tensor *x,
                                const attn_tensor **state, float dropout, uint32_t seed) {
  for (int32_t l = 0; l < stack->layers; l++) {
    if (l > 0) x = attn_dropout(tape, name_of("dropped", l - 1).text, x, dropout, seed);
    x = attn_gru(tape, name_of("hidden", l).text, x, state[l], &stack->layer[l]);
    if (!x) return NULL;
    state[l] = attn_slice(tape, name_of("state", l).text, x, 1, x->shape[1] - 1, 1);
  }
  return x;
}
