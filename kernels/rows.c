/* The rows of every family as one array, in the order of rows.def. */
#include "rows.h"

#define QFK_NEEDS_scalar 0
#define QFK_NEEDS_avx2 QF_CAP_AVX2
#define QFK_NEEDS_avx512 (QF_CAP_AVX2 | QF_CAP_AVX512)
#define QFK_NEEDS_neon QF_CAP_NEON

static const qfk_row rows[] = {
#define ROW_NAME(o, k, isa, exactness)                                             \
    .name = #o "_" #k "_" #isa, .op = #o, .op_id = QFK_OP_##o, .key = QFK_KEY_##k, \
    .exact = QFK_##exactness, .needs = QFK_NEEDS_##isa
#define QF_ROW(fam, o, k, isa, exactness) \
    { ROW_NAME(o, k, isa, exactness), .family = QFK_##fam, .fn = qfk_##o##_##k##_##isa },
#define QF_GEMM(o, k, isa, m_step, n_step, exactness)                                \
    { ROW_NAME(o, k, isa, exactness), .family = QFK_gemm, .mr = m_step, .nr = n_step, \
      .gemm = qfk_##o##_##k##_##isa },
#include "rows.def"
};

static const qfk_op_info ops[] = {
#define QFK_OP(fam, o, inputs, what) \
    { .name = #o, .family = QFK_##fam, .n_in = inputs, .text = what },
#include "rows.def"
};

const qfk_row *qfk_rows(size_t *n)
{
    *n = sizeof rows / sizeof *rows;
    return rows;
}

const qfk_op_info *qfk_ops(size_t *n)
{
    *n = sizeof ops / sizeof *ops;
    return ops;
}
