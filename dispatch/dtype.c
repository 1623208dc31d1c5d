/* Rows of dtype.def, and sizes of types. */
#include <qfold/types.h>

static const qf_dtype_info rows[] = {
    { "none", 0, QF_CLASS_NONE, QF_DT_none, 0, 0, "", -1 },
#define QF_DTYPE(name, bits, kind, compute, torch, onnx, safetensors, gguf)                        \
    { #name, bits, QF_CLASS_##kind, QF_DT_##compute, torch, onnx, safetensors, gguf },
#include <qfold/dtype.def>
#undef QF_DTYPE
};

const qf_dtype_info *qf_dtype_get(qf_dtype dtype)
{
    const unsigned i = (unsigned)dtype;
    return &rows[i < QF_DT_COUNT ? i : 0];
}

qf_dtype qf_dtype_from_torch(int64_t number)
{
    for (int i = 1; i < QF_DT_COUNT; i++)
        if (rows[i].torch && rows[i].torch == number)
            return (qf_dtype)i;
    return QF_DT_none;
}

qf_dtype qf_dtype_from_onnx(int64_t number)
{
    for (int i = 1; i < QF_DT_COUNT; i++)
        if (rows[i].onnx && rows[i].onnx == number)
            return (qf_dtype)i;
    return QF_DT_none;
}

/* A zero anywhere makes the product zero, but the others must still fit: strides are products of
 * parts of a shape. */
bool qf_type_elements(const qf_type *type, uint64_t *elements)
{
    uint64_t n = 1;
    bool empty = false;

    if (type->rank < 0 || type->rank > QF_MAX_RANK)
        return false;
    for (int d = 0; d < type->rank; d++) {
        if (type->dim[d] < 0)
            return false;
        if (type->dim[d] == 0)
            empty = true;
        else if (!qf_mul(n, (uint64_t)type->dim[d], &n) || n > INT64_MAX)
            return false;
    }
    *elements = empty ? 0 : n;
    return true;
}

bool qf_type_bytes(const qf_type *type, uint64_t *bytes)
{
    uint64_t n;
    if (!qf_type_elements(type, &n) || !qf_mul(n, qf_dtype_get(type->dtype)->bits, &n) ||
        !qf_add(n, 7, &n))
        return false;
    *bytes = n / 8;
    return true;
}

bool qf_type_equal(const qf_type *a, const qf_type *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (a->dim[d] != b->dim[d])
            return false;
    return true;
}
