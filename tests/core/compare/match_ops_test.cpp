// Which op of one graph is which op of another one.
#include <gtest/gtest.h>

#include "core/compare/compare_plans.h"
#include "core/graph/build/graph_builder.h"

namespace strato {
namespace {

struct NamedOp {
  std::string name, type;
  std::int64_t width;
};

// A chain; each op reads the one before it.
Graph chain_of(const std::vector<NamedOp>& ops) {
  GraphBuilder builder("chain", 4);
  Tensor input;
  input.name = "x";
  input.role = TensorRole::Input;
  input.shape = {4, 8};
  TensorId at = builder.add_tensor(input);
  for (const NamedOp& each : ops) {
    Tensor output;
    output.name = each.name + ".out";
    output.shape = {4, each.width};
    const TensorId next = builder.add_tensor(output);
    Op op;
    op.name = each.name;
    op.type = each.type;
    op.inputs = {at};
    op.outputs = {next};
    builder.add_op(op);
    at = next;
  }
  return std::move(builder).build();
}

TEST(MatchOps, OfOneGraph) {
  const Graph graph = chain_of({{"a", "Relu", 8}, {"b", "Relu", 8}});
  const OpMatch match = match_ops(graph, graph);
  EXPECT_TRUE(match.same_graph);
  EXPECT_EQ(match.same, 2u);
  EXPECT_EQ(match.to_of_from[OpId(1)], OpId(1));
  EXPECT_EQ(text_of(match), "2 ops are the same");
}

TEST(MatchOps, ByNameWhateverTheShape) {
  const OpMatch match =
      match_ops(chain_of({{"a", "Toy", 8}, {"b", "Toy", 8}}),
                chain_of({{"a", "Toy", 16}, {"new", "Other", 16}, {"b", "Toy", 8}}));
  EXPECT_EQ(match.changed, 2u);  // b reads another shape
  EXPECT_EQ(match.from_of_to[OpId(2)], OpId(1));
  ASSERT_EQ(match.only_to.size(), 1u);
  EXPECT_EQ(match.only_to[0], OpId(1));
  EXPECT_EQ(text_of(match), "0 ops are the same, 2 changed, 1 only in the second");
}

TEST(MatchOps, RenamedOpsByFingerprintInOrder) {
  const OpMatch match =
      match_ops(chain_of({{"l0", "Toy", 8}, {"l1", "Toy", 8}, {"head", "Head", 2}}),
                chain_of({{"block/0", "Toy", 8}, {"block/1", "Toy", 8}, {"head", "Head", 2}}));
  EXPECT_EQ(match.renamed, 2u);
  EXPECT_EQ(match.same, 1u);
  EXPECT_EQ(match.to_of_from[OpId(0)], OpId(0));
  EXPECT_EQ(match.to_of_from[OpId(1)], OpId(1));
}

TEST(MatchOps, AnotherNumberOfAlikeOpsIsNotGuessed) {
  const OpMatch match = match_ops(chain_of({{"l0", "Toy", 8}, {"l1", "Toy", 8}}),
                                  chain_of({{"m0", "Toy", 8}, {"m1", "Toy", 8}, {"m2", "Toy", 8}}));
  EXPECT_EQ(match.renamed, 0u);
  EXPECT_EQ(match.only_from.size(), 2u);
  EXPECT_EQ(match.only_to.size(), 3u);
}

TEST(MatchOps, OneNameOfAnotherTypeIsAnotherOp) {
  const OpMatch match = match_ops(chain_of({{"a", "Toy", 8}}), chain_of({{"a", "Other", 8}}));
  EXPECT_EQ(match.same + match.changed + match.renamed, 0u);
  EXPECT_EQ(match.only_from.size(), 1u);
}

}  // namespace
}  // namespace strato
