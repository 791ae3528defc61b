/* exp, log, tanh, sigmoid, erf, sin and cos without libm: at most 2 units in the last place from
 * the true value over the whole range, and the same bits in every build. They use only + - * / and
 * integer operations, never a fused multiply-add.
 *
 * Each function has a form for one number and one for four; lane by lane both give the same bits,
 * because the first is a lane of the second (sin and cos: the other way round).
 *
 * Underflow is gradual, overflow gives infinity, NaN gives NaN. Outside its domain a function gives
 * NaN: log below 0, sin and cos of an infinity.
 *
 * ATTN_DOUBLE is for tests only: there, and only there, the compiler's libm answers. */
#ifndef ATTN_MATH_FUNCTIONS_H
#define ATTN_MATH_FUNCTIONS_H

#include "math/simd.h"

attn_real attn_exp(attn_real x);
attn_real attn_log(attn_real x);
attn_real attn_tanh(attn_real x);
attn_real attn_sigmoid(attn_real x); /* 1 / (1 + exp(-x)) */
attn_real attn_erf(attn_real x);
attn_real attn_sin(attn_real x);
attn_real attn_cos(attn_real x);

attn_f32x4 attn_log_x4(attn_f32x4 x);
attn_f32x4 attn_tanh_x4(attn_f32x4 x);
attn_f32x4 attn_sigmoid_x4(attn_f32x4 x);
attn_f32x4 attn_erf_x4(attn_f32x4 x);
attn_f32x4 attn_sin_x4(attn_f32x4 x);
attn_f32x4 attn_cos_x4(attn_f32x4 x);

/* The same function of each lane, one lane at a time. */
static inline attn_f32x4 attn_f32x4_map(attn_real (*function)(attn_real), attn_f32x4 x) {
  attn_real lane[4];
  attn_f32x4_store(lane, x);
  return attn_f32x4_make(function(lane[0]), function(lane[1]), function(lane[2]),
                         function(lane[3]));
}

#ifdef ATTN_DOUBLE

static inline attn_f32x4 attn_exp_x4(attn_f32x4 x) { return attn_f32x4_map(attn_exp, x); }

#else

/* c[0] + c[1] x + ... + c[n-1] x^(n-1), by Horner's rule. */
static inline attn_f32x4 attn_f32x4_polynomial(attn_f32x4 x, const float *c, int n) {
  attn_f32x4 sum = attn_f32x4_splat(c[n - 1]);
#pragma GCC unroll 16
  for (int k = n - 2; k >= 0; k--) {
    sum = attn_f32x4_add(attn_f32x4_mul(sum, x), attn_f32x4_splat(c[k]));
  }
  return sum;
}

/* exp(x) = 2^n exp(r) with n = round(x / ln 2) and |r| <= ln 2 / 2.
 *
 * Adding 1.5 2^23 rounds to an integer and leaves n in the low bits. ln 2 is subtracted in two
 * parts, the first of 15 bits, so that high is exact; low joins at the end among the small terms,
 * where its rounding weighs least. 2^n is applied as two factors, each a normal number, so that
 * results below 2^-126 lose bits only once. From the clamps on the result is infinity or 0; at the
 * lower one both factors are 0 themselves, because a product that underflows takes some 100 cycles
 * and masked scores come here as -infinity. */
static inline attn_f32x4 attn_exp_x4(attn_f32x4 x) {
  static const float series[] = {0x1.fffffcp-2f, 0x1.55548ap-3f, 0x1.55584ep-5f, 0x1.123f3p-7f,
                                 0x1.6ad158p-10f};
  const attn_f32x4 shifter = attn_f32x4_splat(0x1.8p23f);
  x = attn_f32x4_max(x, attn_f32x4_splat(-176.0f));
  x = attn_f32x4_min(x, attn_f32x4_splat(89.0f));

  attn_f32x4 shifted = attn_f32x4_add(attn_f32x4_mul(x, attn_f32x4_splat(0x1.715476p+0f)), shifter);
  attn_f32x4 n = attn_f32x4_sub(shifted, shifter);
  attn_f32x4 high = attn_f32x4_sub(x, attn_f32x4_mul(n, attn_f32x4_splat(0x1.62e4p-1f)));
  attn_f32x4 low = attn_f32x4_mul(n, attn_f32x4_splat(0x1.7f7d1cp-20f));
  attn_f32x4 r = attn_f32x4_sub(high, low);

  attn_f32x4 tail = attn_f32x4_mul(attn_f32x4_mul(r, r), attn_f32x4_polynomial(r, series, 5));
  attn_f32x4 power = attn_f32x4_add(high, attn_f32x4_sub(tail, low));
  power = attn_f32x4_add(power, attn_f32x4_splat(1.0f));

  attn_i32x4 whole = attn_i32x4_sub(attn_f32x4_bits(shifted), attn_f32x4_bits(shifter));
  attn_i32x4 half = attn_i32x4_shift_right(whole, 1);
  attn_i32x4 rest = attn_i32x4_sub(whole, half);
  const attn_i32x4 one = attn_i32x4_splat(0x3f800000);
  attn_i32x4 half_power = attn_i32x4_add(attn_i32x4_shift_left(half, 23), one);
  attn_i32x4 rest_power = attn_i32x4_add(attn_i32x4_shift_left(rest, 23), one);
  power = attn_f32x4_mul(power, attn_i32x4_as_f32x4(half_power));
  return attn_f32x4_mul(power, attn_i32x4_as_f32x4(rest_power));
}

#endif

#endif
