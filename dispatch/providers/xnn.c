/* XNNPACK, in the interface of 2022 (Debian 12): conversions of dense tensors.
 *
 * Its add and mul clamp their results to a range, by which a NaN becomes -infinity: they are not
 * offered.
 *
 * Its kernels read up to XNN_EXTRA_BYTES beyond their operands, which a host's memory need not
 * have: the last elements go to the own rows. */
#include "dispatch/providers/providers.h"

#include <stdio.h>

#if QFOLD_HAVE_XNNPACK
#include "kernels/rows.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include <xnnpack.h>

#define LIBRARY "libXNNPACK.so.0"
#define TAIL 64 /* elements for the own rows: more bytes than are read beyond the end */
_Static_assert(TAIL >= XNN_EXTRA_BYTES, "a tail of bytes covers what is read beyond the end");

/* The functions in use, and their names. */
#define FUNCTIONS(X)                                                                               \
    X(initialize)                                                                                  \
    X(run_operator)                                                                                \
    X(delete_operator)                                                                             \
    X(create_convert_nc_f16_f32)                                                                   \
    X(setup_convert_nc_f16_f32)                                                                    \
    X(create_convert_nc_f32_f16)                                                                   \
    X(setup_convert_nc_f32_f16)                                                                    \
    X(create_convert_nc_qs8_f32)                                                                   \
    X(setup_convert_nc_qs8_f32)                                                                    \
    X(create_convert_nc_qu8_f32)                                                                   \
    X(setup_convert_nc_qu8_f32)

static struct {
    pthread_once_t once;
    const char *why; /* it cannot be used */
#define POINTER(name) __typeof__(xnn_##name) *name;
    FUNCTIONS(POINTER)
#undef POINTER
} xnn = { .once = PTHREAD_ONCE_INIT };

/* POSIX lets an object pointer hold a function; C does not say so. */
#define FIND(name)                                                                                 \
    do {                                                                                           \
        void *at = dlsym(library, "xnn_" #name);                                                   \
        memcpy(&xnn.name, &at, sizeof at);                                                         \
        if (!at)                                                                                   \
            xnn.why = LIBRARY " has another interface than the one built for";                     \
    } while (0);

static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        xnn.why = LIBRARY " is not installed";
        return;
    }
    FUNCTIONS(FIND)
    if (!xnn.why && xnn.initialize(NULL) != xnn_status_success)
        xnn.why = "XNNPACK does not run on this CPU";
}

bool qfi_xnn_ready(char *text, size_t size)
{
    pthread_once(&xnn.once, load);
    snprintf(text, size, "%s", xnn.why ? xnn.why : "interface of 2022");
    return !xnn.why;
}

/* One operator over n elements that stand one after the other. scale, zero: of a dequantize. */
typedef struct call {
    size_t n, in_size, out_size;
    const char *in;
    char *out;
    float scale;
    int zero;
} call;

typedef enum xnn_status setup_fn(const call *c, size_t n, xnn_operator_t *op);

#define CONVERT(name, create, setup, ...)                                                          \
    static enum xnn_status name(const call *c, size_t n, xnn_operator_t *op)                       \
    {                                                                                              \
        const enum xnn_status st = xnn.create(1, 1, 1, __VA_ARGS__ 0, op);                         \
        return st ? st : xnn.setup(*op, n, (const void *)c->in, (void *)c->out, NULL);             \
    }

CONVERT(f16_to_f32, create_convert_nc_f16_f32, setup_convert_nc_f16_f32, )
CONVERT(f32_to_f16, create_convert_nc_f32_f16, setup_convert_nc_f32_f16, )
CONVERT(i8_to_f32, create_convert_nc_qs8_f32, setup_convert_nc_qs8_f32, c->scale, (int8_t)c->zero, )
CONVERT(u8_to_f32, create_convert_nc_qu8_f32, setup_convert_nc_qu8_f32, c->scale,
        (uint8_t)c->zero, )

/* What is taken: operator, types of the first operand and the result, the own row. */
static const struct {
    qf_op op;
    qf_dtype from, to;
    uint16_t row;
    setup_fn *setup;
} takes[] = {
    { QF_OP_cast, QF_DT_f16, QF_DT_f32, QFK_OP_to_f32, f16_to_f32 },
    { QF_OP_cast, QF_DT_f32, QF_DT_f16, QFK_OP_to_f16, f32_to_f16 },
    { QF_OP_dequantize, QF_DT_i8, QF_DT_f32, QFK_OP_dequantize, i8_to_f32 },
    { QF_OP_dequantize, QF_DT_u8, QF_DT_f32, QFK_OP_dequantize, u8_to_f32 },
};
enum { N_TAKES = sizeof takes / sizeof *takes };

static const char *first_byte(const qf_tensor *t)
{
    return (const char *)t->storage->data + t->offset * (qf_dtype_get(t->dtype)->bits / 8);
}

static bool is_dense(const qf_tensor *t, const qf_tensor *like)
{
    int64_t step = 1;

    if (!t->storage->data || t->rank != like->rank)
        return false;
    for (int d = t->rank - 1; d >= 0; d--) {
        if (t->shape[d] != like->shape[d] || (t->stride[d] != step && t->shape[d] > 1))
            return false;
        step *= t->shape[d];
    }
    return true;
}

static int64_t integer_at(const qf_tensor *t)
{
    const qf_dtype_info *d = qf_dtype_get(t->dtype);
    int64_t value = 0;

    memcpy(&value, first_byte(t), d->bits / 8);
    const unsigned unused = 64 - d->bits;
    return d->kind == QF_CLASS_UINT ? value : (int64_t)((uint64_t)value << unused) >> unused;
}

/* One scale and one zero point, which XNNPACK's types hold; in a shorter type differences wrap. */
static bool is_per_tensor(const qf_attrs *attrs, const qf_tensor *in, call *c)
{
    const qf_dtype_info *zero = qf_dtype_get(in[2].dtype);

    if (in[1].dtype != QF_DT_f32 || zero->bits < 32 || !in[1].storage->data ||
        !in[2].storage->data || (zero->kind != QF_CLASS_INT && zero->kind != QF_CLASS_UINT) ||
        qf_tensor_elements(&in[1]) != 1 || qf_tensor_elements(&in[2]) != 1)
        return false;
    for (int d = 0; d < in[0].rank; d++)
        if (attrs->quant.block[d] < in[0].shape[d])
            return false;
    const int64_t z = integer_at(&in[2]), least = in[0].dtype == QF_DT_i8 ? -128 : 0;
    memcpy(&c->scale, first_byte(&in[1]), sizeof c->scale);
    c->zero = (int)z;
    return z >= least && z < least + 256;
}

/* Everything but the tail. */
static bool run_front(const call *c, setup_fn *setup)
{
    xnn_operator_t op = NULL;
    const bool done = setup(c, c->n - TAIL, &op) == xnn_status_success &&
                      xnn.run_operator(op, NULL) == xnn_status_success;
    xnn.delete_operator(op);
    return done;
}

static void run_tail(const call *c, const qfk_row *own)
{
    const size_t at = c->n - TAIL;
    const float zero = (float)c->zero;
    const qfk_in in[3] = { { c->in + at * c->in_size, 0, (ptrdiff_t)c->in_size },
                           { &c->scale, 0, 0 },
                           { &zero, 0, 0 } };

    own->fn(1, TAIL, in, (qfk_out){ c->out + at * c->out_size, 0 }, NULL);
}

static int find(qf_op op, qf_dtype from, qf_dtype to)
{
    for (int i = 0; i < N_TAKES; i++)
        if (takes[i].op == op && takes[i].from == from && takes[i].to == to)
            return i;
    return -1;
}

bool qfi_xnn_eval(const qf_ctx *ctx, qf_op op, const qf_attrs *attrs, const qf_tensor *in,
                  const qf_tensor *out)
{
    const int i = find(op, in[0].dtype, out->dtype);
    const uint64_t n = qf_tensor_elements(out);
    call c = { .n = (size_t)n };

    if (i < 0 || n < 2 * TAIL || !is_dense(&in[0], out) || !is_dense(out, out))
        return false;
    if (op == QF_OP_dequantize && !is_per_tensor(attrs, in, &c))
        return false;
    pthread_once(&xnn.once, load);
    if (xnn.why)
        return false;
    c.in = first_byte(&in[0]);
    c.out = (char *)out->storage->data + out->offset * (qf_dtype_get(out->dtype)->bits / 8);
    c.in_size = qf_dtype_get(in[0].dtype)->bits / 8;
    c.out_size = qf_dtype_get(out->dtype)->bits / 8;
    const qfk_row *own = qfk_pick(ctx->table, takes[i].row, (qfk_key)in[0].dtype);
    const bool done = own && run_front(&c, takes[i].setup);
    if (done)
        run_tail(&c, own);
    return done;
}
#else
bool qfi_xnn_ready(char *text, size_t size)
{
    snprintf(text, size, "this build was made without it");
    return false;
}

bool qfi_xnn_eval(const qf_ctx *ctx, qf_op op, const qf_attrs *attrs, const qf_tensor *in,
                  const qf_tensor *out)
{
    (void)ctx, (void)op, (void)attrs, (void)in, (void)out;
    return false;
}
#endif
