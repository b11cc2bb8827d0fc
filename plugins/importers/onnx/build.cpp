#include "plugins/importers/onnx/build.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/graph/build/graph_builder.h"

namespace strato::onnx_import {
namespace {

// Returns the tensors that lead to a result. Ops are in topological order, so one pass from the end
// finds them all.
std::unordered_set<const Entry*> needed_entries(const Translation& translation) {
  std::unordered_set<const Entry*> needed(translation.results.begin(), translation.results.end());
  for (auto op = translation.ops.rbegin(); op != translation.ops.rend(); ++op) {
    bool used = translation.results.empty();
    for (const Entry* output : op->outputs) used = used || needed.contains(output);
    if (!used) continue;
    needed.insert(op->outputs.front());
    for (const Entry* input : op->inputs) {
      if (input != nullptr) needed.insert(input);
    }
  }
  return needed;
}

class Builder {
 public:
  Builder(const Translation& translation, const Binding& binding, const std::string& name,
          const std::string& file)
      : translation_(translation),
        file_(file),
        graph_(graph_name(name), binding.batch, file),
        needed_(needed_entries(translation)) {}

  Graph build() {
    for (const TranslatedOp& op : translation_.ops) add(op);
    if (graph_.op_count() == 0) {
      throw InputError(file_, "graph", "its results do not depend on any input",
                       "export a model that computes something");
    }
    return std::move(graph_).build();
  }

 private:
  void add(const TranslatedOp& translated) {
    std::size_t count = translated.outputs.size();
    bool used = false;
    for (const Entry* output : translated.outputs) used = used || needed_.contains(output);
    if (!used) return;
    // By-products at the end that nobody reads (masks, statistics, last states) are no results.
    while (count > 1 && !needed_.contains(translated.outputs[count - 1])) --count;
    Op op;
    op.name = graph_name(translated.name);
    op.type = graph_name(translated.type);
    for (const auto& [key, value] : translated.attributes) {
      const auto* text = std::get_if<std::string>(&value);
      op.attributes.emplace_back(graph_name(key),
                                 text != nullptr ? Attribute(graph_name(*text)) : value);
    }
    for (const Entry* input : translated.inputs) {
      op.inputs.push_back(input != nullptr ? tensor_of(*input) : TensorId());
    }
    for (std::size_t i = 0; i < count; ++i) op.outputs.push_back(tensor_of(*translated.outputs[i]));
    graph_.add_op(std::move(op));
  }

  TensorId tensor_of(const Entry& entry) {
    const auto found = ids_.find(&entry);
    if (found != ids_.end()) return found->second;
    Tensor tensor;
    tensor.name = graph_name(entry.name);
    tensor.type = entry.facts.type;
    tensor.role = entry.role;
    tensor.shape = entry.facts.shape;
    if (entry.batch_axis >= 0) tensor.batch = {BatchKind::Batched, entry.batch_axis};
    if (entry.facts.value != nullptr &&
        tensor.elements() * size_of(tensor.type) <= static_cast<std::int64_t>(kMaxDataBytes)) {
      tensor.data = std::make_shared<const std::string>(little_endian(*entry.facts.value));
    }
    return ids_[&entry] = graph_.add_tensor(std::move(tensor));
  }

  const Translation& translation_;
  std::string file_;
  GraphBuilder graph_;
  std::unordered_set<const Entry*> needed_;
  std::unordered_map<const Entry*, TensorId> ids_;
};

}  // namespace

// Names come from outside: what is no UTF-8 would break every file and window that shows it.
std::string graph_name(const std::string& name) {
  std::string result;
  for (std::size_t i = 0; i < name.size();) {
    const auto lead = static_cast<unsigned char>(name[i]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    bool good = length > 0 && i + length <= name.size() && lead >= 0x20 && lead != 0x7f;
    for (std::size_t k = 1; good && k < length; ++k) {
      good = (static_cast<unsigned char>(name[i + k]) & 0xc0) == 0x80;
    }
    if (good && length > 2) {  // overlong forms, surrogates, beyond Unicode
      const auto next = static_cast<unsigned char>(name[i + 1]);
      good = !(lead == 0xe0 && next < 0xa0) && !(lead == 0xed && next >= 0xa0) &&
             !(lead == 0xf0 && next < 0x90) && !(lead == 0xf4 && next >= 0x90);
    }
    if (good)
      result.append(name, i, length);
    else
      result.push_back('?');
    i += good ? length : 1;
  }
  return result;
}

Graph build_graph(const Translation& translation, const Binding& binding, const std::string& name,
                  const std::string& file) {
  return Builder(translation, binding, name, file).build();
}

}  // namespace strato::onnx_import
