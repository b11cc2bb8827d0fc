// The cluster: machines with their devices and links, coloured by use in the outcome shown, and the
// bandwidth between device groups as a table beside it.
#pragma once

#include <QWidget>

#include "views/cluster/bandwidth_model.h"
#include "views/cluster/cluster_canvas.h"

class QTableView;

namespace strato {

class ClusterView : public QWidget {
  Q_OBJECT
 public:
  explicit ClusterView(Session& session, QWidget* parent = nullptr);
  void show_cluster(std::shared_ptr<const Cluster> cluster,
                    std::shared_ptr<const Timeline> timeline);
  void render_to(QPainter& painter, QSize size) { canvas_->paint_to(painter, size); }
  ClusterCanvas& canvas() { return *canvas_; }

 signals:
  void cursor_info(const QString& text);

 protected:
  void resizeEvent(QResizeEvent*) override;
  void changeEvent(QEvent*) override;

 private:
  void refresh();
  void fit_table();

  Session& session_;
  ClusterCanvas* canvas_;
  QWidget* side_;
  QTableView* table_;
  BandwidthModel bandwidth_;
  std::shared_ptr<const Cluster> cluster_;
};

}  // namespace strato
