#include "views/graph/op_search.h"

#include <set>

namespace strato {
namespace {

class OpSearch {
 public:
  OpSearch(const Problem& problem, const Strategy& strategy, const OpFigures* figures,
           const std::vector<Nanos>& op_times)
      : problem_(problem),
        graph_(*problem.graph),
        strategy_(strategy),
        figures_(figures),
        op_times_(op_times) {}

  QueriedOp facts_of(OpId id) const {
    const Op& op = graph_.op(id);
    const GroupId group = problem_.grouping->group_of(id);
    QueriedOp facts;
    facts.name = op.name;
    facts.type = op.type;
    facts.phase = name_of(op.phase);
    facts.family = name_of(op.family);
    facts.group = problem_.grouping->group(group).name;
    facts.bytes = bytes_of(op);
    facts.parameters = parameters_of(op);
    facts.flops = op.work.flops;
    facts.time = time_of(id);
    if (group.index() < strategy_.groups.size() && strategy_.groups[group])
      add_placement(*strategy_.groups[group], id, facts);
    return facts;
  }

 private:
  double bytes_of(const Op& op) const {
    Bytes sum;
    for (const TensorId output : op.outputs) {
      if (output.valid()) sum += graph_.tensor(output).bytes();
    }
    return static_cast<double>(sum.value);
  }

  double parameters_of(const Op& op) const {
    Bytes sum;
    for (const TensorId input : std::set<TensorId>(op.inputs.begin(), op.inputs.end())) {
      if (input.valid() && graph_.tensor(input).role == TensorRole::Parameter)
        sum += graph_.tensor(input).bytes();
    }
    return static_cast<double>(sum.value);
  }

  double time_of(OpId op) const {
    if (figures_) return to_seconds(Nanos(figures_->longest[op]));
    return op.index() < op_times_.size() ? to_seconds(op_times_[op.index()]) : 0;
  }

  void add_placement(const Decision& decision, OpId op, QueriedOp& facts) const {
    facts.mode = label_of(decision.mode);
    const auto add = [&](DeviceId id) {
      const Device& device = problem_.cluster->device(id);
      facts.devices.push_back(device.name);
      facts.devices.push_back(problem_.cluster->groups()[device.group].name);
    };
    if (decision.mode == Mode::ModelParallel && figures_) {
      for (const DeviceId device : figures_->devices[op]) add(device);
    } else {
      for (const DeviceShare& share : decision.devices) add(share.device);
    }
  }

  const Problem& problem_;
  const Graph& graph_;
  const Strategy& strategy_;
  const OpFigures* figures_;
  const std::vector<Nanos>& op_times_;
};

}  // namespace

std::vector<char> find_ops(const OpQuery& query, const Problem& problem, const Strategy& strategy,
                           const OpFigures* figures, const std::vector<Nanos>& op_times) {
  const OpSearch search(problem, strategy, figures, op_times);
  std::vector<char> marked(problem.graph->op_count(), 0);
  for (std::size_t i = 0; i < marked.size(); ++i)
    marked[i] = query.matches(search.facts_of(OpId(i)));
  return marked;
}

std::vector<GroupId> groups_with(const std::vector<char>& marked, const Grouping& grouping) {
  std::vector<char> found(grouping.size(), 0);
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (marked[i] != 0) found[grouping.group_of(OpId(i)).index()] = 1;
  }
  std::vector<GroupId> groups;
  for (std::size_t g = 0; g < found.size(); ++g) {
    if (found[g] != 0) groups.emplace_back(g);
  }
  return groups;
}

}  // namespace strato
