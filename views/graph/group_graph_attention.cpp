// The overlay "Attention": where the policy of gdp looks when it places what is selected.
#include <algorithm>
#include <utility>

#include "views/graph/group_graph_view.h"
#include "views/models/strategy_edits.h"
#include "views/style/text.h"

namespace strato {
namespace {

bool has_gdp(const PluginRegistry& plugins) {
  const std::vector<PluginInfo> planners = plugins.list(PluginKind::Planner);
  return std::ranges::find(planners, "gdp", &PluginInfo::name) != planners.end();
}

}  // namespace

// The selected op, the scope that was clicked, or all ops of the selected groups.
std::vector<OpId> GroupGraphView::chosen_ops() const {
  const Selection& selection = session_.selection();
  if (!problem_) return {};
  if (selection.op() && selection.op()->index() < problem_->graph->op_count())
    return {*selection.op()};
  if (!picked_.empty()) return picked_;
  std::vector<OpId> ops;
  for (const GroupId group : selection.groups()) {
    if (group.index() >= problem_->grouping->size()) continue;  // of the model before
    const auto& own = problem_->grouping->group(group).ops;
    ops.insert(ops.end(), own.begin(), own.end());
  }
  return ops;
}

QString GroupGraphView::chosen_name() const {
  const Selection& selection = session_.selection();
  if (selection.op() && selection.op()->index() < problem_->graph->op_count())
    return text(problem_->graph->op(*selection.op()).name).right(60);
  if (!picked_.empty()) return tr("%1 ops").arg(picked_.size());
  return names_of(selection.groups(), *problem_->grouping);
}

// Of the run that is shown, where gdp found it: its weights, and what it places as one. What it learned
// from this graph is not kept, nor what it learned from nothing.
GraphAttention::Options GroupGraphView::policy_options() const {
  GraphAttention::Options options;
  if (session_.search().planner != QStringLiteral("gdp")) return options;
  const auto& given = session_.search_options().set;
  for (const char* key : {"weights", "colocate"})
    if (const auto at = given.find(key); at != given.end()) options.insert(*at);
  return options;
}

// The last good picture stays until there is another; the legend says whose it is.
void GroupGraphView::read_attention() {
  GraphScene& scene = canvas_->scene();
  const std::vector<OpId> ops = chosen_ops();
  const auto say = [&](const QString& words) {
    scene.values.clear();
    hint_is_overlays_ = true;
    bar_->set_hint(words);
  };
  if (!has_gdp(session_.plugins()))
    return say(tr("No planner gdp here: it needs LibTorch"));
  if (ops.empty()) return say(tr("Choose an op or a group"));
  const auto shares = attention_.of(problem_, policy_options(), ops);
  if (!shares) {
    if (!attention_.why_not().isEmpty()) say(attention_.why_not());
    return;
  }
  scene.values = sums_over_ops(scene.content, *problem_->grouping, *shares);
  scene.words = tr("Attention of %1").arg(chosen_name());
  if (std::exchange(hint_is_overlays_, false)) bar_->set_hint(scene.content.note);
}

}  // namespace strato
