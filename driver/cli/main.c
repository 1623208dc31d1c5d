/* The program qfold: finds the command and runs it. */
#include <errno.h>
#include <qfold/version.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "terminal.h"

static void print_help(void)
{
    puts("qfold COMMAND ...: folds the constant part of model files\n");
    for (size_t i = 0; i < qfi_n_commands; i++) {
        char left[32];
        snprintf(left, sizeof left, "%s %s", qfi_commands[i].name, qfi_commands[i].synopsis);
        printf("  %-20s %s\n", left, qfi_commands[i].summary);
    }
    puts("\n"
         "  qfold COMMAND --help   options and examples of a command\n"
         "  qfold --version        version of the program\n"
         "\n"
         "  qfold fold model.pt2 -o folded.pt2\n"
         "\n"
         "Exit codes: 0 done, 1 a check failed, 2 wrong command line, 3 bad input, 4 input or "
         "output,\n"
         "5 a limit. A run that fails writes nothing and says why on standard error.");
}

static int unknown_command(const char *name)
{
    const char *names[16];
    size_t n = 0;
    for (; n < qfi_n_commands && n < sizeof names / sizeof *names; n++)
        names[n] = qfi_commands[n].name;
    const char *near = qfi_closest(name, names, n);
    if (near)
        qfi_usage(NULL, "unknown command %s; did you mean %s?", name, near);
    else
        qfi_usage(NULL, "unknown %s %s", *name == '-' ? "option" : "command", name);
    return QFI_EXIT_USAGE;
}

static int run_command(const qfi_command *command, int argc, char **argv)
{
    qfi_args args;
    int code = 0;
    if (!qfi_args_parse(command, argc, argv, &args))
        code = args.refused;
    else if (args.help)
        qfi_args_help(command);
    else
        code = command->run(&args);
    qfi_args_free(&args);
    return code;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        qfi_usage(NULL, "a command is missing");
        return QFI_EXIT_USAGE;
    }
    const qfi_command *command = qfi_command_find(argv[1]);
    if (command)
        return run_command(command, argc - 1, argv + 1);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help();
        return 0;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("qfold %s\n", qf_version());
        return 0;
    }
    return unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    const int code = dispatch(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "qfold: standard output: %s\n", strerror(errno));
    return code ? code : qf_status_exit_code(QF_ERR_WRITE);
}
