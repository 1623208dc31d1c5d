/* Groups, panels and blocks of an operand. Their sizes change nothing but the time: rows are met in
 * the order of their columns. */
#include "dispatch/arith.h"
#include "dispatch/breakers/panels.h"

#include <string.h>

#define TALL_ROWS 32 /* two cache lines of f32 */

static int64_t product(int n_dim, const int64_t *n)
{
    int64_t all = 1;
    for (int d = 0; d < n_dim; d++)
        all *= n[d];
    return all;
}

/* The largest of a piece's operands decides; NULL if it has none with an order of its own. */
static const qfi_operand *main_operand(const qfi_piece *piece)
{
    const qfi_operand *best = NULL;
    uint64_t most = 0;

    for (int i = 0; i < piece->n_operand; i++) {
        const qfi_operand *o = &piece->operand[i];
        const bool stored =
            o->source == QFI_READ || o->source == QFI_MEMORY || o->source == QFI_KEPT;
        const uint64_t size = stored ? qfi_fetch_plan(o, piece->box.n_loop, piece->box.n).size : 0;
        if (size > most) {
            best = o;
            most = size;
        }
    }
    return best;
}

/* Bytes to read for one element. */
static int64_t read_size(const qfi_piece *piece)
{
    int64_t size = 0;

    for (int i = 0; i < piece->n_operand; i++)
        size += piece->operand[i].source == QFI_READ ? (piece->operand[i].bits + 7) / 8 : 0;
    return qfi_max64(1, size);
}

/* Rows that lie between two columns of one row, and so have to be read together with it; whether
 * neighbours in memory are rows. */
static int64_t interleaved(const qfi_panels *p, bool *tall)
{
    const qfi_segment *s = p->segment;
    const qfi_piece *piece = s->n_piece ? s->piece[0] : NULL;
    const qfi_operand *o = piece ? main_operand(piece) : NULL;
    int64_t step[QFI_DIMS] = { 0 }, widest = 0, closest = INT64_MAX, rows = 1;

    *tall = false;
    for (int l = 0; o && l < piece->box.n_loop; l++) {
        const int64_t each = qfi_magnitude(o->at.step[l]);
        const int d = piece->box.dim[l];
        if (each == 0)
            continue;
        step[d] = each > step[d] ? each : step[d];
        widest = d >= p->n_row && each > widest ? each : widest;
        if (each < closest) {
            closest = each;
            *tall = d < p->n_row;
        }
    }
    for (int d = 0; d < p->n_row; d++)
        rows *= step[d] < widest ? p->n[d] : 1;
    return rows;
}

static void plan(qfi_panels *p)
{
    const int n_column = p->segment->n_dim - p->n_row;
    const uint64_t room = p->run->work.size - p->run->work.used;
    const int64_t all = product(p->n_row, p->n), width = product(n_column, p->n + p->n_row);
    bool tall;
    const int64_t together = interleaved(p, &tall);
    int64_t rows = all, columns = width;

    if (p->reads && all > 0 && width > 0) {
        const int64_t fit = qfi_max64(1, (int64_t)(room / 3) / read_size(p->segment->piece[0])),
                      most_rows = qfi_max64(1, (int64_t)(room / 2 / p->carry));
        if (width <= fit / together) {
            rows = qfi_max64(1, fit / width);
        } else {
            rows = qfi_min64(qfi_min64(together, most_rows), fit);
            columns = qfi_max64(1, fit / rows);
        }
    }
    p->groups = qfi_walk_make(p->n_row, p->n, qfi_max64(1, rows));
    p->panels = qfi_walk_make(n_column, p->n + p->n_row, qfi_max64(1, columns));
    p->block_columns = tall ? QFI_BLOCK / TALL_ROWS : QFI_BLOCK;
    const int64_t chunk = qfi_max64(1, qfi_min64(width, p->block_columns));
    p->block_rows = tall ? TALL_ROWS : qfi_min64(QFI_BLOCK / chunk, QFI_BLOCK_ROWS);
}

/* One panel of a group. */
typedef struct panel {
    const qfi_panels *p;
    qfi_run run;
    qfi_residents here;
    qfi_walk blocks;
    qfi_panel_visit *visit;
    const void *user;
    int64_t lo[QFI_DIMS], n[QFI_DIMS], column;
    bool last;
} panel;

static void block_task(void *arg, uint32_t i, uint32_t worker)
{
    const panel *a = arg;
    const qfi_panels *p = a->p;
    const size_t columns = (size_t)(p->segment->n_dim - p->n_row);
    char *mine = p->work + p->each * (a->run.serial ? 0 : worker);
    qfi_run run = qfi_task_run(&a->run, worker,
                               (qfi_area){ .p = mine + p->each - p->fetch, .size = p->fetch });
    qfi_panel_block b = { .column = a->column, .last = a->last };
    int64_t row = 0;

    b.rows = qfi_walk_at(&a->blocks, i, b.lo, b.n);
    for (int d = 0; d < p->n_row; d++) {
        row = row * a->n[d] + b.lo[d];
        b.lo[d] += a->lo[d];
    }
    memcpy(b.lo + p->n_row, a->lo + p->n_row, columns * sizeof *b.lo);
    memcpy(b.n + p->n_row, a->n + p->n_row, columns * sizeof *b.n);
    b.carried = p->state ? p->state + (uint64_t)row * p->carry : NULL;
    const qf_status st = a->visit(a->user, &run, &b, mine);
    qfi_task_failed(&a->run, i, st);
}

/* Panel `number` of the group whose rows stand in a->lo, a->n. */
static qf_status run_panel(panel *a, int64_t number)
{
    const qfi_panels *p = a->p;
    const int first = p->n_row;
    int64_t width = 0;

    a->run = *p->run;
    a->here.n = 0;
    a->here.outer = p->run->residents;
    a->run.residents = &a->here;
    if (p->panels.total > 0)
        width = qfi_walk_at(&p->panels, number, a->lo + first, a->n + first);
    else
        memset(a->n + first, 0, sizeof *a->n * (size_t)(p->segment->n_dim - first));
    if (p->reads && width > 0) {
        const qf_status st = qfi_fetch_segment(&a->run, p->segment, a->lo, a->n, &a->here);
        if (st != QF_OK && st != QFI_TOO_LARGE) /* what does not fit is read by the blocks */
            return st;
    }
    a->blocks = qfi_walk_make(p->n_row, a->n, p->block_rows);
    a->last = number + 1 >= p->panels.total;
    if (a->blocks.total > INT32_MAX)
        return QFI_TOO_LARGE;
    qfi_run_tasks(&a->run, (uint32_t)a->blocks.total, block_task, a);
    a->column += width;
    return a->run.fault->status;
}

qf_status qfi_panels_run(qfi_panels *p, uint64_t each, qfi_panel_visit *visit, const void *user)
{
    const uint64_t workers = p->run->serial ? 1 : qfi_workers(p->run->ctx);
    panel a = { .p = p, .visit = visit, .user = user };
    int64_t most = 0;

    p->reads = qfi_fetch_reads(p->run, p->segment);
    p->fetch = p->segment->reads ? QFI_LEAST_FETCH : 0;
    p->each = each + p->fetch;
    p->work = qfi_area_get(&p->run->work, p->each * workers);
    if (!p->work)
        return QFI_TOO_LARGE;
    plan(p);
    for (int64_t g = 0; g < p->groups.total && p->panels.total > 1; g++) {
        const int64_t rows = qfi_walk_at(&p->groups, g, a.lo, a.n);
        most = rows > most ? rows : most;
    }
    p->state = most > 0 ? qfi_area_get(&p->run->work, (uint64_t)most * p->carry) : NULL;
    if (most > 0 && !p->state)
        return QFI_TOO_LARGE;
    for (int64_t g = 0; g < p->groups.total; g++) {
        qfi_walk_at(&p->groups, g, a.lo, a.n);
        for (int d = 0; d < p->n_row; d++)
            a.lo[d] += p->lo[d];
        a.column = 0;
        for (int64_t c = 0; c < (p->panels.total ? p->panels.total : 1); c++)
            QF_TRY(run_panel(&a, c));
    }
    return QF_OK;
}

qfi_walk qfi_panel_chunks(const qfi_panels *p, const qfi_panel_block *block)
{
    return qfi_walk_make(p->segment->n_dim - p->n_row, block->n + p->n_row, p->block_columns);
}

int64_t qfi_panel_chunk(const qfi_panels *p, const qfi_panel_block *block, const qfi_walk *chunks,
                        int64_t i, int64_t *lo, int64_t *n)
{
    const int64_t width = qfi_walk_at(chunks, i, lo + p->n_row, n + p->n_row);

    memcpy(lo, block->lo, sizeof *lo * (size_t)p->n_row);
    memcpy(n, block->n, sizeof *n * (size_t)p->n_row);
    for (int d = p->n_row; d < p->segment->n_dim; d++)
        lo[d] += block->lo[d];
    return width;
}

static bool is_reduced(const qfi_breaker *x, int d)
{
    return x->attrs.reduce.dims >> d & 1;
}

void qfi_panels_order(const qfi_breaker *x, uint8_t *order)
{
    int n = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < x->in_type[0].rank; d++)
            if (is_reduced(x, d) == (pass == 1))
                order[n++] = (uint8_t)d;
}

int64_t qfi_panels_reduced(qfi_panels *p, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                           const int64_t *stride, int64_t *kept_stride)
{
    int64_t columns = 1;
    int out = 0;

    for (int d = 0; d < x->in_type[0].rank; d++) {
        if (!is_reduced(x, d)) {
            p->n[p->n_row] = n[out];
            p->lo[p->n_row] = lo[out];
            kept_stride[p->n_row++] = stride[out];
        }
        out += !is_reduced(x, d) || x->attrs.reduce.keep;
    }
    for (int d = p->n_row; d < p->segment->n_dim; d++) {
        p->n[d] = p->segment->dim[d];
        columns *= p->n[d];
    }
    return columns;
}
