#include "core/graph/group/equal_blocks.h"

#include <algorithm>
#include <unordered_map>

#include "core/graph/value/op_reader.h"

namespace strato {
namespace {

// The producer of a value does not count, but its living on from step to step does.
void add_tensor(Hasher& hasher, const Tensor& tensor) {
  const bool lives = tensor.role == TensorRole::Parameter || tensor.role == TensorRole::Constant ||
                     tensor.role == TensorRole::OptimizerState;
  hasher.number(tensor.type).number(lives ? 1 + static_cast<int>(tensor.role) : 0);
  hasher.numbers(std::span<const std::int64_t>(tensor.shape));
  hasher.text(tensor.data ? *tensor.data : std::string());
}

class Block {
 public:
  Block(const Graph& graph, std::span<const OpId> ops)
      : graph_(graph), ops_(ops), down_(ops.size()), up_(ops.size()) {
    for (std::size_t i = 0; i < ops.size(); ++i) index_.emplace(ops[i], i);
  }

  Digest digest() {
    for (std::size_t i = 0; i < ops_.size(); ++i) down_[i] = from_inputs(i);
    for (std::size_t i = ops_.size(); i-- > 0;) up_[i] = from_consumers(i);
    std::sort(up_.begin(), up_.end());
    Hasher hasher;
    hasher.text("block 1").number(up_.size());
    for (const Digest& digest : up_) hasher.digest(digest);
    return hasher.finish();
  }

 private:
  Digest from_inputs(std::size_t at) {
    const Op& op = graph_.op(ops_[at]);
    Hasher hasher;
    hasher.text(op.type).number(op.phase).number(op.inputs.size()).number(op.outputs.size());
    hasher.number(op.attributes.size());
    for (const auto& [key, value] : op.attributes) hash_attribute(hasher.text(key), value);
    for (const TensorId output : op.outputs) add_tensor(hasher, graph_.tensor(output));
    for (const TensorId input : op.inputs) {
      hasher.number(input.valid());
      if (input.valid()) add_input(hasher, input);
    }
    return hasher.finish();
  }

  void add_input(Hasher& hasher, TensorId input) {
    const Tensor& tensor = graph_.tensor(input);
    add_tensor(hasher, tensor);
    const auto producer = tensor.producer.valid() ? index_.find(tensor.producer) : index_.end();
    hasher.number(producer != index_.end());
    if (producer == index_.end())
      hasher.number(readers_inside(input));  // e.g. shared weights
    else
      hasher.number(slot_of(tensor.producer, input)).digest(down_[producer->second]);
  }

  std::size_t slot_of(OpId producer, TensorId tensor) const {
    const auto& outputs = graph_.op(producer).outputs;
    return static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), tensor) -
                                    outputs.begin());
  }

  std::size_t readers_inside(TensorId tensor) {
    const auto [known, added] = readers_.try_emplace(tensor, 0);
    if (added) {
      known->second = static_cast<std::size_t>(std::ranges::count_if(
          graph_.consumers(tensor), [&](OpId reader) { return index_.contains(reader); }));
    }
    return known->second;
  }

  Digest from_consumers(std::size_t at) {
    Hasher hasher;
    hasher.digest(down_[at]);
    for (const TensorId output : graph_.op(ops_[at]).outputs) {
      std::vector<Digest> readers;
      for (const OpId reader : graph_.consumers(output))
        if (const auto found = index_.find(reader); found != index_.end())
          readers.push_back(as_read(found->second, output));
      std::sort(readers.begin(), readers.end());
      hasher.number(readers.size());
      for (const Digest& reader : readers) hasher.digest(reader);
    }
    return hasher.finish();
  }

  Digest as_read(std::size_t reader, TensorId tensor) const {
    Hasher hasher;
    hasher.digest(up_[reader]);
    const auto& inputs = graph_.op(ops_[reader]).inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] == tensor) hasher.number(i);
    return hasher.finish();
  }

  const Graph& graph_;
  std::span<const OpId> ops_;
  std::unordered_map<OpId, std::size_t> index_;
  std::unordered_map<TensorId, std::size_t> readers_;
  std::vector<Digest> down_, up_;
};

}  // namespace

std::vector<std::size_t> equal_blocks(const Graph& graph,
                                      std::span<const std::span<const OpId>> sets) {
  std::unordered_map<Digest, std::size_t> first;
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < sets.size(); ++i)
    result.push_back(first.try_emplace(Block(graph, sets[i]).digest(), i).first->second);
  return result;
}

}  // namespace strato
