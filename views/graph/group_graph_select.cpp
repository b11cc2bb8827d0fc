// What is selected in the graph view: groups, or single ops and scopes of them; and what of it is
// dragged to other views.
#include <algorithm>

#include "views/drag/drag_start.h"
#include "views/graph/group_graph_view.h"
#include "views/graph/second_graph.h"

namespace strato {

// What is selected is what one looks into, as a level or in place.
bool GroupGraphView::is_opened_selection() const {
  const std::vector<OpId>& ops = session_.selection().ops();
  const auto is_it = [&](const GraphLevel& level) { return level.opened_ops == ops; };
  return (!levels_.empty() && is_it(levels_.back())) ||
         std::ranges::any_of(parts_, is_it, &OpenedPart::level);
}

// What is opened as a whole is not marked once more inside.
bool GroupGraphView::is_selected(const GraphNode& node) const {
  const Selection& selection = session_.selection();
  const GroupId opened = levels_.empty() ? GroupId() : levels_.back().group;
  if (node.frame && selection.ops() != node.ops) return false;
  if (node.op.valid() || !node.ops.empty()) {
    if (!node.frame && !selection.ops().empty() && is_opened_selection()) return false;
    if (node.op.valid()) return selection.contains(node.op);
    return std::ranges::any_of(node.ops, [&](OpId op) { return selection.contains(op); });
  }
  if (!node.groups.empty())
    return std::ranges::any_of(node.groups, [&](GroupId g) { return selection.contains(g); });
  return node.group.valid() && node.group != opened && selection.contains(node.group);
}

void GroupGraphView::read_selection() {
  GraphScene& scene = canvas_->scene();
  scene.selected.assign(scene.content.nodes.size(), 0);
  int first = -1;
  for (std::size_t n = 0; n < scene.content.nodes.size(); ++n) {
    scene.selected[n] = is_selected(scene.content.nodes[n]) ? 1 : 0;
    if (scene.selected[n] != 0 && first < 0) first = static_cast<int>(n);
  }
  const bool pointed = canvas_->underMouse() || (second_ && second_->canvas().underMouse());
  if (first >= 0 && !pointed) canvas_->reveal(first);
  read_trace();
  if (overlay() == Overlay::Attention) read_placement();
  update_actions();
  marks_changed();
}

void GroupGraphView::clicked(int node, bool extend) {
  if (node < 0) {
    if (!extend) session_.selection().clear();
    return read_selection();
  }
  const GraphNode& hit = canvas_->scene().content.nodes[static_cast<std::size_t>(node)];
  Selection& selection = session_.selection();
  if (extend) {
    extend_by(hit);
  } else if (hit.op.valid()) {
    selection.select_op(hit.op, hit.group);
  } else if (!hit.groups.empty()) {
    selection.select_groups(hit.groups);
  } else if (hit.group.valid()) {
    selection.select_ops(hit.ops, {hit.group});
  }
}

// Groups are added to groups; to and of single ops, all of what they are.
void GroupGraphView::extend_by(const GraphNode& node) {
  if (!problem_ || problem_ != session_.snapshot().problem) return;
  if (!node.group.valid() && node.groups.empty()) return;
  Selection& selection = session_.selection();
  const bool single = node.op.valid() || !node.ops.empty();
  if (selection.ops().empty() && !single) {
    if (node.groups.empty() && node.group.valid()) return selection.select_group(node.group, true);
    return selection.select_groups(node.groups);
  }
  const Grouping& grouping = *problem_->grouping;
  std::vector<OpId> added = node.op.valid() ? std::vector{node.op} : node.ops,
                    ops = selection.ops();
  if (!single) {
    for (const GroupId group : node.group.valid() ? std::vector{node.group} : node.groups)
      std::ranges::copy(grouping.group(group).ops, std::back_inserter(added));
  }
  const bool shown = levels_.empty() || ops != levels_.back().opened_ops;
  if (!shown) ops.clear();
  const auto known = [&](OpId op) { return shown && selection.contains(op); };
  if (std::ranges::all_of(added, known)) {
    std::ranges::sort(added);
    std::erase_if(ops, [&](OpId op) { return std::ranges::binary_search(added, op); });
  } else {
    std::ranges::copy(added, std::back_inserter(ops));
  }
  std::vector<GroupId> groups;
  for (const OpId op : ops) groups.push_back(grouping.group_of(op));
  selection.select_ops(std::move(ops), std::move(groups));
}

void GroupGraphView::hovered(int node) {
  std::optional<GroupId> group;
  if (node >= 0) {
    const GraphNode& hit = canvas_->scene().content.nodes[static_cast<std::size_t>(node)];
    if (hit.group.valid()) group = hit.group;
  }
  session_.selection().hover_group(group);
}

// All that is selected of its kind, when the node is; else it alone. An op and a scope are carried
// as the group that they are in where that is wished.
Carried GroupGraphView::carried_by(const GraphNode& node, bool whole_groups) const {
  const Selection& selection = session_.selection();
  const std::vector<OpId> ops = node.op.valid() ? std::vector{node.op} : node.ops;
  const auto known = [&](OpId op) { return selection.contains(op); };
  const bool selected = is_selected(node) && std::ranges::all_of(ops, known);
  if (!whole_groups && !ops.empty())
    return carried_ops(selected ? selection.ops() : ops, *problem_);
  const std::vector<GroupId> groups = node.group.valid() ? std::vector{node.group} : node.groups;
  const bool among =
      std::ranges::any_of(groups, [&](GroupId group) { return selection.contains(group); });
  return {among ? selection.groups() : groups, {}};
}

void GroupGraphView::drag(int node, bool whole_groups) {
  if (!problem_ || problem_ != session_.snapshot().problem) return;
  if (static_cast<std::size_t>(node) >= canvas_->scene().content.nodes.size()) return;
  const GraphNode hit = canvas_->scene().content.nodes[static_cast<std::size_t>(node)];
  carry(*canvas_, carried_by(hit, whole_groups), *problem_);
}

}  // namespace strato
