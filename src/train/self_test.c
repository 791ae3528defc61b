/* The known answer of learning: each model trained for 20 steps on fixed batches, with dropout, and
 * every bit of every step in one hash: what was computed, the gradients, the parameters after it.
 *
 * With that of models/self_test.c it tells that a seed names one course of training everywhere. */
#include "ops/ops.h"
#include "tape/hash.h"

enum { STEPS = 20, SENTENCES = 3, TOKENS = 5, VOCABULARY = 11 };

static uint32_t hash_step(uint32_t hash, const attn_tape *tape) {
  for (const attn_tensor *tensor = attn_tape_first(tape); tensor; tensor = tensor->next) {
    hash = attn_hash_numbers(hash, tensor->data, attn_length(tensor));
    if (tensor->gradient) hash = attn_hash_numbers(hash, tensor->gradient, attn_length(tensor));
  }
  return attn_hash_word(hash, (uint32_t)attn_tape_status(tape));
}

static attn_tensor *input(attn_tape *tape, const char *name, attn_shape shape) {
  return attn_input(tape, name, shape.rank, shape.size, shape.axes);
}

/* Ids that differ from sentence to sentence and from step to step. */
static attn_tensor *ids(attn_tape *tape, const char *name, int32_t step, int32_t factor) {
  attn_tensor *out = input(tape, name, attn_shape2("B", SENTENCES, "T", TOKENS));
  if (!out) return NULL;
  for (int32_t i = 0; i < SENTENCES * TOKENS; i++)
    out->data[i] = (attn_real)((i * factor + step % 4 + i / TOKENS) % VOCABULARY);
  return attn_input_ready(tape, out);
}

static attn_tensor *lengths(attn_tape *tape, const char *name, int32_t longest) {
  attn_tensor *out = input(tape, name, attn_shape1("B", SENTENCES));
  if (!out) return NULL;
  for (int32_t b = 0; b < SENTENCES; b++) out->data[b] = (attn_real)(longest - b);
  return attn_input_ready(tape, out);
}

typedef struct translation {
  const attn_transformer *transformer; /* or */
  const attn_seq2seq *seq2seq;
} translation;

static uint32_t test_translation(uint32_t hash, attn_tape *tape, translation model,
                                 const attn_training_options *options, int32_t reduction) {
  attn_training *training = attn_training_new(tape);
  if (!training) return 0;
  attn_tape_keep(tape);
  const attn_schedule schedule = {.kind = ATTN_SCHEDULE_COSINE,
                                  .rate = options->learning_rate,
                                  .warm_up = 3,
                                  .every = 1,
                                  .total = STEPS};
  for (int32_t step = 0; step < STEPS; step++) {
    attn_tape_rewind(tape);
    attn_transformer_batch batch;
    batch.source = ids(tape, "source", step, 3);
    batch.source_lengths = lengths(tape, "source_lengths", TOKENS);
    batch.target = ids(tape, "target", step, 5);
    batch.target_lengths = lengths(tape, "target_lengths", TOKENS - 1);
    const attn_tensor *logits =
        model.transformer
            ? attn_transformer_forward(tape, model.transformer, &batch, true, (uint32_t)step)
            : attn_seq2seq_forward(tape, model.seq2seq, &batch, true, (uint32_t)step);
    attn_tensor *loss = attn_cross_entropy(tape, "loss", logits, ids(tape, "labels", step, 4),
                                           batch.target_lengths, reduction);
    attn_training_options now = *options;
    now.learning_rate = attn_learning_rate(tape, &schedule, step);
    attn_train_step(tape, training, loss, &now);
    hash = hash_step(hash, tape);
  }
  return hash;
}

static uint32_t test_transformer(uint32_t hash, attn_tape *tape, int32_t norm, int32_t position) {
  attn_tape_reset(tape);
  attn_transformer_config config = attn_transformer_defaults();
  config.source_vocab = config.target_vocab = VOCABULARY;
  config.hiddens = 12;
  config.heads = 2;
  config.feed_forward = 10;
  config.encoder_layers = config.decoder_layers = 1;
  config.norm = norm;
  config.final_norm = norm == ATTN_NORM_PRE;
  config.activation = norm == ATTN_NORM_PRE ? ATTN_ACTIVATION_GELU : ATTN_ACTIVATION_RELU;
  config.position = position;
  config.max_length = TOKENS;
  config.embedding_dropout = config.attention_dropout = 0.1f;
  config.feed_forward_dropout = config.residual_dropout = 0.1f;
  const translation model = {.transformer = attn_transformer_new(tape, &config)};
  attn_training_options options = attn_training_defaults();
  options.learning_rate = 0.01f;
  options.clip = 1;
  return test_translation(hash, tape, model, &options, ATTN_REDUCTION_MEAN);
}

static uint32_t test_seq2seq(uint32_t hash, attn_tape *tape, int32_t attention) {
  attn_tape_reset(tape);
  attn_seq2seq_config config = attn_seq2seq_defaults();
  config.attention = attention;
  config.source_vocab = config.target_vocab = VOCABULARY;
  config.embedding = 6;
  config.hiddens = 7;
  config.dropout = 0.1f;
  const translation model = {.seq2seq = attn_seq2seq_new(tape, &config)};
  attn_training_options options = attn_training_defaults();
  options.optimiser = ATTN_OPTIMISER_ADAMW;
  options.learning_rate = 0.02f;
  options.weight_decay = 0.01f;
  return test_translation(hash, tape, model, &options, ATTN_REDUCTION_D2L_V1);
}

static uint32_t test_kernel(uint32_t hash, attn_tape *tape, int32_t kernel) {
  attn_tape_reset(tape);
  attn_kernel_regression_config config = attn_kernel_regression_defaults();
  config.kernel = kernel;
  config.learned = 1;
  const attn_kernel_regression *model = attn_kernel_regression_new(tape, &config);
  const attn_shape shape = attn_shape4("B", 1, "h", 1, "T", 13, "D", 1);
  attn_tensor *x = attn_fill_uniform(tape, input(tape, "x", shape), 5, 0, 2);
  attn_tensor *y = attn_fill_normal(tape, input(tape, "y", shape), 5, 1);
  attn_training *training = attn_training_new(tape);
  if (!model || !x || !y || !training) return 0;
  attn_tape_keep(tape);
  attn_training_options options = attn_training_defaults();
  options.optimiser = ATTN_OPTIMISER_SGD;
  options.learning_rate = 0.02f;
  options.momentum = 0.5f;
  for (int32_t step = 0; step < STEPS; step++) {
    attn_tape_rewind(tape);
    const attn_tensor *output = attn_kernel_regression_forward(tape, model, x, x, y, true);
    attn_train_step(tape, training, attn_squared_error(tape, "loss", output, y, ATTN_REDUCTION_SUM),
                    &options);
    hash = hash_step(hash, tape);
  }
  return hash;
}

uint32_t attn_training_test(attn_tape *tape) {
  uint32_t hash = ATTN_HASH_SEED;
  hash = test_transformer(hash, tape, ATTN_NORM_POST, ATTN_POSITION_SINUSOIDAL);
  hash = test_transformer(hash, tape, ATTN_NORM_PRE, ATTN_POSITION_ROTARY);
  for (int32_t attention = 0; attention <= ATTN_SEQ2SEQ_ATTENTION_BAHDANAU; attention++)
    hash = test_seq2seq(hash, tape, attention);
  hash = test_kernel(hash, tape, ATTN_KERNEL_GAUSSIAN);
  hash = test_kernel(hash, tape, ATTN_KERNEL_TRICUBE);
  attn_tape_reset(tape);
  return hash;
}
