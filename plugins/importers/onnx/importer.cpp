// The plugin's entry: an ONNX file becomes a forward graph, in five steps (read, leave out what is
// of training, translate, rewrite, build).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/graph/build/graph_builder.h"
#include "core/plugin/api/plugin.h"
#include "plugins/importers/onnx/rewrite/rewrite.h"
#include "plugins/importers/onnx/training/training.h"
#include "plugins/importers/onnx/translate/translate.h"

namespace strato::onnx_import {
namespace {

bool any_in(const Entries& entries, const std::unordered_set<const Entry*>& set) {
  return std::ranges::any_of(entries, [&](const Entry* entry) { return set.contains(entry); });
}

// Returns the tensors that lead to a result. Ops are in topological order, so one pass from the end
// finds them all.
std::unordered_set<const Entry*> needed_entries(const Translation& translation) {
  std::unordered_set<const Entry*> needed(translation.results.begin(), translation.results.end());
  for (auto at = translation.ops.rbegin(); at != translation.ops.rend(); ++at) {
    const TranslatedOp& op = *at;
    if (!translation.results.empty() && !any_in(op.outputs, needed)) continue;
    needed.insert(op.outputs.front());
    needed.insert(op.inputs.begin(), op.inputs.end());
  }
  return needed;
}

// Keeps what the model's results depend on.
class Builder {
 public:
  Builder(const Translation& translation, const std::string& name, const std::string& file)
      : translation_(translation),
        file_(file),
        graph_(graph_name(name), translation.batch, file),
        needed_(needed_entries(translation)) {}

  // Throws InputError when nothing is left, and as GraphBuilder does.
  Graph build() {
    for (const TranslatedOp& op : translation_.ops) add(op);
    if (graph_.op_count() == 0)
      throw InputError(file_, "graph", "its results do not depend on any input",
                       "export a model that computes something");
    return std::move(graph_).build();
  }

 private:
  void add(const TranslatedOp& translated) {
    if (!any_in(translated.outputs, needed_)) return;
    std::size_t count = translated.outputs.size();
    // By-products at the end that nobody reads (masks, statistics, last states) are no results.
    while (count > 1 && !needed_.contains(translated.outputs[count - 1])) --count;
    Op op;
    op.name = graph_name(translated.op.name);
    op.type = graph_name(translated.op.type);
    for (const auto& [key, value] : translated.op.attributes) {
      const auto* text = std::get_if<std::string>(&value);
      op.attributes.emplace_back(graph_name(key),
                                 text != nullptr ? Attribute(graph_name(*text)) : value);
    }
    for (const Entry* input : translated.inputs)
      op.inputs.push_back(input != nullptr ? tensor_of(*input) : TensorId());
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
    tensor.frozen = entry.frozen;
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

// ---- linear layers

// Linear layers that exporters wrap in two Reshapes: [steps, batch, k] -> [steps * batch, k] ->
// Gemm -> [steps * batch, n] -> [steps, batch, n]. In the merged axis the samples are no longer
// outermost, so that nothing behind it could be split by samples. The layer is the same on the axes
// as they are: each is rewritten to MatMul and Add (with a Transpose of a weight that is stored
// transposed).
class Spreader {
 public:
  explicit Spreader(Translation& translation)
      : out_(translation), results_(out_.results.begin(), out_.results.end()) {
    for (std::size_t i = 0; i < out_.ops.size(); ++i) {
      for (const Entry* input : out_.ops[i].inputs) readers_[input].push_back(i);
      for (const Entry* output : out_.ops[i].outputs) producer_[output] = i;
    }
  }

  void run() {
    std::unordered_map<std::size_t, std::vector<TranslatedOp>> instead;  // of these ops
    for (std::size_t i = 0; i < out_.ops.size(); ++i) {
      const std::optional<Layer> layer = match(i);
      if (!layer) continue;
      retarget(out_.ops[i], *layer);
      instead[i] = rewritten(out_.ops[i], *layer);
      instead[layer->behind] = {};
    }
    std::vector<TranslatedOp> ops;
    for (std::size_t i = 0; i < out_.ops.size(); ++i) {
      const auto found = instead.find(i);
      if (found == instead.end())
        ops.push_back(std::move(out_.ops[i]));
      else
        std::ranges::move(found->second, std::back_inserter(ops));
    }
    out_.ops = std::move(ops);
  }

 private:
  struct Layer {
    std::size_t before, behind;  // the two Reshapes
    Shape leading;               // the axes that they merge
  };

  // The only op that reads a tensor; nothing: there are several, or it is a result.
  std::optional<std::size_t> sole_reader(const Entry* tensor) const {
    const auto found = readers_.find(tensor);
    const bool sole = found != readers_.end() && found->second.size() == 1;
    return sole && !results_.contains(tensor) ? std::optional(found->second[0]) : std::nullopt;
  }

  static bool plain_linear(const TranslatedOp& linear) {
    if (linear.outputs.size() != 1 || linear.inputs.size() < 2 || !linear.inputs[0] ||
        !linear.inputs[1])
      return false;
    if (linear.inputs[0]->facts.shape.size() != 2 || linear.inputs[1]->facts.shape.size() != 2)
      return false;
    if (linear.op.type == "MatMul") return true;
    if (linear.op.type != "Gemm" || linear.op.integer("transA", 0) != 0) return false;
    if (linear.op.real("alpha", 1) != 1 || linear.op.real("beta", 1) != 1) return false;
    const bool bias = linear.inputs.size() > 2 && linear.inputs[2] != nullptr;
    return !bias || linear.inputs[2]->facts.shape.size() < 2 ||
           linear.inputs[2]->facts.shape[0] == 1;
  }

  std::optional<Layer> match(std::size_t i) const {
    const TranslatedOp& linear = out_.ops[i];
    if (!plain_linear(linear)) return std::nullopt;
    const auto made = producer_.find(linear.inputs[0]);
    if (made == producer_.end() || out_.ops[made->second].op.type != "Reshape") return std::nullopt;
    const std::optional<std::size_t> behind = sole_reader(linear.outputs[0]);
    if (!sole_reader(linear.inputs[0]) || !behind) return std::nullopt;
    if (out_.ops[*behind].op.type != "Reshape" || out_.ops[*behind].inputs[0] != linear.outputs[0])
      return std::nullopt;
    const Shape& spread = out_.ops[*behind].outputs[0]->facts.shape;
    const Shape& merged = linear.outputs[0]->facts.shape;
    if (spread.size() < 3 || merged.size() != 2 || spread.back() != merged[1]) return std::nullopt;
    return Layer{made->second, *behind, Shape(spread.begin(), spread.end() - 1)};
  }

  Entry* tensor(std::string name, DataType type, Shape shape) {
    out_.entries.push_back({std::move(name), TensorRole::Activation, {type, std::move(shape)}});
    return &out_.entries.back();
  }

  // The Reshape in front keeps the axes apart.
  void retarget(const TranslatedOp& linear, const Layer& layer) {
    Shape shape = layer.leading;
    shape.push_back(linear.inputs[0]->facts.shape[1]);
    linear.inputs[0]->facts.shape = shape;
    Facts target = known(integers(std::move(shape)));
    out_.entries.push_back({linear.op.name + "/shape", TensorRole::Constant, std::move(target)});
    TranslatedOp& reshape = out_.ops[layer.before];
    reshape.inputs = {reshape.inputs[0], &out_.entries.back()};
    std::erase_if(reshape.op.attributes,
                  [](const auto& attribute) { return attribute.first == "shape"; });
  }

  static TranslatedOp new_op(std::string name, std::string type, Entries inputs, Entry* output) {
    TranslatedOp result{{}, std::move(inputs), {output}};
    result.op.name = std::move(name);
    result.op.type = std::move(type);
    return result;
  }

  std::vector<TranslatedOp> rewritten(const TranslatedOp& linear, const Layer& layer) {
    std::vector<TranslatedOp> ops;
    const std::string& name = linear.op.name;
    Entry* weight = linear.inputs[1];
    if (linear.op.type == "Gemm" && linear.op.integer("transB", 0) != 0) {
      const Shape& stored = weight->facts.shape;
      Entry* turned = tensor(name + "/weight", weight->facts.type, {stored[1], stored[0]});
      ops.push_back(new_op(name + "/Transpose", "Transpose", {weight}, turned));
      ops.back().op.attributes = {{"perm", std::vector<std::int64_t>{1, 0}}};
      weight = turned;
    }
    Entry* result = out_.ops[layer.behind].outputs[0];
    const bool bias = linear.inputs.size() > 2 && linear.inputs[2] != nullptr;
    Entry* product =
        bias ? tensor(name + "/product", result->facts.type, result->facts.shape) : result;
    ops.push_back(new_op(name, "MatMul", {linear.inputs[0], weight}, product));
    if (bias) ops.push_back(new_op(name + "/Add", "Add", {product, linear.inputs[2]}, result));
    return ops;
  }

  Translation& out_;
  std::unordered_set<const Entry*> results_;
  std::unordered_map<const Entry*, std::vector<std::size_t>> readers_;
  std::unordered_map<const Entry*, std::size_t> producer_;
};

class OnnxImporter : public Importer {
 public:
  Graph import(const std::filesystem::path& file, const ImportOptions& options) override {
    const Model model = read_forward_model(file, remarks_);
    Translation translation = translate_model(model, options);
    rewrite_for_samples(translation);
    Spreader(translation).run();
    read_weights_as_stored(translation);
    Graph graph = Builder(translation, file.stem().string(), model.file).build();
    remark_on_frozen(graph);
    return graph;
  }

  std::vector<std::string> remarks() const override { return remarks_; }

 private:
  void remark_on_frozen(const Graph& graph) {
    const auto frozen = std::ranges::count(graph.tensors(), true, &Tensor::frozen);
    const auto all = std::ranges::count(graph.tensors(), TensorRole::Parameter, &Tensor::role);
    if (frozen > 0)
      remarks_.push_back(fmt::format(
          "{} of its {} parameters have no gradient in the file, and stay frozen", frozen, all));
  }

  std::vector<std::string> remarks_;
};

}  // namespace
}  // namespace strato::onnx_import

STRATOSCOPE_IMPORTER([](std::string_view) {
  return std::make_unique<strato::onnx_import::OnnxImporter>();
})
