/* C is cut into tiles of 4 rows and 8 columns, K into blocks. For each block and each 8 columns,
 * that part of B is packed into a panel [K, 8], which stays in the first cache while A streams
 * past. */
#include "math/gemm.h"

#include "math/simd.h"

enum {
  TILE_ROWS = 4, /* 8 sums, 2 cells of B and 1 of A: what V8 keeps in registers. 5 rows spill. */
  TILE_COLUMNS = 8,
  FEW_ROWS = 32, /* up to here packing B costs more than it saves, if B's rows are contiguous */
};

_Static_assert(ATTN_GEMM_WORKSPACE >= (ATTN_GEMM_BLOCK + TILE_ROWS) * TILE_COLUMNS, "panel, tile");

/* One row of a tile. */
typedef struct {
  attn_f32x4 left, right;
} tile_row;

static inline tile_row add_products(tile_row sum, const attn_real *a, tile_row b) {
  attn_f32x4 factor = attn_f32x4_load_splat(a);
  sum.left = attn_f32x4_add(sum.left, attn_f32x4_mul(factor, b.left));
  sum.right = attn_f32x4_add(sum.right, attn_f32x4_mul(factor, b.right));
  return sum;
}

static inline void write_row(attn_real *c, tile_row sum, bool add) {
  if (add) {
    sum.left = attn_f32x4_add(attn_f32x4_load(c), sum.left);
    sum.right = attn_f32x4_add(attn_f32x4_load(c + 4), sum.right);
  }
  attn_f32x4_store(c, sum.left);
  attn_f32x4_store(c + 4, sum.right);
}

/* c[rows, 8] (= or +=) a[rows, K] b[K, 8], with rows a constant from 1 to TILE_ROWS. */
static inline void multiply_rows(attn_real *c, ptrdiff_t c_row, const attn_real *a, ptrdiff_t a_row,
                                 ptrdiff_t a_col, const attn_real *b, ptrdiff_t b_row, int rows,
                                 int K, bool add) {
  tile_row zero = {attn_f32x4_splat(0), attn_f32x4_splat(0)};
  tile_row sum0 = zero, sum1 = zero, sum2 = zero, sum3 = zero;
  for (int k = 0; k < K; k++) {
    tile_row b_k = {attn_f32x4_load(b), attn_f32x4_load(b + 4)};
    sum0 = add_products(sum0, a, b_k);
    if (rows > 1) sum1 = add_products(sum1, a + a_row, b_k);
    if (rows > 2) sum2 = add_products(sum2, a + 2 * a_row, b_k);
    if (rows > 3) sum3 = add_products(sum3, a + 3 * a_row, b_k);
    a += a_col;
    b += b_row;
  }
  write_row(c, sum0, add);
  if (rows > 1) write_row(c + c_row, sum1, add);
  if (rows > 2) write_row(c + 2 * c_row, sum2, add);
  if (rows > 3) write_row(c + 3 * c_row, sum3, add);
}

static void multiply(attn_real *c, ptrdiff_t c_row, const attn_real *a, ptrdiff_t a_row,
                     ptrdiff_t a_col, const attn_real *b, ptrdiff_t b_row, int rows, int K,
                     bool add) {
  switch (rows) {
    case 1:
      multiply_rows(c, c_row, a, a_row, a_col, b, b_row, 1, K, add);
      break;
    case 2:
      multiply_rows(c, c_row, a, a_row, a_col, b, b_row, 2, K, add);
      break;
    case 3:
      multiply_rows(c, c_row, a, a_row, a_col, b, b_row, 3, K, add);
      break;
    default:
      multiply_rows(c, c_row, a, a_row, a_col, b, b_row, 4, K, add);
      break;
  }
}

/* panel[K, 8] = b[K, columns], 1 <= columns <= 8; what stands beyond the last column is not used.
 */
static void pack(attn_real *panel, const attn_real *b, ptrdiff_t b_row, ptrdiff_t b_col, int K,
                 int columns) {
  ptrdiff_t column[TILE_COLUMNS];
  for (int j = 0; j < TILE_COLUMNS; j++) column[j] = (j < columns ? j : columns - 1) * b_col;
  int k = 0;
  if (b_col == 1) {
    for (; k < K; k++, b += b_row, panel += 8) {
      attn_f32x4_store(panel, attn_f32x4_load_some(b, columns, 0));
      attn_f32x4_store(panel + 4, attn_f32x4_load_some(b + 4, columns - 4, 0));
    }
  } else if (b_row == 1) {
    for (; k + 4 <= K; k += 4, b += 4, panel += 32) {
      for (int j = 0; j < 8; j += 4) {
        attn_f32x4 x[4] = {attn_f32x4_load(b + column[j]), attn_f32x4_load(b + column[j + 1]),
                           attn_f32x4_load(b + column[j + 2]), attn_f32x4_load(b + column[j + 3])};
        attn_f32x4_transpose(x);
        attn_f32x4_store(panel + j, x[0]);
        attn_f32x4_store(panel + j + 8, x[1]);
        attn_f32x4_store(panel + j + 16, x[2]);
        attn_f32x4_store(panel + j + 24, x[3]);
      }
    }
  }
  for (; k < K; k++, b += b_row, panel += 8) {
    for (int j = 0; j < 8; j++) panel[j] = b[column[j]];
  }
}

/* c[1, columns up to 8] (= or +=) a[1, K] b[K, columns], where B's columns are contiguous: one row
 * would use a panel only once. The sums are those of multiply, bit for bit. */
static void multiply_vector(attn_real *c, const attn_real *a, ptrdiff_t a_col, const attn_real *b,
                            ptrdiff_t b_col, int K, int columns, bool add) {
  const attn_real *column[TILE_COLUMNS];
  for (int j = 0; j < TILE_COLUMNS; j++) column[j] = b + (j < columns ? j : columns - 1) * b_col;
  tile_row sum = {attn_f32x4_splat(0), attn_f32x4_splat(0)};
  int k = 0;
  for (; k + 4 <= K; k += 4) {
    attn_f32x4 left[4] = {attn_f32x4_load(column[0] + k), attn_f32x4_load(column[1] + k),
                          attn_f32x4_load(column[2] + k), attn_f32x4_load(column[3] + k)};
    attn_f32x4 right[4] = {attn_f32x4_load(column[4] + k), attn_f32x4_load(column[5] + k),
                           attn_f32x4_load(column[6] + k), attn_f32x4_load(column[7] + k)};
    attn_f32x4_transpose(left);
    attn_f32x4_transpose(right);
    for (int i = 0; i < 4; i++, a += a_col)
      sum = add_products(sum, a, (tile_row){left[i], right[i]});
  }
  for (; k < K; k++, a += a_col) {
    attn_real b_k[TILE_COLUMNS];
    for (int j = 0; j < TILE_COLUMNS; j++) b_k[j] = column[j][k];
    sum = add_products(sum, a, (tile_row){attn_f32x4_load(b_k), attn_f32x4_load(b_k + 4)});
  }
  write_row(c, sum, add);
}

/* c[rows, columns] (= or +=) the corner of tile[rows, 8]. */
static void merge(attn_real *c, ptrdiff_t c_row, const attn_real *tile, int rows, int columns,
                  bool add) {
  for (int i = 0; i < rows; i++, c += c_row, tile += TILE_COLUMNS) {
    for (int j = 0; j < columns; j++) c[j] = add ? c[j] + tile[j] : tile[j];
  }
}

static int smaller(int a, int b) { return a < b ? a : b; }

void attn_gemm(attn_real *c, ptrdiff_t c_stride, const attn_real *a, ptrdiff_t a_row,
               ptrdiff_t a_col, const attn_real *b, ptrdiff_t b_row, ptrdiff_t b_col, int M, int N,
               int K, bool accumulate, attn_real *workspace) {
  attn_real *panel = workspace;
  attn_real *tile = workspace + ATTN_GEMM_BLOCK * TILE_COLUMNS;
  for (int k = 0; k == 0 || k < K; k += ATTN_GEMM_BLOCK) {
    int depth = smaller(K - k, ATTN_GEMM_BLOCK);
    bool add = accumulate || k > 0;
    for (int j = 0; j < N; j += TILE_COLUMNS) {
      int columns = smaller(N - j, TILE_COLUMNS);
      bool whole = columns == TILE_COLUMNS;
      const attn_real *b_part = b + k * b_row + j * b_col;
      if (M == 1 && b_row == 1) {
        attn_real *sums = whole ? c + j : tile;
        multiply_vector(sums, a + k * a_col, a_col, b_part, b_col, depth, columns, whole && add);
        if (!whole) merge(c + j, c_stride, tile, 1, columns, add);
        continue;
      }
      bool in_place = b_col == 1 && whole && M <= FEW_ROWS;
      if (!in_place) pack(panel, b_part, b_row, b_col, depth, columns);
      const attn_real *right = in_place ? b_part : panel;
      ptrdiff_t right_row = in_place ? b_row : TILE_COLUMNS;
      for (int i = 0; i < M; i += TILE_ROWS) {
        int rows = smaller(M - i, TILE_ROWS);
        const attn_real *left = a + i * a_row + k * a_col;
        attn_real *out = c + i * c_stride + j;
        attn_real *sums = whole ? out : tile;
        multiply(sums, whole ? c_stride : TILE_COLUMNS, left, a_row, a_col, right, right_row, rows,
                 depth, whole && add);
        if (!whole) merge(out, c_stride, tile, rows, columns, add);
      }
    }
  }
}
