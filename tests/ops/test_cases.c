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

/* One case made concrete: operands, and what the naive evaluator says of them. defined: it has a
 * result for these values. */
typedef struct instance {
    const test_case *c;
    qf_dtype dtype;
    qf_attrs attrs;
    ref_tensor in[CASE_INPUTS], want;
    size_t n_in;
    bool defined;
} instance;

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

static void run_eval(const instance *it, layout how, const setting *s)
{
    const test_case *c = it->c;
    const qf_type *type = &it->want.type;
    qf_tensor view[CASE_INPUTS], out = layout_out(type, how == BROADCAST ? PADDED : how);
    ref_tensor got;
    qf_diag diag = { 0 };
    char name[64];

    snprintf(name, sizeof name, "%s, %s", layout_names[how], s->name);
    for (size_t i = 0; i < it->n_in; i++)
        view[i] = layout_make(&it->in[i], how, false);
    ref_make(&got, type);
    const qf_status st = qf_eval(&s->ctx, c->op, &it->attrs, view,
                                 qf_op_get(c->op)->n_in == 0 ? 0 : it->n_in, &out, &diag);
    if (!it->defined) {
        runs++;
        if (st != QF_ERR_VALUE)
            complain(c, it->dtype, name, "an undefined value went through");
    } else if (st != QF_OK) {
        complain(c, it->dtype, name, diag.text);
    } else {
        layout_read(&out, &got);
        compare(c, it->dtype, name, &it->want, &got);
        if (!layout_intact(&out))
            complain(c, it->dtype, name, "wrote outside the result");
    }
    ref_free(&got);
    layout_free(&out);
    for (size_t i = 0; i < it->n_in; i++)
        layout_free(&view[i]);
}

static void run_stream(const instance *it, const setting *s, const uint8_t *order)
{
    const test_case *c = it->c;
    const qf_type *type = &it->want.type;
    const uint32_t ids[] = { 0, 1, 2, 3 };
    qf_tensor view[CASE_INPUTS];
    qf_step step = { .op = c->op, .attrs = it->attrs, .n_in = (uint16_t)it->n_in, .in = ids };
    const qf_program program = { view, (uint32_t)it->n_in, &step, 1 };
    qf_ctx ctx = s->ctx;
    qf_pipe *pipe = NULL;
    qf_diag diag = { 0 };
    uint64_t size = 0;
    ref_tensor got;

    ctx.memory = 1u << 20;
    for (size_t i = 0; i < it->n_in; i++)
        view[i] = layout_make(&it->in[i], i % 2 ? DENSE : STRIDED, true);
    ref_make(&got, type);
    layout_bytes b = { 0 };
    qf_status st = qf_pipe_build(&ctx, &program, (uint32_t)it->n_in, order, &pipe, &diag);
    if (st == QF_OK && qf_type_bytes(type, &size)) {
        b = (layout_bytes){ .p = malloc(size + 1), .size = size };
        st = qf_pipe_stream(&ctx, pipe, NULL, &(qf_sink){ .take = layout_collect, .user = &b },
                            &diag);
    }
    if (st != (it->defined ? QF_OK : QF_ERR_VALUE)) {
        complain(c, it->dtype, "stream", diag.text);
    } else if (it->defined && b.n != size) {
        complain(c, it->dtype, "stream", "wrong number of bytes");
    } else if (it->defined) {
        layout_from_bytes(b.p, order, &got);
        compare(c, it->dtype, "stream", &it->want, &got);
    }
    free(b.p);
    qf_pipe_free(pipe);
    ref_free(&got);
    for (size_t i = 0; i < it->n_in; i++)
        layout_free(&view[i]);
}

static void run_case(const test_case *c, qf_dtype dtype, const setting *settings, size_t n_settings)
{
    check_rng rng = { 0x9e3779b97f4a7c15 ^ (uint64_t)c->op << 8 ^ (uint64_t)dtype };

    for (int how = 0; how < LAYOUTS; how++) {
        instance it = { .c = c, .dtype = dtype };
        qf_type type;
        uint8_t order[QF_MAX_RANK];
        it.n_in = case_inputs(c, dtype, how == BROADCAST, &rng, it.in, &type, &it.attrs);
        ref_make(&it.want, &type);
        it.defined = ref_eval(c->op, &it.attrs, it.in, it.n_in, &it.want);
        for (size_t s = 0; s < n_settings; s++)
            run_eval(&it, (layout)how, &settings[s]);
        for (int k = 0; k < type.rank; k++)
            order[k] = (uint8_t)((k + how) % type.rank);
        run_stream(&it, &settings[(size_t)how % n_settings], how == 0 ? NULL : order);
        ref_free(&it.want);
        for (size_t i = 0; i < it.n_in; i++)
            ref_free(&it.in[i]);
    }
}

int main(int argc, char **argv)
{
    setting s[] = { { .name = "scalar" },
                    { .name = "best" },
                    { .name = "best, 3 threads" },
                    { .name = "best, past the caches" } };
    enum { N = sizeof s / sizeof *s };
    qf_table *scalar = qf_table_make(0), *best = qf_table_make(qf_caps_detect());
    qf_diag diag = { 0 };
    size_t n;
    const test_case *c = cases(&n);

    for (size_t i = 0; i < N; i++) {
        s[i].ctx.struct_size = sizeof s[i].ctx;
        s[i].ctx.table = i == 0 ? scalar : best;
    }
    s[3].ctx.cache = 1;
    if (!scalar || !best || qf_threads_open(&s[2].ctx, 3, &diag) != QF_OK)
        return 1;
    for (size_t i = 0; i < n; i++) {
        qf_dtype dtype;
        if (argc > 1 && strcmp(argv[1], qf_op_get(c[i].op)->name) != 0)
            continue;
        for (int k = 0; case_dtype(&c[i], k, &dtype); k++)
            run_case(&c[i], dtype, s, N);
    }
    qf_threads_close(&s[2].ctx);
    qf_table_free(scalar);
    qf_table_free(best);
    printf("%lu runs, %lu failures\n", runs, failures);
    return failures != 0;
}
