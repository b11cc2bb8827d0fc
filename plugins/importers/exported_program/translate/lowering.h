// What the rules for ATen's ops write: ops of the catalogue that make what one call makes.
// Internal to this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/graph/build/graph_builder.h"
#include "plugins/importers/exported_program/translate/call.h"

namespace strato::exported_program_import {

using Attributes = std::vector<std::pair<std::string, Attribute>>;
using Ids = std::vector<TensorId>;
using Ints = std::vector<std::int64_t>;

// The tensors and ops of a translation so far.
struct Translation {
  IdVector<TensorId, Tensor> tensors;
  std::vector<Op> ops;
  std::unordered_map<std::size_t, std::size_t> maker;  // by index of a tensor: the op's place
};

class Lowering {
 public:
  // Borrows all. `made`: the call's results; `tensors`: those that the call can see, by name.
  Lowering(const Call& call, Translation& out,
           const std::unordered_map<std::string, TensorId>& tensors, Ids made);

  const Call& call;

  // ---- what the call reads: an invalid id is an argument that is left out. Throw InputError for
  // a tensor that nothing has made.
  TensorId in(std::string_view argument) const;
  TensorId required(std::string_view argument) const;  // throws InputError when it is left out
  Ids list(std::string_view argument) const;
  // A tensor, or a number as a constant of the type of `like`.
  TensorId operand(std::string_view argument, TensorId like);
  const Tensor& tensor(TensorId id) const { return out_.tensors[id]; }
  const Shape& shape(TensorId id) const { return tensor(id).shape; }
  std::size_t rank(TensorId id) const { return shape(id).size(); }
  // Counted from the front; throws InputError for an axis that is not there.
  std::int64_t axis(std::int64_t given, std::size_t rank) const;
  // The parameter that a matrix is the transpose of, or an invalid id.
  TensorId turned_parameter(TensorId id) const;
  bool is_trained(TensorId id) const { return tensor(id).role == TensorRole::Parameter; }

  // ---- what it makes
  std::size_t results() const { return made_.size(); }
  const Tensor& result(std::size_t i = 0) const;
  // The op that makes the first `count` results; the others are made by an op that nobody knows.
  void emit(std::string type, Ids inputs, Attributes attributes = {}, std::size_t count = 1);
  // One result by itself.
  void emit_one(std::size_t result, std::string type, Ids inputs, Attributes attributes = {});
  // An op before the one that makes the results; of the first input's type.
  TensorId step(std::string type, Ids inputs, Shape shape, Attributes attributes = {});
  // The results are this tensor under another name.
  void alias(TensorId id) { emit("Identity", {id}); }
  void unknown(Ids inputs);  // planned as elementwise work, of the shapes that the file has

  TensorId integers(const Ints& values);
  TensorId number(double value, DataType type);
  TensorId constant(DataType type, Shape shape, std::string bytes);

 private:
  TensorId add(Tensor tensor);
  void add_op(std::string name, std::string type, Ids inputs, Ids outputs, Attributes attributes);

  Translation& out_;
  const std::unordered_map<std::string, TensorId>& tensors_;
  Ids made_;
  std::string name_;
  std::size_t steps_ = 0;
};

using Rule = void (*)(Lowering&);
using Rules = std::map<std::string_view, Rule>;  // by op: "aten.linear"

}  // namespace strato::exported_program_import
