// Another plan in the graph view: its graph beside the first one, and what it decides otherwise.
#include <QGridLayout>
#include <QMenu>

#include "views/graph/group_graph_view.h"
#include "views/graph/second_graph.h"
#include "views/style/elided_label.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

enum Row { kNote, kTitles, kCanvases, kLegends };

bool counts(const GraphNode& node) { return !node.boundary && !node.frame; }

}  // namespace

void GroupGraphView::build_panes(QLayout& column) {
  comparison_note_ = new style::ElidedLabel(Qt::ElideRight, this);
  first_title_ = new style::ElidedLabel(Qt::ElideMiddle, this);
  QFont bold = first_title_->font();
  bold.setBold(true);
  first_title_->setFont(bold);
  for (QLabel* label : {comparison_note_, first_title_}) {
    label->setContentsMargins(2 * style::kGrid, 2, 2 * style::kGrid, 2);
    label->hide();
  }
  auto* panes = new QWidget(this);
  panes_ = new QGridLayout(panes);
  panes_->setContentsMargins(0, 0, 0, 0);
  panes_->setVerticalSpacing(0);
  panes_->setHorizontalSpacing(style::kGrid);
  panes_->addWidget(comparison_note_, kNote, 0, 1, 2);
  panes_->addWidget(first_title_, kTitles, 0);
  panes_->addWidget(canvas_, kCanvases, 0);
  panes_->addWidget(legend_line_, kLegends, 0);
  panes_->setRowStretch(kCanvases, 1);
  panes_->setColumnStretch(0, 1);
  column.addWidget(panes);
}

void GroupGraphView::set_second_plan(SecondPlan& second) {
  beside_ = new PlanBeside(session_, second, this);
  second_ = new SecondGraph(*canvas_, *beside_, panes_->parentWidget());
  panes_->addWidget(&second_->header(), kTitles, 1);
  panes_->addWidget(&second_->canvas(), kCanvases, 1);
  panes_->addWidget(&second_->legend_line(), kLegends, 1);
  second_->set_visible(false);
  connect(second_, &SecondGraph::close_wanted, this, [this] { show_beside(false); });
  GraphCanvas& canvas = second_->canvas();
  connect(&canvas, &GraphCanvas::cursor_info, this, &GroupGraphView::cursor_info);
  connect(&canvas, &GraphCanvas::node_clicked, this, &GroupGraphView::clicked);
  connect(&canvas, &GraphCanvas::node_hovered, this, &GroupGraphView::hovered);
  connect(&canvas, &GraphCanvas::menu_wanted, this, &GroupGraphView::show_menu_of_other);
  connect(&canvas, &GraphCanvas::node_opened, this, [this](int node) {
    open_node(canvas_->scene().content.nodes[static_cast<std::size_t>(node)]);
  });
  for (GraphCanvas* drawn : {canvas_, &canvas})
    drawn->set_note([this](std::size_t node) { return note_of(node); });
  for (QAction* action : canvas_->actions()) canvas.addAction(action);
  // It may hear of another problem first: then the view will, and reads all that.
  connect(beside_, &PlanBeside::changed, this, [this] {
    if (problem_ == session_.snapshot().problem) read_placement();
  });
  beside_action_->setEnabled(true);
}

void GroupGraphView::show_beside(bool shown) {
  if (!second_ || shown == beside_shown_) return;
  beside_shown_ = shown;
  beside_action_->setChecked(shown);
  const bool fits = all_in_sight(canvas_->scene(), canvas_->size());
  if (!shown && second_->canvas().hasFocus()) canvas_->setFocus();
  panes_->setColumnStretch(1, shown ? 1 : 0);
  first_title_->setVisible(shown);
  second_->set_visible(shown);
  want_other_plan();
  read_placement();
  panes_->activate();
  if (fits) canvas_->fit();
}

void GroupGraphView::want_other_plan() {
  if (beside_)
    beside_->set_wanted((beside_shown_ || overlay() == Overlay::AgainstPlan) && isVisible());
}

void GroupGraphView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  want_other_plan();
}

void GroupGraphView::hideEvent(QHideEvent* event) {
  want_other_plan();
  QWidget::hideEvent(event);
}

std::shared_ptr<const PlanOnGraph> GroupGraphView::other_plan() const {
  if (!beside_ || !problem_ || !(beside_shown_ || overlay() == Overlay::AgainstPlan))
    return nullptr;
  const auto& plan = beside_->plan();
  return plan && plan->is_of(*problem_) ? plan : nullptr;
}

void GroupGraphView::read_moved() {
  GraphScene& scene = canvas_->scene();
  scene.moved.clear();
  const auto other = other_plan();
  for (std::size_t n = 0; other && n < scene.content.nodes.size(); ++n) {
    const auto ops = ops_of(scene.content.nodes[n], *problem_->grouping);
    scene.moved.push_back(differing(ops, *other) > 0 ? 1 : 0);
  }
  refresh_note(other.get());
}

void GroupGraphView::refresh_note(const PlanOnGraph* other) {
  comparison_note_->setVisible(other != nullptr);
  if (!other) return;
  const GraphScene& scene = canvas_->scene();
  std::size_t all = 0, moved = 0;
  for (std::size_t n = 0; n < scene.moved.size(); ++n) {
    if (!counts(scene.content.nodes[n])) continue;
    ++all;
    if (scene.moved[n] != 0) ++moved;
  }
  QStringList parts = {
      moved == 0 ? tr("All that is here is decided alike")
                 : tr("Decided otherwise: %1 of %2, with a full corner").arg(moved).arg(all)};
  const Problem& theirs = *other->plan->problem;
  if (!other->match->same_graph) parts << tr("another model: %1").arg(text(text_of(*other->match)));
  if (theirs.cluster->digest() != problem_->cluster->digest())
    parts << tr("another cluster: %1").arg(text(theirs.cluster->name()));
  if (other->match->same_graph && !(theirs.grouping->digest() == problem_->grouping->digest()))
    parts << tr("groups of its own: compared op by op");
  comparison_note_->setText(parts.join(QStringLiteral(" · ")));
}

QString GroupGraphView::comparison_note() const {
  return comparison_note_->isHidden() ? QString() : comparison_note_->text();
}

// Busy time against the other plan; the last good values stay while it is simulated.
void GroupGraphView::read_against_plan() {
  GraphScene& scene = canvas_->scene();
  const auto other = other_plan();
  const auto now = figures();
  if (!other) {
    scene.values.clear();
    hint_is_overlays_ = true;
    return bar_->set_hint(beside_ ? beside_->why_none().simplified()
                                  : tr("Nothing to compare with yet"));
  }
  if (std::exchange(hint_is_overlays_, false)) bar_->set_hint(scene.content.note);
  if (!now) return;
  scene.values =
      overlay_values(scene.content, *problem_->grouping, scene.overlay, *now, other->figures.get());
  scene.words = tr("Busy time against %1").arg(other->plan->label);
}

// What the other plan has of the overlay's quantity; of changes, against what the first is against.
std::vector<double> GroupGraphView::second_values() {
  const GraphScene& scene = canvas_->scene();
  const auto other = beside_shown_ ? other_plan() : nullptr;
  if (!other || !is_quantity(scene.overlay)) return {};
  if (!is_of_outcome(scene.overlay)) return scene.values;  // not about plans
  if (scene.overlay == Overlay::SinceEdit) return {};      // it was not edited
  std::shared_ptr<const OpFigures> then;
  if (scene.overlay == Overlay::AgainstPlan) then = figures();
  if (scene.overlay == Overlay::AgainstBaseline)
    then = figures_of_outcome(session_.snapshot().baseline);
  if (is_change(scene.overlay) && !then) return {};
  return overlay_values(scene.content, *problem_->grouping, scene.overlay, *other->figures,
                        then.get());
}

void GroupGraphView::show_second() {
  if (!second_ || !beside_shown_) return;
  const auto& outcome = session_.snapshot().outcome;
  std::optional<Nanos> step_time;
  if (is_of_problem(outcome)) step_time = outcome->timeline->step_time;
  const QString label = session_.snapshot().label;
  first_title_->setText(step_time ? tr("Shown: %1 · %2").arg(label, style::time(*step_time))
                                  : tr("Shown: %1").arg(label));
  const auto other = other_plan();
  if (!other) return second_->show_none();
  second_->show_plan(canvas_->scene(), other, *problem_, second_values_, step_time);
}

void GroupGraphView::marks_changed() {
  canvas_->update();
  if (second_) second_->follow(canvas_->scene());
}

QString GroupGraphView::note_of(std::size_t node) const {
  const auto other = other_plan();
  const GraphScene& scene = canvas_->scene();
  if (!other || node >= scene.moved.size() || scene.content.nodes[node].boundary) return {};
  if (scene.moved[node] == 0) return tr("<br>decided alike in both plans");
  const Pair<std::string> words =
      words_for(ops_of(scene.content.nodes[node], *problem_->grouping), *other);
  const auto part = [](const QString& label, const std::string& decision) {
    return QStringLiteral("<br>%1: %2").arg(label.toHtmlEscaped(), text(decision).toHtmlEscaped());
  };
  return part(tr("Shown"), words.to) +
         part(other->plan->label,
              words.from == "-" ? tr("has no such ops").toStdString() : words.from);
}

// Only what changes no plan: edited is the one that is shown.
void GroupGraphView::show_menu_of_other(int node, const QPoint& global) {
  const GraphNode hit = canvas_->scene().content.nodes[static_cast<std::size_t>(node)];
  if (!problem_ || (!hit.group.valid() && hit.groups.empty())) return;
  if (canvas_->scene().selected[static_cast<std::size_t>(node)] == 0) clicked(node, false);
  QMenu menu(this);
  add_levels(menu, hit);
  menu.addActions({inputs_action_, outputs_action_, path_action_, equal_action_, beside_action_});
  menu.exec(global);
}

}  // namespace strato
