/* The matrix product: every cell has the bits of the documented order of sums, whatever the shape
 * and the strides, and lies near the sum in double. */
#include <stdlib.h>

#include "harness.h"
#include "math/gemm.h"

enum { CANARY = 12345 }; /* stands in every cell that must not be written */

typedef struct {
  int M, N, K;
  ptrdiff_t a_row, a_col, b_row, b_col, c_row;
  bool accumulate;
} product;

static uint32_t seed = 1;

static float random_real(void) {
  seed = seed * 1664525u + 1013904223u;
  return (float)(seed >> 8) * 0x1p-23f - 1;
}

static size_t cells(int rows, ptrdiff_t row, int columns, ptrdiff_t column) {
  return rows && columns ? (size_t)((rows - 1) * row + (columns - 1) * column + 1) : 0;
}

/* Exactly as many cells as the strides reach, so that the sanitizer guards both ends. */
static float *random_cells(size_t count) {
  float *cell = malloc(count ? count * sizeof *cell : 1);
  for (size_t i = 0; i < count; i++) cell[i] = random_real();
  return cell;
}

static void check_cell(const product *p, const float *a, const float *b, float before,
                       float after) {
  float sum = p->accumulate ? before : 0;
  double truth = sum, size = fabs(truth);
  for (int block = 0; block == 0 || block < p->K; block += ATTN_GEMM_BLOCK) {
    float block_sum = 0;
    for (int k = block; k < p->K && k < block + ATTN_GEMM_BLOCK; k++) {
      float x = a[k * p->a_col], y = b[k * p->b_row];
      block_sum += x * y;
      truth += (double)x * y;
      size += fabs((double)x * y);
    }
    sum = block == 0 && !p->accumulate ? block_sum : sum + block_sum;
  }
  CHECK_BITS(after, sum);
  CHECK_NEAR(after, truth, (p->K + 1) * 0x1p-24 * size);
}

static void check_product(product p) {
  NOTE("M %d, N %d, K %d, A by %td, %td, B by %td, %td, C by %td%s", p.M, p.N, p.K, p.a_row,
       p.a_col, p.b_row, p.b_col, p.c_row, p.accumulate ? ", added" : "");
  float *a = random_cells(cells(p.M, p.a_row, p.K, p.a_col));
  float *b = random_cells(cells(p.K, p.b_row, p.N, p.b_col));
  size_t count = p.M ? (size_t)(p.M * p.c_row) : 0;
  float *before = random_cells(count), *c = random_cells(count);
  float *workspace = random_cells(ATTN_GEMM_WORKSPACE);
  for (size_t i = 0; i < count; i++) {
    if ((ptrdiff_t)i % p.c_row >= p.N) before[i] = CANARY;
    c[i] = before[i];
  }
  attn_gemm(c, p.c_row, a, p.a_row, p.a_col, b, p.b_row, p.b_col, p.M, p.N, p.K, p.accumulate,
            workspace);
  for (int i = 0; i < p.M; i++) {
    for (int j = 0; j < p.c_row; j++) {
      ptrdiff_t at = i * p.c_row + j;
      if (j < p.N) {
        check_cell(&p, a + i * p.a_row, b + j * p.b_col, before[at], c[at]);
      } else {
        CHECK_BITS(c[at], before[at]);
      }
    }
  }
  free(a), free(b), free(before), free(c), free(workspace);
}

static ptrdiff_t at_least_1(ptrdiff_t n) { return n > 0 ? n : 1; }

/* Both operands as they stand, transposed, and with gaps, C with and without gaps. */
static void check_shape(int M, int N, int K) {
  ptrdiff_t m = at_least_1(M), n = at_least_1(N), k = at_least_1(K);
  const ptrdiff_t a[][2] = {{k, 1}, {1, m}, {2 * k + 3, 2}};
  const ptrdiff_t b[][2] = {{n, 1}, {1, k}, {n + 5, 1}, {1, k + 3}, {2 * n + 1, 2}};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 5; j++) {
      bool accumulate = (i + j) % 2;
      check_product((product){M, N, K, a[i][0], a[i][1], b[j][0], b[j][1], n, accumulate});
      check_product((product){M, N, K, a[i][0], a[i][1], b[j][0], b[j][1], n + 3, !accumulate});
    }
  }
}

static void all_small_shapes(void) {
  for (int M = 0; M <= 9; M++) {
    for (int N = 0; N <= 17; N++) {
      for (int K = 0; K <= 9; K++) check_shape(M, N, K);
    }
  }
}

static void shapes_around_every_block(void) {
  static const int rows[] = {1, 31, 32, 33, 37};
  static const int columns[] = {1, 8, 20, 64};
  static const int depths[] = {31, 255, 256, 257, 520};
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 4; j++) {
      for (int k = 0; k < 5; k++) check_shape(rows[i], columns[j], depths[k]);
    }
  }
}

static void shapes_of_attention(void) {
  check_shape(10, 32, 32); /* tokens, hiddens, hiddens */
  check_shape(10, 10, 8);  /* scores of one head */
  check_shape(10, 8, 10);  /* weights times values */
  check_shape(64, 128, 128);
  check_shape(130, 70, 300);
}

/* A stride of 0 spreads one row or column. */
static void strides_may_be_zero_or_negative(void) {
  check_product((product){5, 9, 7, 0, 1, 9, 1, 9, false});
  check_product((product){5, 9, 7, 7, 1, 0, 1, 9, false});
  check_product((product){5, 9, 7, 7, 0, 1, 0, 9, true});

  float a[] = {3, 2, 1}, b[] = {6, 5, 4}, c[1], workspace[ATTN_GEMM_WORKSPACE];
  attn_gemm(c, 1, a + 2, 3, -1, b + 2, -1, 1, 1, 1, 3, false, workspace);
  CHECK_BITS(c[0], 1 * 4 + 2 * 5 + 3 * 6);
}

/* Rows and columns are padded inside; what pads them must not meet the cells beside it. */
static void nan_stays_in_its_row_and_column(void) {
  enum { SIZE = 11 };
  float workspace[ATTN_GEMM_WORKSPACE];
  for (int transposed = 0; transposed < 2; transposed++) {
    for (int bad = 0; bad < SIZE; bad++) {
      float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
      for (int i = 0; i < SIZE * SIZE; i++) a[i] = random_real(), b[i] = random_real();
      ptrdiff_t b_row = transposed ? 1 : SIZE, b_col = transposed ? SIZE : 1;
      a[bad * SIZE + 3] = NAN;
      b[5 * b_row + bad * b_col] = INFINITY;
      for (int i = 0; i < ATTN_GEMM_WORKSPACE; i++) workspace[i] = NAN;
      attn_gemm(c, SIZE, a, SIZE, 1, b, b_row, b_col, SIZE, SIZE, SIZE, false, workspace);
      for (int i = 0; i < SIZE * SIZE; i++) {
        bool touched = i / SIZE == bad || i % SIZE == bad;
        NOTE("cell %d, %d, bad row and column %d", i / SIZE, i % SIZE, bad);
        CHECK_EQUAL(isfinite(c[i]) != 0, !touched);
      }
    }
  }
}

int main(void) {
  RUN(all_small_shapes);
  RUN(shapes_around_every_block);
  RUN(shapes_of_attention);
  RUN(strides_may_be_zero_or_negative);
  RUN(nan_stays_in_its_row_and_column);
  return report();
}
