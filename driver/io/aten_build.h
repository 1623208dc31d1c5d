/* Between the files of the torch operator table: a node being lowered, its parsed arguments, and
 * how builders append calls.
 *
 * Builders return nothing. Failures stick to the lowering: a reason (the node is kept) or a status
 * (the file is broken); from then on calls append nothing and give QFI_NONE, types read as a
 * scalar, so builders run to their end unharmed. */
#ifndef QFI_ATEN_BUILD_H
#define QFI_ATEN_BUILD_H

#include "aten.h"

#define QFI_ATEN_MAX_ARGS 12
#define QFI_ATEN_MAX_LIST 64

typedef enum qfi_arg_kind {
    QFI_ARG_ABSENT, /* required, and not given */
    QFI_ARG_NONE,
    QFI_ARG_TENSOR,
    QFI_ARG_TENSORS,
    QFI_ARG_NUMBER,
    QFI_ARG_NUMBERS,
    QFI_ARG_DTYPE,
    QFI_ARG_TEXT,
    QFI_ARG_IGNORED /* device, memory format: the recorded types tell what became of them */
} qfi_arg_kind;

typedef enum qfi_number_kind { QFI_NUMBER_BOOL, QFI_NUMBER_INT, QFI_NUMBER_FLOAT } qfi_number_kind;

/* A python number. */
typedef struct qfi_number {
    qf_scalar v;
    uint8_t kind; /* qfi_number_kind */
} qfi_number;

/* One argument. value: TENSOR.  values: TENSORS, QFI_NONE for absent ones.  number, numbers, dtype,
 * text: as the kind says. */
typedef struct qfi_arg {
    qf_str name;
    uint8_t kind; /* qfi_arg_kind */
    qf_dtype dtype;
    qfi_id value;
    uint32_t n;
    const qfi_id *values;
    const qfi_number *numbers;
    qfi_number number;
    qf_str text;
} qfi_arg;

/* An operator of the program. arg: what the schema alone says of its arguments. */
struct qfi_aten_op {
    const qfi_aten_row *row;
    const qfi_arg *arg;
    uint32_t n_arg;
};

/* arg: n_arg of them; the rest is not even zero. */
typedef struct qfi_lowering {
    const qf_graph *graph;
    qfi_id node;
    qfi_env *env;
    qf_diag *diag;
    const qfi_aten_row *row;
    qf_status status;
    uint32_t n_arg, n_read; /* n_read: named values that were read so far */
    qfi_arg arg[QFI_ATEN_MAX_ARGS];
} qfi_lowering;

typedef void qfi_aten_builder(qfi_lowering *l);

/* One row of aten_ops.def. schema: arguments in the words of torch's schema, NULL for operators
 * that are never lowered. */
struct qfi_aten_row {
    const char *name, *schema;
    qfi_aten_builder *build;
    uint8_t effect, alias; /* qfi_effect, qfi_alias */
    uint16_t reason;
    uint8_t dequantize; /* qfi_dequantize */
};

/* ---- aten_json.c, aten_args.c: arguments ---- */

/* Fills arg and n_arg from the schema of the row, which has one. False when out of memory. */
bool qfi_aten_defaults(qfi_aten_op *op, qfi_pool *pool);
/* What the node's JSON object says of l->arg, which holds the defaults. */
void qfi_aten_parse(qfi_lowering *l, qf_str text);
/* The boolean that a node's JSON object gives as argument number `index`; false if it gives none
 * there. */
bool qfi_aten_bool_at(qf_str text, uint32_t index, bool *out);

/* Whether nothing has gone wrong so far; keeps the node for a reason. */
bool qfi_lowering_ok(const qfi_lowering *l);
void qfi_refuse(qfi_lowering *l, qf_reason reason, const char *format, ...) QF_PRINTF(3, 4);

/* Arguments by name. `has`: given and not None. A wrong kind refuses the node. `ints` takes one
 * integer as a list of one, gives their count, and refuses more than `max`. */
const qfi_arg *qfi_arg_get(qfi_lowering *l, const char *name);
bool qfi_arg_has(qfi_lowering *l, const char *name);
qfi_ref qfi_arg_tensor(qfi_lowering *l, const char *name);
qfi_number qfi_arg_number(qfi_lowering *l, const char *name);
int64_t qfi_arg_int(qfi_lowering *l, const char *name);
bool qfi_arg_bool(qfi_lowering *l, const char *name);
uint32_t qfi_arg_ints(qfi_lowering *l, const char *name, int64_t *out, uint32_t max);
qf_dtype qfi_arg_dtype(qfi_lowering *l, const char *name, qf_dtype fallback);
/* Contents of a value of the graph. */
qfi_ref qfi_value_ref(qfi_lowering *l, qfi_id value);

/* ---- aten_calls.c: calls ---- */

qf_type qfi_type_of(const qfi_lowering *l, qfi_ref ref);
int64_t qfi_elements_of(const qfi_lowering *l, qfi_ref ref);
qfi_ref qfi_append(qfi_lowering *l, qf_op op, const qf_attrs *attrs, const qfi_ref *in, uint32_t n);
qfi_ref qfi_append1(qfi_lowering *l, qf_op op, const qf_attrs *attrs, qfi_ref x);
qfi_ref qfi_append2(qfi_lowering *l, qf_op op, qfi_ref a, qfi_ref b);
qfi_ref qfi_append3(qfi_lowering *l, qf_op op, qfi_ref a, qfi_ref b, qfi_ref c);

/* The node's result `slot`; the result of an operator with one, which for WRITE is the new contents
 * of operand 0. */
void qfi_give(qfi_lowering *l, uint32_t slot, qfi_ref ref);
void qfi_result(qfi_lowering *l, qfi_ref ref);

/* A dimension, wrapped to [0, rank); a rank of 0 counts as 1. Out of range refuses and gives 0. */
uint8_t qfi_dim(qfi_lowering *l, int64_t dim, int rank);
/* dims as a set of bits. Repeated ones refuse. */
uint32_t qfi_dim_set(qfi_lowering *l, const int64_t *dim, uint32_t n, int rank);

/* Shapes; nothing is appended where nothing changes. expand takes sizes of the whole result, -1
 * keeps.  flatten: to one dim. */
qfi_ref qfi_reshape(qfi_lowering *l, qfi_ref x, uint32_t rank, const int64_t *dim);
qfi_ref qfi_expand(qfi_lowering *l, qfi_ref x, uint32_t rank, const int64_t *dim);
qfi_ref qfi_expand_like(qfi_lowering *l, qfi_ref x, qf_type type);
qfi_ref qfi_flatten(qfi_lowering *l, qfi_ref x);
qfi_ref qfi_permute(qfi_lowering *l, qfi_ref x, const uint8_t *dim);
qfi_ref qfi_transpose(qfi_lowering *l, qfi_ref x, uint8_t a, uint8_t b);
qfi_ref qfi_unsqueeze(qfi_lowering *l, qfi_ref x, uint8_t dim);
qfi_ref qfi_squeeze(qfi_lowering *l, qfi_ref x, uint8_t dim);
qfi_ref qfi_slice(qfi_lowering *l, qfi_ref x, uint8_t dim, int64_t start, int64_t n);
qfi_ref qfi_cat(qfi_lowering *l, const qfi_ref *x, uint32_t n, uint8_t dim);
/* Attributes of slice (false: it takes everything) and select from dim, start, end, step or dim,
 * index of the node. */
bool qfi_slice_attrs(qfi_lowering *l, qf_type type, qf_attrs *out);
qf_attrs qfi_select_attrs(qfi_lowering *l, qf_type type);

/* ---- aten_types.c: element types ---- */

/* What an operand of an arithmetic operator may be: a tensor or a python number. */
typedef struct qfi_operand {
    bool is_number;
    qfi_number number;
    qfi_ref ref;
} qfi_operand;

qf_dtype_class qfi_class(qf_dtype dtype);
bool qfi_is_half(qf_dtype dtype);
/* A conversion as torch does it: through f32 where torch does. */
qfi_ref qfi_cast(qfi_lowering *l, qfi_ref x, qf_dtype dtype);
/* dtype of two tensors with dims; QF_DT_none where torch has none. */
qf_dtype qfi_promote(qf_dtype a, qf_dtype b);
/* torch.result_type of the operands; refuses where there is none. */
qf_dtype qfi_result_dtype(qfi_lowering *l, const qfi_operand *x, uint32_t n);
qfi_operand qfi_arg_operand(qfi_lowering *l, const char *name);
/* The tensors of a list argument as references of the pool, none absent; NULL, refused, if it lists
 * none. */
qfi_ref *qfi_arg_list(qfi_lowering *l, const char *name, uint32_t *n);
/* The operand in a dtype; numbers become scalars, integers wrap. */
qfi_ref qfi_operand_as(qfi_lowering *l, const qfi_operand *x, qf_dtype dtype);
/* One element, as torch's kernels tell scalars from tensors. */
bool qfi_operand_single(const qfi_lowering *l, const qfi_operand *x);
/* A constant of a type. `fits`: whether torch converts the number without raising; strict: as
 * masked_fill and clamp do it. */
qfi_ref qfi_full(qfi_lowering *l, qf_type type, qfi_number number);
qfi_ref qfi_scalar(qfi_lowering *l, qf_dtype dtype, double value);
qfi_ref qfi_full_int(qfi_lowering *l, qf_dtype dtype, int64_t value);
bool qfi_number_fits(qfi_number number, qf_dtype dtype, bool strict);
double qfi_number_double(qfi_number number);
/* The largest number of a float dtype; those that have no arithmetic count as f32. */
double qfi_largest(qf_dtype dtype);
bool qfi_number_truth(qfi_number number);
/* The dtype that factories give a number. */
qf_dtype qfi_number_dtype(qfi_number number);

/* ---- aten_arith.c ---- */

/* x / by of f32 or a half type, computed in f32 and rounded to the dtype of x. */
qfi_ref qfi_divide_by(qfi_lowering *l, qfi_ref x, double by);

/* ---- aten_complex.c ---- */

/* Whether one of two operands is complex; their product then. */
bool qfi_any_complex(const qfi_lowering *l, const qfi_operand *x);
qfi_ref qfi_complex_mul(qfi_lowering *l, const qfi_operand *x);

/* ---- aten_gather.c: indices ---- */

/* An argument that is an index, i64 or i32. */
qfi_ref qfi_arg_index(qfi_lowering *l, const char *name);
/* An index as i64 in which everything outside [0, size) (wraps: but [-size, 0), which counts from
 * the end) is INT64_MAX, outside of every tensor. */
qfi_ref qfi_checked_index(qfi_lowering *l, qfi_ref index, int64_t size, bool wraps);
/* 0, step, 2 step … as i64. */
qfi_ref qfi_count_by(qfi_lowering *l, int64_t n, int64_t step);
qfi_ref qfi_select_rows(qfi_lowering *l, qfi_ref x, uint8_t dim, qfi_ref index);
/* Refuses, for the reason `text`, where a small value turns out to be undefined; large ones are
 * found out when they are written. */
void qfi_check_defined(qfi_lowering *l, qfi_ref ref, const char *text);

/* ---- aten_mask.c: masks ---- */

/* Numbers of the true elements of a mask, flattened; those that are there if n < 0. */
qfi_ref qfi_true_places(qfi_lowering *l, qfi_ref mask, int64_t n);
/* Row-major numbers of elements of dims `dim` as coordinates in one of them. */
qfi_ref qfi_coordinate(qfi_lowering *l, qfi_ref number, const qf_type *type, int dim);

/* A list of indices, masks among them, as indices alone. n: their number.  dim: the one that each
 * is for. */
typedef struct qfi_indices {
    uint32_t n;
    uint8_t dim[QF_MAX_RANK];
    qfi_ref index[QF_MAX_RANK];
} qfi_indices;

/* Fills *out from the argument `name`; out of range is INT64_MAX. */
void qfi_arg_indices(qfi_lowering *l, const char *name, qf_type type, qfi_indices *out);

/* ---- aten_reduce.c: reductions ---- */

/* The dims that "dim" names; all if it is absent, None or (unless `empty_is_none`) empty. */
uint32_t qfi_reduced_dims(qfi_lowering *l, int rank, bool empty_is_none);
bool qfi_keeps_dims(qfi_lowering *l);
/* op over a set of dims; x itself over none. */
qfi_ref qfi_reduce(qfi_lowering *l, qf_op op, qfi_ref x, uint32_t dims, bool keep);
/* The mean square of the distance from the mean, over the count less a correction; f64. The mean,
 * also f64 and with its dims kept, in *mean. */
qfi_ref qfi_variance(qfi_lowering *l, qfi_ref x, uint32_t dims, double correction, bool keep,
                     qfi_ref *mean);

/* ---- builders ---- */

/* aten_make.c: of QF_EMPTY rows. */
qfi_aten_builder qfi_build_empty;

#define QF_ATEN(name, schema, builder, alias) qfi_aten_builder qfi_build_##builder;
#define QF_WRITE(name, schema, builder) qfi_aten_builder qfi_build_##builder;
#define QF_OUT(name, schema, builder) qfi_aten_builder qfi_build_##builder;
#define QF_EMPTY(name, schema)
#define QF_ASSERT(name, schema, builder) qfi_aten_builder qfi_build_##builder;
#define QF_DEQUANTIZE_BLOCKS(name, schema, builder) qfi_aten_builder qfi_build_##builder;
#define QF_DEQUANTIZE(name, schema, builder) qfi_aten_builder qfi_build_##builder;
#define QF_REGION(name)
#define QF_CONTROL(name)
#define QF_KEEP(name, reason)
#include "aten_ops.def"
#undef QF_ATEN
#undef QF_WRITE
#undef QF_OUT
#undef QF_EMPTY
#undef QF_ASSERT
#undef QF_DEQUANTIZE
#undef QF_DEQUANTIZE_BLOCKS
#undef QF_REGION
#undef QF_CONTROL
#undef QF_KEEP

#endif
