#include "app/worker/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>
#include <thread>

#include "app/worker/guard.h"
#include "app/worker/measure_session.h"
#include "app/worker/meeting.h"
#include "app/worker/report.h"
#include "app/worker/session.h"
#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/graph/build/graph_builder.h"
#include "core/launch/discover/discover.h"
#include "core/launch/job/job.h"
#include "core/launch/job/run_files.h"
#include "core/launch/measure/measure_job.h"
#include "core/launch/measured/make_job.h"

namespace strato::worker {
namespace {

using namespace std::chrono_literals;

void log_to(const std::filesystem::path& folder, int rank) {
  const auto file = folder / fmt::format("log-{}.txt", rank);
  const int log =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (log < 0) return;  // what cannot be logged goes to the launcher's own error output
  ::dup2(log, STDERR_FILENO);
  ::close(log);
}

Meeting meeting_of(WorkerArguments arguments, int ranks, const std::string& secret,
                   std::chrono::milliseconds timeout) {
  arguments.interface = address_of_interface(arguments.interface);
  Meeting meeting;
  meeting.rank = arguments.rank;
  meeting.ranks = ranks;
  meeting.secret = secret;
  meeting.timeout = timeout;
  meeting.interface = arguments.interface;
  const MeetingPlace place = meeting_place(arguments, meeting.timeout);
  // Where rank 0 has told the place, it listens; else it may still be about to start.
  if (!arguments.host.empty() && arguments.port != 0) meeting.connect = meeting.timeout;
  meeting.host = place.host;
  meeting.port = place.port;
  return meeting;
}

// The second stage of rewriting: this rank's part of the plan.
void lower_own_part(RankJob& job) {
  const auto begin = std::chrono::steady_clock::now();
  const auto own = static_cast<std::size_t>(job.rank);
  job.program = lower_rank(*job.plan, job.graph, job.device_of_rank[own], "job-plan.json");
  expect_own_program(job, "job-plan.json");
  job.plan.reset();
  const auto took = std::chrono::steady_clock::now() - begin;
  std::fprintf(stderr, "rank %d: %zu instructions made of the plan in %.1f ms\n", job.rank,
               job.program.instructions.size(),
               std::chrono::duration<double, std::milli>(took).count());
}

EngineOptions options_of(const RankJob& job) {
  EngineOptions options;
  options.device = job.options.device;
  options.seed = job.options.seed;
  options.threads = job.options.threads;
  options.learning_rate = job.options.learning_rate;
  return options;
}

std::shared_ptr<const RankProgram> program_of(const RankJob& job) {
  return {std::shared_ptr<const RankProgram>(), &job.program};  // the job outlives its use
}

struct Failure {
  RankFailure what;
  bool consequence = false;  // of something that another rank may still have to tell
};

Failure failure_of(const std::exception_ptr& thrown, int rank) {
  try {
    std::rethrow_exception(thrown);
  } catch (const OtherRankFailure& error) {
    return {{error.rank(), error.what()}};
  } catch (const PeerFailure& error) {
    return {{rank, error.what()}, true};
  } catch (const std::bad_alloc&) {
    return {
        {rank,
         "the machine's memory does not suffice for what a rank needs beside its tensors; take a "
         "smaller batch or more devices"}};
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) return {{rank, error.what()}};
    return {
        {rank,
         "the machine's memory, or the number of processes that it allows, does not suffice for "
         "another thread; see ulimit -v and ulimit -u"}};
  } catch (const std::exception& error) {
    return {{rank, error.what()}};
  }
}

// The first failure of the job, once this rank's own is told.
RankFailure tell(const std::filesystem::path& folder, const Failure& failure) {
  const auto until = std::chrono::steady_clock::now() + (failure.consequence ? kPatience : 0ms);
  while (std::chrono::steady_clock::now() < until && !find_failure(folder))
    std::this_thread::sleep_for(20ms);
  record_failure(folder, failure.what);
  return find_failure(folder).value_or(failure.what);
}

// Ends the process as it is: threads may be stuck in a transport that is broken.
[[noreturn]] void end_failed(const WorkerArguments& arguments, Events& events,
                             const std::exception_ptr& thrown) {
  const Failure failure = failure_of(thrown, arguments.rank);
  std::fprintf(stderr, "rank %d: %s\n", failure.what.rank, failure.what.text.c_str());
  const RankFailure first = tell(arguments.job, failure);
  events.tell_failure(first.rank, first.text);
  Guard::end_process(kFailed);
  std::abort();
}

// Ends the process where it fails, before anything is destroyed.
template <class Session>
void run_to_the_end(Session& session, const Transport& transport, const WorkerArguments& arguments,
                    Events& events, Guard& guard) {
  guard.expect_ranks([&transport] { return transport.lost(); });
  try {
    session.run();
    guard.expect_ranks(nullptr);
  } catch (...) {
    end_failed(arguments, events, std::current_exception());
  }
}

void run_rank(const WorkerArguments& arguments, const PluginRegistry& plugins, Events& events,
              Guard& guard) try {
  RankJob job = load_rank(arguments.job, arguments.rank);
  if (job.plan) lower_own_part(job);
  const auto engine = plugins.rank_engine(job.options.engine);
  const auto execution = engine->prepare(job.graph, program_of(job), options_of(job));
  const Meeting meeting = meeting_of(arguments, job.ranks, job.secret, job.options.timeout);
  const auto transport =
      on_transport([&] { return plugins.transport(job.options.transport, meeting); });
  std::fprintf(stderr, "rank %d of %d: %s, %s, met at %s:%d\n", job.rank, job.ranks,
               job.devices[static_cast<std::size_t>(job.rank)].c_str(), engine->software().c_str(),
               meeting.host.c_str(), meeting.port);
  RankSession session(
      {job, arguments.job, *execution, *transport, events, &guard, engine->software()});
  run_to_the_end(session, *transport, arguments, events, guard);
} catch (...) {
  end_failed(arguments, events, std::current_exception());
}

// An engine that holds nothing but messages, where the device is not the host's.
std::unique_ptr<RankExecution> execution_for_messages(const PluginRegistry& plugins,
                                                      const MeasureJobOptions& options, int rank) {
  if (options.device == "cpu") return nullptr;
  const auto engine = plugins.rank_engine(options.engine);
  auto program = std::make_shared<RankProgram>();
  program->rank = rank;
  auto graph = std::make_shared<const Graph>(GraphBuilder("messages", 1).build());
  EngineOptions how;
  how.device = options.device;
  return engine->prepare(std::move(graph), std::move(program), how);
}

// The same as run_rank, of a measurement job.
void run_measuring(const WorkerArguments& arguments, const PluginRegistry& plugins, Events& events,
                   Guard& guard) try {
  const StagedMeasureJob staged = load_measure_job(arguments.job, arguments.rank);
  const MeasureJobOptions& options = staged.job.options;
  const auto engine =
      staged.job.graphs.empty() ? std::unique_ptr<Engine>() : plugins.engine(options.engine);
  const auto execution = execution_for_messages(plugins, options, arguments.rank);
  Meeting meeting = meeting_of(arguments, static_cast<int>(staged.job.ranks.size()), staged.secret,
                               options.timeout);
  meeting.idle = options.budget;  // a rank waits for the next command as long as others measure
  const auto transport =
      on_transport([&] { return plugins.transport(options.transport, meeting); });
  std::fprintf(stderr, "rank %d of %d measures, met at %s:%d\n", arguments.rank, meeting.ranks,
               meeting.host.c_str(), meeting.port);
  MeasureSession session({staged, arguments.rank, arguments.job, engine.get(), execution.get(),
                          *transport, events, &guard});
  run_to_the_end(session, *transport, arguments, events, guard);
} catch (...) {
  end_failed(arguments, events, std::current_exception());
}

// The same, of a discovery.
void run_discovery(const WorkerArguments& arguments, const PluginRegistry&, Events& events,
                   Guard&) try {
  report_rank(arguments, events);
} catch (...) {
  end_failed(arguments, events, std::current_exception());
}

}  // namespace

int rank_of_environment() {
  for (const char* name : {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    const char* text = std::getenv(name);
    if (const auto rank = number_from(text == nullptr ? "" : text, 0, 999'999)) return *rank;
  }
  return -1;
}

int run_worker(const WorkerArguments& arguments, const PluginRegistry& plugins) {
  ::signal(SIGPIPE, SIG_IGN);
  log_to(arguments.job, arguments.rank);
  Events events(arguments.rank == 0 ? STDOUT_FILENO : -1);
  Guard guard({arguments.job, arguments.rank, arguments.leash}, events);
  const auto run = is_discovery(arguments.job)     ? run_discovery
                   : is_measure_job(arguments.job) ? run_measuring
                                                   : run_rank;
  run(arguments, plugins, events, guard);
  return kDone;
}

}  // namespace strato::worker
