/* qfold verify: whether a folded file holds what its source computes. */
#include <inttypes.h>

#include "args.h"
#include "terminal.h"

int qfi_cmd_verify(const qfi_args *args)
{
    qf_diag diag = { 0 };
    qf_verified compared;
    char size[24];
    const qf_status st = qf_verify_files(args->operand, args->second, &compared, &diag);
    if (st != QF_OK)
        return qfi_complain(st, &diag);
    if (!args->quiet && !compared.values)
        puts("nothing compared: the files have no constant value of one name");
    else if (!args->quiet)
        printf("%" PRIu64 " constant values (%s) are equal\n", compared.values,
               qfi_human(compared.bytes, size));
    return 0;
}
