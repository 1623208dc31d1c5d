/* XNNPACK: elementwise operators and conversions, on one thread. Its interface changes between
 * versions; this is the one whose operators are set up with shapes and pointers at once. */
#include "rivals.h"

#if QFB_XNNPACK
#include <math.h>
#include <xnnpack.h>

/* The operator of the case at hand; the one before it goes when the next one comes. */
static xnn_operator_t current;

/* create() and setup() of one kind of operator on the operands of a case. */
typedef struct kind {
    enum xnn_status (*create)(const qfb_work *w);
    enum xnn_status (*setup)(const qfb_work *w);
} kind;

static const float *floats(const qf_tensor *t)
{
    return t->storage->data;
}

static size_t elements(const qfb_work *w)
{
    return (size_t)qf_tensor_elements(&w->in[0]);
}

static enum xnn_status create_add(const qfb_work *w)
{
    (void)w;
    return xnn_create_add_nd_f32(-INFINITY, INFINITY, 0, &current);
}

static enum xnn_status create_mul(const qfb_work *w)
{
    (void)w;
    return xnn_create_multiply_nd_f32(-INFINITY, INFINITY, 0, &current);
}

static enum xnn_status create_widen(const qfb_work *w)
{
    return xnn_create_convert_nc_f16_f32(elements(w), elements(w), elements(w), 0, &current);
}

static enum xnn_status create_narrow(const qfb_work *w)
{
    return xnn_create_convert_nc_f32_f16(elements(w), elements(w), elements(w), 0, &current);
}

static enum xnn_status create_quantize(const qfb_work *w)
{
    return xnn_create_convert_nc_f32_qs8(elements(w), elements(w), elements(w),
                                         1 / *floats(&w->in[1]), (int8_t)*floats(&w->in[2]), -128,
                                         127, 0, &current);
}

static enum xnn_status create_dequantize(const qfb_work *w)
{
    return xnn_create_convert_nc_qs8_f32(elements(w), elements(w), elements(w), *floats(&w->in[1]),
                                         (int8_t)*floats(&w->in[2]), 0, &current);
}

static enum xnn_status setup_add(const qfb_work *w)
{
    const size_t a[] = { (size_t)w->in[0].shape[0], (size_t)w->in[0].shape[1] };
    const size_t b[] = { (size_t)w->in[1].shape[0], (size_t)w->in[1].shape[1] };
    return xnn_setup_add_nd_f32(current, 2, a, 2, b, floats(&w->in[0]), floats(&w->in[1]),
                                w->out.storage->data, NULL);
}

static enum xnn_status setup_mul(const qfb_work *w)
{
    const size_t a[] = { (size_t)w->in[0].shape[0], (size_t)w->in[0].shape[1] };
    const size_t b[] = { (size_t)w->in[1].shape[0], (size_t)w->in[1].shape[1] };
    return xnn_setup_multiply_nd_f32(current, 2, a, 2, b, floats(&w->in[0]), floats(&w->in[1]),
                                     w->out.storage->data, NULL);
}

static enum xnn_status setup_widen(const qfb_work *w)
{
    return xnn_setup_convert_nc_f16_f32(current, 1, w->in[0].storage->data, w->out.storage->data,
                                        NULL);
}

static enum xnn_status setup_narrow(const qfb_work *w)
{
    return xnn_setup_convert_nc_f32_f16(current, 1, floats(&w->in[0]), w->out.storage->data, NULL);
}

static enum xnn_status setup_quantize(const qfb_work *w)
{
    return xnn_setup_convert_nc_f32_qs8(current, 1, floats(&w->in[0]), w->out.storage->data, NULL);
}

static enum xnn_status setup_dequantize(const qfb_work *w)
{
    return xnn_setup_convert_nc_qs8_f32(current, 1, w->in[0].storage->data, w->out.storage->data,
                                        NULL);
}

static void run(void *work)
{
    (void)work;
    (void)!xnn_run_operator(current, NULL);
}

static bool add(qfb_race *race, qfb_work *w, const kind *k)
{
    if (current)
        xnn_delete_operator(current);
    current = NULL;
    if (xnn_initialize(NULL) != xnn_status_success || k->create(w) != xnn_status_success ||
        k->setup(w) != xnn_status_success)
        return false;
    qfb_race_add(race,
                 (qfb_runner){ .counter = "x_xnn", .label = "XNNPACK", .run = run, .arg = w });
    return true;
}

bool qfb_xnn_add(qfb_race *race, qfb_work *w)
{
    return add(race, w, &(kind){ create_add, setup_add });
}

bool qfb_xnn_mul(qfb_race *race, qfb_work *w)
{
    return add(race, w, &(kind){ create_mul, setup_mul });
}

bool qfb_xnn_widen(qfb_race *race, qfb_work *w)
{
    return add(race, w, &(kind){ create_widen, setup_widen });
}

bool qfb_xnn_narrow(qfb_race *race, qfb_work *w)
{
    return add(race, w, &(kind){ create_narrow, setup_narrow });
}

bool qfb_xnn_quantize(qfb_race *race, qfb_work *w)
{
    return add(race, w, &(kind){ create_quantize, setup_quantize });
}

bool qfb_xnn_dequantize(qfb_race *race, qfb_work *w)
{
    return add(race, w, &(kind){ create_dequantize, setup_dequantize });
}
#endif
