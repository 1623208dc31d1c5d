/* Every case x dtype x layout x capabilities x threads through qf_eval, against the naive
 * evaluator; then through a pipeline over readers in little memory, in another order of dims. */
#include "case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long runs, failures;

typedef struct setting {
    qf_ctx ctx;
    const char *name;
} setting;

static void complain(const test_case *c, qf_dtype dtype, const char *how, const char *what)
{
    failures++;
    if (failures < 40)
        printf("%s %s in %s: %s: %s\n", qf_op_get(c->op)->name, qf_dtype_get(dtype)->name, c->in,
               how, what);
}

static void compare(const test_case *c, qf_dtype dtype, const char *how, const ref_tensor *want,
                    const ref_tensor *got)
{
    char text[160];

    runs++;
    for (int64_t i = 0; i < want->n; i++) {
        if (ref_agree(c->op, want->type.dtype, want->e[i], got->e[i]))
            continue;
        snprintf(text, sizeof text, "element %" PRId64 " is %" PRIx64 ", not %" PRIx64, i,
                 got->e[i][0], want->e[i][0]);
        complain(c, dtype, how, text);
        return;
    }
}

static void run_eval(const test_case *c, qf_dtype dtype, const qf_attrs *attrs,
                     const ref_tensor *in, size_t n_in, const ref_tensor *want, bool defined,
                     layout how, const setting *s)
{
    qf_tensor view[CASE_INPUTS], out = layout_out(&want->type, how == BROADCAST ? PADDED : how);
    ref_tensor got;
    qf_diag diag = { 0 };
    char name[64];

    snprintf(name, sizeof name, "%s, %s", layout_names[how], s->name);
    for (size_t i = 0; i < n_in; i++)
        view[i] = layout_make(&in[i], how, false);
    ref_make(&got, &want->type);
    const qf_status st =
        qf_eval(&s->ctx, c->op, attrs, view, qf_op_get(c->op)->n_in == 0 ? 0 : n_in, &out, &diag);
    if (!defined) {
        runs++;
        if (st != QF_ERR_VALUE)
            complain(c, dtype, name, "an undefined value went through");
    } else if (st != QF_OK) {
        complain(c, dtype, name, diag.text);
    } else {
        layout_read(&out, &got);
        compare(c, dtype, name, want, &got);
        if (!layout_intact(&out))
            complain(c, dtype, name, "wrote outside the result");
    }
    ref_free(&got);
    layout_free(&out);
    for (size_t i = 0; i < n_in; i++)
        layout_free(&view[i]);
}

typedef struct bytes {
    unsigned char *p;
    size_t n, size;
} bytes;

static qf_status collect(void *user, const void *data, size_t n, qf_diag *diag)
{
    bytes *b = user;
    if (b->n + n > b->size)
        return qf_fail(diag, QF_ERR_WRITE, "more bytes than the type has");
    memcpy(b->p + b->n, data, n);
    b->n += n;
    return QF_OK;
}

static void run_stream(const test_case *c, qf_dtype dtype, const qf_attrs *attrs,
                       const ref_tensor *in, size_t n_in, const ref_tensor *want, bool defined,
                       const setting *s, const uint8_t *order)
{
    const uint32_t ids[] = { 0, 1, 2, 3 };
    qf_tensor view[CASE_INPUTS];
    qf_step step = { .op = c->op, .attrs = *attrs, .n_in = (uint16_t)n_in, .in = ids };
    const qf_program program = { view, (uint32_t)n_in, &step, 1 };
    qf_ctx ctx = s->ctx;
    qf_pipe *pipe = NULL;
    qf_diag diag = { 0 };
    uint64_t size = 0;
    ref_tensor got;

    ctx.memory = 1u << 20;
    for (size_t i = 0; i < n_in; i++)
        view[i] = layout_make(&in[i], i % 2 ? DENSE : STRIDED, true);
    ref_make(&got, &want->type);
    bytes b = { 0 };
    qf_status st = qf_pipe_build(&ctx, &program, (uint32_t)n_in, order, &pipe, &diag);
    if (st == QF_OK && qf_type_bytes(&want->type, &size)) {
        b = (bytes){ .p = malloc(size + 1), .size = size };
        st = qf_pipe_stream(&ctx, pipe, NULL, collect, &b, &diag);
    }
    if (st != (defined ? QF_OK : QF_ERR_VALUE)) {
        complain(c, dtype, "stream", diag.text);
    } else if (defined && b.n != size) {
        complain(c, dtype, "stream", "wrong number of bytes");
    } else if (defined) {
        layout_from_bytes(b.p, order, &got);
        compare(c, dtype, "stream", want, &got);
    }
    free(b.p);
    qf_pipe_free(pipe);
    ref_free(&got);
    for (size_t i = 0; i < n_in; i++)
        layout_free(&view[i]);
}

static void run_case(const test_case *c, qf_dtype dtype, const setting *settings, size_t n_settings)
{
    check_rng rng = { 0x9e3779b97f4a7c15 ^ (uint64_t)c->op << 8 ^ (uint64_t)dtype };

    for (int how = 0; how < LAYOUTS; how++) {
        ref_tensor in[CASE_INPUTS], want;
        qf_type type;
        qf_attrs attrs;
        uint8_t order[QF_MAX_RANK];
        const size_t n_in = case_inputs(c, dtype, how == BROADCAST, &rng, in, &type, &attrs);
        ref_make(&want, &type);
        const bool defined = ref_eval(c->op, &attrs, in, n_in, &want);
        for (size_t s = 0; s < n_settings; s++)
            run_eval(c, dtype, &attrs, in, n_in, &want, defined, (layout)how, &settings[s]);
        for (int k = 0; k < type.rank; k++)
            order[k] = (uint8_t)((k + how) % type.rank);
        run_stream(c, dtype, &attrs, in, n_in, &want, defined, &settings[(size_t)how % n_settings],
                   how == 0 ? NULL : order);
        ref_free(&want);
        for (size_t i = 0; i < n_in; i++)
            ref_free(&in[i]);
    }
}

int main(int argc, char **argv)
{
    setting s[3] = { { .name = "scalar" }, { .name = "best" }, { .name = "best, 3 threads" } };
    qf_table *scalar = qf_table_make(0), *best = qf_table_make(qf_caps_detect());
    qf_diag diag = { 0 };
    size_t n;
    const test_case *c = cases(&n);

    for (size_t i = 0; i < 3; i++) {
        s[i].ctx.struct_size = sizeof s[i].ctx;
        s[i].ctx.table = i == 0 ? scalar : best;
    }
    if (!scalar || !best || qf_threads_open(&s[2].ctx, 3, &diag) != QF_OK)
        return 1;
    for (size_t i = 0; i < n; i++) {
        qf_dtype dtype;
        if (argc > 1 && strcmp(argv[1], qf_op_get(c[i].op)->name) != 0)
            continue;
        for (int k = 0; case_dtype(&c[i], k, &dtype); k++)
            run_case(&c[i], dtype, s, 3);
    }
    qf_threads_close(&s[2].ctx);
    qf_table_free(scalar);
    qf_table_free(best);
    printf("%lu runs, %lu failures\n", runs, failures);
    return failures != 0;
}
