/* The text of a .pt2 program as torch.export writes it, one parameter and one node at a time. */
#ifndef QFB_PT2_TEXT_H
#define QFB_PT2_TEXT_H

#include "../driver/io/json.h"

/* dtype: as torch's schema numbers it.  stride: 0 … are row-major. */
typedef struct qfb_meta {
    int dtype, rank;
    int64_t dim[4], stride[4];
} qfb_meta;

/* The parts of model.json, and of the configuration of its weights. */
typedef struct qfb_pt2 {
    qfi_text inputs, nodes, values, specs, config;
    int n_params;
    bool first_argument;
} qfb_pt2;

void qfb_pt2_open(qfb_pt2 *p, qfi_pool *pool);

/* Parameter `name`, whose value in the program is p_<name>; its payload is the next weight_<k>. */
void qfb_pt2_param(qfb_pt2 *p, const char *name, const qfb_meta *meta);

/* A node: begin, arguments in order, end with the name that node and result share. */
void qfb_pt2_begin(qfb_pt2 *p, const char *target);
void qfb_pt2_tensor(qfb_pt2 *p, const char *argument, const char *value);
void qfb_pt2_ints(qfb_pt2 *p, const char *argument, int n, const int64_t *v);
void qfb_pt2_int(qfb_pt2 *p, const char *argument, int64_t v);
void qfb_pt2_float(qfb_pt2 *p, const char *argument, double v);
void qfb_pt2_dtype(qfb_pt2 *p, const char *argument, int dtype);
void qfb_pt2_end(qfb_pt2 *p, const char *name, const qfb_meta *meta);

/* The whole model.json; the program takes the tensor x besides its parameters and returns
 * `result`. */
void qfb_pt2_model(qfb_pt2 *p, const qfb_meta *x, const char *result, qfi_text *out);

#endif
