/* Storages and tensors. A tensor is always a view: it owns a reference to its storage and nothing
 * else. */
#ifndef QFOLD_TENSOR_H
#define QFOLD_TENSOR_H

#include <qfold/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that tensors view.
 * data: the bytes, or NULL when they come through read().  size: in bytes.  refs: atomic count.
 * writable: whether evaluation may overwrite data. read: copies n bytes from byte `at` to dst; may
 * be called from several threads at once; at + n <= size always holds. release: called once when
 * the last reference goes; NULL if there is nothing to release.  ctx: for both. */
typedef struct qf_storage {
    void *data;
    uint64_t size;
    uint32_t refs;
    bool writable;
    qf_status (*read)(void *ctx, uint64_t at, void *dst, size_t n, qf_diag *diag);
    void (*release)(void *ctx);
    void *ctx;
} qf_storage;

/* shape: elements.  stride, offset: elements, signed; stride 0 repeats, negative runs backwards.
 * 4-bit elements are numbered through the whole storage, the low nibble first. */
typedef struct qf_tensor {
    qf_storage *storage;
    int64_t offset, shape[QF_MAX_RANK], stride[QF_MAX_RANK];
    uint8_t rank;
    qf_dtype dtype;
} qf_tensor;

/* New storage of `size` bytes, owned, 64-byte aligned, contents undefined; one reference. NULL when
 * out of memory. */
QF_API qf_storage *qf_storage_new(uint64_t size);

/* Storage over the caller's bytes, which must outlive it. One reference. NULL when out of memory.
 */
QF_API qf_storage *qf_storage_wrap(void *data, uint64_t size, bool writable);

/* Storage whose bytes come through read(). release may be NULL. One reference. NULL when out of
 * memory. */
QF_API qf_storage *qf_storage_from_reader(uint64_t size,
                                          qf_status (*read)(void *ctx, uint64_t at, void *dst,
                                                            size_t n, qf_diag *diag),
                                          void (*release)(void *ctx), void *ctx);

/* Add a reference (and return the storage), or drop one; the last one releases it. Thread-safe.
 * NULL is allowed. */
QF_API qf_storage *qf_storage_ref(qf_storage *storage);
QF_API void qf_storage_unref(qf_storage *storage);

/* A row-major view of `storage` from element 0. No reference is taken. ERR_RANK: unknown or above
 * QF_MAX_RANK. ERR_SHAPE: an unknown dim, or a size beyond 64 bits. ERR_RANGE: the storage is too
 * small. */
QF_API QF_NODISCARD qf_status qf_tensor_dense(qf_storage *storage, const qf_type *type,
                                              qf_tensor *out, qf_diag *diag);

/* ERR_RANGE unless every element lies inside the storage; ERR_RANK, ERR_SHAPE, ERR_DTYPE for
 * malformed tensors. */
QF_API QF_NODISCARD qf_status qf_tensor_check(const qf_tensor *tensor, qf_diag *diag);

/* dtype and shape of a tensor. */
QF_API qf_type qf_tensor_type(const qf_tensor *tensor);

/* Elements of a tensor (the product of its shape; a checked tensor never overflows). */
QF_API uint64_t qf_tensor_elements(const qf_tensor *tensor);

/* Row-major strides of a shape, in elements, as torch computes them: a dim of 0 counts as 1. */
QF_API void qf_strides_dense(uint8_t rank, const int64_t *shape, int64_t *stride);

/* Whether `shape` of `rank` with `stride` can be seen as `new_shape` without moving an element;
 * fills `new_stride`. Rule of torch's Tensor.view. */
QF_API bool qf_strides_reshape(uint8_t rank, const int64_t *shape, const int64_t *stride,
                               uint8_t new_rank, const int64_t *new_shape, int64_t *new_stride);

#ifdef __cplusplus
}
#endif
#endif
