/* The sweep back over a tape.
 *
 *   gradient(loss) = 1;  gradient(input) += gradient(output) · d output / d input
 *
 * from the loss to the first tensor, each operation adding to its inputs. When its turn comes a
 * tensor's gradient is whole, for all that used it stand behind it. Tensors that do not lead from
 * something that requires a gradient to the loss are passed over. */
#include "tape/tape.h"

static void zero(attn_real *cells, ptrdiff_t count) {
  for (ptrdiff_t i = 0; i < count; i++) cells[i] = 0;
}

attn_real *attn_gradient(attn_tape *tape, attn_tensor *tensor) {
  if (!tensor->requires_gradient || tensor->gradient) return tensor->gradient;
  const ptrdiff_t count = attn_length(tensor);
  tensor->gradient = attn_tape_take(tape, (size_t)count * sizeof(attn_real));
  if (tensor->gradient) zero(tensor->gradient, count);
  return tensor->gradient;
}

void *attn_attributes(attn_tape *tape, attn_tensor *out, size_t bytes) {
  void *attributes = out->requires_gradient ? attn_tape_take(tape, bytes) : NULL;
  out->attributes = attributes;
  return attributes;
}

/* The inputs' gradients come first, for they outlive the scratch memory. */
static void step_back(attn_tape *tape, const attn_tensor *output) {
  for (int32_t i = 0; i < output->input_count; i++) attn_gradient(tape, output->inputs[i]);
  if (attn_tape_status(tape) != ATTN_OK) return;
  const attn_mark mark = attn_scratch_mark(tape);
  output->backward(tape, output);
  attn_scratch_release(tape, mark);
}

attn_status attn_backward(attn_tape *tape, attn_tensor *loss) {
  if (!ATTN_READY(tape, loss)) return attn_tape_status(tape);
  if (attn_length(loss) != 1) {
    attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d elements; gradients are those of 1", loss->name,
              (int)attn_length(loss));
    return attn_tape_status(tape);
  }
  if (!loss->requires_gradient) {
    attn_fail(tape, ATTN_BAD_VALUE, "%s depends on no parameter: it has no gradients", loss->name);
    return attn_tape_status(tape);
  }
  for (attn_tensor *tensor = loss; tensor; tensor = tensor->previous)
    if (tensor->backward) tensor->gradient = NULL; /* of an earlier sweep */
  attn_real *start = attn_gradient(tape, loss);
  if (start) *start += 1;
  for (attn_tensor *tensor = loss; tensor; tensor = tensor->previous) {
    if (!tensor->gradient) continue;
    attn_overridden_zero(tape, tensor);
    if (tensor->backward) step_back(tape, tensor);
  }
  return attn_tape_status(tape);
}

void attn_gradients_zero(attn_tape *tape) {
  for (attn_tensor *tensor = attn_tape_first(tape); tensor; tensor = tensor->next)
    if (tensor->gradient) zero(tensor->gradient, attn_length(tensor));
}
