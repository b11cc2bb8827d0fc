#include "core/cost/analytic/efficiency.h"

#include <algorithm>

namespace strato {
namespace {

constexpr double kLocalMove = 0.70;  // split, concat and sum: plain streams of moderate size

// The GPU that FamilyEfficiency's half sizes are given for.
constexpr double kReferenceFlops = 10e12;
constexpr double kReferenceBandwidth = 500e9;

bool uses_matrix_units(OpFamily family) {
  return family == OpFamily::MatMul || family == OpFamily::Convolution ||
         family == OpFamily::Recurrent;
}

// TF32 stands for fp32 where a GPU has it, as frameworks have it for convolutions (and, with a
// switch that training scripts set, for matrix products).
Precision matrix_precision(DataType type) {
  switch (type) {
    case DataType::F16:
      return Precision::Fp16;
    case DataType::BF16:
      return Precision::Bf16;
    case DataType::I8:
    case DataType::U8:
      return Precision::Int8;
    default:
      return Precision::Tf32;
  }
}

// Returns the type that an op computes in: that of its first floating-point output, or input where
// it has none.
DataType computing_type(const Graph& graph, const Op& op) {
  for (const std::vector<TensorId>* tensors : {&op.outputs, &op.inputs}) {
    for (const TensorId id : *tensors) {
      if (id.valid() && is_floating(graph.tensor(id).type)) return graph.tensor(id).type;
    }
  }
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
    const auto values = forward.integers(key);
    return std::all_of(values.begin(), values.end(), [](std::int64_t v) { return v == 1; });
  };
  return kernel.size() == 4 && kernel[2] == 3 && kernel[3] == 3 && all_one("strides") &&
         all_one("dilations") && forward.integer("group", 1) == 1;
}

double peak(const GpuType& gpu, Precision precision) {
  return gpu.peak_flops[static_cast<std::size_t>(precision)];
}

// The units that do the arithmetic, and the rate that they reach.
void choose_units(const Calibration& calibration, OpFamily family, DataType type,
                  const GpuType& gpu, Rates& rates) {
  const FamilyEfficiency& part = calibration.of(family);
  rates.flops = peak(gpu, Precision::Fp32) * part.cuda_cores;
  if (type == DataType::F64) {
    // A GPU whose fp64 rate is not listed has about 1/32 of its fp32 rate.
    const double fp64 = peak(gpu, Precision::Fp64);
    rates.flops = (fp64 > 0 ? fp64 : peak(gpu, Precision::Fp32) / 32) * part.cuda_cores;
    rates.precision = Precision::Fp64;
    return;
  }
  const Precision units = matrix_precision(type);
  if (!uses_matrix_units(family) || (units == Precision::Tf32 && !calibration.matrix_units)) return;
  // Never slower than the ordinary cores: libraries choose the better kernel.
  const double matrix = peak(gpu, units) * part.tensor_cores;
  if (matrix <= rates.flops) return;
  rates.flops = matrix;
  rates.precision = units;
}

}  // namespace

Rates rates_of(const Calibration& calibration, const Graph& graph, const Op& op,
               const GpuType& gpu) {
  const FamilyEfficiency& part = calibration.of(op.family);
  Rates rates;
  choose_units(calibration, op.family, computing_type(graph, op), gpu, rates);
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

double local_move_rate(const GpuType& gpu) { return gpu.memory_bandwidth * kLocalMove; }

}  // namespace strato
