/* What tests/bench/gemm.js measures: the exports of a wasm file of its own. Its matrices lie behind
 * the heap base; memory grows to hold them. */
#include "attn.h"
#include "math/gemm.h"
#include "math/rows.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

float bench_multiply_adds(int repetitions);
float EXPORT(bench_peak)(int repetitions);
bool EXPORT(bench_start)(int largest);
void EXPORT(bench_gemm)(int M, int N, int K, bool a_transposed, bool b_transposed, bool accumulate,
                        int repetitions);

extern unsigned char __heap_base;

static attn_real *a, *b, *c, *workspace;

float bench_peak(int repetitions) { return bench_multiply_adds(repetitions); }

/* Makes room for matrices of up to [largest, largest] and fills them; false without memory. */
bool bench_start(int largest) {
  size_t cells = (size_t)largest * (size_t)largest;
  uintptr_t start = ((uintptr_t)&__heap_base + 63) & ~(uintptr_t)63;
  size_t end = start + (3 * cells + ATTN_GEMM_WORKSPACE) * sizeof(attn_real);
  size_t pages = (end + 65535) / 65536, present = __builtin_wasm_memory_size(0);
  if (pages > present && __builtin_wasm_memory_grow(0, pages - present) == (size_t)-1) return false;
  a = (attn_real *)start;
  b = a + cells;
  c = b + cells;
  workspace = c + cells;
  for (size_t i = 0; i < 2 * cells; i++) a[i] = (attn_real)(i * 2654435761u % 1000) / 1000 - 0.5f;
  return true;
}

/* C [M, N] = or += A B, with A and B stored as named or as their transposes. */
void bench_gemm(int M, int N, int K, bool a_transposed, bool b_transposed, bool accumulate,
                int repetitions) {
  for (int r = 0; r < repetitions; r++) {
    attn_gemm(c, N, a, a_transposed ? 1 : K, a_transposed ? M : 1, b, b_transposed ? 1 : N,
              b_transposed ? K : 1, M, N, K, accumulate, workspace);
  }
}
