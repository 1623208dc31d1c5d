/* Replacing sequences of stages by one kernel, as peephole.def says. */
#include "dispatch/builder.h"

#include <string.h>

#define LONGEST 3

static const struct {
    uint16_t kernel, key, stage[LONGEST];
    uint8_t in[LONGEST];
} rules[] = {
#define INPUTS(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define STAGES(a, b, c)                                                                            \
    {                                                                                              \
        QFK_OP_##a, QFK_OP_##b, QFK_OP_##c                                                         \
    }
#define QFI_PEEPHOLE(kernel, key, inputs, stages)                                                  \
    { QFK_OP_##kernel, QFK_KEY_##key, stages, inputs },
#include "dispatch/peephole.def"
#undef QFI_PEEPHOLE
#undef STAGES
#undef INPUTS
};

static int uses(const qfi_builder *b, uint8_t ref, uint8_t root)
{
    int n = ref == root;
    for (int i = 0; i < b->n_stage; i++)
        for (int k = 0; k < b->stage[i].n_in; k++)
            n += b->stage[i].in[k] == ref;
    return n;
}

/* Stages of the sequence that ends with stage `last`, each result but the last used once. */
static bool match(const qfi_builder *b, size_t rule, int last, uint8_t root, int *found)
{
    int at = last;

    for (int k = LONGEST - 1;; k--) {
        const qfi_stage *s = &b->stage[at];
        if (s->op != rules[rule].stage[k] || (k > 0 && s->key != rules[rule].key))
            return false;
        found[k] = at;
        if (k == 0)
            return qfk_pick(b->table, rules[rule].kernel, (qfk_key)s->key) != NULL;
        if (s->in[0] < QFI_TEMP || uses(b, s->in[0], root) != 1)
            return false;
        at = s->in[0] - QFI_TEMP;
    }
}

static void renumber(uint8_t *ref, int dropped)
{
    if (*ref != QFI_NO_REF && *ref > QFI_TEMP + dropped)
        --*ref;
}

/* Results are numbered like their stages: those behind move up. */
static void drop(qfi_builder *b, int number, uint8_t *root)
{
    b->n_stage--;
    memmove(&b->stage[number], &b->stage[number + 1],
            sizeof *b->stage * (size_t)(b->n_stage - number));
    for (int i = 0; i < b->n_stage; i++) {
        renumber(&b->stage[i].out, number);
        for (int k = 0; k < b->stage[i].n_in; k++)
            renumber(&b->stage[i].in[k], number);
    }
    renumber(root, number);
}

void qfi_peephole(qfi_builder *b, uint8_t *root)
{
    int found[LONGEST];

    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (int i = 0; i < b->n_stage; i++) {
            if (!match(b, r, i, *root, found))
                continue;
            qfi_stage *last = &b->stage[i];
            const qfi_stage *first = &b->stage[found[0]];
            const qfk_row *row = qfk_pick(b->table, rules[r].kernel, (qfk_key)first->key);
            uint8_t in[LONGEST];
            for (int k = 0; k < LONGEST; k++)
                in[k] = rules[r].in[k] == 0 ? first->in[0] : b->stage[found[rules[r].in[k]]].in[1];
            last->fn = row->fn;
            last->op = row->op_id;
            last->key = row->key;
            last->n_in = LONGEST;
            memcpy(last->in, in, sizeof in);
            for (int k = LONGEST - 2; k >= 0; k--)
                drop(b, found[k], root);
            i -= LONGEST - 1;
        }
}
