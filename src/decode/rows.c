/* What a decoder keeps from step to step: copies beside the tape, row by row, since the tape goes
 * back between two steps and rows go on from others. */
#include "decode/decode.h"

#include "math/rows.h"

bool attn_reserve(attn_tape *tape, attn_tensor *out, const char *name, size_t count) {
  *out = (attn_tensor){.name = name, .op = "cache", .sum_axis = -1};
  out->data = attn_scratch(tape, count);
  return out->data != NULL;
}

void attn_copy_rows(attn_tensor *out, const attn_tensor *x, const int32_t *parents, int32_t rows) {
  const ptrdiff_t size = attn_length(x) / x->shape[0];
  out->rank = x->rank;
  for (int32_t i = 0; i < x->rank; i++) {
    out->shape[i] = i ? x->shape[i] : rows;
    out->axes[i] = x->axes[i];
  }
  for (int32_t row = 0; row < rows; row++)
    attn_row_copy(out->data + row * size, x->data + (parents ? parents[row] : 0) * size, size);
}
