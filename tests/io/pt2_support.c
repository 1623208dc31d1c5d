/* Edits made by hand. */
#include "io_support.h"

#include <stdio.h>
#include <string.h>

#include <qfold/io.h>

#include "pt2_support.h"

static const char *path_in(const char *folder, const char *name)
{
    static char paths[16][512];
    static unsigned next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s.pt2", folder, name);
    return path;
}

const char *fixture(const char *name)
{
    return path_in(PT2_FIXTURES, name);
}
const char *malformed(const char *name)
{
    return path_in(PT2_MALFORMED, name);
}

qf_graph *open_fixture(const char *name)
{
    qf_graph *g = NULL;
    qf_diag diag = { 0 };
    assert_ok(qf_open(fixture(name), &g, &diag), &diag);
    return g;
}

qfi_id node_named(const qf_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_node; i++)
        if (qfi_str_is(g->node[i].name, name))
            return i;
    fail_msg("there is no node '%s'", name);
    return QFI_NONE;
}

qfi_id value_named(const qf_graph *g, const char *name)
{
    const qfi_id id = qfi_pt2_value(g, (qf_str){ name, strlen(name) });
    if (id == QFI_NONE)
        fail_msg("there is no value '%s'", name);
    return id;
}

hand_edits edits_begin(const qf_graph *g)
{
    hand_edits e = { .graph = g };
    qfi_pool *pool = &e.edits.pool;
    qfi_whole *whole = qfi_pool_alloc(pool, 1, sizeof *whole);
    qf_diag diag = { 0 };
    assert_non_null(whole);
    assert_ok(qfi_whole_make(g, pool, whole, &diag), &diag);
    const uint32_t n_node = whole->graph.n_node, n_value = whole->graph.n_value;
    e.edits.whole = whole;
    e.edits.drop_node = qfi_pool_alloc(pool, n_node + 1u, sizeof(bool));
    e.edits.drop_value = qfi_pool_alloc(pool, n_value + 1u, sizeof(bool));
    e.edits.drop_payload = qfi_pool_alloc(pool, g->n_payload + 1u, sizeof(bool));
    e.edits.is_literal = qfi_pool_alloc(pool, n_value + 1u, sizeof(bool));
    e.edits.literal = qfi_pool_alloc(pool, n_value + 1u, sizeof *e.edits.literal);
    e.edits.constant = qfi_pool_alloc(pool, 8, sizeof *e.edits.constant);
    e.edits.new_payload = qfi_pool_alloc(pool, 8, sizeof *e.edits.new_payload);
    e.edits.patch = qfi_pool_alloc(pool, 8, sizeof *e.edits.patch);
    return e;
}

void edits_end(hand_edits *e)
{
    qfi_pool_free(&e->edits.pool);
}

void edits_drop_nodes(hand_edits *e, const char *const *names)
{
    for (; *names; names++)
        e->edits.drop_node[qfi_part_node(&e->edits.whole->part[0], node_named(e->graph, *names))] =
            true;
}

void edits_drop_values(hand_edits *e, const char *const *names)
{
    for (; *names; names++)
        e->edits.drop_value[value_named(e->graph, *names)] = true;
}

uint32_t edits_payload(hand_edits *e, const void *bytes, uint64_t size)
{
    const uint32_t i = e->edits.n_new_payload++;
    e->edits.new_payload[i].size = size;
    e->bytes[i] = bytes;
    return e->graph->n_payload + i;
}

uint32_t edits_constant(hand_edits *e, const char *value, const char *like, uint32_t payload,
                        const int64_t *stride, int64_t offset)
{
    const uint32_t i = e->edits.n_constant++;
    qfi_constant *c = &e->edits.constant[i];
    c->value = value ? value_named(e->graph, value) : QFI_NONE;
    c->like = like ? value_named(e->graph, like) : QFI_NONE;
    c->type = e->graph->value[value ? c->value : c->like].type;
    c->payload = payload;
    c->offset = offset;
    memcpy(c->stride, stride, (size_t)c->type.rank * sizeof *stride);
    return i;
}

void edits_literal(hand_edits *e, const char *value, qf_scalar v)
{
    const qfi_id id = value_named(e->graph, value);
    e->edits.is_literal[id] = true;
    e->edits.literal[id] = v;
}

static qf_status produce(void *user, uint32_t new_payload, uint32_t lane, const qf_sink *sink,
                         qf_diag *diag)
{
    (void)lane;
    const hand_edits *e = user;
    return qf_sink_write(sink, e->bytes[new_payload],
                         (size_t)e->edits.new_payload[new_payload].size, diag);
}

void write_edited(const qf_graph *g, hand_edits *e, const char *target)
{
    qfi_layout layout = { 0 };
    qf_diag diag = { 0 };
    const qfi_write_options options = { .produce = produce, .user = e, .replace = true };
    assert_ok(g->format->layout(g, NULL, e ? &e->edits : NULL, &layout, &diag), &diag);
    assert_ok(qfi_write(&layout, qfi_graph_file(g), target, &options, NULL, &diag), &diag);
    qfi_layout_free(&layout);
}
