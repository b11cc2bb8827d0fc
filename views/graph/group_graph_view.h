// The op-group graph of the problem, coloured by where each group runs; a group opens into its ops.
// Laid out by Graphviz in a child process, drawn here.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "views/graph/dot_process.h"
#include "views/graph/graph_canvas.h"
#include "views/models/session.h"

class QLabel;
class QLineEdit;

namespace strato {

class GroupGraphView : public QWidget {
  Q_OBJECT
 public:
  explicit GroupGraphView(Session& session, QWidget* parent = nullptr);

  void open_group(GroupId group);
  void go_up();
  std::optional<GroupId> opened() const { return opened_; }
  GraphCanvas& canvas() { return *canvas_; }
  bool is_laid_out() const { return canvas_->scene().is_laid_out(); }
  void render_to(QPainter& painter, QSize size);

 signals:
  void cursor_info(const QString& text);

 protected:
  void keyPressEvent(QKeyEvent*) override;

 private:
  QWidget* make_bar();
  void problem_changed();
  void show_content(GraphContent content);
  void layout_done(const GraphLayout& layout, const QString& hint);
  void read_placement();
  void read_selection();
  void clicked(int node, bool extend);
  void opened_node(int node);
  void show_menu(int node, const QPoint& global);
  void find(const QString& text, bool next);
  void update_breadcrumb();

  Session& session_;
  GraphCanvas* canvas_;
  QLabel *breadcrumb_, *hint_;
  QLineEdit* find_;
  DotProcess dot_;
  std::shared_ptr<const Problem> problem_;
  std::vector<Nanos> op_times_;  // made when a group is first opened
  std::optional<GroupId> opened_;
  std::optional<GraphLayout> other_;  // the same content laid out the other way, for comparison
  FlowDirection direction_ = FlowDirection::Down;
  bool choosing_ = false;
};

}  // namespace strato
