/* Collecting what a definition needs, as a program of its own. */
#include "compile.h"

#include <stdlib.h>

#include "hash.h"

#define FIRST_SLOTS 32u

static size_t cone_slot(const qfi_cone *c, qfi_ref ref)
{
    size_t i = (size_t)qfi_hash_word(0, ref) & (c->n_slot - 1);
    while (c->key[i] != QFI_NONE && c->key[i] != ref)
        i = (i + 1) & (c->n_slot - 1);
    return i;
}

static uint32_t cone_id(const qfi_cone *c, qfi_ref ref)
{
    return c->id[cone_slot(c, ref)];
}

static bool cone_grow(qfi_cone *c)
{
    if (c->n < c->n_slot / 2)
        return true;
    const size_t n = c->n_slot ? c->n_slot * 2 : FIRST_SLOTS;
    if (n > c->cap_slot) {
        c->key = qfi_pool_alloc(&c->pool, n, sizeof *c->key);
        c->id = qfi_pool_alloc(&c->pool, n, sizeof *c->id);
        if (!c->key || !c->id)
            return false;
        c->cap_slot = n;
    }
    c->n_slot = n;
    for (size_t i = 0; i < n; i++)
        c->key[i] = QFI_NONE;
    for (size_t i = 0; i < c->n; i++)
        c->key[cone_slot(c, c->ref[i])] = c->ref[i];
    return true;
}

static bool cone_add(qfi_cone *c, qfi_ref ref)
{
    if (!cone_grow(c))
        return false;
    const size_t slot = cone_slot(c, ref);
    if (c->key[slot] == ref)
        return true;
    qfi_ref *refs = qfi_pool_grow(&c->pool, c->ref, c->n, &c->cap, sizeof *refs);
    if (!refs)
        return false;
    c->ref = refs;
    c->ref[c->n++] = ref;
    c->key[slot] = ref;
    return true;
}

static int by_number(const void *a, const void *b)
{
    const qfi_ref x = *(const qfi_ref *)a, y = *(const qfi_ref *)b;
    return (x > y) - (x < y);
}

/* Into program order. Found from the result on, a chain stands backwards: mostly that is all. */
static void cone_sort(qfi_cone *c)
{
    bool sorted = true;
    for (size_t i = 0, k = c->n - 1; i < k; i++, k--) {
        const qfi_ref ref = c->ref[i];
        c->ref[i] = c->ref[k];
        c->ref[k] = ref;
    }
    for (size_t i = 1; i < c->n && sorted; i++)
        sorted = c->ref[i - 1] < c->ref[i];
    if (!sorted)
        qsort(c->ref, c->n, sizeof *c->ref, by_number);
}

/* Everything that `root` is computed from, in program order. Breadth first, since chains may be as
 * long as the file allows. */
static bool cone_collect(qfi_cone *c, const qfi_prog *prog, qfi_ref root)
{
    c->n = c->n_slot = 0;
    if (!cone_add(c, root))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        const qfi_def *def = &prog->def[c->ref[i]];
        for (uint32_t k = 0; k < def->n_in; k++)
            if (!cone_add(c, def->in[k]))
                return false;
    }
    cone_sort(c);
    return true;
}

/* An array of `want` elements that hold anything; what becomes longer becomes twice as long. */
static void *renew(qfi_cone *c, void *array, size_t *cap, size_t want, size_t size)
{
    const size_t room = want > *cap && want < *cap * 2 ? *cap * 2 : want;
    return qfi_pool_reserve(&c->pool, array, 0, cap, room, size);
}

static bool cone_reserve(qfi_cone *c, size_t n_input, size_t n_step, size_t n_in)
{
    c->input = renew(c, c->input, &c->cap_input, n_input, sizeof *c->input);
    c->step = renew(c, c->step, &c->cap_step, n_step, sizeof *c->step);
    c->in = renew(c, c->in, &c->cap_in, n_in, sizeof *c->in);
    return (c->input || !n_input) && (c->step || !n_step) && (c->in || !n_in);
}

/* Leaves become inputs, the rest steps; ids count inputs first. */
static bool cone_program(qfi_cone *c, const qfi_prog *prog, qf_program *out)
{
    size_t n_in = 0;
    uint32_t n_input = 0;
    for (size_t i = 0; i < c->n; i++) {
        const qfi_def *def = &prog->def[c->ref[i]];
        n_input += def->leaf != QFI_NONE;
        n_in += def->n_in;
    }
    if (!cone_reserve(c, n_input, c->n - n_input, n_in))
        return false;
    *out = (qf_program){ .input = c->input, .step = c->step };
    uint32_t *in = c->in;
    for (size_t i = 0; i < c->n; i++) {
        const qfi_def *def = &prog->def[c->ref[i]];
        const size_t slot = cone_slot(c, c->ref[i]);
        if (def->leaf != QFI_NONE) {
            c->id[slot] = out->n_input;
            c->input[out->n_input++] = qfi_leaf_tensor(prog->graph, def->leaf);
            continue;
        }
        qf_step *step = &c->step[out->n_step];
        *step = (qf_step){ .op = def->op, .n_in = def->n_in, .in = in };
        if (def->attrs)
            step->attrs = *def->attrs;
        for (uint32_t k = 0; k < def->n_in; k++)
            *in++ = cone_id(c, def->in[k]);
        c->id[slot] = n_input + out->n_step++;
    }
    return true;
}

qf_status qfi_compile(qfi_compiler *compiler, qfi_ref ref, const uint8_t *order, qf_pipe **out,
                      uint32_t *n_calls, qf_diag *diag)
{
    qfi_cone *c = &compiler->cone;
    qf_program program;
    if (!cone_collect(c, compiler->prog, ref) || !cone_program(c, compiler->prog, &program))
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    if (n_calls)
        *n_calls = program.n_step;
    const size_t rank = (size_t)compiler->prog->def[ref].type.rank;
    const qfi_recent_key key = qfi_recent_key_of(&program, cone_id(c, ref), rank, order);
    qf_pipe *like = qfi_recent_find(&compiler->recent, &key);
    if (like && qf_pipe_bind(like, program.input, out, NULL) == QF_OK)
        return QF_OK;
    QF_TRY(qf_pipe_build(compiler->ctx, &program, cone_id(c, ref), order, out, diag));
    qfi_recent_keep(&compiler->recent, &key, *out);
    return QF_OK;
}

void qfi_compiler_free(qfi_compiler *compiler)
{
    qfi_pool_free(&compiler->cone.pool);
    qfi_recent_free(&compiler->recent);
    *compiler = (qfi_compiler){ 0 };
}

qf_status qfi_compile_one(const qfi_prog *prog, const qf_ctx *ctx, qfi_ref ref, qf_pipe **out,
                          qf_diag *diag)
{
    qfi_compiler compiler = { .prog = prog, .ctx = ctx };
    const qf_status st = qfi_compile(&compiler, ref, NULL, out, NULL, diag);
    qfi_compiler_free(&compiler);
    return st;
}
