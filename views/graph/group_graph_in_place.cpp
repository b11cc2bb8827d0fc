// Nodes of the graph view that are opened, or renamed, where they stand.
#include <QKeyEvent>
#include <QLineEdit>
#include <functional>
#include <utility>

#include "core/base/error.h"
#include "views/graph/group_graph_view.h"
#include "views/style/own_escape.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kLeastField = 160;  // px

// A field that ends with Escape, or when it is left; but not with another window in front.
class NameField : public QLineEdit {
 public:
  using QLineEdit::QLineEdit;
  std::function<void()> left;  // with something else in it than at first

  void end() {
    if (std::exchange(ended_, true)) return;
    hide();
    deleteLater();
  }

 protected:
  bool event(QEvent* event) override {
    if (is_own_escape(*event)) {
      event->accept();
      return true;
    }
    return QLineEdit::event(event);
  }
  void keyPressEvent(QKeyEvent* event) override {
    if (event->key() == Qt::Key_Escape) return end();
    QLineEdit::keyPressEvent(event);
    event->accept();  // nothing that is typed is for the graph
  }
  void focusOutEvent(QFocusEvent* event) override {
    QLineEdit::focusOutEvent(event);
    if (ended_ || event->reason() == Qt::PopupFocusReason ||
        event->reason() == Qt::ActiveWindowFocusReason)
      return;
    if (left && text() != first_) left();
    end();
  }

 private:
  const QString first_ = text();
  bool ended_ = false;
};

bool is_same(const GraphLevel& a, const GraphLevel& b) {
  return a.group == b.group && a.groups == b.groups && a.opened_ops == b.opened_ops;
}

}  // namespace

// Parts come after the frames that they are on: of the selected nodes the last one is the
// innermost.
void GroupGraphView::toggle_in_place() {
  const GraphScene& scene = canvas_->scene();
  if (!problem_ || pending_ || !scene.is_laid_out()) return;
  int chosen = -1;
  for (std::size_t n = 0; n < scene.selected.size(); ++n) {
    if (scene.selected[n] != 0) chosen = static_cast<int>(n);
  }
  if (chosen < 0) return;
  const auto at = static_cast<std::size_t>(chosen);
  if (scene.content.nodes[at].frame) return close_in_place(scene.content.nodes[at]);
  if (scene.content.nodes[at].can_open() && !scene.content.nodes[at].boundary)
    return open_in_place(scene.content.nodes[at]);
  for (std::size_t n = at; n-- > 0;) {  // an op: what it is in
    if (scene.content.nodes[n].frame && scene.layout.nodes[n].contains(scene.layout.nodes[at]))
      return close_in_place(scene.content.nodes[n]);
  }
}

void GroupGraphView::open_in_place(const GraphNode& node) {
  if (!problem_ || node.frame || node.boundary || !node.can_open()) return;
  pending_ = true;
  worker_.post([this, job = ++part_job_, problem = problem_, times = op_times_,
                level = level_of(node, *problem_->grouping)]() mutable {
    times = op_times_of(*problem, std::move(times));
    auto content = std::make_shared<GraphContent>(parts_of(*problem, level, *times));
    QMetaObject::invokeMethod(
        this,
        [this, job, level = std::move(level), content]() mutable {
          if (job == part_job_) lay_out_part(std::move(level), std::move(*content));
        },
        Qt::QueuedConnection);
  });
}

void GroupGraphView::lay_out_part(GraphLevel level, GraphContent content) {
  part_.level = std::move(level);
  part_.inside = {std::move(content), {}};
  if (part_.inside.content.nodes.empty()) {
    pending_ = false;
    return open_again();
  }
  part_dot_.request(layout_request(part_.inside.content, direction_));
}

void GroupGraphView::part_laid_out(const GraphLayout& layout) {
  pending_ = false;
  part_.inside.layout = layout;
  const int node = node_for(canvas_->scene().content, part_.level);
  if (node < 0 || !problem_) return;
  const QPointF fixed = canvas_->scene().layout.nodes[static_cast<std::size_t>(node)].center();
  parts_.push_back(std::move(part_));
  const GraphLevel opened = parts_.back().level;
  show_parts(fixed, opened);
  open_again();
}

// The next of what was open before the groups had other names.
void GroupGraphView::open_again() {
  while (!pending_ && !reopened_.empty()) {
    const GraphLevel level = std::move(reopened_.front());
    reopened_.erase(reopened_.begin());
    const int node = node_for(canvas_->scene().content, level);
    if (node >= 0) open_in_place(canvas_->scene().content.nodes[static_cast<std::size_t>(node)]);
  }
}

// With what was opened on it.
void GroupGraphView::close_in_place(const GraphNode& frame) {
  const GraphScene& scene = canvas_->scene();
  if (!problem_ || pending_) return;
  const GraphLevel closed = level_of(frame, *problem_->grouping);
  QPointF fixed;
  for (std::size_t n = 0; n < scene.content.nodes.size(); ++n) {
    const GraphNode& node = scene.content.nodes[n];
    if (node.frame && is_same(level_of(node, *problem_->grouping), closed))
      fixed = scene.layout.nodes[n].center();
  }
  std::erase_if(parts_, [&](const OpenedPart& part) { return is_same(part.level, closed); });
  show_parts(fixed, closed);
}

// The node of `fixed` stays where it is on the screen.
void GroupGraphView::show_parts(const QPointF& fixed_before, const GraphLevel& fixed) {
  DrawnGraph drawn = base_;
  std::erase_if(parts_, [&](const OpenedPart& part) {
    if (node_for(drawn.content, part.level) < 0) return true;  // it was on a frame that is closed
    drawn = with_part(std::move(drawn), part, *problem_);
    return false;
  });
  GraphScene& scene = canvas_->scene();
  for (std::size_t n = 0; n < drawn.content.nodes.size(); ++n) {
    const GraphNode& node = drawn.content.nodes[n];
    if (node.boundary || !node.can_open() || !is_same(level_of(node, *problem_->grouping), fixed))
      continue;
    scene.offset += (fixed_before - drawn.layout.nodes[n].center()) * scene.scale;
    break;
  }
  scene.content = std::move(drawn.content);
  scene.layout = {};
  scene.values.clear();
  scene.on_path.clear();
  scene.edge_on_path.clear();
  scene.traced.clear();
  scene.hovered = -1;
  scene.selected.assign(scene.content.nodes.size(), 0);
  read_found();
  read_placement();
  read_selection();
  canvas_->change_layout(std::move(drawn.layout));
}

void GroupGraphView::forget_parts() {
  ++part_job_;
  part_dot_.cancel();
  parts_.clear();
  base_ = {};
}

void GroupGraphView::rename_selected() {
  const std::vector<GroupId>& groups = session_.selection().groups();
  if (!problem_ || problem_ != session_.snapshot().problem || groups.size() != 1) return;
  const GroupId group = groups[0];
  const GraphScene& scene = canvas_->scene();
  QRectF box(canvas_->width() / 2.0 - kLeastField, 8, 2 * kLeastField, 28);
  for (std::size_t n = 0; scene.is_laid_out() && n < scene.content.nodes.size(); ++n) {
    const GraphNode& node = scene.content.nodes[n];
    if (node.group != group || node.op.valid() || !node.ops.empty()) continue;
    canvas_->reveal(static_cast<int>(n));
    box = scene.to_view(scene.layout.nodes[n]);
    break;
  }
  auto* field = new NameField(text(problem_->grouping->group(group).name), canvas_);
  field->setAccessibleName(tr("Name of the group"));
  field->setToolTip(tr("Enter takes it, Escape leaves it; empty: named by its ops again"));
  const int width = std::max(kLeastField, static_cast<int>(box.width()));
  const QSize size(std::min(width, canvas_->width()), field->sizeHint().height());
  const int x =
      std::clamp(static_cast<int>(box.left()), 0, std::max(0, canvas_->width() - size.width()));
  const int y =
      std::clamp(static_cast<int>(box.top()), 0, std::max(0, canvas_->height() - size.height()));
  field->setGeometry(QRect(QPoint(x, y), size));
  field->selectAll();
  field->show();
  field->setFocus();
  connect(field, &QLineEdit::returnPressed, this, [this, field, group, problem = problem_] {
    if (!rename_to(*problem, group, field->text().trimmed())) return;  // it stays, to be mended
    field->end();
    canvas_->setFocus();
  });
  // Once what the focus goes to has had its click: that may be about the groups as they are.
  field->left = [this, field, group, problem = problem_] {
    QMetaObject::invokeMethod(
        this,
        [this, group, problem, name = field->text().trimmed()] {
          rename_to(*problem, group, name);
        },
        Qt::QueuedConnection);
  };
}

// False: it cannot be called so, and the hint tells why.
bool GroupGraphView::rename_to(const Problem& of, GroupId group, const QString& name) {
  if (&of != problem_.get() || problem_ != session_.snapshot().problem) return true;  // it is gone
  const Snapshot& shown = session_.snapshot();
  const QString before = text(problem_->grouping->group(group).name);
  Strategy wanted;
  try {
    wanted = renamed({*problem_, *shown.opened, shown.strategy, {}}, group, name.toStdString());
  } catch (const InputError& error) {
    bar_->set_hint(QString::fromUtf8(error.what()));
    return false;
  }
  session_.edit(wanted, name.isEmpty() ? tr("%1: its own name").arg(before)
                                       : tr("%1 is called %2").arg(before, name));
  return true;
}

}  // namespace strato
