#include "app/worker/measure_rank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "core/base/error.h"

namespace strato::worker {
namespace {

// Asks for a stop after a time.
class StopAfter {
 public:
  explicit StopAfter(std::chrono::nanoseconds time)
      : thread_([this, time](const std::stop_token& end) {
          std::unique_lock lock(mutex_);
          ended_.wait_for(lock, end, time, [] { return false; });
          stop_.request_stop();
        }) {}
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

OpsReply without_ops(const std::string& problem) {
  OpsReply reply;
  reply.problem = problem;
  return reply;
}

}  // namespace

EngineDevice device_of(const Engine& engine, const std::string& name) {
  std::vector<std::string> known;
  for (const EngineDevice& device : engine.devices()) {
    if (device.name == name || device.name.starts_with(name + ":")) return device;
    known.push_back(device.name);
  }
  if (known.empty()) {
    throw InputError("", "--engine", fmt::format("{} measures no ops", engine.software()),
                     "take another engine, or measure communication alone");
  }
  throw InputError("", "--device", fmt::format("there is no device \"{}\" here", name),
                   fmt::format("use one of: {}", fmt::join(known, ", ")));
}

void MeasureRank::watch(int running, std::chrono::milliseconds timeout) {
  if (parts_.guard == nullptr) return;
  parts_.guard->expect_progress(
      [this, running] {
        return Guard::Activity{ended_.load(std::memory_order_relaxed), running};
      },
      [](int) { return std::string("measuring a training step"); }, timeout);
}

void MeasureRank::watch_nothing() {
  if (parts_.guard != nullptr) parts_.guard->expect_nothing();
}

std::string MeasureRank::measure_graph(const MeasureCommand& command) {
  const auto& graph = parts_.job.graphs.at(static_cast<std::size_t>(command.index));
  const MeasureJobOptions& options = parts_.job.options;
  OpTimesOptions how;
  how.repetitions = options.repetitions;
  how.engine.threads = options.threads;
  how.engine.seed = options.seed;
  const StopAfter stop{std::chrono::nanoseconds(command.time_ns)};
  try {
    const EngineDevice device = device_of(*parts_.engine, options.device);
    how.engine.device = device.name;
    check_memory(*graph, device);
    OpsReply reply{
        measure_ops(*parts_.engine, graph, how, stop.token(), [this](double) { ++ended_; }), ""};
    if (reply.measured.ops.empty()) reply.problem = "the time did not suffice for one step";
    return pack(reply);
  } catch (const std::bad_alloc&) {
    return pack(without_ops("the memory did not suffice"));
  } catch (const InputError& error) {
    return pack(without_ops(error.what()));
  }
}

std::string MeasureRank::take_part(const MeasureCommand& command) {
  const Probe& probe = parts_.job.probes.at(static_cast<std::size_t>(command.index));
  if (probe.members.front() != parts_.rank) {
    probing_.follow(probe);
    return "";
  }
  return pack(probing_.lead(probe, {parts_.job.options.smallest, Bytes(command.largest)},
                            std::chrono::nanoseconds(command.time_ns)));
}

std::string MeasureRank::carry_out(const MeasureCommand& command) {
  const bool ops = command.what == MeasureCommand::What::Ops;
  const auto time =
      std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(command.time_ns));
  watch(ops ? 0 : -1, parts_.job.options.timeout + (ops ? time : std::chrono::milliseconds(0)));
  std::string reply = ops ? measure_graph(command) : take_part(command);
  watch_nothing();
  return reply;
}

void MeasureRank::serve() {
  for (;;) {
    const MeasureCommand command = receive_command(parts_.transport);
    if (command.what == MeasureCommand::What::Stop) return;
    const std::string reply = carry_out(command);
    if (!reply.empty()) send_text(parts_.transport, 0, reply);
  }
}

}  // namespace strato::worker
