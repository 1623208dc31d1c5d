/* Replacing sequences of stages by one kernel, as peephole.def says. */
#include "dispatch/builder.h"

#include <string.h>

#define LONGEST 4
#define INPUTS_OF_A_KERNEL 3
#define ANY_KEY UINT16_MAX

/* from: stage and input that each input of the kernel comes from. */
static const struct {
    uint16_t kernel;
    uint8_t n, from[INPUTS_OF_A_KERNEL][2];
    struct {
        uint16_t op, key;
    } stage[LONGEST];
} rules[] = {
#define FROM(stage, input)                                                                         \
    {                                                                                              \
        stage, input                                                                               \
    }
#define INPUTS(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define STAGES(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define FIRST(op)                                                                                  \
    {                                                                                              \
        QFK_OP_##op, ANY_KEY                                                                       \
    }
#define THEN(op, key)                                                                              \
    {                                                                                              \
        QFK_OP_##op, QFK_KEY_##key                                                                 \
    }
#define QFI_PEEPHOLE(kernel, n, stages, inputs) { QFK_OP_##kernel, n, inputs, stages },
#define QFI_TURNED(op, turned)
#include "dispatch/peephole.def"
#undef QFI_TURNED
#undef QFI_PEEPHOLE
#undef THEN
#undef FIRST
#undef STAGES
#undef INPUTS
#undef FROM
};

static const struct {
    uint16_t op, turned;
} turned[] = {
#define QFI_PEEPHOLE(kernel, n, stages, inputs)
#define QFI_TURNED(op, turned) { QFK_OP_##op, QFK_OP_##turned },
#include "dispatch/peephole.def"
#undef QFI_TURNED
#undef QFI_PEEPHOLE
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

    for (int k = rules[rule].n - 1;; k--) {
        const qfi_stage *s = &b->stage[at];
        if (s->op != rules[rule].stage[k].op || (k > 0 && s->key != rules[rule].stage[k].key))
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

/* The stages found become one, in the place of the last. */
static void fuse(qfi_builder *b, size_t rule, const int *found, uint8_t *root)
{
    const int n = rules[rule].n;
    qfi_stage *last = &b->stage[found[n - 1]];
    const qfk_row *row = qfk_pick(b->table, rules[rule].kernel, (qfk_key)b->stage[found[0]].key);
    uint8_t in[INPUTS_OF_A_KERNEL];

    for (int k = 0; k < INPUTS_OF_A_KERNEL; k++)
        in[k] = b->stage[found[rules[rule].from[k][0]]].in[rules[rule].from[k][1]];
    last->fn = row->fn;
    last->op = row->op_id;
    last->key = row->key;
    last->past = row->exact == QFK_BITS_PAST;
    last->n_in = INPUTS_OF_A_KERNEL;
    memcpy(last->in, in, sizeof in);
    for (int k = n - 2; k >= 0; k--)
        drop(b, found[k], root);
}

/* The row of a stage's kernel that takes nibbles, if its first input is an operand of 4 bits that
 * nothing else reads. */
static const qfk_row *nibble_row(const qfi_builder *b, const qfi_stage *s, uint8_t root)
{
    if (s->n_in == 0 || s->in[0] >= QFI_TEMP || b->operand[s->in[0]].bits != 4 || s->index >= 0 ||
        uses(b, s->in[0], root) != 1)
        return NULL;
    return qfk_pick(b->table, s->op, s->key == QFK_KEY_i8 ? QFK_KEY_i4 : QFK_KEY_u4);
}

/* The kernel that takes a stage's first input turned, and heeds `past`. */
static qfk_tile *find_turned(const qfi_builder *b, const qfi_stage *s)
{
    for (size_t i = 0; i < sizeof turned / sizeof *turned; i++) {
        if (turned[i].op != s->op)
            continue;
        const qfk_row *row = qfk_pick(b->table, turned[i].turned, (qfk_key)s->key);
        return row && row->exact == QFK_BITS_PAST ? row->fn : NULL;
    }
    return NULL;
}

void qfi_peephole(qfi_builder *b, uint8_t *root)
{
    int found[LONGEST];

    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (int i = 0; i < b->n_stage; i++) {
            if (!match(b, r, i, *root, found))
                continue;
            fuse(b, r, found, root);
            i -= rules[r].n - 1;
        }
    for (int i = 0; i < b->n_stage; i++) {
        qfi_stage *s = &b->stage[i];
        const qfk_row *row = nibble_row(b, s, *root);
        if (!row)
            continue;
        s->fn = row->fn;
        s->key = row->key;
        s->past = row->exact == QFK_BITS_PAST;
        s->nibbles = true;
        b->operand[s->in[0]].copy = NULL;
    }
    for (int i = 0; i < b->n_stage; i++)
        b->stage[i].turned = find_turned(b, &b->stage[i]);
}
