/* The Transformer's parameters: their names, shapes and first values.
 *
 *   source_embedding.weight, target_embedding.weight                             [V, H]
 *   source_position.weight, target_position.weight (learned)                     [max_length, H]
 *   encoder.0.attention.{query,key,value,output}.{weight,bias}                   [H, H], [H]
 *   encoder.0.feed_forward.{linear1,linear2}.{weight,bias}                       [F, H], [H, F]
 *   encoder.0.{norm1,norm2}.{weight,bias}, encoder.norm.{weight,bias}            [H]
 *   decoder.0.{self_attention,cross_attention}.…, decoder.0.{norm1,norm2,norm3}.…
 *   output.{weight,bias}                                                         [V, H], [V]
 *
 * An encoder has no target, a decoder no source, no cross-attention and no norm3. Sinusoidal
 * positions are one table for both sides, computed once. */
#include "models/transformer.h"

#include "base/text.h"
#include "math/functions.h"
#include "ops/ops.h"

attn_transformer_config attn_transformer_defaults(void) {
  return (attn_transformer_config){.hiddens = 32,
                                   .heads = 4,
                                   .feed_forward = 64,
                                   .encoder_layers = 2,
                                   .decoder_layers = 2,
                                   .position = ATTN_POSITION_SINUSOIDAL,
                                   .max_length = 1000,
                                   .bias = 1,
                                   .attention_bias = 1,
                                   .embedding_scale = 1};
}

/* ---- what may not be --------------------------------------------------------------------------
 */

static bool check_dropout(attn_tape *tape, const char *where, float probability) {
  if (probability >= 0 && probability < 1) return true;
  return attn_fail_at(tape, "dropout", ATTN_BAD_VALUE,
                      "the dropout %g of the %s must be at least 0 and below 1",
                      (double)probability, where);
}

static bool has_source(const attn_transformer_config *config) {
  return config->kind != ATTN_TRANSFORMER_DECODER;
}

static bool has_target(const attn_transformer_config *config) {
  return config->kind != ATTN_TRANSFORMER_ENCODER;
}

static bool check(attn_tape *tape, const attn_transformer_config *config) {
  if (!ATTN_CHECK_CHOICE(tape, "kind", config->kind, ATTN_TRANSFORMER_LIST) ||
      !ATTN_CHECK_CHOICE(tape, "norm", config->norm, ATTN_NORM_LIST) ||
      !ATTN_CHECK_CHOICE(tape, "activation", config->activation, ATTN_ACTIVATION_LIST) ||
      !ATTN_CHECK_CHOICE(tape, "position", config->position, ATTN_POSITION_LIST) ||
      !ATTN_CHECK_CHOICE(tape, "initialiser", config->initialiser, ATTN_INITIALISER_LIST) ||
      !attn_check_size(tape, "hiddens", config->hiddens) ||
      !attn_check_size(tape, "heads", config->heads) ||
      !attn_check_size(tape, "feedForward", config->feed_forward) ||
      !attn_check_size(tape, "maxLength", config->max_length) ||
      !check_dropout(tape, "embedding", config->embedding_dropout) ||
      !check_dropout(tape, "attention", config->attention_dropout) ||
      !check_dropout(tape, "feed-forward part", config->feed_forward_dropout) ||
      !check_dropout(tape, "residual sums", config->residual_dropout))
    return false;
  if (has_source(config) && (!attn_check_size(tape, "sourceVocab", config->source_vocab) ||
                             !attn_check_size(tape, "layers", config->encoder_layers)))
    return false;
  if (has_target(config) && (!attn_check_size(tape, "targetVocab", config->target_vocab) ||
                             !attn_check_size(tape, "layers", config->decoder_layers)))
    return false;
  if (config->hiddens % config->heads)
    return attn_fail_at(tape, "heads", ATTN_BAD_SHAPE, "hiddens %d is not a multiple of heads %d",
                        config->hiddens, config->heads);
  const int32_t width = config->hiddens / config->heads;
  if (config->position == ATTN_POSITION_ROTARY && width % 2)
    return attn_fail_at(tape, "position", ATTN_BAD_SHAPE,
                        "rotary positions need an even width; %d hiddens in %d heads have %d",
                        config->hiddens, config->heads, width);
  return true;
}

/* ---- parameters -------------------------------------------------------------------------------
 */

typedef struct builder {
  attn_tape *tape;
  const attn_transformer_config *config;
} builder;

static attn_tensor *declare_vector(const builder *in, const char *name, int32_t size) {
  return attn_parameter(in->tape, name, attn_shape1("H", size));
}

static const attn_tensor *constant(const builder *in, const char *name, attn_real value) {
  return attn_fill_constant(in->tape, declare_vector(in, name, in->config->hiddens), value);
}

static const attn_tensor *table(const builder *in, const char *scope, const char *axis,
                                int32_t rows) {
  const int32_t previous = attn_scope_enter(in->tape, scope);
  attn_tensor *weight =
      attn_parameter(in->tape, "weight", attn_shape2(axis, rows, "H", in->config->hiddens));
  attn_fill_normal(in->tape, weight, in->config->seed, 1);
  attn_scope_leave(in->tape, previous);
  return weight;
}

/* A linear layer [out, in], uniform. limit: of the weights; 0: 1 ÷ √in. */
static void linear(const builder *in, const char *scope, const attn_tensor **weight,
                   const attn_tensor **bias, attn_shape shape, attn_real limit, bool has_bias,
                   bool bias_is_zero) {
  attn_tape *tape = in->tape;
  const uint32_t seed = in->config->seed;
  const int32_t previous = attn_scope_enter(tape, scope), width = shape.size[1];
  attn_tensor *matrix = attn_parameter(tape, "weight", shape);
  if (limit == 0)
    attn_fill_fan_in(tape, matrix, seed, width);
  else
    attn_fill_uniform(tape, matrix, seed, -limit, limit);
  attn_tensor *vector = NULL;
  if (has_bias) {
    vector = attn_parameter(tape, "bias", attn_shape1(shape.axes[0], shape.size[0]));
    if (bias_is_zero)
      attn_fill_constant(tape, vector, 0);
    else
      attn_fill_fan_in(tape, vector, seed, width);
  }
  attn_scope_leave(tape, previous);
  *weight = matrix;
  *bias = vector;
}

static attn_real xavier(int32_t out, int32_t in) { return attn_sqrt(6 / (attn_real)(out + in)); }

/* nn.MultiheadAttention draws query, key and value as one matrix [3H, H]; its biases are 0. */
static void attention(const builder *in, const char *scope, attn_multi_head_weights *weights) {
  const int32_t hiddens = in->config->hiddens;
  const bool torch = in->config->initialiser == ATTN_INITIALISER_TORCH;
  const bool bias = in->config->attention_bias != 0;
  const attn_real limit = xavier(torch ? 3 * hiddens : hiddens, hiddens);
  const attn_shape shape = attn_shape2("H", hiddens, "H", hiddens);
  const int32_t previous = attn_scope_enter(in->tape, scope);
  linear(in, "query", &weights->query_weight, &weights->query_bias, shape, limit, bias, torch);
  linear(in, "key", &weights->key_weight, &weights->key_bias, shape, limit, bias, torch);
  linear(in, "value", &weights->value_weight, &weights->value_bias, shape, limit, bias, torch);
  linear(in, "output", &weights->output_weight, &weights->output_bias, shape,
         xavier(hiddens, hiddens), bias, torch);
  attn_scope_leave(in->tape, previous);
}

static void feed_forward(const builder *in, attn_feed_forward_weights *weights) {
  const int32_t hiddens = in->config->hiddens, units = in->config->feed_forward;
  const bool bias = in->config->bias != 0;
  const attn_real limit = xavier(units, hiddens);
  const int32_t previous = attn_scope_enter(in->tape, "feed_forward");
  linear(in, "linear1", &weights->linear1_weight, &weights->linear1_bias,
         attn_shape2("F", units, "H", hiddens), limit, bias, false);
  linear(in, "linear2", &weights->linear2_weight, &weights->linear2_bias,
         attn_shape2("H", hiddens, "F", units), limit, bias, false);
  attn_scope_leave(in->tape, previous);
}

static void norm(const builder *in, const char *scope, const attn_tensor **weight,
                 const attn_tensor **bias) {
  const int32_t previous = attn_scope_enter(in->tape, scope);
  *weight = constant(in, "weight", 1);
  *bias = in->config->bias ? constant(in, "bias", 0) : NULL;
  attn_scope_leave(in->tape, previous);
}

int32_t attn_transformer_enter(attn_tape *tape, int32_t layer) {
  char digits[12];
  attn_text text = attn_text_in(digits, sizeof digits);
  attn_text_add(&text, "%d", layer);
  return attn_scope_enter(tape, digits);
}

static void encoder(const builder *in, attn_transformer *model) {
  const int32_t layers = in->config->encoder_layers;
  const int32_t previous = attn_scope_enter(in->tape, "encoder");
  for (int32_t i = 0; i < layers; i++) {
    attn_encoder_layer_weights *layer = &model->encoder[i];
    *layer = (attn_encoder_layer_weights){0};
    const int32_t outside = attn_transformer_enter(in->tape, i);
    attention(in, "attention", &layer->attention);
    norm(in, "norm1", &layer->norm1_weight, &layer->norm1_bias);
    feed_forward(in, &layer->feed_forward);
    norm(in, "norm2", &layer->norm2_weight, &layer->norm2_bias);
    attn_scope_leave(in->tape, outside);
  }
  if (in->config->final_norm)
    norm(in, "norm", &model->encoder_norm.weight, &model->encoder_norm.bias);
  attn_scope_leave(in->tape, previous);
}

static void decoder(const builder *in, attn_transformer *model) {
  const bool cross = has_source(in->config);
  const int32_t layers = in->config->decoder_layers;
  const int32_t previous = attn_scope_enter(in->tape, "decoder");
  for (int32_t i = 0; i < layers; i++) {
    attn_decoder_layer_weights *layer = &model->decoder[i];
    *layer = (attn_decoder_layer_weights){0};
    const int32_t outside = attn_transformer_enter(in->tape, i);
    attention(in, "self_attention", &layer->self_attention);
    norm(in, "norm1", &layer->norm1_weight, &layer->norm1_bias);
    if (cross) {
      attention(in, "cross_attention", &layer->cross_attention);
      norm(in, "norm2", &layer->norm2_weight, &layer->norm2_bias);
    }
    feed_forward(in, &layer->feed_forward);
    if (cross)
      norm(in, "norm3", &layer->norm3_weight, &layer->norm3_bias);
    else
      norm(in, "norm2", &layer->norm2_weight, &layer->norm2_bias);
    attn_scope_leave(in->tape, outside);
  }
  if (in->config->final_norm)
    norm(in, "norm", &model->decoder_norm.weight, &model->decoder_norm.bias);
  attn_scope_leave(in->tape, previous);
}

static void positions(const builder *in, attn_transformer *model) {
  const attn_transformer_config *config = in->config;
  if (config->position == ATTN_POSITION_SINUSOIDAL)
    model->source.position = model->target.position =
        attn_sinusoidal(in->tape, "position", config->max_length, config->hiddens, 0);
  if (config->position == ATTN_POSITION_LEARNED && has_source(config))
    model->source.position = table(in, "source_position", "T", config->max_length);
  if (config->position == ATTN_POSITION_LEARNED && has_target(config))
    model->target.position = table(in, "target_position", "T", config->max_length);
  if (config->position == ATTN_POSITION_ALIBI)
    model->alibi_slopes = attn_alibi_slopes(in->tape, "alibi_slopes", config->heads);
}

static void *take_layers(attn_tape *tape, int32_t count, size_t bytes) {
  if ((size_t)count > ATTN_MAX_BYTES / bytes)
    return attn_fail_at(tape, "layers", ATTN_TOO_BIG, "%d layers; the limit is %d", count,
                        (int)(ATTN_MAX_BYTES / bytes));
  return attn_tape_take(tape, (size_t)count * bytes);
}

attn_transformer *attn_transformer_new(attn_tape *tape, const attn_transformer_config *config) {
  if (attn_tape_status(tape) != ATTN_OK || !check(tape, config)) return NULL;
  attn_transformer *model = attn_tape_take(tape, sizeof *model);
  if (!model) return NULL;
  *model = (attn_transformer){.config = *config};
  const builder in = {tape, config};
  const int32_t vocabulary = has_target(config) ? config->target_vocab : config->source_vocab;
  if (has_source(config)) {
    model->encoder = take_layers(tape, config->encoder_layers, sizeof *model->encoder);
    if (!model->encoder) return NULL;
    model->source.table = table(&in, "source_embedding", "V", config->source_vocab);
  }
  if (has_target(config)) {
    model->decoder = take_layers(tape, config->decoder_layers, sizeof *model->decoder);
    if (!model->decoder) return NULL;
    model->target.table = table(&in, "target_embedding", "V", config->target_vocab);
  }
  positions(&in, model);
  if (model->encoder) encoder(&in, model);
  if (model->decoder) decoder(&in, model);
  const bool torch = config->initialiser == ATTN_INITIALISER_TORCH;
  linear(&in, "output", &model->output_weight, &model->output_bias,
         attn_shape2("V", vocabulary, "H", config->hiddens),
         torch ? 0 : xavier(vocabulary, config->hiddens), config->bias != 0, false);
  return attn_tape_status(tape) == ATTN_OK ? model : NULL;
}
