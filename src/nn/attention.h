/* Attention as its callers inside the core need it. */
#ifndef ATTN_NN_ATTENTION_H
#define ATTN_NN_ATTENTION_H

#include "tape/tape.h"

/* The name of the output chosen: "output" by itself, "heads" inside multi-head. */
attn_tensor *attn_attention_named(attn_tape *tape, const char *name, const attn_tensor *query,
                                  const attn_tensor *key, const attn_tensor *value,
                                  const attn_attention_options *options);

/* Keys and values of earlier calls, [B, h, Tp, D] each, or NULL before the first. */
typedef struct attn_past {
  const attn_tensor *key, *value;
} attn_past;

/* Multi-head attention over the past followed by keys and values; past then holds both. Without
 * keys and values it attends to the past alone. */
attn_tensor *attn_multi_head_attention_after(attn_tape *tape, attn_past *past,
                                             const attn_tensor *queries, const attn_tensor *keys,
                                             const attn_tensor *values,
                                             const attn_multi_head_weights *weights,
                                             const attn_attention_options *options);

/* What a decoder layer keeps from one token to the next, by `keep`: nothing, the inputs or the keys
 * and values. NULL before the first; as a layer returns, they hold the new tokens too. */
typedef struct attn_decoder_past {
  int32_t keep;              /* attn_cache */
  const attn_tensor *output; /* of the layer, for its new tokens: [B, T, H] */
  const attn_tensor *inputs; /* of self-attention: [B, Tp, H] */
  attn_past self, cross;
} attn_decoder_past;

/* attn_decoder_layer behind the tokens of the past. */
attn_tensor *attn_decoder_layer_after(attn_tape *tape, attn_decoder_past *past,
                                      const attn_tensor *x, const attn_tensor *memory,
                                      const attn_decoder_layer_weights *weights,
                                      const attn_decoder_layer_options *options);

#endif
