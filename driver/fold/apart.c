/* What a body of control flow is handed shares no memory: torch takes operands of such a node that
 * are views of one another when it runs the program, and refuses to compile it. So a constant of a
 * body that would be a view of what another operand is stored as stays a computation.
 *
 * Constants of bodies that are the same bytes in the same layout are one operand (the format's
 * writer), so they are no conflict. */
#include "work.h"

#include <string.h>

/* The operand that stands for some stored bytes at the node whose bodies are looked at. */
typedef struct stand {
    qfi_id holder, value;
} stand;

typedef struct checker {
    qfi_fold *fold;
    qfi_run *run;
    stand *stand; /* per payload of the graph, then per unit */
} checker;

/* The outermost node around a part that runs bodies as values say; QFI_NONE if all run once. */
static qfi_id control_around(const qfi_whole *whole, uint32_t part)
{
    qfi_id holder = QFI_NONE;
    for (; part; part = whole->part[part].parent)
        if (!whole->part[part].once)
            holder = whole->part[part].holder;
    return holder;
}

static bool is_body_constant(const checker *c, qfi_id v)
{
    return c->run->boundary[v] != QFI_NONE && qfi_value_part(&c->fold->whole, v);
}

static stand *stand_of(const checker *c, qfi_id v)
{
    const qf_graph *g = c->fold->graph;
    if (g->value[v].node == QFI_NONE)
        return g->value[v].payload == QFI_NONE ? NULL : &c->stand[g->value[v].payload];
    if (c->run->boundary[v] == QFI_NONE || g->value[v].kind == QF_VALUE_SCALAR)
        return NULL;
    const qfi_form *form = &c->run->form[v];
    return form->stored != QFI_NONE ? &c->stand[form->stored]
                                    : &c->stand[g->n_payload + qfi_unit_find(c->fold, form)];
}

static bool is_same(const checker *c, qfi_id a, qfi_id b)
{
    const qfi_form *x = &c->run->form[a], *y = &c->run->form[b];
    if (a == b)
        return true;
    return is_body_constant(c, a) && is_body_constant(c, b) && x->offset == y->offset &&
           qf_type_equal(&c->fold->prog.def[c->run->boundary[a]].type,
                         &c->fold->prog.def[c->run->boundary[b]].type) &&
           !memcmp(x->stride, y->stride, sizeof x->stride);
}

static void check_operand(const checker *c, qfi_id holder, qfi_id v)
{
    qfi_work *work = qfi_work_of(c->fold);
    stand *s = stand_of(c, v);
    if (!s)
        return;
    if (s->holder != holder) {
        *s = (stand){ holder, v };
        return;
    }
    const qfi_id odd = is_body_constant(c, v) ? v : s->value;
    if (is_same(c, s->value, v) || !is_body_constant(c, odd))
        return;
    work->hold[c->fold->graph->value[odd].node] = QF_REASON_control_flow;
    work->restart = true;
}

qf_status qfi_keep_apart(qfi_fold *fold, qf_diag *diag)
{
    const qf_graph *g = fold->graph;
    checker c = { .fold = fold, .run = &qfi_work_of(fold)->run };
    const size_t n = g->n_payload + c.run->n_unit;
    if (fold->whole.n_part == 1)
        return QF_OK;
    c.stand = qfi_pool_alloc(&c.run->pool, n, sizeof *c.stand);
    if (!c.stand)
        return QFI_NO_MEMORY(diag);
    for (size_t i = 0; i < n; i++)
        c.stand[i].holder = QFI_NONE;
    for (qfi_id i = 0; i < g->n_node; i++) {
        const qfi_id holder = control_around(&fold->whole, qfi_node_part(&fold->whole, i));
        for (uint32_t k = 0; holder != QFI_NONE && c.run->live[i] && k < g->node[i].n_in; k++)
            if (g->operand[g->node[i].first_in + k] != QFI_NONE)
                check_operand(&c, holder, g->operand[g->node[i].first_in + k]);
    }
    return QF_OK;
}
