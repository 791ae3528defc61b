/* Positions.
 *
 *   sinusoidal   P[p, 2i] = sin(p ÷ 10000^(2i ÷ H)),  P[p, 2i + 1] = cos(p ÷ 10000^(2i ÷ H))
 *   rotary       pairs (a, b) of each row turn by p ÷ base^(2i ÷ D):
 *                (a cos - b sin, a sin + b cos); pair i is (i, i + D/2) or (2i, 2i + 1);
 *                gradients turn by the opposite angle
 *   ALiBi        slope[head] = 2^(-8 (head + 1) ÷ h)
 *
 * An odd H ends with a sine. The powers are computed in double by repeated squaring of constants,
 * for they reach 10000 radians and a float's angle would be off in the fourth digit; sine and
 * cosine are then taken of an angle reduced in double. */
#include "math/functions.h"
#include "ops/ops.h"

/* e^x for |x| < 40 in double, by its series after halving: only + - × ÷, equal bits everywhere. */
static double exp_double(double x) {
  const double step = x / 256;
  double term = 1, sum = 1;
  for (int i = 1; i < 14; i++) {
    term *= step / i;
    sum += term;
  }
  for (int i = 0; i < 8; i++) sum *= sum;
  return sum;
}

/* ln x for x > 0 in double: ln(m 2^e) with m in [√½, √2), by the series of artanh. */
static double log_double(double x) {
  int exponent = 0;
  while (x >= 1.4142135623730951) x /= 2, exponent++;
  while (x < 0.7071067811865476) x *= 2, exponent--;
  const double ratio = (x - 1) / (x + 1), square = ratio * ratio;
  double power = ratio, sum = 0;
  for (int i = 1; i < 40; i += 2) {
    sum += power / i;
    power *= square;
  }
  return 2 * sum + exponent * 0.6931471805599453;
}

typedef struct turn {
  attn_real sine, cosine;
} turn;

/* Whole turns are taken off in double, so that the float angle keeps its digits. */
static turn turn_by(double angle) {
  const double full = 6.283185307179586;
  const double turns = angle / full;
  const double whole = (double)(int64_t)(turns + (turns < 0 ? -0.5 : 0.5));
  const attn_real rest = (attn_real)(angle - whole * full);
  return (turn){attn_sin(rest), attn_cos(rest)};
}

attn_tensor *attn_sinusoidal(attn_tape *tape, const char *name, int32_t length, int32_t hiddens,
                             int32_t offset) {
  if (hiddens < 1)
    return attn_fail_at(tape, "hiddens", ATTN_BAD_SHAPE, "hiddens %d; there must be at least 1",
                        hiddens);
  attn_tensor *out =
      attn_push(tape, "sinusoidal", name, attn_shape2("T", length, "H", hiddens), 0, NULL);
  if (!out) return NULL;
  const double log_base = log_double(10000);
  for (int32_t i = 0; i < hiddens; i += 2) {
    const double frequency = exp_double(-log_base * i / hiddens);
    for (int32_t p = 0; p < length; p++) {
      const turn at = turn_by(((double)offset + p) * frequency);
      attn_real *cell = out->data + (ptrdiff_t)p * hiddens + i;
      cell[0] = at.sine;
      if (i + 1 < hiddens) cell[1] = at.cosine;
    }
  }
  return attn_finish(tape, out);
}

static bool check_rotary(attn_tape *tape, const attn_tensor *x, const attn_tensor *positions,
                         int32_t pairing, float base) {
  if (x->rank < 2 || attn_last(x) % 2)
    return attn_fail(tape, ATTN_BAD_SHAPE, "rotary positions need an even width; %s has %d",
                     x->name, attn_last(x));
  if (positions && (positions->rank != 1 || positions->shape[0] != x->shape[x->rank - 2]))
    return attn_fail_at(
        tape, "positions", ATTN_BAD_SHAPE,
        "positions must be a list of %d, one for each row; they have the rank %d and %d elements",
        x->shape[x->rank - 2], positions->rank, (int)attn_length(positions));
  if (pairing != ATTN_PAIRING_HALVES && pairing != ATTN_PAIRING_INTERLEAVED)
    return attn_fail(tape, ATTN_BAD_VALUE, "pairing %d is neither halves nor interleaved", pairing);
  if (!(base >= 1) || base - base != 0)
    return attn_fail_at(tape, "base", ATTN_BAD_VALUE,
                        "rotary base %g must be a number of at least 1", (double)base);
  if (positions)
    for (ptrdiff_t i = 0; i < attn_length(positions); i++)
      if (!(attn_abs(positions->data[i]) < 0x1p31f))
        return attn_fail_at(tape, "positions", ATTN_BAD_VALUE,
                            "position %g must lie between -2^31 and 2^31",
                            (double)positions->data[i]);
  return true;
}

typedef struct rotary_attributes {
  const attn_tensor *positions;
  int32_t offset, pairing;
  double log_base;
} rotary_attributes;

/* to = from turned by the positions; backward: to += from turned by their opposite. */
static void turn_rows(attn_real *to, const attn_real *from, const attn_tensor *shape,
                      const rotary_attributes *how, bool backward) {
  const int32_t width = attn_last(shape), length = shape->shape[shape->rank - 2], half = width / 2;
  const ptrdiff_t rows = attn_rows(shape);
  const int32_t stride = how->pairing == ATTN_PAIRING_HALVES ? 1 : 2;
  const int32_t partner = how->pairing == ATTN_PAIRING_HALVES ? half : 1;
  for (int32_t i = 0; i < half; i++) {
    const double frequency = exp_double(-how->log_base * (2 * i) / width);
    for (int32_t t = 0; t < length; t++) {
      const double position =
          how->positions ? (double)how->positions->data[t] : (double)how->offset + t;
      turn at = turn_by(position * frequency);
      if (backward) at.sine = -at.sine;
      for (ptrdiff_t row = t; row < rows; row += length) {
        const ptrdiff_t first = row * width + i * stride;
        const attn_real a = from[first], b = from[first + partner];
        const attn_real turned_a = a * at.cosine - b * at.sine;
        const attn_real turned_b = a * at.sine + b * at.cosine;
        to[first] = backward ? to[first] + turned_a : turned_a;
        to[first + partner] = backward ? to[first + partner] + turned_b : turned_b;
      }
    }
  }
}

static void rotary_backward(attn_tape *tape, const attn_tensor *out) {
  attn_real *dx = attn_gradient(tape, out->inputs[0]);
  if (dx) turn_rows(dx, out->gradient, out, out->attributes, true);
}

attn_tensor *attn_rotary(attn_tape *tape, const char *name, const attn_tensor *x,
                         const attn_tensor *positions, int32_t offset, int32_t pairing,
                         float base) {
  if (!ATTN_READY(tape, x) || !check_rotary(tape, x, positions, pairing, base)) return NULL;
  attn_tensor *out = attn_push(tape, "rotary", name, attn_shape_of(x), ATTN_INPUTS(x, positions));
  if (!out) return NULL;
  const rotary_attributes how = {positions, offset, pairing, log_double((double)base)};
  out->backward = rotary_backward;
  rotary_attributes *kept = attn_attributes(tape, out, sizeof *kept);
  if (kept) *kept = how;
  turn_rows(out->data, x->data, x, &how, false);
  return attn_finish(tape, out);
}

attn_tensor *attn_alibi_slopes(attn_tape *tape, const char *name, int32_t heads) {
  if (heads < 1)
    return attn_fail(tape, ATTN_BAD_VALUE, "heads %d; there must be at least 1", heads);
  attn_tensor *slopes = attn_push(tape, "alibi_slopes", name, attn_shape1("h", heads), 0, NULL);
  if (!slopes) return NULL;
  /* With p the largest power of two in h: first the p slopes of p heads, then every other slope of
   * 2p heads. */
  int32_t power = 1;
  while (power * 2 <= heads) power *= 2;
  for (int32_t head = 0; head < heads; head++) {
    const double exponent =
        head < power ? -8.0 * (head + 1) / power : -8.0 * (2 * (head - power) + 1) / (2.0 * power);
    slopes->data[head] = (attn_real)exp_double(exponent * 0.6931471805599453);
  }
  return attn_finish(tape, slopes);
}
