// Tensors and lists of tensors by name.
#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {
namespace {

// What modules keep beside parameters under these names and do not train, as far as no layer reads
// it where its statistics stand.
bool is_buffer(std::string_view name, bool as_weight) {
  static constexpr std::array<std::string_view, 13> kNames = {"inv_freq",
                                                              "original_inv_freq",
                                                              "cos_cached",
                                                              "sin_cached",
                                                              "cos_cache",
                                                              "sin_cache",
                                                              "freqs_cis",
                                                              "position_ids",
                                                              "attn_mask",
                                                              "causal_mask",
                                                              "masked_bias",
                                                              "token_type_ids",
                                                              "relative_position_index"};
  const std::string_view last = name.substr(name.find_last_of("./") + 1);
  const bool statistic = last == "running_mean" || last == "running_var";
  return statistic ? !as_weight : std::ranges::find(kNames, last) != kNames.end();
}

}  // namespace

Entry& Tensors::add(const std::string& name, TensorRole role, Facts facts) {
  const std::string place = "tensor \"" + name + "\"";
  if (!element_count(facts.shape))
    throw InputError(model_.file, place, "has a negative extent or is too large for any machine",
                     "check the model's dimensions and the batch size");
  out_.entries.push_back({name, role, std::move(facts)});
  Entry& entry = out_.entries.back();
  if (!name.empty() && !out_.by_name.emplace(name, &entry).second)
    throw InputError(model_.file, place, "is defined twice", "give every tensor its own name");
  return entry;
}

void Tensors::add_value(const std::string& name, Value value) {
  known_elements_ += value.size();
  add(name, TensorRole::Constant, known(std::move(value)));
}

void Tensors::add_input(const BoundInput& input) {
  if (input.value) return add_value(input.name, {input.type, input.shape, {*input.value}, {}});
  Entry& entry = add(input.name, input.weight ? TensorRole::Parameter : TensorRole::Input,
                     {input.type, input.shape});
  entry.batch_axis = input.batch_axis;
  entry.frozen = input.weight && model_.freezes(input.name);
}

Entry& Tensors::add_stored(const onnx::TensorProto& tensor, const std::string& name,
                           const std::string& place, bool may_be_weight) {
  // Names of classes, say: nobody computes with them, and they are picked as numbers are.
  const bool text = tensor.data_type() == onnx::TensorProto::STRING;
  const std::optional<DataType> type = text ? DataType::I64 : data_type_of(tensor.data_type());
  if (!type)
    throw InputError(model_.file, place, "is not a tensor of numbers", "remove it from the model");
  Facts facts{*type, Shape(tensor.dims().begin(), tensor.dims().end())};
  const bool weight = is_floating(*type) && may_be_weight;
  if (!weight && !text) facts.value = read_value(tensor, model_.folder);
  Entry& entry = add(name, weight ? TensorRole::Parameter : TensorRole::Constant, std::move(facts));
  entry.given = true;
  if (!text) note_origin(entry, tensor);
  return entry;
}

void Tensors::add_initializer(const onnx::TensorProto& tensor, const std::string& name,
                              bool may_be_weight) {
  const bool setting = uses_.only_as_setting(name, tensor.dims().empty()) ||
                       is_buffer(name, uses_.as_weight(name)) ||
                       (model_.freezes(name) && !uses_.as_weight(name));
  Entry& entry =
      add_stored(tensor, name, "initializer \"" + name + "\"", may_be_weight && !setting);
  entry.stored = true;
  entry.frozen = entry.role == TensorRole::Parameter && model_.freezes(name);
}

void Tensors::add_sparse(const onnx::SparseTensorProto& sparse) {
  const std::optional<DataType> type = data_type_of(sparse.values().data_type());
  if (!type) return;
  add(sparse.values().name(), TensorRole::Parameter,
      {*type, Shape(sparse.dims().begin(), sparse.dims().end())})
      .stored = true;
}

Entry& Tensors::add_substitute(Entry entry) { return out_.entries.emplace_back(std::move(entry)); }

void Tensors::note_origin(Entry& entry, const onnx::TensorProto& tensor) const {
  if (model_.with_weights && entry.facts.value == nullptr)
    entry.origin = std::make_shared<const onnx::TensorProto>(tensor);
}

Entry* Translation::find(const std::string& name) const {
  const auto found = by_name.find(name);
  return found != by_name.end() ? found->second : nullptr;
}

bool Tensors::exists(const std::string& name) const {
  return out_.by_name.contains(name) || lists_.contains(name);
}

std::optional<std::int64_t> Tensors::known_number(const std::string& name) const {
  const Entry* entry = find(name);
  if (entry == nullptr || entry->facts.value == nullptr) return std::nullopt;
  const Value& value = *entry->facts.value;
  if (value.floating() || value.ints.size() != 1) return std::nullopt;
  return value.ints[0];
}

Entries Tensors::inputs_of(const onnx::NodeProto& node) const {
  Entries inputs;
  for (const std::string& name : node.input()) {
    Entry* entry = name.empty() ? nullptr : find(name);
    if (!name.empty() && entry == nullptr)
      refuse(model_.file, node, "reads \"" + name + "\", which is a list of tensors",
             kWithoutLists);
    inputs.push_back(entry);
  }
  return inputs;
}

std::string Tensors::name_of(const Entry& entry) const {
  if (find(entry.name) == &entry) return entry.name;
  for (const auto& [name, other] : out_.by_name)
    if (other == &entry) return name;
  return entry.name;
}

const Entries* Tensors::find_list(const std::string& name) const {
  const auto found = lists_.find(name);
  return found != lists_.end() ? &found->second : nullptr;
}

const Entries& Tensors::list_at(const onnx::NodeProto& node, int input) const {
  const Entries* list = input < node.input_size() ? find_list(node.input(input)) : nullptr;
  if (list == nullptr)
    refuse(model_.file, node, "reads a list of tensors that is not known", kWithoutLists);
  return *list;
}

void Tensors::add_list(const onnx::NodeProto& node, const std::string& name, Entries list) {
  if (std::ranges::count(list, nullptr) > 0)
    refuse(model_.file, node, "its list has a place without a tensor", kExportAgain);
  constexpr std::size_t kMostListed = 20'000'000;  // tensors of all lists
  listed_ += list.size();
  if (listed_ > kMostListed)
    refuse(model_.file, node, "its lists of tensors are too long in all", kWithoutLists);
  lists_[name] = std::move(list);
}

void Tensors::give_name(const onnx::NodeProto& node, const std::string& made,
                        const std::string& name) {
  if (made == name || name.empty()) return;
  if (Entry* tensor = find(made)) {
    out_.by_name.try_emplace(name, tensor);
  } else if (const Entries* list = find_list(made)) {
    if (!lists_.contains(name)) add_list(node, name, *list);
  } else {
    refuse(model_.file, node, "its result \"" + made + "\" is made by nothing", kExportAgain);
  }
}

Translation Tensors::finish(const onnx::GraphProto& graph, std::vector<TranslatedOp> ops) && {
  for (const auto& output : graph.output()) {
    if (const Entries* list = find_list(output.name())) {
      out_.results.insert(out_.results.end(), list->begin(), list->end());
    } else if (Entry* entry = find(output.name())) {
      out_.results.push_back(entry);
    } else {
      throw InputError(model_.file, "output \"" + output.name() + "\"", "is made by no op",
                       kExportAgain);
    }
  }
  out_.ops = std::move(ops);
  return std::move(out_);
}

}  // namespace strato::onnx_import
