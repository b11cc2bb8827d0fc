// The graph of another plan beside that of the plan shown: the same nodes in the same places, seen
// through the same window, coloured by what the other one decides and needs. Three widgets, for the
// rows of a grid; GUI thread only.
#pragma once

#include <QObject>

#include "views/graph/graph_canvas.h"
#include "views/graph/graph_legend.h"
#include "views/graph/plan_beside.h"

class QLabel;
class QMenu;
class QToolButton;

namespace strato {

class SecondGraph : public QObject {
  Q_OBJECT
 public:
  // `first` draws the plan that is shown.
  SecondGraph(GraphCanvas& first, PlanBeside& beside, QWidget* parent);

  QWidget& header() { return *header_; }
  GraphCanvas& canvas() { return *canvas_; }
  GraphLegend& legend_line() { return *legend_line_; }
  QMenu& plans() { return *plans_; }  // that can be chosen
  QString title() const;
  const Legend& legend() const { return legend_; }
  void set_visible(bool visible);

  // As `first`, with what the other plan says of its nodes; `values`: of the overlay, or nothing
  // where they are not known. `problem` is what the first one shows, and `step_time` how long it
  // takes.
  void show_plan(const GraphScene& first, const std::shared_ptr<const PlanOnGraph>& plan,
                 const Problem& problem, std::vector<double> values,
                 std::optional<Nanos> step_time);
  void show_none();                      // but why
  void follow(const GraphScene& first);  // what is selected, found or traced in it

 signals:
  void close_wanted();

 private:
  QWidget* make_header(QWidget* parent);
  void fill_menu();

  PlanBeside& beside_;
  GraphCanvas* canvas_;
  GraphLegend* legend_line_;
  Legend legend_;
  QWidget* header_;
  QLabel* title_ = nullptr;
  QMenu* plans_ = nullptr;
  std::shared_ptr<const PlanOnGraph> plan_;  // that is drawn
};

}  // namespace strato
