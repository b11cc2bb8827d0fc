// Ops on lists of tensors.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "plugins/importers/onnx/unroll/unroll.h"
#include "plugins/importers/onnx/unroll/write_out.h"

namespace strato::onnx_import {
namespace {

constexpr std::int64_t kMostParts = 100'000;

// A list has `size` tensors, and `places` that can be asked for. Negative places count from the
// end; where none is given, the last is meant.
std::size_t position(const Scope& scope, const onnx::NodeProto& node, int input, std::size_t size,
                     std::size_t places) {
  if (!has_input(node, input)) return places == 0 ? 0 : places - 1;
  const std::optional<std::int64_t> given = scope.tensors.known_number(node.input(input));
  if (!given) scope.refuse(node, "its place in the list depends on data", kWithoutLists);
  const std::int64_t at = *given < 0 ? *given + static_cast<std::int64_t>(size) : *given;
  if (at < 0 || at >= static_cast<std::int64_t>(places))
    scope.refuse(node, "its place is outside of the list", kExportAgain);
  return static_cast<std::size_t>(at);
}

// Parts of equal size when one number is given, single slices when none is.
void split_to_sequence(Scope& scope, const onnx::NodeProto& node) {
  const Entries inputs = scope.tensors.inputs_of(node);
  const Shape shape = inputs.empty() || !inputs[0] ? Shape() : inputs[0]->facts.shape;
  std::int64_t axis = integer(node, "axis", 0);
  axis += axis < 0 ? static_cast<std::int64_t>(shape.size()) : 0;
  if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size()))
    scope.refuse(node, "splits an axis that is not there", kExportAgain);
  const std::int64_t whole = shape[static_cast<std::size_t>(axis)];
  const bool sized = inputs.size() > 1 && inputs[1] != nullptr;
  std::vector<std::int64_t> parts;
  if (sized && inputs[1]->facts.value == nullptr)
    scope.refuse(node, "its parts' sizes depend on data", kWithoutLists);
  if (sized && !inputs[1]->facts.shape.empty()) {
    parts = inputs[1]->facts.value->ints;
  } else {
    const std::int64_t step =
        sized && inputs[1]->facts.value->ints.size() == 1 ? inputs[1]->facts.value->ints[0] : 1;
    if (step < 1 || whole / step > kMostParts)
      scope.refuse(node, "splits into too many parts", kWithoutLists);
    for (std::int64_t at = 0; at < whole; at += step) parts.push_back(std::min(step, whole - at));
  }
  const std::string& name = node.output(0);
  const bool squeezes = !sized && integer(node, "keepdims", 1) == 0;
  Names names;
  for (std::size_t i = 0; i < parts.size(); ++i) names.push_back(fmt::format("{}/{}", name, i));
  if (!parts.empty()) run_made(scope, "Split", {node.input(0)}, names, axis, parts);
  Entries list;
  for (std::string& part : names) {
    const std::string slice = part + "/slice";
    if (squeezes) run_made(scope, "Squeeze", {part}, {slice}, {}, {axis});
    list.push_back(scope.tensors.find(squeezes ? slice : part));
  }
  scope.tensors.add_list(node, name, std::move(list));
}

void concat_sequence(Scope& scope, const onnx::NodeProto& node) {
  const Entries list = scope.tensors.list_at(node, 0);
  if (list.empty()) scope.refuse(node, "joins an empty list", kExportAgain);
  const std::int64_t axis = integer(node, "axis", 0);
  Names names;
  for (const Entry* entry : list) names.push_back(scope.tensors.name_of(*entry));
  if (integer(node, "new_axis", 0) != 0) {
    stack(scope, node, {}, names, axis, node.output(0));
  } else {
    run_made(scope, "Concat", names, {node.output(0)}, axis);
  }
}

}  // namespace

bool run_list_op(Scope& scope, const onnx::NodeProto& node) {
  Tensors& tensors = scope.tensors;
  if (node.output_size() == 0) return false;
  const std::string& type = node.op_type();
  const std::string& result = node.output(0);
  const bool of_list = node.input_size() > 0 && tensors.find_list(node.input(0)) != nullptr;
  if (type == "SequenceEmpty") {
    tensors.add_list(node, result, {});
  } else if (type == "SequenceConstruct") {
    tensors.add_list(node, result, tensors.inputs_of(node));
  } else if (type == "SequenceInsert" && node.input_size() > 1) {
    Entries list = tensors.list_at(node, 0);
    Entry* added = tensors.find(node.input(1));
    if (added == nullptr) scope.refuse(node, "inserts no tensor", kWithoutLists);
    const std::size_t at = position(scope, node, 2, list.size(), list.size() + 1);
    list.insert(list.begin() + static_cast<long>(at), added);
    tensors.add_list(node, result, std::move(list));
  } else if (type == "SequenceErase") {
    Entries list = tensors.list_at(node, 0);
    const std::size_t at = position(scope, node, 1, list.size(), list.size());
    if (list.empty()) scope.refuse(node, "erases from an empty list", kExportAgain);
    list.erase(list.begin() + static_cast<long>(at));
    tensors.add_list(node, result, std::move(list));
  } else if (type == "SequenceAt") {
    const Entries& list = tensors.list_at(node, 0);
    const std::size_t at = position(scope, node, 1, list.size(), list.size());
    if (list.empty()) scope.refuse(node, "reads from an empty list", kExportAgain);
    tensors.give_name(node, tensors.name_of(*list[at]), result);
  } else if (type == "SequenceLength") {
    tensors.add_value(result, whole_number(std::ssize(tensors.list_at(node, 0))));
  } else if (type == "SplitToSequence") {
    split_to_sequence(scope, node);
  } else if (type == "ConcatFromSequence") {
    concat_sequence(scope, node);
  } else if (type == "Optional" || type == "OptionalGetElement" ||
             (type == "Identity" && of_list)) {
    if (node.input_size() == 0) scope.refuse(node, "is an optional without a value", kWithoutLists);
    tensors.give_name(node, node.input(0), result);
  } else if (type == "OptionalHasElement") {
    tensors.add_value(result, scalar(DataType::Bool, has_input(node, 0) ? 1 : 0));
  } else {
    return false;
  }
  return true;
}

}  // namespace strato::onnx_import
