/* Each function reduces its argument to a short interval around 0 and takes a polynomial there,
 * fitted for the smallest largest relative error; the coefficients were rounded to float one after
 * the other, lowest first, the rest fitted anew each time. */
#include "math/functions.h"

#ifdef ATTN_DOUBLE

/* The one place where libm enters: the double build of the tests. */
attn_real attn_exp(attn_real x) { return __builtin_exp(x); }
attn_real attn_log(attn_real x) { return __builtin_log(x); }
attn_real attn_tanh(attn_real x) { return __builtin_tanh(x); }
attn_real attn_sigmoid(attn_real x) { return 1 / (1 + __builtin_exp(-x)); }
attn_real attn_erf(attn_real x) { return __builtin_erf(x); }
attn_real attn_sin(attn_real x) { return __builtin_sin(x); }
attn_real attn_cos(attn_real x) { return __builtin_cos(x); }

attn_f32x4 attn_log_x4(attn_f32x4 x) { return attn_f32x4_map(attn_log, x); }
attn_f32x4 attn_tanh_x4(attn_f32x4 x) { return attn_f32x4_map(attn_tanh, x); }
attn_f32x4 attn_sigmoid_x4(attn_f32x4 x) { return attn_f32x4_map(attn_sigmoid, x); }
attn_f32x4 attn_erf_x4(attn_f32x4 x) { return attn_f32x4_map(attn_erf, x); }

#else

/* size, which is not negative, with the sign of x: odd functions stay odd, -0 included. */
static attn_f32x4 with_sign(attn_f32x4 size, attn_f32x4 x) {
  attn_i32x4 sign = attn_i32x4_and(attn_f32x4_bits(x), attn_i32x4_splat(INT32_MIN));
  return attn_i32x4_as_f32x4(attn_i32x4_or(attn_f32x4_bits(size), sign));
}

/* log(x) = e ln 2 + log(1 + f) with x = 2^e (1 + f) and sqrt(1/2) <= 1 + f < sqrt(2), so that e is
 * 0 around 1, where the result is small. log(1 + f) = f - f^2 / 2 + f^3 p(f). */
attn_f32x4 attn_log_x4(attn_f32x4 x) {
  static const float series[] = {0x1.555548p-2f,  -0x1.000072p-2f, 0x1.99a544p-3f,
                                 -0x1.552e42p-3f, 0x1.23025p-3f,   -0x1.0110d6p-3f,
                                 0x1.f1143ap-4f,  -0x1.be6f8p-4f,  0x1.a69c06p-5f};
  const attn_i32x4 sqrt_half = attn_i32x4_splat(0x3f3504f3);
  const attn_f32x4 zero = attn_f32x4_splat(0.0f);
  const attn_f32x4 infinity = attn_f32x4_splat(__builtin_inff());

  attn_m32x4 subnormal = attn_f32x4_lt(x, attn_f32x4_splat(0x1p-126f));
  attn_f32x4 normal = attn_f32x4_select(subnormal, attn_f32x4_mul(x, attn_f32x4_splat(0x1p23f)), x);
  attn_i32x4 above = attn_i32x4_sub(attn_f32x4_bits(normal), sqrt_half);
  attn_f32x4 e = attn_i32x4_to_f32x4(attn_i32x4_shift_right(above, 23));
  e = attn_f32x4_sub(e, attn_f32x4_select(subnormal, attn_f32x4_splat(23.0f), zero));
  attn_i32x4 mantissa = attn_i32x4_and(above, attn_i32x4_splat(0x007fffff));
  attn_f32x4 f = attn_f32x4_sub(attn_i32x4_as_f32x4(attn_i32x4_add(mantissa, sqrt_half)),
                                attn_f32x4_splat(1.0f));

  attn_f32x4 square = attn_f32x4_mul(f, f);
  attn_f32x4 tail = attn_f32x4_mul(attn_f32x4_mul(f, square), attn_f32x4_polynomial(f, series, 9));
  tail = attn_f32x4_sub(tail, attn_f32x4_mul(square, attn_f32x4_splat(0.5f)));
  tail = attn_f32x4_add(tail, attn_f32x4_mul(e, attn_f32x4_splat(0x1.7f7d1cp-20f)));
  attn_f32x4 sum = attn_f32x4_add(f, tail);
  sum = attn_f32x4_add(attn_f32x4_mul(e, attn_f32x4_splat(0x1.62e4p-1f)), sum);

  sum = attn_f32x4_select(attn_f32x4_eq(x, infinity), infinity, sum);
  sum = attn_f32x4_select(attn_f32x4_eq(x, zero), attn_f32x4_neg(infinity), sum);
  return attn_f32x4_select(attn_f32x4_le(zero, x), sum, attn_f32x4_splat(__builtin_nanf("")));
}

/* With a = |x|: tanh(a) = a + a^3 p(a^2) near 0, else 1 - 2 / (exp(2 a) + 1). */
attn_f32x4 attn_tanh_x4(attn_f32x4 x) {
  static const float series[] = {-0x1.55551cp-2f, 0x1.11024ep-3f, -0x1.b79baap-5f, 0x1.4e1b74p-6f,
                                 -0x1.641d22p-8f};
  const attn_f32x4 one = attn_f32x4_splat(1.0f);
  const attn_f32x4 two = attn_f32x4_splat(2.0f);
  attn_f32x4 size = attn_f32x4_abs(x);

  attn_f32x4 square = attn_f32x4_mul(size, size);
  attn_f32x4 near = attn_f32x4_mul(square, attn_f32x4_polynomial(square, series, 5));
  near = attn_f32x4_add(size, attn_f32x4_mul(size, near));

  attn_f32x4 power = attn_exp_x4(attn_f32x4_mul(size, two));
  attn_f32x4 far = attn_f32x4_sub(one, attn_f32x4_div(two, attn_f32x4_add(power, one)));
  attn_m32x4 is_near = attn_f32x4_lt(size, attn_f32x4_splat(0.625f));
  return with_sign(attn_f32x4_select(is_near, near, far), x);
}

/* With z = exp(-|x|), which cannot overflow, and q = z / (1 + z): 1 / (1 + z) for x >= 0, else q.
 * Below -1 it is z - z q instead, where the rounding of 1 + z weighs less. */
attn_f32x4 attn_sigmoid_x4(attn_f32x4 x) {
  const attn_f32x4 one = attn_f32x4_splat(1.0f);
  attn_f32x4 z = attn_exp_x4(attn_f32x4_neg(attn_f32x4_abs(x)));
  attn_m32x4 negative = attn_f32x4_lt(x, attn_f32x4_splat(0.0f));
  attn_f32x4 numerator = attn_f32x4_select(negative, z, one);
  attn_f32x4 quotient = attn_f32x4_div(numerator, attn_f32x4_add(one, z));
  attn_m32x4 below = attn_f32x4_lt(x, attn_f32x4_splat(-1.0f));
  attn_f32x4 small = attn_f32x4_sub(z, attn_f32x4_mul(z, quotient));
  return attn_f32x4_select(below, small, quotient);
}

/* With a = |x|: erf(a) = a + a p(a^2) below 1, else 1 - exp(-q(a)), which is 1 from 4 on. */
attn_f32x4 attn_erf_x4(attn_f32x4 x) {
  static const float near_series[] = {0x1.06eba8p-3f,  -0x1.81273ep-2f, 0x1.ce2ce6p-4f,
                                      -0x1.b7f71ap-6f, 0x1.53f224p-8f,  -0x1.a3515ep-11f,
                                      0x1.4771fep-14f};
  static const float far_series[] = {0x1.63e16ep-12f, 0x1.208976p+0f,  0x1.46b93p-1f,
                                     0x1.a65ecep-4f,  -0x1.65e0a8p-6f, 0x1.8283a0p-9f,
                                     -0x1.871d2ep-13f};
  const attn_f32x4 one = attn_f32x4_splat(1.0f);
  attn_f32x4 size = attn_f32x4_min(attn_f32x4_abs(x), attn_f32x4_splat(4.0f));

  attn_f32x4 square = attn_f32x4_mul(size, size);
  attn_f32x4 near = attn_f32x4_polynomial(square, near_series, 7);
  near = attn_f32x4_add(size, attn_f32x4_mul(size, near));

  attn_f32x4 exponent = attn_f32x4_neg(attn_f32x4_polynomial(size, far_series, 7));
  attn_f32x4 far = attn_f32x4_sub(one, attn_exp_x4(exponent));
  return with_sign(attn_f32x4_select(attn_f32x4_lt(size, one), near, far), x);
}

attn_real attn_exp(attn_real x) { return attn_f32x4_first(attn_exp_x4(attn_f32x4_splat(x))); }
attn_real attn_log(attn_real x) { return attn_f32x4_first(attn_log_x4(attn_f32x4_splat(x))); }
attn_real attn_tanh(attn_real x) { return attn_f32x4_first(attn_tanh_x4(attn_f32x4_splat(x))); }
attn_real attn_sigmoid(attn_real x) {
  return attn_f32x4_first(attn_sigmoid_x4(attn_f32x4_splat(x)));
}
attn_real attn_erf(attn_real x) { return attn_f32x4_first(attn_erf_x4(attn_f32x4_splat(x))); }

/* A quarter turn is pi/2: x = (quarters + fraction) pi/2 with |fraction| <= 1/2. Only quarters
 * modulo 4 matters, so of 2/pi = 0.1010001011111... in binary only a window of 96 bits takes part:
 * with x = m 2^e, m of 24 bits, those above weigh a multiple of 4 quarters, those below less than
 * 2^-66 of one. The product is an integer, so every float reduces alike, however large.
 * The angle and its polynomial are in double, which leaves only the last rounding to float. */
typedef struct {
  uint32_t quarters;
  double angle; /* |angle| <= pi/4, radians */
} quarter_turns;

static quarter_turns reduce(uint32_t magnitude) {
  /* 2/pi after 32 zero bits, most significant word first. */
  static const uint32_t two_over_pi[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                         0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
  int exponent = (int)(magnitude >> 23) - 150;
  uint64_t mantissa = (magnitude & 0x007fffff) | 0x00800000;

  /* The window starts at the bit that weighs 2^(1 - exponent), so m 2^e of it weighs 2^25 at most;
   * in the 32 zero bits for small x. */
  int start = exponent + 30;
  int word = start >> 5;
  int shift = start & 31;
  uint32_t window[3];
  for (int k = 0; k < 3; k++) {
    uint64_t pair = (uint64_t)two_over_pi[word + k] << 32 | two_over_pi[word + k + 1];
    window[k] = (uint32_t)(pair << shift >> 32);
  }
  uint64_t product = (mantissa * window[0]) << 32;
  product += mantissa * window[1];
  product += (mantissa * window[2]) >> 32;

  quarter_turns turns;
  turns.quarters = (uint32_t)(product >> 62);
  int64_t fraction = (int64_t)(product << 2);
  turns.quarters += fraction < 0;
  turns.angle = (double)fraction * 0x1.921fb54442d18p-64;
  return turns;
}

/* sin(x + quarters pi/2) */
static float sine(float x, uint32_t quarters) {
  uint32_t magnitude = attn_bits(x) & 0x7fffffff;
  if (magnitude >= 0x7f800000) return x - x;
  double angle = x;
  if (magnitude > 0x3f490fda) {
    quarter_turns turns = reduce(magnitude);
    bool negative = x < 0;
    angle = negative ? -turns.angle : turns.angle;
    quarters += negative ? 0u - turns.quarters : turns.quarters;
  }
  double square = angle * angle;
  double value;
  if (quarters & 1) {
    value = 1.0 + square * (-0x1.ffffffffe98adp-2 +
                            square * (0x1.55555545c5049p-5 +
                                      square * (-0x1.6c16b348b1b5ep-10 +
                                                square * (0x1.a00eb9a9d2890p-16 +
                                                          square * -0x1.23c97d68fe615p-22))));
  } else {
    value =
        angle * (1.0 + square * (-0x1.5555555552239p-3 +
                                 square * (0x1.1111110c872ffp-7 +
                                           square * (-0x1.a019f93964117p-13 +
                                                     square * (0x1.71d76d13e9947p-19 +
                                                               square * -0x1.a961a08f2ec49p-26)))));
  }
  return (float)(quarters & 2 ? -value : value);
}

attn_real attn_sin(attn_real x) { return sine(x, 0); }
attn_real attn_cos(attn_real x) { return sine(x, 1); }

#endif

attn_f32x4 attn_sin_x4(attn_f32x4 x) { return attn_f32x4_map(attn_sin, x); }
attn_f32x4 attn_cos_x4(attn_f32x4 x) { return attn_f32x4_map(attn_cos, x); }
