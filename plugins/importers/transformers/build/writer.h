// Writes ops of a forward graph, each with its result: shapes follow from the catalogue.
//
// Numbers are of one type, the activations'. Parameters are F32: where activations are not, one
// Cast a parameter makes a copy that all its readers share ("NAME/cast"), as training in mixed
// precision has it. With adapters (LoRA, Hu et al. 2021, section 4.1) each linear layer has a
// product of two more matrices added, "NAME.lora_A.weight" and "NAME.lora_B.weight", which alone
// are trained; what is frozen is of the activations' type. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/build/graph_builder.h"
#include "plugins/importers/transformers/description/description.h"

namespace strato::transformers_import {

// More ops than this make an InputError before they fill the memory.
inline constexpr std::size_t kMostOps = 2'000'000;

inline constexpr std::int64_t kOne = 1;  // of attributes and shapes, which tell types apart

using Attributes = std::vector<std::pair<std::string, Attribute>>;

class Writer {
 public:
  // `adapter_rank`: of the adapters' matrices; 0: none.
  Writer(const std::string& name, std::int64_t batch, const Description& model, std::string file,
         std::int64_t adapter_rank);

  // ---- tensors without a producer
  TensorId input(std::string name, Shape shape, DataType type);
  TensorId parameter(const std::string& name, Shape shape);  // the same for the same name
  TensorId integers(const std::vector<std::int64_t>& values);
  TensorId number(double value);
  // Constants, element by element in memory's order. Without contents where they are large: then
  // they are zeros to whoever runs the graph.
  TensorId table(std::string name, Shape shape, const std::function<double(std::int64_t)>& element);
  TensorId integer_table(std::string name, Shape shape,
                         const std::function<std::int64_t(std::int64_t)>& element);

  // ---- ops
  TensorId op(std::string name, std::string type, std::vector<TensorId> inputs,
              Attributes attributes = {});
  std::vector<TensorId> ops(std::string name, std::string type, std::vector<TensorId> inputs,
                            Attributes attributes, const std::vector<Shape>& shapes,
                            std::vector<DataType> types = {});
  TensorId cast(std::string name, TensorId x);  // to the activations' type
  TensorId reshape(std::string name, TensorId x, const Shape& shape);
  TensorId transpose(std::string name, TensorId x, std::vector<std::int64_t> permutation);
  // Elements [first, last) along an axis.
  TensorId slice(const std::string& name, TensorId x, std::int64_t axis, std::int64_t first,
                 std::int64_t last);
  TensorId product(const std::string& name, TensorId x, std::int64_t out);
  TensorId linear(const Linear& layer, const std::string& prefix, TensorId x, std::int64_t out);
  TensorId normalized(const std::string& name, TensorId x);
  TensorId activated(const std::string& name, TensorId x, Activation activation);
  TensorId dropped(const std::string& name, TensorId x, double ratio);
  TensorId add(std::string name, TensorId a, TensorId b) {
    return op(std::move(name), "Add", {a, b});
  }
  TensorId scaled(const std::string& name, TensorId x, double factor);

  DataType type() const { return type_; }
  const Shape& shape(TensorId id) const { return graph_.tensors()[id].shape; }
  Graph build() { return std::move(graph_).build(); }

 private:
  TensorId parameter(const std::string& name, Shape shape, bool frozen);
  TensorId constant(std::string name, DataType type, Shape shape, std::string bytes);
  void count_op();

  GraphBuilder graph_;
  std::string file_;
  DataType type_;
  Norm norm_;
  double epsilon_;
  std::int64_t adapter_rank_;
  std::map<std::string, TensorId> parameters_;
  std::map<std::vector<std::int64_t>, TensorId> integers_;
};

// By the hyperbolic tangent, to less than `cap`; 0: as it is.
TensorId capped(Writer& to, const std::string& name, TensorId x, double cap);

}  // namespace strato::transformers_import
