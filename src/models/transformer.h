/* A Transformer's parameters, and its two halves for those who run them by themselves. */
#ifndef ATTN_MODELS_TRANSFORMER_H
#define ATTN_MODELS_TRANSFORMER_H

#include "nn/attention.h"

typedef struct attn_norm_weights {
  const attn_tensor *weight, *bias; /* [H]; both NULL: there is no such norm */
} attn_norm_weights;

typedef struct attn_embedding_weights {
  const attn_tensor *table;    /* [V, H] */
  const attn_tensor *position; /* [max_length, H] or NULL */
} attn_embedding_weights;

struct attn_transformer {
  attn_transformer_config config;
  attn_embedding_weights source, target;
  attn_encoder_layer_weights *encoder; /* [encoder_layers] */
  attn_decoder_layer_weights *decoder; /* [decoder_layers] */
  attn_norm_weights encoder_norm, decoder_norm;
  const attn_tensor *output_weight, *output_bias; /* [V, H], [V] */
  const attn_tensor *alibi_slopes;                /* [h] or NULL */
};

/* One forward pass: dropout or none. */
typedef struct attn_transformer_pass {
  const attn_transformer *model;
  bool training;
  uint32_t seed;
} attn_transformer_pass;

/* source [B, T], lengths [B] or NULL → memory [B, T, H]. */
attn_tensor *attn_transformer_encode(attn_tape *tape, const attn_transformer_pass *pass,
                                     const attn_tensor *source, const attn_tensor *lengths);

/* target [B, T], lengths [B] or NULL, memory [B, Ts, H] with its lengths, or NULL → logits
 * [B, T, V]. The first token stands at `position`; past [decoder_layers] may be NULL. */
attn_tensor *attn_transformer_decode(attn_tape *tape, const attn_transformer_pass *pass,
                                     const attn_tensor *target, const attn_tensor *lengths,
                                     const attn_tensor *memory, const attn_tensor *memory_lengths,
                                     int32_t position, attn_decoder_past *past);

/* attn_scope_enter of the layer's number. */
int32_t attn_transformer_enter(attn_tape *tape, int32_t layer);

/* Whether ids [B, T] and lengths [B] are sentences for a vocabulary, none of them empty. */
bool attn_transformer_check(attn_tape *tape, const attn_transformer *model, const char *what,
                            const attn_tensor *ids, const attn_tensor *lengths);

#endif
