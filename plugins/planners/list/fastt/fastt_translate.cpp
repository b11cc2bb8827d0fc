#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/at.h"
#include "core/schedule/list/placement.h"
#include "plugins/planners/list/fastt/fastt.h"

namespace strato::fastt {
namespace {

class Translating {
 public:
  Translating(const Problem& problem, const Plan& plan, const Translation& translation)
      : problem_(problem),
        graph_(*problem.graph),
        plan_(plan),
        translation_(translation),
        choice_of_(graph_.op_count()) {}

  Strategy run() {
    for (std::size_t i = 0; i < graph_.op_count(); ++i) {
      const OpId op(i);
      const std::vector<DeviceShare> shares = shares_of(op);
      if (plan_.split_axis[op] != kBatchAxis && shares.size() > 1)
        splits_.push_back({op, plan_.split_axis[op], shares});
      choice_of_[i] =
          choice(graph_.op(op).phase == Phase::Update ? update(op, shares) : decision(op, shares));
    }
    Strategy strategy = strategy_by_ops(problem_, choice_of_, choices_);
    strategy.bucket = translation_.bucket;
    strategy.splits = std::move(splits_);
    if (translation_.with_order) strategy.priorities = order();
    return strategy;
  }

 private:
  // Ascending by device.
  std::vector<DeviceShare> shares_of(OpId op) const {
    std::map<DeviceId, std::int64_t> weight;
    std::int64_t divisor = 0;
    for (const NodeIndex node : plan_.graph.of_op[op]) {
      const NodeInfo& info = plan_.graph.nodes[at(node)];
      const bool in_samples = info.role == Role::Replica || info.role == Role::Part;
      weight[plan_.dpos->device(node)] += in_samples ? info.samples : 1;
    }
    for (const auto& [device, samples] : weight) divisor = std::gcd(divisor, samples);
    std::vector<DeviceShare> shares;
    for (const auto& [device, samples] : weight)
      shares.push_back({device, static_cast<std::int32_t>(samples / divisor)});
    return shares;
  }

  Decision decision(OpId op, const std::vector<DeviceShare>& shares) const {
    if (shares.size() == 1 || plan_.split_axis[op] != kBatchAxis)
      return decision_on_device(shares.front().device);
    const bool servers = translation_.sync == Sync::Servers;
    return {servers ? Mode::ReplicatePs : Mode::ReplicateAllReduce, shares};
  }

  // The update runs where the gradient is made, or where the variable is.
  Decision update(OpId op, const std::vector<DeviceShare>& shares) const {
    if (translation_.sync != Sync::Variable)
      for (const TensorId input : graph_.op(op).inputs) {
        if (!input.valid() || !graph_.tensor(input).producer.valid()) continue;
        const OpId maker = graph_.tensor(input).producer;
        return choices_[at(choice_of_[maker.index()])];
      }
    return decision_on_device(shares.front().device);
  }

  std::int32_t choice(const Decision& decision) {
    const auto [found, fresh] = number_of_.try_emplace({decision.mode, decision.devices},
                                                       static_cast<std::int32_t>(choices_.size()));
    if (fresh) choices_.push_back(decision);
    return found->second;
  }

  // By the first start of each op.
  std::vector<std::int32_t> order() const {
    std::vector<Nanos> start(graph_.op_count(), Nanos::max());
    for (std::size_t i = 0; i < start.size(); ++i)
      for (const NodeIndex node : plan_.graph.of_op[OpId(i)])
        start[i] = std::min(start[i], plan_.dpos->start(node));
    return places_by_start(start);
  }

  const Problem& problem_;
  const Graph& graph_;
  const Plan& plan_;
  const Translation& translation_;
  std::vector<std::int32_t> choice_of_;
  std::vector<Decision> choices_;
  std::map<std::pair<Mode, std::vector<DeviceShare>>, std::int32_t> number_of_;
  std::vector<OpSplit> splits_;
};

}  // namespace

std::string_view name_of(Sync sync) {
  return sync == Sync::Variable ? "variable" : sync == Sync::Servers ? "ps" : "allreduce";
}

Strategy strategy_of(const Problem& problem, const Plan& plan, const Translation& translation) {
  return Translating(problem, plan, translation).run();
}

}  // namespace strato::fastt
