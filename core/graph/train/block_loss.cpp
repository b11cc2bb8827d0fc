#include "core/graph/train/block_loss.h"

#include <numeric>
#include <utility>
#include <vector>

namespace strato {
namespace {

using Wanted = std::vector<std::int64_t>;

class BlockLoss {
 public:
  BlockLoss(GraphBuilder& builder, std::string name) : builder_(builder), name_(std::move(name)) {}

  TensorId tensor(const char* what, TensorRole role, Shape shape) {
    return builder_.add_tensor(
        {.name = name_ + what, .type = type, .role = role, .shape = std::move(shape)});
  }
  OpId forward(const char* what, const char* type_name, std::vector<TensorId> inputs,
               std::vector<TensorId> outputs) {
    return builder_.add_op({.name = name_ + what,
                            .type = type_name,
                            .inputs = std::move(inputs),
                            .outputs = std::move(outputs),
                            .phase = Phase::Loss});
  }
  void backward(OpId of, std::vector<TensorId> inputs, std::vector<TensorId> outputs,
                Wanted wanted) {
    Op op = builder_.op(of);
    op.name += "/grad";
    op.type += "Grad";
    op.inputs = std::move(inputs);
    op.outputs = std::move(outputs);
    op.attributes.emplace_back("wrt", std::move(wanted));
    op.phase = Phase::Backward;
    op.forward = of;
    builder_.add_op(std::move(op));
  }

  DataType type = DataType::F32;

 private:
  GraphBuilder& builder_;
  std::string name_;
};

}  // namespace

bool has_block_loss(std::int64_t classes) {
  constexpr std::int64_t kMany = 4096;
  return classes >= kMany;
}

void add_block_loss(GraphBuilder& builder, const std::string& name, TensorId scores,
                    TensorId labels, TensorId gradient) {
  BlockLoss loss(builder, name);
  Shape shape = builder.tensor(scores).shape;
  constexpr std::int64_t kMostBlocks = 64;
  const std::int64_t blocks = std::gcd(shape.back(), kMostBlocks);
  shape.back() = blocks;
  if (builder.tensor(scores).type == DataType::F64) loss.type = DataType::F64;
  const auto both = [&](TensorRole role, const char* sums, const char* found) {
    return std::vector<TensorId>{loss.tensor(sums, role, shape), loss.tensor(found, role, shape)};
  };
  const std::vector<TensorId> made = both(TensorRole::Activation, "/log_sums", "/label_scores");
  const std::vector<TensorId> slopes =
      both(TensorRole::Gradient, "/log_sums/grad", "/label_scores/grad");
  const TensorId value = loss.tensor("", TensorRole::Activation, {});
  const OpId reduce = loss.forward("/classes", "BlockLogSumExp", {scores, labels}, made);
  builder.op(reduce).attributes = {{"blocks", blocks}};
  const OpId add_up = loss.forward("", "BlockCrossEntropy", {made[0], made[1], labels}, {value});
  loss.backward(add_up, {made[0], labels}, slopes, {0, 1});
  loss.backward(reduce, {slopes[0], slopes[1], scores, labels, made[0]}, {gradient}, {0});
}

}  // namespace strato
