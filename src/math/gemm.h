/* C = A B, or C += A B: the one matrix product.
 *
 *   c[i, j] = (accumulate ? c[i, j] : 0) + sum over k of a[i, k] b[k, j]
 *   C: [M, N], A: [M, K], B: [K, N]
 *
 * Rows of C are contiguous and c_stride apart. A and B have a stride for each axis, so a transposed
 * operand is only another pair of strides. C overlaps neither A nor B.
 *
 * Each cell is summed over k in order, from 0, in blocks of ATTN_GEMM_BLOCK; blocks are added to C
 * in order. The shape and the strides change nothing in that order, so neither do they in a bit. */
#ifndef ATTN_MATH_GEMM_H
#define ATTN_MATH_GEMM_H

#include "attn.h"

enum {
  ATTN_GEMM_BLOCK = 256,
  ATTN_GEMM_WORKSPACE = 8 * ATTN_GEMM_BLOCK + 32, /* attn_reals */
};

void attn_gemm(attn_real *c, ptrdiff_t c_stride, const attn_real *a, ptrdiff_t a_row,
               ptrdiff_t a_col, const attn_real *b, ptrdiff_t b_row, ptrdiff_t b_col, int M, int N,
               int K, bool accumulate, attn_real *workspace);

#endif
