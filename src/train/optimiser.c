/* How parameters follow their gradients. With g the gradient, clipped,
 *
 *   sgd     g += decay p;  m = momentum m + g;  p -= rate m                        (torch SGD)
 *   adam    g += decay p;  m = β₁ m + (1 - β₁) g;  v = β₂ v + (1 - β₂) g²
 *           p -= rate ÷ (1 - β₁ᵗ) × m ÷ (√v ÷ √(1 - β₂ᵗ) + eps)                    (torch Adam)
 *   adamw   p -= rate decay p, then as adam with the bare g                        (torch AdamW)
 *
 * t counts from 1. eps is above 0: a gradient that was always 0 would step by 0 ÷ 0 else. The
 * moments m and v of all parameters lie in one block, all m before all v, in the order of the tape.
 * One pass, four numbers at a time. */
#include "train/optimiser.h"

#include "math/simd.h"
#include "train/power.h"

attn_training_options attn_training_defaults(void) {
  return (attn_training_options){.optimiser = ATTN_OPTIMISER_ADAM,
                                 .learning_rate = 1e-3f,
                                 .beta1 = 0.9f,
                                 .beta2 = 0.999f,
                                 .eps = 1e-8f};
}

bool attn_check_training(attn_tape *tape, const attn_training_options *options) {
  const struct {
    const char *name;
    float value;
    enum { AT_LEAST_0, BELOW_1, ABOVE_0 } range;
  } numbers[] = {{"learningRate", options->learning_rate, AT_LEAST_0},
                 {"momentum", options->momentum, BELOW_1},
                 {"beta1", options->beta1, BELOW_1},
                 {"beta2", options->beta2, BELOW_1},
                 {"eps", options->eps, ABOVE_0},
                 {"weightDecay", options->weight_decay, AT_LEAST_0},
                 {"clip", options->clip, AT_LEAST_0}};
  static const char *const ranges[] = {"that is at least 0", "from 0 to below 1", "above 0"};
  if (!ATTN_CHECK_CHOICE(tape, "optimiser", options->optimiser, ATTN_OPTIMISER_LIST)) return false;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    const float value = numbers[i].value;
    const int range = numbers[i].range;
    if (!(value >= 0) || value - value != 0 || (range == BELOW_1 && value >= 1) ||
        (range == ABOVE_0 && value == 0))
      return attn_fail_at(tape, numbers[i].name, ATTN_BAD_VALUE, "%s %g must be a number %s",
                          numbers[i].name, (double)value, ranges[range]);
  }
  return true;
}

/* ---- one parameter ------------------------------------------------------------------------ */

/* What all four-number steps of one update share. */
typedef struct update {
  attn_f32x4 factor;     /* of the gradient */
  attn_f32x4 decay;      /* of the parameter, added to the gradient */
  attn_f32x4 shrink;     /* 1 - rate × decay, of the parameter itself */
  attn_f32x4 rate;       /* of the step */
  attn_f32x4 first[2];   /* what the first moment keeps and takes in */
  attn_f32x4 second[2];  /* likewise */
  attn_f32x4 correction; /* √(1 - β₂ᵗ) */
  attn_f32x4 eps;
  bool adaptive; /* the step is divided by the root of the second moment */
} update;

static attn_f32x4 mix(const attn_f32x4 share[2], attn_f32x4 moment, attn_f32x4 x) {
  return attn_f32x4_add(attn_f32x4_mul(share[0], moment), attn_f32x4_mul(share[1], x));
}

static void follow(attn_real *parameter, const attn_real *gradient, attn_real *first,
                   attn_real *second, ptrdiff_t count, const update *by) {
  for (ptrdiff_t i = 0; i < count; i += 4) {
    const ptrdiff_t left = count - i;
    attn_f32x4 p = attn_f32x4_load_some(parameter + i, left, 0);
    attn_f32x4 g = attn_f32x4_mul(attn_f32x4_load_some(gradient + i, left, 0), by->factor);
    g = attn_f32x4_add(g, attn_f32x4_mul(p, by->decay));
    attn_f32x4 step = mix(by->first, attn_f32x4_load_some(first + i, left, 0), g);
    attn_f32x4_store_some(first + i, left, step);
    if (by->adaptive) {
      const attn_f32x4 square =
          mix(by->second, attn_f32x4_load_some(second + i, left, 0), attn_f32x4_mul(g, g));
      attn_f32x4_store_some(second + i, left, square);
      const attn_f32x4 root = attn_f32x4_div(attn_f32x4_sqrt(square), by->correction);
      step = attn_f32x4_div(step, attn_f32x4_add(root, by->eps));
    }
    p = attn_f32x4_sub(attn_f32x4_mul(p, by->shrink), attn_f32x4_mul(step, by->rate));
    attn_f32x4_store_some(parameter + i, left, p);
  }
}

static attn_f32x4 splat(double x) { return attn_f32x4_splat((attn_real)x); }

static update update_of(int32_t t, attn_real factor, const attn_training_options *options) {
  const double rate = options->learning_rate, decay = options->weight_decay;
  const double beta1 = options->beta1, beta2 = options->beta2;
  const bool decoupled = options->optimiser == ATTN_OPTIMISER_ADAMW;
  update by = {.factor = attn_f32x4_splat(factor),
               .decay = splat(decoupled ? 0 : decay),
               .shrink = splat(decoupled ? 1 - rate * decay : 1),
               .adaptive = options->optimiser != ATTN_OPTIMISER_SGD};
  if (by.adaptive) {
    by.rate = splat(rate / (1 - attn_power(beta1, t)));
    by.first[0] = splat(beta1), by.first[1] = splat(1 - beta1);
    by.second[0] = splat(beta2), by.second[1] = splat(1 - beta2);
    by.correction = splat(__builtin_sqrt(1 - attn_power(beta2, t)));
    by.eps = splat(options->eps);
  } else {
    by.rate = splat(rate);
    by.first[0] = splat(options->momentum), by.first[1] = splat(1);
  }
  return by;
}

void attn_update(attn_training *training, attn_real factor, const attn_training_options *options) {
  const update by = update_of(training->steps + 1, factor, options);
  attn_real *first = training->moments, *second = first + training->count;
  for (int32_t i = 0; i < training->parameter_count; i++) {
    const attn_tensor *p = training->parameters[i];
    const ptrdiff_t count = attn_length(p);
    follow(p->data, p->gradient, first, second, count, &by);
    first += count, second += count;
  }
}
