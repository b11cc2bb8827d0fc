#include "plugins/importers/exported_program/program/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "core/base/error.h"
#include "core/base/extent_expression.h"

namespace strato::exported_program_import {
namespace {

// Symbol('s0', integer=True) and s0 are one symbol; empty: the size is a number or an expression.
std::string lone_symbol(const Size& size) {
  if (size.expression.empty()) return {};
  const std::vector<std::string> symbols = symbols_of(size.expression);
  if (symbols.size() != 1) return {};
  const bool alone = size.expression == symbols[0] || size.expression.starts_with("Symbol(");
  return alone ? symbols[0] : std::string();
}

bool looks_like_batch(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.find("batch") != std::string::npos || name == "bs";
}

// Calls see(name, sizes) for each tensor that is data, until it answers true.
void find_data(const Program& program,
               const std::function<bool(const std::string&, const std::vector<Size>&)>& see) {
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.inputs[i].first != InputKind::Data) continue;
    const auto meta = program.block.tensors.find(program.block.inputs[i]);
    if (meta != program.block.tensors.end() && see(meta->first, meta->second.sizes)) return;
  }
}

struct Place {
  std::string symbol, input;
  int axis = 0;
};

std::vector<Place> symbols_in(const Program& program) {
  std::vector<Place> places;
  std::set<std::string> seen;
  const auto note = [&](const std::string& name, const std::vector<Size>& sizes) {
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
      for (const std::string& symbol : symbols_of(sizes[axis].expression))
        if (seen.insert(symbol).second) places.push_back({symbol, name, static_cast<int>(axis)});
    return false;
  };
  find_data(program, note);
  std::map<std::string, const TensorMeta*> others;  // in one order on every run
  for (const auto& [name, meta] : program.block.tensors) others[name] = &meta;
  for (const auto& [name, meta] : others) note(name, meta->sizes);
  return places;
}

[[noreturn]] void report_unbound(const Program& program, const std::vector<Place>& unbound,
                                 const std::string& batch) {
  const Place& first = unbound.front();
  std::string names, remedy = "give";
  for (const Place& place : unbound) {
    names +=
        fmt::format("{}\"{}\" (of \"{}\")", names.empty() ? "" : ", ", place.symbol, place.input);
    remedy += place.symbol == batch ? std::string(" --batch N")
                                    : fmt::format(" --set-dim {}=N", place.symbol);
  }
  const std::string problem =
      unbound.size() == 1
          ? fmt::format("the symbolic dimension {} is not bound", names)
          : fmt::format("{} symbolic dimensions are not bound: {}", unbound.size(), names);
  throw UnboundDimension(program.file, "", first.input, first.axis, first.symbol, problem, remedy);
}

}  // namespace

Binding::Binding(const Program& program, const ImportOptions& options)
    : program_(program), options_(options) {
  find_batch();
  check_options();
  bind_all();
}

void Binding::find_batch() {
  std::string on_axis;
  std::int64_t built_in = 0;
  find_data(program_, [&](const std::string&, const std::vector<Size>& sizes) {
    for (const Size& size : sizes) {
      const std::string symbol = lone_symbol(size);
      if (batch_symbol_.empty() && looks_like_batch(symbol)) batch_symbol_ = symbol;
    }
    if (sizes.size() <= options_.batch_axis) return false;
    const Size& samples = sizes[options_.batch_axis];
    if (on_axis.empty()) on_axis = lone_symbol(samples);
    if (built_in == 0) built_in = samples.number;
    return false;
  });
  if (batch_symbol_.empty()) batch_symbol_ = on_axis;
  if (batch_symbol_.empty()) batch_ = std::max<std::int64_t>(built_in, 1);
}

void Binding::check_options() const {
  const auto refuse = [this](const std::string& place, const std::string& problem,
                             const std::string& remedy) {
    throw InputError(program_.file, place, problem, remedy);
  };
  if (options_.batch && *options_.batch < 1)
    refuse("--batch", fmt::format("is {}", *options_.batch), "give a batch of at least 1");
  if (options_.batch && batch_symbol_.empty() && *options_.batch != batch_)
    refuse("--batch", fmt::format("is {}, and {} is built in", *options_.batch, batch_),
           fmt::format("give {}, or export the program with a dynamic batch (dynamic_shapes)",
                       batch_));
  const std::vector<Place> symbols = symbols_in(program_);
  for (const auto& [name, extent] : options_.dimensions) {
    const std::string place = "--set-dim " + name;
    if (std::ranges::find(symbols, name, &Place::symbol) == symbols.end())
      refuse(place, "the program has no symbolic dimension of this name",
             symbols.empty() ? "leave it out" : "it has " + symbols[0].symbol);
    if (extent < 0) refuse(place, fmt::format("is {}", extent), "give an extent of 0 or more");
  }
}

void Binding::bind_all() {
  std::vector<Place> unbound;
  for (const Place& place : symbols_in(program_)) {
    std::optional<std::int64_t> value;
    const auto given = options_.dimensions.find(place.symbol);
    if (given != options_.dimensions.end()) value = given->second;
    if (place.symbol == batch_symbol_ && options_.batch) value = *options_.batch;
    if (!value) {
      unbound.push_back(place);
      continue;
    }
    check_range(place.symbol, *value);
    values_[place.symbol] = *value;
    if (place.symbol == batch_symbol_) batch_ = *value;
  }
  if (!unbound.empty()) report_unbound(program_, unbound, batch_symbol_);
  if (batch_ < 1)
    throw InputError(program_.file, "--set-dim " + batch_symbol_, "is 0",
                     "give a batch of at least 1");
}

void Binding::check_range(const std::string& symbol, std::int64_t value) const {
  const auto range = program_.ranges.find(symbol);
  if (range == program_.ranges.end()) return;
  const auto& [least, most] = range->second;
  if (value >= least.value_or(value) && value <= most.value_or(value)) return;
  const bool below = value < least.value_or(value);
  throw InputError(program_.file, symbol, fmt::format("is {}", value),
                   fmt::format("give at {} {}: the program was exported for that",
                               below ? "least" : "most", below ? *least : *most));
}

int Binding::batch_axis(const std::vector<Size>& sizes) const {
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const bool symbolic = !batch_symbol_.empty() && lone_symbol(sizes[axis]) == batch_symbol_;
    const bool built_in = batch_symbol_.empty() && axis == options_.batch_axis &&
                          sizes[axis].expression.empty() && sizes[axis].number == batch_;
    if (symbolic || built_in) return static_cast<int>(axis);
  }
  return -1;
}

std::int64_t Binding::number(const Size& size, const std::string& place) const {
  if (size.expression.empty()) return size.number;
  const auto value = evaluated_extent(size.expression, [this](const std::string& symbol) {
    const auto found = values_.find(symbol);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  });
  if (value) return *value;
  throw InputError(program_.file, place,
                   fmt::format("the size \"{}\" has no value", size.expression.substr(0, 200)),
                   "give other extents");
}

Shape Binding::shape(const TensorMeta& meta, const std::string& tensor) const {
  constexpr double kMost = 1e18;  // elements
  const std::string place = "tensor \"" + tensor + "\"";
  Shape shape;
  double elements = 1;
  for (const Size& size : meta.sizes) {
    shape.push_back(number(size, place));
    elements *= static_cast<double>(std::max<std::int64_t>(shape.back(), 1));
    if (shape.back() < 0 || elements > kMost)
      throw InputError(program_.file, place,
                       "has a negative extent or is too large for any machine",
                       "check the program's dimensions and the batch size");
  }
  return shape;
}

}  // namespace strato::exported_program_import
