// The shim over Google Benchmark: the only C++ of the project.
#include "gbench.h"

#include <benchmark/benchmark.h>

#include <chrono>

struct qfb_state {
    benchmark::State *state;
    std::chrono::steady_clock::time_point begin, end;
    size_t iterations;
    bool started;
};

void qfb_register(const char *name, qfb_case *run, const void *argument)
{
    benchmark::RegisterBenchmark(name, [run, argument](benchmark::State &state) {
        qfb_state wrapped = { &state, {}, {}, 0, false };
        run(&wrapped, argument);
    });
}

bool qfb_next(qfb_state *s)
{
    const bool more = s->state->KeepRunning();
    if (!s->started) {
        s->started = true;
        s->begin = std::chrono::steady_clock::now();
    }
    if (more)
        s->iterations++;
    else
        s->end = std::chrono::steady_clock::now();
    return more;
}

double qfb_seconds_per_iteration(const qfb_state *s)
{
    const std::chrono::duration<double> took = s->end - s->begin;
    return s->iterations ? took.count() / static_cast<double>(s->iterations) : 0;
}

void qfb_counter(qfb_state *s, const char *name, double value)
{
    s->state->counters[name] = value;
}

void qfb_skip(qfb_state *s, const char *why)
{
    s->state->SkipWithError(why);
}

int qfb_run(int argc, char **argv)
{
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
