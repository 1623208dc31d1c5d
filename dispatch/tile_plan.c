/* Planning the tiles of a box: how operands are loaded and the result is stored, how large tiles
 * and tasks are. */
#include "dispatch/arith.h"
#include "dispatch/tiles.h"

#include <stdlib.h>

/* Bytes of the destination that one task makes: the most that leave TASKS of them, within bounds.
 * Below the least, waking a second thread took longer than the work: an add of 256 KiB 16 us by
 * one, 45 by two in tasks of 64 KiB; of 512 KiB 31 and 30.
 * An update in place in tasks of 64 KiB took 1.05 times as long as in those of 1 MiB, of 256 KiB
 * 1.02 times (Zen 3): the loads in flight run dry between two tasks. */
#define LEAST_TASK ((int64_t)1 << 18)
#define MOST_TASK ((int64_t)1 << 20)
#define TASKS 64
#define TILE_BYTES ((int64_t)1 << 16) /* of the destination, that one kernel call makes */
/* Likewise of rows that are moved past the caches, 4 at a time: these are 64 KiB apart, as 16 KiB
 * apart the streams gained nothing. */
#define COPY_BYTES ((int64_t)1 << 18)
/* A tile that a breaker makes, and the pads after its rows, fill a slot. */
#define MADE_ROWS 32
#define MADE_BYTES ((int64_t)QFI_SLOT - MADE_ROWS * QFI_ROW_PAD)
#define UPDATE_STRIPS 2 /* strips of packed columns that an update's tile passes: 256 K */
#define LINE 64
#define RUN_BYTES 512 /* of a row of the destination, that one transposed tile makes */
#define STAGED_BYTES ((int64_t)256 * (RUN_BYTES + QFI_ROW_PAD)) /* of such a tile */
#define LEAST_COLUMN 256 /* bytes of one below which a kernel does not turn past the caches */
#define TURNED_BYTES ((int64_t)4 << 20) /* that it turns at once */
/* Bytes of a run of an operand that is lifted at once: what is asked for stays until it is used (of
 * the plain dequantize, 8 bits to 32, Zen 3: 256 0.74, 512 0.72, 1024 0.69; not asking 0.63). */
#define LIFTED_RUN ((int64_t)256)
#define SMALL_TILE (1 << 14) /* of few rows or columns: it stays in the first cache */
#define FEW_ROWS 16 /* of a transposed tile: their lines stay in the first cache while they fill */

static qfi_load choose_load(const qfi_tiles *t, int i)
{
    const qfi_operand *o = &t->piece->operand[i];
    const int64_t row = qfi_step_of(&t->nest.lane[1 + i], t->nest.row),
                  col = qfi_step_of(&t->nest.lane[1 + i], t->nest.col);

    if (o->source == QFI_SPLAT)
        return QFI_LOAD_NONE;
    if (i == t->made.operand)
        return t->made.update ? QFI_LOAD_UPDATE : QFI_LOAD_MADE;
    if (o->bits < 8)
        return o->copy ? QFI_LOAD_UNPACK : QFI_LOAD_NONE; /* without it, the stage takes nibbles */
    if (col == 0 || col == 1)
        return QFI_LOAD_NONE;
    return row == 1 ? QFI_LOAD_TRANSPOSE : QFI_LOAD_COPY;
}

/* Whether the piece is one kernel from memory to memory: then tiles may be large. */
static bool is_direct(const qfi_tiles *t)
{
    if (t->segment->bits < 8 || t->piece->n_stage > 1)
        return false;
    for (int i = 0; i < t->piece->n_operand; i++)
        if (t->load[i] == QFI_LOAD_UNPACK || (t->load[i] != QFI_LOAD_NONE && t->piece->n_stage > 0))
            return false;
    return true;
}

static bool last_is_result(const qfi_tiles *t)
{
    const qfi_piece *p = t->piece;
    return p->n_stage > 0 && t->segment->bits >= 8 && p->stage[p->n_stage - 1].out == p->root;
}

/* Bytes of the widest element that stands in a slot; the last stage writes the result itself. */
static int64_t widest(const qfi_tiles *t)
{
    const qfi_piece *p = t->piece;
    const int n = p->n_stage - last_is_result(t);
    unsigned bits = 8;

    for (int i = 0; i < p->n_operand; i++)
        if (t->load[i] != QFI_LOAD_NONE && p->operand[i].bits > bits)
            bits = p->operand[i].bits;
    for (int i = 0; i < n; i++)
        if (p->stage[i].bits > bits)
            bits = p->stage[i].bits;
    return bits / 8;
}

/* A piece that only moves elements that lie side by side: the store reads the operand itself. */
static bool is_copy(const qfi_tiles *t)
{
    const qfi_piece *p = t->piece;

    return p->n_stage == 0 && p->operand[p->root].bits >= 8 && t->made.operand < 0 &&
           qfi_step_of(&t->nest.lane[1 + p->root], t->nest.col) == 1;
}

static bool transposes(const qfi_tiles *t)
{
    bool any = false;

    for (int i = 0; i < t->piece->n_operand; i++)
        any |= t->load[i] == QFI_LOAD_TRANSPOSE;
    return any;
}

/* The operand that one stage from memory to memory wants transposed, if it is one. */
static int find_lifted(const qfi_tiles *t)
{
    const qfi_stage *s = t->piece->stage;
    int found = -1;

    if (t->piece->n_stage != 1 || !last_is_result(t) || s->index >= 0 || s->nibbles)
        return -1;
    for (int i = 0; i < t->piece->n_operand; i++)
        if (t->load[i] == QFI_LOAD_TRANSPOSE && found < 0)
            found = i;
        else if (t->load[i] != QFI_LOAD_NONE)
            return -1;
    return found;
}

/* Whether the stage does better with columns of what would be lifted for it. */
static bool stage_turns(const qfi_tiles *t)
{
    const qfi_stage *s = t->piece->stage;

    return t->lifted >= 0 && s->turned && s->in[0] == t->lifted &&
           t->rows * (t->piece->operand[t->lifted].bits / 8) >= LEAST_COLUMN;
}

/* Whether no operand is brought to a slot. */
static bool reads_in_place(const qfi_tiles *t)
{
    for (int i = 0; i < t->piece->n_operand; i++)
        if (t->load[i] != QFI_LOAD_NONE)
            return false;
    return true;
}

/* Whether all rows of the destination begin with lines; `first`: the first of every tile. */
static bool rows_are_lines(const qfi_tiles *t, int64_t size, bool first)
{
    const qfi_form *to = &t->nest.lane[0];
    uintptr_t all = (uintptr_t)t->dst + (uintptr_t)(to->base * size);

    for (int l = 0; l < t->nest.n_loop; l++)
        if (l != t->nest.col && !(first && l == t->nest.row))
            all |= (uintptr_t)(to->step[l] * size);
    return all % LINE == 0;
}

/* Whether the transpose takes all of the operand past the caches by itself. */
static bool transpose_turns(const qfi_tiles *t, int64_t size)
{
    if (!t->segment->turns_past)
        return false;
    if (t->joined)
        return qfk_few_columns((size_t)size, (size_t)t->cols);
    return t->rows * size >= LEAST_COLUMN ||
           (qfk_few_rows((size_t)size, (size_t)t->rows) &&
            qfi_step_of(&t->nest.lane[1 + t->piece->root], t->nest.col) == t->rows);
}

/* How tiles reach the destination: from the kernel, or from the staging; past the caches or not. */
static void choose_store(qfi_tiles *t, int64_t size)
{
    const qfi_run *run = t->run;
    const bool moves = transposes(t) && t->piece->n_stage == 0;

    t->lifted = -1;
    if (!run->staging || t->segment->bits < 8 || t->nest.col < 0)
        return;
    t->joined = t->made.operand < 0 && !is_copy(t) && t->cols * size < QFI_LEAST_RUN &&
                qfi_step_of(&t->nest.lane[0], t->nest.row) == t->cols;
    t->streams = run->streams && t->segment == run->pipe->result &&
                 (t->joined ? t->cols * t->rows : t->cols) * size >= QFI_LEAST_RUN;
    const bool goes_past = t->streams && t->made.operand < 0;
    t->past = goes_past && rows_are_lines(t, size, false) && last_is_result(t) &&
              t->piece->stage[t->piece->n_stage - 1].past;
    t->turns = goes_past && rows_are_lines(t, size, t->joined) && moves && transpose_turns(t, size);
    t->staged = t->streams ? !t->past && !t->turns && !is_copy(t)
                           : moves && !t->joined && t->rows > FEW_ROWS;
    t->lifted = (int8_t)(t->staged || t->joined ? -1 : find_lifted(t));
    if (t->past && stage_turns(t)) {
        t->load[t->lifted] = QFI_LOAD_NONE;
        t->lifted = -1;
        t->turns = true;
    }
    t->patches = t->streams && t->staged && is_direct(t) && reads_in_place(t);
}

/* Steps of about equal parts of a loop: multiples of `unit`, at most `most`, which is more than
 * that; or the whole loop. */
static int64_t split_evenly(int64_t n, int64_t most, int64_t unit)
{
    if (n <= most)
        return n;
    const int64_t whole = most / unit * unit, parts = qfi_parts(n, whole);
    return qfi_round_up(qfi_parts(n, parts), unit);
}

/* Tiles of transposed elements: whole lines of the operand, long runs of the destination. */
static void choose_moved_tile(qfi_tiles *t, int64_t size)
{
    const int64_t line = LINE / size;

    if (t->turns) {
        t->m = split_evenly(t->rows, TURNED_BYTES / RUN_BYTES, LINE);
        t->n = qfi_min64(t->cols, TURNED_BYTES / (t->m * RUN_BYTES) * (RUN_BYTES / size));
        return;
    }
    if (t->joined) {
        t->n = t->cols;
        t->m = qfi_min64(t->rows, SMALL_TILE / (t->n * size) / line * line);
        return;
    }
    t->n = RUN_BYTES / size;
    if (t->rows * t->n * size < SMALL_TILE)
        t->n = SMALL_TILE / (t->rows * size) / line * line;
    t->n = split_evenly(t->cols, t->n, line);
    t->m = split_evenly(t->rows, STAGED_BYTES / (t->n * size + QFI_ROW_PAD), line);
}

/* Tiles for a stage that reads the staging: long runs of the operand and of the destination. */
static void choose_lifted_tile(qfi_tiles *t, int64_t size)
{
    const int64_t width = t->piece->operand[t->lifted].bits / 8;

    t->n = split_evenly(t->cols, RUN_BYTES / size, LINE / size);
    t->m = split_evenly(t->rows,
                        qfi_min64(LIFTED_RUN / width, STAGED_BYTES / (t->n * width + QFI_ROW_PAD)),
                        LINE / width);
}

/* Whether the update is all that there is to do, from memory to the destination. */
static bool only_updates(const qfi_tiles *t)
{
    const qfi_update *u = t->made.update;

    if (!last_is_result(t) || u->last != t->piece->n_stage - 1)
        return false;
    for (int i = 0; i < t->piece->n_stage; i++)
        if (!u->covers[i])
            return false;
    for (int i = 0; i < t->piece->n_operand; i++)
        if (t->load[i] != QFI_LOAD_NONE && t->load[i] != QFI_LOAD_UPDATE)
            return false;
    return true;
}

/* One block of the kernel high, since rows whose distance is a power of two meet in a few sets of
 * the first cache level; as wide as packed columns stay in the second one, so that the machine
 * looks ahead along long rows: f32, 16 steps, 4096 x 14336, Zen 3, by columns of a tile: 256 44 ms,
 * 512 39, 1024 33, 2048 26 to 29, 4096 to 14336 26. */
static void choose_update(qfi_tiles *t, int64_t size, int64_t elements)
{
    const qfi_breaker *b = t->made.breaker;
    const int64_t mr = b->kernel[0]->mr, nr = b->kernel[0]->nr;
    int64_t most = UPDATE_STRIPS * b->tiles->strip(b);

    if (!only_updates(t))
        most = elements / mr;
    else if (t->staged)
        most = qfi_min64(most, ((int64_t)QFI_STAGING / mr - QFI_ROW_PAD) / size);
    t->n = split_evenly(qfi_round_up(t->cols, nr), qfi_max64(most, nr), nr);
    t->m = mr;
    t->strip = qfi_max64(1, b->tiles->strip(b) / t->n);
    t->skip = t->made.skip;
}

/* Whole blocks of the kernel that makes them, two high: a panel of the second factor is loaded once
 * for both (24.0 ms instead of 28.9 for a product of 16 steps, 4096 x 14336, Zen 3). */
static void choose_made(qfi_tiles *t, int64_t elements)
{
    const qfk_row *kernel = t->made.breaker->kernel[0];
    const int64_t blocks = qfi_max64(1, elements / kernel->mr / kernel->nr),
                  across = qfi_min64(qfi_max64(1, blocks / 2), qfi_parts(t->cols, kernel->nr));

    t->n = across * kernel->nr;
    t->m = qfi_max64(1, qfi_min64(blocks / across, MADE_ROWS / kernel->mr)) * kernel->mr;
    t->strip = qfi_max64(1, t->made.breaker->tiles->strip(t->made.breaker) / t->n);
    t->skip = t->made.skip;
}

static void choose_tile(qfi_tiles *t, int64_t size)
{
    const int64_t slot = widest(t);
    const bool turned = t->turns || transposes(t);

    t->strip = turned ? 1 : INT64_MAX;
    t->skip = 0;
    if (t->made.operand >= 0) {
        const int64_t elements = MADE_BYTES / (slot > size ? slot : size);
        if (t->made.update)
            choose_update(t, size, elements);
        else
            choose_made(t, elements);
        return;
    }
    if (t->lifted >= 0) {
        choose_lifted_tile(t, size);
        return;
    }
    if (turned && (t->turns || t->piece->n_stage == 0)) {
        choose_moved_tile(t, size);
        return;
    }
    if (is_direct(t) && (t->patches || !t->staged)) {
        const int64_t most = (t->streams && is_copy(t) ? COPY_BYTES : TILE_BYTES) / size;
        t->n = qfi_min64(t->cols, most);
        t->m = qfi_min64(t->rows, most / t->n);
        return;
    }
    /* A transposed tile is one cache line of the operand high, so that each line is fetched once.
     */
    const int64_t all = QFI_SLOT_BYTES / slot;
    t->n = qfi_min64(t->cols, turned && !t->joined ? 64 : all);
    t->m = qfi_min64(qfi_min64(t->rows, QFI_SLOT_ROWS), all / t->n);
}

/* Tiles of long rows begin at lines of the destination, but for the first. */
static int64_t align_tiles(const qfi_tiles *t, int64_t size)
{
    const uintptr_t first = (uintptr_t)t->dst + (uintptr_t)(t->nest.lane[0].base * size);

    if (!t->streams || t->made.operand >= 0 || t->cols < 4 * t->n || t->n * size % LINE != 0 ||
        first % (uintptr_t)size)
        return 0;
    return (int64_t)(first % LINE) / size;
}

static void list_outer(qfi_tiles *t)
{
    t->n_outer = 0;
    for (int l = 0; l < t->nest.n_loop; l++)
        if (l != t->nest.row && l != t->nest.col)
            t->outer[t->n_outer++] = (uint8_t)l;
}

/* Rows that pass the caches go to the destination in the order in which they are read: scattered
 * runs are written as fast as one run, but read at half the speed. */
static void follow_source(qfi_tiles *t)
{
    if (!t->streams || !is_copy(t) || t->nest.row < 0)
        return;
    const qfi_form *from = &t->nest.lane[1 + t->piece->root];
    for (int l = 0; l < t->nest.n_loop; l++)
        if (l != t->nest.col && llabs(from->step[l]) < llabs(from->step[t->nest.row]))
            t->nest.row = (int8_t)l;
    t->rows = t->nest.n[t->nest.row];
    list_outer(t);
    for (int64_t i = 1; i < t->n_outer; i++)
        for (int64_t k = i; k > 0; k--) {
            const uint8_t a = t->outer[k - 1], b = t->outer[k];
            if (llabs(from->step[a]) >= llabs(from->step[b]))
                break;
            t->outer[k - 1] = b;
            t->outer[k] = a;
        }
}

static void plan_tasks(qfi_tiles *t, int64_t size)
{
    int64_t outer = 1;

    for (int64_t i = 0; i < t->n_outer; i++)
        outer *= t->nest.n[t->outer[i]];
    t->tiles_m = qfi_parts(t->rows + t->skip, t->m);
    t->tiles_n = qfi_parts(t->cols + t->shift, t->n);
    t->strip = qfi_min64(t->strip, t->tiles_n);
    t->total = outer * t->tiles_m * t->tiles_n;
    const int64_t tile = t->m * t->n * size,
                  task = qfi_min64(qfi_max64(t->total * tile / TASKS, LEAST_TASK), MOST_TASK);
    t->per_task = qfi_max64(1, task / tile);
    /* The number of tasks stays far from the limit of the callback. */
    if (t->total / t->per_task > 1 << 20)
        t->per_task = t->total >> 20;
    /* Neighbouring tiles of 4-bit elements share bytes: one task writes them all. */
    if (t->segment->bits < 8)
        t->per_task = t->total;
}

void qfi_tiles_plan(qfi_tiles *t)
{
    const qfi_nest *nest = &t->nest;
    const int64_t size = t->segment->bits < 8 ? 1 : t->segment->bits / 8;

    t->rows = nest->row < 0 ? 1 : nest->n[nest->row];
    t->cols = nest->col < 0 ? 1 : nest->n[nest->col];
    for (int i = 0; i < t->piece->n_operand; i++)
        t->load[i] = (uint8_t)choose_load(t, i);
    choose_store(t, size);
    list_outer(t);
    follow_source(t);
    choose_tile(t, size);
    t->shift = align_tiles(t, size);
    plan_tasks(t, size);
}
