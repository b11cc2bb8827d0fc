#include "views/graph/group_graph_view.h"

#include <QKeyEvent>
#include <QVBoxLayout>

#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {
constexpr std::size_t kFewNodes = 150;  // both directions are laid out and the better one is taken
constexpr int kSearchDelayMs = 120, kStopDelayMs = 1000;
}  // namespace

GroupGraphView::GroupGraphView(Session& session, QWidget* parent)
    : QWidget(parent), session_(session) {
  bar_ = new GraphBar(this);
  canvas_ = new GraphCanvas(this);
  legend_line_ = new GraphLegend(this);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(bar_);
  build_panes(*column);
  setFocusProxy(canvas_);
  search_delay_.setSingleShot(true);
  search_delay_.setInterval(kSearchDelayMs);
  connect(&search_delay_, &QTimer::timeout, this, &GroupGraphView::search);
  stop_delay_.setSingleShot(true);
  stop_delay_.setInterval(kStopDelayMs);
  connect(&stop_delay_, &QTimer::timeout, this, [this] { bar_->show_stop(dot_.is_running()); });
  connect(&dot_, &DotProcess::done, this, &GroupGraphView::layout_done);
  connect(&part_dot_, &DotProcess::done, this, &GroupGraphView::part_laid_out);
  connect(canvas_, &GraphCanvas::cursor_info, this, &GroupGraphView::cursor_info);
  connect(canvas_, &GraphCanvas::node_clicked, this, &GroupGraphView::clicked);
  connect(canvas_, &GraphCanvas::node_opened, this, [this](int node) {
    open_node(canvas_->scene().content.nodes[static_cast<std::size_t>(node)]);
  });
  connect(canvas_, &GraphCanvas::node_dragged, this, &GroupGraphView::drag);
  connect(canvas_, &GraphCanvas::menu_wanted, this, &GroupGraphView::show_menu);
  connect(canvas_, &GraphCanvas::node_hovered, this, &GroupGraphView::hovered);
  connect(bar_, &GraphBar::level_wanted, this,
          [this](int depth) { go_to_level(static_cast<std::size_t>(depth)); });
  connect(bar_, &GraphBar::fit_wanted, canvas_, &GraphCanvas::fit);
  connect(bar_, &GraphBar::stop_wanted, &dot_, &DotProcess::give_up);
  connect(bar_, &GraphBar::overlay_chosen, this, &GroupGraphView::set_overlay);
  connect(bar_, &GraphBar::query_changed, this, &GroupGraphView::query_changed);
  connect(bar_, &GraphBar::query_entered, this, &GroupGraphView::show_found);
  connect(&session, &Session::problem_changed, this, &GroupGraphView::problem_changed);
  connect(&session, &Session::strategy_changed, this, [this] {
    read_placement();
    if (!bar_->query().isEmpty()) search_delay_.start();  // it may ask for devices and times
  });
  connect(&session, &Session::outcome_changed, this, [this] {
    read_placement();
    if (!bar_->query().isEmpty()) search_delay_.start();
  });
  connect(&figures_, &GraphFigures::ready, this, &GroupGraphView::read_placement);
  connect(&attention_, &GraphAttention::ready, this, &GroupGraphView::read_placement);
  connect(&session.selection(), &Selection::changed, this, &GroupGraphView::read_selection);
  make_actions();
  problem_changed();
}

void GroupGraphView::problem_changed() {
  const auto before = problem_;
  problem_ = session_.snapshot().problem;
  if (problem_ == before && problem_) return read_placement();
  // Other groups, or names, alone: what is open stays so.
  const bool same_ops = before && problem_ && before->graph == problem_->graph &&
                        before->cost == problem_->cost && before->cluster == problem_->cluster;
  const bool same_groups = same_ops && before->grouping->digest() == problem_->grouping->digest();
  std::vector<GraphLevel> open;
  for (const OpenedPart& part : parts_) open.push_back(part.level);
  open.insert(open.end(), reopened_.begin(), reopened_.end());
  for (auto* levels : {&levels_, &open}) {
    if (!same_ops) levels->clear();
    for (GraphLevel& level : *levels)
      level = level_in(std::move(level), *before->grouping, *problem_->grouping);
  }
  ++search_job_;  // what is under way is about another problem
  searching_ = false;
  if (!same_groups) forget_drawn(same_ops);
  if (!problem_) return;
  load_level();
  reopened_ = std::move(open);
  if (!bar_->query().isEmpty()) query_changed(bar_->query());
}

// Nothing of it holds any more.
void GroupGraphView::forget_drawn(bool same_ops) {
  if (!same_ops) op_times_.reset();
  came_from_.reset();
  found_ops_.clear();
  found_groups_.clear();
  canvas_->scene().cluster = problem_ ? problem_->cluster.get() : nullptr;
  dot_.cancel();
  canvas_->set_empty_text(
      problem_ ? tr("Reading %1 ops…").arg(problem_->graph->op_count())
               : tr("The model's op groups appear here.\nOpen a model and a cluster (Ctrl+O)."));
  ++content_job_;
  pending_ = false;
  show_content({});
}

void GroupGraphView::open_group(GroupId group) {
  if (!problem_ || group.index() >= problem_->grouping->size()) return;
  while (!levels_.empty() && !levels_.back().ops.empty()) levels_.pop_back();
  GraphLevel level;
  level.name = text(problem_->grouping->group(group).name);
  level.group = group;
  level.ops = problem_->grouping->group(group).ops;
  open_level(std::move(level));
}

void GroupGraphView::open_level(GraphLevel level) {
  came_from_.reset();
  levels_.push_back(std::move(level));
  load_level();
}

void GroupGraphView::go_up() {
  if (!levels_.empty()) go_to_level(levels_.size() - 1);
}

// Where one came from is selected there.
void GroupGraphView::go_to_level(std::size_t depth) {
  if (!problem_ || depth >= levels_.size()) return;
  came_from_ = levels_[depth];
  levels_.resize(depth);
  load_level();
}

// What is drawn stays until the new content is there.
void GroupGraphView::load_level() {
  pending_ = true;
  dot_.cancel();
  forget_parts();
  reopened_.clear();
  update_path();
  bar_->set_hint({});
  const GraphLevel level = levels_.empty() ? GraphLevel{} : levels_.back();
  worker_.post(
      [this, job = ++content_job_, problem = problem_, level, times = op_times_]() mutable {
        times = op_times_of(*problem, std::move(times));
        auto content = std::make_shared<GraphContent>(content_of(*problem, level, *times));
        QMetaObject::invokeMethod(
            this,
            [this, job, problem, times, content] {
              if (problem == problem_) op_times_ = times;
              if (job == content_job_) show_content(std::move(*content));
            },
            Qt::QueuedConnection);
      });
}

void GroupGraphView::show_content(GraphContent content) {
  GraphScene& scene = canvas_->scene();
  forget_parts();
  scene.content = std::move(content);
  scene.layout = {};
  scene.values.clear();
  scene.on_path.clear();
  scene.edge_on_path.clear();
  scene.traced.clear();
  scene.hovered = -1;
  if (const auto from = std::exchange(came_from_, {}); from && from->group.valid()) {
    const bool scope = !levels_.empty() && !levels_.back().ops.empty();
    session_.selection().select_ops(scope ? from->ops : std::vector<OpId>(), {from->group});
  }
  scene.selected.assign(scene.content.nodes.size(), 0);
  read_found();
  read_placement();
  read_selection();
  update_path();
  bar_->set_hint(scene.content.note);
  other_.reset();
  if (scene.content.nodes.empty()) return canvas_->show_layout({});
  pending_ = true;
  canvas_->set_empty_text(tr("Laying out %1 nodes…").arg(scene.content.nodes.size()));
  choosing_ = scene.content.nodes.size() <= kFewNodes;
  direction_ = FlowDirection::Down;
  stop_delay_.start();
  dot_.request(layout_request(scene.content, direction_));
}

void GroupGraphView::layout_done(const GraphLayout& plain, const QString& hint) {
  const QSizeF view = QSizeF(canvas_->size()).expandedTo(QSizeF(400, 300));
  const LayoutRequest request = layout_request(canvas_->scene().content, direction_);
  const GraphLayout layout =
      fit_scale(plain, view) < kLegibleScale ? snaked(plain, request, view) : plain;
  if (choosing_ && !other_ && hint.isEmpty() && fit_scale(layout, view) < 1) {
    other_ = layout;
    direction_ = FlowDirection::Right;
    return dot_.request(layout_request(canvas_->scene().content, direction_));
  }
  pending_ = false;
  stop_delay_.stop();
  bar_->show_stop(false);
  if (!hint.isEmpty()) bar_->set_hint(hint);
  const bool keep_first = other_ && fit_scale(*other_, view) >= fit_scale(layout, view);
  base_ = {canvas_->scene().content, keep_first ? *other_ : layout};
  canvas_->show_layout(base_.layout);
  const auto& selected = canvas_->scene().selected;
  const auto first = std::ranges::find(selected, 1);
  if (first != selected.end()) canvas_->reveal(static_cast<int>(first - selected.begin()));
  open_again();
}

void GroupGraphView::open_node(const GraphNode& node) {
  if (!problem_ || !node.can_open()) return;
  if (node.frame) return close_in_place(node);
  if (node.boundary) return open_group(node.group);
  open_level(level_of(node, *problem_->grouping));
}

void GroupGraphView::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Backspace && !levels_.empty()) return go_up();
  if (event->key() == Qt::Key_Escape && bar_->finds()) {
    bar_->clear_find();
    canvas_->setFocus();
    return;
  }
  QWidget::keyPressEvent(event);
}

void GroupGraphView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) read_overlay();  // the legend has colours of its own
}

void GroupGraphView::update_path() {
  if (!problem_) return bar_->set_path({}, {});
  QStringList names = {text(problem_->graph->name())};
  for (const GraphLevel& level : levels_) names << level.name;
  QString count = tr("%1 groups").arg(problem_->grouping->size());
  if (!levels_.empty()) {
    const GraphLevel& level = levels_.back();
    count = level.ops.empty() ? tr("%1 groups").arg(level.groups.size())
                              : tr("%1 ops").arg(level.ops.size());
  }
  bar_->set_path(names, count);
  update_actions();
}

void GroupGraphView::render_to(QPainter& painter, QSize size) {
  GraphScene copy = canvas_->scene();
  copy.palette = palette();
  copy.font = font();
  const int line = legend_line_->sizeHint().height();
  const QSize whole = size;
  size.rheight() -= line;
  copy.scale = std::min(1.0, fit_scale(copy.layout, QSizeF(size)));
  copy.offset =
      QRectF(QPointF(0, 0), QSizeF(size)).center() - copy.layout.bounds.center() * copy.scale;
  paint_graph(painter, copy, size);
  painter.fillRect(QRect(0, size.height(), whole.width(), line), palette().window());
  paint_legend(painter, legend_, palette(), font(), QRectF(0, size.height(), whole.width(), line));
}

}  // namespace strato
