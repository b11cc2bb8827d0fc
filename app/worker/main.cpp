// stratoscope-worker: one rank of a launched plan (worker.h). Launchers start it; people seldom do.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "app/worker/guard.h"
#include "app/worker/profile_here.h"
#include "app/worker/report.h"
#include "app/worker/worker.h"

namespace {

int complain(const std::string& text) {
  std::fprintf(stderr, "stratoscope-worker: %s\n", text.c_str());
  return strato::worker::kBadUsage;
}

// Between two steps nearly all memory is free. Were it given back to the system, the next step's
// first ops would take it page by page again, which cost a quarter of LeNet's steps.
void keep_freed_memory() {
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
  ::mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace strato::worker;
  keep_freed_memory();
  CLI::App app("Runs one rank of a job that 'stratoscope-cli launch' staged.",
               "stratoscope-worker");
  WorkerArguments arguments;
  arguments.rank = rank_of_environment();
  std::string job;
  app.set_version_flag("--version", "stratoscope-worker " STRATOSCOPE_VERSION);
  bool report = false;
  app.add_flag("--report", report, "Print what this machine has, as JSON, and end");
  app.add_option("--job", job, "Folder of the staged job");
  app.add_option("--rank", arguments.rank, "From 0; else as Slurm, Open MPI or PMI says");
  app.add_option("--host", arguments.host, "Where rank 0 listens; else as the folder says");
  app.add_option("--port", arguments.port, "Where rank 0 listens; else a free one");
  app.add_option("--interface", arguments.interface,
                 "Address or network interface (eth0) to listen on, and on no other");
  app.add_flag("--leash", arguments.leash, "End when standard input ends");
  ProfileHere profile;
  bool profiles = false;
  CLI::Option* measures = app.add_flag("--profile", profiles,
                                       "Measure the ops of a model on this machine alone, and end");
  app.add_option("--graph", profile.graph, "Of --profile: model file")->needs(measures);
  app.add_option("--batch", profile.batch, "Of --profile: samples in one step")
      ->needs(measures)
      ->check(CLI::PositiveNumber);
  app.add_option("--engine", profile.engine, "Of --profile: torch")->needs(measures);
  app.add_option("--device", profile.device, "Of --profile: cpu")->needs(measures);
  app.add_option("--optimizer", profile.optimizer, "Of --profile: adam, momentum or sgd")
      ->needs(measures);
  app.add_option("--threads", profile.threads, "Of --profile: of the CPU, for one op")
      ->needs(measures)
      ->check(CLI::Range(1, 4096));
  app.add_option("-o,--output", profile.output, "Of --profile: profile file to write")
      ->needs(measures);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return complain(error.what());
  }
  if (profiles) {
    try {
      profile_here(profile, strato::PluginRegistry());
      return kDone;
    } catch (const std::exception& error) {
      return complain(error.what());
    }
  }
  if (report) return std::puts(strato::to_json(report_machine()).c_str()) < 0 ? kFailed : kDone;
  if (job.empty()) return complain("no job: give --job");
  if (arguments.rank < 0) return complain("no rank: give --rank");
  arguments.job = job;
  // mpirun gives its standard input to rank 0 only; it ends the others when rank 0 has ended.
  if (arguments.rank > 0 && std::getenv("OMPI_COMM_WORLD_RANK") != nullptr) arguments.leash = false;
  return run_worker(arguments, strato::PluginRegistry());
}
