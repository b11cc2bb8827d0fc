// What can be done in the graph view: the menus, their keys, and other groups by hand.
#include <QAction>
#include <QMenu>
#include <set>

#include "core/base/error.h"
#include "views/drag/move_dialog.h"
#include "views/graph/group_graph_view.h"
#include "views/models/strategy_edits.h"
#include "views/style/text.h"

namespace strato {

QAction* GroupGraphView::add_action(const QString& text, const QKeySequence& keys,
                                    const std::function<void()>& run) {
  auto* action = new QAction(text, this);
  action->setShortcut(keys);
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  connect(action, &QAction::triggered, this, run);
  canvas_->addAction(action);
  return action;
}

void GroupGraphView::make_actions() {
  QMenu& menu = bar_->menu();
  const auto add = [&](const QString& text, const QKeySequence& keys, auto run) {
    QAction* action = add_action(text, keys, run);
    menu.addAction(action);
    return action;
  };
  const auto toggle = [this](TraceWay way) {
    set_trace(trace_way_ == way ? std::nullopt : std::optional(way));
  };
  inputs_action_ =
      add(tr("Trace What It Needs"), Qt::Key_BracketLeft, [=] { toggle(TraceWay::Inputs); });
  outputs_action_ =
      add(tr("Trace What Needs It"), Qt::Key_BracketRight, [=] { toggle(TraceWay::Outputs); });
  path_action_ = add(tr("Critical Path"), Qt::Key_C, [this] { show_critical_path(!path_shown_); });
  attention_action_ =
      add(tr("Attention of Selection"), {}, [this] { set_overlay(Overlay::Attention); });
  for (QAction* action : {inputs_action_, outputs_action_, path_action_})
    action->setCheckable(true);
  in_place_action_ =
      add(tr("Open or Close in Place"), Qt::Key_Space, [this] { toggle_in_place(); });
  menu.addSeparator();
  equal_action_ = add(tr("Select Equal Blocks"), Qt::Key_E, [this] { select_equal_blocks(); });
  merge_action_ = add(tr("Merge Selected Groups"), QKeySequence(QStringLiteral("Ctrl+G")),
                      [this] { merge_selected(); });
  split_action_ = add(tr("Split Group by Scopes"), QKeySequence(QStringLiteral("Ctrl+Shift+G")),
                      [this] { split_selected(); });
  split_at_action_ =
      add(tr("Split Group before This Layer"), QKeySequence(QStringLiteral("Ctrl+Alt+G")),
          [this] { split_at_selected(); });
  rename_action_ = add(tr("Rename Group"), Qt::Key_F2, [this] { rename_selected(); });
  move_action_ =
      add(tr("Move Selection to Device…"), {}, [this] { move_selection(session_, *this); });
  menu.addSeparator();
  beside_action_ =
      add(tr("Another Plan's Graph Beside"), Qt::Key_B, [this] { show_beside(!beside_shown_); });
  beside_action_->setCheckable(true);
  beside_action_->setEnabled(false);  // until there is a second plan
  add(tr("Next Colours"), Qt::Key_O, [this] { next_overlay(1); });
  add(tr("Previous Colours"), QKeySequence(QStringLiteral("Shift+O")),
      [this] { next_overlay(-1); });
  up_action_ = add_action(tr("Up"), {}, [this] { go_up(); });
  menu.addAction(up_action_);
  auto* find = new QAction(tr("Find"), this);
  find->setShortcuts({QKeySequence(QKeySequence::Find), QKeySequence(Qt::Key_Slash)});
  find->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  connect(find, &QAction::triggered, bar_, &GraphBar::focus_find);
  addAction(find);
}

void GroupGraphView::update_actions() {
  const Selection& selection = session_.selection();
  const std::size_t groups = selection.groups().size();
  inputs_action_->setChecked(trace_way_ == TraceWay::Inputs);
  outputs_action_->setChecked(trace_way_ == TraceWay::Outputs);
  path_action_->setChecked(path_shown_);
  attention_action_->setEnabled(problem_ && groups > 0);
  equal_action_->setEnabled(problem_ && groups > 0);
  merge_action_->setEnabled(problem_ && groups > 1);
  split_action_->setEnabled(problem_ && groups == 1);
  split_at_action_->setEnabled(problem_ && selection.op().has_value());
  rename_action_->setEnabled(problem_ && groups == 1);
  in_place_action_->setEnabled(problem_ && (groups > 0 || selection.op()));
  move_action_->setEnabled(problem_ && groups > 0);
  up_action_->setEnabled(!levels_.empty());
}

// Groups, or the ops of scopes.
void GroupGraphView::select_equal_blocks() {
  GraphScene& scene = canvas_->scene();
  std::set<int> blocks;
  for (std::size_t n = 0; n < scene.content.nodes.size(); ++n) {
    if (scene.selected[n] != 0 && scene.content.nodes[n].block >= 0)
      blocks.insert(scene.content.nodes[n].block);
  }
  std::vector<GroupId> groups = session_.selection().groups();
  std::vector<OpId> ops;  // of scopes; none where the blocks are groups
  std::size_t count = 0;
  for (std::size_t n = 0; n < scene.content.nodes.size(); ++n) {
    const GraphNode& node = scene.content.nodes[n];
    if (!blocks.contains(node.block)) continue;
    ++count;
    if (node.group.valid() && !node.boundary) groups.push_back(node.group);
    std::ranges::copy(node.ops, std::back_inserter(ops));
  }
  bar_->set_hint(count > 1 ? tr("%1 equal blocks").arg(count) : tr("There is no equal block"));
  if (count > 0) session_.selection().select_ops(std::move(ops), std::move(groups));
}

void GroupGraphView::merge_selected() {
  const std::vector<GroupId> groups = session_.selection().groups();
  if (!problem_ || groups.size() < 2) return;
  regroup(tr("merge %1").arg(names_of(groups, *problem_->grouping)),
          [groups](const Regrouping& from) { return merged(from, groups); });
}

void GroupGraphView::split_selected() {
  const std::vector<GroupId> groups = session_.selection().groups();
  if (!problem_ || groups.size() != 1) return;
  regroup(tr("split %1").arg(names_of(groups, *problem_->grouping)),
          [group = groups[0]](const Regrouping& from) { return split_by_scopes(from, group); });
}

void GroupGraphView::split_at_selected() {
  const std::optional<OpId> op = session_.selection().op();
  if (!problem_ || !op) return;
  regroup(tr("split before %1").arg(text(problem_->graph->op(*op).name).right(40)),
          [op = *op](const Regrouping& from) { return split_at(from, op); });
}

void GroupGraphView::regroup(const QString& label, StrategyChange change) {
  if (problem_ == session_.snapshot().problem) session_.edit_later(std::move(change), label);
}

// The ways into the node, and out of what is shown.
void GroupGraphView::add_levels(QMenu& menu, const GraphNode& hit) {
  if (hit.can_open()) {
    menu.addAction(hit.frame ? tr("Close") : tr("Open"), this, [=, this, problem = problem_] {
      if (problem == problem_) open_node(hit);  // it may change under an open menu
    });
    if (!hit.frame && !hit.boundary) menu.addAction(in_place_action_);
  }
  if (!levels_.empty()) menu.addAction(up_action_);
  menu.addSeparator();
}

// What can be done with the groups under the cursor: where they run, and how.
void GroupGraphView::show_menu(int node, const QPoint& global) {
  const GraphNode hit = canvas_->scene().content.nodes[static_cast<std::size_t>(node)];
  if (!problem_ || (!hit.group.valid() && hit.groups.empty())) return;
  const bool known = canvas_->scene().selected[static_cast<std::size_t>(node)] != 0;
  if (!known) clicked(node, false);
  QMenu menu(this);
  if (hit.group.valid()) add_places(menu, hit.group);
  menu.addAction(move_action_);
  menu.addSeparator();
  add_levels(menu, hit);
  menu.addActions({inputs_action_, outputs_action_, path_action_});
  menu.addSeparator();
  menu.addActions({equal_action_, merge_action_, split_action_, split_at_action_, rename_action_});
  menu.exec(global);
}

void GroupGraphView::add_places(QMenu& menu, GroupId group) {
  const Strategy& strategy = session_.snapshot().strategy;
  const std::vector<GroupId> groups = session_.selection().groups();
  if (group.index() >= strategy.groups.size() || groups.empty()) return;
  const auto& decision = strategy.groups[group];
  const Cluster& cluster = *problem_->cluster;
  const QString names = names_of(groups, *problem_->grouping);
  QMenu* place = menu.addMenu(tr("Place %1 on").arg(names));
  for (std::size_t g = 0; g < cluster.groups().size(); ++g) {
    const DeviceGroupId id(g);
    const DeviceGroup& devices = cluster.groups()[id];
    const QString name = text(devices.name);
    const bool used = decision && share_on(*decision, cluster, id).devices > 0;
    QAction* action = place->addAction(tr("%1 (%2 × %3)")
                                           .arg(name)
                                           .arg(devices.devices.size())
                                           .arg(text(cluster.gpu_types()[devices.type].name)));
    action->setCheckable(true);
    action->setChecked(used);
    connect(action, &QAction::triggered, this, [=, this, problem = problem_] {
      if (problem != problem_) return;
      session_.edit(
          with_device_group(session_.snapshot().strategy, groups, *problem->cluster, id, !used),
          used ? tr("%1 off %2").arg(names, name) : tr("%1 on %2").arg(names, name));
    });
  }
  QMenu* modes = menu.addMenu(tr("Mode"));
  for (const Mode mode :
       {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate, Mode::ModelParallel}) {
    const QString label = text(label_of(mode));
    QAction* action = modes->addAction(label);
    action->setCheckable(true);
    action->setChecked(decision && decision->mode == mode);
    connect(action, &QAction::triggered, this, [=, this, problem = problem_] {
      if (problem != problem_) return;
      session_.edit(with_mode(session_.snapshot().strategy, groups, mode),
                    tr("%1: %2").arg(names, label));
    });
  }
}

}  // namespace strato
