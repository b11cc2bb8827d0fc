#include "plugins/importers/exported_program/translate/rules_layout.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

namespace strato::exported_program_import {
namespace {

constexpr std::int64_t kToTheEnd = INT64_MAX;

// ---- views

void reshape(Lowering& to) {
  const TensorId x = to.in("self").valid() ? to.in("self") : to.required("input");
  const Shape target = to.result().shape;
  to.emit("Reshape", {x, to.integers(target)});
}

void unsqueeze(Lowering& to) {
  const TensorId x = to.required("self");
  const std::int64_t axis = to.axis(to.call.integer("dim", 0), to.rank(x) + 1);
  to.emit("Unsqueeze", {x, to.integers({axis})});
}

// ---- moves

void transpose(Lowering& to) {
  const TensorId x = to.required("self");
  const std::size_t rank = to.rank(x);
  Ints order = to.call.integers("dims").value_or(Ints{});
  if (order.empty()) {
    for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
    const bool matrix = to.call.op() == "aten.t" || to.call.op() == "aten.numpy_T";
    if (rank >= 2 && (matrix || to.call.op() == "aten.mT" || to.call.op() == "aten.adjoint"))
      std::swap(order[rank - 2], order[rank - 1]);
    else if (rank >= 1)
      std::swap(order[static_cast<std::size_t>(to.axis(to.call.integer("dim0", 0), rank))],
                order[static_cast<std::size_t>(to.axis(to.call.integer("dim1", 0), rank))]);
  }
  for (std::int64_t& axis : order) axis = to.axis(axis, rank);
  if (order.size() != rank) to.call.refuse("has another number of axes", "export it again");
  to.emit("Transpose", {x}, {{"perm", order}});
}

void expand(Lowering& to) {
  const Shape target = to.result().shape;
  to.emit("Expand", {to.required("self"), to.integers(target)});
}

void repeat(Lowering& to) {
  const TensorId x = to.required("self");
  const Ints times = to.call.integers("repeats").value_or(Ints{});
  if (times.size() < to.rank(x)) to.call.refuse("repeats too few axes", "export it again");
  Shape padded(times.size() - to.rank(x), 1);
  padded.insert(padded.end(), to.shape(x).begin(), to.shape(x).end());
  const TensorId wide =
      padded.size() == to.rank(x) ? x : to.step("Reshape", {x, to.integers(padded)}, padded);
  to.emit("Tile", {wide, to.integers(times)});
}

void concatenate(Lowering& to) {
  const Ids parts = to.list("tensors");
  if (parts.empty()) to.call.refuse("joins no tensors", "export the program again");
  to.emit("Concat", parts,
          {{"axis", to.axis(to.call.integer("dim", 0), to.result().shape.size())}});
}

void stack(Lowering& to) {
  const Shape whole = to.result().shape;
  const std::int64_t axis = to.axis(to.call.integer("dim", 0), whole.size());
  Ids parts;
  for (const TensorId part : to.list("tensors")) {
    Shape shape = whole;
    shape[static_cast<std::size_t>(axis)] = 1;
    parts.push_back(to.step("Unsqueeze", {part, to.integers({axis})}, std::move(shape)));
  }
  if (parts.empty()) to.call.refuse("joins no tensors", "export the program again");
  to.emit("Concat", std::move(parts), {{"axis", axis}});
}

void split(Lowering& to) {
  const TensorId x = to.required("self");
  const std::int64_t axis = to.axis(to.call.integer("dim", 0), to.rank(x));
  Ints sizes;
  for (std::size_t i = 0; i < to.results(); ++i)
    sizes.push_back(to.result(i).shape.empty()
                        ? 0
                        : to.result(i).shape[static_cast<std::size_t>(
                              std::min(axis, std::ssize(to.result(i).shape) - 1))]);
  to.emit("Split", {x, to.integers(sizes)}, {{"axis", axis}}, to.results());
}

// Parts of one element each, without the axis.
void unbind(Lowering& to) {
  const TensorId x = to.required("self");
  const std::int64_t axis = to.axis(to.call.integer("dim", 0), to.rank(x));
  for (std::size_t i = 0; i < to.results(); ++i) {
    const TensorId place = to.number(static_cast<double>(i), DataType::I64);
    to.emit_one(i, "Gather", {x, place}, {{"axis", axis}});
  }
}

void slice(Lowering& to) {
  const TensorId x = to.required("self");
  const std::int64_t axis = to.axis(to.call.integer("dim", 0), to.rank(x));
  const std::int64_t start = to.call.integer("start", 0);
  const bool narrow = to.call.op() == "aten.narrow";
  const std::int64_t end = narrow ? start + to.result().shape[static_cast<std::size_t>(axis)]
                                  : to.call.integer("end", kToTheEnd);
  to.emit("Slice", {x, to.integers({start}), to.integers({end}), to.integers({axis}),
                    to.integers({to.call.integer("step", 1)})});
}

void select(Lowering& to) {
  const TensorId x = to.required("self");
  const TensorId place = to.number(static_cast<double>(to.call.integer("index", 0)), DataType::I64);
  to.emit("Gather", {x, place}, {{"axis", to.axis(to.call.integer("dim", 0), to.rank(x))}});
}

// PyTorch counts pads from the last axis on, before and behind; ONNX all before, then all behind.
void pad(Lowering& to) {
  const TensorId x = to.required("self");
  const std::size_t rank = to.rank(x);
  const Ints given = to.call.integers("pad").value_or(Ints{});
  if (given.size() > 2 * rank || given.size() % 2 != 0)
    to.call.refuse("pads axes that are not there", "export the program again");
  Ints pads(2 * rank, 0);
  for (std::size_t i = 0; i < given.size() / 2; ++i) {
    pads[rank - 1 - i] = given[2 * i];
    pads[2 * rank - 1 - i] = given[2 * i + 1];
  }
  to.emit("Pad", {x, to.integers(pads)}, {{"mode", to.call.text("mode", "constant")}});
}

void triangle(Lowering& to) {
  const std::int64_t upper = to.call.op() == "aten.triu" ? 1 : 0;
  to.emit("Trilu",
          {to.required("self"),
           to.number(static_cast<double>(to.call.integer("diagonal", 0)), DataType::I64)},
          {{"upper", upper}});
}

// ---- lookups

void index_select(Lowering& to) {
  const TensorId x = to.required("self");
  to.emit("Gather", {x, to.required("index")},
          {{"axis", to.axis(to.call.integer("dim", 0), to.rank(x))}});
}

void gather(Lowering& to) {
  const TensorId x = to.required("self");
  to.emit("GatherElements", {x, to.required("index")},
          {{"axis", to.axis(to.call.integer("dim", 0), to.rank(x))}});
}

// x[:, index]: one list of places is a lookup along its axis.
void index(Lowering& to) {
  const TensorId x = to.required("self");
  const Ids places = to.list("indices");
  Ids given = {x};
  std::int64_t axis = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!places[i].valid()) continue;
    given.push_back(places[i]);
    axis = static_cast<std::int64_t>(i);
  }
  const bool by_place = given.size() == 2 && to.tensor(given[1]).type != DataType::Bool;
  if (!by_place) return to.unknown(std::move(given));
  to.emit("Gather", std::move(given), {{"axis", axis}});
}

void scatter(Lowering& to) {
  const TensorId x = to.required("self");
  const TensorId from = to.call.has("src") ? to.operand("src", x) : to.operand("value", x);
  to.emit("ScatterElements", {x, to.required("index"), from},
          {{"axis", to.axis(to.call.integer("dim", 0), to.rank(x))}});
}

// ---- tensors of nothing: constants. Large ones have no contents.

constexpr double kMostElements = 8192;

template <class T>
std::string bytes_of(std::size_t count, T first, T step) {
  std::string bytes(count * sizeof(T), '\0');
  for (std::size_t i = 0; i < count; ++i) {
    const T value = static_cast<T>(first + step * static_cast<T>(i));
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

// Of numbers that go up in equal steps, in the types that are made of such.
std::string contents(const Tensor& made, double first, double step) {
  double elements = 1;
  for (const std::int64_t extent : made.shape) elements *= static_cast<double>(extent);
  constexpr double kExact = 1e15;
  if (elements > kMostElements || !(std::abs(first) < kExact) || !(std::abs(step) < kExact))
    return {};
  const auto count = static_cast<std::size_t>(elements);
  if (made.type == DataType::F32)
    return bytes_of(count, static_cast<float>(first), static_cast<float>(step));
  if (made.type == DataType::I64)
    return bytes_of(count, static_cast<std::int64_t>(first), static_cast<std::int64_t>(step));
  if (made.type == DataType::I32)
    return bytes_of(count, static_cast<std::int32_t>(first), static_cast<std::int32_t>(step));
  return {};
}

void make(Lowering& to, double first, double step) {
  const Tensor made = to.result();
  to.emit("Identity", {to.constant(made.type, made.shape, contents(made, first, step))});
}

void zeros(Lowering& to) { make(to, 0, 0); }
void ones(Lowering& to) { make(to, 1, 0); }
void full(Lowering& to) {
  make(to, to.call.real(to.call.has("fill_value") ? "fill_value" : "s", 0), 0);
}
void range(Lowering& to) { make(to, to.call.real("start", 0), to.call.real("step", 1)); }

}  // namespace

Rules layout_rules() {
  Rules rules = {{"aten.unsqueeze", unsqueeze}, {"aten.repeat", repeat},
                 {"aten.cat", concatenate},     {"aten.concat", concatenate},
                 {"aten.stack", stack},         {"aten.unbind", unbind},
                 {"aten.slice", slice},         {"aten.narrow", slice},
                 {"aten.select", select},       {"aten.pad", pad},
                 {"aten.constant_pad_nd", pad}, {"aten.tril", triangle},
                 {"aten.triu", triangle},       {"aten.index_select", index_select},
                 {"aten.gather", gather},       {"aten.index", index},
                 {"aten.full", full},           {"aten.full_like", full},
                 {"aten.new_full", full},       {"aten.scalar_tensor", full},
                 {"aten.arange", range}};
  const auto add = [&rules](Rule rule, std::initializer_list<const char*> ops) {
    for (const char* op : ops) rules[op] = rule;
  };
  add(reshape, {"aten.view", "aten.reshape", "aten._unsafe_view", "aten.flatten", "aten.unflatten",
                "aten.squeeze", "aten._reshape_copy", "aten.view_copy", "aten.view_as",
                "aten.reshape_as", "aten._reshape_alias"});
  add(transpose,
      {"aten.transpose", "aten.permute", "aten.t", "aten.mT", "aten.numpy_T", "aten.adjoint"});
  add(expand, {"aten.expand", "aten.expand_as", "aten.broadcast_to"});
  add(split, {"aten.split", "aten.split_with_sizes", "aten.chunk", "aten.tensor_split",
              "aten.split_copy", "aten.split_with_sizes_copy"});
  add(scatter, {"aten.scatter", "aten.scatter_add"});
  add(zeros, {"aten.zeros", "aten.zeros_like", "aten.new_zeros", "aten.empty", "aten.empty_like",
              "aten.new_empty"});
  add(ones, {"aten.ones", "aten.ones_like", "aten.new_ones"});
  return rules;
}

}  // namespace strato::exported_program_import
