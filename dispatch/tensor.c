/* Views: strides, bounds, reshaping without moving. */
#include <qfold/tensor.h>

#include <string.h>

void qf_strides_dense(uint8_t rank, const int64_t *shape, int64_t *stride)
{
    int64_t step = 1;
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = step;
        step = (int64_t)((uint64_t)step * (uint64_t)(shape[d] > 1 ? shape[d] : 1));
    }
}

qf_status qf_tensor_dense(qf_storage *storage, const qf_type *type, qf_tensor *out, qf_diag *diag)
{
    uint64_t bytes;

    if (type->rank < 0 || type->rank > QF_MAX_RANK)
        QF_FAIL(diag, QF_ERR_RANK, "a tensor needs a known rank of at most %d", QF_MAX_RANK);
    if (!qf_type_bytes(type, &bytes))
        QF_FAIL(diag, QF_ERR_SHAPE, "the shape has an unknown dim or too many elements");
    if (bytes > storage->size)
        QF_FAIL(diag, QF_ERR_RANGE, "a tensor of %llu bytes in a storage of %llu",
                (unsigned long long)bytes, (unsigned long long)storage->size);
    *out = (qf_tensor){ .storage = storage, .rank = (uint8_t)type->rank, .dtype = type->dtype };
    memcpy(out->shape, type->dim, sizeof *out->shape * (size_t)type->rank);
    qf_strides_dense(out->rank, out->shape, out->stride);
    return QF_OK;
}

qf_type qf_tensor_type(const qf_tensor *tensor)
{
    qf_type type = { .dtype = tensor->dtype, .rank = (int8_t)tensor->rank };
    memcpy(type.dim, tensor->shape, sizeof *type.dim * tensor->rank);
    return type;
}

uint64_t qf_tensor_elements(const qf_tensor *tensor)
{
    uint64_t n = 1;
    for (int d = 0; d < tensor->rank; d++)
        n *= (uint64_t)tensor->shape[d];
    return n;
}

/* Least and greatest element number that a view touches; false if one leaves 64 bits. */
static bool extent(const qf_tensor *t, int64_t *least, int64_t *greatest)
{
    *least = *greatest = t->offset;
    for (int d = 0; d < t->rank; d++) {
        int64_t span;
        int64_t *end = t->stride[d] < 0 ? least : greatest;
        if (__builtin_mul_overflow(t->shape[d] - 1, t->stride[d], &span) ||
            __builtin_add_overflow(*end, span, end))
            return false;
    }
    return true;
}

qf_status qf_tensor_check(const qf_tensor *tensor, qf_diag *diag)
{
    const unsigned bits = qf_dtype_get(tensor->dtype)->bits;
    uint64_t elements, storage_elements;
    int64_t least, greatest;

    if (bits == 0)
        QF_FAIL(diag, QF_ERR_DTYPE, "a tensor without a dtype");
    if (tensor->rank > QF_MAX_RANK)
        QF_FAIL(diag, QF_ERR_RANK, "rank %d is above %d", tensor->rank, QF_MAX_RANK);
    const qf_type type = qf_tensor_type(tensor);
    if (!qf_type_elements(&type, &elements))
        QF_FAIL(diag, QF_ERR_SHAPE, "a negative dim or too many elements");
    if (elements == 0)
        return QF_OK;
    if (!tensor->storage)
        QF_FAIL(diag, QF_ERR_RANGE, "a tensor without a storage");
    /* Sizes near 2^64 bytes cannot be counted in bits; halves are enough for every width. */
    storage_elements = bits < 8 ? tensor->storage->size : tensor->storage->size / (bits / 8);
    if (bits < 8 && !qf_mul(storage_elements, 8 / bits, &storage_elements))
        storage_elements = UINT64_MAX;
    if (!extent(tensor, &least, &greatest) || least < 0 || (uint64_t)greatest >= storage_elements)
        QF_FAIL(diag, QF_ERR_RANGE, "a tensor leaves its storage of %llu bytes",
                (unsigned long long)tensor->storage->size);
    return QF_OK;
}

/* torch's test: old dims fall into chunks that are dense in themselves; each chunk must be filled
 * by whole new dims. */
static bool view_chunks(uint8_t rank, const int64_t *shape, const int64_t *stride, uint8_t new_rank,
                        const int64_t *new_shape, int64_t *new_stride)
{
    int view = new_rank - 1;
    int64_t base = stride[rank - 1], elements = 1, filled = 1;

    for (int d = rank - 1; d >= 0; d--) {
        elements *= shape[d];
        if (d > 0 && (shape[d - 1] == 1 || stride[d - 1] == elements * base))
            continue;
        while (view >= 0 && (filled < elements || new_shape[view] == 1)) {
            new_stride[view] = filled * base;
            filled *= new_shape[view--];
        }
        if (filled != elements)
            return false;
        if (d > 0) {
            base = stride[d - 1];
            elements = filled = 1;
        }
    }
    return view == -1;
}

bool qf_strides_reshape(uint8_t rank, const int64_t *shape, const int64_t *stride, uint8_t new_rank,
                        const int64_t *new_shape, int64_t *new_stride)
{
    uint64_t elements = 1, new_elements = 1;

    for (int d = 0; d < rank; d++)
        elements *= (uint64_t)shape[d];
    for (int d = 0; d < new_rank; d++)
        new_elements *= (uint64_t)new_shape[d];
    if (elements != new_elements)
        return false;
    if (elements == 0) {
        if (rank == new_rank && memcmp(shape, new_shape, sizeof *shape * rank) == 0)
            memmove(new_stride, stride, sizeof *stride * rank);
        else
            qf_strides_dense(new_rank, new_shape, new_stride);
        return true;
    }
    if (rank == 0) {
        for (int d = 0; d < new_rank; d++)
            new_stride[d] = 1;
        return true;
    }
    return view_chunks(rank, shape, stride, new_rank, new_shape, new_stride);
}
