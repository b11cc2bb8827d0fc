#include "plugins/importers/onnx/bind/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/extent_expression.h"
#include "core/plugin/api/plugin.h"
#include "plugins/importers/onnx/read/node_view.h"
#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {
namespace {

// An input as the file has it: each dimension is a number or a symbol, for which the shape has 0.
struct RawInput : BoundInput {
  std::vector<std::string> symbols;  // empty where there is a number

  bool symbolic() const {
    return std::ranges::any_of(symbols, [](const std::string& symbol) { return !symbol.empty(); });
  }
  bool lone_number() const {
    return !is_floating(type) && !symbolic() && element_count(shape) == 1;
  }
};

bool looks_like_batch(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.find("batch") != std::string::npos || name == "n" || name == "bs" || name == "b";
}

// Names that exporters make up, one for each dimension or one for all.
bool says_nothing(const std::string& name) {
  return name == "None" || name.starts_with("unk__") ||
         name.find("_dynamic_axes_") != std::string::npos;
}

std::string axis_place(const std::string& input, std::size_t axis) {
  return fmt::format("input \"{}\", dimension {}", input, axis);
}

// A dimension that the file has no name for.
std::string unnamed(const std::string& input, std::size_t axis) {
  return fmt::format("{}.{}", input, axis);
}

class Binder {
 public:
  Binder(const Model& model, const Uses& uses, const ImportOptions& options)
      : model_(model), uses_(uses), options_(options) {}

  Binding bind() {
    check_options();
    read_inputs();
    find_derived();
    tell_weights();
    find_batch_symbol();
    if (batch_symbol_.empty()) find_fixed_batch();
    check_all_bound();
    for (RawInput& input : inputs_) result_.inputs.push_back(bound(std::move(input)));
    const auto note = [this](const onnx::NodeProto& node) {
      if (node.op_type() == "If" || node.op_type() == "Loop")
        result_.control_flow.insert(given_name(node));
    };
    for_each_node(model_.proto.graph().node(), note);
    for (const auto& function : model_.proto.functions()) for_each_node(function.node(), note);
    for (const auto& [name, extent] : options_.dimensions) {
      if (result_.dimensions.contains(name)) continue;
      if (!result_.control_flow.contains(name)) refuse_option(name);
      result_.decisions[name] = extent;
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& place, const std::string& problem,
                         const std::string& remedy) const {
    throw InputError(model_.file, place, problem, remedy);
  }

  void check_options() const {
    if (options_.batch && *options_.batch < 1)
      fail("--batch", fmt::format("is {}", *options_.batch), "give a batch of at least 1");
    for (const auto& [name, extent] : options_.dimensions) {
      if (extent >= 0) continue;
      fail("--set-dim " + name, fmt::format("is {}", extent), "give an extent of 0 or more");
    }
  }

  void read_inputs() {
    std::unordered_set<std::string> initializers, seen;
    for (const auto& initializer : model_.proto.graph().initializer())
      initializers.insert(initializer.name());
    for (const auto& sparse : model_.proto.graph().sparse_initializer())
      initializers.insert(sparse.values().name());
    for (const auto& info : model_.proto.graph().input()) {
      if (!seen.insert(info.name()).second)
        fail("input \"" + info.name() + "\"", "is defined twice", "give every input its own name");
      // Up to IR version 3 every initializer is listed as an input too.
      if (!initializers.contains(info.name())) inputs_.push_back(read(info));
    }
    check_ranks();
  }

  RawInput read(const onnx::ValueInfoProto& info) {
    const std::string place = "input \"" + info.name() + "\"";
    const std::optional<DataType> type = data_type_of(info.type().tensor_type().elem_type());
    if (!info.type().has_tensor_type() || !type)
      fail(place, "is not a tensor of numbers",
           "export a model whose inputs are tensors of numbers");
    RawInput input{{info.name(), *type, {}}, {}};
    if (!info.type().tensor_type().has_shape()) {
      input.shape.resize(given_rank(info.name()));
      for (std::size_t axis = 0; axis < input.shape.size(); ++axis)
        input.symbols.push_back(unnamed(info.name(), axis));
    }
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      const std::size_t axis = input.shape.size();
      // Some exporters write -1 for what is not known, and 0 for the samples.
      const bool unknown =
          !dim.has_dim_value() || dim.dim_value() == -1 || (axis == axis_ && dim.dim_value() <= 0);
      if (!unknown && dim.dim_value() < 0)
        fail(axis_place(info.name(), axis), fmt::format("has extent {}", dim.dim_value()),
             "export the model with positive or symbolic extents");
      input.shape.push_back(unknown ? 0 : dim.dim_value());
      const bool has_name = !dim.dim_param().empty() && dim.dim_param() != "?";
      input.symbols.push_back(!unknown   ? ""
                              : has_name ? dim.dim_param()
                                         : unnamed(info.name(), axis));
    }
    return input;
  }

  static std::string rank_option(const std::string& input) { return input + ".rank"; }

  // Of an input whose shape the file does not say: an option has to. 0 where none does.
  std::size_t given_rank(const std::string& input) {
    constexpr std::int64_t kMostRank = 8;
    const std::string option = rank_option(input);
    const auto given = options_.dimensions.find(option);
    if (given == options_.dimensions.end()) {
      without_rank_.push_back(input);
      return 0;
    }
    if (given->second > kMostRank)
      fail("--set-dim " + option, fmt::format("is {}", given->second),
           fmt::format("give the number of dimensions, at most {}", kMostRank));
    return static_cast<std::size_t>(result_.dimensions[option] = given->second);
  }

  // Tells all at once, as check_all_bound() does.
  void check_ranks() const {
    if (without_rank_.empty()) return;
    std::string names, remedy = "give the numbers of their dimensions:";
    for (const std::string& input : without_rank_) {
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", input);
      remedy += fmt::format(" --set-dim {}=N", rank_option(input));
    }
    const std::string& first = without_rank_.front();
    throw UnboundDimension(model_.file, "", first, -1, rank_option(first),
                           "inputs have no shape in the file: " + names, remedy);
  }

  // Exporters write extents that follow from others as such: "2*s0" beside an input with "s0".
  void find_derived() {
    std::unordered_set<std::string> all;
    for (const RawInput& input : inputs_) all.insert(input.symbols.begin(), input.symbols.end());
    for (const std::string& symbol : all) {
      const std::vector<std::string> parts = symbols_of(symbol);
      const bool follows = !parts.empty() && parts.front() != symbol &&
                           std::ranges::all_of(parts, [&](const std::string& part) {
                             return part != symbol && all.contains(part);
                           });
      if (follows && !options_.dimensions.contains(symbol)) derived_.insert(symbol);
    }
  }

  // Beside inputs with a symbolic batch, a floating-point input with none is a weight; where all
  // extents are fixed, only one that is read as a weight is, or that the file trains. An option may
  // say otherwise.
  void tell_weights() {
    const bool any_symbolic = std::ranges::any_of(inputs_, &RawInput::symbolic);
    for (RawInput& input : inputs_) {
      const bool candidate = is_floating(input.type) && !input.symbolic() && !input.shape.empty();
      const auto given = options_.dimensions.find(input.name);
      if (given != options_.dimensions.end() && input.lone_number()) input.value = given->second;
      const bool trained = model_.trained && model_.trained->contains(input.name);
      input.weight = candidate && (any_symbolic || trained || uses_.as_weight(input.name));
      if (given == options_.dimensions.end() || !candidate) continue;
      if (given->second > 1)
        fail("--set-dim " + input.name, fmt::format("is {}", given->second),
             "give 0 where the input is data, 1 where it is a parameter");
      input.weight = given->second == 1;
      result_.dimensions[input.name] = given->second;
    }
    const auto data = [](const RawInput& input) { return !input.weight && !input.value; };
    if (std::ranges::none_of(inputs_, data))
      fail("graph", "has no input that data flows into", "export the model with its inputs");
  }

  void find_batch_symbol() {
    for (const RawInput& input : inputs_) {
      for (const std::string& symbol : input.symbols)
        if (batch_symbol_.empty() && looks_like_batch(symbol) && !derived_.contains(symbol))
          batch_symbol_ = symbol;
    }
    for (const RawInput& input : inputs_)
      if (batch_symbol_.empty() && input.symbols.size() > axis_ &&
          !derived_.contains(input.symbols[axis_]))
        batch_symbol_ = input.symbols[axis_];
    // Dimensions without a telling name on the batch's axis are the batch too, each under its own,
    // if no option gives them.
    for (const RawInput& input : inputs_) {
      if (batch_symbol_.empty() || input.symbols.size() <= axis_ || input.weight) continue;
      const std::string& symbol = input.symbols[axis_];
      const bool has_no_name = symbol == unnamed(input.name, axis_);
      const bool given = options_.dimensions.contains(symbol);
      if (!given && (has_no_name || says_nothing(symbol))) batch_aliases_.insert(symbol);
    }
    if (!batch_symbol_.empty()) batch_aliases_.insert(batch_symbol_);
  }

  void find_fixed_batch() {
    for (const RawInput& input : inputs_) {
      if (input.weight || input.value || input.shape.size() <= axis_) continue;
      result_.file_batch = input.shape[axis_];
      break;
    }
    result_.batch = options_.batch.value_or(std::max<std::int64_t>(result_.file_batch, 1));
  }

  struct Place {
    std::string input;
    std::size_t axis;
    std::string symbol;
  };

  // Tells all dimensions that lack an extent at once, so that one more try is enough.
  void check_all_bound() const {
    std::vector<Place> unbound;
    bool batch = false;
    std::unordered_set<std::string> seen;
    for (const RawInput& input : inputs_) {
      for (std::size_t axis = 0; axis < input.symbols.size() && !input.value; ++axis) {
        const std::string& symbol = input.symbols[axis];
        if (symbol.empty() || options_.dimensions.contains(symbol)) continue;
        if (derived_.contains(symbol)) continue;
        const bool is_batch = batch_aliases_.contains(symbol);
        batch = batch || (is_batch && !options_.batch);
        if (!is_batch && seen.insert(symbol).second) unbound.push_back({input.name, axis, symbol});
      }
    }
    if (unbound.size() + (batch ? 1 : 0) > 1) report_unbound(unbound, batch);
  }

  [[noreturn]] void report_unbound(const std::vector<Place>& unbound, bool batch) const {
    std::string names, remedy = batch ? "give --batch N" : "give";
    for (const Place& place : unbound) {
      names += fmt::format("{}\"{}\" (of input \"{}\")", names.empty() ? "" : ", ", place.symbol,
                           place.input);
      remedy += fmt::format(" --set-dim {}=N", place.symbol);
    }
    const std::string problem =
        unbound.size() == 1
            ? fmt::format("the batch and the symbolic dimension {} are not bound", names)
            : fmt::format("{} symbolic dimensions{} are not bound: {}", unbound.size(),
                          batch ? " and the batch" : "", names);
    const Place& first = unbound.front();
    throw UnboundDimension(model_.file, "", first.input, static_cast<int>(first.axis), first.symbol,
                           problem, remedy);
  }

  std::int64_t derived_extent(const std::string& symbol, const std::string& input,
                              std::size_t axis) {
    const auto value = evaluated_extent(symbol, [&](const std::string& part) {
      return std::optional(extent_of(part, input, axis));
    });
    if (value && *value >= 0) return result_.dimensions[symbol] = *value;
    fail(axis_place(input, axis), "the extent \"" + symbol + "\" has no value",
         "give other extents");
  }

  std::int64_t extent_of(const std::string& symbol, const std::string& input, std::size_t axis) {
    if (derived_.contains(symbol)) return derived_extent(symbol, input, axis);
    const bool batch = batch_aliases_.contains(symbol);
    const auto given = options_.dimensions.find(symbol);
    std::optional<std::int64_t> bound;
    if (given != options_.dimensions.end()) bound = given->second;
    if (batch && options_.batch) bound = options_.batch;
    if (!bound && batch)
      fail(axis_place(input, axis), "the symbolic dimension \"" + symbol + "\" is not bound",
           "give the batch size with --batch N");
    if (!bound)
      throw UnboundDimension(model_.file, axis_place(input, axis), input, static_cast<int>(axis),
                             symbol);
    if (batch && *bound < 1)
      fail("--set-dim " + symbol, fmt::format("is {}", *bound), "give a batch of at least 1");
    if (batch) result_.batch = *bound;
    result_.dimensions[symbol] = *bound;
    return *bound;
  }

  BoundInput bound(RawInput input) {
    if (input.value) {
      result_.dimensions[input.name] = *input.value;
      return input;
    }
    const bool fixed = batch_symbol_.empty() && !input.weight && input.shape.size() > axis_;
    if (fixed && input.shape[axis_] == result_.file_batch) {
      input.shape[axis_] = result_.batch;
      input.batch_axis = static_cast<int>(axis_);
    }
    for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
      const std::string& symbol = input.symbols[axis];
      if (!symbol.empty()) input.shape[axis] = extent_of(symbol, input.name, axis);
      if (input.batch_axis < 0 && batch_aliases_.contains(symbol))
        input.batch_axis = static_cast<int>(axis);
    }
    if (!element_count(input.shape))
      fail("input \"" + input.name + "\"", "is too large for any machine",
           "check its dimensions and the batch size");
    return input;
  }

  [[noreturn]] void refuse_option(const std::string& name) const {
    std::string known;
    for (const auto& [symbol, extent] : result_.dimensions)
      known += (known.empty() ? "" : ", ") + symbol;
    fail("--set-dim " + name, "the model has no symbolic dimension of this name",
         known.empty() ? "it has none at all; leave the option out" : "it has " + known);
  }

  const Model& model_;
  const Uses& uses_;
  const ImportOptions& options_;
  std::vector<RawInput> inputs_;
  std::vector<std::string> without_rank_;  // inputs
  const std::size_t axis_ = options_.batch_axis;
  std::string batch_symbol_;
  std::unordered_set<std::string> batch_aliases_;
  std::unordered_set<std::string> derived_;  // symbols that are expressions of others
  Binding result_;
};

}  // namespace

Binding bind_inputs(const Model& model, const Uses& uses, const ImportOptions& options) {
  return Binder(model, uses, options).bind();
}

}  // namespace strato::onnx_import
