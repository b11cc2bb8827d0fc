#include "core/graph/build/graph_file.h"

#include <algorithm>
#include <functional>
#include <iterator>
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
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (const auto& elements = tensors[TensorId(i)].data)
      data.push_back({{"tensor", i}, {"elements", packed(std::span<const char>(*elements))}});
  return {{"names", texts(tensors, &Tensor::name)},
          {"types", column(tensors, &Tensor::type)},
          {"roles", column(tensors, &Tensor::role)},
          {"kinds", column(tensors, [](const Tensor& each) { return each.batch.kind; })},
          {"axes", column(tensors, [](const Tensor& each) { return each.batch.axis; })},
          {"shapes", lists(tensors, &Tensor::shape)},
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

// A column as it is read, one number after the other.
template <class T>
class Column {
 public:
  Column(const JsonView& view, std::size_t count) : view_(view), values_(unpacked<T>(view)) {
    if (values_.size() != count) view.fail("is of another length than the names", kRemedy);
  }
  T operator[](std::size_t i) const { return values_[i]; }
  T enumerated(std::size_t i, T last) const {  // of an enumeration that starts at 0
    if (values_[i] > last) fail("a value is out of range");
    return values_[i];
  }
  template <class I>
  I id(std::size_t i, std::size_t count) const {  // -1: none
    const auto value = values_[i];
    if (value < -1 || (value >= 0 && static_cast<std::size_t>(value) >= count))
      fail("a reference is out of range");
    return value < 0 ? I() : I(static_cast<std::size_t>(value));
  }
  [[noreturn]] void fail(const char* problem) const { view_.fail(problem, kRemedy); }

 private:
  JsonView view_;
  std::vector<T> values_;
};

// Lists as they are read, one after the other.
template <class T>
class ListColumn {
 public:
  ListColumn(const JsonView& view, std::size_t count)
      : view_(view),
        counts_(unpacked<std::uint32_t>(view.at("counts"))),
        values_(unpacked<T>(view.at("values"))) {
    std::uint64_t all = 0;
    for (const std::uint32_t each : counts_) all += each;
    if (counts_.size() != count || all != values_.size())
      view.fail("has counts that do not fit", kRemedy);
  }
  std::vector<T> next() {
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ += counts_[list_++];
    return {begin, values_.begin() + static_cast<std::ptrdiff_t>(at_)};
  }
  std::vector<TensorId> next_ids(std::size_t tensors, bool may_be_none) {
    std::vector<TensorId> ids;
    for (const T value : next()) {
      const bool none = value == -1 && may_be_none;
      if (!none && (value < 0 || static_cast<std::size_t>(value) >= tensors))
        view_.fail("a reference is out of range", kRemedy);
      ids.push_back(none ? TensorId() : TensorId(static_cast<std::size_t>(value)));
    }
    return ids;
  }

 private:
  JsonView view_;
  std::vector<std::uint32_t> counts_;
  std::vector<T> values_;
  std::size_t list_ = 0, at_ = 0;
};

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

std::size_t add_tensors(const JsonView& view, GraphBuilder& builder) {
  const std::vector<std::string> names = texts_in(view.at("names"));
  const std::size_t count = names.size();
  const Column<DataType> types(view.at("types"), count);
  const Column<TensorRole> roles(view.at("roles"), count);
  const Column<BatchKind> kinds(view.at("kinds"), count);
  const Column<std::int32_t> axes(view.at("axes"), count);
  ListColumn<std::int64_t> shapes(view.at("shapes"), count);
  for (std::size_t i = 0; i < count; ++i) {
    Tensor tensor;
    tensor.name = names[i];
    tensor.type = types.enumerated(i, DataType::Bool);
    tensor.role = roles.enumerated(i, TensorRole::Gradient);
    tensor.shape = shapes.next();
    tensor.batch.kind = kinds.enumerated(i, BatchKind::Partial);
    tensor.batch.axis = axes[i];
    if (axes[i] < -1 || axes[i] >= static_cast<std::int32_t>(tensor.shape.size()))
      axes.fail("an axis is out of range");
    builder.add_tensor(std::move(tensor));
  }
  for (const JsonView& data : view.at("data").items()) {
    const auto index = data.at("tensor").integer(0, static_cast<std::int64_t>(count) - 1);
    builder.tensor(TensorId(static_cast<std::size_t>(index))).data =
        std::make_shared<const std::string>(data.at("elements").bytes());
  }
  return count;
}

void add_ops(const JsonView& view, std::size_t tensors, GraphBuilder& builder) {
  const std::vector<std::string> names = texts_in(view.at("names")),
                                 types = texts_in(view.at("types"));
  const std::size_t count = names.size();
  const Column<Phase> phases(view.at("phases"), count);
  const Column<std::int32_t> forwards(view.at("forwards"), count);
  ListColumn<std::int32_t> inputs(view.at("inputs"), count), outputs(view.at("outputs"), count);
  const std::vector<JsonView> attributes = view.at("attributes").items();
  if (types.size() != count || attributes.size() != count)
    view.fail("has lists of different lengths", kRemedy);
  for (std::size_t i = 0; i < count; ++i) {
    Op op;
    op.name = names[i];
    op.type = types[i];
    op.phase = phases.enumerated(i, Phase::Update);
    op.forward = forwards.id<OpId>(i, count);
    op.inputs = inputs.next_ids(tensors, true);
    op.outputs = outputs.next_ids(tensors, false);
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
  const std::size_t tensors = add_tensors(root.at("tensors"), builder);
  add_ops(root.at("ops"), tensors, builder);
  return std::move(builder).build();
}

}  // namespace strato
