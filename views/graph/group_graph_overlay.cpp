// What the colours, outlines and marks of the graph view say.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/search/evaluate/outcome.h"
#include "views/graph/group_graph_view.h"
#include "views/style/style.h"

namespace strato {
namespace {

// Several decisions of the groups in one node, each counting the same.
std::vector<PlacementStripe> blended(const std::vector<std::vector<PlacementStripe>>& all) {
  std::map<DeviceGroupId, double> sums;
  for (const auto& stripes : all) {
    for (const PlacementStripe& stripe : stripes) sums[stripe.device_group] += stripe.share;
  }
  std::vector<PlacementStripe> result;
  for (const auto& [group, sum] : sums)
    result.push_back({group, sum / static_cast<double>(all.size())});
  return result;
}

}  // namespace

bool GroupGraphView::wants_figures() const {
  if (is_of_outcome(canvas_->scene().overlay) || path_shown_) return true;
  const Strategy& strategy =
      session_.snapshot().strategy;  // whose ops are where, is in the outcome
  const GroupId opened = levels_.empty() ? GroupId() : levels_.back().group;
  const auto is_divided = [&](GroupId group) {
    return group.valid() && group.index() < strategy.groups.size() && strategy.groups[group] &&
           strategy.groups[group]->mode == Mode::ModelParallel;
  };
  return is_divided(opened) || std::ranges::any_of(parts_, [&](const OpenedPart& part) {
           return is_divided(part.level.group);
         });
}

// Of the outcome shown, when something asks for them.
std::shared_ptr<const OpFigures> GroupGraphView::figures() {
  return wants_figures() ? figures_of_outcome(session_.snapshot().outcome) : nullptr;
}

// An outcome of another model may stay until the new one is simulated.
bool GroupGraphView::is_of_problem(const std::shared_ptr<const Outcome>& outcome) const {
  return outcome && problem_ && outcome->program->graph->digest() == problem_->graph->digest();
}

std::shared_ptr<const OpFigures> GroupGraphView::figures_of_outcome(
    const std::shared_ptr<const Outcome>& outcome) {
  return is_of_problem(outcome) ? figures_.of(outcome) : nullptr;
}

std::vector<PlacementStripe> GroupGraphView::stripes_of_node(const GraphNode& node,
                                                             const OpFigures* figures) const {
  const Strategy& strategy = session_.snapshot().strategy;
  const Cluster& cluster = *problem_->cluster;
  const auto of_group = [&](GroupId group) -> std::vector<PlacementStripe> {
    if (group.index() >= strategy.groups.size() || !strategy.groups[group]) return {};
    return stripes_of(*strategy.groups[group], cluster);
  };
  if (node.boundary) return {};
  if (!node.groups.empty()) {
    std::vector<std::vector<PlacementStripe>> all;
    for (const GroupId group : node.groups) all.push_back(of_group(group));
    return blended(all);
  }
  if (node.group.index() >= strategy.groups.size() || !strategy.groups[node.group]) return {};
  const bool divided = strategy.groups[node.group]->mode == Mode::ModelParallel;
  if (node.is_group() || !divided || !figures) return of_group(node.group);
  std::vector<std::vector<PlacementStripe>> all;  // the ops' own devices
  for (const OpId op : ops_of(node, *problem_->grouping)) {
    for (const DeviceId device : figures->devices[op])
      all.push_back({{cluster.device(device).group, 1.0}});
  }
  return all.empty() ? of_group(node.group) : blended(all);
}

void GroupGraphView::read_placement() {
  GraphScene& scene = canvas_->scene();
  const std::size_t count = scene.content.nodes.size();
  scene.stripes.assign(count, {});
  scene.marks.assign(count, {});
  scene.found.resize(count);
  scene.selected.resize(count);
  const auto known = figures();
  const Strategy& strategy = session_.snapshot().strategy;
  for (std::size_t n = 0; problem_ && n < count; ++n) {
    const GraphNode& node = scene.content.nodes[n];
    scene.stripes[n] = stripes_of_node(node, known.get());
    if (!node.is_group() || node.group.index() >= strategy.groups.size()) continue;
    if (const auto& decision = strategy.groups[node.group])
      scene.marks[n] = QString::fromUtf8(label_of(decision->mode).data());
  }
  read_moved();
  read_path();
  read_overlay();
  canvas_->update();
}

// Values that are not known yet leave the old ones of the same content.
void GroupGraphView::read_figures() {
  GraphScene& scene = canvas_->scene();
  const Snapshot& shown = session_.snapshot();
  if (scene.overlay == Overlay::AgainstPlan) return read_against_plan();
  const bool since_edit = scene.overlay == Overlay::SinceEdit;
  const auto before = since_edit ? shown.before : shown.baseline;
  const auto now = figures();
  const auto then = is_change(scene.overlay) ? figures_of_outcome(before) : nullptr;
  if (now && (then || !is_change(scene.overlay))) {
    scene.values =
        overlay_values(scene.content, *problem_->grouping, scene.overlay, *now, then.get());
    scene.words = label_of(scene.overlay);
    if (std::exchange(hint_is_overlays_, false)) bar_->set_hint(scene.content.note);
  } else if (is_change(scene.overlay) && !before) {
    scene.values.clear();
    hint_is_overlays_ = true;
    bar_->set_hint(since_edit ? tr("Nothing was edited yet") : tr("Nothing to compare with yet"));
  }
}

void GroupGraphView::read_overlay() {
  GraphScene& scene = canvas_->scene();
  const bool dark = style::is_dark(palette());
  if (is_quantity(scene.overlay) && problem_) {
    if (is_of_outcome(scene.overlay))
      read_figures();
    else
      read_attention();
    scene.most_value = 0;
    second_values_ = second_values();
    for (const auto* values : {&scene.values, &second_values_})
      for (const double value : *values)
        scene.most_value = std::max(scene.most_value, std::abs(value));
    scene.mark_values();
  }
  const bool unknown = is_quantity(scene.overlay) && scene.values.empty();
  legend_ = unknown ? Legend{}
                    : legend_for(scene.overlay, scene.content, scene.stripes, scene.cluster,
                                 scene.most_value, dark);
  if (scene.overlay == Overlay::Attention) legend_.title = scene.words;
  if (scene.content.nodes.empty()) legend_ = {};
  legend_line_->show_legend(legend_);
  show_second();
}

void GroupGraphView::read_path() {
  GraphScene& scene = canvas_->scene();
  const auto known = path_shown_ ? figures() : nullptr;
  if (!known || !problem_) {
    if (!path_shown_) scene.on_path.clear(), scene.edge_on_path.clear();
    return;
  }
  PathMarks marks = path_marks(scene.content, *problem_, known->path);
  scene.on_path = std::move(marks.nodes);
  scene.edge_on_path = std::move(marks.edges);
}

void GroupGraphView::read_trace() {
  GraphScene& scene = canvas_->scene();
  scene.traced.clear();
  if (!trace_way_ || !problem_) return;
  const std::vector<OpId> from = chosen().ops;
  if (from.empty()) return;
  scene.traced = traced_nodes(scene.content, *problem_->grouping,
                              traced_ops(*problem_->graph, from, *trace_way_));
}

void GroupGraphView::set_overlay(Overlay overlay) {
  GraphScene& scene = canvas_->scene();
  scene.overlay = overlay;
  scene.values.clear();
  scene.words.clear();
  hint_is_overlays_ = false;
  bar_->set_overlay(overlay);
  bar_->set_hint(scene.content.note);
  want_other_plan();
  read_placement();
}

void GroupGraphView::next_overlay(int step) {
  const int count = static_cast<int>(kOverlays.size());
  const int at = static_cast<int>(overlay()) + step + count;
  set_overlay(kOverlays[static_cast<std::size_t>(at % count)]);
}

void GroupGraphView::show_critical_path(bool shown) {
  path_shown_ = shown;
  update_actions();
  read_placement();
}

void GroupGraphView::set_trace(std::optional<TraceWay> way) {
  trace_way_ = way;
  update_actions();
  read_selection();
}

}  // namespace strato
