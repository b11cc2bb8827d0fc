// Draws the icicle of a search tree: colour is value, the best path is outlined, a click previews,
// a double click opens.
#pragma once

#include <QAbstractScrollArea>
#include <vector>

#include "core/search/tree/search_tree.h"
#include "views/search/icicle.h"
#include "views/search/search_tree_model.h"

namespace strato {

class IcicleWidget : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit IcicleWidget(const SearchTreeModel& model, QWidget* parent = nullptr);
  void tree_changed();
  void moment_changed();  // another step of a replay: the colours keep their scale
  void set_current(std::int32_t vertex);

 signals:
  void vertex_clicked(std::int32_t vertex);
  void vertex_opened(std::int32_t vertex);
  void cursor_info(const QString& text);

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void mouseMoveEvent(QMouseEvent*) override;
  void mousePressEvent(QMouseEvent*) override;
  void mouseDoubleClickEvent(QMouseEvent*) override;
  bool viewportEvent(QEvent*) override;

 private:
  void layout(bool rescale);
  const IcicleCell* cell_at(const QPoint& at) const;
  QString text_of(const IcicleCell& cell) const;
  void paint_cell(QPainter& painter, const IcicleCell& cell);
  void paint_scale(QPainter& painter);

  const SearchTreeModel& model_;
  std::vector<IcicleCell> cells_;
  std::int32_t current_ = -1, hovered_ = -1;
  double least_ = 0, most_ = 1;  // of the values shown
};

}  // namespace strato
