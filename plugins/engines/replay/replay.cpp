// The plugin's entry: an engine whose instructions take as long as they were simulated to, with
// buffers of the real sizes, so that a plan can be tried on machines without its GPUs and its data.
#include <fmt/format.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "core/plugin/api/plugin.h"
#include "plugins/engines/replay_buffers/replay_execution.h"

namespace strato::replay {
namespace {

constexpr Nanos kSlack(20'000);
constexpr Nanos kSpin(60'000);
constexpr std::int64_t kSecond = 1'000'000'000;

class HostReplay final : public ReplayExecution {
 public:
  HostReplay(std::shared_ptr<const Graph> graph, std::shared_ptr<const RankProgram> program)
      : ReplayExecution(std::move(graph), std::move(program), kSlack, kHostMemory,
                        "the machine's") {}

  std::string read(ValueId id) const override {
    const std::span<const std::byte> bytes = buffers_.present(id);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  void write(ValueId id, const std::string& elements) override {
    std::memcpy(buffers_.to_fill(id, elements).data(), elements.data(), elements.size());
  }

 private:
  // Sleeps until shortly before, then looks at the clock until it is there: the core is busy for
  // the last 60 us only, as the system may wake a thread that much too late.
  void be_busy_until(Nanos end) override {
    const Nanos wake = end - kSpin;
    if (wake > now()) {
      const timespec at{static_cast<time_t>(wake.value / kSecond),
                        static_cast<long>(wake.value % kSecond)};
      while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
      }
    }
    while (now() < end) {
    }
  }
};

class ReplayEngine final : public RankEngine {
 public:
  std::string software() const override { return "replay"; }

  std::unique_ptr<RankExecution> prepare(std::shared_ptr<const Graph> graph,
                                         std::shared_ptr<const RankProgram> program,
                                         const EngineOptions& options) const override {
    if (options.device != "cpu") {
      throw InputError("", "--device", fmt::format("there is no device \"{}\"", options.device),
                       "use cpu");
    }
    return std::make_unique<HostReplay>(std::move(graph), std::move(program));
  }
};

}  // namespace
}  // namespace strato::replay

STRATOSCOPE_RANK_ENGINE([](std::string_view) {
  return std::make_unique<strato::replay::ReplayEngine>();
})
STRATOSCOPE_ENGINE([](std::string_view) {
  return std::make_unique<strato::replay::MeasuresNothing>("replay");
})
