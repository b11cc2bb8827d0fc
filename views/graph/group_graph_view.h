// The op-group graph of the problem; a group opens into the nested scopes of its ops, and those
// into ops. Colours say one thing at a time; queries find and select; groups are merged and split
// here. What a level holds is made on a worker, laid out by Graphviz in a child process, drawn
// here: the last good picture stays meanwhile. The graph of another plan can lie beside it
// (second_graph.h).
#pragma once

#include <QTimer>
#include <QWidget>
#include <functional>
#include <optional>
#include <vector>

#include "core/search/evaluate/outcome.h"
#include "views/graph/dot_process.h"
#include "views/graph/graph_attention.h"
#include "views/graph/graph_bar.h"
#include "views/graph/graph_canvas.h"
#include "views/graph/graph_figures.h"
#include "views/graph/graph_legend.h"
#include "views/graph/in_place.h"
#include "views/graph/plan_beside.h"
#include "views/graph/trace.h"
#include "views/models/carried.h"
#include "views/models/session.h"

class QGridLayout;
class QLabel;

namespace strato {

class SecondGraph;

class GroupGraphView : public QWidget {
  Q_OBJECT
 public:
  explicit GroupGraphView(Session& session, QWidget* parent = nullptr);

  void set_second_plan(SecondPlan& second);  // before that there is nothing to compare with
  void show_beside(bool shown);              // the second plan's graph
  bool shows_beside() const { return beside_shown_; }
  SecondGraph* second_graph() { return second_; }  // null: there is no second plan
  QString comparison_note() const;                 // what the two have in common, and what not

  void open_group(GroupId group);
  void go_up();
  void go_to_level(std::size_t depth);  // 0: all groups
  // Among its neighbours, which stay where they are but for the room that it needs; or closes it.
  void toggle_in_place();  // what is selected, or is around that
  const std::vector<OpenedPart>& opened_in_place() const { return parts_; }
  const std::vector<GraphLevel>& levels() const { return levels_; }  // opened, outermost first
  GraphCanvas& canvas() { return *canvas_; }
  GraphBar& bar() { return *bar_; }
  const Legend& legend() const { return legend_; }
  // Nothing is made or laid out any more, and there is something to see.
  bool is_laid_out() const { return !pending_ && canvas_->scene().is_laid_out(); }
  bool is_searching() const { return searching_ || search_delay_.isActive(); }
  void render_to(QPainter& painter, QSize size);

  Overlay overlay() const { return canvas_->scene().overlay; }
  void set_overlay(Overlay overlay);
  void show_critical_path(bool shown);
  void set_trace(std::optional<TraceWay> way);  // of what is selected
  void select_equal_blocks();                   // as those that are selected
  void merge_selected();
  void split_selected();     // by the scopes of its ops
  void split_at_selected();  // before the selected op's layer
  void rename_selected();    // by a field in its place

 signals:
  void cursor_info(const QString& text);

 protected:
  void keyPressEvent(QKeyEvent*) override;
  void changeEvent(QEvent*) override;
  void showEvent(QShowEvent*) override;
  void hideEvent(QHideEvent*) override;

 private:
  // group_graph_view.cpp: levels and layout
  void problem_changed();
  void forget_drawn(bool same_ops);
  void open_level(GraphLevel level);
  void load_level();
  void show_content(GraphContent content);
  void layout_done(const GraphLayout& layout, const QString& hint);
  void open_node(const GraphNode& node);
  void update_path();

  // group_graph_select.cpp: what is selected, and carried away
  void read_selection();
  bool is_selected(const GraphNode& node) const;
  void clicked(int node, bool extend);
  void extend_by(const GraphNode& node);
  bool is_opened_selection() const;
  void hovered(int node);
  void drag(int node, bool whole_groups);
  Carried carried_by(const GraphNode& node, bool whole_groups) const;

  // group_graph_in_place.cpp
  void open_in_place(const GraphNode& node);
  void close_in_place(const GraphNode& frame);
  void lay_out_part(GraphLevel level, GraphContent content);
  void part_laid_out(const GraphLayout& layout);
  void show_parts(const QPointF& fixed_before, const GraphLevel& fixed);
  void forget_parts();
  void open_again();
  bool rename_to(const Problem& of, GroupId group, const QString& name);

  // group_graph_overlay.cpp: what the colours and marks say
  void read_placement();
  void read_overlay();
  void read_figures();
  void read_path();
  void read_trace();
  void next_overlay(int step);
  std::vector<PlacementStripe> stripes_of_node(const GraphNode& node,
                                               const OpFigures* figures) const;
  std::shared_ptr<const OpFigures> figures();
  std::shared_ptr<const OpFigures> figures_of_outcome(
      const std::shared_ptr<const Outcome>& outcome);
  bool is_of_problem(const std::shared_ptr<const Outcome>& outcome) const;
  bool wants_figures() const;

  // group_graph_second.cpp: another plan
  void build_panes(QLayout& column);
  void want_other_plan();
  std::shared_ptr<const PlanOnGraph> other_plan()
      const;  // on this graph; null: none, or not asked for
  void read_moved();
  void read_against_plan();
  std::vector<double> second_values();
  void show_second();
  void refresh_note(const PlanOnGraph* other);
  QString note_of(std::size_t node) const;
  void marks_changed();  // what is selected, found or traced
  void show_menu_of_other(int node, const QPoint& global);

  // group_graph_attention.cpp
  void read_attention();
  struct Chosen {
    std::vector<OpId> ops;
    QString name;
  };
  Chosen chosen() const;
  GraphAttention::Options policy_options() const;

  // group_graph_search.cpp
  void query_changed(const QString& text);
  void search();
  void read_found();
  void show_found();  // selects, or goes to the next

  // group_graph_actions.cpp
  void make_actions();
  QAction* add_action(const QString& text, const QKeySequence& keys,
                      const std::function<void()>& run);
  void update_actions();
  void add_levels(QMenu& menu, const GraphNode& hit);
  void show_menu(int node, const QPoint& global);
  void add_places(QMenu& menu, GroupId group);
  void regroup(const QString& label, StrategyChange change);

  Session& session_;
  GraphCanvas* canvas_;
  GraphBar* bar_;
  GraphLegend* legend_line_;
  Legend legend_;
  QGridLayout* panes_ = nullptr;
  QLabel *comparison_note_ = nullptr, *first_title_ = nullptr;
  PlanBeside* beside_ = nullptr;
  SecondGraph* second_ = nullptr;
  bool beside_shown_ = false;
  std::vector<double> second_values_;  // of the overlay
  std::shared_ptr<const Problem> problem_;
  OpTimes op_times_;  // made with the first level
  std::vector<GraphLevel> levels_;
  std::optional<GraphLevel> came_from_;
  std::uint64_t content_job_ = 0;
  DrawnGraph base_;                   // without what is opened in place
  std::vector<OpenedPart> parts_;     // opened in place, in the order in which they were
  OpenedPart part_;                   // that is laid out
  std::vector<GraphLevel> reopened_;  // to be opened in place as before, one after the other
  std::uint64_t part_job_ = 0;
  bool pending_ = false;              // content or layout are under way
  std::optional<GraphLayout> other_;  // the same content laid out the other way, for comparison
  FlowDirection direction_ = FlowDirection::Down;
  bool choosing_ = false;

  bool path_shown_ = false;
  bool hint_is_overlays_ = false;  // the hint says that the colours have nothing to tell
  std::optional<TraceWay> trace_way_;

  QTimer search_delay_, stop_delay_;
  std::uint64_t search_job_ = 0;
  bool searching_ = false, select_when_found_ = false;
  std::vector<char> found_ops_;  // a mark per op; empty: no query
  std::vector<GroupId> found_groups_;
  std::size_t shown_hit_ = 0;  // which found node is in the middle

  QAction *path_action_, *attention_action_, *inputs_action_, *outputs_action_, *equal_action_,
      *merge_action_, *split_action_, *split_at_action_, *up_action_, *move_action_,
      *rename_action_, *in_place_action_, *beside_action_;

  DotProcess dot_, part_dot_;
  GraphAttention attention_{session_.plugins()};
  GraphFigures figures_{worker_};
  Worker worker_{
      Worker::OnExit::DropQueued};  // goes first: its jobs end before what they tell does
};

}  // namespace strato
