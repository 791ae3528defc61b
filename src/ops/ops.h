/* The operations that attention is composed of; attn.h has those that stand alone.
 *
 * Each runs at once, writes one tensor (mask: two) and returns it, or NULL when the tape failed. A
 * NULL source gives NULL. All attention tensors have four axes: [B, h, T, D] and [B, h, Tq, Tk]. */
#ifndef ATTN_OPS_OPS_H
#define ATTN_OPS_OPS_H

#include "tape/tape.h"

#define ATTN_MINUS_INFINITY (-(attn_real)__builtin_inff())
#define ATTN_NAN ((attn_real)__builtin_nanf(""))

/* The masks of one attention call, checked against its sizes; see ops/mask.c. */
typedef struct attn_mask {
  const attn_attention_options *options;
  int32_t batch, heads, queries, keys;
  int32_t offset; /* query i stands at the position i + offset of the keys */
} attn_mask;

bool attn_mask_make(attn_tape *tape, attn_mask *mask, int32_t batch, int32_t heads, int32_t queries,
                    int32_t keys, const attn_attention_options *options);

/* The keys [from, to) outside of which masks by position leave query i of batch b nothing. */
typedef struct attn_span {
  int32_t from, to;
} attn_span;
attn_span attn_mask_span(const attn_mask *mask, int32_t b, int32_t i);

/* One row's keys j … j + count: reasons (0: may attend), and scores + bias with masked cells
 * filled. */
void attn_mask_reasons(attn_real *reasons, const attn_mask *mask, int32_t b, int32_t head,
                       int32_t i, int32_t j, int32_t count);
void attn_mask_fill(attn_real *out, const attn_real *scores, const attn_real *reasons,
                    const attn_mask *mask, int32_t b, int32_t head, int32_t i, int32_t j,
                    int32_t count);

/* Tensors mask and masked_scores; returns the latter. */
attn_tensor *attn_apply_mask(attn_tape *tape, const attn_tensor *scores, const attn_mask *mask);

/* query · keyᵀ: [B, h, Tq, D], [B, h, Tk, D] → [B, h, Tq, Tk]. */
attn_tensor *attn_dot_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key);

/* weight · tanh(query + key): features [B, h, Tq, A], [B, h, Tk, A], weight [1, A]. */
attn_tensor *attn_additive_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                                  const attn_tensor *weight);

/* -½ |(query - key) width|², width [1] or NULL for 1. */
attn_tensor *attn_gaussian_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                                  const attn_tensor *width);

/* log K(|query - key| |width|) of a kernel, -inf beyond its reach; width [1]. */
attn_tensor *attn_kernel_scores(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                                const attn_tensor *width, int32_t kernel);

/* Pushes raw_scores [B, h, Tq, Tk] of query and key and what else the score depends on. */
attn_tensor *attn_push_scores(attn_tape *tape, const char *op, const attn_tensor *query,
                              const attn_tensor *key, const attn_tensor *weight);

/* x ÷ |x| along the last axis, 0 where the norm is 0. */
attn_tensor *attn_unit_rows(attn_tape *tape, const char *name, const attn_tensor *x);

/* x × factor. */
attn_tensor *attn_scale_by(attn_tape *tape, const char *name, const attn_tensor *x,
                           attn_real factor);

/* masked_scores → weights. empty_is_nan: an empty row gives NaN as in PyTorch, else zeros. */
attn_tensor *attn_normalise_scores(attn_tape *tape, const attn_tensor *masked_scores,
                                   int32_t normalise, bool empty_is_nan);

/* [B, h, Tq] of ATTN_ROW_EMPTY | ATTN_ROW_NOT_FINITE. */
attn_tensor *attn_row_flags(attn_tape *tape, const attn_tensor *masked_scores,
                            const attn_tensor *mask, int32_t fill_mode);

/* x with some cells set to 0 and the rest ÷ (1 - probability), by the stream of the seed and the
 * full name; x itself where the probability is 0. */
attn_tensor *attn_dropout(attn_tape *tape, const char *name, const attn_tensor *x,
                          float probability, uint32_t seed);
#define ATTN_DROPPED_WEIGHTS "dropped_weights"

/* A probability as dropout compares it with random words: below limit a cell goes. */
typedef struct attn_dropout_plan {
  uint32_t limit;
  attn_real factor; /* of the cells that stay */
} attn_dropout_plan;
attn_dropout_plan attn_dropout_plan_of(float probability);
void attn_dropout_row(attn_real *out, const attn_real *in, const uint32_t *words, ptrdiff_t count,
                      attn_dropout_plan plan);

/* weights · value. A value whose key is masked and whose weight is 0 is never read. */
attn_tensor *attn_mix(attn_tape *tape, const char *name, const attn_tensor *weights,
                      const attn_tensor *value, const attn_tensor *masked_scores);

/* A block of the same: out[rows, width] += left[rows, depth] · right[depth, width], left with a
 * stride for each axis. Where a cell of left is 0, and -inf in `masked` if that is given with the
 * same strides, it takes no part even where right is NaN. */
void attn_mix_block(attn_tape *tape, attn_real *out, const attn_real *left, ptrdiff_t left_row,
                    ptrdiff_t left_col, const attn_real *masked, const attn_real *right,
                    int32_t rows, int32_t depth, int32_t width, attn_real *workspace);

/* softmax(mask(query · keyᵀ × factor)) · value without any Tq × Tk tensor; also row_flags. */
attn_tensor *attn_fused_attention(attn_tape *tape, const char *name, const attn_tensor *query,
                                  const attn_tensor *key, const attn_tensor *value,
                                  attn_real factor, const attn_mask *mask);

/* [B, T, H] → [B, h, T, D] and back. t is the letter of the length: "T", "Tq" or "Tk". */
attn_tensor *attn_split_heads(attn_tape *tape, const char *name, const attn_tensor *x,
                              int32_t heads, const char *t);
attn_tensor *attn_merge_heads(attn_tape *tape, const char *name, const attn_tensor *x);

/* heads [B, h, Tq, D] × head_mask [h]. */
attn_tensor *attn_mask_heads(attn_tape *tape, const char *name, const attn_tensor *heads,
                             const attn_tensor *head_mask);

/* ---- learning ----------------------------------------------------------------------------- */

/* Whether ids are whole numbers from `least` to vocabulary - 1. */
bool attn_check_ids(attn_tape *tape, const attn_tensor *ids, int32_t least, int32_t vocabulary);

/* Whether ids are the tokens of sentences, [B, T] with at least one of each; of one sentence; of as
 * many targets as sources. `what` is the option they come from. */
bool attn_check_sentences(attn_tape *tape, const char *what, const attn_tensor *ids);
bool attn_check_sentence(attn_tape *tape, const char *what, const attn_tensor *ids);
bool attn_check_pairs(attn_tape *tape, const attn_tensor *source, const attn_tensor *target);

/* Initial values: fill what attn_parameter returned, by the seed and the parameter's full name, and
 * finish it. fan_in is uniform ±1/√in: PyTorch's default for weight and bias of a linear layer, and
 * with in = H of a GRU; PyTorch's default for an embedding is normal with the deviation 1. */
attn_tensor *attn_fill_constant(attn_tape *tape, attn_tensor *parameter, attn_real value);
attn_tensor *attn_fill_normal(attn_tape *tape, attn_tensor *parameter, uint32_t seed,
                              attn_real deviation);
attn_tensor *attn_fill_uniform(attn_tape *tape, attn_tensor *parameter, uint32_t seed,
                               attn_real low, attn_real high);
attn_tensor *attn_fill_xavier(attn_tape *tape, attn_tensor *weight, uint32_t seed);
attn_tensor *attn_fill_fan_in(attn_tape *tape, attn_tensor *parameter, uint32_t seed, int32_t in);

/* One layer of gated recurrent units: x [B, T, in] and the state before it, [B, 1, H] or NULL for
 * zeros, → every hidden state [B, T, H]. */
typedef struct attn_gru_weights {
  const attn_tensor *input_weight, *hidden_weight; /* [3H, in], [3H, H]; gates reset, update, new */
  const attn_tensor *input_bias, *hidden_bias;     /* [3H] */
} attn_gru_weights;
attn_tensor *attn_gru(attn_tape *tape, const char *name, const attn_tensor *x,
                      const attn_tensor *state, const attn_gru_weights *weights);

/* count elements of x from `from` on along one axis. */
attn_tensor *attn_slice(attn_tape *tape, const char *name, const attn_tensor *x, int32_t axis,
                        int32_t from, int32_t count);

/* Pieces one after the other along one axis; above ATTN_MAX_INPUTS first in groups, `part.name`. */
attn_tensor *attn_join(attn_tape *tape, const char *name, int32_t axis, int32_t count,
                       const attn_tensor *const *pieces);

/* x [B, 1, H] → [B, times, H]. */
attn_tensor *attn_repeat(attn_tape *tape, const char *name, const attn_tensor *x, int32_t times);

#endif
