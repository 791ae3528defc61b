/* The most multiply-adds that one core does without touching memory: 13 independent sums, a factor
 * and a term fill the 15 vector registers that V8 hands out. With fewer, sums wait for themselves;
 * with more, they spill. */
#include "math/simd.h"

float bench_multiply_adds(int repetitions);

/* Does 13 * 4 multiplications and as many additions for each repetition. */
float bench_multiply_adds(int repetitions) {
  const attn_f32x4 factor = attn_f32x4_splat(0.999f);
  const attn_f32x4 term = attn_f32x4_splat(0.01f);
#define EACH_SUM(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12)
#define START(i) attn_f32x4 sum##i = attn_f32x4_splat((float)i);
#define STEP(i) sum##i = attn_f32x4_add(attn_f32x4_mul(sum##i, factor), term);
#define COLLECT(i) all = attn_f32x4_add(all, sum##i);
  EACH_SUM(START)
  for (int r = 0; r < repetitions; r++) {
    EACH_SUM(STEP)
  }
  attn_f32x4 all = term;
  EACH_SUM(COLLECT)
  return attn_f32x4_sum(all);
}
