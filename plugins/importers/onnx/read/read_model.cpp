#include "plugins/importers/onnx/read/read_model.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "core/base/error.h"
#include "core/io/file.h"
#include "plugins/importers/onnx/read/wire_format.h"

namespace strato::onnx_import {
namespace {

constexpr std::size_t kKeptPayload = 64 * 1024;
constexpr std::int64_t kNewestIr = 100;      // newer ones have so far only added fields
constexpr std::int64_t kNewestOpset = 1000;  // beyond any that is plausible
constexpr const char* kExportAgain = "copy or export the file again";

onnx::ModelProto parse(const std::string& file) {
  const MappedFile mapped(file, "an ONNX file");
  if (mapped.bytes().starts_with("version https://git-lfs")) {
    throw InputError(file, "", "is a pointer of Git LFS that stands for the model",
                     "fetch the model itself with git lfs pull");
  }
  std::optional<std::string> bytes = without_payloads(mapped.bytes(), kKeptPayload);
  if (!bytes) throw InputError(file, "", "is not an ONNX model, or a damaged one", kExportAgain);
  if (bytes->size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw InputError(file, "", "describes more than 2 GB of ops", "export a smaller model");
  }
  onnx::ModelProto proto;
  if (!proto.ParseFromArray(bytes->data(), static_cast<int>(bytes->size()))) {
    throw InputError(file, "", "is not an ONNX model, or a damaged one", kExportAgain);
  }
  return proto;
}

void check_header(const onnx::ModelProto& proto, const std::string& file) {
  if (!proto.has_graph() || !proto.has_ir_version()) {
    throw InputError(file, "", "is not an ONNX model, or a truncated one", kExportAgain);
  }
  if (proto.ir_version() < 1 || proto.ir_version() > kNewestIr) {
    throw InputError(file, "ir_version",
                     fmt::format("version {} of the format is unknown", proto.ir_version()),
                     "export the model with a released version of ONNX");
  }
  if (proto.graph().node_size() == 0) {
    throw InputError(file, "graph", "has no ops", "export a model that computes something");
  }
}

std::map<std::string, int> opsets_of(const onnx::ModelProto& proto, const std::string& file) {
  std::map<std::string, int> opsets;
  for (const auto& import : proto.opset_import()) {
    const std::string domain = normal_domain(import.domain());
    if (import.version() < 1 || import.version() > kNewestOpset) {
      throw InputError(file, "opset_import",
                       fmt::format("version {} of op set '{}' does not exist", import.version(),
                                   domain.empty() ? "ai.onnx" : domain),
                       "export the model with a released op set");
    }
    opsets[domain] = static_cast<int>(import.version());
  }
  if (proto.ir_version() < 3) opsets.try_emplace("", 1);  // before imports were in the format
  if (!opsets.contains("")) {
    throw InputError(file, "opset_import", "the op set of ONNX itself (ai.onnx) is not imported",
                     "export the model with an opset_version");
  }
  return opsets;
}

}  // namespace

std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

Model read_model(const std::filesystem::path& file) {
  Model model;
  model.file = file.string();
  model.folder = file.parent_path();
  model.proto = parse(model.file);
  check_header(model.proto, model.file);
  model.opsets = opsets_of(model.proto, model.file);
  return model;
}

}  // namespace strato::onnx_import
