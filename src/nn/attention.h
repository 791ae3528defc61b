/* Attention with the name of its output chosen: "output" by itself, "heads" inside multi-head. */
#ifndef ATTN_NN_ATTENTION_H
#define ATTN_NN_ATTENTION_H

#include "tape/tape.h"

attn_tensor *attn_attention_named(attn_tape *tape, const char *name, const attn_tensor *query,
                                  const attn_tensor *key, const attn_tensor *value,
                                  const attn_attention_options *options);

#endif
