/*
 * Attention as its definition reads, one query at a time and in double, and the comparison of a
 * whole call with it.
 */
#ifndef ATTN_TESTS_REFERENCE_H
#define ATTN_TESTS_REFERENCE_H

#include <stdlib.h>

#include "fixture.h"

enum { MOST_KEYS = 256, MOST_FEATURES = 80 };

typedef struct {
  const attn_tensor *query, *key, *value; /* [B, h, Tq, Dq], [B, h, Tk, Dk], [B, h, Tk, Dv] */
  attn_attention_options options;
} attention_call;

typedef struct {
  int reasons[MOST_KEYS];
  double raw[MOST_KEYS], scores[MOST_KEYS], masked[MOST_KEYS], weights[MOST_KEYS];
  double output[MOST_FEATURES];
  int flags;
} attention_row;

/* One number of [B|1, h|1, Tq|1, Tk|1]. */
static inline double spread(const attn_tensor *tensor, int b, int head, int i, int j) {
  const int at[4] = {b, head, i, j};
  ptrdiff_t index = 0;
  for (int axis = 0; axis < 4; axis++)
    index = index * tensor->shape[axis] + (tensor->shape[axis] == 1 ? 0 : at[axis]);
  return tensor->data[index];
}

static inline const attn_real *vector_of(const attn_tensor *x, int b, int head, int t) {
  return x->data + (((ptrdiff_t)b * x->shape[1] + head) * x->shape[2] + t) * x->shape[3];
}

static inline double dot(const attn_real *a, const attn_real *b, int count) {
  double sum = 0;
  for (int d = 0; d < count; d++) sum += (double)a[d] * b[d];
  return sum;
}

static inline double score_of(const attn_attention_options *options, const attn_real *q,
                              int query_width, const attn_real *k, int key_width) {
  double sum = 0;
  switch (options->score) {
    case ATTN_SCORE_ADDITIVE:
      for (int a = 0; a < options->score_query_weight->shape[0]; a++) {
        const attn_real *w_q = options->score_query_weight->data + a * query_width;
        const attn_real *w_k = options->score_key_weight->data + a * key_width;
        sum += options->score_value_weight->data[a] *
               tanh(dot(w_q, q, query_width) + dot(w_k, k, key_width));
      }
      return sum;
    case ATTN_SCORE_GENERAL:
      for (int d = 0; d < query_width; d++)
        sum += q[d] * dot(options->score_weight->data + d * key_width, k, key_width);
      return sum;
    case ATTN_SCORE_COSINE: {
      const double norms = sqrt(dot(q, q, query_width)) * sqrt(dot(k, k, key_width));
      return norms == 0 ? 0 : dot(q, k, key_width) / norms;
    }
    case ATTN_SCORE_GAUSSIAN:
      for (int d = 0; d < query_width; d++) {
        const double width = options->score_width ? options->score_width->data[0] : 1;
        const double difference = ((double)q[d] - k[d]) * width;
        sum -= difference * difference / 2;
      }
      return sum;
    default:
      return dot(q, k, key_width);
  }
}

static inline int reasons_of(const attention_call *call, int b, int head, int i, int j) {
  const attn_attention_options *options = &call->options;
  const int queries = call->query->shape[2], keys = call->key->shape[2];
  const int64_t p = options->causal == ATTN_CAUSAL_TOP_LEFT ? i : i + keys - queries;
  int reasons = 0;
  if (options->valid_lengths) {
    const int columns = options->valid_lengths->shape[1];
    const attn_real length = options->valid_lengths->data[b * columns + (columns > 1 ? i : 0)];
    if (j >= length) reasons |= ATTN_MASKED_BY_VALID_LENGTH;
  }
  if (options->causal != ATTN_CAUSAL_NONE && j > p) reasons |= ATTN_MASKED_BY_CAUSAL;
  const bool global = j < options->global_tokens || (0 <= p && p < options->global_tokens);
  const bool too_far_left = options->window_left >= 0 && j < p - options->window_left;
  const bool too_far_right = options->window_right >= 0 && j > p + options->window_right;
  if ((too_far_left || too_far_right) && !global) reasons |= ATTN_MASKED_BY_WINDOW;
  if (options->mask && spread(options->mask, b, head, i, j) == 0) reasons |= ATTN_MASKED_BY_CELL;
  if (options->bias && spread(options->bias, b, head, i, j) == -INFINITY)
    reasons |= ATTN_MASKED_BY_BIAS;
  return reasons;
}

/* scores, reasons → masked, flags */
static inline void mask_row(attention_row *row, const attention_call *call, int b, int head,
                            int i) {
  const attn_attention_options *options = &call->options;
  const int queries = call->query->shape[2], keys = call->key->shape[2];
  const int p = options->causal == ATTN_CAUSAL_TOP_LEFT ? i : i + keys - queries;
  row->flags = ATTN_ROW_EMPTY;
  for (int j = 0; j < keys; j++) {
    row->masked[j] = row->scores[j];
    if (options->bias) row->masked[j] += spread(options->bias, b, head, i, j);
    if (options->alibi_slopes)
      row->masked[j] -= (double)options->alibi_slopes->data[head] * abs(p - j);
    if (row->reasons[j])
      row->masked[j] = options->fill_mode == ATTN_FILL_GIVEN ? options->fill : -INFINITY;
    if (!row->reasons[j] && row->masked[j] != -INFINITY) row->flags &= ~ATTN_ROW_EMPTY;
    if (isnan(row->masked[j]) || row->masked[j] == INFINITY) row->flags |= ATTN_ROW_NOT_FINITE;
  }
}

/* masked → weights */
static inline void weigh_row(attention_row *row, const attention_call *call) {
  const attn_attention_options *options = &call->options;
  const int keys = call->key->shape[2];
  double largest = -INFINITY, sum = 0;
  for (int j = 0; j < keys; j++) largest = fmax(largest, row->masked[j]);
  const bool zeros = largest == -INFINITY && options->fill_mode == ATTN_FILL_EXCLUDE &&
                     !(row->flags & ATTN_ROW_NOT_FINITE);
  for (int j = 0; j < keys; j++) sum += exp(row->masked[j] - largest);
  for (int j = 0; j < keys; j++) {
    const double score = row->masked[j];
    if (options->normalise == ATTN_NORMALISE_SIGMOID)
      row->weights[j] = 1 / (1 + exp(-score));
    else if (options->normalise == ATTN_NORMALISE_RELU)
      row->weights[j] = score <= 0 ? 0 : score;
    else
      row->weights[j] = zeros ? 0 : exp(score - largest) / sum;
  }
}

static inline attention_row expect_row(const attention_call *call, int b, int head, int i) {
  static attention_row row;
  const attn_attention_options *options = &call->options;
  const attn_tensor *query = call->query, *key = call->key, *value = call->value;
  const bool by_width =
      options->scale_mode == ATTN_SCALE_DEFAULT && options->score == ATTN_SCORE_SCALED_DOT;
  const double scale = options->scale_mode == ATTN_SCALE_GIVEN ? options->scale
                       : by_width                              ? 1 / sqrt(query->shape[3])
                                                               : 1;
  for (int j = 0; j < key->shape[2]; j++) {
    row.reasons[j] = reasons_of(call, b, head, i, j);
    row.raw[j] = score_of(options, vector_of(query, b, head, i), query->shape[3],
                          vector_of(key, b, head, j), key->shape[3]);
    row.scores[j] = row.raw[j] * scale / options->temperature;
  }
  mask_row(&row, call, b, head, i);
  weigh_row(&row, call);
  for (int d = 0; d < value->shape[3]; d++) {
    row.output[d] = 0;
    for (int j = 0; j < key->shape[2]; j++)
      if (row.weights[j] != 0 || row.masked[j] != -INFINITY)
        row.output[d] += row.weights[j] * vector_of(value, b, head, j)[d];
  }
  return row;
}

/* Runs the call and compares every tensor it wrote with the definition; where the fused path may
 * be taken, that one too. */
static inline void check_attention(const attention_call *call) {
  attn_attention_options options = call->options;
  options.need_weights = 1;
  const attn_tensor *output = attn_attention(tape, call->query, call->key, call->value, &options);
  options.need_weights = 0;
  const int32_t previous = attn_scope_enter(tape, "fused");
  const attn_tensor *fused = attn_attention(tape, call->query, call->key, call->value, &options);
  attn_scope_leave(tape, previous);
  CHECK_OK();
  if (!output || !fused) return;

  const attn_tensor *raw = found("raw_scores"), *scores = found("scores"), *mask = found("mask");
  const attn_tensor *masked = found("masked_scores"), *weights = found("weights");
  const attn_tensor *flags = found("row_flags"), *fused_flags = found("fused.row_flags");
  const int heads = call->query->shape[1], queries = call->query->shape[2];
  const int keys = call->key->shape[2], width = call->value->shape[3];
  for (int r = 0; r < call->query->shape[0] * heads * queries; r++) {
    const int b = r / queries / heads, head = r / queries % heads, i = r % queries;
    const attention_row row = expect_row(call, b, head, i);
    CHECK_EQUAL(flags->data[r], row.flags);
    CHECK_EQUAL(fused_flags->data[r], row.flags);
    for (int j = 0; j < keys; j++) {
      const ptrdiff_t cell = (ptrdiff_t)r * keys + j;
      CHECK_EQUAL(mask->data[cell], row.reasons[j]);
      CHECK_CLOSE(raw->data[cell], row.raw[j]);
      CHECK_CLOSE(scores->data[cell], row.scores[j]);
      CHECK_CLOSE(masked->data[cell], row.masked[j]);
      CHECK_CLOSE(weights->data[cell], row.weights[j]);
      if (row.masked[j] == -INFINITY && row.weights[j] == 0) CHECK_BITS(weights->data[cell], 0);
    }
    for (int d = 0; d < width; d++) {
      CHECK_CLOSE(output->data[r * width + d], row.output[d]);
      CHECK_CLOSE(fused->data[r * width + d], row.output[d]);
    }
  }
}

#endif
