/* The four lanes, the functions and the row kernels against libm and sums in double.
 *
 *   test_math [stride]
 *
 * The functions are tried on every stride-th float, the whole range from -NaN to NaN; stride 1
 * tries all of them, in some minutes. */
#include <float.h>
#include <stdlib.h>

#include "harness.h"
#include "math/functions.h"
#include "math/rows.h"

static uint64_t stride = 499;

/* ---- four lanes --------------------------------------------------------------------------- */

static attn_f32x4 four(float x, float y, float z, float w) { return attn_f32x4_make(x, y, z, w); }

static void check_lanes(attn_f32x4 actual, float x, float y, float z, float w) {
  float lane[4];
  attn_f32x4_store(lane, actual);
  CHECK_BITS(lane[0], x);
  CHECK_BITS(lane[1], y);
  CHECK_BITS(lane[2], z);
  CHECK_BITS(lane[3], w);
}

static void max_and_min_keep_the_first_of_equals_and_of_nan(void) {
  attn_f32x4 a = four(0.0f, -0.0f, NAN, 1.0f);
  attn_f32x4 b = four(-0.0f, 0.0f, 1.0f, NAN);
  check_lanes(attn_f32x4_max(a, b), 0.0f, -0.0f, NAN, 1.0f);
  check_lanes(attn_f32x4_min(a, b), 0.0f, -0.0f, NAN, 1.0f);
  check_lanes(attn_f32x4_max(four(1, 2, -INFINITY, 4), four(2, 1, 3, INFINITY)), 2, 2, 3, INFINITY);
  check_lanes(attn_f32x4_min(four(1, 2, -INFINITY, 4), four(2, 1, 3, INFINITY)), 1, 1, -INFINITY,
              4);
}

static void comparisons_are_false_for_nan_except_ne(void) {
  attn_f32x4 a = four(1, 2, NAN, NAN), b = four(1, 3, 1, NAN);
  attn_f32x4 yes = attn_f32x4_splat(1), no = attn_f32x4_splat(0);
  check_lanes(attn_f32x4_select(attn_f32x4_eq(a, b), yes, no), 1, 0, 0, 0);
  check_lanes(attn_f32x4_select(attn_f32x4_ne(a, b), yes, no), 0, 1, 1, 1);
  check_lanes(attn_f32x4_select(attn_f32x4_lt(a, b), yes, no), 0, 1, 0, 0);
  check_lanes(attn_f32x4_select(attn_f32x4_le(a, b), yes, no), 1, 1, 0, 0);
  attn_m32x4 less = attn_f32x4_lt(a, b), equal = attn_f32x4_eq(a, b);
  check_lanes(attn_f32x4_select(attn_m32x4_or(less, equal), yes, no), 1, 1, 0, 0);
  CHECK(!attn_m32x4_any(attn_m32x4_and(less, equal)));
  CHECK(attn_m32x4_any(less));
}

static void lanes_are_summed_crosswise(void) {
  float big = 0x1p24f;
  CHECK_BITS(attn_f32x4_sum(four(big, 1, -big, 1)), 2.0f);
  CHECK_BITS(attn_f32x4_sum(four(big, -big, 1, 1)), 1.0f); /* big + 1 rounds to big */
}

static void partial_rows_touch_nothing_behind_them(void) {
  for (ptrdiff_t n = 0; n <= 5; n++) {
    float *exact = malloc((size_t)(n ? n : 1) * sizeof *exact); /* the sanitizer guards its end */
    for (ptrdiff_t i = 0; i < n; i++) exact[i] = (float)(i + 1);
    attn_f32x4 x = attn_f32x4_load_some(exact, n, -7);
    check_lanes(x, n > 0 ? 1 : -7, n > 1 ? 2 : -7, n > 2 ? 3 : -7, n > 3 ? 4 : -7);
    attn_f32x4_store_some(exact, n, attn_f32x4_neg(x));
    for (ptrdiff_t i = 0; i < n && i < 4; i++) CHECK_BITS(exact[i], (float)-(i + 1));
    free(exact);
  }
}

static void transpose_turns_rows_into_columns(void) {
  attn_f32x4 row[4] = {four(1, 2, 3, 4), four(5, 6, 7, 8), four(9, 10, 11, 12),
                       four(13, 14, 15, 16)};
  attn_f32x4_transpose(row);
  check_lanes(row[0], 1, 5, 9, 13);
  check_lanes(row[1], 2, 6, 10, 14);
  check_lanes(row[2], 3, 7, 11, 15);
  check_lanes(row[3], 4, 8, 12, 16);
}

/* ---- functions ---------------------------------------------------------------------------- */

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static attn_f32x4 exp_x4(attn_f32x4 x) { return attn_exp_x4(x); }

typedef struct {
  const char *name;
  attn_real (*one)(attn_real);
  attn_f32x4 (*four)(attn_f32x4);
  double (*truth)(double);
  double limit; /* units in the last place: the worst of nearly all floats, rounded up; never 2 */
} function;

static const function functions[] = {
    {"exp", attn_exp, exp_x4, exp, 0.9},
    {"log", attn_log, attn_log_x4, log, 1.02},
    {"tanh", attn_tanh, attn_tanh_x4, tanh, 1.33},
    {"sigmoid", attn_sigmoid, attn_sigmoid_x4, sigmoid, 1.81},
    {"erf", attn_erf, attn_erf_x4, erf, 1.38},
    {"sin", attn_sin, attn_sin_x4, sin, 0.501},
    {"cos", attn_cos, attn_cos_x4, cos, 0.501},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* |value - truth| in units of the last place of a float near truth; infinite for a wrong kind. */
static double error_in_ulp(float value, double truth) {
  if (isnan(truth)) return isnan(value) ? 0 : INFINITY;
  if (isinf((float)truth)) return value == (float)truth ? 0 : INFINITY;
  bool vanishes = fabs(truth) < 0x1p-150;
  if (!vanishes && !signbit(value) != !signbit(truth)) return INFINITY;
  int exponent;
  frexp(truth, &exponent);
  double ulp = ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
  double error = fabs(value - truth) / ulp;
  return isnan(error) ? INFINITY : error;
}

static void check_error(const function *f, float x) {
  float value = f->one(x);
  double error = error_in_ulp(value, f->truth(x));
  CLAIM(error <= f->limit, "%s(%a) = %a is wrong by %.3g ulp, should be at most %.3g", f->name,
        (double)x, (double)value, error, f->limit);
}

static void functions_are_within_their_error_everywhere(void) {
  for (int i = 0; i < FUNCTIONS; i++) {
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += stride) {
      check_error(&functions[i], attn_from_bits((uint32_t)bits));
    }
  }
}

/* Where a function changes its formula, overflows, underflows, or passes 0 closely. */
static void functions_are_within_their_error_around_edges(void) {
  static const float edges[] = {
      0.0f,         FLT_MIN,         FLT_MAX,  0.5f,     0x1.4p-1f,   0.70710677f, 0.78539819f,
      1.0f,         1.41421354f,     4.0f,     8.0f,     9.01f,       16.6355324f, 87.3365479f,
      88.7228394f,  103.278931f,     103.972f, 105.0f,   1.57079637f, 3.14159274f, 4.71238899f,
      6.28318548f,  0x1.921fb6p+20f, 0x1p23f,  0x1p24f,  0x1p31f,     0x1p32f,     0x1p63f,
      16367173e15f, 0x1.f47ecap+71f, 0x1p64f,  0x1p127f, 12.566371f,  0x1p-12f,    0x1p-24f};
  for (int i = 0; i < FUNCTIONS; i++) {
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
      for (int step = -2000; step <= 2000; step++) {
        float x = attn_from_bits(attn_bits(edges[e]) + (uint32_t)step);
        check_error(&functions[i], x);
        check_error(&functions[i], -x);
      }
    }
  }
  /* The floats nearest to multiples of a quarter turn. */
  for (int i = FUNCTIONS - 2; i < FUNCTIONS; i++) {
    for (int quarter = 1; quarter <= 200000; quarter++) {
      check_error(&functions[i], (float)(quarter * 1.57079632679489661923));
    }
  }
}

static void functions_meet_their_special_values(void) {
  CHECK_BITS(attn_exp(0.0f), 1.0f);
  CHECK_BITS(attn_exp(-INFINITY), 0.0f);
  CHECK_BITS(attn_exp(-1e9f), 0.0f);
  CHECK_BITS(attn_exp(INFINITY), INFINITY);
  CHECK_BITS(attn_log(1.0f), 0.0f);
  CHECK_BITS(attn_log(0.0f), -INFINITY);
  CHECK_BITS(attn_log(-0.0f), -INFINITY);
  CHECK_BITS(attn_log(INFINITY), INFINITY);
  CHECK_BITS(attn_log(-FLT_TRUE_MIN), NAN);
  CHECK_BITS(attn_tanh(INFINITY), 1.0f);
  CHECK_BITS(attn_tanh(-0.0f), -0.0f);
  CHECK_BITS(attn_sigmoid(0.0f), 0.5f);
  CHECK_BITS(attn_sigmoid(INFINITY), 1.0f);
  CHECK_BITS(attn_sigmoid(-INFINITY), 0.0f);
  CHECK_BITS(attn_erf(-INFINITY), -1.0f);
  CHECK_BITS(attn_erf(-0.0f), -0.0f);
  CHECK_BITS(attn_sin(-0.0f), -0.0f);
  CHECK_BITS(attn_sin(INFINITY), NAN);
  CHECK_BITS(attn_cos(0.0f), 1.0f);
  CHECK_BITS(attn_cos(-INFINITY), NAN);
  for (int i = 0; i < FUNCTIONS; i++) CHECK_BITS(functions[i].one(NAN), NAN);
}

/* Lanes differ widely, so that a lane that leaks into another shows. */
static void four_at_a_time_give_the_bits_of_one(void) {
  for (int i = 0; i < FUNCTIONS; i++) {
    for (uint64_t bits = 0; bits < UINT64_C(1) << 30; bits += 1009) {
      float x[4], y[4];
      for (uint32_t lane = 0; lane < 4; lane++) {
        x[lane] = attn_from_bits((uint32_t)bits * 4 + lane * 0x40000001u);
      }
      attn_f32x4_store(y, functions[i].four(attn_f32x4_load(x)));
      for (int lane = 0; lane < 4; lane++) {
        float expected = functions[i].one(x[lane]);
        CLAIM(same_bits(y[lane], expected), "%s_x4(%a) gives %a in lane %d, should be %a",
              functions[i].name, (double)x[lane], (double)y[lane], lane, (double)expected);
      }
    }
  }
}

static void odd_functions_are_odd_and_cos_is_even(void) {
  for (uint32_t bits = 0; bits <= 0x7f800000u; bits += 4001) {
    float x = attn_from_bits(bits);
    NOTE("x = %a", (double)x);
    CHECK_BITS(attn_tanh(-x), -attn_tanh(x));
    CHECK_BITS(attn_erf(-x), -attn_erf(x));
    CHECK_BITS(attn_sin(-x), -attn_sin(x));
    CHECK_BITS(attn_cos(-x), attn_cos(x));
  }
}

/* ---- rows --------------------------------------------------------------------------------- */

enum { LONGEST = 1000 };

/* Numbers in [-scale, scale). */
static void fill_row(float *row, int n, uint32_t seed, float scale) {
  for (int i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    row[i] = ((float)(seed >> 8) * 0x1p-23f - 1) * scale;
  }
}

static int next_length(int n) { return n < 40 ? n + 1 : n + 137; }

static void sums_run_in_four_lanes(void) {
  static float a[LONGEST], b[LONGEST];
  for (int n = 0; n <= LONGEST; n = next_length(n)) {
    fill_row(a, n, (uint32_t)n, 3);
    fill_row(b, n, (uint32_t)n + 77, 3);
    float sum[4] = {0}, dot[4] = {0}, largest = -INFINITY;
    double true_sum = 0, true_dot = 0, size = 0, dot_size = 0;
    for (int i = 0; i < n; i++) {
      sum[i % 4] += a[i];
      dot[i % 4] += a[i] * b[i];
      largest = a[i] > largest ? a[i] : largest;
      true_sum += a[i];
      true_dot += (double)a[i] * b[i];
      size += fabsf(a[i]);
      dot_size += fabs((double)a[i] * b[i]);
    }
    NOTE("n = %d", n);
    CHECK_BITS(attn_row_max(a, n), largest);
    CHECK_BITS(attn_row_sum(a, n), (sum[0] + sum[2]) + (sum[1] + sum[3]));
    CHECK_BITS(attn_row_dot(a, b, n), (dot[0] + dot[2]) + (dot[1] + dot[3]));
    CHECK_NEAR(attn_row_sum(a, n), true_sum, (n / 4 + 2) * 0x1p-24 * size);
    CHECK_NEAR(attn_row_dot(a, b, n), true_dot, (n / 4 + 3) * 0x1p-24 * dot_size);
  }
}

static void max_of_a_row_with_nan_is_nan(void) {
  for (int n = 1; n < 20; n++) {
    for (int at = 0; at < n; at++) {
      float row[20];
      fill_row(row, n, 5, 1);
      row[at] = NAN;
      NOTE("n = %d, NaN at %d", n, at);
      CHECK_BITS(attn_row_max(row, n), NAN);
    }
  }
}

static void softmax_is_near_the_true_one(void) {
  static float in[LONGEST], out[LONGEST], in_place[LONGEST + 1];
  for (int n = 1; n <= LONGEST; n = next_length(n)) {
    for (float scale = 0.01f; scale < 200; scale *= 10) {
      fill_row(in, n, (uint32_t)n, scale);
      if (n > 2) in[n / 2] = -INFINITY;
      double max = -INFINITY, sum = 0, total = 0;
      for (int i = 0; i < n; i++) max = in[i] > max ? in[i] : max;
      for (int i = 0; i < n; i++) sum += exp(in[i] - max);
      NOTE("n = %d, scale = %g", n, (double)scale);
      CHECK_EQUAL(attn_row_softmax(out, in, n), 0);
      for (int i = 0; i < n; i++) {
        double truth = exp(in[i] - max) / sum;
        /* Rounding of in - max, exp, the sum and the quotient. */
        double relative = (fmax(in[i] - max, -200) / -2 + n / 4 + 4) * 0x1p-23;
        CHECK_NEAR(out[i], truth, relative * truth + (truth > 0 ? FLT_TRUE_MIN : 0));
        total += out[i];
      }
      if (n > 2) CHECK_BITS(out[n / 2], 0.0f);
      CHECK_NEAR(total, 1.0, (n / 4 + 4) * 0x1p-24);

      memcpy(in_place, in, (size_t)n * sizeof *in);
      in_place[n] = 42;
      attn_row_softmax(in_place, in_place, n);
      CHECK_BITS(in_place[n], 42.0f);
      CHECK_EQUAL(memcmp(in_place, out, (size_t)n * sizeof *out), 0);
    }
  }
}

static void check_softmax(const float *in, const float *expected, int n, unsigned flags) {
  float out[8];
  CHECK_EQUAL(attn_row_softmax(out, in, n), flags);
  for (int i = 0; i < n; i++) {
    NOTE("cell %d of %d", i, n);
    CHECK_BITS(out[i], expected[i]);
  }
}

/* M5 of the cases from public bug reports. */
static void softmax_flags_infinity_and_leaves_out_minus_infinity(void) {
  check_softmax((float[]){0, INFINITY}, (float[]){NAN, NAN}, 2, ATTN_ROW_NOT_FINITE);
  check_softmax((float[]){0, -INFINITY}, (float[]){1, 0}, 2, 0);
  check_softmax((float[]){NAN, -INFINITY, 1}, (float[]){NAN, NAN, NAN}, 3, ATTN_ROW_NOT_FINITE);
  check_softmax((float[]){-INFINITY, NAN}, (float[]){NAN, NAN}, 2, ATTN_ROW_NOT_FINITE);
}

/* M6, M8 and M11. */
static void softmax_of_extreme_scores_is_exact(void) {
  const float third = 1.0f / 3;
  check_softmax((float[]){-.0293463f, -1e9f, -1e9f}, (float[]){1, 0, 0}, 3, 0);
  check_softmax((float[]){-FLT_MAX, -FLT_MAX, -FLT_MAX}, (float[]){third, third, third}, 3, 0);
  check_softmax((float[]){FLT_MAX, -FLT_MAX, FLT_MAX}, (float[]){.5f, 0, .5f}, 3, 0);
  check_softmax((float[]){0, 0, -INFINITY}, (float[]){.5f, .5f, 0}, 3, 0);
}

static void softmax_of_an_empty_row_is_zero_and_flagged(void) {
  check_softmax((float[]){-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY},
                (float[]){0, 0, 0, 0, 0}, 5, ATTN_ROW_EMPTY);
  check_softmax((float[]){0}, (float[]){0}, 0, ATTN_ROW_EMPTY);
}

/* M2 and M13. */
static void softmax_of_small_rows_matches_the_known_values(void) {
  float out[3];
  attn_row_softmax(out, (float[]){1, 2, -INFINITY}, 3);
  CHECK_NEAR(out[0], .26894142, 1e-7);
  CHECK_NEAR(out[1], .73105858, 1e-7);
  CHECK_BITS(out[2], 0.0f);
  attn_row_softmax(out, (float[]){0, 1.09861229f}, 2);
  CHECK_NEAR(out[0], .25, 1e-7);
  CHECK_NEAR(out[1], .75, 1e-7);
}

/* H5: the biased variance. */
static void layer_norm_divides_by_the_biased_deviation(void) {
  float out[4];
  attn_moments moments = attn_row_layer_norm(out, (float[]){1, 0, 0, 0}, NULL, NULL, 1e-5f, 4);
  CHECK_NEAR(out[0], 1.7320046, 1e-6);
  for (int i = 1; i < 4; i++) CHECK_NEAR(out[i], -.5773349, 1e-6);
  CHECK_NEAR(moments.mean, .25, 0);
  CHECK_NEAR(moments.inverse_deviation, 1 / sqrt(.1875 + 1e-5), 1e-6);
}

static void layer_norm_is_near_the_true_one(void) {
  static float in[LONGEST], weight[LONGEST], bias[LONGEST], out[LONGEST + 1];
  const float eps = 1e-5f;
  for (int n = 1; n <= LONGEST; n = next_length(n)) {
    fill_row(in, n, (uint32_t)n, 10);
    fill_row(weight, n, (uint32_t)n + 1, 2);
    fill_row(bias, n, (uint32_t)n + 2, 2);
    double mean = 0, variance = 0;
    for (int i = 0; i < n; i++) mean += in[i];
    mean /= n;
    for (int i = 0; i < n; i++) variance += (in[i] - mean) * (in[i] - mean);
    variance /= n;
    for (int affine = 0; affine < 4; affine++) {
      const float *w = affine & 1 ? weight : NULL, *b = affine & 2 ? bias : NULL;
      memcpy(out, in, (size_t)n * sizeof *in);
      out[n] = 42;
      attn_row_layer_norm(out, out, w, b, eps, n);
      NOTE("n = %d, weight %s, bias %s", n, w ? "given" : "NULL", b ? "given" : "NULL");
      CHECK_BITS(out[n], 42.0f);
      for (int i = 0; i < n; i++) {
        double truth = (in[i] - mean) / sqrt(variance + eps) * (w ? w[i] : 1) + (b ? b[i] : 0);
        /* The mean and in - mean are off by up to 10 (n / 4 + 2) 2^-24 each, a weight may double
         * that; the rest is the rounding of numbers up to 4. */
        double slack = 40 * (n / 4 + 2) * 0x1p-24 / sqrt(variance + eps) + 16 * 0x1p-24;
        CHECK_NEAR(out[i], truth, slack);
      }
    }
  }
}

int main(int count, char **arguments) {
  if (count > 1) stride = strtoull(arguments[1], NULL, 10);
  if (stride == 0) return 2;
  RUN(max_and_min_keep_the_first_of_equals_and_of_nan);
  RUN(comparisons_are_false_for_nan_except_ne);
  RUN(lanes_are_summed_crosswise);
  RUN(partial_rows_touch_nothing_behind_them);
  RUN(transpose_turns_rows_into_columns);
  RUN(functions_are_within_their_error_everywhere);
  RUN(functions_are_within_their_error_around_edges);
  RUN(functions_meet_their_special_values);
  RUN(four_at_a_time_give_the_bits_of_one);
  RUN(odd_functions_are_odd_and_cos_is_even);
  RUN(sums_run_in_four_lanes);
  RUN(max_of_a_row_with_nan_is_nan);
  RUN(softmax_is_near_the_true_one);
  RUN(softmax_flags_infinity_and_leaves_out_minus_infinity);
  RUN(softmax_of_extreme_scores_is_exact);
  RUN(softmax_of_an_empty_row_is_zero_and_flagged);
  RUN(softmax_of_small_rows_matches_the_known_values);
  RUN(layer_norm_divides_by_the_biased_deviation);
  RUN(layer_norm_is_near_the_true_one);
  return report();
}
