/* Operators of the toy format: shapes, lowering, and what they compute, element by element in
 * double. Names follow torch: a trailing '_' before the overload works in place. */
#include "model.h"

#include <string.h>

/* ---------------------------------------- shapes and views */

static void like_first(const call *c, const view *in, view *out)
{
    (void)c;
    *out = in[0];
}

static void of_args(const call *c, const view *in, view *out)
{
    (void)in;
    out->type = type_of(QF_DT_f32, (int)c->n_arg - 1, c->arg + 1);
}

static void of_scalar(const call *c, const view *in, view *out)
{
    (void)c, (void)in;
    out->type = type_of(QF_DT_i64, 0, NULL);
}

static void broadcast(const call *c, const view *in, view *out)
{
    (void)c;
    const int rank = in[0].type.rank > in[1].type.rank ? in[0].type.rank : in[1].type.rank;
    out->type = (qf_type){ .dtype = in[0].type.dtype, .rank = (int8_t)rank };
    for (int i = 0; i < rank; i++) {
        const int a = i - rank + in[0].type.rank, b = i - rank + in[1].type.rank;
        const int64_t x = a < 0 ? 1 : in[0].type.dim[a], y = b < 0 ? 1 : in[1].type.dim[b];
        out->type.dim[i] = x == 1 ? y : x;
    }
}

static void to_dtype(const call *c, const view *in, view *out)
{
    *out = in[0];
    out->type.dtype = (qf_dtype)c->arg[0];
}

static void to_f32(const call *c, const view *in, view *out)
{
    (void)c;
    *out = in[0];
    out->type.dtype = QF_DT_f32;
}

static void permuted(const call *c, const view *in, view *out)
{
    *out = in[0];
    for (uint32_t i = 0; i < c->n_arg; i++) {
        out->type.dim[i] = in[0].type.dim[c->arg[i]];
        out->stride[i] = in[0].stride[c->arg[i]];
    }
}

bool is_dense(const view *v)
{
    int64_t step = 1;
    for (int i = v->type.rank; i-- > 0; step *= v->type.dim[i])
        if (v->type.dim[i] != 1 && v->stride[i] != step)
            return false;
    return true;
}

/* A copy whenever the operand is not row-major, which is more often than torch copies. */
static void reshaped(const call *c, const view *in, view *out)
{
    const int64_t offset = is_dense(&in[0]) ? in[0].offset : 0;
    int64_t step = 1;
    out->type = type_of(in[0].type.dtype, (int)c->n_arg, c->arg);
    for (uint32_t i = c->n_arg; i-- > 0; step *= c->arg[i])
        out->stride[i] = step;
    out->offset = offset;
}

/* arg: dim, start, step, n */
static void sliced(const call *c, const view *in, view *out)
{
    *out = in[0];
    out->type.dim[c->arg[0]] = c->arg[3];
    out->offset += c->arg[1] * in[0].stride[c->arg[0]];
    out->stride[c->arg[0]] *= c->arg[2];
}

/* arg: dim, index */
static void selected(const call *c, const view *in, view *out)
{
    *out = in[0];
    out->offset += c->arg[1] * in[0].stride[c->arg[0]];
    out->type.rank--;
    for (int i = (int)c->arg[0]; i < out->type.rank; i++) {
        out->type.dim[i] = in[0].type.dim[i + 1];
        out->stride[i] = in[0].stride[i + 1];
    }
}

static void expanded(const call *c, const view *in, view *out)
{
    const int added = (int)c->n_arg - in[0].type.rank;
    out->type = type_of(in[0].type.dtype, (int)c->n_arg, c->arg);
    out->offset = in[0].offset;
    for (int i = added; i < (int)c->n_arg; i++)
        out->stride[i] = in[0].type.dim[i - added] == c->arg[i] ? in[0].stride[i - added] : 0;
}

/* ---------------------------------------- lowering */

static qf_status one(const qfi_id *operand, qfi_env *env, qf_op what, const qf_attrs *at,
                     qf_diag *diag)
{
    const qfi_ref in = env->ref(env, operand[0]);
    return qfi_env_call(env, what, at, &in, 1, &env->out[0], diag);
}

static qf_status two(const qfi_id *operand, qfi_env *env, qf_op what, qfi_ref *out, qf_diag *diag)
{
    const qfi_ref in[2] = { env->ref(env, operand[0]), env->ref(env, operand[1]) };
    return qfi_env_call(env, what, NULL, in, 2, out, diag);
}

static qf_status lower_full(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    qf_attrs at = { .full = { .value = { .f = (double)c->arg[0] / 8 } } };
    (void)operand;
    at.full.type = type_of(QF_DT_f32, (int)c->n_arg - 1, c->arg + 1);
    return qfi_env_call(env, QF_OP_full, &at, NULL, 0, &env->out[0], diag);
}

static qf_status lower_inf(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    qf_attrs at = { .full = { .value = { .f = -__builtin_inf() } } };
    (void)operand;
    at.full.type = type_of(QF_DT_f32, (int)c->n_arg - 1, c->arg + 1);
    return qfi_env_call(env, QF_OP_full, &at, NULL, 0, &env->out[0], diag);
}

#define LOWER_TWO(name, op)                                                                        \
    static qf_status lower_##name(const call *c, const qfi_id *operand, qfi_env *env,              \
                                  qf_diag *diag)                                                   \
    {                                                                                              \
        (void)c;                                                                                   \
        return two(operand, env, op, &env->out[0], diag);                                          \
    }
LOWER_TWO(add, QF_OP_add)
LOWER_TWO(mul, QF_OP_mul)
LOWER_TWO(idiv, QF_OP_idiv_floor)

static qf_status lower_exp(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    (void)c;
    return one(operand, env, QF_OP_exp, NULL, diag);
}

static qf_status lower_cast(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    const qf_attrs at = { .cast = { .dtype = (qf_dtype)c->arg[0] } };
    return one(operand, env, QF_OP_cast, &at, diag);
}

static qf_status lower_identity(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    (void)c;
    return one(operand, env, QF_OP_identity, NULL, diag);
}

static qf_status lower_permute(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    qf_attrs at = { 0 };
    for (uint32_t i = 0; i < c->n_arg && i < QF_MAX_RANK; i++)
        at.dims.dim[i] = (int8_t)c->arg[i];
    return one(operand, env, QF_OP_permute, &at, diag);
}

static qf_attrs shape_attrs(const call *c)
{
    qf_attrs at = { .shape = { .rank = (uint8_t)c->n_arg } };
    memcpy(at.shape.dim, c->arg, c->n_arg * sizeof *c->arg);
    return at;
}

static qf_status lower_reshape(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    const qf_attrs at = shape_attrs(c);
    return one(operand, env, QF_OP_reshape, &at, diag);
}

static qf_status lower_expand(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    const qf_attrs at = shape_attrs(c);
    return one(operand, env, QF_OP_expand, &at, diag);
}

static qf_status lower_slice(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    const qf_attrs at = { .slice = { .dim = (uint8_t)c->arg[0],
                                     .start = c->arg[1],
                                     .step = c->arg[2],
                                     .n = c->arg[3] } };
    return one(operand, env, QF_OP_slice, &at, diag);
}

static qf_status lower_select(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    const qf_attrs at = { .slice = { .dim = (uint8_t)c->arg[0], .start = c->arg[1] } };
    return one(operand, env, QF_OP_select, &at, diag);
}

static qf_status lower_scale(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    qf_scalar n = { .is_int = true, .i = (int64_t)c->literal[1] };
    qf_attrs at = { 0 };
    if (!c->is_literal[1] && !env->scalar(env, operand[1], &n))
        return qfi_env_keep(env, QF_REASON_unsupported_argument, "the factor");
    qfi_ref in[2] = { env->ref(env, operand[0]), QFI_NONE };
    at.full.type = env->prog->def[in[0]].type;
    at.full.value = (qf_scalar){ .f = (double)n.i };
    QF_TRY(qfi_env_call(env, QF_OP_full, &at, NULL, 0, &in[1], diag));
    return qfi_env_call(env, QF_OP_mul, NULL, in, 2, &env->out[0], diag);
}

static qf_status lower_fill(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    qf_attrs at = { .full = { .value = { .f = (double)c->arg[0] / 8 } } };
    at.full.type = env->prog->def[env->ref(env, operand[0])].type;
    return qfi_env_call(env, QF_OP_full, &at, NULL, 0, &env->written, diag);
}

static qf_status lower_add_in_place(const call *c, const qfi_id *operand, qfi_env *env,
                                    qf_diag *diag)
{
    (void)c;
    return two(operand, env, QF_OP_add, &env->written, diag);
}

static qf_status lower_refuse(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    (void)c, (void)operand, (void)diag;
    return qfi_env_keep(env, QF_REASON_unsupported_argument, "any");
}

static qf_status lower_assert(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    (void)operand, (void)diag;
    env->holds = c->arg[0] != 0;
    return QF_OK;
}

/* Scale and zero point in the shape of the data's blocks: arg is the axis. */
static qf_status lower_dequantize(const call *c, const qfi_id *operand, qfi_env *env, qf_diag *diag)
{
    qfi_ref in[3] = { env->ref(env, operand[0]), QFI_NONE, QFI_NONE };
    const qf_type data = env->prog->def[in[0]].type;
    qf_attrs grid = { .shape = { .rank = (uint8_t)data.rank } };
    qf_attrs at = { .quant = { .dtype = QF_DT_f32 } };
    for (int i = 0; i < data.rank; i++) {
        at.quant.block[i] = i == c->arg[0] ? 1 : data.dim[i];
        grid.shape.dim[i] = i == c->arg[0] ? data.dim[i] : 1;
    }
    for (int k = 1; k < 3; k++) {
        const qfi_ref vector = env->ref(env, operand[k]);
        QF_TRY(qfi_env_call(env, QF_OP_reshape, &grid, &vector, 1, &in[k], diag));
    }
    return qfi_env_call(env, QF_OP_dequantize, &at, in, 3, &env->out[0], diag);
}

/* ---------------------------------------- what they compute */

static double round_to(qf_dtype dtype, double x)
{
    if (dtype == QF_DT_b8)
        return x != 0;
    return dtype == QF_DT_f32 ? (double)(float)x : x;
}

/* Element number of operand v at element i of the result, broadcast from the right. */
static uint64_t element(const view *v, const view *out, uint64_t i)
{
    uint64_t at = 0, step = 1;
    for (int d = out->type.rank; d-- > 0; i /= (uint64_t)out->type.dim[d]) {
        const int k = d - out->type.rank + v->type.rank;
        if (k < 0)
            continue;
        if (v->type.dim[k] != 1)
            at += i % (uint64_t)out->type.dim[d] * step;
        step *= (uint64_t)v->type.dim[k];
    }
    return at;
}

static void run_full(const call *c, const view *in, double *const *x, const view *out, double *r)
{
    (void)in, (void)x;
    for (uint64_t i = 0; i < count_of(&out->type); i++)
        r[i] = (double)c->arg[0] / 8;
}

static void run_inf(const call *c, const view *in, double *const *x, const view *out, double *r)
{
    (void)c, (void)in, (void)x;
    for (uint64_t i = 0; i < count_of(&out->type); i++)
        r[i] = -__builtin_inf();
}

static void run_add(const call *c, const view *in, double *const *x, const view *out, double *r)
{
    (void)c;
    for (uint64_t i = 0; i < count_of(&out->type); i++)
        r[i] = round_to(out->type.dtype,
                        x[0][element(&in[0], out, i)] + x[1][element(&in[1], out, i)]);
}

static void run_mul(const call *c, const view *in, double *const *x, const view *out, double *r)
{
    (void)c;
    for (uint64_t i = 0; i < count_of(&out->type); i++)
        r[i] = round_to(out->type.dtype,
                        x[0][element(&in[0], out, i)] * x[1][element(&in[1], out, i)]);
}

static void run_idiv(const call *c, const view *in, double *const *x, const view *out, double *r)
{
    (void)c;
    for (uint64_t i = 0; i < count_of(&out->type); i++) {
        const double d = x[1][element(&in[1], out, i)];
        r[i] = d == 0 ? -77 : __builtin_floor(x[0][element(&in[0], out, i)] / d);
    }
}

static void run_copy(const call *c, const view *in, double *const *x, const view *out, double *r)
{
    (void)c, (void)in;
    for (uint64_t i = 0; i < count_of(&out->type); i++)
        r[i] = round_to(out->type.dtype, x[0][i]);
}

static void run_scale(const call *c, const view *in, double *const *x, const view *out, double *r)
{
    (void)in;
    const double n = c->is_literal[1] ? c->literal[1] : x[1][0];
    for (uint64_t i = 0; i < count_of(&out->type); i++)
        r[i] = round_to(out->type.dtype, x[0][i] * n);
}

static void run_dequantize(const call *c, const view *in, double *const *x, const view *out,
                           double *r)
{
    (void)in;
    for (uint64_t i = 0; i < count_of(&out->type); i++) {
        uint64_t rest = i;
        for (int d = out->type.rank; d-- > c->arg[0] + 1;)
            rest /= (uint64_t)out->type.dim[d];
        const uint64_t channel = rest % (uint64_t)out->type.dim[c->arg[0]];
        r[i] = round_to(QF_DT_f32, (x[0][i] - x[2][channel]) * x[1][channel]);
    }
}

/* Anything that cannot be folded computes something, so that results can be compared. */
static void run_opaque(const call *c, const view *in, double *const *x, const view *out, double *r)
{
    (void)c, (void)in;
    for (uint64_t i = 0; i < count_of(&out->type); i++)
        r[i] = round_to(out->type.dtype, 0.5 * x[0][i] + 1);
}

static void run_drawn(const call *c, const view *in, double *const *x, const view *out, double *r)
{
    (void)c, (void)in, (void)x;
    for (uint64_t i = 0; i < count_of(&out->type); i++)
        r[i] = (double)(i % 5);
}

/* ---------------------------------------- the table */

#define PURE QFI_PURE, QFI_FRESH, QF_REASON_none
#define VIEW QFI_PURE, QFI_ALIAS, QF_REASON_none
#define KEEP(reason) QFI_KEEP, QFI_FRESH, QF_REASON_##reason
#define WRITE QFI_WRITE, QFI_ALIAS, QF_REASON_none
#define UNKNOWN QFI_UNKNOWN, QFI_FRESH, QF_REASON_unknown_op

static const op ops[] = {
    { "t.full.d", PURE, of_args, lower_full, run_full },
    { "t.inf.d", PURE, of_args, lower_inf, run_inf },
    { "t.add.d", PURE, broadcast, lower_add, run_add },
    { "t.mul.d", PURE, broadcast, lower_mul, run_mul },
    { "t.idiv.d", PURE, broadcast, lower_idiv, run_idiv },
    { "t.exp.d", PURE, like_first, lower_exp, run_opaque },
    { "t.cast.d", PURE, to_dtype, lower_cast, run_copy },
    { "t.clone.d", PURE, like_first, lower_identity, run_copy },
    { "t.item.d", PURE, of_scalar, lower_identity, run_copy },
    { "t.scale.d", PURE, like_first, lower_scale, run_scale },
    { "t.dequantize.d", PURE, to_f32, lower_dequantize, run_dequantize },
    { "t.liar.d", PURE, to_dtype, lower_identity, run_copy },
    { "t.detach_.d", VIEW, like_first, lower_identity, NULL },
    { "t.permute.d", VIEW, permuted, lower_permute, NULL },
    { "t.slice.d", VIEW, sliced, lower_slice, NULL },
    { "t.select.d", VIEW, selected, lower_select, NULL },
    { "t.expand.d", VIEW, expanded, lower_expand, NULL },
    { "t.reshape.d", QFI_PURE, QFI_ALIAS_MAYBE, QF_REASON_none, reshaped, lower_reshape, NULL },
    { "t.fill_.d", WRITE, like_first, lower_fill, run_full },
    { "t.add_.d", WRITE, like_first, lower_add_in_place, run_add },
    { "t.refuse_.d", WRITE, like_first, lower_refuse, run_opaque },
    { "t.assert.d", QFI_ASSERT, QFI_FRESH, QF_REASON_none, NULL, lower_assert, NULL },
    { "t.rand.d", KEEP(random), of_args, NULL, run_drawn },
    { "t.empty.d", KEEP(uninitialised), of_args, NULL, run_drawn },
    { "t.bernoulli_.d", KEEP(random), like_first, NULL, run_drawn },
    { "t.custom.d", UNKNOWN, like_first, NULL, run_opaque },
    { "t.custom_.d", UNKNOWN, like_first, NULL, run_opaque },
    { "t.region.d", QFI_REGION, QFI_FRESH, QF_REASON_none, NULL, NULL, NULL },
    { "t.cond.d", KEEP(control_flow), NULL, NULL, NULL },
};

const op *find_op(const char *name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i].name, name))
            return &ops[i];
    return NULL;
}
