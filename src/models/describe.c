/* The core about itself, as JSON, so that no layout and no list of names is written twice:
 *
 *   { "status": { "OK": 0, … }, "choices": { "score": ["scaled-dot", …], … },
 *     "reasons": { "validLength": 1, … }, "rowFlags": { … },
 *     "structs": { "attention_options": { "size": 120, "fields": { "score": [0, "choice:score"] } }
 * } }
 *
 * A field is [offset in bytes, kind]; kinds are i32, u32, f32, pointer, tensor (a pointer to one),
 * choice:LIST and struct:NAME. */
#include "attn.h"
#include "base/text.h"

typedef struct field {
  const char *name, *kind;
  size_t offset;
} field;

#define FIELD(type, member, kind) {#member, kind, offsetof(type, member)},
#define END \
  { 0 }

#define TENSOR(member, kind) FIELD(attn_tensor, member, kind)
static const field tensor_fields[] = {
    TENSOR(data, "pointer") TENSOR(gradient, "pointer") TENSOR(rank, "i32") TENSOR(shape, "i32")
        TENSOR(axes, "pointer") TENSOR(sum_axis, "i32") TENSOR(name, "pointer")
            TENSOR(op, "pointer") TENSOR(input_count, "i32") TENSOR(inputs, "pointer")
                TENSOR(next, "pointer") TENSOR(previous, "pointer") TENSOR(requires_gradient, "i32")
                    TENSOR(overridden, "i32") TENSOR(backward, "pointer")
                        TENSOR(attributes, "pointer") END};

#define OPTION(member, kind) FIELD(attn_attention_options, member, kind)
static const field attention_options[] = {
    OPTION(score, "choice:score") OPTION(normalise, "choice:normalise") OPTION(
        causal, "choice:causal") OPTION(window_left, "i32") OPTION(window_right, "i32")
        OPTION(global_tokens, "i32") OPTION(scale_mode, "choice:scale") OPTION(scale, "f32")
            OPTION(temperature, "f32") OPTION(fill_mode, "choice:fill") OPTION(fill, "f32") OPTION(
                dropout, "f32") OPTION(seed, "u32") OPTION(need_weights, "i32") OPTION(heads, "i32")
                OPTION(rotary, "choice:pairing") OPTION(rotary_base, "f32")
                    OPTION(valid_lengths, "tensor") OPTION(mask, "tensor") OPTION(bias, "tensor")
                        OPTION(alibi_slopes, "tensor") OPTION(head_mask, "tensor")
                            OPTION(score_query_weight, "tensor") OPTION(score_key_weight, "tensor")
                                OPTION(score_value_weight, "tensor") OPTION(score_weight, "tensor")
                                    OPTION(score_width, "tensor") END};

#define WEIGHT(member) FIELD(attn_multi_head_weights, member, "tensor")
static const field multi_head_weights[] = {
    WEIGHT(query_weight) WEIGHT(query_bias) WEIGHT(key_weight) WEIGHT(key_bias) WEIGHT(value_weight)
        WEIGHT(value_bias) WEIGHT(output_weight) WEIGHT(output_bias) END};

#define FEED(member) FIELD(attn_feed_forward_weights, member, "tensor")
static const field feed_forward_weights[] = {FEED(linear1_weight) FEED(linear1_bias)
                                                 FEED(linear2_weight) FEED(linear2_bias) END};

#define LAYER(member, kind) FIELD(attn_encoder_layer_weights, member, kind)
static const field encoder_layer_weights[] = {
    LAYER(attention, "struct:multi_head_weights") LAYER(norm1_weight, "tensor")
        LAYER(norm1_bias, "tensor") LAYER(norm2_weight, "tensor") LAYER(norm2_bias, "tensor")
            LAYER(feed_forward, "struct:feed_forward_weights") END};

static const field texts_fields[] = {FIELD(attn_texts, bytes, "pointer") FIELD(
    attn_texts, lengths, "pointer") FIELD(attn_texts, count, "i32") END};

static const field encoder_layer_options[] = {
    FIELD(attn_encoder_layer_options, attention, "struct:attention_options")
        FIELD(attn_encoder_layer_options, norm, "choice:norm")
            FIELD(attn_encoder_layer_options, activation, "choice:activation")
                FIELD(attn_encoder_layer_options, eps, "f32")
                    FIELD(attn_encoder_layer_options, feed_forward_dropout, "f32")
                        FIELD(attn_encoder_layer_options, residual_dropout, "f32") END};

#define MODEL(member, kind) FIELD(attn_attention_layer_options, member, kind)
static const field attention_layer_options[] = {
    MODEL(attention, "struct:attention_options") MODEL(hiddens, "i32")
        MODEL(position, "choice:position") MODEL(bias, "i32") MODEL(parameter_seed, "u32") END};

#define SIZES(member, kind) FIELD(attn_transformer_config, member, kind)
static const field transformer_config[] = {
    SIZES(kind, "choice:transformer") SIZES(source_vocab, "i32") SIZES(target_vocab, "i32") SIZES(
        hiddens, "i32") SIZES(heads, "i32") SIZES(feed_forward, "i32") SIZES(encoder_layers, "i32")
        SIZES(decoder_layers, "i32") SIZES(norm, "choice:norm") SIZES(final_norm, "i32")
            SIZES(activation, "choice:activation") SIZES(position, "choice:position")
                SIZES(max_length, "i32") SIZES(bias, "i32") SIZES(attention_bias, "i32")
                    SIZES(embedding_scale, "i32") SIZES(embedding_dropout, "f32")
                        SIZES(attention_dropout, "f32") SIZES(feed_forward_dropout, "f32")
                            SIZES(residual_dropout, "f32") SIZES(initialiser, "choice:initialiser")
                                SIZES(seed, "u32") END};

#define BATCH(member) FIELD(attn_transformer_batch, member, "tensor")
static const field transformer_batch[] = {BATCH(source) BATCH(source_lengths) BATCH(target)
                                              BATCH(target_lengths) END};

#define KERNEL(member, kind) FIELD(attn_kernel_regression_config, member, kind)
static const field kernel_regression_config[] = {KERNEL(kernel, "choice:kernel") KERNEL(
    learned, "i32") KERNEL(width, "f32") KERNEL(seed, "u32") END};

#define SEQ2SEQ(member, kind) FIELD(attn_seq2seq_config, member, kind)
static const field seq2seq_config[] = {
    SEQ2SEQ(attention, "choice:seq2seqAttention") SEQ2SEQ(source_vocab, "i32")
        SEQ2SEQ(target_vocab, "i32") SEQ2SEQ(embedding, "i32") SEQ2SEQ(hiddens, "i32")
            SEQ2SEQ(layers, "i32") SEQ2SEQ(dropout, "f32")
                SEQ2SEQ(initialiser, "choice:initialiser") SEQ2SEQ(seed, "u32") END};

#define TRAIN(member, kind) FIELD(attn_training_options, member, kind)
static const field training_options[] = {
    TRAIN(optimiser, "choice:optimiser") TRAIN(learning_rate, "f32") TRAIN(momentum, "f32")
        TRAIN(beta1, "f32") TRAIN(beta2, "f32") TRAIN(eps, "f32") TRAIN(weight_decay, "f32")
            TRAIN(clip, "f32") END};

static const field training_fields[] = {
    FIELD(attn_training, steps, "i32") FIELD(attn_training, count, "i32")
        FIELD(attn_training, loss, "f32") FIELD(attn_training, gradient_norm, "f32")
            FIELD(attn_training, moments, "pointer") END};

#define SCHEDULE(member, kind) FIELD(attn_schedule, member, kind)
static const field schedule_fields[] = {SCHEDULE(kind, "choice:schedule") SCHEDULE(
    rate, "f32") SCHEDULE(warm_up, "i32") SCHEDULE(every, "i32") SCHEDULE(factor, "f32")
                                            SCHEDULE(total, "i32") SCHEDULE(last_rate, "f32") END};

#define DECODE(member, kind) FIELD(attn_decode_options, member, kind)
static const field decode_options[] = {
    DECODE(method, "choice:decode_method") DECODE(cache, "choice:cache")
        DECODE(positions, "choice:decode_positions") DECODE(max_length, "i32")
            DECODE(prefill, "i32") DECODE(end, "i32") DECODE(beams, "i32")
                DECODE(length_penalty, "f32") DECODE(temperature, "f32") DECODE(top_k, "i32")
                    DECODE(top_p, "f32") DECODE(seed, "u32") END};

static const struct {
  const char *name;
  size_t size;
  const field *fields;
} structs[] = {
    {"tensor", sizeof(attn_tensor), tensor_fields},
    {"texts", sizeof(attn_texts), texts_fields},
    {"attention_options", sizeof(attn_attention_options), attention_options},
    {"multi_head_weights", sizeof(attn_multi_head_weights), multi_head_weights},
    {"feed_forward_weights", sizeof(attn_feed_forward_weights), feed_forward_weights},
    {"encoder_layer_weights", sizeof(attn_encoder_layer_weights), encoder_layer_weights},
    {"encoder_layer_options", sizeof(attn_encoder_layer_options), encoder_layer_options},
    {"attention_layer_options", sizeof(attn_attention_layer_options), attention_layer_options},
    {"transformer_config", sizeof(attn_transformer_config), transformer_config},
    {"transformer_batch", sizeof(attn_transformer_batch), transformer_batch},
    {"kernel_regression_config", sizeof(attn_kernel_regression_config), kernel_regression_config},
    {"seq2seq_config", sizeof(attn_seq2seq_config), seq2seq_config},
    {"training_options", sizeof(attn_training_options), training_options},
    {"training", sizeof(attn_training), training_fields},
    {"schedule", sizeof(attn_schedule), schedule_fields},
    {"decode_options", sizeof(attn_decode_options), decode_options},
};

#define TEXT_OF_STATUS(name, value) \
  ","                               \
  "\"" #name "\":" #value
#define TEXT_OF_CHOICE(name, text) ",\"" text "\""

/* Each list starts with a comma too many, which [1] leaves out. */
static const struct {
  const char *name, *texts;
} choices[] = {
    {"score", &(ATTN_SCORE_LIST(TEXT_OF_CHOICE))[1]},
    {"normalise", &(ATTN_NORMALISE_LIST(TEXT_OF_CHOICE))[1]},
    {"causal", &(ATTN_CAUSAL_LIST(TEXT_OF_CHOICE))[1]},
    {"scale", &(ATTN_SCALE_LIST(TEXT_OF_CHOICE))[1]},
    {"fill", &(ATTN_FILL_LIST(TEXT_OF_CHOICE))[1]},
    {"pairing", &(ATTN_PAIRING_LIST(TEXT_OF_CHOICE))[1]},
    {"activation", &(ATTN_ACTIVATION_LIST(TEXT_OF_CHOICE))[1]},
    {"norm", &(ATTN_NORM_LIST(TEXT_OF_CHOICE))[1]},
    {"distribution", &(ATTN_DISTRIBUTION_LIST(TEXT_OF_CHOICE))[1]},
    {"position", &(ATTN_POSITION_LIST(TEXT_OF_CHOICE))[1]},
    {"reduction", &(ATTN_REDUCTION_LIST(TEXT_OF_CHOICE))[1]},
    {"transformer", &(ATTN_TRANSFORMER_LIST(TEXT_OF_CHOICE))[1]},
    {"initialiser", &(ATTN_INITIALISER_LIST(TEXT_OF_CHOICE))[1]},
    {"cache", &(ATTN_CACHE_LIST(TEXT_OF_CHOICE))[1]},
    {"decode_method", &(ATTN_DECODE_METHOD_LIST(TEXT_OF_CHOICE))[1]},
    {"decode_positions", &(ATTN_DECODE_POSITIONS_LIST(TEXT_OF_CHOICE))[1]},
    {"optimiser", &(ATTN_OPTIMISER_LIST(TEXT_OF_CHOICE))[1]},
    {"schedule", &(ATTN_SCHEDULE_LIST(TEXT_OF_CHOICE))[1]},
    {"kernel", &(ATTN_KERNEL_LIST(TEXT_OF_CHOICE))[1]},
    {"seq2seqAttention", &(ATTN_SEQ2SEQ_ATTENTION_LIST(TEXT_OF_CHOICE))[1]},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

size_t attn_describe(char *out, size_t capacity) {
  attn_text json = attn_text_in(out, capacity);
  attn_text_add(&json, "{\"status\":{%s},\"choices\":{", &(ATTN_STATUS_LIST(TEXT_OF_STATUS))[1]);
  for (size_t i = 0; i < COUNT(choices); i++)
    attn_text_add(&json, "%s\"%s\":[%s]", i ? "," : "", choices[i].name, choices[i].texts);
  attn_text_add(&json,
                "},\"reasons\":{\"validLength\":%d,\"causal\":%d,\"window\":%d,\"cell\":%d,"
                "\"bias\":%d},\"rowFlags\":{\"empty\":%d,\"notFinite\":%d},\"structs\":{",
                ATTN_MASKED_BY_VALID_LENGTH, ATTN_MASKED_BY_CAUSAL, ATTN_MASKED_BY_WINDOW,
                ATTN_MASKED_BY_CELL, ATTN_MASKED_BY_BIAS, ATTN_ROW_EMPTY, ATTN_ROW_NOT_FINITE);
  for (size_t i = 0; i < COUNT(structs); i++) {
    attn_text_add(&json, "%s\"%s\":{\"size\":%d,\"fields\":{", i ? "," : "", structs[i].name,
                  (int)structs[i].size);
    for (const field *f = structs[i].fields; f->name; f++)
      attn_text_add(&json, "%s\"%s\":[%d,\"%s\"]", f == structs[i].fields ? "" : ",", f->name,
                    (int)f->offset, f->kind);
    attn_text_add(&json, "}}");
  }
  attn_text_add(&json, "}}");
  return json.cut ? 0 : json.length;
}
