#include "core/program/place/tensor_letters.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/random.h"
#include "core/graph/train/training_graph.h"
#include "core/program/place/min_sum.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

// ---- what choices cost, reckoned op by op

enum class Reshard { AllReduce, AllGather, ReduceScatter, AllToAll };

struct Bill {
  std::int64_t time = 0;
  std::map<std::string, std::multiset<Reshard>> reshards;  // by tensor
};

class Checker {
 public:
  Checker(const Graph& graph, std::vector<OpId> region, int columns, const ColumnCosts& costs)
      : graph_(graph), region_(std::move(region)), columns_(columns), costs_(costs) {
    for (std::size_t i = 0; i < region_.size(); ++i) {
      index_[region_[i].value()] = i;
      splits_.push_back(letter_splits(graph, region_[i]));
    }
  }

  std::vector<ColumnChoice> usable(std::size_t i) const {
    std::vector<ColumnChoice> result = {kWholeOp};
    const std::vector<TensorId>& inputs = graph_.op(region_[i]).inputs;
    const auto has_sums = [&](const LetterSplit& split) {
      for (std::size_t j = 0; j < inputs.size(); ++j)
        if (split.inputs[j] >= kSumOver && !is_made_here(inputs[j])) return false;
      return true;
    };
    for (std::size_t s = 0; s < splits_[i].size(); ++s)
      if (splits_[i][s].extent % columns_ == 0 && has_sums(splits_[i][s]))
        result.push_back(static_cast<ColumnChoice>(s));
    return result;
  }
  bool is_decided(std::size_t i) const {
    const Phase phase = graph_.op(region_[i]).phase;
    return phase == Phase::Forward || phase == Phase::Loss || is_sum(i);
  }
  bool is_sum(std::size_t i) const { return graph_.op(region_[i]).type == "AddN"; }

  // The choices of ops that are not decided, from those that are.
  void follow(std::vector<ColumnChoice>& choices) const {
    for (std::size_t i = 0; i < region_.size(); ++i) {
      if (is_decided(i)) continue;
      const Op& op = graph_.op(region_[i]);
      choices[i] = kWholeOp;
      char letter = 0;
      if (op.attribute("wrt") != nullptr) {
        const auto forward = index_.find(op.forward.value());
        if (forward == index_.end() || choices[forward->second] < 0) continue;
        letter = split(forward->second, choices).letter;
      } else {
        for (std::size_t j = 0; j < op.inputs.size() && letter == 0; ++j) {
          if (!is_made_here(op.inputs[j])) continue;
          for (const ColumnChoice each : usable(i))
            if (each >= 0 && splits_[i][std::size_t(each)].inputs[j] >= 0 &&
                splits_[i][std::size_t(each)].inputs[j] == stands(op.inputs[j], choices))
              letter = splits_[i][std::size_t(each)].letter;
          break;
        }
      }
      for (const ColumnChoice each : usable(i))
        if (each >= 0 && splits_[i][std::size_t(each)].letter == letter) choices[i] = each;
    }
  }

  Bill bill(const std::vector<ColumnChoice>& choices) const {
    Bill bill;
    std::map<std::int32_t, std::set<int>> needs;  // by tensor
    std::set<std::int32_t> whole_parameters;
    for (std::size_t i = 0; i < graph_.op_count(); ++i) {
      const Op& op = graph_.op(OpId(i));
      const auto inside = index_.find(OpId(i).value());
      const bool whole = inside == index_.end() || choices[inside->second] < 0;
      for (std::size_t j = 0; j < op.inputs.size(); ++j) {
        if (!op.inputs[j].valid()) continue;
        const int need = whole ? kAllOf : split(inside->second, choices).inputs[j];
        if (is_made_here(op.inputs[j])) needs[op.inputs[j].value()].insert(need);
        if (inside != index_.end() && need == kAllOf && costs_.whole_parameter != nullptr &&
            graph_.tensor(op.inputs[j]).role == TensorRole::Parameter)
          whole_parameters.insert(op.inputs[j].value());
      }
      if (inside == index_.end() || op.view) continue;
      bill.time += costs_.compute(OpId(i)).value / (whole ? 1 : columns_);
    }
    for (const std::int32_t parameter : whole_parameters)
      bill.time += costs_.whole_parameter(TensorId(std::size_t(parameter))).value;
    for (const auto& [tensor, all] : needs)
      for (const int need : all) pay(bill, TensorId(std::size_t(tensor)), need, choices);
    return bill;
  }

  std::int64_t least() const {
    std::vector<ColumnChoice> choices(region_.size(), kWholeOp);
    std::int64_t best = INT64_MAX;
    enumerate(0, choices, best);
    return best;
  }

 private:
  const LetterSplit& split(std::size_t i, const std::vector<ColumnChoice>& choices) const {
    return splits_[i][std::size_t(choices[i])];
  }
  bool is_made_here(TensorId tensor) const {
    return tensor.valid() && index_.contains(graph_.tensor(tensor).producer.value());
  }
  int stands(TensorId tensor, const std::vector<ColumnChoice>& choices) const {
    const OpId maker = graph_.tensor(tensor).producer;
    const std::size_t i = index_.at(maker.value());
    if (choices[i] < 0) return kAllOf;
    const auto& outputs = graph_.op(maker).outputs;
    const int axis =
        split(i, choices)
            .outputs[std::size_t(std::ranges::find(outputs, tensor) - outputs.begin())];
    return axis == kSummed ? kSumOver + choices[i] : axis;
  }
  void pay(Bill& bill, TensorId tensor, int need, const std::vector<ColumnChoice>& choices) const {
    const int made = stands(tensor, choices);
    if (made == need) return;
    if (need >= kSumOver) bill.time += std::int64_t{1} << 48;
    if (made == kAllOf || need >= kSumOver) return;
    const auto add = [&](Reshard kind, const std::function<Nanos(TensorId)>& price) {
      bill.reshards[graph_.tensor(tensor).name].insert(kind);
      bill.time += price(tensor).value;
    };
    if (made >= kSumOver)
      need == kAllOf ? add(Reshard::AllReduce, costs_.all_reduce)
                     : add(Reshard::ReduceScatter, costs_.reduce_scatter);
    else
      need < 0 ? add(Reshard::AllGather, costs_.all_gather)
               : add(Reshard::AllToAll, costs_.all_to_all);
  }
  void enumerate(std::size_t i, std::vector<ColumnChoice>& choices, std::int64_t& best) const {
    while (i < region_.size() && !is_decided(i)) ++i;
    if (i == region_.size()) {
      follow(choices);
      best = std::min(best, bill(choices).time);
      return;
    }
    for (const ColumnChoice each : usable(i)) {
      choices[i] = each;
      enumerate(i + 1, choices, best);
    }
  }

  const Graph& graph_;
  std::vector<OpId> region_;
  int columns_;
  const ColumnCosts& costs_;
  std::map<std::int32_t, std::size_t> index_;
  std::vector<std::vector<LetterSplit>> splits_;
};

std::vector<OpId> all_ops(const Graph& graph) {
  std::vector<OpId> result;
  for (const OpId id : graph.ops().ids()) result.push_back(id);
  return result;
}

// A FLOP takes 1 / `flops` ns, a byte 1 ns and each collective `latency` ns.
ColumnCosts plain_costs(const Graph& graph, double flops, std::int64_t latency) {
  const auto moved = [&graph, latency](TensorId tensor) {
    return Nanos(latency + graph.tensor(tensor).bytes().value);
  };
  return {[&graph, flops](OpId op) { return Nanos(std::int64_t(graph.op(op).work.flops / flops)); },
          moved, moved, moved, moved};
}

// ---- transformers

constexpr std::int64_t kSamples = 2, kPositions = 16, kHeads = 8, kHeadSize = 8, kModel = 64;

TensorId biased(ModelKit& kit, TensorId x, const std::string& name, std::int64_t in,
                std::int64_t out) {
  return kit.op("Add", {kit.op("MatMul", {x, kit.weight(name, {in, out})}),
                        kit.weight(name + "_bias", {out})});
}

TensorId normalised(ModelKit& kit, TensorId x) {
  return kit.op("LayerNormalization", {x, kit.weight("g", {kModel}), kit.weight("h", {kModel})});
}

TensorId transformer_block(ModelKit& kit, TensorId x, TensorId mask = {}, bool before = false) {
  const auto in = [&](TensorId of) { return before ? normalised(kit, of) : of; };
  const auto out = [&](TensorId of) { return before ? of : normalised(kit, of); };
  const TensorId read = in(x);
  const auto heads = [&](const char* name, std::vector<std::int64_t> order) {
    const TensorId columns = biased(kit, read, name, kModel, kModel);
    const TensorId split = kit.reshape(columns, {kSamples, kPositions, kHeads, kHeadSize});
    return kit.transpose(split, std::move(order));
  };
  const TensorId q = heads("q", {0, 2, 1, 3}), k = heads("k", {0, 2, 3, 1});
  TensorId scores = kit.op("MatMul", {q, k});
  if (mask.valid()) scores = kit.op("Add", {scores, mask});
  const TensorId shares = kit.op("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const TensorId values = kit.op("MatMul", {shares, heads("v", {0, 2, 1, 3})});
  const TensorId merged =
      kit.reshape(kit.transpose(values, {0, 2, 1, 3}), {kSamples, kPositions, kModel});
  x = out(kit.op("Add", {x, biased(kit, merged, "o", kModel, kModel)}));
  const TensorId inner = kit.op("Gelu", {biased(kit, in(x), "up", kModel, 4 * kModel)});
  return out(kit.op("Add", {x, biased(kit, inner, "down", 4 * kModel, kModel)}));
}

Graph transformer(int blocks, bool masked = false) {
  ModelKit kit(kSamples);
  TensorId x = normalised(kit, kit.input("x", {kSamples, kPositions, kModel})), mask;
  if (masked)
    mask = kit.op("Mul", {kit.op("Not", {kit.input("hidden", {kSamples, 1, 1, kPositions})}),
                          kit.tensor("never", TensorRole::Constant, {1})});
  for (int i = 0; i < blocks; ++i) x = transformer_block(kit, x, mask);
  return make_training_graph(kit.build(), Optimizer::Adam);
}

std::size_t op_index(const Graph& graph, std::string_view type) {
  return static_cast<std::size_t>(&only(graph, type) - &graph.op(OpId(0)));
}

// The letter of each product with weights, by the weights' name.
std::map<std::string, char> letters_of_products(const Graph& graph,
                                                const std::vector<ColumnChoice>& choices) {
  std::map<std::string, char> result;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.op(OpId(i));
    if (op.type != "MatMul" || graph.tensor(op.inputs[1]).role != TensorRole::Parameter) continue;
    result[graph.tensor(op.inputs[1]).name] =
        choices[i] < 0 ? '-' : letter_splits(graph, OpId(i))[std::size_t(choices[i])].letter;
  }
  return result;
}

// Shoeybi et al. 2019, 3: columns, then rows; two all-reduces forward, of the two results that
// residuals are added to. Backward there is a copy, the residual's gradient, among what q, k and v
// add up to: each is reduced.
TEST(TensorLetters, TransformerBlockIsMegatrons) {
  const Graph graph = transformer(1);
  const ColumnCosts costs = plain_costs(graph, 10, 100);
  const auto choices = choose_columns(graph, all_ops(graph), 4, costs);
  const std::map<std::string, char> megatron = {{"q", 'n'}, {"k", 'n'},  {"v", 'n'},
                                                {"o", 'k'}, {"up", 'n'}, {"down", 'k'}};
  EXPECT_EQ(letters_of_products(graph, choices), megatron);

  const Bill bill = Checker(graph, all_ops(graph), 4, costs).bill(choices);
  std::vector<std::string> forward, backward;
  for (const auto& [tensor, kinds] : bill.reshards) {
    EXPECT_EQ(kinds, (std::multiset<Reshard>{Reshard::AllReduce})) << tensor;
    const bool is_gradient = tensor_named(graph, tensor).role == TensorRole::Gradient;
    (is_gradient ? backward : forward).push_back(tensor);
  }
  EXPECT_EQ(forward.size(), 2U);
  EXPECT_EQ(backward.size(), 4U);
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.op(OpId(i));
    const bool is_divided = choices[i] != kWholeOp;
    // What is kept of a divided weight is updated in parts.
    for (const char* name : {"q/update", "down/update", "up_bias/update"})
      EXPECT_TRUE(op.name != name || is_divided) << name;
    for (const char* type : {"Softmax", "SoftmaxGrad", "Gelu", "GeluGrad"})
      EXPECT_TRUE(op.type != type || is_divided) << op.name;
    const bool is_copy = op.name == "down_bias/update" || op.type == "LayerNormalization";
    EXPECT_FALSE(is_copy && is_divided) << op.name;
  }
}

// Normalised before, as GPT and Llama are: what q, k and v add up to is a sum of partial sums,
// which is reduced once. Two all-reduces each way, as Megatron has it.
TEST(TensorLetters, GradientsOfWhatIsReadThriceAreReducedOnce) {
  ModelKit kit(kSamples);
  TensorId x = kit.input("x", {kSamples, kPositions, kModel});
  x = kit.op("Mul", {x, kit.weight("scale", {kModel})});  // so that a gradient leaves the block
  x = transformer_block(kit, x, {}, true);
  const Graph graph = make_training_graph(kit.build(), Optimizer::Adam);
  const ColumnCosts costs = plain_costs(graph, 10, 100);
  const auto choices = choose_columns(graph, all_ops(graph), 4, costs);
  const Bill bill = Checker(graph, all_ops(graph), 4, costs).bill(choices);
  int forward = 0, backward = 0;
  for (const auto& [tensor, kinds] : bill.reshards) {
    EXPECT_EQ(kinds, (std::multiset<Reshard>{Reshard::AllReduce})) << tensor;
    ++(tensor_named(graph, tensor).role == TensorRole::Gradient ? backward : forward);
  }
  EXPECT_EQ(forward, 2);
  EXPECT_EQ(backward, 2);
}

// A model of language: each column has a part of the vocabulary, and of its scores. What is reduced
// are two numbers for each block of words (Shoeybi et al. 2019, 3); the scores stay where they are.
TEST(TensorLetters, ScoresOfAVocabularyStayDivided) {
  constexpr std::int64_t kWords = 8192;
  for (const bool tied : {false, true}) {
    ModelKit kit(kSamples);
    const TensorId table = kit.weight("table", {kWords, kModel});
    TensorId x = kit.op("Gather", {table, kit.input("ids", {kSamples, kPositions}, DataType::I64)});
    x = normalised(kit, x);
    if (tied)
      kit.op("FusedMatMul", {x, table}, {{"transB", std::int64_t{1}}});
    else
      kit.op("MatMul", {x, kit.weight("head", {kModel, kWords})});
    const Graph graph = make_training_graph(kit.build(), Optimizer::Adam);
    ColumnCosts costs = plain_costs(graph, 10, 100);
    costs.whole_parameter = [&](TensorId tensor) {
      return Nanos(graph.tensor(tensor).bytes().value);
    };
    const auto choices = choose_columns(graph, all_ops(graph), 4, costs);
    for (const char* type : {"BlockLogSumExp", "BlockLogSumExpGrad", "Gather", "GatherGrad"})
      EXPECT_NE(choices[op_index(graph, type)], kWholeOp) << type;
    const Bill bill = Checker(graph, all_ops(graph), 4, costs).bill(choices);
    int gathered = 0;
    for (const auto& [tensor, kinds] : bill.reshards) {
      const bool of_loss = tensor.find("/loss/") != std::string::npos;
      EXPECT_NE(tensor_named(graph, tensor).shape.back(), kWords) << tensor;
      EXPECT_TRUE(!of_loss || kinds == std::multiset<Reshard>{Reshard::AllGather}) << tensor;
      gathered += of_loss ? 1 : 0;
    }
    EXPECT_EQ(gathered, 2);
  }
}

TEST(TensorLetters, EveryBlockAlike) {
  const Graph graph = transformer(3, true);
  const auto choices = choose_columns(graph, all_ops(graph), 8, plain_costs(graph, 10, 100));
  std::map<char, int> counts;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.op(OpId(i));
    if (op.type != "MatMul" || graph.tensor(op.inputs[1]).role != TensorRole::Parameter) continue;
    ++counts[choices[i] < 0 ? '-' : letter_splits(graph, OpId(i))[std::size_t(choices[i])].letter];
  }
  EXPECT_EQ(counts, (std::map<char, int>{{'n', 12}, {'k', 6}}));
}

// A reduce-scatter and an all-gather cost what an all-reduce does: where nothing is computed faster
// for it, what lies between them stays a copy; where it is, the sequence is divided (Korthikanti et
// al. 2022, 4.2.2).
TEST(TensorLetters, CopiesAreBetterThanSlicesThatGainNothing) {
  ModelKit kit(kSamples);
  const auto product = [&](TensorId x, const char* name, std::int64_t in, std::int64_t out) {
    return kit.op("MatMul", {x, kit.weight(name, {in, out})});
  };
  TensorId x = kit.input("x", {kSamples, kPositions, kModel});
  x = product(kit.op("Relu", {product(x, "a", kModel, 256)}), "b", 256, kModel);
  x = normalised(kit, x);
  product(kit.op("Relu", {product(x, "c", kModel, 256)}), "d", 256, kModel);
  const Graph graph = kit.build();
  for (const bool gains : {false, true}) {
    ColumnCosts costs = plain_costs(graph, 10, 0);
    costs.all_reduce = [&](TensorId tensor) {
      return Nanos(2 * graph.tensor(tensor).bytes().value);
    };
    costs.whole_parameter = [](TensorId) { return Nanos(1'000'000); };
    costs.compute = [&](OpId id) {
      const bool counts = gains || graph.op(id).family == OpFamily::MatMul;
      return Nanos(counts ? std::int64_t(graph.op(id).work.flops / 10) : 0);
    };
    const auto choices = choose_columns(graph, all_ops(graph), 4, costs);
    EXPECT_EQ(letters_of_products(graph, choices),
              (std::map<std::string, char>{{"a", 'n'}, {"b", 'k'}, {"c", 'n'}, {"d", 'k'}}));
    for (std::size_t i = 0; i < graph.op_count(); ++i)
      EXPECT_TRUE(graph.op(OpId(i)).type != "LayerNormalization" ||
                  (choices[i] != kWholeOp) == gains);
  }
}

// Without backward pass, products by rows need no communication at all: each column has its share
// of the positions, and all weights. It is the price of whole weights that makes columns hold
// parts.
TEST(TensorLetters, WholeParametersHaveAPrice) {
  ModelKit kit(kSamples);
  kit.op("MatMul", {kit.input("x", {kSamples, kPositions, kModel}), kit.weight("w", {kModel, 4})});
  const Graph graph = kit.build();
  ColumnCosts costs = plain_costs(graph, 10, 100);
  const auto letter = [&] {
    return letters_of_products(graph, choose_columns(graph, all_ops(graph), 4, costs))["w"];
  };
  EXPECT_EQ(letter(), 'k');  // the first of three that cost the same
  costs.whole_parameter = [](TensorId) { return Nanos(1); };
  EXPECT_NE(letter(), 'm');
  costs.whole_parameter = nullptr;
  costs.compute = [](OpId) { return Nanos(0); };
  EXPECT_EQ(letter(), '-');
  costs.whole_parameter = [](TensorId) { return Nanos(1); };
  EXPECT_EQ(letter(), 'k');
}

TEST(TensorLetters, NothingIsDividedWhereMovingCostsMore) {
  const Graph graph = transformer(1);
  ColumnCosts costs = plain_costs(graph, 1e9, 1'000'000);
  for (const ColumnChoice choice : choose_columns(graph, all_ops(graph), 4, costs))
    EXPECT_EQ(choice, kWholeOp);
  // Three columns divide no head and no width.
  costs = plain_costs(graph, 1, 0);
  for (const ColumnChoice choice : choose_columns(graph, all_ops(graph), 3, costs))
    EXPECT_EQ(choice, kWholeOp);
}

// What is read outside of the region has to be whole; what comes from there costs nothing.
TEST(TensorLetters, RegionsEndInCopies) {
  ModelKit kit(4);
  TensorId x = kit.op("Relu", {kit.input("x", {4, 8})});
  x = kit.op("Gemm", {x, kit.weight("w", {8, 8})});
  kit.op("Gemm", {kit.op("Relu", {x}), kit.weight("v", {8, 8})});
  const Graph graph = kit.build();
  ColumnCosts costs = plain_costs(graph, 1, 0);
  const std::vector<OpId> region = {OpId(1), OpId(2)};
  EXPECT_EQ(choose_columns(graph, region, 4, costs), (std::vector<ColumnChoice>{1, 0}));
  costs.all_gather = [](TensorId) { return Nanos(10'000); };
  EXPECT_EQ(choose_columns(graph, region, 4, costs), (std::vector<ColumnChoice>{0, kWholeOp}));
  costs.all_reduce = costs.all_gather;
  EXPECT_EQ(choose_columns(graph, region, 4, costs),
            (std::vector<ColumnChoice>{kWholeOp, kWholeOp}));
  EXPECT_EQ(choose_columns(graph, {}, 4, costs), std::vector<ColumnChoice>());
}

// ---- against all choices

Graph random_graph(Random& random, int ops) {
  ModelKit kit(2);
  std::vector<TensorId> made = {kit.op("Mul", {kit.input("x", {2, 4, 4}), kit.weight("s", {4})})};
  const auto pick = [&] { return made[random.below(made.size())]; };
  for (int i = 1; i < ops; ++i) {
    const TensorId x = random.below(2) == 0 ? made.back() : pick();
    switch (random.below(8)) {
      case 0:
      case 1:
        made.push_back(kit.op("MatMul", {x, kit.weight("w", {4, 4})}));
        break;
      case 2:
        made.push_back(kit.op("MatMul", {x, pick()}));
        break;
      case 3:
        made.push_back(kit.op("Add", {x, pick()}));
        break;
      case 4:
        made.push_back(kit.op("Softmax", {x}, {{"axis", std::int64_t{-1}}}));
        break;
      case 5:
        made.push_back(kit.transpose(x, {0, 2, 1}));
        break;
      case 6:
        made.push_back(kit.op("Tanh", {x}));
        break;
      default:
        made.push_back(kit.reshape(x, {2, 4, 4}));
    }
  }
  return make_training_graph(kit.build(), Optimizer::Sgd);
}

TEST(TensorLetters, LeastOfAllChoices) {
  Random random(5);
  for (int round = 0; round < 40; ++round) {
    const Graph graph = random_graph(random, 2 + round % 5);
    std::map<std::pair<int, std::int32_t>, std::int64_t> drawn;
    const auto draw = [&](int kind, std::int32_t id) {
      const auto [found, is_new] = drawn.try_emplace({kind, id}, 0);
      if (is_new) found->second = std::int64_t(random.below(kind == 0 ? 100 : 30));
      return Nanos(found->second);
    };
    const auto price = [&](int kind) {
      return [&draw, kind](TensorId tensor) { return draw(kind, tensor.value()); };
    };
    ColumnCosts costs = {[&](OpId op) { return draw(0, op.value()); }, price(1), price(2), price(3),
                         price(4)};
    if (round % 3 == 0) costs.whole_parameter = price(5);
    std::vector<OpId> region;
    for (const OpId id : graph.ops().ids())
      if (round % 2 == 0 || random.below(4) != 0) region.push_back(id);
    const Checker checker(graph, region, 2, costs);
    const auto choices = choose_columns(graph, region, 2, costs);
    ASSERT_EQ(choices.size(), region.size());
    std::vector<ColumnChoice> followed = choices;
    checker.follow(followed);
    EXPECT_EQ(choices, followed);
    EXPECT_EQ(checker.bill(choices).time, checker.least()) << "round " << round;
    EXPECT_EQ(choose_columns(graph, region, 2, costs), choices);
  }
}

// ---- the sum of tables by itself

struct RandomTables {
  std::vector<int> sizes;
  std::vector<CostTable> tables;

  explicit RandomTables(Random& random) {
    for (int i = 0; i < 8; ++i) sizes.push_back(1 + int(random.below(3)));
    for (int i = 0; i < 12; ++i) {
      CostTable table;
      std::size_t entries = 1;
      for (int variable = 0; variable < 8; ++variable) {
        if (random.below(3) != 0) continue;
        table.variables.push_back(variable);
        entries *= std::size_t(sizes[std::size_t(variable)]);
      }
      for (std::size_t e = 0; e < entries; ++e)
        table.costs.push_back({std::int64_t(random.below(50)), 0});
      if (!table.variables.empty()) tables.push_back(std::move(table));
    }
  }
  std::int64_t cost(const std::vector<int>& values) const {
    std::int64_t sum = 0;
    for (const CostTable& table : tables) {
      std::size_t place = 0;
      for (const int variable : table.variables)
        place = place * std::size_t(sizes[std::size_t(variable)]) +
                std::size_t(values[std::size_t(variable)]);
      sum += table.costs[place].cost;
    }
    return sum;
  }
  std::int64_t least() const {
    std::vector<int> values(sizes.size(), 0);
    std::int64_t best = cost(values);
    for (std::size_t i = 0; i < values.size();) {
      if (++values[i] == sizes[i]) {
        values[i++] = 0;
        continue;
      }
      i = 0;
      best = std::min(best, cost(values));
    }
    return best;
  }
  std::vector<int> solve(std::size_t most_entries) const {
    MinSum sum(sizes, most_entries);
    for (const CostTable& table : tables) sum.add(table);
    return sum.solve();
  }
};

TEST(MinSum, LeastOfAll) {
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    const RandomTables tables(random);
    EXPECT_EQ(tables.cost(tables.solve(1'000'000)), tables.least());
  }
}

TEST(MinSum, DecidesEarlyWhereTablesWouldBeTooLarge) {
  Random random(12);
  std::int64_t apart = 0, sum = 0;
  for (int round = 0; round < 50; ++round) {
    const RandomTables tables(random);
    const std::vector<int> values = tables.solve(9);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_GE(values[i], 0);
      EXPECT_LT(values[i], tables.sizes[i]);
    }
    EXPECT_GE(tables.cost(values), tables.least());
    apart += tables.cost(values) - tables.least();
    sum += tables.least();
  }
  EXPECT_LT(apart, sum / 5);
}

TEST(MinSum, LowerValuesOfEquals) {
  MinSum sum({3, 3}, 100);
  sum.add({{0, 1}, std::vector<RankedCost>(9, {5, 0})});
  EXPECT_EQ(sum.solve(), (std::vector<int>{0, 0}));
}

}  // namespace
}  // namespace strato
