#include "plugins/importers/onnx/read/read_model.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/io/file.h"
#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

// ---- the serialised model

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using onnx::TensorProto;

constexpr int kMaxDepth = 64;  // of nested messages; protobuf itself stops at 100
constexpr int kMaxVarintBytes = 10;

// The message that a field holds; null: it holds none, or ONNX 1.12 does not know it.
const Descriptor* message_in(const Descriptor& kind, std::uint32_t field) {
  const FieldDescriptor* known = kind.FindFieldByNumber(static_cast<int>(field));
  return known != nullptr ? known->message_type() : nullptr;
}

bool is_tensor_data(const Descriptor& kind, std::uint32_t field) {
  static constexpr std::array<int, 7> kData = {
      TensorProto::kFloatDataFieldNumber,  TensorProto::kInt32DataFieldNumber,
      TensorProto::kStringDataFieldNumber, TensorProto::kInt64DataFieldNumber,
      TensorProto::kRawDataFieldNumber,    TensorProto::kDoubleDataFieldNumber,
      TensorProto::kUint64DataFieldNumber};
  return &kind == TensorProto::descriptor() &&
         std::find(kData.begin(), kData.end(), static_cast<int>(field)) != kData.end();
}

void append_varint(std::string& out, std::uint64_t value) {
  std::array<std::uint8_t, kMaxVarintBytes> bytes = {};
  const std::uint8_t* end = CodedOutputStream::WriteVarint64ToArray(value, bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::size_t>(end - bytes.data()));
}

struct Field {
  std::uint64_t tag = 0;
  std::uint32_t number = 0;
  bool delimited = false;
  std::string_view content;  // of a length-delimited field
  std::string_view whole;    // with its tag
};

bool read_field(std::string_view bytes, std::size_t& at, Field& field) {
  const std::size_t begin = at;
  if (!read_varint(bytes, at, field.tag) || field.tag >> 3 == 0 || field.tag >> 32 != 0)
    return false;
  field.number = static_cast<std::uint32_t>(field.tag >> 3);
  const std::uint64_t kind = field.tag & 7;
  std::uint64_t size = kind == 1 ? 8 : kind == 5 ? 4 : 0;
  if (kind > 2 && kind != 5) return false;  // groups: in no version of ONNX
  if (std::uint64_t number = 0; kind == 0 && !read_varint(bytes, at, number)) return false;
  if (kind == 2 && !read_varint(bytes, at, size)) return false;
  if (size > bytes.size() - at) return false;
  field.delimited = kind == 2;
  field.content = bytes.substr(at, size);
  at += size;
  field.whole = bytes.substr(begin, at - begin);
  return true;
}

class Rewriter {
 public:
  Rewriter(std::string_view whole, std::size_t limit) : whole_(whole), limit_(limit) {}

  bool rewrite(const Descriptor& kind, std::string_view in, std::string& out, int depth) {
    if (depth > kMaxDepth) return false;
    std::size_t data = 0;
    std::vector<Field> payloads;
    Field field;
    for (std::size_t at = 0; at < in.size();) {
      if (!read_field(in, at, field)) return false;
      if (is_tensor_data(kind, field.number)) {
        data += field.whole.size();  // repeated fields that are not packed add up
        if (payloads.size() < 2) payloads.push_back(field);
        if (data > limit_) continue;
      }
      if (!copy(kind, field, out, depth)) return false;
    }
    if (data > limit_ && payloads.size() == 1 && payloads[0].delimited) note(payloads[0], out);
    return true;
  }

 private:
  // Adds an entry to external_data that says where the payload is.
  void note(const Field& payload, std::string& out) const {
    onnx::StringStringEntryProto entry;
    entry.set_key(kPayloadKey);
    entry.set_value(fmt::format("{} {} {}", payload.number, payload.content.data() - whole_.data(),
                                payload.content.size()));
    append_delimited(out, std::uint64_t{TensorProto::kExternalDataFieldNumber} << 3 | 2,
                     entry.SerializeAsString());
  }

  static void append_delimited(std::string& out, std::uint64_t tag, std::string_view content) {
    append_varint(out, tag);
    append_varint(out, content.size());
    out.append(content);
  }

  bool copy(const Descriptor& kind, const Field& field, std::string& out, int depth) {
    const Descriptor* nested_kind = message_in(kind, field.number);
    if (nested_kind == nullptr || !field.delimited || field.content.size() <= limit_) {
      out.append(field.whole);
      return true;
    }
    std::string nested;
    if (!rewrite(*nested_kind, field.content, nested, depth + 1)) return false;
    append_delimited(out, field.tag, nested);
    return true;
  }

  std::string_view whole_;
  std::size_t limit_;
};

// ---- the message

constexpr std::size_t kKeptPayload = std::size_t{64} * 1024;
constexpr std::int64_t kNewestIr = 100;      // newer ones have so far only added fields
constexpr std::int64_t kNewestOpset = 1000;  // beyond any that is plausible
constexpr const char* kExportAgain = "copy or export the file again";

onnx::ModelProto parse(const std::string& file) {
  const MappedFile mapped(file, "an ONNX file");
  if (mapped.bytes().starts_with("version https://git-lfs"))
    throw InputError(file, "", "is a pointer of Git LFS that stands for the model",
                     "fetch the model itself with git lfs pull");
  const std::optional<std::string> bytes = without_payloads(mapped.bytes(), kKeptPayload);
  if (bytes && bytes->size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError(file, "", "describes more than 2 GB of ops", "export a smaller model");
  onnx::ModelProto proto;
  if (!bytes || !proto.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())))
    throw InputError(file, "", "is not an ONNX model, or a damaged one", kExportAgain);
  return proto;
}

void check_header(const onnx::ModelProto& proto, const std::string& file) {
  if (!proto.has_graph() || !proto.has_ir_version())
    throw InputError(file, "", "is not an ONNX model, or a truncated one", kExportAgain);
  if (proto.ir_version() < 1 || proto.ir_version() > kNewestIr)
    throw InputError(file, "ir_version",
                     fmt::format("version {} of the format is unknown", proto.ir_version()),
                     "export the model with a released version of ONNX");
  if (proto.graph().node_size() == 0)
    throw InputError(file, "graph", "has no ops", "export a model that computes something");
}

// Exporters number ops, "node_MatMul_12": with the module in front, people and groups by layer know
// where they are.
void name_by_modules(onnx::GraphProto& graph) {
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    const std::string path = module_path(node), name = given_name(node);
    const bool told = name.starts_with(path) && name.substr(path.size()).starts_with("/");
    if (!path.empty() && !told) node.set_name(fmt::format("{}/{}", path, name));
  }
}

bool has_ops_of_onnx(const onnx::ModelProto& proto) {
  bool has = false;
  const auto look_at = [&has](const onnx::NodeProto& node) {
    has = has || normal_domain(node.domain()).empty();
  };
  for_each_node(proto.graph().node(), look_at);
  for (const auto& function : proto.functions()) for_each_node(function.node(), look_at);
  return has;
}

std::map<std::string, int> opsets_of(const onnx::ModelProto& proto, const std::string& file) {
  std::map<std::string, int> opsets;
  for (const auto& import : proto.opset_import()) {
    const std::string domain = normal_domain(import.domain());
    if (import.version() < 1 || import.version() > kNewestOpset)
      throw InputError(file, "opset_import",
                       fmt::format("version {} of op set '{}' does not exist", import.version(),
                                   domain.empty() ? "ai.onnx" : domain),
                       "export the model with a released op set");
    opsets[domain] = static_cast<int>(import.version());
  }
  // What only functions use is imported by them; what both use is of one version.
  for (const auto& function : proto.functions())
    for (const auto& import : function.opset_import())
      if (import.version() >= 1 && import.version() <= kNewestOpset)
        opsets.try_emplace(normal_domain(import.domain()), static_cast<int>(import.version()));
  if (proto.ir_version() < 3) opsets.try_emplace("", 1);  // before imports were in the format
  // Nothing is read by it, but for the ops that are written in the place of others.
  constexpr int kAnyOpset = 13;
  if (!has_ops_of_onnx(proto)) opsets.try_emplace("", kAnyOpset);
  if (!opsets.contains(""))
    throw InputError(file, "opset_import", "the op set of ONNX itself (ai.onnx) is not imported",
                     "export the model with an opset_version");
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
  name_by_modules(*model.proto.mutable_graph());
  return model;
}

// A stream holds 2 GB at most, and the bytes may be more: each number gets one of its own.
bool read_varint(std::string_view bytes, std::size_t& at, std::uint64_t& value) {
  const auto left = std::min<std::size_t>(bytes.size() - at, kMaxVarintBytes);
  CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()) + at,
                          static_cast<int>(left));
  if (!stream.ReadVarint64(&value)) return false;
  at += static_cast<std::size_t>(stream.CurrentPosition());
  return true;
}

std::optional<std::string> without_payloads(std::string_view model, std::size_t limit) {
  std::string out;
  Rewriter rewriter(model, limit);
  if (!rewriter.rewrite(*onnx::ModelProto::descriptor(), model, out, 0)) return std::nullopt;
  return out;
}

}  // namespace strato::onnx_import
