/*
 * Twenty steps of training give the same bits everywhere: this program's builds are held to the
 * constants below, and tests/node/trained-bits.test.js, which reads them here and trains the same
 * models, both binaries. Each hash is that of every step's loss and gradient norm, then of every
 * parameter, in the order of the tape.
 */
#include "fixture.h"

enum { BATCH = 5, LENGTH = 7, VOCABULARY = 13, STEPS = 20 };

static uint32_t hash;

static void add_bits(attn_real number) {
  uint32_t word;
  memcpy(&word, &number, sizeof word);
  hash = (hash ^ word) * 16777619u;
  hash ^= hash >> 15; /* without it two flipped signs cancel */
}

/* ids[b, t] = (7 b + 3 t + salt) mod VOCABULARY */
static attn_tensor *ids(const char *name, int salt) {
  attn_tensor *tensor = attn_input(tape, name, SHAPE(BATCH, LENGTH), (const char *[]){"B", "T"});
  for (int i = 0; i < BATCH * LENGTH; i++)
    tensor->data[i] = (attn_real)((7 * (i / LENGTH) + 3 * (i % LENGTH) + salt) % VOCABULARY);
  return attn_input_ready(tape, tensor);
}

/* lengths[b] = 3 + b */
static attn_tensor *lengths(const char *name) {
  attn_tensor *tensor = attn_input(tape, name, SHAPE(BATCH), (const char *[]){"B"});
  for (int b = 0; b < BATCH; b++) tensor->data[b] = (attn_real)(3 + b);
  return attn_input_ready(tape, tensor);
}

static uint32_t trained(const attn_transformer_config *config,
                        const attn_training_options *options) {
  fresh();
  hash = 1;
  const attn_transformer *model = attn_transformer_new(tape, config);
  attn_training *training = attn_training_new(tape);
  attn_tape_keep(tape);
  const bool decodes = config->kind != ATTN_TRANSFORMER_ENCODER;
  for (int step = 0; step < STEPS; step++) {
    attn_tape_rewind(tape);
    const attn_tensor *source_lengths = lengths("source_lengths");
    const attn_tensor *target_lengths = decodes ? lengths("target_lengths") : NULL;
    const attn_transformer_batch batch = {ids("source", step), source_lengths,
                                          decodes ? ids("target", step + 1) : NULL, target_lengths};
    const attn_tensor *logits = attn_transformer_forward(tape, model, &batch, true, step);
    attn_tensor *loss =
        attn_cross_entropy(tape, "loss", logits, ids("labels", step + 2),
                           decodes ? target_lengths : source_lengths, ATTN_REDUCTION_MEAN);
    attn_train_step(tape, training, loss, options);
    add_bits(training->loss);
    add_bits(training->gradient_norm);
  }
  CHECK_OK();
  for (int32_t i = 0; i < training->parameter_count; i++)
    for (ptrdiff_t j = 0; j < attn_length(training->parameters[i]); j++)
      add_bits(training->parameters[i]->data[j]);
  return hash;
}

static attn_transformer_config config_of(void) {
  attn_transformer_config config = attn_transformer_defaults();
  config.source_vocab = config.target_vocab = VOCABULARY;
  config.hiddens = 12, config.heads = 2, config.feed_forward = 20;
  config.embedding_dropout = config.attention_dropout = 0.1f;
  config.feed_forward_dropout = config.residual_dropout = 0.1f;
  config.seed = 3;
  return config;
}

#define POST_RELU_ADAM 0x14bca4feu
#define PRE_GELU_ADAMW 0x66de5b1eu
#define ENCODER_SGD 0xfaffb2ccu

static void an_encoder_and_decoder_as_d2l_has_them(void) {
  attn_transformer_config config = config_of();
  config.initialiser = ATTN_INITIALISER_XAVIER;
  config.attention_bias = 0;
  attn_training_options options = attn_training_defaults();
  options.learning_rate = 0.005f;
  options.clip = 1;
  CHECK_EQUAL(trained(&config, &options), POST_RELU_ADAM);
}

static void norms_first_rotary_positions_and_weight_decay(void) {
  attn_transformer_config config = config_of();
  config.norm = ATTN_NORM_PRE, config.final_norm = 1;
  config.activation = ATTN_ACTIVATION_GELU;
  config.position = ATTN_POSITION_ROTARY;
  attn_training_options options = attn_training_defaults();
  options.optimiser = ATTN_OPTIMISER_ADAMW;
  options.weight_decay = 0.01f;
  CHECK_EQUAL(trained(&config, &options), PRE_GELU_ADAMW);
}

static void an_encoder_with_learned_positions_and_momentum(void) {
  attn_transformer_config config = config_of();
  config.kind = ATTN_TRANSFORMER_ENCODER;
  config.activation = ATTN_ACTIVATION_GELU_TANH;
  config.position = ATTN_POSITION_LEARNED, config.max_length = LENGTH;
  attn_training_options options = attn_training_defaults();
  options.optimiser = ATTN_OPTIMISER_SGD;
  options.momentum = 0.9f, options.learning_rate = 0.05f;
  CHECK_EQUAL(trained(&config, &options), ENCODER_SGD);
}

int main(void) {
  RUN(an_encoder_and_decoder_as_d2l_has_them);
  RUN(norms_first_rotary_positions_and_weight_decay);
  RUN(an_encoder_with_learned_positions_and_momentum);
  return report();
}
