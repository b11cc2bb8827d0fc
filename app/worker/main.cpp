// stratoscope-worker: one rank of a launched plan (worker.h). Launchers start it; people seldom do.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "app/worker/guard.h"
#include "app/worker/worker.h"

namespace {

int complain(const std::string& text) {
  std::fprintf(stderr, "stratoscope-worker: %s\n", text.c_str());
  return strato::worker::kBadUsage;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace strato::worker;
  CLI::App app("Runs one rank of a job that 'stratoscope-cli launch' staged.",
               "stratoscope-worker");
  WorkerArguments arguments;
  arguments.rank = rank_of_environment();
  std::string job;
  app.set_version_flag("--version", "stratoscope-worker " STRATOSCOPE_VERSION);
  app.add_option("--job", job, "Folder of the staged job")->required();
  app.add_option("--rank", arguments.rank, "From 0; else as Slurm, Open MPI or PMI says");
  app.add_option("--host", arguments.host, "Where rank 0 listens; else as the folder says");
  app.add_option("--port", arguments.port, "Where rank 0 listens; else a free one");
  app.add_option("--interface", arguments.interface,
                 "Address or network interface (eth0) to listen on, and on no other");
  app.add_flag("--leash", arguments.leash, "End when standard input ends");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return complain(error.what());
  }
  if (arguments.rank < 0) return complain("no rank: give --rank");
  arguments.job = job;
  // mpirun gives its standard input to rank 0 only; it ends the others when rank 0 has ended.
  if (arguments.rank > 0 && std::getenv("OMPI_COMM_WORLD_RANK") != nullptr) arguments.leash = false;
  return run_worker(arguments, strato::PluginRegistry());
}
