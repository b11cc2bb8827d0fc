// Lists of tensors: none is left in the graph. A list is known while the file is read, and so is
// each place in it that an op asks for.
#include <algorithm>

#include "plugins/importers/onnx/node_view.h"
#include "plugins/importers/onnx/order.h"
#include "plugins/importers/onnx/translator.h"

namespace strato::onnx_import {
namespace {

constexpr const char* kWithoutLists = "export the model without sequences";
constexpr std::int64_t kMostParts = 100'000;
constexpr std::size_t kMostListed = 20'000'000;

}  // namespace

const Translator::Entries& Translator::sequence_at(const onnx::NodeProto& node, int input) const {
  const auto found =
      input < node.input_size() ? sequences_.find(node.input(input)) : sequences_.end();
  if (found == sequences_.end())
    fail(label_of(node), "reads a list of tensors that is not known", kWithoutLists);
  return found->second;
}

void Translator::keep_list(const onnx::NodeProto& node, const std::string& name, Entries list) {
  if (std::find(list.begin(), list.end(), nullptr) != list.end())
    fail(label_of(node), "its list has a place without a tensor", "export the model again");
  listed_ += list.size();
  if (listed_ > kMostListed)
    fail(label_of(node), "its lists of tensors are too long in all", kWithoutLists);
  sequences_[name] = std::move(list);
}

// A name by which nodes made here can read the tensor.
std::string Translator::name_of(const Entry& entry) {
  const auto found = out_.by_name.find(entry.name);
  if (found != out_.by_name.end() && found->second == &entry) return entry.name;
  for (const auto& [name, other] : out_.by_name) {
    if (other == &entry) return name;
  }
  return entry.name;
}

// Of `size` tensors; `places` of them can be asked for. Negative ones count from the end; where
// none is given, the last.
std::size_t Translator::position(const onnx::NodeProto& node, int input, std::size_t size,
                                 std::size_t places) const {
  if (!has_input(node, input)) return places == 0 ? 0 : places - 1;
  const std::optional<std::int64_t> given = known_number(node.input(input));
  if (!given) fail(label_of(node), "its place in the list depends on data", kWithoutLists);
  const std::int64_t at = *given < 0 ? *given + static_cast<std::int64_t>(size) : *given;
  if (at < 0 || at >= static_cast<std::int64_t>(places))
    fail(label_of(node), "its place is outside of the list", "export the model again");
  return static_cast<std::size_t>(at);
}

bool Translator::sequence_op(const onnx::NodeProto& node) {
  if (node.output_size() == 0) return false;
  const std::string& type = node.op_type();
  const std::string& result = node.output(0);
  const bool of_list = node.input_size() > 0 && sequences_.contains(node.input(0));
  if (type == "SequenceEmpty") {
    sequences_[result] = {};
  } else if (type == "SequenceConstruct") {
    keep_list(node, result, inputs_of(node));
  } else if (type == "SequenceInsert" && node.input_size() > 1) {
    Entries list = sequence_at(node, 0);
    const auto added = out_.by_name.find(node.input(1));
    if (added == out_.by_name.end()) fail(label_of(node), "inserts no tensor", kWithoutLists);
    const std::size_t at = position(node, 2, list.size(), list.size() + 1);
    list.insert(list.begin() + static_cast<long>(at), added->second);
    keep_list(node, result, std::move(list));
  } else if (type == "SequenceErase") {
    Entries list = sequence_at(node, 0);
    const std::size_t at = position(node, 1, list.size(), list.size());
    if (list.empty()) fail(label_of(node), "erases from an empty list", "export the model again");
    list.erase(list.begin() + static_cast<long>(at));
    keep_list(node, result, std::move(list));
  } else if (type == "SequenceAt") {
    const Entries& list = sequence_at(node, 0);
    const std::size_t at = position(node, 1, list.size(), list.size());
    if (list.empty()) fail(label_of(node), "reads from an empty list", "export the model again");
    give_name(node, name_of(*list[at]), result);
  } else if (type == "SequenceLength") {
    add_value(result, scalar(DataType::I64, static_cast<double>(sequence_at(node, 0).size())));
  } else if (type == "SplitToSequence") {
    split_to_sequence(node);
  } else if (type == "ConcatFromSequence") {
    concat_sequence(node);
  } else if (type == "Optional" || type == "OptionalGetElement" ||
             (type == "Identity" && of_list)) {
    if (node.input_size() == 0)
      fail(label_of(node), "is an optional without a value", kWithoutLists);
    give_name(node, node.input(0), result);
  } else if (type == "OptionalHasElement") {
    add_value(result, scalar(DataType::Bool, has_input(node, 0) ? 1 : 0));
  } else {
    return false;
  }
  return true;
}

// Parts of equal size when one number is given, single slices when none is.
void Translator::split_to_sequence(const onnx::NodeProto& node) {
  const Entries inputs = inputs_of(node);
  const Shape shape = inputs.empty() || !inputs[0] ? Shape() : inputs[0]->facts.shape;
  std::int64_t axis = integer(node, "axis", 0);
  axis += axis < 0 ? static_cast<std::int64_t>(shape.size()) : 0;
  if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size()))
    fail(label_of(node), "splits an axis that is not there", "export the model again");
  const std::int64_t whole = shape[static_cast<std::size_t>(axis)];
  const bool sized = inputs.size() > 1 && inputs[1] != nullptr;
  std::vector<std::int64_t> parts;
  if (sized && inputs[1]->facts.value == nullptr)
    fail(label_of(node), "its parts' sizes depend on data", kWithoutLists);
  if (sized && !inputs[1]->facts.shape.empty()) {
    parts = inputs[1]->facts.value->ints;
  } else {
    const std::int64_t step =
        sized && inputs[1]->facts.value->ints.size() == 1 ? inputs[1]->facts.value->ints[0] : 1;
    if (step < 1 || whole / step > kMostParts)
      fail(label_of(node), "splits into too many parts", kWithoutLists);
    for (std::int64_t at = 0; at < whole; at += step) parts.push_back(std::min(step, whole - at));
  }
  const std::string& name = node.output(0);
  const bool squeezes = !sized && integer(node, "keepdims", 1) == 0;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parts.size(); ++i) names.push_back(name + "/" + std::to_string(i));
  if (!parts.empty()) run_made("Split", {node.input(0)}, names, axis, parts);
  Entries list;
  for (std::string& part : names) {
    const std::string slice = part + "/slice";
    if (squeezes) run_made("Squeeze", {part}, {slice}, {}, {axis});
    list.push_back(out_.by_name.at(squeezes ? slice : part));
  }
  keep_list(node, name, std::move(list));
}

void Translator::concat_sequence(const onnx::NodeProto& node) {
  const Entries list = sequence_at(node, 0);
  if (list.empty()) fail(label_of(node), "joins an empty list", "export the model again");
  const std::int64_t axis = integer(node, "axis", 0);
  std::vector<std::string> names;
  for (const Entry* entry : list) names.push_back(name_of(*entry));
  if (integer(node, "new_axis", 0) != 0) {
    stack(node, {}, names, axis, node.output(0));
  } else {
    run_made("Concat", names, {node.output(0)}, axis);
  }
}

}  // namespace strato::onnx_import
