#include "core/program/place/tensor_letters.h"

#include <algorithm>
#include <utility>

#include "core/base/at.h"
#include "core/program/place/min_sum.h"

namespace strato {
namespace {

constexpr std::size_t kMostEntries = 20'000;
constexpr std::int64_t kLongest = std::int64_t{1} << 48;  // ns: sums of thousands fit in 64 bits
// How a tensor stands or is needed: this, an axis, or as partial sums (kSumOver and on).
constexpr int kCopy = kAllOf;
constexpr int kKept = -3;  // how a parameter stands: as it is needed

std::int64_t bounded(Nanos time) { return std::clamp<std::int64_t>(time.value, 0, kLongest); }

struct RegionOp {
  OpId id;
  std::vector<LetterSplit> splits;
  int variable = -1;                  // that decides it; -1: it is whole
  bool decided = false;               // the variable is its own
  std::vector<ColumnChoice> choices;  // by the variable's value

  ColumnChoice choice(int value) const { return variable < 0 ? kWholeOp : choices[at(value)]; }
  int made(int value, std::size_t output) const {
    const ColumnChoice chosen = choice(value);
    if (chosen < 0) return kCopy;
    const int axis = splits[at(chosen)].outputs[output];
    return axis == kSummed ? kSumOver + chosen : axis;
  }
  int needed(int value, std::size_t input) const {
    const ColumnChoice chosen = choice(value);
    return chosen < 0 ? kCopy : splits[at(chosen)].inputs[input];
  }
};

// What a tensor costs as it stands, by need.
struct TensorPrices {
  std::int64_t all_reduce = 0, all_gather = 0, reduce_scatter = 0, all_to_all = 0, whole = 0;

  std::int64_t price(int made, int need) const {
    if (made == need) return 0;
    if (need >= kSumOver) return kLongest;  // what stands otherwise is no such partial sum
    if (made == kCopy) return 0;
    if (made == kKept) return need == kCopy ? whole : 0;
    if (need == kCopy) return made >= kSumOver ? all_reduce : all_gather;
    return made >= kSumOver ? reduce_scatter : all_to_all;
  }
};

// Where a tensor comes from: an op that is decided, or (null) it is a parameter.
struct Source {
  const RegionOp* maker = nullptr;
  std::size_t output = 0;
};

// One place where a tensor is read in the region.
struct Read {
  const RegionOp* op = nullptr;
  std::size_t input = 0;
  std::size_t place = 0;  // of the op's variable among those of the tensor's table
};

class Region {
 public:
  Region(const Graph& graph, std::span<const OpId> region, int columns, const ColumnCosts& costs)
      : graph_(graph), costs_(costs), columns_(columns), place_(graph.op_count(), -1) {
    ops_.reserve(region.size());
    for (const OpId id : region) {
      place_[id.index()] = static_cast<int>(ops_.size());
      ops_.push_back({id, letter_splits(graph, id), -1, false, {}});
      decide(ops_.back());
    }
  }

  std::vector<ColumnChoice> choose() const {
    MinSum sum(sizes_, kMostEntries);
    add_computation(sum);
    for (const RegionOp& op : ops_)
      for (std::size_t i = 0; op.variable >= 0 && i < graph_.op(op.id).outputs.size(); ++i)
        add_output(sum, op, i);
    if (costs_.whole_parameter) add_parameters(sum);
    const std::vector<int> values = sum.solve();
    std::vector<ColumnChoice> result;
    for (const RegionOp& op : ops_)
      result.push_back(op.choice(op.variable < 0 ? 0 : values[at(op.variable)]));
    return result;
  }

 private:
  const RegionOp* op_at(OpId id) const {
    return id.valid() && place_[id.index()] >= 0 ? &ops_[at(place_[id.index()])] : nullptr;
  }
  bool is_usable(OpId op, const LetterSplit& split) const {
    return costs_.may_divide ? costs_.may_divide(op, split) : split.extent % columns_ == 0;
  }
  // Partial sums are there only where they are made.
  bool has_its_sums(const RegionOp& op, const LetterSplit& split) const {
    const std::vector<TensorId>& inputs = graph_.op(op.id).inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (split.inputs[i] < kSumOver) continue;
      if (costs_.reads_its_samples && !costs_.reads_its_samples(op.id)) return false;
      const RegionOp* maker = op_at(graph_.tensor(inputs[i]).producer);
      if (maker == nullptr || maker->variable < 0) return false;
    }
    return true;
  }

  // ---- what decides an op

  void decide(RegionOp& op) {
    const Op& of = graph_.op(op.id);
    if (of.phase == Phase::Forward || of.phase == Phase::Loss || of.type == "AddN")
      be_decided(op);
    else if (of.attribute("wrt") != nullptr)
      follow_forward(op, op_at(of.forward));
    else
      follow_input(op);
    if (std::ranges::all_of(op.choices, [](ColumnChoice each) { return each == kWholeOp; }))
      op.variable = -1;
  }

  void be_decided(RegionOp& op) {
    op.choices = {kWholeOp};
    for (std::size_t i = 0; i < op.splits.size(); ++i)
      if (is_usable(op.id, op.splits[i]) && has_its_sums(op, op.splits[i]))
        op.choices.push_back(static_cast<ColumnChoice>(i));
    if (op.choices.size() == 1) return;
    op.decided = true;
    op.variable = static_cast<int>(sizes_.size());
    sizes_.push_back(static_cast<int>(op.choices.size()));
  }

  // The op follows another one: `fits` tells which split goes with each of its choices.
  template <class Fits>
  void follow(RegionOp& op, const RegionOp* leader, Fits fits) {
    if (leader == nullptr || leader->variable < 0) return;
    op.variable = leader->variable;
    for (int value = 0; value < sizes_[at(op.variable)]; ++value) {
      const auto found = std::ranges::find_if(op.splits, [&](const LetterSplit& split) {
        return is_usable(op.id, split) && fits(split, value);
      });
      op.choices.push_back(found == op.splits.end()
                               ? kWholeOp
                               : static_cast<ColumnChoice>(found - op.splits.begin()));
    }
  }

  void follow_forward(RegionOp& op, const RegionOp* forward) {
    follow(op, forward, [&](const LetterSplit& split, int value) {
      const ColumnChoice chosen = forward->choice(value);
      return chosen >= 0 && forward->splits[at(chosen)].letter == split.letter;
    });
  }

  void follow_input(RegionOp& op) {
    const std::vector<TensorId>& inputs = graph_.op(op.id).inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const RegionOp* maker =
          inputs[i].valid() ? op_at(graph_.tensor(inputs[i]).producer) : nullptr;
      if (maker == nullptr) continue;
      const std::size_t output = output_of(*maker, inputs[i]);
      follow(op, maker, [&](const LetterSplit& split, int value) {
        const int made = maker->made(value, output);
        return made >= 0 && split.inputs[i] == made;
      });
      return;
    }
  }

  std::size_t output_of(const RegionOp& op, TensorId tensor) const {
    const std::vector<TensorId>& outputs = graph_.op(op.id).outputs;
    return static_cast<std::size_t>(std::ranges::find(outputs, tensor) - outputs.begin());
  }

  // ---- costs

  void add_computation(MinSum& sum) const {
    std::vector<CostTable> tables(sizes_.size());
    for (std::size_t i = 0; i < tables.size(); ++i)
      tables[i] = {{static_cast<int>(i)}, std::vector<RankedCost>(at(sizes_[i]))};
    for (const RegionOp& op : ops_) {
      if (op.variable < 0) continue;
      const std::int64_t whole = graph_.op(op.id).view ? 0 : bounded(costs_.compute(op.id));
      std::vector<RankedCost>& table = tables[at(op.variable)].costs;
      for (std::size_t value = 0; value < table.size(); ++value) {
        const ColumnChoice choice = op.choices[value];
        table[value] +=
            {choice >= 0 ? whole / columns_ : whole, op.decided && choice != kWholeOp ? 1 : 0};
      }
    }
    for (CostTable& table : tables) sum.add(std::move(table));
  }

  void add_output(MinSum& sum, const RegionOp& maker, std::size_t output) const {
    const TensorId tensor = graph_.op(maker.id).outputs[output];
    const std::span<const OpId> readers = graph_.consumers(tensor);
    if (readers.empty()) return;
    const TensorPrices prices = {
        bounded(costs_.all_reduce(tensor)), bounded(costs_.all_gather(tensor)),
        bounded(costs_.reduce_scatter(tensor)), bounded(costs_.all_to_all(tensor))};
    const bool leaves = std::ranges::any_of(readers, [&](OpId id) { return op_at(id) == nullptr; });
    add_tensor(sum, {&maker, output}, prices, reads_of(tensor), leaves);
  }

  void add_parameters(MinSum& sum) const {
    for (const TensorId id : graph_.tensors().ids()) {
      if (graph_.tensor(id).role != TensorRole::Parameter) continue;
      const std::vector<Read> reads = reads_of(id);
      if (!reads.empty())
        add_tensor(sum, {}, {.whole = bounded(costs_.whole_parameter(id))}, reads, false);
    }
  }

  std::vector<Read> reads_of(TensorId tensor) const {
    std::vector<Read> reads;
    for (const OpId id : graph_.consumers(tensor)) {
      const RegionOp* reader = op_at(id);
      const std::vector<TensorId>& inputs = graph_.op(id).inputs;
      for (std::size_t i = 0; reader != nullptr && i < inputs.size(); ++i)
        if (inputs[i] == tensor) reads.push_back({reader, i});
    }
    return reads;
  }

  void add_tensor(MinSum& sum, const Source& source, const TensorPrices& prices,
                  const std::vector<Read>& reads, bool leaves) const {
    if (add_together(sum, source, prices, reads, leaves)) return;
    for (const Read& read : reads) add_together(sum, source, prices, {read}, false);
    if (leaves) add_together(sum, source, prices, {}, true);
  }

  // Adds what all these readers together pay for a tensor. Returns false when that is too much for
  // a table.
  bool add_together(MinSum& sum, const Source& source, const TensorPrices& prices,
                    std::vector<Read> reads, bool leaves) const {
    CostTable table;
    if (source.maker != nullptr) table.variables.push_back(source.maker->variable);
    for (const Read& read : reads)
      if (read.op->variable >= 0) table.variables.push_back(read.op->variable);
    std::ranges::sort(table.variables);
    table.variables.erase(std::unique(table.variables.begin(), table.variables.end()),
                          table.variables.end());
    const std::size_t entries = sum.entries(table.variables);
    if (entries > sum.most_entries()) return false;
    for (Read& read : reads) read.place = place_in(table.variables, read.op->variable);
    const std::size_t own = source.maker ? place_in(table.variables, source.maker->variable) : 0;
    std::vector<int> values(table.variables.size(), 0);
    bool costs = false;
    for (std::size_t entry = 0; entry < entries; ++entry) {
      const int made = source.maker ? source.maker->made(values[own], source.output) : kKept;
      table.costs.push_back({paid(prices, made, reads, leaves, values), 0});
      costs = costs || table.costs.back().cost > 0;
      for (std::size_t i = values.size(); i-- > 0;) {
        if (++values[i] < sizes_[at(table.variables[i])]) break;
        values[i] = 0;
      }
    }
    if (costs && !table.variables.empty()) sum.add(std::move(table));
    return true;
  }

  static std::size_t place_in(const std::vector<int>& variables, int variable) {
    return static_cast<std::size_t>(std::ranges::lower_bound(variables, variable) -
                                    variables.begin());
  }

  // Each need is paid once.
  std::int64_t paid(const TensorPrices& prices, int made, const std::vector<Read>& reads,
                    bool leaves, const std::vector<int>& values) const {
    constexpr int kBits = 32;  // the copy and the axes, then sums
    std::uint64_t paid_needs = leaves ? 1 : 0;
    std::int64_t cost = leaves ? prices.price(made, kCopy) : 0;
    for (const Read& read : reads) {
      const int value = read.op->variable < 0 ? 0 : values[read.place];
      const int need = read.op->needed(value, read.input);
      const std::uint64_t bit = std::uint64_t{1}
                                << (need >= kSumOver ? kBits + need - kSumOver : need - kCopy);
      if ((paid_needs & bit) == 0) cost += prices.price(made, need);
      paid_needs |= bit;
    }
    return cost;
  }

  const Graph& graph_;
  const ColumnCosts& costs_;
  int columns_;
  std::vector<int> place_;  // by op of the graph: in ops_, or -1
  std::vector<RegionOp> ops_;
  std::vector<int> sizes_;  // by variable
};

}  // namespace

std::vector<ColumnChoice> choose_columns(const Graph& graph, std::span<const OpId> region,
                                         int columns, const ColumnCosts& costs) {
  if (columns < 2) return std::vector<ColumnChoice>(region.size(), kWholeOp);
  return Region(graph, region, columns, costs).choose();
}

}  // namespace strato
