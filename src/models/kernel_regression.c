/* Kernel regression, the oldest attention (Nadaraya 1964, Watson 1964; D2L "Attention Pooling").
 *
 *   weights[i, j] = K(|queries[i] - keys[j]| |w|) ÷ Σ_j K(…)    [1, 1, Tq, Tk]
 *   output[i]     = Σ_j weights[i, j] values[j]                  [1, 1, Tq, 1]
 *
 * K is one of the kernels of ops/kernel.c; w, one number, is fixed or learned. To learn it from the
 * points themselves each is left out of its own estimate, else w would grow until every point
 * stands alone. A query beyond the reach of all keys is an empty row and gives 0. */
#include "ops/ops.h"

struct attn_kernel_regression {
  attn_kernel_regression_config config;
  const attn_tensor *width; /* [1] */
};

attn_kernel_regression_config attn_kernel_regression_defaults(void) {
  return (attn_kernel_regression_config){.kernel = ATTN_KERNEL_GAUSSIAN, .width = 1};
}

static attn_tensor *declare_width(attn_tape *tape, const attn_kernel_regression_config *config) {
  if (!config->learned) {
    attn_tensor *width = attn_input(tape, "w", 1, (int32_t[]){1}, (const char *[]){"1"});
    return attn_fill_constant(tape, width, config->width);
  }
  attn_tensor *width = attn_parameter(tape, "w", attn_shape1("1", 1));
  if (config->width != 0) return attn_fill_constant(tape, width, config->width);
  return attn_fill_uniform(tape, width, config->seed, 0, 1);
}

attn_kernel_regression *attn_kernel_regression_new(attn_tape *tape,
                                                   const attn_kernel_regression_config *config) {
  if (!ATTN_CHECK_CHOICE(tape, "kernel", config->kernel, ATTN_KERNEL_LIST)) return NULL;
  if (config->width - config->width != 0)
    return attn_fail_at(tape, "width", ATTN_BAD_VALUE, "width %g must be a finite number",
                        (double)config->width);
  if (config->learned &&
      (config->kernel == ATTN_KERNEL_AVERAGE || config->kernel == ATTN_KERNEL_BOXCAR))
    return attn_fail_at(tape, "learned", ATTN_BAD_VALUE,
                        "the weights of the kernel %d do not change with a small change of the "
                        "width: there is nothing to learn",
                        config->kernel);
  attn_kernel_regression *model = attn_tape_take(tape, sizeof *model);
  const attn_tensor *width = declare_width(tape, config);
  if (!model || !width) return NULL;
  *model = (attn_kernel_regression){*config, width};
  return model;
}

/* [1, 1, n, n]: 0 on the diagonal. */
static const attn_tensor *others(attn_tape *tape, int32_t count) {
  attn_tensor *mask = attn_input(tape, "others", 4, (int32_t[]){1, 1, count, count},
                                 (const char *[]){"B", "h", "Tq", "Tk"});
  if (!mask) return NULL;
  for (int32_t i = 0; i < count; i++)
    for (int32_t j = 0; j < count; j++) mask->data[(ptrdiff_t)i * count + j] = i != j;
  return attn_input_ready(tape, mask);
}

static bool is_list(attn_tape *tape, const attn_tensor *x) {
  if (x->rank == 4 && x->shape[0] == 1 && x->shape[1] == 1) return true;
  return attn_fail(tape, ATTN_BAD_SHAPE,
                   "%s has %d axes and %d rows; kernel regression needs [1, 1, T, D]", x->name,
                   x->rank, (int)attn_rows(x));
}

attn_tensor *attn_kernel_regression_forward(attn_tape *tape, const attn_kernel_regression *model,
                                            const attn_tensor *queries, const attn_tensor *keys,
                                            const attn_tensor *values, bool leave_one_out) {
  if (!ATTN_READY(tape, model, queries, keys, values) || !is_list(tape, queries) ||
      !is_list(tape, keys) || !is_list(tape, values))
    return NULL;
  const int32_t count = keys->shape[2];
  if (values->shape[2] != count || (leave_one_out && queries->shape[2] != count))
    return attn_fail(
        tape, ATTN_BAD_SHAPE,
        "there are %d queries, %d keys and %d values; keys and values must be as many, "
        "and to leave one out queries too",
        queries->shape[2], count, values->shape[2]);
  attn_attention_options options = attn_attention_defaults();
  if (leave_one_out) options.mask = others(tape, count);
  const attn_tensor *scores =
      attn_kernel_scores(tape, queries, keys, model->width, model->config.kernel);
  const attn_tensor *weights = attn_masked_softmax(tape, scores, &options);
  return weights ? attn_mix(tape, "output", weights, values, weights->inputs[0]) : NULL;
}
