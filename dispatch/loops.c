/* Affine forms over the loops of a box, and cutting and splitting boxes until forms are affine. */
#include "dispatch/arith.h"
#include "dispatch/loops.h"

#include <string.h>

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return -floor_div(-a, b);
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t r = a % b;
        a = b;
        b = r;
    }
    return qfi_magnitude(a);
}

void qfi_form_add(qfi_form *x, const qfi_form *a, int64_t scale, int n_loop)
{
    x->base += scale * a->base;
    for (int l = 0; l < n_loop; l++)
        x->step[l] += scale * a->step[l];
}

/* Least and greatest value of a form over the box. */
static void form_range(const qfi_form *form, const qfi_box *box, int64_t *least, int64_t *greatest)
{
    *least = *greatest = form->base;
    for (int l = 0; l < box->n_loop; l++)
        *(form->step[l] < 0 ? least : greatest) += form->step[l] * (box->n[l] - 1);
}

bool qfi_form_equal(const qfi_form *a, const qfi_form *b, int n_loop)
{
    return a->base == b->base && memcmp(a->step, b->step, sizeof *a->step * (size_t)n_loop) == 0;
}

/* What a loop whose steps share no multiple with n needs. `start` is the rest at its first step. A
 * block of n holds `period` steps when the steps divide n; the first block may be cut short by
 * `start`, the last by the end of the loop. */
static qfi_change align_loop(int loop, int64_t step, int64_t start, int64_t n, int64_t count)
{
    const int64_t period = n / qfi_magnitude(step);
    const int64_t first = step > 0 ? ceil_div(n - start, step) : start / -step + 1;

    if (n % qfi_magnitude(step) != 0)
        return (qfi_change){ .kind = QFI_NEVER };
    if (first != period)
        return (qfi_change){ QFI_CUT, (uint8_t)loop, first };
    if (count % period != 0)
        return (qfi_change){ QFI_CUT, (uint8_t)loop, count - count % period };
    return (qfi_change){ QFI_SPLIT, (uint8_t)loop, period };
}

qfi_change qfi_form_divide(const qfi_form *row, int64_t n, const qfi_box *box, qfi_form *quotient,
                           qfi_form *rest)
{
    int64_t least, greatest;
    int moving = 0, last = -1, splits = -1;
    int64_t split = 0;

    *quotient = *rest = (qfi_form){ 0 };
    quotient->base = floor_div(row->base, n);
    rest->base = row->base - n * quotient->base;
    for (int l = 0; l < box->n_loop; l++) {
        const int64_t step = row->step[l];
        if (step % n == 0) {
            quotient->step[l] = step / n;
            continue;
        }
        rest->step[l] = step;
        moving++;
        last = l;
        const int64_t period = n / gcd(step, n);
        if (box->n[l] > period && box->n[l] % period == 0) {
            splits = l;
            split = period;
        }
    }
    form_range(rest, box, &least, &greatest);
    if (least >= 0 && greatest < n)
        return (qfi_change){ .kind = QFI_FITS };
    if (moving == 1)
        return align_loop(last, row->step[last], rest->base, n, box->n[last]);
    if (splits >= 0)
        return (qfi_change){ QFI_SPLIT, (uint8_t)splits, split };
    return (qfi_change){ .kind = QFI_NEVER };
}

/* Along one loop the form runs from one side of the limit to the other: the first index after the
 * side it starts on, or, if its other loops make index 0 mixed, the first index on the other side.
 * 0: neither lies inside the loop. */
static int64_t crossing(int64_t step, int64_t least, int64_t greatest, int64_t limit, int64_t count)
{
    int64_t leave, arrive;

    if (step > 0) {
        leave = ceil_div(limit - greatest, step);
        arrive = ceil_div(limit - least, step);
    } else {
        leave = floor_div(least - limit, -step) + 1;
        arrive = floor_div(greatest - limit, -step) + 1;
    }
    if (leave > 0 && leave < count)
        return leave;
    return arrive > 0 && arrive < count ? arrive : 0;
}

qfi_change qfi_form_compare(const qfi_form *row, int64_t limit, const qfi_box *box, bool *below)
{
    int64_t least, greatest, best = 0, at = 0;
    int loop = -1;

    form_range(row, box, &least, &greatest);
    *below = greatest < limit;
    if (*below || least >= limit)
        return (qfi_change){ .kind = QFI_FITS };
    for (int l = 0; l < box->n_loop; l++) {
        const int64_t step = row->step[l];
        if (box->n[l] < 2 || qfi_magnitude(step) <= best)
            continue;
        const int64_t span = step * (box->n[l] - 1);
        const int64_t rest_least = least - (step < 0 ? span : 0),
                      rest_greatest = greatest - (step > 0 ? span : 0);
        const int64_t cut = crossing(step, rest_least, rest_greatest, limit, box->n[l]);
        if (cut == 0)
            continue;
        best = qfi_magnitude(step);
        loop = l;
        at = cut;
    }
    return loop < 0 ? (qfi_change){ .kind = QFI_NEVER }
                    : (qfi_change){ QFI_CUT, (uint8_t)loop, at };
}

qfi_box qfi_box_make(int n_dim, const int64_t *dim)
{
    qfi_box box = { .n_dim = (uint8_t)n_dim };
    for (int d = 0; d < n_dim; d++) {
        if (dim[d] == 1)
            continue;
        box.dim[box.n_loop] = (uint8_t)d;
        box.n[box.n_loop] = dim[d];
        box.pace[box.n_loop++] = 1;
    }
    return box;
}

qfi_form qfi_box_row(const qfi_box *box, int d)
{
    qfi_form row = { .base = box->lo[d] };
    for (int l = 0; l < box->n_loop; l++)
        if (box->dim[l] == d)
            row.step[l] = box->pace[l];
    return row;
}

/* A loop of one step is no loop: its coordinate is in lo. */
static void drop_single(qfi_box *box, int loop)
{
    if (box->n[loop] != 1)
        return;
    box->n_loop--;
    for (int l = loop; l < box->n_loop; l++) {
        box->n[l] = box->n[l + 1];
        box->pace[l] = box->pace[l + 1];
        box->dim[l] = box->dim[l + 1];
    }
}

void qfi_box_cut(qfi_box *box, int loop, int64_t at, qfi_box *right)
{
    *right = *box;
    right->n[loop] -= at;
    right->lo[box->dim[loop]] += at * box->pace[loop];
    box->n[loop] = at;
    drop_single(box, loop);
    drop_single(right, loop);
}

bool qfi_box_split(qfi_box *box, int loop, int64_t inner)
{
    if (box->n_loop == QFI_LOOPS)
        return false;
    const size_t tail = (size_t)(box->n_loop - loop);
    memmove(&box->n[loop + 1], &box->n[loop], sizeof *box->n * tail);
    memmove(&box->pace[loop + 1], &box->pace[loop], sizeof *box->pace * tail);
    memmove(&box->dim[loop + 1], &box->dim[loop], sizeof *box->dim * tail);
    box->n_loop++;
    box->n[loop] /= inner;
    box->pace[loop] *= inner;
    box->n[loop + 1] = inner;
    return true;
}

typedef struct visit_state {
    const qfi_box *box;
    const int64_t *from, *count;
    qf_status (*visit)(void *arg, const int64_t *lo, const int64_t *n);
    void *arg;
    int64_t lo[QFI_LOOPS], n[QFI_LOOPS];
} visit_state;

static qf_status visit_loop(visit_state *v, int loop, int64_t low, int64_t high);

/* The range of a dim that its next loop starts with, relative to the box. */
static qf_status visit_next(visit_state *v, int loop, int64_t low, int64_t high)
{
    const qfi_box *box = v->box;

    if (loop == box->n_loop)
        return v->visit(v->arg, v->lo, v->n);
    if (loop == 0 || box->dim[loop] != box->dim[loop - 1]) {
        low = v->from[box->dim[loop]] - box->lo[box->dim[loop]];
        high = low + v->count[box->dim[loop]];
    }
    return visit_loop(v, loop, low, high);
}

static qf_status visit_indices(visit_state *v, int loop, int64_t first, int64_t end, int64_t low,
                               int64_t high)
{
    if (first >= end)
        return QF_OK;
    v->lo[loop] = first;
    v->n[loop] = end - first;
    return visit_next(v, loop + 1, low, high);
}

/* Indices of a loop whose inner loops all lie inside [low, high) form one box; at most one index on
 * either side is partial. */
static qf_status visit_loop(visit_state *v, int loop, int64_t low, int64_t high)
{
    const qfi_box *box = v->box;
    const int64_t pace = box->pace[loop];
    int64_t span = 0;

    for (int l = loop + 1; l < box->n_loop && box->dim[l] == box->dim[loop]; l++)
        span += box->pace[l] * (box->n[l] - 1);
    int64_t first = ceil_div(low - span, pace), end = floor_div(high - 1, pace) + 1;
    int64_t whole = ceil_div(low, pace), whole_end = floor_div(high - 1 - span, pace) + 1;
    first = first < 0 ? 0 : first;
    end = end > box->n[loop] ? box->n[loop] : end;
    whole = whole < first ? first : whole > end ? end : whole;
    whole_end = whole_end < whole ? whole : whole_end > end ? end : whole_end;

    for (int64_t i = first; i < whole; i++)
        QF_TRY(visit_indices(v, loop, i, i + 1, low - pace * i, high - pace * i));
    QF_TRY(visit_indices(v, loop, whole, whole_end, 0, span + 1));
    for (int64_t i = whole_end; i < end; i++)
        QF_TRY(visit_indices(v, loop, i, i + 1, low - pace * i, high - pace * i));
    return QF_OK;
}

qf_status qfi_box_visit(const qfi_box *box, const int64_t *from, const int64_t *count,
                        qf_status (*visit)(void *arg, const int64_t *lo, const int64_t *n),
                        void *arg)
{
    visit_state v = { .box = box, .from = from, .count = count, .visit = visit, .arg = arg };
    uint32_t has_loop = 0;

    /* A dim without a loop is one coordinate, inside or not. */
    for (int l = 0; l < box->n_loop; l++)
        has_loop |= 1u << box->dim[l];
    for (int d = 0; d < box->n_dim; d++)
        if (count[d] <= 0 ||
            (!(has_loop >> d & 1) && (box->lo[d] < from[d] || box->lo[d] >= from[d] + count[d])))
            return QF_OK;
    return visit_next(&v, 0, 0, 0);
}
