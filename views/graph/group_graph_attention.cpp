// The overlay "Attention": where the policy of gdp looks when it places what is selected.
#include <algorithm>

#include "views/graph/group_graph_view.h"
#include "views/models/strategy_edits.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr qsizetype kLongestLegendName = 60;  // letters in the legend

bool has_gdp(const PluginRegistry& plugins) {
  const std::vector<PluginInfo> planners = plugins.list(PluginKind::Planner);
  return std::ranges::find(planners, "gdp", &PluginInfo::name) != planners.end();
}

}  // namespace

// The selected ops, or all ops of the selected groups. What is selected may be of the model before.
GroupGraphView::Chosen GroupGraphView::chosen() const {
  Chosen result;
  if (!problem_) return result;
  const Selection& selection = session_.selection();
  const Graph& graph = *problem_->graph;
  const Grouping& grouping = *problem_->grouping;
  const std::vector<OpId>& ops = selection.ops();
  if (!ops.empty() && ops.back().index() < graph.op_count())
    return {ops, ops.size() == 1 ? text(graph.op(ops[0]).name).right(kLongestLegendName)
                                 : tr("%1 ops").arg(ops.size())};
  std::vector<GroupId> groups = selection.groups();
  std::erase_if(groups, [&](GroupId group) { return group.index() >= grouping.size(); });
  for (const GroupId group : groups) {
    const auto& own = grouping.group(group).ops;
    result.ops.insert(result.ops.end(), own.begin(), own.end());
  }
  if (!groups.empty()) result.name = names_of(groups, grouping).right(kLongestLegendName);
  return result;
}

// Of the run that is shown, where gdp found it: its weights, and what it places as one. What it
// learned from this graph is not kept, nor what it learned from nothing.
GraphAttention::Options GroupGraphView::policy_options() const {
  GraphAttention::Options options;
  if (session_.search().planner != QStringLiteral("gdp")) return options;
  const auto& given = session_.search_options().set;
  for (const char* key : {"weights", "colocate"})
    if (const auto at = given.find(key); at != given.end()) options.insert(*at);
  return options;
}

// The last good picture stays until there is another; the legend says whose it is, or why there is
// none.
void GroupGraphView::read_attention() {
  GraphScene& scene = canvas_->scene();
  const Chosen looking = chosen();
  const auto say = [&](const QString& words) {
    scene.values.clear();
    scene.words = words;
  };
  if (!has_gdp(session_.plugins()))
    return say(tr("There is no planner gdp here: it needs LibTorch"));
  if (looking.ops.empty())
    return say(tr("Choose an op or a group: where the policy of gdp looks when it places it"));
  const auto shares = attention_.of(problem_, policy_options(), looking.ops);
  if (!shares) {
    if (!attention_.why_not().isEmpty()) say(attention_.why_not());
    return;
  }
  scene.values = sums_over_ops(scene.content, *problem_->grouping, *shares);
  scene.words = tr("Attention of %1").arg(looking.name);
}

}  // namespace strato
