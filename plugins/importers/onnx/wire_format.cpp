#include "plugins/importers/onnx/wire_format.h"

#include <cstdint>
#include <vector>

namespace strato::onnx_import {
namespace {

constexpr int kMaxDepth = 64;  // of nested messages; protobuf itself stops at 100

enum class Kind { Model, Graph, Node, Attribute, Tensor, SparseTensor, Function, Training };

// The message kind of a field (numbers as in onnx.proto), where it can lead to a tensor.
std::optional<Kind> child_of(Kind kind, std::uint32_t field) {
  switch (kind) {
    case Kind::Model:
      if (field == 7) return Kind::Graph;
      if (field == 20) return Kind::Training;
      if (field == 25) return Kind::Function;
      break;
    case Kind::Training:
      if (field == 1 || field == 2) return Kind::Graph;
      break;
    case Kind::Function:
      if (field == 7) return Kind::Node;
      break;
    case Kind::Graph:
      if (field == 1) return Kind::Node;
      if (field == 5) return Kind::Tensor;
      if (field == 15) return Kind::SparseTensor;
      break;
    case Kind::Node:
      if (field == 5) return Kind::Attribute;
      break;
    case Kind::Attribute:
      if (field == 5 || field == 10) return Kind::Tensor;
      if (field == 6 || field == 11) return Kind::Graph;
      if (field == 22 || field == 23) return Kind::SparseTensor;
      break;
    case Kind::SparseTensor:
      if (field == 1 || field == 2) return Kind::Tensor;
      break;
    case Kind::Tensor:
      break;
  }
  return std::nullopt;
}

// float_data, int32_data, string_data, int64_data, raw_data, double_data, uint64_data
bool is_tensor_data(std::uint32_t field) {
  return (field >= 4 && field <= 7) || (field >= 9 && field <= 11);
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
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
  std::uint64_t size = 0;
  switch (field.tag & 7) {
    case 0:
      if (!read_varint(bytes, at, size)) return false;
      size = 0;
      break;
    case 1:
      size = 8;
      break;
    case 2:
      if (!read_varint(bytes, at, size)) return false;
      break;
    case 5:
      size = 4;
      break;
    default:
      return false;  // groups: in no version of ONNX
  }
  if (size > bytes.size() - at) return false;
  field.delimited = (field.tag & 7) == 2;
  field.content = bytes.substr(at, size);
  at += size;
  field.whole = bytes.substr(begin, at - begin);
  return true;
}

class Rewriter {
 public:
  Rewriter(std::string_view whole, std::size_t limit) : whole_(whole), limit_(limit) {}

  bool rewrite(Kind kind, std::string_view in, std::string& out, int depth) {
    if (depth > kMaxDepth) return false;
    std::size_t data = 0;
    std::vector<Field> payloads;
    Field field;
    for (std::size_t at = 0; at < in.size();) {
      if (!read_field(in, at, field)) return false;
      if (kind == Kind::Tensor && is_tensor_data(field.number)) {
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
  // Another entry of external_data (field 13), which has a key and a value.
  void note(const Field& payload, std::string& out) const {
    const std::string value = std::to_string(payload.number) + " " +
                              std::to_string(payload.content.data() - whole_.data()) + " " +
                              std::to_string(payload.content.size());
    std::string entry;
    append_text(entry, 1, kPayloadKey);
    append_text(entry, 2, value);
    append_text(out, 13, entry);
  }
  static void append_text(std::string& out, std::uint32_t field, std::string_view text) {
    append_varint(out, std::uint64_t{field} << 3 | 2);
    append_varint(out, text.size());
    out.append(text);
  }

  bool copy(Kind kind, const Field& field, std::string& out, int depth) {
    const std::optional<Kind> child = child_of(kind, field.number);
    if (!child || !field.delimited || field.content.size() <= limit_) {
      out.append(field.whole);
      return true;
    }
    std::string nested;
    if (!rewrite(*child, field.content, nested, depth + 1)) return false;
    append_varint(out, field.tag);
    append_varint(out, nested.size());
    out.append(nested);
    return true;
  }

  std::string_view whole_;
  std::size_t limit_;
};

}  // namespace

bool read_varint(std::string_view bytes, std::size_t& at, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at >= bytes.size()) return false;
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

std::optional<std::string> without_payloads(std::string_view model, std::size_t limit) {
  std::string out;
  if (!Rewriter(model, limit).rewrite(Kind::Model, model, out, 0)) return std::nullopt;
  return out;
}

}  // namespace strato::onnx_import
