/* Decoding: what a search asks of a model, and the Transformer as such a model. */
#ifndef ATTN_DECODE_DECODE_H
#define ATTN_DECODE_DECODE_H

#include "models/transformer.h"

/* A model that continues rows of tokens. */
typedef struct attn_decoder {
  void *state;
  int32_t vocabulary;
  /* tokens [rows, stride], the first `length` of each row known → logits [rows, T, V], the last of
   * each row for its next token. */
  const attn_tensor *(*next)(attn_tape *tape, void *state, const int32_t *tokens, int32_t stride,
                             int32_t rows, int32_t length);
  /* Row i goes on from what row parents[i] was in the last `next`. */
  void (*follow)(void *state, const int32_t *parents, int32_t rows);
} attn_decoder;

/* Continues prefix [1, P] by what the decoder says, as attn_decode. */
attn_tensor *attn_search(attn_tape *tape, const attn_decoder *decoder, const attn_tensor *prefix,
                         const attn_decode_options *options);

bool attn_check_decoding(attn_tape *tape, const attn_decode_options *options);

/* How many rows such a search has at most. */
int32_t attn_decoding_rows(const attn_decode_options *options);

/* The tensor target [rows, count]: the first `count` tokens of each row, rows `stride` apart. */
attn_tensor *attn_new_tokens(attn_tape *tape, const int32_t *tokens, int32_t stride, int32_t rows,
                             int32_t count);

/* A tensor beside the tape, with room for `count` numbers. */
bool attn_reserve(attn_tape *tape, attn_tensor *out, const char *name, size_t count);

/* out = the rows of x that `parents` names; NULL: each is the first. */
void attn_copy_rows(attn_tensor *out, const attn_tensor *x, const int32_t *parents, int32_t rows);

/* One source sentence [1, Ts], NULL for a decoder by itself; up to `rows` rows of `length` tokens.
 * NULL when the tape failed. */
const attn_decoder *attn_transformer_decoder(attn_tape *tape, const attn_transformer *model,
                                             const attn_tensor *source, int32_t rows,
                                             int32_t length, int32_t cache, int32_t positions);

/* The last pass's output of each decoder layer, for its new tokens: [rows, T, H]. */
const attn_decoder_past *attn_transformer_decoder_past(const attn_decoder *decoder);

#endif
