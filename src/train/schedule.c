/* The learning rate from step to step.
 *
 *   warm-up                 rate (step + 1) ÷ warm_up                       while step < warm_up
 *   constant                rate
 *   step                    rate × factor^⌊s ÷ every⌋                       (torch StepLR)
 *   cosine                  last + (rate - last) ½ (1 + cos(π s ÷ S))       (torch
 * CosineAnnealingLR) inverse square root     rate √(warm_up ÷ (step + 1)) (Vaswani et al. 2017)
 *
 * Steps count from 0; s = step - warm_up, and S = total - warm_up is where the cosine stays. */
#include "math/functions.h"
#include "tape/tape.h"
#include "train/power.h"

attn_schedule attn_schedule_defaults(void) {
  return (attn_schedule){.rate = 1e-3f, .every = 1, .factor = 1, .total = 1};
}

static attn_real cosine(const attn_schedule *schedule, int32_t s, int32_t span) {
  const attn_real pi = (attn_real)3.14159265358979323846;
  const attn_real last = schedule->last_rate, drop = (attn_real)schedule->rate - last;
  if (s >= span) return last;
  return last + drop * (attn_real)0.5 * (1 + attn_cos(pi * (attn_real)s / (attn_real)span));
}

float attn_learning_rate(attn_tape *tape, const attn_schedule *schedule, int32_t step) {
  const float not_a_number = __builtin_nanf("");
  if (!ATTN_CHECK_CHOICE(tape, "schedule", schedule->kind, ATTN_SCHEDULE_LIST)) return not_a_number;
  if (step < 0 || schedule->warm_up < 0 || schedule->every < 1) {
    attn_fail(tape, ATTN_BAD_VALUE,
              "step %d with a warm-up of %d and a fall every %d steps; the first two must be at "
              "least 0, the last at least 1",
              step, schedule->warm_up, schedule->every);
    return not_a_number;
  }
  const attn_real rate = schedule->rate;
  const int32_t warm_up = schedule->warm_up, s = step - warm_up;
  if (s < 0) return (float)(rate * (attn_real)(step + 1) / (attn_real)warm_up);
  switch (schedule->kind) {
    case ATTN_SCHEDULE_STEP:
      return (float)(rate * (attn_real)attn_power(schedule->factor, s / schedule->every));
    case ATTN_SCHEDULE_COSINE:
      return (float)cosine(schedule, s, schedule->total - warm_up);
    case ATTN_SCHEDULE_INVERSE_SQUARE_ROOT:
      return (float)(rate * attn_sqrt((attn_real)(warm_up ? warm_up : 1) / ((attn_real)step + 1)));
    default:
      return (float)rate;
  }
}
