/* Bounded growth (R4), decided in bytes before anything is computed.
 *
 * Nodes that may fold form groups: those that feed each other, share a stored result, or are the
 * last readers of the same payload, so that no group's bytes depend on another's fate. A group
 * grows the file by what its boundary stores less the payloads that lose their last reader. Groups
 * are taken in ascending growth while the budget lasts; one that is too large lets its worst stored
 * result stay a computation and is asked again. */
#include "work.h"

#include <stdlib.h>

#define LEAST_GROWTH ((uint64_t)1 << 20)

typedef struct group {
    qfi_sum growth;
    qfi_id first;        /* node: the graph's order */
    uint32_t begin, end; /* range of policy.unit */
} group;

typedef struct policy {
    qfi_fold *fold;
    qfi_run *run;
    uint32_t *parent;  /* per node: union-find */
    bool *open;        /* per node: belongs to a group */
    uint64_t *sources; /* per node: bytes of payloads behind its results that could vanish */
    group *groups;
    uint32_t *number; /* per node that leads a group: its index */
    uint32_t n_group;
    uint32_t *unit; /* units by group */
    uint32_t *heap; /* of units of the group at hand, worst first */
    size_t n_heap, cap_heap;
} policy;

/* ---------------------------------------- groups */

static uint32_t find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* The smaller number leads, so a group is known by its first node. */
static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find(parent, a);
    b = find(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* Nodes whose part in the file is not settled (they fold, or nobody needs them so far) and from
 * which something stored comes: what is dead joins nobody. */
static qf_status find_open(policy *p, qf_diag *diag)
{
    const qf_graph *g = p->fold->graph;
    const qfi_run *run = p->run;
    p->open = qfi_pool_alloc(&p->run->pool, g->n_node, sizeof *p->open);
    if (!p->open)
        return QFI_NO_MEMORY(diag);
    for (qfi_id n = g->n_node; n-- > 0;) {
        const qfi_node *node = &g->node[n];
        if (run->member[n] == QFI_RUNTIME || run->live[n]) {
            p->open[n] = false;
            continue;
        }
        p->open[n] |= node->effect == QFI_WRITE;
        for (uint32_t k = 0; k < node->n_out; k++)
            p->open[n] |= run->boundary[node->first_out + k] != QFI_NONE;
        for (uint32_t k = 0; p->open[n] && k < node->n_in; k++) {
            const qfi_id v = g->operand[node->first_in + k];
            if (v != QFI_NONE && g->value[v].node != QFI_NONE)
                p->open[g->value[v].node] = true;
        }
    }
    return QF_OK;
}

static void join_operands(const policy *p, qfi_id n, uint32_t *reader)
{
    const qf_graph *g = p->fold->graph;
    const qfi_node *node = &g->node[n];
    for (uint32_t k = 0; k < node->n_in; k++) {
        const qfi_id v = g->operand[node->first_in + k];
        if (v == QFI_NONE)
            continue;
        const qfi_value *value = &g->value[v];
        if (value->node != QFI_NONE && p->open[value->node])
            join(p->parent, n, value->node);
        if (value->node != QFI_NONE || value->payload == QFI_NONE ||
            p->run->payload_use[value->payload])
            continue;
        if (reader[value->payload] == QFI_NONE)
            reader[value->payload] = n;
        join(p->parent, n, reader[value->payload]);
    }
}

static void join_units(const policy *p)
{
    const qfi_run *run = p->run;
    const qfi_value *value = p->fold->graph->value;
    for (size_t u = 0; u < run->n_unit; u++) {
        qfi_id last = QFI_NONE;
        for (qfi_id v = run->unit[u].first; v != QFI_NONE; v = run->next_in_unit[v]) {
            if (run->unit_of[v] != u)
                continue;
            if (last != QFI_NONE)
                join(p->parent, value[v].node, value[last].node);
            last = v;
        }
    }
}

/* The group of a unit: of any node whose result it stores; QFI_NONE if it is not in use. */
static uint32_t unit_group(const policy *p, uint32_t u)
{
    const qfi_run *run = p->run;
    for (qfi_id v = run->unit[u].first; v != QFI_NONE; v = run->next_in_unit[v])
        if (run->unit_of[v] == u)
            return p->number[find(p->parent, p->fold->graph->value[v].node)];
    return QFI_NONE;
}

static qf_status number_groups(policy *p, qf_diag *diag)
{
    const uint32_t n = p->fold->graph->n_node;
    p->number = qfi_pool_alloc(&p->run->pool, n, sizeof *p->number);
    p->groups = qfi_pool_alloc(&p->run->pool, n, sizeof *p->groups);
    p->unit = qfi_pool_alloc(&p->run->pool, p->run->n_unit, sizeof *p->unit);
    if (!p->number || !p->groups || !p->unit)
        return QFI_NO_MEMORY(diag);
    for (uint32_t i = 0; i < n; i++) {
        if (!p->open[i] || find(p->parent, i) != i)
            continue;
        p->number[i] = p->n_group;
        p->groups[p->n_group++] = (group){ .first = i };
    }
    return QF_OK;
}

/* A counting sort of the units in use by group. */
static void assign_units(policy *p)
{
    const qfi_run *run = p->run;
    uint32_t at = 0;
    for (uint32_t u = 0; u < run->n_unit; u++) {
        const uint32_t g = unit_group(p, u);
        if (g == QFI_NONE)
            continue;
        p->groups[g].end++;
        p->groups[g].growth += run->unit[u].bytes;
    }
    for (uint32_t g = 0; g < p->n_group; g++) {
        const uint32_t n = p->groups[g].end;
        p->groups[g].begin = p->groups[g].end = at;
        at += n;
    }
    for (uint32_t u = 0; u < run->n_unit; u++) {
        const uint32_t g = unit_group(p, u);
        if (g != QFI_NONE)
            p->unit[p->groups[g].end++] = u;
    }
}

static int by_growth(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->growth != y->growth)
        return x->growth < y->growth ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static qf_status make_groups(policy *p, qf_diag *diag)
{
    const qf_graph *g = p->fold->graph;
    p->parent = qfi_pool_alloc(&p->run->pool, g->n_node, sizeof *p->parent);
    QF_TRY(find_open(p, diag));
    uint32_t *reader = qfi_pool_alloc(&p->run->pool, g->n_payload, sizeof *reader);
    if (!p->parent || !reader)
        return QFI_NO_MEMORY(diag);
    for (uint32_t i = 0; i < g->n_payload; i++)
        reader[i] = QFI_NONE;
    for (uint32_t i = 0; i < g->n_node; i++)
        p->parent[i] = i;
    for (uint32_t i = 0; i < g->n_node; i++)
        if (p->open[i])
            join_operands(p, i, reader);
    join_units(p);
    QF_TRY(number_groups(p, diag));
    assign_units(p);
    for (uint32_t i = 0; i < g->n_payload; i++)
        if (reader[i] != QFI_NONE)
            p->groups[p->number[find(p->parent, reader[i])]].growth -= g->payload[i].packed;
    if (p->n_group)
        qsort(p->groups, p->n_group, sizeof *p->groups, by_growth);
    return QF_OK;
}

/* ---------------------------------------- which unit is worst */

/* An estimate: what several results share counts for each of them. It orders refusals, it decides
 * none. */
static qf_status estimate_sources(policy *p, qf_diag *diag)
{
    const qf_graph *g = p->fold->graph;
    p->sources = qfi_pool_alloc(&p->run->pool, g->n_node, sizeof *p->sources);
    if (!p->sources)
        return QFI_NO_MEMORY(diag);
    for (qfi_id n = 0; n < g->n_node; n++) {
        for (uint32_t k = 0; p->open[n] && k < g->node[n].n_in; k++) {
            const qfi_id v = g->operand[g->node[n].first_in + k];
            if (v == QFI_NONE)
                continue;
            const qfi_value *value = &g->value[v];
            const bool vanishes =
                value->payload != QFI_NONE && !p->run->payload_use[value->payload];
            const uint64_t bytes = value->node != QFI_NONE ? p->sources[value->node]
                                   : vanishes              ? g->payload[value->payload].packed
                                                           : 0;
            p->sources[n] = qfi_add_saturating(p->sources[n], bytes);
        }
    }
    return QF_OK;
}

static qfi_sum badness(const policy *p, uint32_t u)
{
    const qfi_run *run = p->run;
    uint64_t sources = 0;
    for (qfi_id v = run->unit[u].first; v != QFI_NONE; v = run->next_in_unit[v]) {
        const qfi_id n = p->fold->graph->value[v].node;
        if (run->unit_of[v] == u && p->sources[n] > sources)
            sources = p->sources[n];
    }
    return (qfi_sum)run->unit[u].bytes - (qfi_sum)sources;
}

/* Later units first among equals: they are nearer to the end of the program, so less depends on
 * them. */
static bool is_worse(const policy *p, uint32_t a, uint32_t b)
{
    const qfi_sum x = badness(p, a), y = badness(p, b);
    return x != y ? x > y : a > b;
}

static qf_status heap_push(policy *p, uint32_t u, qf_diag *diag)
{
    uint32_t *heap = qfi_pool_grow(&p->run->pool, p->heap, p->n_heap, &p->cap_heap, sizeof *heap);
    if (!heap)
        return QFI_NO_MEMORY(diag);
    p->heap = heap;
    size_t i = p->n_heap++;
    for (; i && is_worse(p, u, heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = u;
    return QF_OK;
}

static uint32_t heap_pop(policy *p)
{
    const uint32_t top = p->heap[0], last = p->heap[--p->n_heap];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < p->n_heap; i = child) {
        if (child + 1 < p->n_heap && is_worse(p, p->heap[child + 1], p->heap[child]))
            child++;
        if (!is_worse(p, p->heap[child], last))
            break;
        p->heap[i] = p->heap[child];
    }
    p->heap[i] = last;
    return top;
}

/* ---------------------------------------- the budget */

uint64_t qfi_fold_growth(uint64_t asked, uint64_t file_size)
{
    const uint64_t percent = file_size / 100;
    if (asked != QF_GROWTH_DEFAULT)
        return asked;
    return percent > LEAST_GROWTH ? percent : LEAST_GROWTH;
}

qfi_sum qfi_growth_left(const qfi_fold *fold)
{
    const uint64_t most = qfi_fold_growth(fold->options->max_growth, fold->graph->file_size);
    if (most == QF_GROWTH_NONE)
        return (qfi_sum)UINT64_MAX << 32;
    return (qfi_sum)most - (qfi_sum)fold->graph->spent - qfi_work_of(fold)->run.growth;
}

/* The nodes whose results the unit stores stay; what they read may need units of its own, which
 * join the heap. */
static qf_status refuse(policy *p, uint32_t u, qf_diag *diag)
{
    qfi_run *run = p->run;
    run->joined.n = 0;
    while (run->unit[u].first != QFI_NONE)
        QF_TRY(qfi_deny(p->fold, p->fold->graph->value[run->unit[u].first].node, QF_REASON_growth,
                        diag));
    QF_TRY(qfi_settle(p->fold, diag));
    for (size_t i = 0; i < run->joined.n; i++)
        QF_TRY(heap_push(p, run->joined.item[i], diag));
    return QF_OK;
}

static qf_status decide(policy *p, const group *g, qf_diag *diag)
{
    qfi_run *run = p->run;
    const qfi_sum before = run->stored - run->saved, left = qfi_growth_left(p->fold);
    qfi_sum growth = g->growth;
    p->n_heap = 0;
    for (uint32_t i = g->begin; growth > 0 && growth > left && i < g->end; i++)
        QF_TRY(heap_push(p, p->unit[i], diag));
    while (growth > 0 && growth > left && p->n_heap) {
        const uint32_t worst = heap_pop(p);
        if (run->unit[worst].n == 0)
            continue;
        QF_TRY(refuse(p, worst, diag));
        growth = g->growth + (run->stored - run->saved) - before;
    }
    if (growth > 0)
        run->growth += growth;
    return QF_OK;
}

/* Refusing the worst first may have refused too much: what still fits by itself, now that all else
 * is settled, folds. So folding the output again finds nothing new. Bounded, since each try may
 * walk back through a chain. */
static qf_status ask_again(policy *p, qf_diag *diag)
{
    const uint32_t n_node = p->fold->graph->n_node;
    const uint64_t most = 64 * (uint64_t)n_node + 4096;
    uint64_t steps = 0;
    bool any = true;
    while (any && steps < most) {
        any = false;
        for (qfi_id n = 0; n < n_node && steps < most; n++) {
            bool reopened;
            QF_TRY(qfi_reopen(p->fold, n, qfi_growth_left(p->fold), &steps, &reopened, diag));
            any |= reopened;
        }
    }
    return QF_OK;
}

qf_status qfi_policy(qfi_fold *fold, qf_diag *diag)
{
    policy p = { .fold = fold, .run = &qfi_work_of(fold)->run };
    QF_TRY(make_groups(&p, diag));
    QF_TRY(estimate_sources(&p, diag));
    for (uint32_t i = 0; i < p.n_group; i++)
        QF_TRY(decide(&p, &p.groups[i], diag));
    return ask_again(&p, diag);
}
