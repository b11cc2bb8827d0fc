// The analytic cost model against kernels that were measured on GPUs (tests/data/kernels): how far
// it is off, by kind, precision and size. Prints a table that says where it is worst.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/cost/analytic/analytic_cost_model.h"
#include "core/cost/value/calibration.h"
#include "core/graph/build/graph_builder.h"
#include "core/io/file.h"
#include "tests/core/cost/toy.h"

namespace strato {
namespace {

// ---- the measurements

struct Kernel {
  std::string kind, precision;
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  double bytes = 0, flops = 0;
  std::string cache, issue;
  double us = 0;

  bool is(std::string_view how) const { return fmt::format("{} {}", cache, issue) == how; }
};

std::vector<Kernel> read_kernels(const std::string& gpu) {
  std::istringstream lines(
      read_file(std::string(kSourceFolder) + "/tests/data/kernels/" + gpu + ".csv"));
  std::vector<Kernel> kernels;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#") || line.starts_with("kind,")) continue;
    std::ranges::replace(line, ',', ' ');
    std::istringstream row(line);
    Kernel k;
    row >> k.kind >> k.precision >> k.batch >> k.m >> k.n >> k.k >> k.bytes >> k.flops >> k.cache >>
        k.issue >> k.us;
    EXPECT_FALSE(row.fail()) << line;
    EXPECT_GT(k.us, 0) << line;
    kernels.push_back(std::move(k));
  }
  return kernels;
}

bool is_stream(const Kernel& k) { return k.kind == "copy" || k.kind == "add" || k.kind == "gelu"; }

// Graphs have no fp8: such a product is held against one of bf16, which has half of its peak.
DataType data_type(const std::string& precision) {
  if (precision == "bf16" || precision == "fp8") return DataType::BF16;
  return precision == "fp16" ? DataType::F16 : DataType::F32;
}

// Some rows of the operands or of the result do not start at multiples of 16 bytes.
bool is_unaligned(const Kernel& k) {
  const std::int64_t size = k.precision == "fp8" ? 1 : size_of(data_type(k.precision));
  return k.n * size % 16 != 0 || k.k * size % 16 != 0;
}

std::string size_class(const Kernel& k) {
  if (k.kind != "matmul")
    return k.bytes < 1e6 ? "< 1 MB" : k.bytes < 64e6 ? "< 64 MB" : "64 MB and more";
  if (k.batch > 1) return "batched";
  if (k.m <= 64 && k.n > 64) return "64 rows or fewer";
  return k.flops < 1e9 ? "< 1 Gflop" : k.flops < 1e11 ? "< 100 Gflop" : "100 Gflop and more";
}

// ---- the model

std::shared_ptr<const Graph> graph_of(const Kernel& k) {
  const bool product = k.kind == "matmul";
  const std::int64_t batch = k.batch > 1 ? k.batch : k.m;
  GraphBuilder builder("kernel", batch, "kernel.onnx");
  const auto tensor = [&](const char* name, TensorRole role, Shape shape) {
    if (k.batch > 1) shape.insert(shape.begin(), k.batch);
    return builder.add_tensor(
        {.name = name, .type = data_type(k.precision), .role = role, .shape = std::move(shape)});
  };
  const std::map<std::string, std::string> types = {
      {"matmul", "MatMul"}, {"copy", "Relu"},       {"add", "Add"},
      {"gelu", "Gelu"},     {"softmax", "Softmax"}, {"layernorm", "LayerNormalization"}};
  Op op{.name = "op", .type = types.at(k.kind)};
  op.inputs = {tensor("x", TensorRole::Input, {k.m, product ? k.k : k.n})};
  if (product)
    op.inputs.push_back(
        tensor("w", k.batch > 1 ? TensorRole::Input : TensorRole::Parameter, {k.k, k.n}));
  if (k.kind == "add") op.inputs.push_back(tensor("y", TensorRole::Input, {k.m, k.n}));
  if (k.kind == "layernorm")
    for (const char* name : {"scale", "shift"})
      op.inputs.push_back(tensor(name, TensorRole::Parameter, {k.n}));
  op.outputs = {tensor("z", TensorRole::Activation, {k.m, k.n})};
  builder.add_op(std::move(op));
  return std::make_shared<Graph>(std::move(builder).build());
}

class Model {
 public:
  Model(const std::string& gpu, const Calibration& calibration)
      : cluster_(std::make_shared<Cluster>(parse_cluster(
            R"({"format": "stratoscope-cluster", "version": 1, "name": "one", "machines": [
                 {"name": "m", "gpus": [{"type": ")" +
                gpu + R"("}]}]})",
            "c.json", toy::catalogue()))),
        calibration_(std::make_shared<Calibration>(calibration)),
        ordinary_cores_(std::make_shared<Calibration>(calibration)) {
    ordinary_cores_->matrix_units = false;
  }

  double microseconds(const Kernel& k) const {
    if (k.kind == "launch" || k.kind == "d2d") {
      const auto cost = make_analytic_cost_model(toy::chain(1), cluster_, calibration_);
      return 1e-3 *
             static_cast<double>(
                 cost->local_move(GpuTypeId(0), Bytes(static_cast<std::int64_t>(k.bytes))).value);
    }
    const auto graph = graph_of(k);
    const auto cost = make_analytic_cost_model(
        graph, cluster_, k.precision == "fp32" ? ordinary_cores_ : calibration_);
    return 1e-3 * static_cast<double>(cost->compute(OpId(0), GpuTypeId(0), graph->batch()).value);
  }

 private:
  std::shared_ptr<const Cluster> cluster_;
  std::shared_ptr<Calibration> calibration_, ordinary_cores_;
};

// ---- how far apart they are

// Of some kernels: modelled over measured times.
struct Ratios {
  std::vector<double> all;
  double worst = 1;
  std::string worst_kernel;

  void add(const Kernel& k, double modelled) {
    const double ratio = modelled / k.us;
    all.push_back(ratio);
    if (std::abs(std::log(ratio)) < std::abs(std::log(worst))) return;
    worst = ratio;
    worst_kernel =
        fmt::format("{}{} x {} x {}: {:.1f} us",
                    k.batch > 1 ? fmt::format("{} times ", k.batch) : "", k.m, k.n, k.k, k.us);
  }
  template <class F>
  double geometric(F&& of_logarithm) const {
    double sum = 0;
    for (const double ratio : all) sum += of_logarithm(std::log(ratio));
    return std::exp(sum / static_cast<double>(all.size()));
  }
  double mean() const {
    return geometric([](double x) { return x; });
  }
  double error() const {
    return geometric([](double x) { return std::abs(x); });
  }
  double within(double factor) const {
    const auto near = [=](double ratio) { return ratio <= factor && ratio >= 1 / factor; };
    return static_cast<double>(std::ranges::count_if(all, near)) / static_cast<double>(all.size());
  }
};

// By kind and precision, then by size; "" is all sizes.
using Table = std::map<std::string, std::map<std::string, Ratios>>;

std::string line_of(const Kernel& k) {
  if (k.kind != "matmul") return is_stream(k) ? "stream" : k.kind;
  const std::string line = k.precision == "fp8" ? "matmul fp8 as bf16" : "matmul " + k.precision;
  return is_unaligned(k) ? line + " unaligned" : line;
}

Table compare(const std::string& gpu, const Calibration& calibration, std::string_view how) {
  const Model model(gpu, calibration);
  Table table;
  for (const Kernel& k : read_kernels(gpu)) {
    if (!k.is(how) || k.kind == "h2d" || k.kind == "d2h") continue;
    const double modelled = model.microseconds(k);
    table[line_of(k)][""].add(k, modelled);
    table[line_of(k)][size_class(k)].add(k, modelled);
  }
  return table;
}

void print(const std::string& gpu, std::string_view how, const Table& table) {
  fmt::print("{}, {}: modelled over measured time\n", gpu, how);
  fmt::print("  {:22} {:18} {:>4} {:>5} {:>5} {:>6} {:>5}  worst\n", "", "", "", "mean", "error",
             "< 1.5", "< 2");
  for (const auto& [line, sizes] : table)
    for (const auto& [size, r] : sizes)
      fmt::print("  {:22} {:18} {:4} {:5.2f} {:5.2f} {:4.0f} % {:3.0f} %  {:.2f} at {}\n",
                 size.empty() ? line : "", size, r.all.size(), r.mean(), r.error(),
                 100 * r.within(1.5), 100 * r.within(2), r.worst, r.worst_kernel);
  std::fflush(stdout);
}

// ---- what holds

// This is what the model reaches on every GPU that was measured, and a few percent less. Products
// in fp8 are not among it: graphs have no such type. The model does not know that products are slow
// whose rows do not start at multiples of 16 bytes: their bounds only keep it from becoming worse.
struct Bound {
  const char* line;
  double mean, error;  // at most: the mean's factor from 1, up or down; the mean factor of error
  double within15, within2;  // at least: shares
};
constexpr Bound kBounds[] = {
    {"d2d", 1.10, 1.36, 0.86, 0.96},
    {"layernorm", 1.24, 1.24, 0.96, 0.96},
    {"matmul bf16", 1.24, 1.25, 0.92, 0.96},
    {"matmul bf16 unaligned", 3.43, 3.39, 0.15, 0.15},
    {"matmul fp16", 1.28, 1.28, 0.86, 0.96},
    {"matmul fp32", 1.20, 1.23, 0.84, 0.93},
    {"matmul fp32 unaligned", 1.47, 1.46, 0.63, 0.96},
    {"matmul tf32", 1.18, 1.22, 0.91, 0.96},
    {"matmul tf32 unaligned", 2.24, 2.27, 0.08, 0.08},
    {"softmax", 1.30, 1.36, 0.81, 0.96},
    {"stream", 1.53, 1.53, 0.46, 0.96},
};

class MeasuredKernels : public testing::TestWithParam<const char*> {};

TEST_P(MeasuredKernels, TakeAboutAsLongAsModelled) {
  const Table table = compare(GetParam(), Calibration::standard(), "cold stream");
  print(GetParam(), "cold stream", table);
  for (const Bound& bound : kBounds) {
    SCOPED_TRACE(bound.line);
    const Ratios& r = table.at(bound.line).at("");
    EXPECT_LE(r.mean(), bound.mean);
    EXPECT_GE(r.mean(), 1 / bound.mean);
    EXPECT_LE(r.error(), bound.error);
    EXPECT_GE(r.within(1.5), bound.within15);
    EXPECT_GE(r.within(2), bound.within2);
  }
}

TEST_P(MeasuredKernels, AreLaunchedAboutAsFastAsModelled) {
  const Model model(GetParam(), Calibration::standard());
  for (const Kernel& k : read_kernels(GetParam())) {
    if (k.kind != "launch" || k.m > 1056 || !k.is("hot stream")) continue;
    EXPECT_NEAR(std::log(model.microseconds(k) / k.us), 0, std::log(1.4)) << k.m << " blocks";
  }
}

// Kernels follow each other faster in a CUDA graph, their operands in L2: the model is of
// frameworks that launch each by itself.
TEST_P(MeasuredKernels, AreFasterInAGraph) {
  const Table table = compare(GetParam(), Calibration::standard(), "hot graph");
  print(GetParam(), "hot graph", table);
  for (const char* line : {"matmul bf16", "matmul fp16", "matmul tf32", "stream"})
    EXPECT_GT(table.at(line).at("").mean(), 1) << line;
}

// The efficiencies matter: by peak rates and launches alone, every product is further off.
TEST_P(MeasuredKernels, AreNotAtTheirPeaks) {
  Calibration peaks = Calibration::standard();
  peaks.families.fill({1, 1, 1, 0, 0});
  const Table table = compare(GetParam(), Calibration::standard(), "cold stream");
  const Table without = compare(GetParam(), peaks, "cold stream");
  for (const char* line : {"matmul bf16", "matmul fp16", "matmul tf32", "matmul fp32"})
    EXPECT_GT(without.at(line).at("").error(), 1.1 * table.at(line).at("").error()) << line;
}

INSTANTIATE_TEST_SUITE_P(Gpus, MeasuredKernels,
                         testing::Values("H100-SXM5-80GB", "H200-SXM5-141GB"));

}  // namespace
}  // namespace strato
