/* Compiling a value into a segment: boxes are taken from a stack, lowered, and cut or split until
 * they fit. */
#include "dispatch/builder.h"

#include <string.h>

#define MOST_PIECES (1u << 16)

typedef struct work {
    qfi_box *box;
    uint32_t n, size;
    const qfi_piece **piece;
    uint32_t n_piece, piece_size;
} work;

static qf_status no_memory(const qfi_builder *b)
{
    QF_FAIL(b->diag, QF_ERR_NOMEM, "no memory to build a pipeline");
}

/* Room for one more entry; old blocks stay in the pool until the pipeline is built. */
static void *grow(qfi_bump *pool, void *old, uint32_t n, uint32_t *size, size_t each)
{
    if (n < *size)
        return old;
    const uint32_t more = *size ? *size * 2 : 8;
    void *p = qfi_bump_get(pool, more, each);
    if (!p)
        return NULL;
    if (n)
        memcpy(p, old, n * each);
    *size = more;
    return p;
}

static qf_status push_box(qfi_builder *b, work *w, const qfi_box *box)
{
    qfi_box *grown = grow(&b->temp, w->box, w->n, &w->size, sizeof *grown);
    if (!grown)
        return no_memory(b);
    w->box = grown;
    w->box[w->n++] = *box;
    return QF_OK;
}

static qf_status push_piece(qfi_builder *b, work *w, const qfi_piece *piece)
{
    const qfi_piece **grown = grow(&b->temp, w->piece, w->n_piece, &w->piece_size, sizeof *grown);
    if (!grown)
        return no_memory(b);
    w->piece = grown;
    w->piece[w->n_piece++] = piece;
    b->n_piece = w->n_piece;
    return QF_OK;
}

/* What lowering asked for. The left part is pushed last, so that pieces come in the order of the
 * result. */
static qf_status change_box(qfi_builder *b, work *w)
{
    qfi_box left = b->box, right;

    if (w->n + w->n_piece >= MOST_PIECES)
        QF_FAIL(b->diag, QF_ERR_LIMIT, "a value falls into more than %u boxes", MOST_PIECES);
    if (b->again == QFI_AGAIN_CUT) {
        qfi_box_cut(&left, b->change.loop, b->change.at, &right);
        QF_TRY(push_box(b, w, &right));
    } else if (!qfi_box_split(&left, b->change.loop, b->change.at)) {
        QF_FAIL(b->diag, QF_ERR_LIMIT, "a value needs more than %d loops", QFI_LOOPS);
    }
    return push_box(b, w, &left);
}

static qf_status lower_box(qfi_builder *b, const uint8_t *order, qf_dtype as, uint8_t *ref)
{
    qfi_form row[QF_MAX_RANK];

    b->n_operand = b->n_stage = b->n_index = b->n_memo = b->depth = 0;
    for (int k = 0; k < b->value[b->root].type.rank; k++)
        row[order[k]] = qfi_box_row(&b->box, k);
    QF_TRY(qfi_lower_value(b, b->root, row, ref));
    return qfi_convert(b, *ref, b->value[b->root].type.dtype, as, false, ref);
}

/* Elements that are only moved, and not side by side in their memory. */
static bool turns(const qfi_piece *p)
{
    if (p->n_stage > 0 || p->box.n_loop == 0)
        return false;
    const int64_t step = p->operand[p->root].at.step[p->box.n_loop - 1];
    return step != 0 && step != 1;
}

static qf_status lower_boxes(qfi_builder *b, const uint8_t *order, qf_dtype as, work *w,
                             qfi_segment *s)
{
    while (w->n > 0) {
        qfi_piece *piece;
        uint8_t root;

        b->box = w->box[--w->n];
        const qf_status st = lower_box(b, order, as, &root);
        if (st == QFI_AGAIN && b->again != QFI_AGAIN_KEEP) {
            QF_TRY(change_box(b, w));
            continue;
        }
        QF_TRY(st);
        QF_TRY(qfi_piece_finish(b, root, &s->n_slot, &piece));
        QF_TRY(push_piece(b, w, piece));
        s->turns |= turns(piece);
        for (int i = 0; i < piece->n_operand; i++)
            s->reads |=
                piece->operand[i].source == QFI_READ || piece->operand[i].source == QFI_PANEL;
    }
    return QF_OK;
}

static qf_status pick_stores(qfi_builder *b, qfi_segment *s)
{
    const qfk_key key = qfi_bits_key(s->bits);

    if (s->bits == 4) {
        const qfk_row *pack = qfk_pick(b->table, QFK_OP_pack, key);
        s->pack = pack ? pack->fn : NULL;
    } else {
        const qfk_row *copy = qfk_pick(b->table, QFK_OP_copy, key),
                      *transpose = qfk_pick(b->table, QFK_OP_transpose, key),
                      *stream = qfk_pick(b->table, QFK_OP_stream, QFK_KEY_x8);
        s->copy = copy ? copy->fn : NULL;
        s->transpose = transpose ? transpose->fn : s->copy;
        s->turns_past = transpose && transpose->exact == QFK_BITS_PAST;
        s->stream = stream ? stream->fn : NULL;
    }
    if (s->bits == 4 ? !s->pack : !s->copy)
        QF_FAIL(b->diag, QF_ERR_UNSUPPORTED, "no kernel stores elements of %d bits", s->bits);
    return QF_OK;
}

/* b->making is set. */
static qf_status make(qfi_builder *b, uint32_t id, const uint8_t *order, qf_dtype as,
                      const qfi_segment **out)
{
    static const uint8_t natural[QF_MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    const qf_type *t = &b->value[id].type;
    const unsigned bits = qf_dtype_get(as)->bits;
    qfi_segment *s = qfi_bump_get(&b->pipe->pool, 1, sizeof *s);
    work w = { 0 };

    if (!s)
        return no_memory(b);
    order = order ? order : natural;
    b->root = id;
    b->n_piece = 0;
    b->halves = bits == 128;
    s->bits = (uint8_t)(bits > 64 ? 64 : bits);
    s->n_dim = (uint8_t)t->rank;
    for (int k = 0; k < t->rank; k++)
        s->dim[k] = t->dim[order[k]];
    if (b->halves)
        s->dim[s->n_dim++] = 2;
    QF_TRY(pick_stores(b, s));

    const qfi_box whole = qfi_box_make(s->n_dim, s->dim);
    if (b->value[id].elements > 0)
        QF_TRY(push_box(b, &w, &whole));
    QF_TRY(lower_boxes(b, order, as, &w, s));

    const qfi_piece **piece = qfi_bump_get(&b->pipe->pool, w.n_piece, sizeof *piece);
    if (!piece)
        return no_memory(b);
    if (w.n_piece)
        memcpy(piece, w.piece, w.n_piece * sizeof *piece);
    s->piece = piece;
    s->n_piece = w.n_piece;
    if (s->n_slot > b->pipe->n_slot)
        b->pipe->n_slot = s->n_slot;
    *out = s;
    return QF_OK;
}

qf_status qfi_value_segment(qfi_builder *b, uint32_t id, const uint8_t *order,
                            const qfi_segment **out)
{
    b->making = id;
    b->nested = false;
    return make(b, id, order, b->value[id].type.dtype, out);
}

qf_status qfi_operand_segment(qfi_builder *b, uint32_t id, const uint8_t *order, qf_dtype as,
                              const qfi_segment **out)
{
    qf_status st;

    b->making = UINT32_MAX;
    b->nested = true;
    /* A value that turns out to be kept is read from scratch on the next try; each try keeps one
     * more. */
    while ((st = make(b, id, order, as, out)) == QFI_AGAIN)
        b->value[b->again_id].keep = true;
    return st;
}
