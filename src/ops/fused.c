/* Attention in one operation, without a tensor of Tq × Tk.
 *
 *   output = softmax(mask(query · keyᵀ × factor)) · value
 *
 * Keys come in blocks. Each query row carries its largest score m so far, the sum l of e^(s - m)
 * and the output not yet divided by l; when a block raises m, both are scaled by e^(m_old - m_new)
 * (Milakov and Gimelshein 2018; Dao et al. 2022). Blocks that masks by position empty are skipped.
 * Masked cells are told by -inf, empty rows give zeros and NaN spoils its own row only, all as in
 * the path through weights, with which it agrees to rounding. */
#include "math/functions.h"
#include "math/gemm.h"
#include "math/random.h"
#include "math/rows.h"
#include "ops/ops.h"

enum { QUERY_BLOCK = 64, KEY_BLOCK = 64 };

typedef struct block_memory {
  attn_real *scores;  /* [QUERY_BLOCK, KEY_BLOCK]: scores, then masked scores */
  attn_real *weights; /* [QUERY_BLOCK, KEY_BLOCK]: e^(s - m) */
  attn_real *reasons; /* [KEY_BLOCK] */
  attn_real *largest; /* [QUERY_BLOCK]: m */
  attn_real *sum;     /* [QUERY_BLOCK]: l */
  attn_real *workspace;
} block_memory;

static bool take_memory(attn_tape *tape, block_memory *memory) {
  memory->scores = attn_scratch(tape, QUERY_BLOCK * KEY_BLOCK);
  memory->weights = attn_scratch(tape, QUERY_BLOCK * KEY_BLOCK);
  memory->reasons = attn_scratch(tape, KEY_BLOCK);
  memory->largest = attn_scratch(tape, QUERY_BLOCK);
  memory->sum = attn_scratch(tape, QUERY_BLOCK);
  memory->workspace = attn_scratch(tape, ATTN_GEMM_WORKSPACE);
  return memory->workspace != NULL;
}

/* weights = e^(masked - m) with m raised to this block's largest score; output and l follow. */
static void raise_row(attn_real *weights, attn_real *output, attn_real *largest, attn_real *sum,
                      const attn_real *masked, int32_t keys, int32_t width) {
  const attn_real block_largest = attn_row_max(masked, keys);
  const attn_real raised = block_largest > *largest ? block_largest : *largest;
  if (raised == ATTN_MINUS_INFINITY) {
    for (int32_t j = 0; j < keys; j++) weights[j] = masked[j] != masked[j] ? masked[j] : 0;
    *sum += attn_row_sum(weights, keys);
    return;
  }
  if (raised != *largest) {
    const attn_real correction = attn_exp(*largest - raised);
    for (int32_t d = 0; d < width; d++) output[d] *= correction;
    *sum *= correction;
    *largest = raised;
  }
  const attn_f32x4 shift = attn_f32x4_splat(raised);
  for (int32_t j = 0; j < keys; j += 4) /* rows are KEY_BLOCK wide: the last four fit */
    attn_f32x4_store(weights + j, attn_exp_x4(attn_f32x4_sub(attn_f32x4_load(masked + j), shift)));
  *sum += attn_row_sum(weights, keys);
}

typedef struct fused_call {
  const attn_mask *mask;
  attn_real factor;
  int32_t width, value_width;
  attn_dropout_plan dropout;
  attn_random_key dropout_key;
} fused_call;

/* Queries [first, first + rows) of one batch and head; pointers stand at the head's first row. */
static void attend_block(attn_tape *tape, attn_real *output, attn_real *flags,
                         const attn_real *query, const attn_real *key, const attn_real *value,
                         const fused_call *call, int32_t b, int32_t head, int32_t first,
                         int32_t rows, const block_memory *memory) {
  const attn_mask *mask = call->mask;
  const int32_t width = call->width, value_width = call->value_width;
  attn_span span = {mask->keys, 0};
  for (int32_t i = 0; i < rows; i++) {
    const attn_span row = attn_mask_span(mask, b, first + i);
    if (row.from == row.to) continue;
    if (row.from < span.from) span.from = row.from;
    if (row.to > span.to) span.to = row.to;
  }
  output += (ptrdiff_t)first * value_width;
  for (ptrdiff_t i = 0; i < (ptrdiff_t)rows * value_width; i++) output[i] = 0;
  for (int32_t i = 0; i < rows; i++) {
    memory->largest[i] = ATTN_MINUS_INFINITY;
    memory->sum[i] = 0;
    flags[first + i] = ATTN_ROW_EMPTY;
  }

  for (int32_t j = span.from / KEY_BLOCK * KEY_BLOCK; j < span.to; j += KEY_BLOCK) {
    const int32_t keys = mask->keys - j < KEY_BLOCK ? mask->keys - j : KEY_BLOCK;
    attn_gemm(memory->scores, KEY_BLOCK, query + (ptrdiff_t)first * width, width, 1,
              key + (ptrdiff_t)j * width, 1, width, rows, keys, width, false, memory->workspace);
    for (int32_t i = 0; i < rows; i++) {
      attn_real *scores = memory->scores + i * KEY_BLOCK;
      attn_real *weights = memory->weights + i * KEY_BLOCK;
      for (int32_t c = 0; c < keys; c++) scores[c] *= call->factor;
      attn_mask_reasons(memory->reasons, mask, b, head, first + i, j, keys);
      attn_mask_fill(scores, scores, memory->reasons, mask, b, head, first + i, j, keys);
      int flag = (int)flags[first + i];
      for (int32_t c = 0; c < keys; c++) {
        if (scores[c] != ATTN_MINUS_INFINITY) flag &= ~ATTN_ROW_EMPTY;
        if (scores[c] != scores[c] || scores[c] == -ATTN_MINUS_INFINITY)
          flag |= ATTN_ROW_NOT_FINITE;
      }
      flags[first + i] = (attn_real)flag;
      raise_row(weights, output + (ptrdiff_t)i * value_width, memory->largest + i, memory->sum + i,
                scores, keys, value_width);
      if (call->dropout.limit) {
        const uint64_t row =
            ((uint64_t)b * (uint64_t)mask->heads + (uint64_t)head) * (uint64_t)mask->queries +
            (uint64_t)(first + i);
        uint32_t words[KEY_BLOCK];
        attn_random_words(words, keys, call->dropout_key, row * (uint64_t)mask->keys + (uint64_t)j);
        attn_dropout_row(weights, weights, words, keys, call->dropout);
      }
    }
    attn_mix_block(tape, output, memory->weights, KEY_BLOCK, 1, memory->scores,
                   value + (ptrdiff_t)j * value_width, rows, keys, value_width, memory->workspace);
  }
  for (int32_t i = 0; i < rows; i++)
    if (memory->sum[i] != 0)
      for (int32_t d = 0; d < value_width; d++) output[i * value_width + d] /= memory->sum[i];
}

attn_tensor *attn_fused_attention(attn_tape *tape, const char *name, const attn_tensor *query,
                                  const attn_tensor *key, const attn_tensor *value,
                                  attn_real factor, const attn_mask *mask) {
  if (!ATTN_READY(tape, query, key, value)) return NULL;
  const attn_attention_options *options = mask->options;
  const int32_t batch = mask->batch, heads = mask->heads, queries = mask->queries;
  const attn_random_key dropout_key = attn_name_key(tape, options->seed, ATTN_DROPPED_WEIGHTS);
  attn_tensor *flags = attn_push(tape, "fused_row_flags", "row_flags",
                                 attn_shape3("B", batch, "h", heads, "Tq", queries),
                                 ATTN_INPUTS(query, key, options->valid_lengths, options->mask,
                                             options->bias, options->alibi_slopes));
  attn_tensor *out =
      attn_push(tape, "fused_attention", name,
                attn_shape4("B", batch, "h", heads, "Tq", queries, "D", value->shape[3]),
                ATTN_INPUTS(query, key, value, options->valid_lengths, options->mask, options->bias,
                            options->alibi_slopes));
  if (!out) return NULL;
  const attn_mark mark = attn_scratch_mark(tape);
  block_memory memory;
  if (!take_memory(tape, &memory)) return NULL;
  const fused_call call = {.mask = mask,
                           .factor = factor,
                           .width = query->shape[3],
                           .value_width = value->shape[3],
                           .dropout = attn_dropout_plan_of(options->dropout),
                           .dropout_key = dropout_key};
  for (int32_t b = 0; b < batch; b++)
    for (int32_t head = 0; head < heads; head++) {
      const ptrdiff_t block = (ptrdiff_t)b * heads + head;
      for (int32_t i = 0; i < queries; i += QUERY_BLOCK)
        attend_block(tape, out->data + block * queries * call.value_width,
                     flags->data + block * queries, query->data + block * queries * call.width,
                     key->data + block * mask->keys * call.width,
                     value->data + block * mask->keys * call.value_width, &call, b, head, i,
                     queries - i < QUERY_BLOCK ? queries - i : QUERY_BLOCK, &memory);
    }
  attn_scratch_release(tape, mark);
  if (!attn_finish(tape, flags)) return NULL;
  return attn_finish(tape, out);
}
