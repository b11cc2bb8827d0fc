#include "core/program/project/ring_order.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/program/value/collective.h"

namespace strato {
namespace {

// Parts of a variable that are reduced are so in their order, one collective each, or with all
// others of their merge group when the first of these is.
class Finder {
 public:
  Finder(const Program& program, const Strategy& strategy) : program_(program) {
    for (const VariableSync& variable : strategy.variables) {
      std::vector<const SyncPart*>& parts = reduced_[gradient_of(variable.update)];
      for (const SyncPart& part : variable.parts)
        if (part.synchroniser == Synchroniser::AllReduce) parts.push_back(&part);
    }
  }

  RingOrders find() {
    RingOrders orders;
    for (const TaskId task : program_.tasks.ids()) {
      const TaskKind kind = program_.tasks[task].kind;
      if (kind != TaskKind::AllReduce && kind != TaskKind::AllGather) continue;
      const SyncPart* part = take(task);
      if (part == nullptr || part->sequence.empty()) continue;
      std::vector<DeviceId> ring = ring_of(*part, task);
      if (!ring.empty()) orders.emplace(task, std::move(ring));
    }
    return orders;
  }

 private:
  TensorId gradient_of(OpId update) const { return program_.graph->op(update).inputs[1]; }

  // One of the parts that the task reduces; null: it is of no variable with an entry of its own.
  const SyncPart* take(TaskId task) {
    const SyncPart* found = nullptr;
    for (const TensorId tensor : tensors_of(program_, task)) {
      const auto parts = reduced_.find(tensor);
      if (parts == reduced_.end()) continue;
      std::vector<const SyncPart*>& left = parts->second;
      const auto at = std::ranges::find_if(left, [&](const SyncPart* part) {
        return found == nullptr || part->merge_group == found->merge_group;
      });
      if (at == left.end()) continue;
      if (found == nullptr) found = *at;
      left.erase(at);
    }
    return found;
  }

  // Devices without samples have dropped out. Empty: the members are others.
  std::vector<DeviceId> ring_of(const SyncPart& part, TaskId task) const {
    const std::vector<DeviceId> members = members_of(program_, task);
    std::vector<DeviceId> ring;
    for (const DeviceId device : part.sequence)
      if (std::ranges::binary_search(members, device)) ring.push_back(device);
    if (ring.size() != members.size() || ring.size() < 2) return {};
    std::rotate(ring.begin(), std::ranges::min_element(ring) + 1, ring.end());
    return ring;
  }

  const Program& program_;
  std::map<TensorId, std::vector<const SyncPart*>> reduced_;  // by gradient: those to come
};

// Of the members in their new order.
std::vector<std::int32_t> reordered(std::span<const std::int32_t> cuts,
                                    std::span<const DeviceId> before,
                                    std::span<const DeviceId> after) {
  std::vector<std::int32_t> result = {0};
  for (const DeviceId member : after) {
    const auto place = static_cast<std::size_t>(std::ranges::find(before, member) - before.begin());
    result.push_back(result.back() + cuts[place + 1] - cuts[place]);
  }
  return result;
}

}  // namespace

RingOrders ring_orders(const Program& program, const Strategy& strategy) {
  if (strategy.variables.empty()) return {};
  return Finder(program, strategy).find();
}

void order_rings(RankProgram& program, const RingOrders& orders) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const std::span<DeviceId> members = program.members.mutable_row(i);
    const auto order = members.empty() ? orders.end() : orders.find(program.instructions[i].task);
    if (order == orders.end()) continue;
    const std::vector<DeviceId>& ring = order->second;
    CHECK(std::ranges::is_permutation(members, ring), "a ring of other members");
    if (const std::span<std::int32_t> cuts = program.cuts.mutable_row(i); !cuts.empty())
      std::ranges::copy(reordered(cuts, members, ring), cuts.begin());
    std::ranges::copy(ring, members.begin());
  }
}

}  // namespace strato
