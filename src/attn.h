/* Attention Playground, the core: attention and the layers around it, forward and backward, on a
 * tape.
 *
 *   output = normalise(mask(score(query, key) × scale ÷ temperature + bias)) · value
 *
 * A caller hands over one block of memory; a tape lives in it. Each function below runs at once,
 * writes its result into a new tensor on the tape and returns that tensor, so that every number on
 * the way has a name, a shape, axis letters and sources, and can be overridden (see attn_override).
 *
 * Memory. The block stays the caller's. The core never allocates: tensors are bumped from the block
 * and dropped whole by attn_tape_reset; attn_tape_keep and attn_tape_rewind let the parameters of a
 * model stay while the steps on them come and go. All size arithmetic is checked.
 *
 * Gradients. attn_backward walks the tape back from a loss and adds to each parameter's gradient.
 *
 * Errors. A function that fails returns NULL (or a negative attn_status) and leaves a status and a
 * message on the tape that names the offending numbers. Until the next attn_tape_reset every later
 * call on that tape returns NULL too, so a chain of calls needs one check at its end. NULL for a
 * tensor or a model that is not optional is such a failure.
 *
 * Sizes, one letter each, as in every shape comment of the sources:
 *   B batch     T length (Tq queries, Tk keys)     H hiddens     h heads     D = H / h
 *   Dq, Dk, Dv widths of query, key and value where they may differ          F feed-forward
 *   A hidden width of the additive score
 */
#ifndef ATTN_H
#define ATTN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every tensor holds attn_real. The double build serves tests only. */
#ifdef ATTN_DOUBLE
typedef double attn_real;
#else
typedef float attn_real;
#endif

/* ---- status ------------------------------------------------------------------------------- */

#define ATTN_STATUS_LIST(X)                                                                \
  X(OK, 0)          /* all is well */                                                      \
  X(BAD_SHAPE, -1)  /* tensors whose shapes do not fit each other, or a size below zero */ \
  X(BAD_VALUE, -2)  /* an option or an element out of its range */                         \
  X(TOO_BIG, -3)    /* a tensor above ATTN_MAX_BYTES */                                    \
  X(NO_MEMORY, -4)  /* the block is full and cannot grow */                                \
  X(NOT_FOUND, -5)  /* a name that no tensor has */                                        \
  X(NOT_FINITE, -6) /* a loss or a gradient that is NaN or infinite */

typedef enum attn_status {
#define ATTN_STATUS(name, value) ATTN_##name = (value),
  ATTN_STATUS_LIST(ATTN_STATUS)
#undef ATTN_STATUS
} attn_status;

#define ATTN_MAX_BYTES (512u << 20)

/* ---- tape --------------------------------------------------------------------------------- */

#define ATTN_MAX_RANK 4
#define ATTN_MAX_INPUTS 8

typedef struct attn_tape attn_tape;

/* A tensor, contiguous, last axis fastest, and the step of the tape that wrote it. */
typedef struct attn_tensor {
  attn_real *data;
  attn_real *gradient; /* as long as data; NULL where no attn_backward has come by */
  int32_t rank;
  int32_t shape[ATTN_MAX_RANK];
  const char *axes[ATTN_MAX_RANK]; /* axis letters: "B", "h", "Tq", … */
  int32_t sum_axis;                /* the axis along which the elements sum to 1, or -1 */
  const char *name;                /* dotted: "encoder.0.attention.weights" */
  const char *op;                  /* "linear", "masked_softmax", … */
  int32_t input_count;
  struct attn_tensor *inputs[ATTN_MAX_INPUTS];
  struct attn_tensor *next, *previous; /* in the order of computation */

  /* An input with this set takes part in attn_backward; what is computed from it inherits it. */
  int32_t requires_gradient;
  int32_t overridden; /* in some cell */
  /* Adds to the gradients of the inputs what the output's gradient says; NULL: constant. */
  void (*backward)(attn_tape *tape, const struct attn_tensor *output);
  const void *attributes; /* what backward needs besides inputs and output */
} attn_tensor;

/* Asked for a block of at least `bytes` in all, starting at the same address; returns the new size,
 * or 0 when there is no more. */
typedef size_t (*attn_grow)(size_t bytes);

/* Makes a tape inside block; NULL when even its head does not fit. `grow` may be NULL. */
attn_tape *attn_tape_new(void *block, size_t size, attn_grow grow);

/* Drops all tensors, overrides and errors. */
void attn_tape_reset(attn_tape *tape);

/* What is on the tape now stays through attn_tape_rewind, which drops all that came later: tensors,
 * their gradients, overrides, and any error. */
void attn_tape_keep(attn_tape *tape);
void attn_tape_rewind(attn_tape *tape);

attn_status attn_tape_status(const attn_tape *tape);
const char *attn_tape_message(const attn_tape *tape);
const char *attn_tape_option(
    const attn_tape *tape); /* the option at fault, "" when there is none */
attn_tensor *attn_tape_first(const attn_tape *tape);
attn_tensor *attn_tape_find(const attn_tape *tape, const char *name); /* NULL when there is none */

/* Bytes that live until the next reset, aligned for attn_real vectors; NULL when memory is out. */
void *attn_tape_take(attn_tape *tape, size_t bytes);

/* Names made until attn_scope_leave(tape, what attn_scope_enter returned) start with "scope.". */
int32_t attn_scope_enter(attn_tape *tape, const char *scope);
void attn_scope_leave(attn_tape *tape, int32_t previous);

/* A tensor for the caller to fill. axes: rank letters. Call attn_input_ready once it is filled. */
attn_tensor *attn_input(attn_tape *tape, const char *name, int32_t rank, const int32_t *shape,
                        const char *const *axes);
attn_tensor *attn_input_ready(attn_tape *tape, attn_tensor *input);

/* From now on, right after a tensor called `name` is written, its element `at` becomes `value`;
 * what is computed from it later uses the new value. at[i] = -1 means the whole of axis i. */
attn_status attn_override(attn_tape *tape, const char *name, int32_t rank, const int32_t *at,
                          attn_real value);

/* Fails with ATTN_NOT_FOUND when an override named no tensor on the tape: call it at the end. */
attn_status attn_overrides_check(attn_tape *tape);

/* Adds d loss / d x to the gradient of every parameter and input x that requires one; loss has one
 * element. No gradient flows through an overridden cell. On the way each tensor in between gets a
 * gradient of this sweep alone, readable until the next sweep or rewind. */
attn_status attn_backward(attn_tape *tape, attn_tensor *loss);

/* Sets all gradients to 0. */
void attn_gradients_zero(attn_tape *tape);

/* ---- options ------------------------------------------------------------------------------ */

/* Each list gives the C name and the name callers write. */
#define ATTN_SCORE_LIST(X)                                                          \
  X(SCALED_DOT, "scaled-dot") /* q·k, scale 1/√D unless told otherwise */        \
  X(DOT, "dot")               /* q·k (Luong et al. 2015, "dot") */                 \
  X(ADDITIVE, "additive")     /* w_v·tanh(W_q q + W_k k) (Bahdanau et al. 2015) */ \
  X(GENERAL, "general")       /* qᵀ W k (Luong et al. 2015, "general") */         \
  X(COSINE, "cosine")         /* q·k ÷ (|q| |k|), 0 where a norm is 0 */          \
  X(GAUSSIAN, "gaussian")     /* -½ |(q - k) w|² (D2L "Attention Pooling") */

#define ATTN_NORMALISE_LIST(X)                              \
  X(SOFTMAX, "softmax") /* rows sum to 1 */                 \
  X(SIGMOID, "sigmoid") /* each cell 1 ÷ (1 + e^-score) */ \
  X(RELU, "relu")       /* each cell max(0, score) */

#define ATTN_CAUSAL_LIST(X)                                                   \
  X(NONE, "none")                                                             \
  X(BOTTOM_RIGHT, "bottom-right") /* the last query stands at the last key */ \
  X(TOP_LEFT, "top-left")         /* the first query stands at the first key */

#define ATTN_SCALE_LIST(X)                                                   \
  X(DEFAULT, "default") /* 1/√D for scaled-dot, 1 for every other score */ \
  X(OFF, "off")                                                              \
  X(GIVEN, "given")

#define ATTN_FILL_LIST(X)                                                         \
  X(EXCLUDE, "exclude") /* masked cells take no part; an empty row gives zeros */ \
  X(GIVEN, "given")     /* masked scores are replaced by `fill`, as D2L and PyTorch */

#define ATTN_PAIRING_LIST(X)                                 \
  X(NONE, "none")                                            \
  X(HALVES, "halves")           /* element i with i + D/2 */ \
  X(INTERLEAVED, "interleaved") /* element 2i with 2i + 1 */

#define ATTN_ACTIVATION_LIST(X)                        \
  X(RELU, "relu")                                      \
  X(GELU, "gelu")           /* ½x(1 + erf(x/√2)) */ \
  X(GELU_TANH, "gelu-tanh") /* ½x(1 + tanh(√(2/π)(x + 0.044715x³))) */

#define ATTN_NORM_LIST(X)                                      \
  X(POST, "post") /* norm(x + sublayer(x)) (Vaswani et al.) */ \
  X(PRE, "pre")   /* x + sublayer(norm(x)) */

#define ATTN_DISTRIBUTION_LIST(X)                \
  X(NORMAL, "normal")   /* mean 0, variance 1 */ \
  X(UNIFORM, "uniform") /* [0, 1) */             \
  X(XAVIER, "xavier")   /* uniform ±√(6 ÷ (in + out)), shape [out, in] */

#define ATTN_POSITION_LIST(X)                              \
  X(NONE, "none")                                          \
  X(SINUSOIDAL, "sinusoidal") /* added to the embedding */ \
  X(LEARNED, "learned")       /* a random table, added */  \
  X(ROTARY, "rotary")         /* turns query and key */    \
  X(ALIBI, "alibi")           /* a bias falling with the distance */

#define ATTN_REDUCTION_LIST(X)                                                   \
  X(SUM, "sum")                                                                  \
  X(MEAN, "mean")     /* the sum ÷ the number of counted tokens, of elements */ \
  X(D2L_V1, "d2l-v1") /* each sequence's sum ÷ T, padding included, and the sum of these */

#define ATTN_TRANSFORMER_LIST(X)                                                        \
  X(ENCODER_DECODER, "encoder-decoder") /* source → target (Vaswani et al. 2017) */   \
  X(ENCODER, "encoder")                 /* source → a guess for each of its tokens */ \
  X(DECODER, "decoder")                 /* target → its next token */

#define ATTN_INITIALISER_LIST(X)                                                        \
  X(TORCH, "torch")   /* as nn.Transformer, nn.Embedding and nn.Linear by themselves */ \
  X(XAVIER, "xavier") /* as D2L: each linear weight by itself ±√(6 ÷ (in + out)) */

#define ATTN_CACHE_LIST(X)                                                            \
  X(NONE, "none")                       /* each step reads all tokens so far again */ \
  X(REPRESENTATIONS, "representations") /* the inputs of self-attention stay (D2L) */ \
  X(KEYS_VALUES, "keys-values")         /* projected keys and values stay */

#define ATTN_DECODE_POSITIONS_LIST(X)                                                             \
  X(CORRECT, "correct") /* each token's own */                                                    \
  X(AS_D2L, "as-d2l")   /* with a cache, the new tokens start at 0 again; of recurrent units, the \
                           context is not the source's but the decoder's state so far */

#define ATTN_DECODE_METHOD_LIST(X)                      \
  X(GREEDY, "greedy") /* always the likeliest token */  \
  X(BEAM, "beam")     /* the likeliest few sentences */ \
  X(SAMPLE, "sample") /* a token by its probability */

#define ATTN_OPTIMISER_LIST(X) \
  X(SGD, "sgd")                \
  X(ADAM, "adam")              \
  X(ADAMW, "adamw")

#define ATTN_SCHEDULE_LIST(X)                                 \
  X(CONSTANT, "constant")                                     \
  X(STEP, "step")     /* × factor every so many steps */     \
  X(COSINE, "cosine") /* down to last_rate at step `total` */ \
  X(INVERSE_SQUARE_ROOT, "inverse-square-root")

#define ATTN_KERNEL_LIST(X)                                                        \
  X(AVERAGE, "average")           /* every key alike */                            \
  X(GAUSSIAN, "gaussian")         /* e^(-u²/2) */                                 \
  X(BOXCAR, "boxcar")             /* 1 within u < 1, as the next three 0 beyond */ \
  X(TRIANGULAR, "triangular")     /* 1 - u; D2L calls it Epanechikov */            \
  X(EPANECHNIKOV, "epanechnikov") /* 1 - u² (Epanechnikov 1969) */                \
  X(TRICUBE, "tricube")           /* (1 - u³)³ */

#define ATTN_SEQ2SEQ_ATTENTION_LIST(X)                                                \
  X(NONE, "none")         /* the encoder's last state is the context of every step */ \
  X(BAHDANAU, "bahdanau") /* each step attends to all of the encoder's states */

#define ATTN_CHOICE_ENUM(prefix, list) typedef enum prefix { list } prefix;
#define ATTN_SCORE_ENUM(name, text) ATTN_SCORE_##name,
#define ATTN_NORMALISE_ENUM(name, text) ATTN_NORMALISE_##name,
#define ATTN_CAUSAL_ENUM(name, text) ATTN_CAUSAL_##name,
#define ATTN_SCALE_ENUM(name, text) ATTN_SCALE_##name,
#define ATTN_FILL_ENUM(name, text) ATTN_FILL_##name,
#define ATTN_PAIRING_ENUM(name, text) ATTN_PAIRING_##name,
#define ATTN_ACTIVATION_ENUM(name, text) ATTN_ACTIVATION_##name,
#define ATTN_NORM_ENUM(name, text) ATTN_NORM_##name,
#define ATTN_DISTRIBUTION_ENUM(name, text) ATTN_DISTRIBUTION_##name,
#define ATTN_POSITION_ENUM(name, text) ATTN_POSITION_##name,
#define ATTN_REDUCTION_ENUM(name, text) ATTN_REDUCTION_##name,
#define ATTN_TRANSFORMER_ENUM(name, text) ATTN_TRANSFORMER_##name,
#define ATTN_INITIALISER_ENUM(name, text) ATTN_INITIALISER_##name,
#define ATTN_CACHE_ENUM(name, text) ATTN_CACHE_##name,
#define ATTN_DECODE_POSITIONS_ENUM(name, text) ATTN_DECODE_POSITIONS_##name,
#define ATTN_DECODE_METHOD_ENUM(name, text) ATTN_DECODE_METHOD_##name,
#define ATTN_OPTIMISER_ENUM(name, text) ATTN_OPTIMISER_##name,
#define ATTN_SCHEDULE_ENUM(name, text) ATTN_SCHEDULE_##name,
#define ATTN_KERNEL_ENUM(name, text) ATTN_KERNEL_##name,
#define ATTN_SEQ2SEQ_ATTENTION_ENUM(name, text) ATTN_SEQ2SEQ_ATTENTION_##name,
ATTN_CHOICE_ENUM(attn_score, ATTN_SCORE_LIST(ATTN_SCORE_ENUM))
ATTN_CHOICE_ENUM(attn_normalise, ATTN_NORMALISE_LIST(ATTN_NORMALISE_ENUM))
ATTN_CHOICE_ENUM(attn_causal, ATTN_CAUSAL_LIST(ATTN_CAUSAL_ENUM))
ATTN_CHOICE_ENUM(attn_scale, ATTN_SCALE_LIST(ATTN_SCALE_ENUM))
ATTN_CHOICE_ENUM(attn_fill, ATTN_FILL_LIST(ATTN_FILL_ENUM))
ATTN_CHOICE_ENUM(attn_pairing, ATTN_PAIRING_LIST(ATTN_PAIRING_ENUM))
ATTN_CHOICE_ENUM(attn_activation, ATTN_ACTIVATION_LIST(ATTN_ACTIVATION_ENUM))
ATTN_CHOICE_ENUM(attn_norm, ATTN_NORM_LIST(ATTN_NORM_ENUM))
ATTN_CHOICE_ENUM(attn_distribution, ATTN_DISTRIBUTION_LIST(ATTN_DISTRIBUTION_ENUM))
ATTN_CHOICE_ENUM(attn_position, ATTN_POSITION_LIST(ATTN_POSITION_ENUM))
ATTN_CHOICE_ENUM(attn_reduction, ATTN_REDUCTION_LIST(ATTN_REDUCTION_ENUM))
ATTN_CHOICE_ENUM(attn_transformer_kind, ATTN_TRANSFORMER_LIST(ATTN_TRANSFORMER_ENUM))
ATTN_CHOICE_ENUM(attn_initialiser, ATTN_INITIALISER_LIST(ATTN_INITIALISER_ENUM))
ATTN_CHOICE_ENUM(attn_cache, ATTN_CACHE_LIST(ATTN_CACHE_ENUM))
ATTN_CHOICE_ENUM(attn_decode_positions, ATTN_DECODE_POSITIONS_LIST(ATTN_DECODE_POSITIONS_ENUM))
ATTN_CHOICE_ENUM(attn_decode_method, ATTN_DECODE_METHOD_LIST(ATTN_DECODE_METHOD_ENUM))
ATTN_CHOICE_ENUM(attn_optimiser, ATTN_OPTIMISER_LIST(ATTN_OPTIMISER_ENUM))
ATTN_CHOICE_ENUM(attn_schedule_kind, ATTN_SCHEDULE_LIST(ATTN_SCHEDULE_ENUM))
ATTN_CHOICE_ENUM(attn_kernel, ATTN_KERNEL_LIST(ATTN_KERNEL_ENUM))
ATTN_CHOICE_ENUM(attn_seq2seq_attention, ATTN_SEQ2SEQ_ATTENTION_LIST(ATTN_SEQ2SEQ_ATTENTION_ENUM))

/* Why a cell may not be attended to; the bits of the tensor `mask`. */
enum {
  ATTN_MASKED_BY_VALID_LENGTH = 1,
  ATTN_MASKED_BY_CAUSAL = 2,
  ATTN_MASKED_BY_WINDOW = 4,
  ATTN_MASKED_BY_CELL = 8,
  ATTN_MASKED_BY_BIAS = 16
};

/* Bits of the tensor `row_flags`. */
enum { ATTN_ROW_EMPTY = 1, ATTN_ROW_NOT_FINITE = 2 };

/* Options of one attention call. Zeroed memory with temperature 1, window_left and window_right -1
 * and rotary_base 10000 is the default: attn_attention_defaults. */
typedef struct attn_attention_options {
  int32_t score;     /* attn_score */
  int32_t normalise; /* attn_normalise */
  int32_t causal;    /* attn_causal */
  /* Key j is inside the window of a query at position p when p - left <= j <= p + right; -1 is no
   * limit. The first global_tokens positions see, and are seen from, everywhere. */
  int32_t window_left, window_right, global_tokens;
  int32_t scale_mode; /* attn_scale */
  float scale;
  float temperature; /* > 0 */
  int32_t fill_mode; /* attn_fill */
  float fill;
  float dropout;        /* of the weights, [0, 1) */
  uint32_t seed;        /* of the dropout */
  int32_t need_weights; /* 0: the fused path may be taken, which never stores Tq × Tk */
  int32_t heads;        /* of multi-head attention */
  int32_t rotary;       /* attn_pairing; of multi-head attention */
  float rotary_base;
  const attn_tensor *valid_lengths;      /* [B] or [B, 1 | Tq]; whole numbers 0..Tk */
  const attn_tensor *mask;               /* [B|1, h|1, Tq|1, Tk|1]; not 0: may attend */
  const attn_tensor *bias;               /* [B|1, h|1, Tq|1, Tk|1]; added, -inf masks */
  const attn_tensor *alibi_slopes;       /* [h]; adds -slope |p - j| */
  const attn_tensor *head_mask;          /* [h]; multiplies the heads' outputs */
  const attn_tensor *score_query_weight; /* additive: W_q [A, Dq] */
  const attn_tensor *score_key_weight;   /* additive: W_k [A, Dk] */
  const attn_tensor *score_value_weight; /* additive: w_v [1, A] */
  const attn_tensor *score_weight;       /* general: W [Dq, Dk] */
  const attn_tensor *score_width;        /* gaussian: w [1], 1 when NULL */
} attn_attention_options;

attn_attention_options attn_attention_defaults(void);

/* Weights in PyTorch's layout, [out, in]; each bias [out] may be NULL. */
typedef struct attn_multi_head_weights {
  const attn_tensor *query_weight, *query_bias;   /* [H, Dq], [H] */
  const attn_tensor *key_weight, *key_bias;       /* [H, Dk], [H] */
  const attn_tensor *value_weight, *value_bias;   /* [H, Dv], [H] */
  const attn_tensor *output_weight, *output_bias; /* [out, H], [out] */
} attn_multi_head_weights;

typedef struct attn_feed_forward_weights {
  const attn_tensor *linear1_weight, *linear1_bias; /* [F, H], [F] */
  const attn_tensor *linear2_weight, *linear2_bias; /* [H, F], [H] */
} attn_feed_forward_weights;

typedef struct attn_encoder_layer_weights {
  attn_multi_head_weights attention;
  const attn_tensor *norm1_weight, *norm1_bias; /* [H]; NULL: 1 and 0 */
  const attn_tensor *norm2_weight, *norm2_bias;
  attn_feed_forward_weights feed_forward;
} attn_encoder_layer_weights;

typedef struct attn_encoder_layer_options {
  attn_attention_options attention;
  int32_t norm;                                 /* attn_norm */
  int32_t activation;                           /* attn_activation */
  float eps;                                    /* of the layer norms, > 0; default 1e-5 */
  float feed_forward_dropout, residual_dropout; /* [0, 1), by attention.seed */
} attn_encoder_layer_options;

attn_encoder_layer_options attn_encoder_layer_defaults(void);

typedef struct attn_decoder_layer_weights {
  attn_multi_head_weights self_attention, cross_attention;
  const attn_tensor *norm1_weight, *norm1_bias; /* [H]; NULL: 1 and 0 */
  const attn_tensor *norm2_weight, *norm2_bias;
  const attn_tensor *norm3_weight, *norm3_bias;
  attn_feed_forward_weights feed_forward;
} attn_decoder_layer_weights;

typedef struct attn_decoder_layer_options {
  attn_attention_options self_attention, cross_attention; /* default: the first is causal */
  int32_t norm;
  int32_t activation;
  float eps;
  float feed_forward_dropout, residual_dropout; /* by self_attention.seed */
} attn_decoder_layer_options;

attn_decoder_layer_options attn_decoder_layer_defaults(void);

typedef struct attn_attention_layer_options {
  attn_attention_options attention;
  int32_t hiddens;         /* H */
  int32_t position;        /* attn_position */
  int32_t bias;            /* 1: the four projections have biases */
  uint32_t parameter_seed; /* of embeddings and weights */
} attn_attention_layer_options;

attn_attention_layer_options attn_attention_layer_defaults(void);

/* Sizes and choices of a Transformer. What its kind has no use for is not looked at. */
typedef struct attn_transformer_config {
  int32_t kind;                         /* attn_transformer_kind */
  int32_t source_vocab, target_vocab;   /* V of the encoder's and of the decoder's tokens */
  int32_t hiddens, heads, feed_forward; /* H, h, F */
  int32_t encoder_layers, decoder_layers;
  int32_t norm;                                 /* attn_norm */
  int32_t final_norm;                           /* 1: one more norm behind each stack of layers */
  int32_t activation;                           /* attn_activation */
  int32_t position;                             /* attn_position */
  int32_t max_length;                           /* T that sinusoidal and learned positions reach */
  int32_t bias;                                 /* 0: linear layers and norms have none */
  int32_t attention_bias;                       /* 0: the projections of attention have none */
  int32_t embedding_scale;                      /* 1: embeddings × √H */
  float embedding_dropout, attention_dropout;   /* [0, 1); of embedding + position, of weights */
  float feed_forward_dropout, residual_dropout; /* of the F units, of each sublayer's output */
  int32_t initialiser;                          /* attn_initialiser */
  uint32_t seed;                                /* of the initial parameters */
} attn_transformer_config;

attn_transformer_config attn_transformer_defaults(void);

/* Ids and lengths, whole numbers. Lengths may be NULL: then no token is padding. */
typedef struct attn_transformer_batch {
  const attn_tensor *source, *source_lengths; /* [B, Ts], [B]; not looked at by a decoder */
  const attn_tensor *target, *target_lengths; /* [B, Tt], [B]; not looked at by an encoder */
} attn_transformer_batch;

typedef struct attn_transformer attn_transformer;

typedef struct attn_kernel_regression_config {
  int32_t kernel;  /* attn_kernel */
  int32_t learned; /* 1: the width is a parameter */
  float width; /* multiplies distances; of a learned one where it starts, 0: drawn from [0, 1) */
  uint32_t seed;
} attn_kernel_regression_config;

attn_kernel_regression_config attn_kernel_regression_defaults(void);

typedef struct attn_kernel_regression attn_kernel_regression;

/* Sizes of a sequence-to-sequence model of recurrent units. */
typedef struct attn_seq2seq_config {
  int32_t attention;                  /* attn_seq2seq_attention */
  int32_t source_vocab, target_vocab; /* V of either side */
  int32_t embedding, hiddens;         /* E, H */
  int32_t layers;                     /* of the encoder and of the decoder */
  float dropout;                      /* [0, 1); between layers and of the weights */
  int32_t initialiser;                /* attn_initialiser; default xavier */
  uint32_t seed;                      /* of the initial parameters */
} attn_seq2seq_config;

attn_seq2seq_config attn_seq2seq_defaults(void);

typedef struct attn_seq2seq attn_seq2seq;

/* Texts one after the other, UTF-8, with their lengths in bytes. */
typedef struct attn_texts {
  const char *bytes;
  const int32_t *lengths;
  int32_t count;
} attn_texts;

/* ---- functions ---------------------------------------------------------------------------- */

/* softmax over the last axis of scores [B, h, Tq, Tk] with the masks of `options`.
 * Writes mask, masked_scores, weights, row_flags; returns weights. (D2L masked_softmax.) */
attn_tensor *attn_masked_softmax(attn_tape *tape, const attn_tensor *scores,
                                 const attn_attention_options *options);

/* query [B, h, Tq, Dq], key [B, h, Tk, Dk], value [B, h, Tk, Dv] → output [B, h, Tq, Dv].
 * Writes raw_scores, scores, mask, masked_scores, row_flags, weights on the way.
 * (Vaswani et al. 2017 §3.2.1; torch scaled_dot_product_attention; D2L "Attention Scoring".) */
attn_tensor *attn_attention(attn_tape *tape, const attn_tensor *query, const attn_tensor *key,
                            const attn_tensor *value, const attn_attention_options *options);

/* queries [B, Tq, Dq], keys [B, Tk, Dk], values [B, Tk, Dv] → output [B, Tq, out].
 * (Vaswani et al. 2017 §3.2.2; torch nn.MultiheadAttention; D2L "Multi-Head Attention".) */
attn_tensor *attn_multi_head_attention(attn_tape *tape, const attn_tensor *queries,
                                       const attn_tensor *keys, const attn_tensor *values,
                                       const attn_multi_head_weights *weights,
                                       const attn_attention_options *options);

/* x [B, T, H] → [B, T, H]. (torch nn.TransformerEncoderLayer.) */
attn_tensor *attn_encoder_layer(attn_tape *tape, const attn_tensor *x,
                                const attn_encoder_layer_weights *weights,
                                const attn_encoder_layer_options *options);

/* x [B, T, H], memory [B, Tk, H] or NULL → [B, T, H]. (torch nn.TransformerDecoderLayer.) */
attn_tensor *attn_decoder_layer(attn_tape *tape, const attn_tensor *x, const attn_tensor *memory,
                                const attn_decoder_layer_weights *weights,
                                const attn_decoder_layer_options *options);

/* x [B, T, H] → [B, T, H] through F units. (Vaswani et al. 2017 §3.3.) */
attn_tensor *attn_feed_forward(attn_tape *tape, const attn_tensor *x,
                               const attn_feed_forward_weights *weights, int32_t activation);

/* A whole small model: tokens → random embeddings (equal texts, equal vectors) → positions →
 * one multi-head attention. `target` holds the queries' tokens, NULL for self-attention. */
attn_tensor *attn_attention_layer(attn_tape *tape, const attn_texts *source,
                                  const attn_texts *target,
                                  const attn_attention_layer_options *options);

/* Declares the parameters, each drawn from the seed and its name. What the tape then holds belongs
 * to the model: attn_tape_keep it. (Vaswani et al. 2017; torch nn.Transformer; D2L "Transformer".)
 */
attn_transformer *attn_transformer_new(attn_tape *tape, const attn_transformer_config *config);

/* → logits [B, Tt, V], of an encoder [B, Ts, V]. With training, the dropout of this step. */
attn_tensor *attn_transformer_forward(attn_tape *tape, const attn_transformer *model,
                                      const attn_transformer_batch *batch, bool training,
                                      int32_t step);

/* Declares w, the width; attn_tape_keep it. (D2L "Attention Pooling".) */
attn_kernel_regression *attn_kernel_regression_new(attn_tape *tape,
                                                   const attn_kernel_regression_config *config);

/* queries [1, 1, Tq, D], keys [1, 1, Tk, D], values [1, 1, Tk, Dv] → [1, 1, Tq, Dv]. leave_one_out:
 * query i does not attend to key i. Writes raw_scores, masked_scores, weights on the way. */
attn_tensor *attn_kernel_regression_forward(attn_tape *tape, const attn_kernel_regression *model,
                                            const attn_tensor *queries, const attn_tensor *keys,
                                            const attn_tensor *values, bool leave_one_out);

/* Declares the parameters under the names of D2L's modules, drawn as D2L does: weights of linear
 * and recurrent layers Xavier, the rest PyTorch's defaults. attn_tape_keep what the tape then
 * holds. (Bahdanau et al. 2015; D2L "Sequence-to-Sequence Learning", "The Bahdanau Attention
 * Mechanism".)
 */
attn_seq2seq *attn_seq2seq_new(attn_tape *tape, const attn_seq2seq_config *config);

/* → logits [B, Tt, V]. With training, dropout by `seed`. Writes decoder.attention.weights
 * [B, 1, Tt, Ts] where there is attention. target_lengths is not looked at. */
attn_tensor *attn_seq2seq_forward(attn_tape *tape, const attn_seq2seq *model,
                                  const attn_transformer_batch *batch, bool training,
                                  uint32_t seed);

/* y = x Wᵀ + bias over the last axis: x […, in], weight [out, in], bias [out] or NULL. */
attn_tensor *attn_linear(attn_tape *tape, const char *name, const attn_tensor *x,
                         const attn_tensor *weight, const attn_tensor *bias);

/* (x - mean) ÷ √(variance + eps) × weight + bias over the last axis, biased variance.
 * (Ba et al. 2016; torch layer_norm.) */
attn_tensor *attn_layer_norm(attn_tape *tape, const char *name, const attn_tensor *x,
                             const attn_tensor *weight, const attn_tensor *bias, float eps);

/* Element by element. (torch relu, gelu.) */
attn_tensor *attn_activate(attn_tape *tape, const char *name, const attn_tensor *x,
                           int32_t activation);

/* x + y, equal shapes or y without x's leading axes. */
attn_tensor *attn_add(attn_tape *tape, const char *name, const attn_tensor *x,
                      const attn_tensor *y);

/* [length, H]: sin in even columns, cos in odd ones, positions offset, offset + 1, …
 * (Vaswani et al. 2017 §3.5; D2L "Positional Encoding", odd H too.) */
attn_tensor *attn_sinusoidal(attn_tape *tape, const char *name, int32_t length, int32_t hiddens,
                             int32_t offset);

/* x […, T, D], D even, turned by its position. positions [T], or NULL: offset, offset + 1, …
 * (Su et al. 2021.) */
attn_tensor *attn_rotary(attn_tape *tape, const char *name, const attn_tensor *x,
                         const attn_tensor *positions, int32_t offset, int32_t pairing, float base);

/* [h] slopes of ALiBi. (Press et al. 2022, heads that are no power of two as in their code.) */
attn_tensor *attn_alibi_slopes(attn_tape *tape, const char *name, int32_t heads);

/* Counter-based: the numbers depend on the seed and the full name of the tensor alone. */
attn_tensor *attn_random(attn_tape *tape, const char *name, int32_t rank, const int32_t *shape,
                         const char *const *axes, uint32_t seed, int32_t distribution);

/* [T, H], standard normal; each row depends on its text and the seed alone. */
attn_tensor *attn_token_embedding(attn_tape *tape, const char *name, const attn_texts *texts,
                                  int32_t hiddens, uint32_t seed);

/* weights [B, h, Tq, Tk] → their mean over the heads [B, Tq, Tk]. */
attn_tensor *attn_mean_heads(attn_tape *tape, const char *name, const attn_tensor *weights);

/* -Σ p ln p of each row ÷ its sum, in nats: [B, h, Tq, Tk] → [B, h, Tq]. */
attn_tensor *attn_entropy(attn_tape *tape, const char *name, const attn_tensor *weights);

/* ---- learning ----------------------------------------------------------------------------- */

/* ids […] → rows of weight [V, H]: […, H]. (torch embedding.) */
attn_tensor *attn_embedding(attn_tape *tape, const char *name, const attn_tensor *ids,
                            const attn_tensor *weight);

/* logits [B, T, V], labels [B, T], lengths [B] or NULL → one number. A token is counted when it is
 * within its sequence's length and its label is not -1. (torch cross_entropy; D2L
 * MaskedSoftmaxCELoss.) */
attn_tensor *attn_cross_entropy(attn_tape *tape, const char *name, const attn_tensor *logits,
                                const attn_tensor *labels, const attn_tensor *lengths,
                                int32_t reduction);
int32_t attn_counted_tokens(const attn_tensor *cross_entropy); /* 0 of anything else */

/* (prediction - target)², shaped alike, summed or averaged: one number. (torch mse_loss.) */
attn_tensor *attn_squared_error(attn_tape *tape, const char *name, const attn_tensor *prediction,
                                const attn_tensor *target, int32_t reduction);

/* ---- training ------------------------------------------------------------------------------ */

/* All zeros but learning_rate 1e-3, Adam, beta1 0.9, beta2 0.999 and eps 1e-8:
 * attn_training_defaults. */
typedef struct attn_training_options {
  int32_t optimiser;       /* attn_optimiser */
  float learning_rate;     /* >= 0 */
  float momentum;          /* of sgd, [0, 1) */
  float beta1, beta2, eps; /* of adam and adamw; [0, 1), [0, 1), above 0 */
  float weight_decay;      /* added to the gradient; of adamw, taken from the parameter */
  float clip;              /* the largest length of all gradients together; 0: any */
} attn_training_options;

attn_training_options attn_training_defaults(void);

/* What training a model needs beside its parameters. To go on elsewhere exactly as here, take over
 * steps and moments. */
typedef struct attn_training {
  int32_t steps;           /* done */
  int32_t parameter_count; /* tensors */
  int32_t count;           /* numbers in them */
  attn_real loss;          /* of the last step */
  attn_real gradient_norm; /* of the last step, before clipping */
  attn_real *moments;      /* [2, count]: first moments (or momenta), then second ones */
  attn_tensor **parameters;
} attn_training;

/* For all parameters on the tape; before attn_tape_keep, as it must stay too. */
attn_training *attn_training_new(attn_tape *tape);
void attn_training_restart(attn_training *training);

/* Computes the gradients of loss and moves the parameters. A loss or gradient that is not finite is
 * ATTN_NOT_FINITE with a message that names the first tensor at fault, and nothing moves.
 * Gradients stay readable as they were before clipping. */
attn_status attn_train_step(attn_tape *tape, attn_training *training, attn_tensor *loss,
                            const attn_training_options *options);

/* The rate rises over warm_up steps, then does what kind says. Defaults: rate 1e-3, constant. */
typedef struct attn_schedule {
  int32_t kind; /* attn_schedule_kind */
  float rate;
  int32_t warm_up;
  int32_t every; /* step: steps from one fall to the next, at least 1 */
  float factor;  /* step: of each fall */
  int32_t total; /* cosine: the step at which last_rate is reached */
  float last_rate;
} attn_schedule;

attn_schedule attn_schedule_defaults(void);

/* Of step 0, 1, …; NaN and a failed tape where the schedule makes no sense. */
float attn_learning_rate(attn_tape *tape, const attn_schedule *schedule, int32_t step);

/* ---- decoding ------------------------------------------------------------------------------- */

typedef struct attn_decode_options {
  int32_t method;       /* attn_decode_method */
  int32_t cache;        /* attn_cache */
  int32_t positions;    /* attn_decode_positions */
  int32_t max_length;   /* new tokens */
  int32_t prefill;      /* tokens of the prefix read at once, the others one by one; 0: all */
  int32_t end;          /* the id that ends a sentence; -1: none does */
  int32_t beams;        /* of beam */
  float length_penalty; /* of beam: a sentence of L tokens is worth its log-probability ÷ L^this */
  float temperature;    /* of sample, > 0 */
  int32_t top_k;        /* of sample: among the k likeliest; 0: all */
  float top_p;          /* of sample: among the fewest that have this probability together */
  uint32_t seed;        /* of sample */
} attn_decode_options;

attn_decode_options attn_decode_defaults(void);

/* Continues the target's tokens prefix [1, P] for source [1, Ts], which a decoder has none of.
 * Returns decoded_tokens [n, max_length], the new ones, the end's id too, filled up with -1, best
 * first; n is beams, else 1. Beside it stand decoded_scores [n], log-probabilities, of beam ÷ L^α,
 * and the tensors of the last step. (D2L "Beam Search".) */
attn_tensor *attn_decode(attn_tape *tape, const attn_transformer *model, const attn_tensor *source,
                         const attn_tensor *prefix, const attn_decode_options *options);

/* The same for a sequence-to-sequence model, whose state is its cache. It has read the padding of
 * its sentences in training, so source is as long here: [1, Ts], its length [1] or NULL. (D2L
 * predict_seq2seq.) */
attn_tensor *attn_seq2seq_translate(attn_tape *tape, const attn_seq2seq *model,
                                    const attn_tensor *source, const attn_tensor *source_length,
                                    const attn_tensor *prefix, const attn_decode_options *options);

/* The full causal pass over target [1, T] against decoding it token by token behind the first
 * `prefill` with this cache and these positions: the largest difference of each layer's output, and
 * of the logits in the last row, for each token: [layers + 1, T]. */
attn_tensor *attn_consistency(attn_tape *tape, const attn_transformer *model,
                              const attn_tensor *source, const attn_tensor *target, int32_t prefill,
                              int32_t cache, int32_t positions);

/* ---- the core about itself ---------------------------------------------------------------- */

/* JSON: status codes, choices, the layout of attn_tensor and of each options struct.
 * Returns the length written, 0 when it does not fit. */
size_t attn_describe(char *out, size_t capacity);

/* Runs every function above on fixed inputs and returns a hash of all bits. Equal on every build.
 * The tape is reset. */
uint32_t attn_self_test(attn_tape *tape);

#define ATTN_SELF_TEST_ANSWER 0xa7de6c16u

/* The same for one attention call, quick enough to be run whenever the core is loaded. */
uint32_t attn_load_test(attn_tape *tape);

#define ATTN_LOAD_TEST_ANSWER 0x3be732e1u

/* Trains each model for 20 steps and returns a hash of all bits of all steps. Equal on every build.
 * The tape is reset. */
uint32_t attn_training_test(attn_tape *tape);

#define ATTN_TRAINING_TEST_ANSWER 0xe2658ee3u

#endif
