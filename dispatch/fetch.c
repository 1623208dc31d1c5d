/* Operands of a box: where they are in memory, read from where they are not, or made by a breaker.
 */
#include "dispatch/arith.h"
#include "dispatch/run.h"

#include <string.h>

#define READ_TASK ((uint64_t)1 << 20) /* bytes of one parallel read */
#define MOST_GAP ((uint64_t)2 << 10)  /* takes as long to read as a system call */

/* Reading one operand: the runs' loops, each `gap` elements apart in the storage, `span` elements
 * long, packed densely. */
typedef struct reading {
    const qfi_run *run;
    const qf_storage *storage;
    char *to;
    uint64_t at, size, parts, total; /* bytes of the first run, of each; tasks per run and in all */
    int64_t gap[QFI_LOOPS], count[QFI_LOOPS];
    int n_loop;
    uint64_t per_task;
} reading;

/* Loops of an operand from the shortest to the longest step, those that do not move it left out. */
static int sort_loops(const qfi_form *at, int n_loop, const int64_t *n, uint8_t *loop)
{
    int count = 0;

    for (int l = 0; l < n_loop; l++) {
        if (at->step[l] == 0 || n[l] == 1)
            continue;
        int k = count++;
        for (; k > 0 && qfi_magnitude(at->step[loop[k - 1]]) > qfi_magnitude(at->step[l]); k--)
            loop[k] = loop[k - 1];
        loop[k] = (uint8_t)l;
    }
    return count;
}

/* How many of the sorted loops read gaps rather than leave them out: a short gap between runs that
 * are not shorter is read over. *span: elements of one run. Runs of 4-bit elements would start
 * inside bytes, so there is one run. */
static int dense_loops(const qfi_form *at, const int64_t *n, const uint8_t *loop, int count,
                       unsigned bits, uint64_t *span)
{
    int k = 0;

    *span = 1;
    for (; k < count; k++) {
        const uint64_t step = (uint64_t)qfi_magnitude(at->step[loop[k]]), gap = step - *span;
        if (bits >= 8 && step > *span && (gap > *span || gap * (bits / 8) > MOST_GAP))
            break;
        *span += step * (uint64_t)(n[loop[k]] - 1);
    }
    return k;
}

qfi_fetch_cost qfi_fetch_plan(const qfi_operand *o, int n_loop, const int64_t *n)
{
    uint8_t loop[QFI_LOOPS];
    uint64_t span;
    const int count = sort_loops(&o->at, n_loop, n, loop),
              dense = dense_loops(&o->at, n, loop, count, o->bits, &span);
    qfi_fetch_cost cost = { .run = UINT64_MAX, .size = qfi_bytes(span, o->bits) + 1 };

    if (dense < count)
        cost.run = cost.size;
    for (int k = dense; k < count; k++)
        if (!qf_mul(cost.size, (uint64_t)n[loop[k]], &cost.size))
            cost.size = UINT64_MAX;
    return cost;
}

static qf_status read_part(const reading *r, uint64_t number)
{
    const uint64_t part = number % r->parts;
    uint64_t rest = number / r->parts, from = r->at;
    qf_diag diag = { 0 };

    for (int k = 0; k < r->n_loop; k++) {
        from += (uint64_t)r->gap[k] * (rest % (uint64_t)r->count[k]);
        rest /= (uint64_t)r->count[k];
    }
    const uint64_t start = part * READ_TASK, left = r->size - start,
                   size = left < READ_TASK ? left : READ_TASK;
    const qf_status st =
        r->storage->read(r->storage->ctx, from + start, r->to + number / r->parts * r->size + start,
                         (size_t)size, &diag);
    if (st != QF_OK)
        qfi_run_failed(r->run, (uint32_t)(number / r->per_task), st, &diag);
    return st;
}

static void read_task(void *arg, uint32_t i, uint32_t worker)
{
    const reading *r = arg;
    const uint64_t first = i * r->per_task,
                   end = first + r->per_task < r->total ? first + r->per_task : r->total;

    (void)worker;
    for (uint64_t k = first; k < end; k++)
        if (read_part(r, k) != QF_OK)
            return;
}

/* Run the reads; *lane becomes the position in the packed memory. */
static qf_status fetch_read(qfi_run *run, const qfi_operand *o, int n_loop, const int64_t *n,
                            qfi_form *lane, const char **source)
{
    uint8_t loop[QFI_LOOPS];
    uint64_t span, all;
    const int count = sort_loops(lane, n_loop, n, loop);
    const int dense = dense_loops(lane, n, loop, count, o->bits, &span);
    reading r = {
        .run = run, .storage = run->pipe->input[o->which].storage, .parts = 1, .total = 1
    };
    int64_t lowest = lane->base, packed;

    for (int k = 0; k < dense; k++)
        if (lane->step[loop[k]] < 0)
            lowest += lane->step[loop[k]] * (n[loop[k]] - 1);
    const int64_t inside = o->bits < 8 ? lowest & 1 : 0; /* a run starts at a byte */
    span += (uint64_t)inside;
    lowest -= inside;
    r.size = qfi_bytes(span, o->bits);
    r.at = o->bits < 8 ? (uint64_t)lowest / 2 : (uint64_t)lowest * (o->bits / 8);
    r.parts = (r.size + READ_TASK - 1) / READ_TASK;

    packed = (int64_t)span;
    lane->base -= lowest;
    all = r.size;
    for (int k = dense; k < count; k++) {
        const int l = loop[k];
        r.gap[r.n_loop] = lane->step[l] * (o->bits / 8);
        r.count[r.n_loop++] = n[l];
        lane->step[l] = packed;
        packed *= n[l];
        if (!qf_mul(all, (uint64_t)n[l], &all))
            return QFI_TOO_LARGE;
        r.total *= (uint64_t)n[l];
    }
    r.to = qfi_area_get(&run->work, all);
    if (!r.to)
        return QFI_TOO_LARGE;
    r.total *= r.parts;
    r.per_task = r.size >= READ_TASK / 2 ? 1 : READ_TASK / 2 / r.size;
    *source = r.to;
    qfi_run_tasks(run, (uint32_t)((r.total + r.per_task - 1) / r.per_task), read_task, &r);
    return run->fault->status;
}

static bool inside(const qfi_resident *r, int n_loop, const int64_t *lo, const int64_t *n)
{
    for (int l = 0; l < n_loop; l++)
        if (lo[l] < r->lo[l] || lo[l] + n[l] > r->lo[l] + r->n[l])
            return false;
    return true;
}

static const qfi_resident *find_resident(const qfi_run *run, const qfi_operand *o, int n_loop,
                                         const int64_t *lo, const int64_t *n)
{
    for (const qfi_residents *list = run->residents; list; list = list->outer)
        for (uint32_t i = 0; i < list->n; i++)
            if (list->item[i].operand == o && inside(&list->item[i], n_loop, lo, n))
                return &list->item[i];
    return NULL;
}

const char *qfi_fetch_memory(const qfi_run *run, const qfi_operand *o, int n_loop,
                             const int64_t *lo, const int64_t *n, qfi_form *at)
{
    *at = o->at;
    if (o->source == QFI_MEMORY)
        return run->pipe->input[o->which].storage->data;
    if (o->source == QFI_KEPT)
        return run->kept + run->pipe->kept[o->which].at;
    const qfi_resident *held = o->source == QFI_READ ? find_resident(run, o, n_loop, lo, n) : NULL;
    if (!held)
        return NULL;
    *at = held->at;
    return held->p;
}

qfi_standing qfi_fetch_standing(const qfi_run *run, const qfi_segment *s, const int64_t *lo,
                                const int64_t *n)
{
    const qfi_piece *piece = s->n_piece == 1 ? s->piece[0] : NULL;
    int64_t from[QFI_LOOPS] = { 0 }, count[QFI_LOOPS] = { 0 };
    qfi_standing x = { 0 };
    qfi_form at;

    if (!piece || piece->n_stage > 0 || piece->root != 0 || piece->operand[0].bits < 8)
        return x;
    const qfi_box *box = &piece->box;
    for (int l = 0; l < box->n_loop; l++) {
        const int d = box->dim[l];
        if (l > 0 && box->dim[l - 1] == d)
            return x;
        from[l] = lo[d] - box->lo[d];
        count[l] = n[d];
    }
    const char *p = qfi_fetch_memory(run, &piece->operand[0], box->n_loop, from, count, &at);
    for (int l = 0; p && l < box->n_loop; l++)
        x.step[box->dim[l]] = at.step[l] * (s->bits / 8);
    x.p = p ? p + at.base * (s->bits / 8) : NULL;
    return x;
}

/* A form over the loops of a piece as one over a box that begins at lo, or back (sign -1). */
static void move_form(qfi_form *form, int n_loop, const int64_t *lo, int64_t sign)
{
    for (int l = 0; l < n_loop; l++)
        form->base += sign * form->step[l] * lo[l];
}

qf_status qfi_fetch_hold(qfi_run *run, const qfi_piece *piece, const qfi_operand *o,
                         const int64_t *lo, const int64_t *n, qfi_residents *to)
{
    const int n_loop = piece->box.n_loop;
    qfi_resident *r = &to->item[to->n];

    if (o->source != QFI_READ || find_resident(run, o, n_loop, lo, n))
        return QF_OK;
    if (to->n == QFI_RESIDENTS)
        return QFI_TOO_LARGE;
    *r = (qfi_resident){ .operand = o, .at = o->at };
    memcpy(r->lo, lo, sizeof *lo * (size_t)n_loop);
    memcpy(r->n, n, sizeof *n * (size_t)n_loop);
    move_form(&r->at, n_loop, lo, 1);
    QF_TRY(fetch_read(run, o, n_loop, n, &r->at, &r->p));
    move_form(&r->at, n_loop, lo, -1);
    to->n++;
    return QF_OK;
}

typedef struct holding {
    qfi_run *run;
    const qfi_piece *piece;
    qfi_residents *to;
} holding;

static qf_status hold_box(void *arg, const int64_t *lo, const int64_t *n)
{
    const holding *h = arg;

    for (int i = 0; i < h->piece->n_operand; i++)
        QF_TRY(qfi_fetch_hold(h->run, h->piece, &h->piece->operand[i], lo, n, h->to));
    return QF_OK;
}

qf_status qfi_fetch_segment(qfi_run *run, const qfi_segment *s, const int64_t *lo, const int64_t *n,
                            qfi_residents *to)
{
    holding h = { .run = run, .to = to };

    for (uint32_t i = 0; i < s->n_piece; i++) {
        h.piece = s->piece[i];
        QF_TRY(qfi_box_visit(&h.piece->box, lo, n, hold_box, &h));
    }
    return QF_OK;
}

bool qfi_fetch_reads(const qfi_run *run, const qfi_segment *s)
{
    static const int64_t zero[QFI_LOOPS];

    for (uint32_t k = 0; k < s->n_piece; k++) {
        const qfi_piece *p = s->piece[k];
        for (int i = 0; i < p->n_operand; i++)
            if (p->operand[i].source == QFI_READ &&
                !find_resident(run, &p->operand[i], p->box.n_loop, zero, p->box.n))
                return true;
    }
    return false;
}

/* A position in 128-bit elements as one in halves; the halves are the loop of the last dim. */
static void in_halves(const qfi_box *box, const int64_t *lo, qfi_form *lane)
{
    lane->base = 2 * lane->base + box->lo[box->n_dim - 1];
    for (int l = 0; l < box->n_loop; l++) {
        const int64_t half = box->dim[l] == box->n_dim - 1 ? box->pace[l] : 0;
        lane->step[l] = 2 * lane->step[l] + half;
        lane->base += half * lo[l];
    }
}

bool qfi_panel_box_of(const qfi_run *run, const qfi_operand *o, const qfi_box *box,
                      const int64_t *lo, const int64_t *n, int64_t gap, qfi_form *lane,
                      qfi_panel_box *out)
{
    int64_t step = 1;

    *lane = (qfi_form){ 0 };
    for (int d = run->pipe->breaker[o->which]->type.rank - 1; d >= 0; d--) {
        const qfi_form *row = &o->row[d];
        int64_t base = row->base, span = 0, low = 0;
        for (int l = 0; l < box->n_loop; l++) {
            base += row->step[l] * lo[l];
            span += qfi_magnitude(row->step[l]) * (n[l] - 1);
            low += row->step[l] < 0 ? row->step[l] * (n[l] - 1) : 0;
        }
        out->from[d] = base + low;
        out->n[d] = span + 1;
        out->stride[d] = step;
        lane->base -= step * low;
        for (int l = 0; l < box->n_loop; l++)
            lane->step[l] += step * row->step[l];
        if (__builtin_mul_overflow(step, out->n[d] + gap, &step))
            return false;
    }
    return true;
}

/* Make the part of a breaker's result that the box needs. */
static qf_status fetch_panel(qfi_run *run, const qfi_operand *o, const qfi_box *box,
                             const int64_t *lo, const int64_t *n, qfi_form *lane,
                             const char **source)
{
    const qfi_breaker *b = run->pipe->breaker[o->which];
    const unsigned bits = qf_dtype_get(b->makes)->bits;
    uint64_t elements = 1;
    qfi_panel_box box_of;

    if (!qfi_panel_box_of(run, o, box, lo, n, 0, lane, &box_of))
        return QFI_TOO_LARGE;
    for (int d = 0; d < b->type.rank; d++)
        elements *= (uint64_t)box_of.n[d];
    if (bits == 128)
        in_halves(box, lo, lane);
    char *to = qfi_area_get(&run->work, qfi_bytes(elements, bits));
    if (!to)
        return QFI_TOO_LARGE;
    *source = to;
    const size_t mark = run->work.used;
    const qf_status st = b->run(run, b, box_of.from, box_of.n, to, box_of.stride);
    run->work.used = mark;
    return st;
}

/* Make what tiles cannot: the results of breakers. */
static qf_status fetch_panels(qfi_run *run, qfi_tiles *t, const int64_t *lo, const int64_t *n)
{
    const qfi_piece *p = t->piece;

    t->made.operand = -1;
    t->made.update = NULL;
    for (int i = 0; i < p->n_operand; i++)
        if (p->operand[i].source == QFI_PANEL && !qfi_made_offer(run, t, i, lo, n))
            QF_TRY(fetch_panel(run, &p->operand[i], &p->box, lo, n, &t->nest.lane[1 + i],
                               &t->source[i]));
    return QF_OK;
}

qf_status qfi_fetch(qfi_run *run, qfi_tiles *t, const int64_t *lo, const int64_t *n)
{
    const qfi_piece *p = t->piece;

    for (int i = 0; i < p->n_operand; i++) {
        const qfi_operand *o = &p->operand[i];
        qfi_form *lane = &t->nest.lane[1 + i];
        t->source[i] = qfi_fetch_memory(run, o, p->box.n_loop, lo, n, lane);
        move_form(lane, p->box.n_loop, lo, 1);
        if (t->source[i])
            continue;
        switch ((qfi_source)o->source) {
        case QFI_MEMORY: /* of no element */
        case QFI_KEPT:
        case QFI_PANEL:
            break;
        case QFI_SPLAT:
            t->source[i] = (const char *)&o->splat;
            break;
        case QFI_READ:
            QF_TRY(fetch_read(run, o, p->box.n_loop, n, lane, &t->source[i]));
            break;
        }
    }
    return fetch_panels(run, t, lo, n);
}
