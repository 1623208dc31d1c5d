// The shim over Google Benchmark: the only C++ of the project.
#include "gbench.h"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

struct qfb_state {
    benchmark::State *state;
};

void qfb_register(const char *name, qfb_case *run, const void *argument)
{
    const auto wrapped = [run, argument](benchmark::State &state) {
        qfb_state s = { &state };
        run(&s, argument);
    };
    benchmark::RegisterBenchmark(name, wrapped)->Iterations(1)->UseManualTime();
}

bool qfb_next(qfb_state *s)
{
    return s->state->KeepRunning();
}

void qfb_seconds(qfb_state *s, double seconds)
{
    s->state->SetIterationTime(seconds);
}

void qfb_counter(qfb_state *s, const char *name, double value)
{
    s->state->counters[name] = value;
}

void qfb_skip(qfb_state *s, const char *why)
{
    s->state->SkipWithError(why);
}

namespace {

using Run = benchmark::BenchmarkReporter::Run;

// Version 1.8 renamed how a run says that it was left out: whichever member there is.
template <typename R> auto skipped(const R &run, int) -> decltype(run.skipped, std::string())
{
    return run.skipped ? (run.skip_message.empty() ? "left out" : run.skip_message) : "";
}
template <typename R>
auto skipped(const R &run, long) -> decltype(run.error_occurred, std::string())
{
    return run.error_occurred ? (run.error_message.empty() ? "left out" : run.error_message) : "";
}

class Teller : public benchmark::BenchmarkReporter {
  public:
    Teller(void (*told)(void *, const qfb_measured *), void *user) : told_(told), user_(user) {}

    bool ReportContext(const Context &) override { return true; }

    void ReportRuns(const std::vector<Run> &runs) override
    {
        for (const Run &run : runs) {
            if (run.run_type == Run::RT_Iteration)
                tell(run);
        }
    }

  private:
    void tell(const Run &run)
    {
        std::vector<const char *> names;
        std::vector<double> values;
        const std::string name = run.run_name.function_name, why = skipped(run, 0);
        for (const auto &counter : run.counters) {
            names.push_back(counter.first.c_str());
            values.push_back(counter.second.value);
        }
        const double runs = run.iterations ? static_cast<double>(run.iterations) : 1;
        const qfb_measured measured = { name.c_str(),
                                        why.empty() ? nullptr : why.c_str(),
                                        static_cast<int>(run.repetition_index),
                                        run.real_accumulated_time / runs,
                                        names.size(),
                                        names.data(),
                                        values.data() };
        told_(user_, &measured);
    }

    void (*told_)(void *, const qfb_measured *);
    void *user_;
};

} // namespace

void qfb_options(int *argc, char **argv)
{
    benchmark::Initialize(argc, argv);
}

void qfb_run(void (*told)(void *, const qfb_measured *), void *user)
{
    Teller teller(told, user);
    benchmark::RunSpecifiedBenchmarks(&teller, std::string("."));
    benchmark::Shutdown();
}
