#include "math/gemm.h"

void attn_gemm(attn_real *c, ptrdiff_t c_stride, const attn_real *a, ptrdiff_t a_row,
               ptrdiff_t a_col, const attn_real *b, ptrdiff_t b_row, ptrdiff_t b_col, int M, int N,
               int K, bool accumulate, attn_real *workspace) {
  (void)workspace;
  for (ptrdiff_t i = 0; i < M; i++) {
    for (ptrdiff_t j = 0; j < N; j++) {
      attn_real cell = accumulate ? c[i * c_stride + j] : 0;
      for (ptrdiff_t block = 0; block < K; block += ATTN_GEMM_BLOCK) {
        attn_real sum = 0;
        for (ptrdiff_t k = block; k < K && k < block + ATTN_GEMM_BLOCK; k++) {
          sum += a[i * a_row + k * a_col] * b[k * b_row + j * b_col];
        }
        cell += sum;
      }
      c[i * c_stride + j] = cell;
    }
  }
}
