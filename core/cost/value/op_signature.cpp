#include "core/cost/value/op_signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/cost/value/profile.h"

namespace strato {
namespace {

// Attributes that the tensors' types and shapes repeat, or that do not change the work. Some hold
// the batch size ("shape", "ends"), which must not be in a signature.
constexpr std::array<std::string_view, 13> kRepeated = {
    "dtype", "ends",  "keepdims", "num_outputs", "output_shape", "output_sizes", "repeats",
    "seed",  "shape", "split",    "starts",      "to",           "value_ints"};

// Signatures are keys in text files: printable ASCII without the marks of their own syntax.
void append_text(std::string& out, std::string_view text) {
  for (const char c : text) {
    const bool plain = c > ' ' && c < 127 && std::string_view("{}()[]\"\\").find(c) == text.npos;
    out += plain ? c : '_';
  }
}

bool append_value(std::string& out, const Attribute& attribute) {
  if (const auto* number = std::get_if<std::int64_t>(&attribute)) {
    out += fmt::format("{}", *number);
  } else if (const auto* text = std::get_if<std::string>(&attribute)) {
    append_text(out, *text);
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute)) {
    out += fmt::format("{}", fmt::join(*list, "x"));
  } else {
    return false;  // real-valued
  }
  return true;
}

void append_attributes(std::string& out, const Op& op) {
  std::string list;
  for (const auto& [name, value] : op.attributes) {
    if (std::binary_search(kRepeated.begin(), kRepeated.end(), name)) continue;
    std::string text;
    append_text(text, name);
    text += '=';
    if (append_value(text, value)) list += (list.empty() ? "" : ",") + text;
  }
  if (!list.empty()) out += "{" + list + "}";
}

void append_tensor(std::string& out, const Tensor& tensor, std::int64_t batch) {
  out += name_of(tensor.type);
  out += '[';
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const std::int64_t extent = tensor.shape[axis];
    const bool carries = tensor.batch.kind == BatchKind::Batched &&
                         static_cast<std::size_t>(tensor.batch.axis) == axis && extent % batch == 0;
    if (axis > 0) out += ',';
    if (!carries) {
      out += fmt::format("{}", extent);
    } else if (extent == batch) {
      out += 'B';
    } else {
      out += fmt::format("{}*B", extent / batch);
    }
  }
  out += ']';
}

void append_tensors(std::string& out, const Graph& graph, const std::vector<TensorId>& tensors) {
  out += '(';
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i > 0) out += ',';
    if (tensors[i].valid()) {
      append_tensor(out, graph.tensor(tensors[i]), std::max<std::int64_t>(graph.batch(), 1));
    } else {
      out += '-';
    }
  }
  out += ')';
}

}  // namespace

std::string op_signature(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  std::string result;
  append_text(result, op.type);
  append_attributes(result, op);
  append_tensors(result, graph, op.inputs);
  result += "->";
  append_tensors(result, graph, op.outputs);
  return result;
}

bool follows_batch(const Graph& graph, OpId id) {
  const auto carries = [&](TensorId tensor) {
    return tensor.valid() && graph.tensor(tensor).batch.kind == BatchKind::Batched;
  };
  const Op& op = graph.op(id);
  return std::any_of(op.inputs.begin(), op.inputs.end(), carries) ||
         std::any_of(op.outputs.begin(), op.outputs.end(), carries);
}

}  // namespace strato
