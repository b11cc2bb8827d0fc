// One call of an op in a program, with its arguments by their names in the op's schema.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/io/json.h"

namespace strato::exported_program_import {

// The number that a symbolic one of this name is.
using NumberOf = std::function<std::int64_t(const std::string& name)>;

// Arguments that are left out, or are None, are not there. Those of another kind than is asked for
// make an InputError.
class Call {
 public:
  // Borrows `number_of`.
  Call(const JsonView& node, const NumberOf& number_of);

  // "aten.add" of "torch.ops.aten.add.Tensor"; "_operator.add" and the like as they are.
  const std::string& op() const { return op_; }
  const std::string& target() const { return target_; }
  // Modules that it stands in, with the innermost one's path, and the result's name:
  // "layers.0.attention/linear_2".
  std::string name() const;
  // Names of the tensors and symbolic numbers that it makes; empty for all else.
  std::vector<std::string> results() const;

  bool has(std::string_view argument) const { return find(argument).has_value(); }
  bool is_number(std::string_view argument) const;      // of any kind, also true and false
  std::string tensor(std::string_view argument) const;  // empty: it is not there, or no tensor
  std::vector<std::string> tensors(std::string_view argument) const;  // empty name: None
  std::int64_t integer(std::string_view argument, std::int64_t fallback) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view argument) const;
  double real(std::string_view argument, double fallback) const;
  bool flag(std::string_view argument, bool fallback) const;
  std::string text(std::string_view argument, const std::string& fallback) const;
  std::optional<std::int64_t> scalar_type(std::string_view argument) const;

  std::vector<std::string> read() const;  // all tensors among the arguments

  // Of calls that run a graph: operands by place.
  std::optional<JsonView> graph() const;
  std::vector<std::string> operands() const;  // tensors and numbers

  [[noreturn]] void refuse(const std::string& problem, const std::string& remedy) const;

 private:
  using Argument = std::pair<std::string, JsonView>;  // the kind, "as_int", and the value

  std::optional<Argument> find(std::string_view argument) const;
  std::int64_t whole(const Argument& argument) const;

  const NumberOf& number_of_;
  JsonView node_;
  std::string target_, op_;
  std::vector<std::pair<std::string, JsonView>> arguments_;
};

}  // namespace strato::exported_program_import
