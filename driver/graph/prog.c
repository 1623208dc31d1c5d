/* The program of internal calls: appending with equal calls merged. */
#include "prog.h"

#include <stdlib.h>
#include <string.h>

#include "attrs.h"
#include "hash.h"

#define FIRST_BUCKETS 256u
#define STACK_OPERANDS 8u

/* Operands are hashed one by one: pairs would read past an odd end. */
static uint64_t hash_def(const qfi_def *def)
{
    uint64_t hash = qfi_hash_word(0, (uint64_t)def->op << 32 | def->leaf);
    for (uint32_t i = 0; i < def->n_in; i++)
        hash = qfi_hash_word(hash, def->in[i]);
    return def->attrs ? qfi_hash_bytes(hash, def->attrs, sizeof *def->attrs) : hash;
}

static bool def_equal(const qfi_def *a, const qfi_def *b)
{
    return a->op == b->op && a->leaf == b->leaf && a->n_in == b->n_in && !a->attrs == !b->attrs &&
           (!a->n_in || !memcmp(a->in, b->in, a->n_in * sizeof *a->in)) &&
           (!a->attrs || !memcmp(a->attrs, b->attrs, sizeof *a->attrs));
}

/* The slot of an equal definition, or the free one where it belongs. The table is never full. */
static size_t find_slot(const qfi_prog *prog, const qfi_def *def)
{
    size_t i = (size_t)hash_def(def) & (prog->n_bucket - 1);
    while (prog->bucket[i] != QFI_NONE && !def_equal(&prog->def[prog->bucket[i]], def))
        i = (i + 1) & (prog->n_bucket - 1);
    return i;
}

static bool grow_buckets(qfi_prog *prog)
{
    if (prog->n < prog->n_bucket / 2)
        return true;
    const size_t n = prog->n_bucket ? prog->n_bucket * 2 : FIRST_BUCKETS;
    uint32_t *bucket = qfi_pool_alloc(&prog->pool, n, sizeof *bucket);
    if (!bucket)
        return false;
    for (size_t i = 0; i < n; i++)
        bucket[i] = QFI_NONE;
    prog->bucket = bucket;
    prog->n_bucket = n;
    for (size_t i = 0; i < prog->n; i++)
        bucket[find_slot(prog, &prog->def[i])] = (uint32_t)i;
    return true;
}

/* Room for one more. At first for what a program has whose nodes are one call each: what is not
 * used is not touched. */
static qfi_def *grow_defs(qfi_prog *prog)
{
    const size_t first = prog->graph ? (size_t)prog->graph->n_node + prog->graph->n_input : 0;
    if (!prog->def && first)
        return qfi_pool_reserve(&prog->pool, NULL, 0, &prog->cap, first, sizeof *prog->def);
    return qfi_pool_grow(&prog->pool, prog->def, prog->n, &prog->cap, sizeof *prog->def);
}

/* Appends a copy of *def, whose arrays are the caller's, or finds the equal one. */
static qf_status intern(qfi_prog *prog, const qfi_def *def, qfi_ref *out, qf_diag *diag)
{
    if (!grow_buckets(prog))
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    const size_t slot = find_slot(prog, def);
    if (prog->bucket[slot] != QFI_NONE) {
        *out = prog->bucket[slot];
        return QF_OK;
    }
    if (prog->n >= QFI_NONE)
        QF_FAIL(diag, QF_ERR_LIMIT, "more than %u definitions", QFI_NONE);
    qfi_def *defs = grow_defs(prog);
    qfi_ref *in = qfi_pool_alloc(&prog->pool, def->n_in, sizeof *in);
    qf_attrs *attrs = def->attrs ? qfi_pool_alloc(&prog->pool, 1, sizeof *attrs) : NULL;
    if (!defs || !in || (def->attrs && !attrs))
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    if (def->n_in)
        memcpy(in, def->in, def->n_in * sizeof *in);
    if (attrs)
        *attrs = *def->attrs;
    prog->def = defs;
    defs[prog->n] = *def;
    defs[prog->n].in = in;
    defs[prog->n].attrs = attrs;
    prog->bucket[slot] = *out = (qfi_ref)prog->n++;
    return QF_OK;
}

/* A call that only hands its operand on: nothing needs to remember it. */
static bool is_same(const qfi_def *def, const qf_type *in)
{
    if (def->op == QF_OP_identity)
        return true;
    const bool moves_only = def->op == QF_OP_reshape || def->op == QF_OP_expand ||
                            def->op == QF_OP_cast ||
                            (def->op == QF_OP_slice && def->attrs->slice.step == 1);
    if (moves_only)
        return qf_type_equal(&def->type, in);
    if (def->op != QF_OP_permute)
        return false;
    for (int8_t i = 0; i < in->rank; i++)
        if (def->attrs->dims.dim[i] != i)
            return false;
    return true;
}

qf_status qfi_prog_call(qfi_prog *prog, qf_op op, const qf_attrs *attrs, const qfi_ref *in,
                        uint32_t n_in, qfi_ref *out, qf_diag *diag)
{
    if (n_in > UINT16_MAX)
        QF_FAIL(diag, QF_ERR_ARG, "a call with %u operands", n_in);
    qf_type on_stack[STACK_OPERANDS];
    qf_type *types =
        n_in <= STACK_OPERANDS ? on_stack : qfi_pool_alloc(&prog->pool, n_in, sizeof *types);
    if (!types)
        QF_FAIL(diag, QF_ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < n_in; i++) {
        if (in[i] >= prog->n)
            QF_FAIL(diag, QF_ERR_INTERNAL, "operand %u of a call is not defined", i);
        types[i] = prog->def[in[i]].type;
    }
    qf_attrs normal;
    qfi_attrs_copy(op, n_in ? types[0].rank : QF_MAX_RANK, attrs, &normal);
    qfi_def def = { .op = op,
                    .n_in = (uint16_t)n_in,
                    .leaf = QFI_NONE,
                    .in = in,
                    .attrs = qfi_attrs_any(op) ? &normal : NULL };
    const qf_call call = { .op = op, .n_in = def.n_in, .in = types, .attrs = def.attrs };
    QF_TRY(qf_infer(&call, &def.type, diag));
    if (n_in == 1 && is_same(&def, types)) {
        *out = in[0];
        return QF_OK;
    }
    return intern(prog, &def, out, diag);
}

qf_status qfi_prog_leaf(qfi_prog *prog, qfi_id value, qfi_ref *out, qf_diag *diag)
{
    const qfi_value *v = &prog->graph->value[value];
    if (v->payload == QFI_NONE || v->type.rank < 0)
        QF_FAIL(diag, QF_ERR_INTERNAL, "%.*s is not stored", QFI_STR(v->name));
    const qfi_def def = { .type = v->type, .op = QF_OP_COUNT, .leaf = value };
    return intern(prog, &def, out, diag);
}

qf_tensor qfi_leaf_tensor(const qf_graph *graph, qfi_id value)
{
    const qfi_value *v = &graph->value[value];
    qf_tensor tensor = { .storage = graph->payload[v->payload].storage,
                         .offset = v->strided ? v->offset : 0,
                         .rank = (uint8_t)v->type.rank,
                         .dtype = v->type.dtype };
    memcpy(tensor.shape, v->type.dim, sizeof tensor.shape);
    if (v->strided)
        memcpy(tensor.stride, v->stride, sizeof tensor.stride);
    else
        qf_strides_dense(tensor.rank, tensor.shape, tensor.stride);
    return tensor;
}

void qfi_prog_free(qfi_prog *prog)
{
    qfi_pool_free(&prog->pool);
    *prog = (qfi_prog){ 0 };
}
