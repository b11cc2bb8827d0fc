// Pan, zoom, hover and click over a drawn graph; tells what was clicked or dragged, and knows
// nothing about sessions. Two of them may share what part they show. A drag of the ground pans,
// with Shift or the middle button one of a node, too.
#pragma once

#include <QWidget>
#include <functional>
#include <optional>

#include "views/graph/graph_painter.h"

namespace strato {

class GraphCanvas : public QWidget {
  Q_OBJECT
 public:
  explicit GraphCanvas(QWidget* parent = nullptr);

  GraphScene& scene() { return scene_; }
  const GraphScene& scene() const { return scene_; }
  void show_layout(GraphLayout layout);    // of scene().content; frames it
  void change_layout(GraphLayout layout);  // the same: moves and zooms nothing
  void set_empty_text(const QString& text);
  void fit();
  void centre_on(int node);
  void reveal(int node);  // only moves when it is out of view
  QString tooltip_of(
      std::size_t node) const;  // with what its colour says, where that is a quantity
  void set_note(std::function<QString(std::size_t)> note) {
    note_ = std::move(note);
  }  // of a tooltip

  // From now on both show the same part: of the same layout, in the same size.
  void share_view_of(GraphCanvas& leader);
  void set_carries(bool carries) { carries_ = carries; }  // false: a drag of a node pans, too
  void echo(int node);                                    // it is hovered in another one; -1: none

 signals:
  void view_moved();                         // or zoomed
  void laid_out();                           // another layout
  void node_clicked(int node, bool extend);  // -1: the ground
  void node_opened(int node);
  void node_hovered(int node);
  void node_dragged(int node, bool control);
  void menu_wanted(int node, const QPoint& global);
  void cursor_info(const QString& text);

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void mousePressEvent(QMouseEvent*) override;
  void mouseMoveEvent(QMouseEvent*) override;
  void mouseReleaseEvent(QMouseEvent*) override;
  void mouseDoubleClickEvent(QMouseEvent*) override;
  void wheelEvent(QWheelEvent*) override;
  void keyPressEvent(QKeyEvent*) override;
  void contextMenuEvent(QContextMenuEvent*) override;
  bool event(QEvent*) override;

 private:
  void frame();
  void zoom(double factor, const QPointF& at);
  void keep_in_view();
  void move_by_map(const QPointF& at);
  int neighbour(int key) const;
  void take_view_of(const GraphCanvas& other);

  GraphScene scene_;
  QString empty_text_;
  QPointF last_, pressed_;
  int carried_ = -1;  // the node that was pressed, until it is clear what that is
  std::function<QString(std::size_t)> note_;
  const GraphCanvas* leader_ = nullptr;
  bool carries_ = true, panning_ = false, on_map_ = false, down_ = false, framed_ = false;
  std::optional<QPointF> framed_at_;  // the offset then; nothing: it was changed since
};

}  // namespace strato
