/* Heads: hiddens cut into h pieces of width D = H / h, and put together again.
 *
 *   split   y[b, head, t, d] = x[b, t, head × D + d]
 *   merge   the inverse
 *   mask    y[b, head, t, d] = x[b, head, t, d] × head_mask[head] */
#include "math/rows.h"
#include "ops/ops.h"

static void split_heads_backward(attn_tape *tape, const attn_tensor *out) {
  attn_real *dx = attn_gradient(tape, out->inputs[0]);
  const int32_t batch = out->shape[0], heads = out->shape[1], length = out->shape[2];
  const int32_t width = out->shape[3], hiddens = heads * width;
  const attn_real *from = out->gradient;
  for (int32_t b = 0; b < batch; b++)
    for (int32_t head = 0; head < heads; head++)
      for (int32_t i = 0; i < length; i++) {
        attn_real *to = dx + ((ptrdiff_t)b * length + i) * hiddens + head * width;
        for (int32_t d = 0; d < width; d++) to[d] += *from++;
      }
}

attn_tensor *attn_split_heads(attn_tape *tape, const char *name, const attn_tensor *x,
                              int32_t heads, const char *t) {
  if (!ATTN_READY(tape, x)) return NULL;
  const int32_t batch = x->shape[0], length = x->shape[1], hiddens = x->shape[2];
  if (heads < 1)
    return attn_fail_at(tape, "heads", ATTN_BAD_VALUE, "heads %d; there must be at least 1", heads);
  if (hiddens % heads)
    return attn_fail_at(tape, "heads", ATTN_BAD_SHAPE, "hiddens %d is not a multiple of heads %d",
                        hiddens, heads);
  const int32_t width = hiddens / heads;
  attn_tensor *out =
      attn_push(tape, "split_heads", name,
                attn_shape4("B", batch, "h", heads, t, length, "D", width), ATTN_INPUTS(x));
  if (!out) return NULL;
  out->backward = split_heads_backward;
  attn_real *to = out->data;
  for (int32_t b = 0; b < batch; b++)
    for (int32_t head = 0; head < heads; head++)
      for (int32_t i = 0; i < length; i++) {
        const attn_real *from = x->data + ((ptrdiff_t)b * length + i) * hiddens + head * width;
        for (int32_t d = 0; d < width; d++) *to++ = from[d];
      }
  return attn_finish(tape, out);
}

static void merge_heads_backward(attn_tape *tape, const attn_tensor *out) {
  const attn_tensor *x = out->inputs[0];
  attn_real *to = attn_gradient(tape, out->inputs[0]);
  const int32_t batch = x->shape[0], heads = x->shape[1], length = x->shape[2];
  const int32_t width = x->shape[3], hiddens = heads * width;
  for (int32_t b = 0; b < batch; b++)
    for (int32_t head = 0; head < heads; head++)
      for (int32_t i = 0; i < length; i++) {
        const attn_real *from =
            out->gradient + ((ptrdiff_t)b * length + i) * hiddens + head * width;
        for (int32_t d = 0; d < width; d++) *to++ += from[d];
      }
}

attn_tensor *attn_merge_heads(attn_tape *tape, const char *name, const attn_tensor *x) {
  if (!ATTN_READY(tape, x)) return NULL;
  const int32_t batch = x->shape[0], heads = x->shape[1], length = x->shape[2];
  const int32_t width = x->shape[3], hiddens = heads * width;
  attn_tensor *out =
      attn_push(tape, "merge_heads", name,
                attn_shape3("B", batch, x->axes[2], length, "H", hiddens), ATTN_INPUTS(x));
  if (!out) return NULL;
  out->backward = merge_heads_backward;
  const attn_real *from = x->data;
  for (int32_t b = 0; b < batch; b++)
    for (int32_t head = 0; head < heads; head++)
      for (int32_t i = 0; i < length; i++) {
        attn_real *to = out->data + ((ptrdiff_t)b * length + i) * hiddens + head * width;
        for (int32_t d = 0; d < width; d++) to[d] = *from++;
      }
  return attn_finish(tape, out);
}

static void mask_heads_backward(attn_tape *tape, const attn_tensor *out) {
  const attn_tensor *heads = out->inputs[0], *head_mask = out->inputs[1];
  attn_real *dheads = attn_gradient(tape, out->inputs[0]);
  attn_real *dmask = attn_gradient(tape, out->inputs[1]);
  const int32_t count = heads->shape[1];
  const ptrdiff_t block = (ptrdiff_t)heads->shape[2] * heads->shape[3];
  for (ptrdiff_t i = 0; i < (ptrdiff_t)heads->shape[0] * count; i++) {
    const attn_real factor = head_mask->data[i % count];
    const attn_real *dout = out->gradient + i * block;
    if (dheads)
      for (ptrdiff_t j = 0; j < block; j++) dheads[i * block + j] += dout[j] * factor;
    if (dmask) dmask[i % count] += attn_row_dot(dout, heads->data + i * block, block);
  }
}

attn_tensor *attn_mask_heads(attn_tape *tape, const char *name, const attn_tensor *heads,
                             const attn_tensor *head_mask) {
  if (!ATTN_READY(tape, heads, head_mask)) return NULL;
  const int32_t count = heads->shape[1];
  if (head_mask->rank != 1 || head_mask->shape[0] != count)
    return attn_fail_at(
        tape, "headMask", ATTN_BAD_SHAPE,
        "the head mask must be a list of %d, one for each head; it has the rank %d and %d elements",
        count, head_mask->rank, (int)attn_length(head_mask));
  attn_tensor *out =
      attn_push(tape, "mask_heads", name, attn_shape_of(heads), ATTN_INPUTS(heads, head_mask));
  if (!out) return NULL;
  out->backward = mask_heads_backward;
  const ptrdiff_t block = (ptrdiff_t)heads->shape[2] * heads->shape[3];
  for (ptrdiff_t i = 0; i < attn_length(heads); i++) {
    const attn_real factor = head_mask->data[i / block % count];
    /* A head that is off takes no part, even where it is NaN. */
    out->data[i] = factor == 0 ? 0 : heads->data[i] * factor;
  }
  return attn_finish(tape, out);
}
