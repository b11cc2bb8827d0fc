#include "core/graph/value/scopes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "core/base/random.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

// Ops of these names and no edges.
Graph named_graph(const std::vector<std::string>& names) {
  GraphBuilder builder("names", 1);
  for (const std::string& name : names) {
    Tensor input;
    input.name = name + "/in", input.role = TensorRole::Input, input.shape = {1, 2};
    Op op;
    op.name = name, op.type = "Relu";
    op.inputs = {builder.add_tensor(input)};
    Tensor output;
    output.name = name + "/out", output.shape = {1, 2};
    op.outputs = {builder.add_tensor(output)};
    builder.add_op(op);
  }
  return std::move(builder).build();
}

std::vector<OpId> all_ops(const Graph& graph) {
  std::vector<OpId> ops;
  for (std::size_t i = 0; i < graph.op_count(); ++i) ops.emplace_back(i);
  return ops;
}

std::vector<std::string> part_names(const std::vector<ScopePart>& parts) {
  std::vector<std::string> names;
  for (const ScopePart& part : parts) names.push_back(part.name);
  return names;
}

TEST(Scopes, AreTheFirstPartsThatDiffer) {
  const Graph graph = named_graph({"net/enc/l0/att/q", "net/enc/l0/att/k", "net/enc/l1/att/q",
                                   "net/enc/l1/ffn", "net/head", "net/enc"});
  const auto parts = split_by_scope(graph, all_ops(graph), 1, 10);
  EXPECT_EQ(part_names(parts), (std::vector<std::string>{"enc", "net/head"}));
  EXPECT_EQ(parts[0].ops.size(), 5u);
  const auto layers = split_by_scope(graph, parts[0].ops, 1, 10);
  EXPECT_EQ(part_names(layers), (std::vector<std::string>{"l0/att", "l1", "net/enc"}));
  EXPECT_EQ(part_names(split_by_scope(graph, layers[0].ops, 1, 10)),
            (std::vector<std::string>{"net/enc/l0/att/q", "net/enc/l0/att/k"}));
}

TEST(Scopes, AFewOpsAreToldOneByOne) {
  const Graph graph = named_graph({"a/x", "a/y", "b/x"});
  EXPECT_EQ(split_by_scope(graph, all_ops(graph), 3, 10).size(), 3u);
}

TEST(Scopes, KeepGradientsWithTheirLayer) {
  ModelKit kit(8);
  TensorId h = kit.input("x", {8, 16});
  for (int i = 0; i < 4; ++i)
    h = kit.op("Relu", {kit.op("MatMul", {h, kit.weight("w", {16, 16})})});
  const Graph graph = make_training_graph(kit.build(), Optimizer::Adam);
  for (const ScopePart& part : split_by_scope(graph, all_ops(graph), 1, 100)) {
    for (const OpId op : part.ops) {
      const OpId forward = graph.op(op).forward;
      EXPECT_TRUE(!forward.valid() || std::ranges::binary_search(part.ops, forward)) << part.name;
    }
  }
}

TEST(Scopes, ManyNeighboursAreBundled) {
  std::vector<std::string> names;
  for (int i = 0; i < 2500; ++i) names.push_back("Conv_" + std::to_string(i));
  const Graph graph = named_graph(names);
  const auto parts = split_by_scope(graph, all_ops(graph), 40, 1000);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].name, "Conv_0 … Conv_832");
  EXPECT_TRUE(parts[0].range);
  EXPECT_EQ(split_by_scope(graph, parts[0].ops, 40, 1000).size(), parts[0].ops.size());
}

TEST(Scopes, OddNames) {
  const Graph graph = named_graph({"/", ".", "//a//b", "a..b", "", "a", std::string(10'000, 'x'),
                                   "שלום/עולם", "🙂/🙃", "🙂/x", "a/"});
  const auto ops = all_ops(graph);
  for (std::size_t flat : {0u, 1u, 100u}) {
    std::size_t count = 0;
    for (const ScopePart& part : split_by_scope(graph, ops, flat, 100)) count += part.ops.size();
    EXPECT_EQ(count, ops.size());
  }
}

// Whatever the names are, going down ends, at every op once, and no level is too wide.
void go_down(const Graph& graph, const std::vector<OpId>& ops, std::size_t flat, std::size_t most,
             std::multiset<OpId>& met, int depth = 0) {
  RC_ASSERT(depth < 200);
  const auto parts = split_by_scope(graph, ops, flat, most);
  RC_ASSERT(parts.size() <= most);
  RC_ASSERT(ops.size() < 2 || parts.size() >= 2u);
  OpId last;
  for (const ScopePart& part : parts) {
    RC_ASSERT(!part.ops.empty());
    RC_ASSERT(std::ranges::is_sorted(part.ops));
    RC_ASSERT(last < part.ops[0]);
    last = part.ops[0];
    if (part.ops.size() == 1) {
      met.insert(part.ops[0]);
    } else {
      go_down(graph, part.ops, flat, most, met, depth + 1);
    }
  }
}

RC_GTEST_PROP(Scopes, EveryOpIsReachedOnce, (std::uint64_t seed)) {
  Random random(seed);
  std::vector<std::string> names;
  const char* words[] = {"a", "b", "layer", "/", ".", "0", "1", "//", "x"};
  for (std::size_t n = 1 + random.below(80); n > 0; --n) {
    std::string name;
    for (std::size_t k = random.below(8); k > 0; --k) name += words[random.below(std::size(words))];
    names.push_back(name);
  }
  const Graph graph = named_graph(names);
  std::multiset<OpId> met;
  go_down(graph, all_ops(graph), random.below(10), 2 + random.below(20), met);
  RC_ASSERT(met.size() == graph.op_count());
  RC_ASSERT(std::set<OpId>(met.begin(), met.end()).size() == graph.op_count());
}

}  // namespace
}  // namespace strato
