/* Builders on complex numbers. They are pairs of f32 (c64); other sizes only move. */
#include "aten_build.h"

typedef struct pair {
    qfi_ref re, im;
} pair;

static pair parts_of(qfi_lowering *l, qfi_ref x)
{
    return (pair){ qfi_append1(l, QF_OP_real, NULL, x), qfi_append1(l, QF_OP_imag, NULL, x) };
}

static qfi_ref join(qfi_lowering *l, qfi_ref re, qfi_ref im)
{
    return qfi_append2(l, QF_OP_complex, re, im);
}

static bool is_complex(const qfi_lowering *l, const qfi_operand *x)
{
    return !x->is_number && qfi_class(qfi_type_of(l, x->ref).dtype) == QF_CLASS_COMPLEX;
}

bool qfi_any_complex(const qfi_lowering *l, const qfi_operand *x)
{
    return is_complex(l, &x[0]) || is_complex(l, &x[1]);
}

/* An operand as torch converts it to c64; an f64 with dims would make the result a c128. */
static pair operand_parts(qfi_lowering *l, const qfi_operand *x)
{
    if (is_complex(l, x))
        return parts_of(l, x->ref);
    if (!x->is_number && qfi_type_of(l, x->ref).dtype == QF_DT_f64 &&
        qfi_type_of(l, x->ref).rank > 0)
        qfi_refuse(l, QF_REASON_unsupported_dtype, "c64 with f64");
    return (pair){ qfi_operand_as(l, x, QF_DT_f32), qfi_scalar(l, QF_DT_f32, 0) };
}

qfi_ref qfi_complex_mul(qfi_lowering *l, const qfi_operand *x)
{
    const pair a = operand_parts(l, &x[0]), b = operand_parts(l, &x[1]);
    const qfi_ref re = qfi_append2(l, QF_OP_sub, qfi_append2(l, QF_OP_mul, a.re, b.re),
                                   qfi_append2(l, QF_OP_mul, a.im, b.im));
    const qfi_ref im = qfi_append2(l, QF_OP_add, qfi_append2(l, QF_OP_mul, a.re, b.im),
                                   qfi_append2(l, QF_OP_mul, a.im, b.re));

    return join(l, re, im);
}

void qfi_build_complex(qfi_lowering *l)
{
    qfi_result(l, join(l, qfi_arg_tensor(l, "real"), qfi_arg_tensor(l, "imag")));
}

void qfi_build_polar(qfi_lowering *l)
{
    const qfi_ref abs = qfi_arg_tensor(l, "abs"), angle = qfi_arg_tensor(l, "angle");
    const qfi_ref re = qfi_append2(l, QF_OP_mul, abs, qfi_append1(l, QF_OP_cos, NULL, angle));
    const qfi_ref im = qfi_append2(l, QF_OP_mul, abs, qfi_append1(l, QF_OP_sin, NULL, angle));

    qfi_result(l, join(l, re, im));
}

void qfi_build_real(qfi_lowering *l)
{
    const qfi_operand x = qfi_arg_operand(l, "self");

    qfi_result(l, is_complex(l, &x) ? qfi_append1(l, QF_OP_real, NULL, x.ref) : x.ref);
}

void qfi_build_imag(qfi_lowering *l)
{
    qfi_result(l, qfi_append1(l, QF_OP_imag, NULL, qfi_arg_tensor(l, "self")));
}

void qfi_build_conj_physical(qfi_lowering *l)
{
    const qfi_operand x = qfi_arg_operand(l, "self");

    if (!is_complex(l, &x)) {
        qfi_result(l, x.ref);
        return;
    }
    const pair p = parts_of(l, x.ref);
    qfi_result(l, join(l, p.re, qfi_append1(l, QF_OP_neg, NULL, p.im)));
}

void qfi_build_view_as_real(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const int rank = qfi_type_of(l, x).rank;
    const pair p = parts_of(l, x);

    if (rank == QF_MAX_RANK) {
        qfi_refuse(l, QF_REASON_unsupported_rank, "%d dimensions and the parts", rank);
        return;
    }
    const qfi_ref part[2] = { qfi_unsqueeze(l, p.re, (uint8_t)rank),
                              qfi_unsqueeze(l, p.im, (uint8_t)rank) };
    qfi_result(l, qfi_cat(l, part, 2, (uint8_t)rank));
}

void qfi_build_view_as_complex(qfi_lowering *l)
{
    const qfi_ref x = qfi_arg_tensor(l, "self");
    const qf_type type = qfi_type_of(l, x);
    const uint8_t last = (uint8_t)(type.rank - 1);

    if (type.rank == 0 || type.dim[last] != 2) {
        qfi_refuse(l, QF_REASON_undefined, "the last dimension is not two");
        return;
    }
    qfi_result(l, join(l, qfi_squeeze(l, qfi_slice(l, x, last, 0, 1), last),
                       qfi_squeeze(l, qfi_slice(l, x, last, 1, 1), last)));
}
