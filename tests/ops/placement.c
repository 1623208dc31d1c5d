/* Tensors in memory in every layout that a view can have, and back. */
#include "placement.h"

#include <stdlib.h>
#include <string.h>

#define PATTERN 0xa5

const char *const layout_names[LAYOUTS] = { "dense",    "permuted", "padded",
                                            "reversed", "strided",  "broadcast" };

static int repeated_dim(const qf_type *type)
{
    int d = 0;
    while (d < type->rank && type->dim[d] < 2)
        d++;
    return d;
}

/* Strides, offset and size in elements. */
static int64_t place(const qf_type *type, layout how, qf_tensor *v)
{
    int64_t step = how == STRIDED ? 2 : 1;

    *v = (qf_tensor){ .rank = (uint8_t)type->rank, .dtype = type->dtype };
    memcpy(v->shape, type->dim, sizeof v->shape);
    for (int k = 0; k < type->rank; k++) {
        const int d = how == PERMUTED ? k : type->rank - 1 - k;
        v->stride[d] = step;
        step *= type->dim[d] > 0 ? type->dim[d] : 1;
        step += how == PADDED && k == 0 ? 3 : 0;
    }
    v->offset = how == PADDED ? 5 : how == STRIDED ? 1 : 0;
    for (int d = 0; how == REVERSED && d < type->rank; d++) {
        v->offset += v->stride[d] * (v->shape[d] > 0 ? v->shape[d] - 1 : 0);
        v->stride[d] = -v->stride[d];
    }
    const int repeated = repeated_dim(type);
    if (how == BROADCAST && repeated < type->rank)
        v->stride[repeated] = 0;
    return step + v->offset + 4;
}

static void *element_at(const qf_tensor *v, int64_t at, unsigned *shift)
{
    const unsigned bits = qf_dtype_get(v->dtype)->bits;
    *shift = bits < 8 ? (unsigned)(at & 1) * 4 : 0;
    return (char *)v->storage->data + (bits < 8 ? at / 2 : at * (bits / 8));
}

static int64_t position(const qf_tensor *v, const qf_type *type, int64_t number)
{
    int64_t at[QF_MAX_RANK], x = v->offset;
    ref_coordinates(type, number, at);
    for (int d = 0; d < type->rank; d++)
        x += v->stride[d] * at[d];
    return x;
}

static void store(const qf_tensor *v, int64_t at, const uint64_t *e)
{
    const unsigned bits = qf_dtype_get(v->dtype)->bits;
    unsigned shift;
    unsigned char *p = element_at(v, at, &shift);

    if (bits < 8)
        *p = (unsigned char)((*p & (0xf0u >> shift)) | (e[0] & 15) << shift);
    else
        memcpy(p, e, bits / 8);
}

static void load(const qf_tensor *v, int64_t at, uint64_t *e)
{
    const unsigned bits = qf_dtype_get(v->dtype)->bits;
    unsigned shift;
    const unsigned char *p = element_at(v, at, &shift);

    e[0] = e[1] = 0;
    if (bits < 8)
        e[0] = *p >> shift & 15;
    else
        memcpy(e, p, bits / 8);
}

static void make_storage(qf_tensor *v, int64_t elements)
{
    v->storage = qf_storage_new((uint64_t)elements * qf_dtype_get(v->dtype)->bits / 8 + 1);
    if (!v->storage)
        abort();
    memset(v->storage->data, PATTERN, v->storage->size);
}

static qf_status read_bytes(void *ctx, uint64_t at, void *dst, size_t n, qf_diag *diag)
{
    const qf_storage *s = ctx;
    if (at + n > s->size)
        return qf_fail(diag, QF_ERR_READ, "read past the end");
    memcpy(dst, (const char *)s->data + at, n);
    return QF_OK;
}

static void release(void *ctx)
{
    qf_storage_unref(ctx);
}

qf_tensor layout_make(const ref_tensor *t, layout how, bool read)
{
    qf_tensor v;

    make_storage(&v, place(&t->type, how, &v));
    for (int64_t i = 0; i < t->n; i++)
        store(&v, position(&v, &t->type, i), t->e[i]);
    if (read)
        v.storage = qf_storage_from_reader(v.storage->size, read_bytes, release, v.storage);
    if (!v.storage)
        abort();
    return v;
}

void layout_free(qf_tensor *view)
{
    qf_storage_unref(view->storage);
    view->storage = NULL;
}

void layout_repeat(ref_tensor *t)
{
    const int d = repeated_dim(&t->type);

    for (int64_t i = 0; d < t->type.rank && i < t->n; i++) {
        int64_t at[QF_MAX_RANK];
        ref_coordinates(&t->type, i, at);
        at[d] = 0;
        memcpy(t->e[i], t->e[ref_number(&t->type, at)], sizeof *t->e);
    }
}

void layout_read(const qf_tensor *view, ref_tensor *t)
{
    for (int64_t i = 0; i < t->n; i++)
        load(view, position(view, &t->type, i), t->e[i]);
}

qf_tensor layout_out(const qf_type *type, layout how)
{
    qf_tensor v;
    make_storage(&v, place(type, how, &v));
    return v;
}

bool layout_intact(const qf_tensor *view)
{
    const qf_type type = qf_tensor_type(view);
    const uint64_t n = qf_tensor_elements(view);
    unsigned char *bytes = malloc(view->storage->size);
    qf_storage copy = *view->storage;
    qf_tensor v = *view;
    uint64_t pattern[2];
    bool intact = true;

    if (!bytes)
        abort();
    memcpy(bytes, copy.data, copy.size);
    copy.data = bytes;
    v.storage = &copy;
    memset(pattern, PATTERN, sizeof pattern);
    pattern[0] = qf_dtype_get(view->dtype)->bits < 8 ? 0 : pattern[0];
    for (uint64_t i = 0; i < n; i++) {
        const int64_t at = position(&v, &type, (int64_t)i);
        if (qf_dtype_get(view->dtype)->bits < 8)
            pattern[0] = at & 1 ? PATTERN >> 4 : PATTERN & 15;
        store(&v, at, pattern);
    }
    for (uint64_t i = 0; i < copy.size; i++)
        intact &= bytes[i] == PATTERN;
    free(bytes);
    return intact;
}

void layout_from_bytes(const void *bytes, const uint8_t *order, ref_tensor *t)
{
    qf_storage s = { .size = UINT64_MAX };
    qf_tensor v = { .storage = &s, .rank = (uint8_t)t->type.rank, .dtype = t->type.dtype };
    int64_t step = 1;

    memcpy(&s.data, &bytes, sizeof bytes);
    for (int k = t->type.rank - 1; k >= 0; k--) {
        const int d = order ? order[k] : k;
        v.stride[d] = step;
        step *= t->type.dim[d];
    }
    layout_read(&v, t);
}

qf_status layout_collect(void *user, const void *data, size_t n, const qf_digest *note,
                         qf_diag *diag)
{
    layout_bytes *b = user;
    (void)note;
    if (b->n + n > b->size)
        return qf_fail(diag, QF_ERR_WRITE, "more bytes than the type has");
    memcpy(b->p + b->n, data, n);
    b->n += n;
    return QF_OK;
}
