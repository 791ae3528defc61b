/* A sequence-to-sequence model's parameters, and its two halves for those who decode. */
#ifndef ATTN_MODELS_SEQ2SEQ_H
#define ATTN_MODELS_SEQ2SEQ_H

#include "nn/gru.h"

struct attn_seq2seq {
  attn_seq2seq_config config;
  const attn_tensor *source_embedding, *target_embedding;      /* [V, E] */
  attn_gru_stack encoder, decoder;                             /* E → H, E + H → H */
  const attn_tensor *query_weight, *key_weight, *score_weight; /* [H, H], [H, H], [1, H] or NULL */
  const attn_tensor *output_weight, *output_bias;              /* [V, H], [V] */
};

/* One forward pass: dropout or none. */
typedef struct attn_seq2seq_pass {
  const attn_seq2seq *model;
  bool training;
  uint32_t seed;
} attn_seq2seq_pass;

/* What decoding knows before its next token. A copy of it goes on by itself. */
typedef struct attn_seq2seq_state {
  int32_t position;                               /* tokens read so far */
  const attn_tensor *hidden[ATTN_GRU_MAX_LAYERS]; /* [B, 1, H] of each layer */
  const attn_tensor *context;                     /* [B, 1, H]: the encoder's last top state */
  const attn_tensor *keys, *values;               /* [B, 1, Ts, H] of attention, or NULL */
  const attn_tensor *lengths;                     /* [B] or NULL */
} attn_seq2seq_state;

/* source [B, Ts], lengths [B] or NULL → the state before the first token. */
bool attn_seq2seq_encode(attn_tape *tape, const attn_seq2seq_pass *pass, const attn_tensor *source,
                         const attn_tensor *lengths, attn_seq2seq_state *state);

/* The next tokens [B, T] → logits [B, T, V]; the state moves on by T. */
attn_tensor *attn_seq2seq_decode(attn_tape *tape, const attn_seq2seq_pass *pass,
                                 attn_seq2seq_state *state, const attn_tensor *target);

#endif
