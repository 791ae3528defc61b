/* Layers of gated recurrent units, one on the other, as torch nn.GRU. */
#ifndef ATTN_NN_GRU_H
#define ATTN_NN_GRU_H

#include "ops/ops.h"

enum { ATTN_GRU_MAX_LAYERS = 8 };

typedef struct attn_gru_stack {
  int32_t layers;
  attn_gru_weights layer[ATTN_GRU_MAX_LAYERS];
} attn_gru_stack;

/* Declares the parameters weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_ih_l1, … in
 * the present scope: weights Xavier uniform, biases uniform ±1/√H (D2L's initialisation of a GRU).
 */
bool attn_gru_declare(attn_tape *tape, attn_gru_stack *stack, int32_t layers, int32_t in,
                      int32_t hiddens, int32_t initialiser, uint32_t seed);

/* x [B, T, in] → the top layer's hidden states [B, T, H]. state[layer] is what that layer held
 * before, [B, 1, H] or NULL for zeros, and then what it holds at the end. Between layers there is
 * dropout. Writes hidden_l0, state_l0, … */
const attn_tensor *attn_gru_run(attn_tape *tape, const attn_gru_stack *stack, const attn_tensor *x,
                                const attn_tensor **state, float dropout, uint32_t seed);

#endif
