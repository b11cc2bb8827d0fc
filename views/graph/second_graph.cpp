#include "views/graph/second_graph.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QToolButton>

#include "views/graph/trace.h"
#include "views/second/plan_menu.h"
#include "views/style/elided_label.h"
#include "views/style/style.h"

namespace strato {

SecondGraph::SecondGraph(GraphCanvas& first, PlanBeside& beside, QWidget* parent)
    : QObject(parent),
      beside_(beside),
      canvas_(new GraphCanvas(parent)),
      legend_line_(new GraphLegend(parent)) {
  header_ = make_header(parent);
  canvas_->setAccessibleName(tr("Op graph of the other plan"));
  canvas_->set_carries(false);
  canvas_->share_view_of(first);
  connect(&first, &GraphCanvas::laid_out, this,
          [this, &first] { canvas_->scene().layout = first.scene().layout; });
  connect(&first, &GraphCanvas::node_hovered, canvas_, &GraphCanvas::echo);
  connect(canvas_, &GraphCanvas::node_hovered, &first, &GraphCanvas::echo);
}

QWidget* SecondGraph::make_header(QWidget* parent) {
  auto* header = new QWidget(parent);
  title_ = new style::ElidedLabel(Qt::ElideMiddle, header);
  QFont bold = title_->font();
  bold.setBold(true);
  title_->setFont(bold);
  auto* chooser = new QToolButton(header);
  chooser->setText(tr("Plan"));
  chooser->setAccessibleName(tr("Plan in the second graph"));
  chooser->setToolTip(tr("Another plan to compare with; plan files: in Compare"));
  chooser->setAutoRaise(true);
  chooser->setPopupMode(QToolButton::InstantPopup);
  plans_ = new QMenu(chooser);
  chooser->setMenu(plans_);
  connect(plans_, &QMenu::aboutToShow, this, &SecondGraph::fill_menu);
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(2 * style::kGrid, 0, 2 * style::kGrid, 0);
  row->addWidget(title_, 1);
  row->addWidget(chooser);
  return header;
}

void SecondGraph::fill_menu() {
  plans_->clear();
  if (SecondPlan* second = beside_.second()) add_plans(*plans_, *second);
  plans_->addSeparator();
  plans_->addAction(tr("Close the Comparison"), this, &SecondGraph::close_wanted);
}

QString SecondGraph::title() const { return title_->text(); }

void SecondGraph::set_visible(bool visible) {
  for (QWidget* widget : std::initializer_list<QWidget*>{header_, canvas_, legend_line_})
    widget->setVisible(visible);
}

void SecondGraph::show_plan(const GraphScene& first, const std::shared_ptr<const PlanOnGraph>& plan,
                            const Problem& problem, std::vector<double> values,
                            std::optional<Nanos> step_time) {
  GraphScene scene = first;
  const GraphScene& before = canvas_->scene();
  const bool same = before.content.nodes.size() == scene.content.nodes.size();
  scene.hovered = same ? before.hovered : -1;
  scene.echoed = same ? before.echoed : -1;
  scene.cluster = plan->plan->problem->cluster.get();
  scene.values = std::move(values);
  for (std::size_t n = 0; n < scene.content.nodes.size(); ++n) {
    const std::vector<OpId> ops = ops_of(scene.content.nodes[n], *problem.grouping);
    scene.stripes[n] = stripes_of(ops, *plan);
    scene.marks[n] = scene.content.nodes[n].is_group() ? mode_of(ops, *plan) : QString();
  }
  scene.mark_values();
  if (!scene.on_path.empty()) {
    PathMarks marks = path_marks(scene.content, problem, plan->figures->path);
    scene.on_path = std::move(marks.nodes);
    scene.edge_on_path = std::move(marks.edges);
  }
  const bool unknown = is_quantity(scene.overlay) && scene.values.empty();
  legend_ = unknown ? Legend{}
                    : legend_for(scene.overlay, scene.content, scene.stripes, scene.cluster,
                                 scene.most_value, style::is_dark(canvas_->palette()));
  legend_line_->show_legend(legend_);
  plan_ = plan;
  canvas_->set_empty_text(tr("Laying out…"));
  canvas_->scene() = std::move(scene);
  canvas_->update();
  const Nanos other = plan->plan->outcome->timeline->step_time;
  title_->setText(step_time ? tr("Other: %1 · %2 (%3)")
                                  .arg(plan->plan->label, style::time(other),
                                       style::signed_percent(other / *step_time - 1))
                            : tr("Other: %1 · %2").arg(plan->plan->label, style::time(other)));
}

void SecondGraph::show_none() {
  GraphScene& scene = canvas_->scene();
  scene.content = {};
  scene.layout = {};
  scene.cluster = nullptr;
  plan_.reset();
  legend_ = {};
  legend_line_->show_legend(legend_);
  title_->setText(tr("Other plan"));
  canvas_->set_empty_text(beside_.why_none());
}

void SecondGraph::follow(const GraphScene& first) {
  GraphScene& scene = canvas_->scene();
  if (scene.content.nodes.size() != first.content.nodes.size()) return;
  scene.selected = first.selected;
  scene.found = first.found;
  scene.traced = first.traced;
  canvas_->update();
}

}  // namespace strato
