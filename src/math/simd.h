/* Four numbers at a time, the same bits everywhere.
 *
 * attn_f32x4 is one wasm_simd128 register where the compiler has them, and four plain lanes x y z w
 * elsewhere. Every operation is one IEEE operation a lane or pure bit work, so both forms agree in
 * every bit (a NaN is a NaN; its sign and payload are not promised). What hardware leaves open is
 * settled here: max(a, b) is b where a < b, else a; min(a, b) is b where b < a, else a. So a NaN on
 * either side yields a, and of two zeros a stays.
 *
 * A sum over lanes has one order: (x + z) + (y + w).
 *
 * Under ATTN_DOUBLE the lanes are doubles; what goes from attn_i32x4 to them and back, which only
 * the float functions need, is then left out. */
#ifndef ATTN_MATH_SIMD_H
#define ATTN_MATH_SIMD_H

#include "attn.h"

#ifndef ATTN_DOUBLE
typedef union {
  float real;
  uint32_t bits;
} attn_float_bits;

static inline uint32_t attn_bits(float x) { return (attn_float_bits){.real = x}.bits; }
static inline float attn_from_bits(uint32_t bits) { return (attn_float_bits){.bits = bits}.real; }
#endif

static inline attn_real attn_sqrt(attn_real x) {
  return sizeof(x) == sizeof(float) ? (attn_real)__builtin_sqrtf((float)x)
                                    : (attn_real)__builtin_sqrt(x);
}
static inline attn_real attn_abs(attn_real x) {
  return sizeof(x) == sizeof(float) ? (attn_real)__builtin_fabsf((float)x)
                                    : (attn_real)__builtin_fabs(x);
}

#if defined(__wasm_simd128__) && !defined(ATTN_DOUBLE)

#include <wasm_simd128.h>

typedef v128_t attn_f32x4; /* four attn_real */
typedef v128_t attn_m32x4; /* four truth values: the result of a comparison */
typedef v128_t attn_i32x4; /* four int32_t or uint32_t that wrap; _high is unsigned */

static inline attn_f32x4 attn_f32x4_make(attn_real x, attn_real y, attn_real z, attn_real w) {
  return wasm_f32x4_make(x, y, z, w);
}
static inline attn_f32x4 attn_f32x4_splat(attn_real x) { return wasm_f32x4_splat(x); }
static inline attn_f32x4 attn_f32x4_load(const attn_real *p) { return wasm_v128_load(p); }
static inline attn_f32x4 attn_f32x4_load_splat(const attn_real *p) {
  return wasm_v128_load32_splat(p);
}
static inline void attn_f32x4_store(attn_real *p, attn_f32x4 a) { wasm_v128_store(p, a); }
static inline attn_real attn_f32x4_first(attn_f32x4 a) { return wasm_f32x4_extract_lane(a, 0); }
static inline attn_real attn_f32x4_sum(attn_f32x4 a) {
  return (wasm_f32x4_extract_lane(a, 0) + wasm_f32x4_extract_lane(a, 2)) +
         (wasm_f32x4_extract_lane(a, 1) + wasm_f32x4_extract_lane(a, 3));
}

static inline attn_f32x4 attn_f32x4_add(attn_f32x4 a, attn_f32x4 b) { return wasm_f32x4_add(a, b); }
static inline attn_f32x4 attn_f32x4_sub(attn_f32x4 a, attn_f32x4 b) { return wasm_f32x4_sub(a, b); }
static inline attn_f32x4 attn_f32x4_mul(attn_f32x4 a, attn_f32x4 b) { return wasm_f32x4_mul(a, b); }
static inline attn_f32x4 attn_f32x4_div(attn_f32x4 a, attn_f32x4 b) { return wasm_f32x4_div(a, b); }
static inline attn_f32x4 attn_f32x4_max(attn_f32x4 a, attn_f32x4 b) {
  return wasm_f32x4_pmax(a, b);
}
static inline attn_f32x4 attn_f32x4_min(attn_f32x4 a, attn_f32x4 b) {
  return wasm_f32x4_pmin(a, b);
}
static inline attn_f32x4 attn_f32x4_sqrt(attn_f32x4 a) { return wasm_f32x4_sqrt(a); }
static inline attn_f32x4 attn_f32x4_abs(attn_f32x4 a) { return wasm_f32x4_abs(a); }
static inline attn_f32x4 attn_f32x4_neg(attn_f32x4 a) { return wasm_f32x4_neg(a); }

static inline attn_m32x4 attn_f32x4_eq(attn_f32x4 a, attn_f32x4 b) { return wasm_f32x4_eq(a, b); }
static inline attn_m32x4 attn_f32x4_ne(attn_f32x4 a, attn_f32x4 b) { return wasm_f32x4_ne(a, b); }
static inline attn_m32x4 attn_f32x4_lt(attn_f32x4 a, attn_f32x4 b) { return wasm_f32x4_lt(a, b); }
static inline attn_m32x4 attn_f32x4_le(attn_f32x4 a, attn_f32x4 b) { return wasm_f32x4_le(a, b); }
static inline attn_m32x4 attn_m32x4_and(attn_m32x4 a, attn_m32x4 b) { return wasm_v128_and(a, b); }
static inline attn_m32x4 attn_m32x4_or(attn_m32x4 a, attn_m32x4 b) { return wasm_v128_or(a, b); }
static inline bool attn_m32x4_any(attn_m32x4 m) { return wasm_v128_any_true(m); }
static inline attn_f32x4 attn_f32x4_select(attn_m32x4 m, attn_f32x4 yes, attn_f32x4 no) {
  return wasm_v128_bitselect(yes, no, m);
}

static inline attn_i32x4 attn_i32x4_splat(int32_t x) { return wasm_i32x4_splat(x); }
static inline attn_i32x4 attn_i32x4_add(attn_i32x4 a, attn_i32x4 b) { return wasm_i32x4_add(a, b); }
static inline attn_i32x4 attn_i32x4_sub(attn_i32x4 a, attn_i32x4 b) { return wasm_i32x4_sub(a, b); }
static inline attn_i32x4 attn_i32x4_and(attn_i32x4 a, attn_i32x4 b) { return wasm_v128_and(a, b); }
static inline attn_i32x4 attn_i32x4_or(attn_i32x4 a, attn_i32x4 b) { return wasm_v128_or(a, b); }
static inline attn_i32x4 attn_i32x4_shift_left(attn_i32x4 a, int bits) {
  return wasm_i32x4_shl(a, bits);
}
static inline attn_i32x4 attn_i32x4_shift_right(attn_i32x4 a, int bits) {
  return wasm_i32x4_shr(a, bits);
}
static inline attn_i32x4 attn_i32x4_make(uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
  return wasm_u32x4_make(x, y, z, w);
}
static inline void attn_i32x4_store(uint32_t *p, attn_i32x4 a) { wasm_v128_store(p, a); }
static inline attn_i32x4 attn_i32x4_xor(attn_i32x4 a, attn_i32x4 b) { return wasm_v128_xor(a, b); }
static inline attn_i32x4 attn_i32x4_mul(attn_i32x4 a, attn_i32x4 b) { return wasm_i32x4_mul(a, b); }
static inline attn_i32x4 attn_i32x4_mul_high(attn_i32x4 a, attn_i32x4 b) {
  const v128_t xy = wasm_u64x2_extmul_low_u32x4(a, b), zw = wasm_u64x2_extmul_high_u32x4(a, b);
  return wasm_i32x4_shuffle(xy, zw, 1, 3, 5, 7);
}
static inline attn_i32x4 attn_f32x4_bits(attn_f32x4 a) { return a; }
static inline attn_f32x4 attn_i32x4_as_f32x4(attn_i32x4 a) { return a; }
static inline attn_f32x4 attn_i32x4_to_f32x4(attn_i32x4 a) { return wasm_f32x4_convert_i32x4(a); }

/* Four rows become four columns, in place. */
static inline void attn_f32x4_transpose(attn_f32x4 row[4]) {
  attn_f32x4 xy01 = wasm_i32x4_shuffle(row[0], row[1], 0, 4, 1, 5);
  attn_f32x4 zw01 = wasm_i32x4_shuffle(row[0], row[1], 2, 6, 3, 7);
  attn_f32x4 xy23 = wasm_i32x4_shuffle(row[2], row[3], 0, 4, 1, 5);
  attn_f32x4 zw23 = wasm_i32x4_shuffle(row[2], row[3], 2, 6, 3, 7);
  row[0] = wasm_i64x2_shuffle(xy01, xy23, 0, 2);
  row[1] = wasm_i64x2_shuffle(xy01, xy23, 1, 3);
  row[2] = wasm_i64x2_shuffle(zw01, zw23, 0, 2);
  row[3] = wasm_i64x2_shuffle(zw01, zw23, 1, 3);
}

#else

typedef struct {
  attn_real x, y, z, w;
} attn_f32x4;

typedef struct {
  bool x, y, z, w;
} attn_m32x4;

static inline attn_f32x4 attn_f32x4_make(attn_real x, attn_real y, attn_real z, attn_real w) {
  return (attn_f32x4){x, y, z, w};
}
static inline attn_f32x4 attn_f32x4_splat(attn_real x) { return (attn_f32x4){x, x, x, x}; }
static inline attn_f32x4 attn_f32x4_load(const attn_real *p) {
  return (attn_f32x4){p[0], p[1], p[2], p[3]};
}
static inline attn_f32x4 attn_f32x4_load_splat(const attn_real *p) { return attn_f32x4_splat(*p); }
static inline void attn_f32x4_store(attn_real *p, attn_f32x4 a) {
  p[0] = a.x, p[1] = a.y, p[2] = a.z, p[3] = a.w;
}
static inline attn_real attn_f32x4_first(attn_f32x4 a) { return a.x; }
static inline attn_real attn_f32x4_sum(attn_f32x4 a) { return (a.x + a.z) + (a.y + a.w); }

static inline attn_f32x4 attn_f32x4_add(attn_f32x4 a, attn_f32x4 b) {
  return (attn_f32x4){a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
static inline attn_f32x4 attn_f32x4_sub(attn_f32x4 a, attn_f32x4 b) {
  return (attn_f32x4){a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
}
static inline attn_f32x4 attn_f32x4_mul(attn_f32x4 a, attn_f32x4 b) {
  return (attn_f32x4){a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}
static inline attn_f32x4 attn_f32x4_div(attn_f32x4 a, attn_f32x4 b) {
  return (attn_f32x4){a.x / b.x, a.y / b.y, a.z / b.z, a.w / b.w};
}
static inline attn_f32x4 attn_f32x4_max(attn_f32x4 a, attn_f32x4 b) {
  return (attn_f32x4){a.x < b.x ? b.x : a.x, a.y < b.y ? b.y : a.y, a.z < b.z ? b.z : a.z,
                      a.w < b.w ? b.w : a.w};
}
static inline attn_f32x4 attn_f32x4_min(attn_f32x4 a, attn_f32x4 b) {
  return (attn_f32x4){b.x < a.x ? b.x : a.x, b.y < a.y ? b.y : a.y, b.z < a.z ? b.z : a.z,
                      b.w < a.w ? b.w : a.w};
}
static inline attn_f32x4 attn_f32x4_sqrt(attn_f32x4 a) {
  return (attn_f32x4){attn_sqrt(a.x), attn_sqrt(a.y), attn_sqrt(a.z), attn_sqrt(a.w)};
}
static inline attn_f32x4 attn_f32x4_abs(attn_f32x4 a) {
  return (attn_f32x4){attn_abs(a.x), attn_abs(a.y), attn_abs(a.z), attn_abs(a.w)};
}
static inline attn_f32x4 attn_f32x4_neg(attn_f32x4 a) {
  return (attn_f32x4){-a.x, -a.y, -a.z, -a.w};
}

static inline attn_m32x4 attn_f32x4_eq(attn_f32x4 a, attn_f32x4 b) {
  return (attn_m32x4){a.x == b.x, a.y == b.y, a.z == b.z, a.w == b.w};
}
static inline attn_m32x4 attn_f32x4_ne(attn_f32x4 a, attn_f32x4 b) {
  return (attn_m32x4){a.x != b.x, a.y != b.y, a.z != b.z, a.w != b.w};
}
static inline attn_m32x4 attn_f32x4_lt(attn_f32x4 a, attn_f32x4 b) {
  return (attn_m32x4){a.x < b.x, a.y < b.y, a.z < b.z, a.w < b.w};
}
static inline attn_m32x4 attn_f32x4_le(attn_f32x4 a, attn_f32x4 b) {
  return (attn_m32x4){a.x <= b.x, a.y <= b.y, a.z <= b.z, a.w <= b.w};
}
static inline attn_m32x4 attn_m32x4_and(attn_m32x4 a, attn_m32x4 b) {
  return (attn_m32x4){a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w};
}
static inline attn_m32x4 attn_m32x4_or(attn_m32x4 a, attn_m32x4 b) {
  return (attn_m32x4){a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w};
}
static inline bool attn_m32x4_any(attn_m32x4 m) { return m.x || m.y || m.z || m.w; }
static inline attn_f32x4 attn_f32x4_select(attn_m32x4 m, attn_f32x4 yes, attn_f32x4 no) {
  return (attn_f32x4){m.x ? yes.x : no.x, m.y ? yes.y : no.y, m.z ? yes.z : no.z,
                      m.w ? yes.w : no.w};
}

/* Four rows become four columns, in place. */
static inline void attn_f32x4_transpose(attn_f32x4 row[4]) {
  attn_f32x4 a = row[0], b = row[1], c = row[2], d = row[3];
  row[0] = (attn_f32x4){a.x, b.x, c.x, d.x};
  row[1] = (attn_f32x4){a.y, b.y, c.y, d.y};
  row[2] = (attn_f32x4){a.z, b.z, c.z, d.z};
  row[3] = (attn_f32x4){a.w, b.w, c.w, d.w};
}

typedef struct {
  uint32_t x, y, z, w;
} attn_i32x4;

static inline attn_i32x4 attn_i32x4_splat(int32_t x) {
  return (attn_i32x4){(uint32_t)x, (uint32_t)x, (uint32_t)x, (uint32_t)x};
}
static inline attn_i32x4 attn_i32x4_add(attn_i32x4 a, attn_i32x4 b) {
  return (attn_i32x4){a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
static inline attn_i32x4 attn_i32x4_sub(attn_i32x4 a, attn_i32x4 b) {
  return (attn_i32x4){a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
}
static inline attn_i32x4 attn_i32x4_and(attn_i32x4 a, attn_i32x4 b) {
  return (attn_i32x4){a.x & b.x, a.y & b.y, a.z & b.z, a.w & b.w};
}
static inline attn_i32x4 attn_i32x4_or(attn_i32x4 a, attn_i32x4 b) {
  return (attn_i32x4){a.x | b.x, a.y | b.y, a.z | b.z, a.w | b.w};
}
static inline attn_i32x4 attn_i32x4_shift_left(attn_i32x4 a, int bits) {
  return (attn_i32x4){a.x << bits, a.y << bits, a.z << bits, a.w << bits};
}
static inline attn_i32x4 attn_i32x4_shift_right(attn_i32x4 a, int bits) {
  return (attn_i32x4){(uint32_t)((int32_t)a.x >> bits), (uint32_t)((int32_t)a.y >> bits),
                      (uint32_t)((int32_t)a.z >> bits), (uint32_t)((int32_t)a.w >> bits)};
}
static inline attn_i32x4 attn_i32x4_make(uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
  return (attn_i32x4){x, y, z, w};
}
static inline void attn_i32x4_store(uint32_t *p, attn_i32x4 a) {
  p[0] = a.x, p[1] = a.y, p[2] = a.z, p[3] = a.w;
}
static inline attn_i32x4 attn_i32x4_xor(attn_i32x4 a, attn_i32x4 b) {
  return (attn_i32x4){a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w};
}
static inline attn_i32x4 attn_i32x4_mul(attn_i32x4 a, attn_i32x4 b) {
  return (attn_i32x4){a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}
static inline attn_i32x4 attn_i32x4_mul_high(attn_i32x4 a, attn_i32x4 b) {
  return (attn_i32x4){(uint32_t)((uint64_t)a.x * b.x >> 32), (uint32_t)((uint64_t)a.y * b.y >> 32),
                      (uint32_t)((uint64_t)a.z * b.z >> 32), (uint32_t)((uint64_t)a.w * b.w >> 32)};
}

#ifndef ATTN_DOUBLE

static inline attn_i32x4 attn_f32x4_bits(attn_f32x4 a) {
  return (attn_i32x4){attn_bits(a.x), attn_bits(a.y), attn_bits(a.z), attn_bits(a.w)};
}
static inline attn_f32x4 attn_i32x4_as_f32x4(attn_i32x4 a) {
  return (attn_f32x4){attn_from_bits(a.x), attn_from_bits(a.y), attn_from_bits(a.z),
                      attn_from_bits(a.w)};
}
static inline attn_f32x4 attn_i32x4_to_f32x4(attn_i32x4 a) {
  return (attn_f32x4){(float)(int32_t)a.x, (float)(int32_t)a.y, (float)(int32_t)a.z,
                      (float)(int32_t)a.w};
}

#endif

#endif

/* The first n of four numbers; lanes from n on take the fill, and nothing is read for them. */
static inline attn_f32x4 attn_f32x4_load_some(const attn_real *p, ptrdiff_t n, attn_real fill) {
  if (n >= 4) return attn_f32x4_load(p);
  return attn_f32x4_make(n > 0 ? p[0] : fill, n > 1 ? p[1] : fill, n > 2 ? p[2] : fill, fill);
}

/* Writes the first n of four numbers and nothing behind them. */
static inline void attn_f32x4_store_some(attn_real *p, ptrdiff_t n, attn_f32x4 a) {
  if (n >= 4) {
    attn_f32x4_store(p, a);
    return;
  }
  attn_real lane[4];
  attn_f32x4_store(lane, a);
  if (n > 0) p[0] = lane[0];
  if (n > 1) p[1] = lane[1];
  if (n > 2) p[2] = lane[2];
}

#endif
