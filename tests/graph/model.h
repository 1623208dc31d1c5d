/* A toy model format in memory, to test the fold without files: a builder of graphs, a table of
 * operators with their meaning, and a naive interpreter of the same operators that shares no code
 * with the library. */
#ifndef MODEL_H
#define MODEL_H

#include "fold/passes.h"

#define MAX_ARG 16
#define MAX_IN 4

struct model;
struct call;

/* Strides and offset in elements, into the memory of a value. */
typedef struct view {
    qf_type type;
    int64_t stride[QF_MAX_RANK], offset;
} view;

/* One operator. shape: type and layout of the result; of views, relative to operand 0. lower: as a
 * format would. run: result elements (row-major) from operand elements. */
typedef struct op {
    const char *name;
    uint8_t effect, alias;
    uint16_t reason;
    void (*shape)(const struct call *c, const view *in, view *out);
    qf_status (*lower)(const struct call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag);
    void (*run)(const struct call *c, const view *in, double *const *x, const view *out, double *r);
} op;

/* A node's arguments. literal: operand k is a number instead of a value. */
typedef struct call {
    const op *op;
    int64_t arg[MAX_ARG];
    uint32_t n_arg;
    bool is_literal[MAX_IN];
    double literal[MAX_IN];
} call;

/* Bytes behind a payload. reads: how often somebody asked for some. */
typedef struct bytes {
    unsigned char *data;
    uint64_t size, reads;
    qf_dtype dtype;
} bytes;

/* graph.source points back here. Capacity is fixed when the model is made. */
typedef struct model {
    qf_graph graph;
    call *calls;  /* per node */
    bytes *bytes; /* per payload */
    struct model *bodies[8];
    uint32_t cap;
} model;

/* ---- building: placeholders first, then calls; a name must be a literal or live as long as the
 * model */
model *model_new(uint32_t cap);
model *model_body(model *outer);
void model_free(model *m);
qf_type type_of(qf_dtype dtype, int rank, const int64_t *dim);
#define TYPE(dtype, ...)                                                                           \
    type_of(QF_DT_##dtype, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t),                   \
            (const int64_t[]){ __VA_ARGS__ })

qfi_id add_input(model *m, const char *name, qf_type type);
/* Contents are drawn from the name: small multiples of 1/8, integers for integer dtypes. */
qfi_id add_stored(model *m, qf_value_kind kind, const char *name, qf_type type);
/* Another name for (a part of) the payload of `of`. */
qfi_id add_tied(model *m, qf_value_kind kind, const char *name, qfi_id of, view layout);
void set_elements(model *m, qfi_id stored, const double *x);

typedef struct ids {
    uint32_t n;
    qfi_id v[MAX_IN];
} ids;
typedef struct args {
    uint32_t n;
    int64_t v[MAX_ARG];
} args;
#define IN(...)                                                                                    \
    (ids)                                                                                          \
    {                                                                                              \
        sizeof((qfi_id[]){ __VA_ARGS__ }) / sizeof(qfi_id),                                        \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define NO_IN                                                                                      \
    (ids)                                                                                          \
    {                                                                                              \
        0,                                                                                         \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define ARGS(...)                                                                                  \
    (args)                                                                                         \
    {                                                                                              \
        sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t),                                      \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define NO_ARGS                                                                                    \
    (args)                                                                                         \
    {                                                                                              \
        0,                                                                                         \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* Appends a call; returns its result (its first one), or QFI_NONE for operators without. The node
 * has the same name. */
qfi_id add_call(model *m, const char *name, const char *op, ids in, args arg);
/* A call that runs bodies on its operands; results as the first body's outputs. */
qfi_id add_region(model *m, const char *name, const char *op, ids in, model *body);
void add_output(model *m, qfi_id value);
qfi_id find_node(const model *m, const char *name);

/* ---- operators (model_ops.c) */
const op *find_op(const char *name);
uint64_t count_of(const qf_type *type);
/* Row-major without gaps. */
bool is_dense(const view *v);

/* ---- running (model_run.c) */

/* Memory of a model's stored values over several runs. */
typedef struct session session;
session *session_new(const model *m);
void session_free(session *s);
/* Runs once: input[i] are the elements of input i; output[k] receives those of output k. Draws are
 * constant here. */
void session_run(session *s, const double *const *input, double **output);

/* ---- folding (model_fold.c) */
typedef struct folded {
    qfi_fold fold;
    qf_ctx ctx;
    qf_fold_options options;
    qf_diag diag;
    qf_status status;
    model *out;              /* the graph after the edits, NULL if nothing changed */
    unsigned char **payload; /* bytes of new payloads */
} folded;

/* Plans, produces every payload (rejecting and planning again as a writer would), and applies the
 * edits. */
folded *fold_model(const model *m, const qf_fold_options *options);
void folded_free(folded *f);
qf_fold_options default_options(void);
/* Verdict of the node with that name. */
qf_verdict verdict_of(const folded *f, const char *name);
qf_reason reason_of(const folded *f, const char *name);
/* Bytes stored by the model. */
uint64_t stored_bytes(const model *m);
/* Runs both for `steps` steps on equal inputs: fails the test unless outputs agree bit for bit. */
void expect_same_results(const model *before, const model *after, int steps);
/* Folds, compares results, folds the output again and expects no change. The caller frees. */
folded *fold_and_check(const model *m, const qf_fold_options *options);

#endif
