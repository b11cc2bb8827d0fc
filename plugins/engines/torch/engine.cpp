// The plugin's entry: LibTorch as a compute engine, on the CPU.
#include <time.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <ranges>
#include <string_view>

#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/tensor_files.h"
#include "plugins/engines/torch/kernels/kernel.h"
#include "plugins/engines/torch/values/stored.h"

namespace strato::torch_engine {
namespace {

// Parameters, optimizer state, constants and inputs: not made by a step.
bool lives_on(TensorRole role) {
  return role == TensorRole::Input || role == TensorRole::Parameter ||
         role == TensorRole::Constant || role == TensorRole::OptimizerState;
}

// A graph's step on one device: its tensors and the kernels of its ops.
class TorchExecution final : public Execution {
 public:
  TorchExecution(std::shared_ptr<const Graph> graph, const EngineOptions& options)
      : graph_(std::move(graph)), threads_(options.threads), shard_(whole_batch(*graph_, options)) {
    plan_steps();
    find_last_readers();
    allocated_before_ = allocated_bytes();
    values_.resize(graph_->tensor_count());
    for (std::size_t i = 0; i < graph_->tensor_count(); ++i) {
      if (lives_on(graph_->tensor(TensorId(i)).role)) {
        store(TensorId(i), initial_elements(*graph_, TensorId(i), shard_));
      }
    }
    reading_ = reading_time();
    reset_peak();
  }

  bool run_step(std::span<Nanos> times, std::stop_token stop) override {
    CHECK(times.empty() || times.size() == graph_->op_count(), "times for another graph");
    const at::NoGradGuard no_gradients;
    at::set_num_threads(threads_);
    forget();
    std::fill(times.begin(), times.end(), Nanos());
    Nanos last = now();
    Nanos* timed_before = nullptr;
    for (const Step& step : steps_) {
      if (stop.stop_requested()) {
        forget();
        return false;
      }
      try {
        run(step);
      } catch (const InputError&) {
        forget();
        throw;
      }
      if (times.empty()) continue;
      const bool view = graph_->op(step.op).view;
      if (view && &step != &steps_.back()) continue;  // its time goes to the next op
      const Nanos end = now();
      Nanos* time = view && timed_before != nullptr ? timed_before : &times[step.op.index()];
      *time += std::max(end - last - reading_, Nanos());
      timed_before = time;
      last = end;
    }
    checked_ = true;
    ++shard_.step;
    return true;
  }

  Nanos now() const override {
    timespec time{};
    ::clock_gettime(threads_ == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return Nanos(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec);
  }

  std::string read(TensorId id) const override {
    const at::Tensor& value = values_[id];
    CHECK(value.defined(), "a tensor that is not kept");
    return elements_of(value);
  }

  void write(TensorId id, const std::string& elements) override {
    CHECK(lives_on(graph_->tensor(id).role), "a tensor that each step makes anew");
    store(id, elements);
  }

  void keep(TensorId id) override {
    for (Step& step : steps_) std::erase(step.releases, id);
  }

  Bytes peak_memory() const override { return Bytes(peak_bytes() - allocated_before_); }

 private:
  // Returns the time that reading the clock adds to each op.
  Nanos reading_time() const {
    Nanos least = Nanos::max();
    for (int i = 0; i < 100; ++i) {
      const Nanos start = now();
      least = std::min(least, now() - start);
    }
    return least;
  }

  struct Step {
    OpId op;
    Kernel kernel;
    std::vector<TensorId> releases;  // nobody reads them after this op
  };

  // Updates come last: a gradient may still read the parameter's old value.
  void plan_steps() {
    for (const OpId op : graph_->ops().ids()) steps_.push_back({op, make_kernel(*graph_, op), {}});
    std::ranges::stable_partition(
        steps_, [&](const Step& step) { return graph_->op(step.op).phase != Phase::Update; });
  }

  void find_last_readers() {
    IdVector<TensorId, bool> seen(graph_->tensor_count(), false);  // in later steps
    for (Step& step : std::views::reverse(steps_)) {
      const Op& op = graph_->op(step.op);
      for (const auto* ids : {&op.outputs, &op.inputs})
        for (const TensorId id : *ids) {
          if (!id.valid() || seen[id]) continue;
          seen[id] = true;
          if (!lives_on(graph_->tensor(id).role)) step.releases.push_back(id);
        }
    }
  }

  Shape local_shape(const Tensor& tensor) const {
    return shape_of(tensor, shard_.part(), graph_->batch());
  }

  void store(TensorId id, const std::string& elements) {
    const Tensor& tensor = graph_->tensor(id);
    values_[id] = from_elements(tensor, local_shape(tensor), elements);
  }

  void run(const Step& step) {
    const Op& op = graph_->op(step.op);
    Tensors inputs;
    inputs.reserve(op.inputs.size());
    for (const TensorId id : op.inputs) inputs.push_back(id.valid() ? values_[id] : at::Tensor());
    try {
      Tensors outputs = step.kernel(inputs, shard_);
      for (std::size_t i = 0; i < outputs.size() && i < op.outputs.size(); ++i) {
        values_[op.outputs[i]] = outputs[i].contiguous();
      }
    } catch (const c10::Error& error) {
      refuse(op, reason_of(error));
    }
    if (!checked_) {  // in the first step: what comes out is what the graph says
      for (const TensorId id : op.outputs)
        check_output(op, graph_->tensor(id), local_shape(graph_->tensor(id)), values_[id]);
    }
    for (const TensorId id : step.releases) values_[id] = at::Tensor();
  }

  // Frees what a step makes, as far as it is still there: what was kept, or all that was made
  // before the step was given up.
  void forget() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!lives_on(graph_->tensor(TensorId(i)).role)) values_[TensorId(i)] = at::Tensor();
    }
  }

  std::shared_ptr<const Graph> graph_;
  int threads_;
  Shard shard_;
  Nanos reading_;
  std::vector<Step> steps_;
  IdVector<TensorId, at::Tensor> values_;
  std::int64_t allocated_before_ = 0;
  bool checked_ = false;
};

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "CPU";
}

class TorchEngine final : public Engine {
 public:
  TorchEngine() { count_allocations(); }

  std::vector<EngineDevice> devices() const override {
    const auto pages = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES));
    return {{"cpu", processor_name(), Bytes(pages * ::sysconf(_SC_PAGESIZE))}};
  }

  std::string software() const override { return "LibTorch " TORCH_VERSION; }

  bool supports(const Graph& graph, OpId op) const override {
    try {
      make_kernel(graph, op);
    } catch (const InputError&) {
      return false;
    }
    return true;
  }

  std::unique_ptr<Execution> prepare(std::shared_ptr<const Graph> graph,
                                     const EngineOptions& options) const override {
    return prepared<TorchExecution>(options, std::move(graph));
  }
};

}  // namespace
}  // namespace strato::torch_engine

STRATOSCOPE_ENGINE([](std::string_view) {
  return std::make_unique<strato::torch_engine::TorchEngine>();
})
STRATOSCOPE_PYTORCH_FILES(strato::torch_engine::open_pytorch, strato::torch_engine::write_pytorch)
