#include "core/graph/build/graph_file.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <type_traits>

#include "core/base/error.h"
#include "core/graph/build/graph_builder.h"
#include "core/io/container.h"

namespace strato {
namespace {

constexpr const char* kRemedy = "import the model again";
constexpr ContainerKind kKind{"stratoscope-graph", 2, "the stored graph", kRemedy};

// A column holds one number of each tensor or op; what each has several of lies in a row, with the
// counts in a column.
template <class List, class F>
Json column(const List& list, F number_of) {
  std::vector<std::decay_t<std::invoke_result_t<F, decltype(list[{}])>>> numbers;
  std::ranges::transform(list, std::back_inserter(numbers), number_of);
  return packed(numbers);
}

template <class List, class F>
Json lists(const List& list, F numbers_of) {
  std::vector<std::uint32_t> counts;
  std::decay_t<std::invoke_result_t<F, decltype(list[{}])>> values;
  for (const auto& each : list) {
    const auto& numbers = std::invoke(numbers_of, each);
    counts.push_back(static_cast<std::uint32_t>(numbers.size()));
    values.insert(values.end(), numbers.begin(), numbers.end());
  }
  return {{"counts", packed(counts)}, {"values", packed(values)}};
}

template <class List, class T>
Json texts(const List& list, std::string T::*text) {
  Json result = Json::array();
  for (const T& each : list) result.push_back(each.*text);
  return result;
}

std::vector<std::int32_t> numbers_of(const std::vector<TensorId>& ids) {
  std::vector<std::int32_t> numbers;
  for (const TensorId id : ids) numbers.push_back(id.value());
  return numbers;
}

// Of whole numbers as a list, of others packed: an empty one tells what it is, too.
Json attribute_json(const Attribute& attribute) {
  return std::visit(
      []<class T>(const T& value) {
        if constexpr (std::is_same_v<T, std::vector<double>>)
          return packed(value);
        else
          return Json(value);
      },
      attribute);
}

Json tensors_json(const IdVector<TensorId, Tensor>& tensors) {
  Json data = Json::array();
  for (const TensorId id : tensors.ids())
    if (const auto& elements = tensors[id].data)
      data.push_back(
          {{"tensor", id.index()}, {"elements", packed(std::span<const char>(*elements))}});
  std::vector<std::int32_t> frozen;
  for (const TensorId id : tensors.ids())
    if (tensors[id].frozen) frozen.push_back(id.value());
  return {{"names", texts(tensors, &Tensor::name)},
          {"types", column(tensors, &Tensor::type)},
          {"roles", column(tensors, &Tensor::role)},
          {"kinds", column(tensors, [](const Tensor& each) { return each.batch.kind; })},
          {"axes", column(tensors, [](const Tensor& each) { return each.batch.axis; })},
          {"shapes", lists(tensors, &Tensor::shape)},
          {"frozen", packed(frozen)},
          {"data", data}};
}

Json ops_json(const IdVector<OpId, Op>& ops) {
  Json attributes = Json::array();
  for (const Op& op : ops) {
    Json given = Json::object();
    for (const auto& [key, value] : op.attributes) given[key] = attribute_json(value);
    attributes.push_back(std::move(given));
  }
  return {{"names", texts(ops, &Op::name)},
          {"types", texts(ops, &Op::type)},
          {"phases", column(ops, &Op::phase)},
          {"forwards", column(ops, [](const Op& op) { return op.forward.value(); })},
          {"inputs", lists(ops, [](const Op& op) { return numbers_of(op.inputs); })},
          {"outputs", lists(ops, [](const Op& op) { return numbers_of(op.outputs); })},
          {"attributes", attributes}};
}

template <class T>
std::vector<T> numbers_in(const JsonView& view, std::size_t count) {
  std::vector<T> numbers = unpacked<T>(view);
  if (numbers.size() != count) view.fail("is of another length than the names", kRemedy);
  return numbers;
}

template <class E>
std::vector<E> enums_in(const JsonView& view, std::size_t count, E last) {  // from 0 to `last`
  std::vector<E> values = numbers_in<E>(view, count);
  const auto is_above = [last](E value) { return value > last; };
  if (std::ranges::any_of(values, is_above)) view.fail("a value is out of range", kRemedy);
  return values;
}

template <class T>
std::vector<std::vector<T>> lists_in(const JsonView& view, std::size_t count) {
  const auto counts = unpacked<std::uint32_t>(view.at("counts"));
  const auto values = unpacked<T>(view.at("values"));
  const auto all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (counts.size() != count || all != values.size())
    view.fail("has counts that do not fit", kRemedy);
  std::vector<std::vector<T>> lists;
  auto begin = values.begin();
  for (const std::uint32_t size : counts) {
    lists.emplace_back(begin, begin + size);
    begin += size;
  }
  return lists;
}

template <class I>
I id_in(const JsonView& view, std::int32_t value, std::size_t count, bool may_be_none) {
  if (value == -1 && may_be_none) return I();
  if (value < 0 || static_cast<std::size_t>(value) >= count)
    view.fail("a reference is out of range", kRemedy);
  return I(static_cast<std::size_t>(value));
}

std::vector<std::vector<TensorId>> ids_in(const JsonView& view, std::size_t count,
                                          std::size_t tensors, bool may_be_none) {
  std::vector<std::vector<TensorId>> result;
  for (const auto& list : lists_in<std::int32_t>(view, count)) {
    std::vector<TensorId>& ids = result.emplace_back();
    for (const auto value : list) ids.push_back(id_in<TensorId>(view, value, tensors, may_be_none));
  }
  return result;
}

// Without a view of each: there are as many as ops and tensors.
std::vector<std::string> texts_in(const JsonView& view) {
  std::vector<std::string> result;
  if (!view.is_array()) view.fail("is not a list", kRemedy);
  for (const Json& item : view.json()) {
    if (!item.is_string()) view.fail("has what is no text", kRemedy);
    result.push_back(item.get_ref<const std::string&>());
  }
  return result;
}

Attribute attribute_from(const JsonView& view) {
  const Json& json = view.json();
  if (json.is_number_integer()) return view.integer();
  if (json.is_number_float()) return json.get<double>();  // may be infinite
  if (json.is_string()) return view.string();
  if (json.is_binary()) return unpacked<double>(view);
  std::vector<std::int64_t> list;
  for (const JsonView& item : view.items()) list.push_back(item.integer());
  return list;
}

void add_tensors(const JsonView& view, GraphBuilder& builder) {
  const std::vector<std::string> names = texts_in(view.at("names"));
  const std::size_t count = names.size();
  const auto types = enums_in(view.at("types"), count, DataType::Bool);
  const auto roles = enums_in(view.at("roles"), count, TensorRole::Gradient);
  const auto kinds = enums_in(view.at("kinds"), count, BatchKind::Partial);
  const auto axes = numbers_in<std::int32_t>(view.at("axes"), count);
  auto shapes = lists_in<std::int64_t>(view.at("shapes"), count);
  for (std::size_t i = 0; i < count; ++i) {
    if (axes[i] < -1 || axes[i] >= static_cast<std::int32_t>(shapes[i].size()))
      view.at("axes").fail("an axis is out of range", kRemedy);
    builder.add_tensor({.name = names[i],
                        .type = types[i],
                        .role = roles[i],
                        .shape = std::move(shapes[i]),
                        .batch = {kinds[i], axes[i]}});
  }
  if (const auto frozen = view.find("frozen"))  // later than version 2 itself
    for (const auto id : unpacked<std::int32_t>(*frozen))
      builder.tensor(id_in<TensorId>(*frozen, id, count, false)).frozen = true;
  for (const JsonView& data : view.at("data").items()) {
    const auto index = data.at("tensor").integer(0, static_cast<std::int64_t>(count) - 1);
    builder.tensor(TensorId(static_cast<std::size_t>(index))).data =
        std::make_shared<const std::string>(data.at("elements").bytes());
  }
}

void add_ops(const JsonView& view, GraphBuilder& builder) {
  const std::vector<std::string> names = texts_in(view.at("names")),
                                 types = texts_in(view.at("types"));
  const std::size_t count = names.size();
  const auto phases = enums_in(view.at("phases"), count, Phase::Update);
  const JsonView forward = view.at("forwards");
  const auto forwards = numbers_in<std::int32_t>(forward, count);
  auto inputs = ids_in(view.at("inputs"), count, builder.tensor_count(), true);
  auto outputs = ids_in(view.at("outputs"), count, builder.tensor_count(), false);
  const std::vector<JsonView> attributes = view.at("attributes").items();
  if (types.size() != count || attributes.size() != count)
    view.fail("has lists of different lengths", kRemedy);
  for (std::size_t i = 0; i < count; ++i) {
    Op op = {.name = names[i],
             .type = types[i],
             .inputs = std::move(inputs[i]),
             .outputs = std::move(outputs[i]),
             .phase = phases[i],
             .forward = id_in<OpId>(forward, forwards[i], count, true)};
    for (const auto& [key, value] : attributes[i].members())
      op.attributes.emplace_back(key, attribute_from(value));
    builder.add_op(std::move(op));
  }
}

}  // namespace

std::string serialise(const Graph& graph) {
  return write_container(kKind, {{"name", graph.name()},
                                 {"batch", graph.batch()},
                                 {"tensors", tensors_json(graph.tensors())},
                                 {"ops", ops_json(graph.ops())}});
}

Graph parse_graph(std::string_view bytes, const std::string& file) {
  if (is_first_graph_file(bytes)) return parse_first_graph_file(bytes, file);
  if (!is_container(bytes)) throw InputError(file, "", "is not a stored graph", kRemedy);
  const JsonView root = read_container(bytes, kKind, file).value;
  GraphBuilder builder(root.at("name").string(), root.at("batch").integer(), file);
  add_tensors(root.at("tensors"), builder);
  add_ops(root.at("ops"), builder);
  return std::move(builder).build();
}

}  // namespace strato
