#include "core/cost/value/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kFormat = "stratoscope-calibration";
constexpr std::string_view kStandard = "standard";

// In the order of OpFamily. The launch overhead is apart. The ramps (half_flops, half_bytes) stand
// for filling and draining a GPU's cores: some 6 us for a product, 3 us for a stream; a step of a
// recurrent layer takes about 20 us in cuDNN, however small.
constexpr double kProduct = 4e7, kStep = 1e8, kStream = 1e6;
constexpr std::array<FamilyEfficiency, kOpFamilies> kStandardFamilies = {{
    // cores, tensor, memory, half flops, half bytes
    // MatMul: GEMMs of training reach 70-90 % of fp32 peak; matrix units starve for operands on all
    // but the largest.
    {0.75, 0.60, 0.75, kProduct, kStream},
    // Convolution: implicit GEMM with odd shapes; beside Winograd's algorithm (see below), 0.5 of a
    // V100's peak in ResNets; TF32 kernels reach far less of theirs.
    {0.50, 0.35, 0.70, kProduct, kStream},
    // Elementwise: a stream; measured copies reach 75-80 % of nominal.
    {0.50, 0.50, 0.75, 0, kStream},
    {0.40, 0.40, 0.60, 0, kStream},  // Normalization: two passes, a reduction between them
    {0.40, 0.40, 0.65, 0, kStream},  // Softmax: rows are read more than once, mostly from cache
    {0.40, 0.40, 0.70, 0, kStream},  // Reduction: a stream with a tree at its end
    {0.40, 0.40, 0.60, 0, kStream},  // Pooling: overlapping windows
    {0.40, 0.40, 0.60, 0, kStream},  // DataMovement: transposes read or write with a stride
    {0.40, 0.40, 0.40, 0, kStream},  // Embedding: scattered rows
    {0.45, 0.30, 0.65, kStep, 0},    // Recurrent: small GEMMs, one step after the other
    {0.40, 0.40, 0.65, 0, kStream},  // Loss
    {0.50, 0.50, 0.75, 0, kStream},  // Update: a stream over parameter, gradient and state
    {1.00, 1.00, 1.00, 0, 0},        // View: costs nothing
    {0.40, 0.30, 0.60, 0, kStream},  // Other: unknown, so a careful guess
}};
// Winograd's transform saves a factor of 2.25 in theory; whole networks of 3 x 3 convolutions (VGG)
// reach about this on a V100.
constexpr double kWinograd = 1.6;

// One field of a struct: its key and its legal range.
template <class T>
struct Field {
  std::string_view key;
  double T::*member;
  double low, high;
};

constexpr double kLeast = 1e-4;  // efficiencies and scales: nothing is 10,000 times slower
constexpr Field<FamilyEfficiency> kFamilyFields[] = {
    {"cuda_cores", &FamilyEfficiency::cuda_cores, kLeast, 1},
    {"tensor_cores", &FamilyEfficiency::tensor_cores, kLeast, 1},
    {"memory", &FamilyEfficiency::memory, kLeast, 1},
    {"half_flops", &FamilyEfficiency::half_flops, 0, 1e15},
    {"half_bytes", &FamilyEfficiency::half_bytes, 0, 1e15},
};
constexpr Field<Calibration> kFields[] = {
    {"attention", &Calibration::attention, kLeast, 1},
    {"head", &Calibration::head, kLeast, 1},
    {"winograd", &Calibration::winograd, 1, 4},
    {"launch_scale", &Calibration::launch_scale, 0, 1e4},
    {"issue_us", &Calibration::issue_us, 0, 1e6},
    {"transfer_scale", &Calibration::transfer_scale, kLeast, 1},
    {"collective_scale", &Calibration::collective_scale, kLeast, 1},
    {"network_scale", &Calibration::network_scale, 0, 1},
    {"collective_us", &Calibration::collective_us, 0, 1e6},
    {"host_kernel_us", &Calibration::host_kernel_us, 0, 1e6},
    {"host_collective_us", &Calibration::host_collective_us, 0, 1e6},
    {"host_loss_us", &Calibration::host_loss_us, 0, 1e6},
    {"dispatch_us", &Calibration::dispatch_us, 0, 1e6},
    {"step_us", &Calibration::step_us, 0, 1e9},
    {"input_sample_us", &Calibration::input_sample_us, 0, 1e9},
    {"input_GBps", &Calibration::input_GBps, 0, 1e6},
    {"host_port_GBps", &Calibration::host_port_GBps, 1e-3, 1e6},
    {"host_latency_us", &Calibration::host_latency_us, 0, 1e6},
    {"host_memory_GBps", &Calibration::host_memory_GBps, 1e-3, 1e6},
    {"relative_error", &Calibration::relative_error, 0, 10},
};

void read_families(const JsonView& json, Calibration& calibration) {
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < kOpFamilies; ++i) known.push_back(name_of(static_cast<OpFamily>(i)));
  for (const auto& [key, family] : json.members()) {
    const auto found = std::ranges::find(known, key);
    if (found == known.end())
      family.fail("is not an op family", fmt::format("known are: {}", fmt::join(known, ", ")));
    family.allow_only({"cuda_cores", "tensor_cores", "memory", "half_flops", "half_bytes"});
    for (const auto& field : kFamilyFields)
      if (const auto value = family.find(field.key))
        calibration.families[static_cast<std::size_t>(found - known.begin())].*field.member =
            value->number(field.low, field.high);
  }
}

struct Switch {
  std::string_view key;
  bool Calibration::*member;
};
constexpr Switch kSwitches[] = {
    {"matrix_units", &Calibration::matrix_units},
    {"fp8_products", &Calibration::fp8_products},
    {"fuses_pointwise", &Calibration::fuses_pointwise},
    {"fuses_updates", &Calibration::fuses_updates},
    {"fuses_accumulation", &Calibration::fuses_accumulation},
    {"host_awaits_transfers", &Calibration::host_awaits_transfers},
};

void check_keys(const JsonView& root) {
  std::vector<std::string_view> known = {"format", "version",  "name",         "source",
                                         "note",   "families", "architectures"};
  for (const Switch& one : kSwitches) known.push_back(one.key);
  for (const auto& field : kFields) known.push_back(field.key);
  for (const auto& [key, value] : root.members()) {
    if (std::ranges::find(known, key) == known.end())
      value.fail("is not a known key", fmt::format("known here: {}", fmt::join(known, ", ")));
  }
}

// Is it of no calibration that was written before there were language models?
bool is_newer(const Field<Calibration>& field) {
  constexpr std::array<std::string_view, 7> kNewer = {
      "attention",          "head",        "network_scale", "collective_us", "host_kernel_us",
      "host_collective_us", "host_loss_us"};
  return std::ranges::find(kNewer, field.key) != kNewer.end();
}

// Numbers as a person would write them: 0.1, not 0.1000000001.
double rounded(double value) { return std::stod(fmt::format("{:.6g}", value)); }

}  // namespace

const Calibration& Calibration::standard() {
  static const Calibration value = [] {
    Calibration calibration;
    calibration.source = "published benchmarks of single kernels and of whole models";
    calibration.families = kStandardFamilies;
    calibration.winograd = kWinograd;
    return calibration;
  }();
  return value;
}

Digest Calibration::digest() const {
  Hasher hasher;
  hasher.text("calibration 1").number(matrix_units);
  for (const FamilyEfficiency& family : families)
    for (const auto& field : kFamilyFields) hasher.number(family.*field.member);
  for (const auto& field : kFields)
    if (!is_newer(field)) hasher.number(this->*field.member);
  // What came later counts where it is used: digests from before stay what they were.
  for (const auto& field : kFields)
    if (is_newer(field) && this->*field.member != standard().*field.member)
      hasher.text(field.key).number(this->*field.member);
  for (const Switch& one : kSwitches)
    if (one.member != &Calibration::matrix_units && this->*one.member) hasher.text(one.key);
  for (const auto& [name, share] : architectures) hasher.text(name).number(share);
  return hasher.finish();
}

Calibration parse_calibration(std::string_view json, const std::string& file) {
  const JsonView root = JsonView::parse(json, file);
  root.expect_format(kFormat, 1);
  check_keys(root);
  Calibration calibration = Calibration::standard();  // what a file leaves out
  calibration.name = root.at("name").string();
  calibration.source = root.at("source").string();
  for (const Switch& one : kSwitches)
    if (const auto value = root.find(one.key)) calibration.*one.member = value->boolean();
  for (const auto& field : kFields)
    if (const auto value = root.find(field.key))
      calibration.*field.member = value->number(field.low, field.high);
  if (const auto shares = root.find("architectures"))
    for (const auto& [name, share] : shares->members())
      calibration.architectures[name] = share.number(kLeast, 1);
  if (const auto families = root.find("families")) read_families(*families, calibration);
  return calibration;
}

Calibration read_calibration(const fs::path& file) {
  return parse_calibration(read_file(file), file.string());
}

std::string calibration_json(const Calibration& calibration) {
  Json json = {{"format", kFormat},
               {"version", 1},
               {"name", calibration.name},
               {"source", calibration.source}};
  for (const Switch& one : kSwitches) json[one.key] = calibration.*one.member;
  for (const auto& field : kFields) json[field.key] = rounded(calibration.*field.member);
  for (const auto& [name, share] : calibration.architectures)
    json["architectures"][name] = rounded(share);
  for (std::size_t i = 0; i < kOpFamilies; ++i)
    for (const auto& field : kFamilyFields)
      json["families"][name_of(static_cast<OpFamily>(i))][field.key] =
          rounded(calibration.families[i].*field.member);
  return json.dump(2) + "\n";
}

Calibration bundled_calibration(std::string_view name) {
  if (name == kStandard) return Calibration::standard();
  const fs::path folder = home_directory() / "resources" / "calibrations";
  std::set<std::string> names = {std::string(kStandard)};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
  const std::string file(name);
  if (!names.contains(file))
    throw InputError("", "calibration", fmt::format("\"{}\" is not known", name),
                     fmt::format("choose from {}", fmt::join(names, ", ")));
  return read_calibration(folder / (file + ".json"));
}

}  // namespace strato
