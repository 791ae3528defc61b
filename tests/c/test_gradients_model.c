/*
 * The gradients of whole Transformers against central differences: of every kind, under dropout,
 * padding and causal masks. All parameters together move along their gradient, where the slope is
 * its length; in double some cells of each move alone too, for which a float's step is too wide.
 * The other models stand in test_seq2seq.c and test_kernel_regression.c.
 */
#include "derivative.h"

enum { BATCH = 2, SOURCE = 4, TARGET = 3, VOCABULARY = 7, CELLS = 6 /* of each parameter */ };

/* Along the gradient the loss bends more than along one cell: a shorter step. In float some unit
 * still crosses relu's corner. */
static const double slope_step = IS_FLOAT ? 0x1p-9 : 4e-6;
static const double slope_slack = IS_FLOAT ? 5e-3 : 1e-8;

static const attn_transformer *model;
static attn_transformer_batch batch;
static attn_tensor *labels;

static attn_tensor *ids(const char *name, int length) {
  attn_tensor *tensor = given(name, SHAPE(BATCH, length));
  for (int i = 0; i < BATCH * length; i++) tensor->data[i] = (attn_real)random_below(VOCABULARY);
  return tensor;
}

static attn_tensor *lengths(const char *name, int first, int second) {
  attn_tensor *tensor = given(name, SHAPE(BATCH));
  tensor->data[0] = (attn_real)first, tensor->data[1] = (attn_real)second;
  return tensor;
}

static attn_tensor *loss(void) {
  return attn_cross_entropy(tape, "loss", attn_transformer_forward(tape, model, &batch, true, 5),
                            labels, NULL, ATTN_REDUCTION_MEAN);
}

/* Moves each parameter by `distance` times its gradient. */
static void move(double distance) {
  for (attn_tensor *x = attn_tape_first(tape); x; x = x->next)
    for (ptrdiff_t i = 0; is_parameter(x) && i < attn_length(x); i++)
      x->data[i] += (attn_real)(distance * x->gradient[i]);
}

static double loss_here(void) {
  attn_tape_rewind(tape);
  const attn_tensor *here = loss();
  return here ? here->data[0] : NAN;
}

static void check_slope(void) {
  attn_tape_keep(tape);
  attn_backward(tape, loss());
  CHECK_OK();
  double square = 0;
  for (const attn_tensor *x = attn_tape_first(tape); x; x = x->next)
    for (ptrdiff_t i = 0; is_parameter(x) && i < attn_length(x); i++)
      square += (double)x->gradient[i] * x->gradient[i];
  const double length = sqrt(square), distance = slope_step / length;
  move(distance);
  const double above = loss_here();
  move(-2 * distance);
  const double below = loss_here();
  move(distance);
  CHECK_NEAR((above - below) / (2 * slope_step), length, length * slope_slack);
}

static void check_model(const attn_transformer_config *config) {
  fresh();
  NOTE("kind %d, norm %d, position %d, activation %d", config->kind, config->norm, config->position,
       config->activation);
  model = attn_transformer_new(tape, config);
  batch = (attn_transformer_batch){ids("source", SOURCE), lengths("source_lengths", 2, 4),
                                   ids("target", TARGET), lengths("target_lengths", 3, 2)};
  labels = ids("labels", config->kind == ATTN_TRANSFORMER_ENCODER ? SOURCE : TARGET);
  check_slope();
  if (!IS_FLOAT) check_gradients(__FILE__, __LINE__, loss, CELLS);
}

static attn_transformer_config config_of(void) {
  attn_transformer_config config = attn_transformer_defaults();
  config.source_vocab = config.target_vocab = VOCABULARY;
  config.hiddens = 8, config.heads = 2, config.feed_forward = 6;
  config.encoder_layers = config.decoder_layers = 2;
  config.max_length = SOURCE;
  config.embedding_dropout = config.attention_dropout = 0.2f;
  config.feed_forward_dropout = config.residual_dropout = 0.2f;
  config.seed = 3;
  return config;
}

static void every_kind_norm_and_position(void) {
  for (int32_t kind = ATTN_TRANSFORMER_ENCODER_DECODER; kind <= ATTN_TRANSFORMER_DECODER; kind++)
    for (int32_t norm = ATTN_NORM_POST; norm <= ATTN_NORM_PRE; norm++)
      for (int32_t position = ATTN_POSITION_NONE; position <= ATTN_POSITION_ALIBI; position++) {
        attn_transformer_config config = config_of();
        config.kind = kind, config.norm = norm, config.position = position;
        config.final_norm = norm == ATTN_NORM_PRE;
        config.activation = position % 2 ? ATTN_ACTIVATION_GELU : ATTN_ACTIVATION_GELU_TANH;
        check_model(&config);
      }
}

static void relu_and_no_bias(void) {
  attn_transformer_config config = config_of();
  config.activation = ATTN_ACTIVATION_RELU;
  config.bias = config.attention_bias = 0;
  check_model(&config);
}

int main(void) {
  RUN(every_kind_norm_and_position);
  RUN(relu_and_no_bias);
  return report();
}
