/* Which query may attend to which key.
 *
 *   masked_scores[b, h, i, j] = scores[b, h, i, j] + bias[b, h, i, j] - slope[h] |p - j|
 *                               or the fill (-inf unless another is given) where a mask speaks
 *
 * Query i stands at position p = i + Tk - Tq among the keys (the last query at the last key, as in
 * cached decoding), with top-left causal masks at p = i. All masks combine: a cell is masked when
 * any of them says so, and the tensor `mask` keeps each one's bit. What follows knows masked cells
 * by -inf alone, so that a cell edited to a number takes part again.
 *
 *   dscores[b, h, i, j] = dmasked_scores[b, h, i, j] where no mask speaks, else 0; dbias likewise,
 *                         summed over the axes along which the bias is spread */
#include "math/rows.h"
#include "ops/ops.h"

static bool broadcasts(const attn_tensor *tensor, const int32_t size[4]) {
  if (tensor->rank != 4) return false;
  for (int i = 0; i < 4; i++)
    if (tensor->shape[i] != 1 && tensor->shape[i] != size[i]) return false;
  return true;
}

static bool check_broadcast(attn_tape *tape, const char *what, const attn_tensor *tensor,
                            const int32_t size[4]) {
  if (!tensor || broadcasts(tensor, size)) return true;
  if (tensor->rank != 4)
    return attn_fail_at(tape, what, ATTN_BAD_SHAPE, "%s has %d axes; it must have 4", what,
                        tensor->rank);
  return attn_fail_at(tape, what, ATTN_BAD_SHAPE,
                      "%s is [%d, %d, %d, %d] as [B, h, Tq, Tk]; each size must be 1 or that of "
                      "the scores, [%d, %d, %d, %d]",
                      what, tensor->shape[0], tensor->shape[1], tensor->shape[2], tensor->shape[3],
                      size[0], size[1], size[2], size[3]);
}

static bool check_valid_lengths(attn_tape *tape, const attn_mask *mask) {
  const attn_tensor *lengths = mask->options->valid_lengths;
  if (!lengths) return true;
  const int32_t columns = lengths->rank == 1 ? 1 : lengths->rank == 2 ? lengths->shape[1] : -1;
  if (columns < 0 || lengths->shape[0] != mask->batch || (columns != 1 && columns != mask->queries))
    return attn_fail_at(tape, "validLens", ATTN_BAD_SHAPE,
                        "valid lengths have the shape [%d, %d]; they must be [B] = [%d] or "
                        "[B, Tq] = [%d, %d]",
                        lengths->shape[0], lengths->rank > 1 ? lengths->shape[1] : 1, mask->batch,
                        mask->batch, mask->queries);
  for (ptrdiff_t i = 0; i < attn_length(lengths); i++) {
    const attn_real length = lengths->data[i];
    if (!(length >= 0 && length <= (attn_real)mask->keys) || length != (attn_real)(int32_t)length)
      return attn_fail_at(tape, "validLens", ATTN_BAD_VALUE,
                          "valid length %g is not a whole number from 0 to the %d keys",
                          (double)length, mask->keys);
  }
  return true;
}

bool attn_mask_make(attn_tape *tape, attn_mask *mask, int32_t batch, int32_t heads, int32_t queries,
                    int32_t keys, const attn_attention_options *options) {
  const int32_t size[4] = {batch, heads, queries, keys};
  const attn_tensor *slopes = options->alibi_slopes;
  *mask = (attn_mask){options, batch, heads,
                      queries, keys,  options->causal == ATTN_CAUSAL_TOP_LEFT ? 0 : keys - queries};
  if (!check_broadcast(tape, "mask", options->mask, size)) return false;
  if (!check_broadcast(tape, "bias", options->bias, size)) return false;
  if (slopes && (slopes->rank != 1 || slopes->shape[0] != heads))
    return attn_fail_at(
        tape, "alibi", ATTN_BAD_SHAPE,
        "ALiBi needs a list of %d slopes, one for each head; it has the rank %d and %d elements",
        heads, slopes->rank, (int)attn_length(slopes));
  return check_valid_lengths(tape, mask);
}

static int32_t valid_length(const attn_mask *mask, int32_t b, int32_t i) {
  const attn_tensor *lengths = mask->options->valid_lengths;
  if (!lengths) return mask->keys;
  const int32_t columns = lengths->rank == 1 ? 1 : lengths->shape[1];
  return (int32_t)lengths->data[(ptrdiff_t)b * columns + (columns == 1 ? 0 : i)];
}

static int32_t clamp(int64_t x, int32_t low, int32_t high) {
  return x < low ? low : x > high ? high : (int32_t)x;
}

static bool has_window(const attn_mask *mask) {
  return mask->options->window_left >= 0 || mask->options->window_right >= 0;
}

/* The window's keys [from, to) around position p, as if no token were global. */
static attn_span window_span(const attn_mask *mask, int64_t p) {
  const int32_t left = mask->options->window_left, right = mask->options->window_right;
  return (attn_span){left < 0 ? 0 : clamp(p - left, 0, mask->keys),
                     right < 0 ? mask->keys : clamp(p + right + 1, 0, mask->keys)};
}

attn_span attn_mask_span(const attn_mask *mask, int32_t b, int32_t i) {
  const int64_t p = (int64_t)i + mask->offset;
  attn_span span = {0, valid_length(mask, b, i)};
  if (mask->options->causal != ATTN_CAUSAL_NONE) {
    const int32_t to = clamp(p + 1, 0, mask->keys);
    if (to < span.to) span.to = to;
  }
  if (has_window(mask) && mask->options->global_tokens == 0) {
    const attn_span window = window_span(mask, p);
    if (window.from > span.from) span.from = window.from;
    if (window.to < span.to) span.to = window.to;
  }
  if (span.from > span.to) span.from = span.to;
  return span;
}

/* Where row (b, head, i) starts in a tensor that spreads along its axes of size 1; *step is 0 or 1.
 */
static ptrdiff_t broadcast_row(const attn_tensor *tensor, int32_t b, int32_t head, int32_t i,
                               ptrdiff_t *step) {
  const int32_t *shape = tensor->shape;
  const ptrdiff_t row =
      ((ptrdiff_t)(shape[0] == 1 ? 0 : b) * shape[1] + (shape[1] == 1 ? 0 : head)) * shape[2] +
      (shape[2] == 1 ? 0 : i);
  *step = shape[3] == 1 ? 0 : 1;
  return row * shape[3];
}

void attn_mask_reasons(attn_real *reasons, const attn_mask *mask, int32_t b, int32_t head,
                       int32_t i, int32_t j, int32_t count) {
  const attn_attention_options *options = mask->options;
  const int64_t p = (int64_t)i + mask->offset;
  const int32_t length = valid_length(mask, b, i);
  const int64_t last = options->causal == ATTN_CAUSAL_NONE ? mask->keys : p;
  const bool global_query = p >= 0 && p < options->global_tokens;
  const attn_span window =
      has_window(mask) && !global_query ? window_span(mask, p) : (attn_span){0, mask->keys};
  const int32_t global_keys = options->global_tokens;
  for (int32_t c = 0; c < count; c++) {
    const int32_t at = j + c;
    int reason = 0;
    if (at >= length) reason |= ATTN_MASKED_BY_VALID_LENGTH;
    if (at > last) reason |= ATTN_MASKED_BY_CAUSAL;
    if ((at < window.from || at >= window.to) && at >= global_keys) reason |= ATTN_MASKED_BY_WINDOW;
    reasons[c] = (attn_real)reason;
  }
  ptrdiff_t step;
  if (options->mask) {
    const attn_real *cells = options->mask->data + broadcast_row(options->mask, b, head, i, &step);
    for (int32_t c = 0; c < count; c++)
      if (cells[(j + c) * step] == 0) reasons[c] += ATTN_MASKED_BY_CELL;
  }
  if (options->bias) {
    const attn_real *bias = options->bias->data + broadcast_row(options->bias, b, head, i, &step);
    for (int32_t c = 0; c < count; c++)
      if (bias[(j + c) * step] == ATTN_MINUS_INFINITY) reasons[c] += ATTN_MASKED_BY_BIAS;
  }
}

void attn_mask_fill(attn_real *out, const attn_real *scores, const attn_real *reasons,
                    const attn_mask *mask, int32_t b, int32_t head, int32_t i, int32_t j,
                    int32_t count) {
  const attn_attention_options *options = mask->options;
  const attn_real fill =
      options->fill_mode == ATTN_FILL_GIVEN ? (attn_real)options->fill : ATTN_MINUS_INFINITY;
  ptrdiff_t step = 0;
  const attn_real *bias =
      options->bias ? options->bias->data + broadcast_row(options->bias, b, head, i, &step) : NULL;
  const attn_real slope = options->alibi_slopes ? options->alibi_slopes->data[head] : 0;
  for (int32_t c = 0; c < count; c++) {
    attn_real score = scores[c];
    if (bias) score += bias[(j + c) * step];
    if (options->alibi_slopes) {
      const int64_t distance = (int64_t)i + mask->offset - (j + c);
      score -= slope * (attn_real)(distance < 0 ? -distance : distance);
    }
    out[c] = reasons[c] == 0 ? score : fill;
  }
}

/* Slopes of ALiBi are constants: they get no gradient. */
static void apply_mask_backward(attn_tape *tape, const attn_tensor *out) {
  const attn_real *reasons = out->inputs[1]->data;
  attn_tensor *bias = out->input_count > 2 && out->inputs[2]->rank == 4 ? out->inputs[2] : NULL;
  attn_real *dscores = attn_gradient(tape, out->inputs[0]);
  attn_real *dbias = bias ? attn_gradient(tape, bias) : NULL;
  const attn_real *dout = out->gradient;
  const ptrdiff_t count = dscores ? attn_length(out) : 0;
  for (ptrdiff_t i = 0; i < count; i++) dscores[i] += reasons[i] == 0 ? dout[i] : 0;
  if (!dbias) return;
  const int32_t keys = attn_last(out);
  ptrdiff_t at = 0;
  for (int32_t b = 0; b < out->shape[0]; b++)
    for (int32_t head = 0; head < out->shape[1]; head++)
      for (int32_t i = 0; i < out->shape[2]; i++, at += keys) {
        ptrdiff_t step;
        attn_real *to = dbias + broadcast_row(bias, b, head, i, &step);
        for (int32_t j = 0; j < keys; j++)
          if (reasons[at + j] == 0) to[j * step] += dout[at + j];
      }
}

attn_tensor *attn_apply_mask(attn_tape *tape, const attn_tensor *scores, const attn_mask *mask) {
  if (!ATTN_READY(tape, scores)) return NULL;
  const attn_attention_options *options = mask->options;
  attn_tensor *reasons =
      attn_push(tape, "mask", "mask", attn_shape_of(scores),
                ATTN_INPUTS(options->valid_lengths, options->mask, options->bias));
  if (!reasons) return NULL;
  const int32_t keys = mask->keys;
  attn_real *row = reasons->data;
  for (int32_t b = 0; b < mask->batch; b++)
    for (int32_t head = 0; head < mask->heads; head++)
      for (int32_t i = 0; i < mask->queries; i++, row += keys)
        attn_mask_reasons(row, mask, b, head, i, 0, keys);
  if (!attn_finish(tape, reasons)) return NULL;

  attn_tensor *out = attn_push(tape, "apply_mask", "masked_scores", attn_shape_of(scores),
                               ATTN_INPUTS(scores, reasons, options->bias, options->alibi_slopes));
  if (!out) return NULL;
  out->backward = apply_mask_backward;
  ptrdiff_t at = 0;
  for (int32_t b = 0; b < mask->batch; b++)
    for (int32_t head = 0; head < mask->heads; head++)
      for (int32_t i = 0; i < mask->queries; i++, at += keys)
        attn_mask_fill(out->data + at, scores->data + at, reasons->data + at, mask, b, head, i, 0,
                       keys);
  return attn_finish(tape, out);
}
