/* One step of training: sweep back, measure the gradients, let the parameters follow.
 *
 *   norm = √(Σ of all gradients' squares)    factor = min(1, clip ÷ (norm + 1e-6))
 *
 * The factor is that of torch clip_grad_norm_; D2L divides by the norm alone, which differs by less
 * than 1e-6 ÷ norm. It enters the update only: the gradients themselves stay readable as they were.
 *
 * A loss or a gradient that is no finite number stops the step before any parameter has moved. */
#include "base/text.h"
#include "math/rows.h"
#include "train/optimiser.h"

static bool is_parameter(const attn_tensor *tensor) {
  return attn_text_equal(tensor->op, ATTN_PARAMETER);
}

attn_training *attn_training_new(attn_tape *tape) {
  attn_training *training = attn_tape_take(tape, sizeof *training);
  if (!training) return NULL;
  *training = (attn_training){0};
  for (attn_tensor *p = attn_tape_first(tape); p; p = p->next) {
    if (!is_parameter(p)) continue;
    training->parameter_count++;
    training->count += (int32_t)attn_length(p);
  }
  training->parameters =
      attn_tape_take(tape, (size_t)training->parameter_count * sizeof *training->parameters);
  training->moments = attn_tape_take(tape, 2 * (size_t)training->count * sizeof *training->moments);
  if (!training->moments) return NULL;
  int32_t i = 0;
  for (attn_tensor *p = attn_tape_first(tape); p; p = p->next)
    if (is_parameter(p)) training->parameters[i++] = p;
  attn_training_restart(training);
  return training;
}

void attn_training_restart(attn_training *training) {
  if (!training) return;
  training->steps = 0;
  for (ptrdiff_t i = 0; i < 2 * (ptrdiff_t)training->count; i++) training->moments[i] = 0;
}

static bool is_finite(attn_real x) { return x - x == 0; }

/* Parameter by parameter: each one's squares in the order of attn_row_dot. */
static attn_real gradient_norm(const attn_training *training) {
  attn_real sum = 0;
  for (int32_t i = 0; i < training->parameter_count; i++) {
    const attn_tensor *p = training->parameters[i];
    sum += attn_row_dot(p->gradient, p->gradient, attn_length(p));
  }
  return attn_sqrt(sum);
}

static bool holds(const attn_real *cells, ptrdiff_t count, bool nan) {
  for (ptrdiff_t i = 0; i < count; i++)
    if (nan ? cells[i] != cells[i] : cells[i] == (attn_real)__builtin_inff()) return true;
  return false;
}

static void fail_for_loss(attn_tape *tape, const attn_tensor *loss, int32_t step) {
  const bool nan = loss->data[0] != loss->data[0];
  const attn_tensor *first = attn_tape_first(tape);
  while (first != loss && !holds(first->data, attn_length(first), nan)) first = first->next;
  attn_fail(tape, ATTN_NOT_FINITE, "step %d: the loss is %g, which first appears in %s", step,
            (double)loss->data[0], first->name);
}

static void fail_for_gradient(attn_tape *tape, const attn_training *training) {
  int32_t i = 0;
  while (i + 1 < training->parameter_count &&
         is_finite(
             attn_row_sum(training->parameters[i]->gradient, attn_length(training->parameters[i]))))
    i++;
  attn_fail(tape, ATTN_NOT_FINITE, "step %d: the gradients have the norm %g; look at that of %s",
            training->steps + 1, (double)training->gradient_norm, training->parameters[i]->name);
}

attn_status attn_train_step(attn_tape *tape, attn_training *training, attn_tensor *loss,
                            const attn_training_options *options) {
  if (!ATTN_READY(tape, training, loss) || !attn_check_training(tape, options) ||
      attn_overrides_check(tape) != ATTN_OK)
    return attn_tape_status(tape);
  training->loss = loss->data[0];
  if (!is_finite(training->loss)) {
    fail_for_loss(tape, loss, training->steps + 1);
    return ATTN_NOT_FINITE;
  }
  attn_gradients_zero(tape);
  if (attn_backward(tape, loss) != ATTN_OK) return attn_tape_status(tape);
  training->gradient_norm = gradient_norm(training);
  if (!is_finite(training->gradient_norm)) {
    fail_for_gradient(tape, training);
    return ATTN_NOT_FINITE;
  }
  attn_real factor = 1;
  if (options->clip > 0) factor = options->clip / (training->gradient_norm + (attn_real)1e-6);
  attn_update(training, factor < 1 ? factor : 1, options);
  training->steps++;
  return ATTN_OK;
}
