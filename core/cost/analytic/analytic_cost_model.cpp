#include "core/cost/analytic/analytic_cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/quantity_text.h"
#include "core/cost/collective/collectives.h"

namespace strato {
namespace {

constexpr double kLocalMove = 0.70;  // split, concat and sum: plain streams of moderate size

// The GPU that FamilyEfficiency's half sizes are given for.
constexpr double kReferenceFlops = 10e12;
constexpr double kReferenceBandwidth = 500e9;

// The rates that kernels of one family can reach on one GPU: time = launch + ramp + work / rate.
struct Rates {
  double flops = 0;                       // per second, for very large kernels
  double memory = 0;                      // bytes per second, for very large kernels
  double compute_ramp = 0;                // seconds per kernel
  double memory_ramp = 0;                 // seconds per kernel
  Precision precision = Precision::Fp32;  // of the units that do the arithmetic
};

bool uses_matrix_units(OpFamily family) {
  return family == OpFamily::MatMul || family == OpFamily::Convolution ||
         family == OpFamily::Recurrent;
}

// TF32 stands for fp32 where a GPU has it, as frameworks have it for convolutions (and, with a
// switch that training scripts set, for matrix products).
Precision matrix_precision(DataType type) {
  if (type == DataType::F16) return Precision::Fp16;
  if (type == DataType::BF16) return Precision::Bf16;
  return type == DataType::I8 || type == DataType::U8 ? Precision::Int8 : Precision::Tf32;
}

// The type that an op computes in: of its first floating-point output, else of such an input.
DataType computing_type(const Graph& graph, const Op& op) {
  for (const std::vector<TensorId>* tensors : {&op.outputs, &op.inputs})
    for (const TensorId id : *tensors)
      if (id.valid() && is_floating(graph.tensor(id).type)) return graph.tensor(id).type;
  return DataType::F32;
}

// A plain 3 x 3 convolution of stride 1, or a gradient of one (Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks": cuDNN uses it for all three).
bool suits_winograd(const Graph& graph, const Op& op) {
  if (op.family != OpFamily::Convolution) return false;
  const Op& forward = op.forward.valid() ? graph.op(op.forward) : op;
  if (forward.inputs.size() < 2 || !forward.inputs[1].valid()) return false;
  const Shape& kernel = graph.tensor(forward.inputs[1]).shape;
  const auto all_one = [&](std::string_view key) {
    return std::ranges::all_of(forward.integers(key), [](std::int64_t v) { return v == 1; });
  };
  return kernel.size() == 4 && kernel[2] == 3 && kernel[3] == 3 && all_one("strides") &&
         all_one("dilations") && forward.integer("group", 1) == 1;
}

double peak(const GpuType& gpu, Precision precision) {
  return gpu.peak_flops[static_cast<std::size_t>(precision)];
}

bool is_attention(const Op& op) { return op.type.find("Attention") != std::string::npos; }

// Does a loss read the tensor, as it is, or cast, moved, or reduced over its classes?
bool feeds_loss(const Graph& graph, TensorId made) {
  constexpr int kMost = 8;  // ops between them
  for (int i = 0; i < kMost; ++i) {
    const auto readers = graph.consumers(made);
    const auto next = std::ranges::find_if(
        readers, [&](OpId id) { return graph.op(id).phase != Phase::Backward; });
    if (next == readers.end()) return false;
    const Op& op = graph.op(*next);
    if (op.family == OpFamily::Loss) return true;
    const bool passes_on = op.view || op.type == "Cast" || op.family == OpFamily::DataMovement ||
                           op.family == OpFamily::Softmax;
    if (!passes_on || op.outputs.empty()) return false;
    made = op.outputs[0];
  }
  return false;
}

// A product of what the model's head makes for the loss, or its gradient.
bool is_of_head(const Graph& graph, const Op& op) {
  const Op& forward = op.forward.valid() ? graph.op(op.forward) : op;
  return forward.family == OpFamily::MatMul && !forward.outputs.empty() &&
         feeds_loss(graph, forward.outputs[0]);
}

// What the matrix units of a GPU reach of what they reach at best.
double share_of_units(const Calibration& calibration, const Graph& graph, const Op& op,
                      const GpuType& gpu) {
  const auto found = calibration.architectures.find(gpu.architecture);
  const double share = found == calibration.architectures.end() ? 1 : found->second;
  if (is_attention(op)) return share * calibration.attention;
  return calibration.head < 1 && is_of_head(graph, op) ? share * calibration.head : share;
}

// The units that do the arithmetic, and the rate that they reach.
void choose_units(const Calibration& calibration, const Graph& graph, const Op& op,
                  const GpuType& gpu, Rates& rates) {
  const DataType type = computing_type(graph, op);
  const OpFamily family = op.family;
  const FamilyEfficiency& part = calibration.of(family);
  rates.flops = peak(gpu, Precision::Fp32) * part.cuda_cores;
  if (type == DataType::F64) {
    // A GPU whose fp64 rate is not listed has about 1/32 of its fp32 rate.
    const double fp64 = peak(gpu, Precision::Fp64);
    rates.flops = (fp64 > 0 ? fp64 : peak(gpu, Precision::Fp32) / 32) * part.cuda_cores;
    rates.precision = Precision::Fp64;
    return;
  }
  Precision units = matrix_precision(type);
  if (calibration.fp8_products && !is_attention(op) &&
      (type == DataType::F16 || type == DataType::BF16) && peak(gpu, Precision::Fp8) > 0)
    units = Precision::Fp8;
  if (!uses_matrix_units(family) || (units == Precision::Tf32 && !calibration.matrix_units)) return;
  // Never slower than the ordinary cores: libraries choose the better kernel.
  const double matrix =
      peak(gpu, units) * part.tensor_cores * share_of_units(calibration, graph, op, gpu);
  if (matrix <= rates.flops) return;
  rates.flops = matrix;
  rates.precision = units;
}

Rates rates_of(const Calibration& calibration, const Graph& graph, const Op& op,
               const GpuType& gpu) {
  const FamilyEfficiency& part = calibration.of(op.family);
  Rates rates;
  choose_units(calibration, graph, op, gpu, rates);
  // Winograd's algorithm runs on ordinary cores; counted are the flops of the direct one.
  if (rates.precision == Precision::Fp32 && suits_winograd(graph, op))
    rates.flops *= calibration.winograd;
  rates.memory = gpu.memory_bandwidth * part.memory;
  // half * (peak / reference) / (peak * share): the peak cancels.
  rates.compute_ramp = part.half_flops / (kReferenceFlops * part.cuda_cores);
  rates.memory_ramp = part.half_bytes / (kReferenceBandwidth * part.memory);
  return rates;
}

// Measured times from call to start of an empty kernel, back to back: about 5 microseconds up to
// Turing and 3.5 since Ampere (told by TF32), framework overhead hidden by asynchronous launches.
double launch_seconds(const Calibration& calibration, const GpuType& gpu) {
  return (peak(gpu, Precision::Tf32) > 0 ? 3.5e-6 : 5e-6) * calibration.launch_scale;
}

// The roofline of one op on one GPU in nanoseconds: the greatest of compute and memory time, each a
// fixed part (launch and ramp) and a part linear in the number of samples, and the time that the
// framework needs to start its kernels. Factors are found once: a search asks millions of times.
struct Roofline {
  double least = 0;
  double compute_fixed = 0, compute_per_sample = 0;
  double memory_fixed = 0, memory_per_sample = 0;

  double compute(double samples) const { return compute_fixed + compute_per_sample * samples; }
  double memory(double samples) const { return memory_fixed + memory_per_sample * samples; }
  Nanos at(std::int64_t samples) const {
    const double n = static_cast<double>(samples);
    return nanos_from(std::max({least, compute(n), memory(n)}));
  }
};

// What is left of each op's work where a framework fuses: of pointwise ops the first of two has no
// kernel of its own, and what is between them is neither written nor read. Where several read what
// a function makes (an activation that is multiplied, and the gradient of that), each computes it
// again of what it is a function of.
class KernelWork {
 public:
  KernelWork(const Graph& graph, const Calibration& calibration)
      : graph_(graph),
        work_(graph.op_count()),
        passed_on_(graph.tensor_count()),
        adds_up_(graph.tensor_count()) {
    for (const OpId op : graph.ops().ids()) work_[op] = graph.op(op).work;
    for (const OpId op : graph.ops().ids()) {
      if (calibration.fuses_updates) join_others(op);
      if (calibration.fuses_accumulation) add_in_product(op);
      if (!calibration.fuses_pointwise || !is_between_pointwise(op)) continue;
      const TensorId between = graph.op(op).outputs[0];
      passed_on_[between] = true;
      if (const auto readers = graph.consumers(between); readers.size() == 1)
        fuse(op, readers[0]);
      else
        work_[op] = {.flops = 0, .batch_bytes = {}, .fixed_bytes = {}, .kernels = 0};
    }
  }
  const IdVector<OpId, Work>& work() const { return work_; }
  bool is_passed_on(TensorId tensor) const { return passed_on_[tensor]; }
  bool adds_up(TensorId gradient) const { return adds_up_[gradient]; }

 private:
  static bool is_pointwise(const Op& op) {
    return op.family == OpFamily::Elementwise || op.family == OpFamily::Softmax;
  }
  // Is it a pointwise op that a pointwise one alone reads, or a function of one tensor whose
  // readers are all pointwise?
  bool is_between_pointwise(OpId id) const {
    const Op& op = graph_.op(id);
    if (!is_pointwise(op) || op.outputs.size() != 1) return false;
    const auto readers = graph_.consumers(op.outputs[0]);
    const bool is_function = op.family == OpFamily::Elementwise && op.inputs.size() == 1;
    return (readers.size() == 1 || (readers.size() > 1 && is_function)) &&
           std::ranges::all_of(readers,
                               [&](OpId reader) { return is_pointwise(graph_.op(reader)); });
  }
  void fuse(OpId op, OpId reader) {
    const Tensor& between = graph_.tensor(graph_.op(op).outputs[0]);
    for (Work* work : {&work_[op], &work_[reader]}) {
      Bytes& moved =
          between.batch.kind == BatchKind::Batched ? work->batch_bytes : work->fixed_bytes;
      moved = std::max(Bytes(), moved - between.bytes());
    }
    work_[op].kernels = 0;
  }
  // An update, or a cast of a parameter, is done in a kernel with others. The cast of a gradient is
  // no work at all.
  void join_others(OpId id) {
    const Op& op = graph_.op(id);
    const auto is_parameter = [&](TensorId input) {
      return input.valid() && graph_.tensor(input).role == TensorRole::Parameter;
    };
    const bool casts_gradient = op.type == "CastGrad" && !op.outputs.empty() &&
                                graph_.tensor(op.outputs[0]).batch.kind != BatchKind::Batched;
    const bool casts_parameter = op.type == "Cast" && std::ranges::any_of(op.inputs, is_parameter);
    if (casts_gradient) work_[id] = {};
    if (casts_gradient || casts_parameter || op.phase == Phase::Update) work_[id].kernels = 0;
  }

  // Of a product that makes a weight's gradient, or of the cast of one.
  void add_in_product(OpId id) {
    const Op& op = graph_.op(id);
    if (op.outputs.size() != 1) return;
    const Tensor& made = graph_.tensor(op.outputs[0]);
    if (made.role != TensorRole::Gradient || made.batch.kind != BatchKind::Partial) return;
    const bool is_cast = op.type == "CastGrad" && op.inputs.size() == 1 && op.inputs[0].valid();
    const OpId maker = is_cast ? graph_.tensor(op.inputs[0]).producer : id;
    if (!maker.valid() || graph_.op(maker).family != OpFamily::MatMul) return;
    adds_up_[op.outputs[0]] = true;
    if (is_cast && graph_.consumers(op.inputs[0]).size() == 1) passed_on_[op.inputs[0]] = true;
  }

  const Graph& graph_;
  IdVector<OpId, Work> work_;
  IdVector<TensorId, char> passed_on_, adds_up_;
};

double batch_of(const Graph& graph) {
  return static_cast<double>(std::max<std::int64_t>(graph.batch(), 1));
}

Roofline roofline_of(const Calibration& calibration, const Graph& graph, const Op& op,
                     const Work& work, const GpuType& gpu) {
  if (op.view) return {};
  const Rates rates = rates_of(calibration, graph, op, gpu);
  const double launch = work.kernels * launch_seconds(calibration, gpu) * 1e9;
  // What has no kernel of its own takes a moment all the same, so that it has its place in time.
  Roofline roofline{std::max(1.0, work.kernels * calibration.issue_us * 1e3), launch, 0, launch, 0};
  if (work.flops > 0) roofline.compute_fixed += work.kernels * rates.compute_ramp * 1e9;
  roofline.compute_per_sample = work.flops / rates.flops * 1e9 / batch_of(graph);
  roofline.memory_fixed += work.kernels * rates.memory_ramp * 1e9 +
                           static_cast<double>(work.fixed_bytes.value) / rates.memory * 1e9;
  roofline.memory_per_sample =
      static_cast<double>(work.batch_bytes.value) / rates.memory * 1e9 / batch_of(graph);
  return roofline;
}

class AnalyticCostModel final : public CostModel {
 public:
  AnalyticCostModel(std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster,
                    std::shared_ptr<const Calibration> calibration)
      : graph_(std::move(graph)),
        cluster_(std::move(cluster)),
        calibration_(std::move(calibration)),
        collectives_(cluster_),
        kernels_(*graph_, *calibration_),
        types_(cluster_->gpu_types().size()) {
    rooflines_.reserve(graph_->op_count() * types_);
    for (const OpId op : graph_->ops().ids())
      for (const GpuType& gpu : cluster_->gpu_types())
        rooflines_.push_back(
            roofline_of(*calibration_, *graph_, graph_->op(op), kernels_.work()[op], gpu));
    digest_ = Hasher()
                  .text("analytic cost 2")
                  .digest(graph_->digest())
                  .digest(cluster_->digest())
                  .digest(calibration_->digest())
                  .finish();
  }

  Nanos compute(OpId op, GpuTypeId gpu, std::int64_t samples) const override {
    return roofline(op, gpu).at(samples);
  }

  Nanos local_move(GpuTypeId gpu, Bytes moved) const override {
    const GpuType& type = cluster_->gpu_types()[gpu];
    return nanos_from_seconds(launch_seconds(*calibration_, type) +
                              static_cast<double>(moved.value) /
                                  (type.memory_bandwidth * kLocalMove));
  }

  Nanos transfer(const Path& path, Bytes bytes) const override {
    if (path.links.empty()) return Nanos();
    return path.latency + nanos_from_seconds(static_cast<double>(bytes.value) /
                                             (path.bandwidth * calibration_->transfer_scale));
  }

  CollectiveCost collective(Collective kind, std::span<const DeviceId> devices,
                            Bytes bytes) const override {
    CollectiveCost cost = collectives_.cost(kind, devices, bytes, scale_between(devices));
    const Nanos start = nanos_from_seconds(calibration_->collective_us * 1e-6);
    cost.duration += start;
    cost.latency += start;
    return cost;
  }

  const Digest& digest() const override { return digest_; }

  Nanos issue(OpId id) const override {
    const Op& op = graph_->op(id);
    if (op.view) return {};
    const bool is_loss = op.family == OpFamily::Loss && op.phase != Phase::Backward;
    return host_time(calibration_->host_kernel_us * kernels_.work()[id].kernels +
                     (is_loss ? calibration_->host_loss_us : 0));
  }
  Nanos issue_collective() const override { return host_time(calibration_->host_collective_us); }
  Nanos issue_local_move() const override { return host_time(calibration_->host_kernel_us); }
  bool issue_after_transfers() const override { return calibration_->host_awaits_transfers; }
  bool is_passed_on(TensorId tensor) const override { return kernels_.is_passed_on(tensor); }
  bool adds_up(TensorId gradient) const override { return kernels_.adds_up(gradient); }

  // "roofline: 61 % of V100-SXM2-16GB's fp32 peak, 5 us launch".
  Estimate explain_compute(OpId id, GpuTypeId gpu, std::int64_t samples) const override {
    const Op& op = graph_->op(id);
    const Nanos time = compute(id, gpu, samples);
    if (op.view) return analytic(time, "a view: nothing is computed or moved");
    const GpuType& type = cluster_->gpu_types()[gpu];
    const Work& work = kernels_.work()[id];
    const Roofline& line = roofline(id, gpu);
    const double n = static_cast<double>(samples), part = n / batch_of(*graph_);
    const double seconds = std::max(to_seconds(time), 1e-9);
    const bool compute_bound = line.compute(n) > line.memory(n);
    const Precision precision = rates_of(*calibration_, *graph_, op, type).precision;
    const double reached = compute_bound ? work.flops * part / seconds / peak(type, precision)
                                         : (static_cast<double>(work.fixed_bytes.value) +
                                            static_cast<double>(work.batch_bytes.value) * part) /
                                               seconds / type.memory_bandwidth;
    const std::string what =
        compute_bound ? fmt::format("{} peak", name_of(precision)) : "memory bandwidth";
    const Nanos launch = nanos_from_seconds(work.kernels * launch_seconds(*calibration_, type));
    return analytic(time, fmt::format("roofline: {:.0f} % of {}'s {}, {} launch", 100 * reached,
                                      type.name, what, time_text(launch)));
  }

  Estimate explain_transfer(const Path& path, Bytes bytes) const override {
    const Nanos time = transfer(path, bytes);
    if (path.links.empty()) return analytic(time, "stays on the device");
    return analytic(
        time, fmt::format("{} latency + {} at {:.3g} GB/s", time_text(path.latency),
                          bytes_text(bytes), path.bandwidth * calibration_->transfer_scale * 1e-9));
  }

  Estimate explain_collective(Collective kind, std::span<const DeviceId> devices,
                              Bytes bytes) const override {
    const CollectiveCost cost = collective(kind, devices, bytes);
    return analytic(
        cost.duration,
        fmt::format("{} {} over {} devices: {} latency + {} for {}", name_of(cost.algorithm),
                    name_of(kind), devices.size(), time_text(cost.latency),
                    time_text(cost.duration - cost.latency), bytes_text(bytes)));
  }

 private:
  const Roofline& roofline(OpId op, GpuTypeId gpu) const {
    return rooflines_[op.index() * types_ + gpu.index()];
  }
  double scale_between(std::span<const DeviceId> devices) const {
    const bool in_a_machine =
        cluster_->device(devices.front()).machine == cluster_->device(devices.back()).machine;
    return in_a_machine || calibration_->network_scale == 0 ? calibration_->collective_scale
                                                            : calibration_->network_scale;
  }
  static Nanos host_time(double microseconds) { return nanos_from(microseconds * 1e3); }
  Estimate analytic(Nanos time, std::string detail) const {
    return {time, CostSource::Analytic, calibration_->relative_error, std::move(detail)};
  }

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const Cluster> cluster_;
  std::shared_ptr<const Calibration> calibration_;
  Collectives collectives_;
  const KernelWork kernels_;  // of each op, as it is computed
  std::size_t types_;
  std::vector<Roofline> rooflines_;  // by op, then GPU type
  Digest digest_;
};

}  // namespace

std::shared_ptr<const CostModel> make_analytic_cost_model(
    std::shared_ptr<const Graph> graph, std::shared_ptr<const Cluster> cluster,
    std::shared_ptr<const Calibration> calibration) {
  if (!calibration) calibration = std::make_shared<const Calibration>(Calibration::standard());
  return std::make_shared<AnalyticCostModel>(std::move(graph), std::move(cluster),
                                             std::move(calibration));
}

}  // namespace strato
