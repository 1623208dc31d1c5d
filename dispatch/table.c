/* The dispatch table: best row per (operator, key) for a set of capabilities. */
#include <pthread.h>
#include <stdlib.h>

#include "kernels/rows.h"

struct qf_table {
    qf_caps caps;
    const qfk_row *row[QFK_OP_COUNT][QFK_KEY_COUNT];
};

static void fill(qf_table *table, qf_caps caps)
{
    size_t n;
    const qfk_row *rows = qfk_rows(&n);

    table->caps = caps;
    for (size_t i = 0; i < n; i++)
        if ((rows[i].needs & ~caps) == 0)
            table->row[rows[i].op_id][rows[i].key] = &rows[i];
}

qf_table *qf_table_make(qf_caps caps)
{
    qf_table *table = calloc(1, sizeof *table);

    if (table)
        fill(table, caps);
    return table;
}

static qf_table best;

static void fill_best(void)
{
    fill(&best, qf_caps_detect());
}

const qf_table *qf_table_best(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill_best);
    return &best;
}

void qf_table_free(qf_table *table)
{
    free(table);
}

qf_caps qf_table_caps(const qf_table *table)
{
    return table->caps;
}

const qfk_row *qfk_pick(const qf_table *table, uint16_t op_id, qfk_key key)
{
    return op_id < QFK_OP_COUNT && (unsigned)key < QFK_KEY_COUNT ? table->row[op_id][key] : NULL;
}
