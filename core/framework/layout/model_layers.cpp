#include "core/framework/layout/model_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/program/value/recompute.h"
#include "core/program/value/tables.h"

namespace strato::frameworks {
namespace {

struct NumberedName {
  std::string_view stack;  // all in front of "layers"
  std::int32_t number;
};

bool is_word_of_layers(std::string_view word) {
  static constexpr std::array<std::string_view, 5> kWords = {"layers", "layer", "h", "block",
                                                             "blocks"};
  return std::ranges::find(kWords, word) != kWords.end();
}

// The first such word with a number behind it.
std::optional<NumberedName> numbered(std::string_view name) {
  constexpr std::int32_t kMostLayers = 1'000'000;
  constexpr std::string_view kBorders = "./";
  std::size_t begin = 0;
  while (begin < name.size()) {
    const std::size_t end = name.find_first_of(kBorders, begin);
    if (end == std::string_view::npos) break;
    if (is_word_of_layers(name.substr(begin, end - begin))) {
      const std::string_view rest = name.substr(end + 1);
      const auto number =
          number_from<std::int32_t>(rest.substr(0, rest.find_first_of(kBorders)), 0, kMostLayers);
      if (number) return NumberedName{name.substr(0, begin), *number};
    }
    begin = end + 1;
  }
  return std::nullopt;
}

bool is_computed_forward(const Op& op) {
  return op.phase == Phase::Forward || op.phase == Phase::Loss;
}

class PlaceFinder {
 public:
  explicit PlaceFinder(const Graph& graph) : graph_(graph), place_(graph.op_count(), -1) {}

  ModelLayers find() && {
    count_layers();
    for (const OpId op : graph_.ops().ids())
      if (is_computed_forward(graph_.op(op))) place_[op.index()] = forward_place(op);
    place_what_reads_no_samples();
    for (const OpId op : graph_.ops().ids())
      if (place_[op.index()] < 0) place_[op.index()] = backward_place(op);
    const bool tied = is_tied();
    return {std::move(place_), count_, tied};
  }

 private:
  void count_layers() {
    std::set<std::string_view> stacks;
    for (const Op& op : graph_.ops()) {
      if (!is_computed_forward(op)) continue;
      const auto name = numbered(op.name);
      if (!name) continue;
      stacks.insert(name->stack);
      count_ = std::max(count_, name->number + 1);
    }
    if (stacks.empty())
      throw InputError("", "", "no layers are numbered in the names of the model's ops",
                       "give a transformer, such as a config.json of Hugging Face");
    if (stacks.size() > 1)
      throw InputError("", "",
                       fmt::format("the model has several stacks of layers (\"{}\", \"{}\")",
                                   *stacks.begin(), *std::next(stacks.begin())),
                       "give a model of one, which has no encoder beside its decoder");
  }

  std::int32_t forward_place(OpId op) const {
    if (const auto name = numbered(graph_.op(op).name)) return name->number + 1;
    std::int32_t before = 0;
    for (const TensorId input : graph_.op(op).inputs)
      if (input.valid() && graph_.tensor(input).producer.valid())
        before = std::max(before, place_[graph_.tensor(input).producer.index()]);
    return before == count_ ? count_ + 1 : before;
  }

  bool reads_samples(OpId op) const {
    return std::ranges::any_of(graph_.op(op).inputs, [&](TensorId input) {
      return input.valid() && (graph_.tensor(input).producer.valid() ||
                               graph_.tensor(input).role == TensorRole::Input);
    });
  }

  // What is made of parameters alone (casts) is where its first reader is.
  void place_what_reads_no_samples() {
    for (std::size_t i = graph_.op_count(); i-- > 0;) {
      const Op& op = graph_.op(OpId(i));
      if (!is_computed_forward(op) || numbered(op.name) || reads_samples(OpId(i))) continue;
      std::int32_t first = std::numeric_limits<std::int32_t>::max();
      for (const TensorId output : op.outputs)
        for (const OpId reader : graph_.consumers(output))
          if (is_computed_forward(graph_.op(reader)))
            first = std::min(first, place_[reader.index()]);
      if (first < std::numeric_limits<std::int32_t>::max()) place_[i] = first;
    }
  }

  std::int32_t backward_place(OpId op) const {
    const OpId forward = graph_.op(op).forward;
    if (forward.valid()) return place_[forward.index()];
    for (const TensorId input : graph_.op(op).inputs)
      if (input.valid() && graph_.tensor(input).producer.valid())
        return place_[graph_.tensor(input).producer.index()];
    return 0;
  }

  // Does what is behind the layers read what is in front of them, past all layers?
  bool is_tied() const {
    std::set<TensorId> in_front;
    const auto parameters_at = [&](std::int32_t place, const auto& use) {
      for (const OpId op : graph_.ops().ids()) {
        if (!is_computed_forward(graph_.op(op)) || place_[op.index()] != place) continue;
        for (const TensorId input : graph_.op(op).inputs)
          if (input.valid() &&
              (graph_.tensor(input).role == TensorRole::Parameter || is_made_of_a_parameter(input)))
            use(input);
      }
    };
    parameters_at(0, [&](TensorId tensor) { in_front.insert(tensor); });
    bool tied = false;
    parameters_at(count_ + 1, [&](TensorId tensor) { tied |= in_front.contains(tensor); });
    return tied;
  }
  bool is_made_of_a_parameter(TensorId tensor) const {
    const OpId producer = graph_.tensor(tensor).producer;
    return producer.valid() && !reads_samples(producer);
  }

  const Graph& graph_;
  std::vector<std::int32_t> place_;
  std::int32_t count_ = 0;
};

}  // namespace

ModelLayers model_layers(const Graph& graph) { return PlaceFinder(graph).find(); }

std::vector<OpId> recomputed_layers(const Graph& graph, const ModelLayers& layers) {
  std::set<OpId> handed_on;
  for (const OpId op : graph.ops().ids()) {
    if (!is_computed_forward(graph.op(op))) continue;
    for (const TensorId input : graph.op(op).inputs) {
      const OpId producer = input.valid() ? graph.tensor(root_of(graph, input)).producer : OpId();
      if (producer.valid() && layers.place_of[producer.index()] != layers.place_of[op.index()])
        handed_on.insert(producer);
    }
  }
  std::vector<OpId> result;
  for (const OpId op : graph.ops().ids()) {
    const std::int32_t place = layers.place_of[op.index()];
    if (place >= 1 && place <= layers.count && may_recompute(graph, op) && !handed_on.contains(op))
      result.push_back(op);
  }
  return result;
}

std::vector<Block> balanced_blocks(const ModelLayers& layers, std::span<const Nanos> work,
                                   std::span<const double> speeds) {
  CHECK(!speeds.empty() && speeds.size() <= at(layers.count), "blocks without a layer");
  std::vector<double> done(at(layers.count) + 2, 0);  // by place, with all in front of it
  for (std::size_t op = 0; op < work.size(); ++op)
    done[at(layers.place_of[op])] += static_cast<double>(work[op].value);
  std::partial_sum(done.begin(), done.end(), done.begin());
  const double each = done.back() / std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::vector<Block> blocks;
  double target = 0;
  std::int32_t first = 0;  // layers of the blocks before
  for (std::size_t b = 0; b < speeds.size(); ++b) {
    target += each * speeds[b];
    const auto others = static_cast<std::int32_t>(speeds.size() - b) - 1;  // each gets a layer
    std::int32_t end = first + 1;
    const auto off = [&](std::int32_t cut) { return std::abs(done[at(cut)] - target); };
    while (end < layers.count - others && off(end + 1) <= off(end)) ++end;
    if (others == 0) end = layers.count;
    blocks.push_back({.embedding = b == 0, .layers = end - first, .head = others == 0});
    first = end;
  }
  return blocks;
}

std::vector<std::int32_t> block_of_ops(const ModelLayers& layers, std::span<const Block> blocks) {
  std::vector<std::int32_t> block_of_place;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::int32_t places =
        (blocks[b].embedding ? 1 : 0) + blocks[b].layers + (blocks[b].head ? 1 : 0);
    block_of_place.insert(block_of_place.end(), at(places), static_cast<std::int32_t>(b));
  }
  CHECK(block_of_place.size() == at(layers.count) + 2, "blocks have all of a model's layers");
  std::vector<std::int32_t> block_of;
  block_of.reserve(layers.place_of.size());
  for (const std::int32_t place : layers.place_of) block_of.push_back(block_of_place[at(place)]);
  return block_of;
}

}  // namespace strato::frameworks
