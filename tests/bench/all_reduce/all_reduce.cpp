// All-reduce of the Gloo transport beside a bare Gloo all-reduce of the same size, by the same
// processes, in turns:  bin/bench_all_reduce [RANKS ...]
#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>

#include "core/plugin/load/plugin_registry.h"
#include "tests/free_port.h"
#include "tests/paths.h"

namespace strato {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSmallest = std::size_t{64} << 10, kLargest = std::size_t{64} << 20;
constexpr int kTurns = 9;

std::shared_ptr<gloo::Context> bare_gloo(int rank, int ranks, const std::string& folder) {
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  gloo::rendezvous::FileStore store(folder);
  auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  context->connectFullMesh(store, device);
  return context;
}

const PluginRegistry& registry() {
  static const PluginRegistry registry({std::string(kBuildFolder) + "/plugins"});
  return registry;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Comparison {
 public:
  Comparison(const Meeting& meeting, const std::string& folder)
      : meeting_(meeting),
        context_(bare_gloo(meeting.rank, meeting.ranks, folder)),
        transport_(registry().transport("gloo", meeting)),
        members_(static_cast<std::size_t>(meeting.ranks)) {
    std::iota(members_.begin(), members_.end(), 0);
  }

  void run() {
    for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes *= 4) compare(bytes);
    transport_->barrier();
  }

 private:
  void compare(std::size_t bytes) {
    std::vector<float> values(bytes / sizeof(float), 0);
    const int repeat =
        static_cast<int>(std::clamp(kLargest / bytes, std::size_t{1}, std::size_t{50}));
    std::vector<double> bare, ours, ratio;
    for (int turn = -1; turn < kTurns; ++turn) {  // the first is not counted
      const double b = timed(repeat, [&] { bare_all_reduce(values); });
      const double o = timed(repeat, [&] { all_reduce(values); });
      if (turn < 0) continue;
      bare.push_back(b);
      ours.push_back(o);
      ratio.push_back(b / o);
    }
    if (meeting_.rank != 0) return;
    fmt::print("{} ranks {:>6} KB   bare {:9.3f} ms   transport {:9.3f} ms   bandwidth {:6.1f} %\n",
               meeting_.ranks, bytes >> 10, 1e3 * median(bare), 1e3 * median(ours),
               100 * median(ratio));
    std::fflush(nullptr);
  }

  // Seconds of one.
  template <class Body>
  double timed(int repeat, Body body) {
    gloo::BarrierOptions options(context_);
    gloo::barrier(options);
    const auto start = Clock::now();
    for (int i = 0; i < repeat; ++i) body();
    return std::chrono::duration<double>(Clock::now() - start).count() / repeat;
  }

  void bare_all_reduce(std::vector<float>& values) {
    gloo::AllreduceOptions options(context_);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction([](void* to, const void* a, const void* b, std::size_t count) {
      gloo::sum<float>(to, a, b, count);
    });
    gloo::allreduce(options);
  }

  void all_reduce(std::vector<float>& values) {
    transport_
        ->all_reduce(members_, ++tag_, DataType::F32, {std::as_writable_bytes(std::span(values))})
        ->wait();
  }

  Meeting meeting_;
  std::shared_ptr<gloo::Context> context_;
  std::unique_ptr<Transport> transport_;
  std::vector<int> members_;
  std::uint32_t tag_ = 0;
};

void compare_with(int ranks) {
  char folder[] = "/tmp/bench-all-reduce-XXXXXX";
  if (::mkdtemp(folder) == nullptr) throw std::runtime_error("no folder for the meeting");
  Meeting meeting;
  meeting.ranks = ranks;
  const std::string master = free_master();
  meeting.port = static_cast<std::uint16_t>(std::stoi(master.substr(master.rfind(':') + 1)));
  meeting.secret = "of this benchmark";
  meeting.timeout = std::chrono::seconds(60);
  for (meeting.rank = 0; meeting.rank < ranks; ++meeting.rank) {
    if (::fork() != 0) continue;
    try {
      Comparison(meeting, folder).run();
    } catch (const std::exception& error) {
      fmt::print(stderr, "rank {}: {}\n", meeting.rank, error.what());
      std::_Exit(1);
    }
    std::_Exit(0);
  }
  while (::wait(nullptr) > 0) {
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace strato

int main(int count, char** arguments) {
  if (count == 1) {
    for (const int ranks : {2, 4, 8}) strato::compare_with(ranks);
  }
  for (int i = 1; i < count; ++i) strato::compare_with(std::atoi(arguments[i]));
}
