#include "views/graph/group_graph_view.h"

#include <QAction>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/models/strategy_edits.h"
#include "views/style/style.h"

namespace strato {
namespace {
constexpr std::size_t kFewNodes = 150;  // both directions are laid out and the better one is taken
}

GroupGraphView::GroupGraphView(Session& session, QWidget* parent)
    : QWidget(parent), session_(session) {
  canvas_ = new GraphCanvas(this);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(make_bar());
  column->addWidget(canvas_, 1);
  setFocusProxy(canvas_);
  connect(&dot_, &DotProcess::done, this, &GroupGraphView::layout_done);
  connect(canvas_, &GraphCanvas::cursor_info, this, &GroupGraphView::cursor_info);
  connect(canvas_, &GraphCanvas::node_clicked, this, &GroupGraphView::clicked);
  connect(canvas_, &GraphCanvas::node_opened, this, &GroupGraphView::opened_node);
  connect(canvas_, &GraphCanvas::menu_wanted, this, &GroupGraphView::show_menu);
  connect(canvas_, &GraphCanvas::node_hovered, this, [this](int node) {
    std::optional<GroupId> group;
    if (node >= 0) group = canvas_->scene().content.nodes[static_cast<std::size_t>(node)].group;
    session_.selection().hover_group(group);
  });
  connect(&session, &Session::problem_changed, this, &GroupGraphView::problem_changed);
  connect(&session, &Session::strategy_changed, this, &GroupGraphView::read_placement);
  connect(&session.selection(), &Selection::changed, this, &GroupGraphView::read_selection);
  problem_changed();
}

QWidget* GroupGraphView::make_bar() {
  auto* bar = new QWidget(this);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(8, 2, 8, 2);
  row->setSpacing(8);
  breadcrumb_ = new QLabel(bar);
  breadcrumb_->setTextFormat(Qt::RichText);
  breadcrumb_->setToolTip(tr("Backspace goes up"));
  connect(breadcrumb_, &QLabel::linkActivated, this, &GroupGraphView::go_up);
  hint_ = new QLabel(bar);
  hint_->setEnabled(false);
  find_ = new QLineEdit(bar);
  find_->setPlaceholderText(tr("Find a group or op (Ctrl+F)"));
  find_->setClearButtonEnabled(true);
  find_->setFixedWidth(220);
  find_->setAccessibleName(tr("Find in the graph"));
  connect(find_, &QLineEdit::textChanged, this, [this](const QString& text) { find(text, false); });
  connect(find_, &QLineEdit::returnPressed, this, [this] { find(find_->text(), true); });
  auto* fit = new QToolButton(bar);
  fit->setText(tr("Fit"));
  fit->setToolTip(tr("Show the whole graph (Home); Ctrl+wheel or W/S zooms, drag pans"));
  fit->setAutoRaise(true);
  connect(fit, &QToolButton::clicked, canvas_, &GraphCanvas::fit);
  row->addWidget(breadcrumb_);
  row->addWidget(hint_, 1);
  row->addWidget(find_);
  row->addWidget(fit);
  for (const QKeySequence& keys : {QKeySequence(QKeySequence::Find), QKeySequence(Qt::Key_Slash)}) {
    auto* action = new QAction(this);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, find_, [this] {
      find_->setFocus(Qt::ShortcutFocusReason);
      find_->selectAll();
    });
    addAction(action);
  }
  return bar;
}

void GroupGraphView::problem_changed() {
  if (problem_ == session_.snapshot().problem && problem_) return read_placement();
  problem_ = session_.snapshot().problem;
  op_times_.clear();
  opened_.reset();
  canvas_->scene().cluster = problem_ ? problem_->cluster.get() : nullptr;
  if (!problem_) {
    dot_.cancel();
    canvas_->set_empty_text(
        tr("The model's op groups appear here.\nOpen a model and a cluster (Ctrl+O)."));
    show_content({});
    return;
  }
  show_content(content_of_groups(*problem_));
}

void GroupGraphView::open_group(GroupId group) {
  if (!problem_) return;
  opened_ = group;
  if (op_times_.empty())
    op_times_ = mean_op_times(*problem_->graph, *problem_->cluster, *problem_->cost);
  show_content(content_of_group(*problem_, group, op_times_));
}

void GroupGraphView::go_up() {
  if (!problem_ || !opened_) return;
  const GroupId group = *opened_;
  opened_.reset();
  show_content(content_of_groups(*problem_));
  session_.selection().select_groups({group});
}

void GroupGraphView::show_content(GraphContent content) {
  GraphScene& scene = canvas_->scene();
  scene.content = std::move(content);
  scene.layout = {};
  read_placement();
  read_selection();
  update_breadcrumb();
  hint_->setText(scene.content.note);
  other_.reset();
  if (scene.content.nodes.empty()) return canvas_->show_layout({});
  canvas_->set_empty_text(tr("Laying out %1 nodes…").arg(scene.content.nodes.size()));
  choosing_ = scene.content.nodes.size() <= kFewNodes;
  direction_ = FlowDirection::Down;
  dot_.request(layout_request(scene.content, direction_));
}

void GroupGraphView::layout_done(const GraphLayout& plain, const QString& hint) {
  const QSizeF view = QSizeF(canvas_->size()).expandedTo(QSizeF(400, 300));
  const LayoutRequest request = layout_request(canvas_->scene().content, direction_);
  const GraphLayout layout =
      fit_scale(plain, view) < kLegibleScale ? snaked(plain, request, view) : plain;
  if (choosing_ && !other_ && fit_scale(layout, view) < 1) {
    other_ = layout;
    direction_ = FlowDirection::Right;
    return dot_.request(layout_request(canvas_->scene().content, direction_));
  }
  if (!hint.isEmpty()) hint_->setText(hint);
  const bool keep_first = other_ && fit_scale(*other_, view) >= fit_scale(layout, view);
  canvas_->show_layout(keep_first ? *other_ : layout);
}

void GroupGraphView::read_placement() {
  GraphScene& scene = canvas_->scene();
  const std::size_t count = scene.content.nodes.size();
  scene.stripes.assign(count, {});
  scene.modes.assign(count, {});
  scene.found.resize(count);
  scene.selected.resize(count);
  const Strategy& strategy = session_.snapshot().strategy;
  for (std::size_t n = 0; problem_ && n < count; ++n) {
    const GraphNode& node = scene.content.nodes[n];
    if (node.op.valid() || node.boundary || node.group.index() >= strategy.groups.size()) continue;
    const auto& decision = strategy.groups[node.group];
    if (!decision) continue;
    scene.stripes[n] = stripes_of(*decision, *problem_->cluster);
    scene.modes[n] = QString::fromUtf8(label_of(decision->mode).data());
  }
  canvas_->update();
}

void GroupGraphView::read_selection() {
  GraphScene& scene = canvas_->scene();
  const Selection& selection = session_.selection();
  scene.selected.assign(scene.content.nodes.size(), 0);
  scene.found.resize(scene.content.nodes.size());
  int first = -1;
  for (std::size_t n = 0; n < scene.content.nodes.size(); ++n) {
    const GraphNode& node = scene.content.nodes[n];
    const bool on = node.op.valid() ? selection.op() == node.op : selection.contains(node.group);
    scene.selected[n] = on ? 1 : 0;
    if (on && first < 0) first = static_cast<int>(n);
  }
  if (first >= 0 && !canvas_->underMouse()) canvas_->reveal(first);
  canvas_->update();
}

void GroupGraphView::clicked(int node, bool extend) {
  if (node < 0) {
    if (!extend) session_.selection().clear();
    return;
  }
  const GraphNode& hit = canvas_->scene().content.nodes[static_cast<std::size_t>(node)];
  if (hit.op.valid()) {
    session_.selection().select_op(hit.op, hit.group);
  } else {
    session_.selection().select_group(hit.group, extend);
  }
}

void GroupGraphView::opened_node(int node) {
  const GraphNode& hit = canvas_->scene().content.nodes[static_cast<std::size_t>(node)];
  if (!hit.op.valid()) open_group(hit.group);
}

void GroupGraphView::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Backspace && opened_) return go_up();
  if (event->key() == Qt::Key_Escape && find_->hasFocus()) {
    find_->clear();
    canvas_->setFocus();
    return;
  }
  QWidget::keyPressEvent(event);
}

// What can be done with the groups under the cursor: where they run, and how.
void GroupGraphView::show_menu(int node, const QPoint& global) {
  const GraphNode& hit = canvas_->scene().content.nodes[static_cast<std::size_t>(node)];
  if (!session_.selection().contains(hit.group)) session_.selection().select_group(hit.group);
  const std::vector<GroupId> groups = session_.selection().groups();
  const Strategy& strategy = session_.snapshot().strategy;
  if (hit.group.index() >= strategy.groups.size()) return;
  const auto& decision = strategy.groups[hit.group];
  const Cluster& cluster = *problem_->cluster;
  const QString names = names_of(groups, *problem_->grouping);
  QMenu menu(this);
  QMenu* place = menu.addMenu(tr("Place %1 on").arg(names));
  for (std::size_t g = 0; g < cluster.groups().size(); ++g) {
    const DeviceGroupId id(g);
    const QString name = QString::fromStdString(cluster.groups()[id].name);
    const bool used = decision && share_on(*decision, cluster, id).devices > 0;
    QAction* action = place->addAction(
        tr("%1 (%2 × %3)")
            .arg(name)
            .arg(cluster.groups()[id].devices.size())
            .arg(QString::fromStdString(cluster.gpu_types()[cluster.groups()[id].type].name)));
    action->setCheckable(true);
    action->setChecked(used);
    connect(action, &QAction::triggered, this, [=, this, &cluster] {
      session_.edit(with_device_group(session_.snapshot().strategy, groups, cluster, id, !used),
                    used ? tr("%1 off %2").arg(names, name) : tr("%1 on %2").arg(names, name));
    });
  }
  QMenu* modes = menu.addMenu(tr("Mode"));
  for (const Mode mode :
       {Mode::ReplicateAllReduce, Mode::ReplicatePs, Mode::Duplicate, Mode::ModelParallel}) {
    const QString label = QString::fromUtf8(label_of(mode).data());
    QAction* action = modes->addAction(label);
    action->setCheckable(true);
    action->setChecked(decision && decision->mode == mode);
    connect(action, &QAction::triggered, this, [=, this] {
      session_.edit(with_mode(session_.snapshot().strategy, groups, mode),
                    tr("%1: %2").arg(names, label));
    });
  }
  menu.addSeparator();
  if (opened_ != hit.group)
    menu.addAction(tr("Open group"), this, [=, this] { open_group(hit.group); });
  if (opened_) menu.addAction(tr("Up to all groups"), this, &GroupGraphView::go_up);
  menu.exec(global);
}

void GroupGraphView::find(const QString& text, bool next) {
  GraphScene& scene = canvas_->scene();
  std::vector<int> hits;
  int current = -1;
  for (std::size_t n = 0; n < scene.content.nodes.size(); ++n) {
    const GraphNode& node = scene.content.nodes[n];
    bool hit = !text.isEmpty() && node.name.contains(text, Qt::CaseInsensitive);
    if (!hit && !text.isEmpty() && node.op.valid())
      hit = node.detail.contains(text, Qt::CaseInsensitive);
    scene.found[n] = hit ? 1 : 0;
    if (!hit) continue;
    if (scene.selected[n] != 0) current = static_cast<int>(hits.size());
    hits.push_back(static_cast<int>(n));
  }
  hint_->setText(text.isEmpty() ? scene.content.note : tr("%1 found").arg(hits.size()));
  if (next && !hits.empty()) {
    const int node = hits[static_cast<std::size_t>(current + 1) % hits.size()];
    clicked(node, false);
    canvas_->centre_on(node);
  } else if (!hits.empty()) {
    canvas_->reveal(hits.front());
  }
  canvas_->update();
}

void GroupGraphView::update_breadcrumb() {
  if (!problem_) return breadcrumb_->clear();
  const QString model = QString::fromStdString(problem_->graph->name()).toHtmlEscaped();
  if (!opened_) {
    breadcrumb_->setText(tr("<b>%1</b> · %2 groups").arg(model).arg(problem_->grouping->size()));
    return;
  }
  const OpGroup& group = problem_->grouping->group(*opened_);
  breadcrumb_->setText(tr("<a href=\"up\">%1</a> › <b>%2</b> · %3 ops")
                           .arg(model, QString::fromStdString(group.name).toHtmlEscaped())
                           .arg(group.ops.size()));
}

void GroupGraphView::render_to(QPainter& painter, QSize size) {
  GraphScene copy = canvas_->scene();
  copy.palette = palette();
  copy.font = font();
  copy.scale = std::min(1.0, fit_scale(copy.layout, QSizeF(size)));
  copy.offset =
      QRectF(QPointF(0, 0), QSizeF(size)).center() - copy.layout.bounds.center() * copy.scale;
  paint_graph(painter, copy, size);
}

}  // namespace strato
