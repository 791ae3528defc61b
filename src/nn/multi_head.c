/* Multi-head attention: h attentions side by side on projected queries, keys and values.
 *
 *   query   = split(queries W_qᵀ + b_q)    [B, h, Tq, D], key and value alike; D = H ÷ h
 *   heads   = attention(query, key, value) [B, h, Tq, D]
 *   output  = merge(heads) W_oᵀ + b_o      [B, Tq, out]
 *
 * Rotary positions turn query and key after the split. A head mask multiplies each head's output.
 */
#include "nn/attention.h"
#include "ops/ops.h"

static bool check_sequence(attn_tape *tape, const attn_tensor *x) {
  if (x->rank == 3) return true;
  return attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d axes; multi-head attention needs [B, T, D]",
                   x->name, x->rank);
}

static attn_tensor *project(attn_tape *tape, const char *projection, const char *name,
                            const attn_tensor *x, const attn_tensor *weight,
                            const attn_tensor *bias, const char *t, int32_t heads) {
  const attn_tensor *projected = attn_linear(tape, projection, x, weight, bias);
  return attn_split_heads(tape, name, projected, heads, t);
}

/* What is known of all keys or values: the past, then x; either may be NULL. */
static const attn_tensor *behind(attn_tape *tape, const char *name, const attn_tensor *past,
                                 const attn_tensor *x) {
  if (!past) return x;
  return x ? attn_join(tape, name, past->rank - 2, 2, (const attn_tensor *[]){past, x}) : past;
}

attn_tensor *attn_multi_head_attention_after(attn_tape *tape, attn_past *past,
                                             const attn_tensor *queries, const attn_tensor *keys,
                                             const attn_tensor *values,
                                             const attn_multi_head_weights *weights,
                                             const attn_attention_options *options) {
  const bool more = keys || !past->key;
  if (!ATTN_READY(tape, queries) || !check_sequence(tape, queries)) return NULL;
  if (more && (!ATTN_READY(tape, keys, values) || !check_sequence(tape, keys) ||
               !check_sequence(tape, values)))
    return NULL;
  if (!weights->query_weight || !weights->key_weight || !weights->value_weight ||
      !weights->output_weight)
    return attn_fail_at(tape, "params", ATTN_BAD_VALUE,
                        "multi-head attention needs the weights query, key, value and output");
  if (weights->query_weight->shape[0] != weights->key_weight->shape[0])
    return attn_fail_at(tape, "params", ATTN_BAD_SHAPE,
                        "queries are projected to %d hiddens, keys to %d; they must agree",
                        weights->query_weight->shape[0], weights->key_weight->shape[0]);
  const int32_t heads = options->heads;
  const attn_tensor *query = project(tape, "query_projection", "query", queries,
                                     weights->query_weight, weights->query_bias, "Tq", heads);
  const attn_tensor *key = NULL, *value = NULL;
  if (more) {
    key = project(tape, "key_projection", past->key ? "new_key" : "key", keys, weights->key_weight,
                  weights->key_bias, "Tk", heads);
    value = project(tape, "value_projection", past->value ? "new_value" : "value", values,
                    weights->value_weight, weights->value_bias, "Tk", heads);
    if (!key || !value) return NULL;
  }
  if (options->rotary != ATTN_PAIRING_NONE && query) {
    /* The last query stands at the last key, as for causal masks. */
    const int32_t before = past->key ? past->key->shape[2] : 0;
    const int32_t all = before + (key ? key->shape[2] : 0);
    const int32_t offset = options->causal == ATTN_CAUSAL_TOP_LEFT ? 0 : all - query->shape[2];
    query = attn_rotary(tape, "turned_query", query, NULL, offset, options->rotary,
                        options->rotary_base);
    if (key)
      key = attn_rotary(tape, past->key ? "new_turned_key" : "turned_key", key, NULL, before,
                        options->rotary, options->rotary_base);
  }
  past->key = behind(tape, "key", past->key, key);
  past->value = behind(tape, "value", past->value, value);
  const attn_tensor *mixed =
      attn_attention_named(tape, "heads", query, past->key, past->value, options);
  if (options->head_mask) mixed = attn_mask_heads(tape, "masked_heads", mixed, options->head_mask);
  const attn_tensor *merged = attn_merge_heads(tape, "merged_heads", mixed);
  return attn_linear(tape, "output", merged, weights->output_weight, weights->output_bias);
}

attn_tensor *attn_multi_head_attention(attn_tape *tape, const attn_tensor *queries,
                                       const attn_tensor *keys, const attn_tensor *values,
                                       const attn_multi_head_weights *weights,
                                       const attn_attention_options *options) {
  attn_past none = {0};
  return attn_multi_head_attention_after(tape, &none, queries, keys, values, weights, options);
}
