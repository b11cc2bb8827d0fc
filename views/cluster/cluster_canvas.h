// Draws a cluster with what the outcome shown does on it; hover, click, zoom. Op groups and ops
// that are dragged here run on the device, or machine, where they are dropped; with Shift on all
// devices of its kind in that machine.
#pragma once

#include <QAbstractScrollArea>
#include <optional>

#include "views/cluster/cluster_layout.h"
#include "views/drag/device_drop.h"
#include "views/models/session.h"

namespace strato {

class ClusterCanvas : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit ClusterCanvas(Session& session, QWidget* parent = nullptr);
  void show_cluster(std::shared_ptr<const Cluster> cluster,
                    std::shared_ptr<const Timeline> timeline);
  void paint_to(QPainter& painter, const QSize& size);
  DeviceDrop& drop() { return *drop_; }
  QPoint middle_of(DeviceId device) const;  // in the viewport

 signals:
  void cursor_info(const QString& text);

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;
  void mouseMoveEvent(QMouseEvent*) override;
  void mousePressEvent(QMouseEvent*) override;
  void wheelEvent(QWheelEvent*) override;
  void keyPressEvent(QKeyEvent*) override;
  bool viewportEvent(QEvent*) override;

 private:
  struct Hit {
    DeviceId device;
    LinkId link;
    friend bool operator==(const Hit&, const Hit&) = default;
  };
  void layout();
  void set_zoom(double zoom);
  Hit hit(const QPointF& at) const;
  QString tooltip(const Hit& hit) const;
  double busy_part(LinkId link) const;
  void paint(QPainter& painter);
  void paint_links(QPainter& painter);
  void paint_machine(QPainter& painter, std::size_t machine);
  void paint_device(QPainter& painter, DeviceId device);
  void paint_legend(QPainter& painter, const QSize& size);
  QPointF to_layout(const QPointF& at) const;
  std::optional<DropPlace> place_at(const QPoint& at, Qt::KeyboardModifiers modifiers) const;
  void paint_drop(QPainter& painter);

  Session& session_;
  DeviceDrop* drop_;
  std::shared_ptr<const Cluster> cluster_;
  std::shared_ptr<const Timeline> timeline_;
  ClusterLayout layout_;
  Hit hovered_;
  double scale_ = 1, zoom_ = 1;  // scale to fit, times what the user asked for
  QPointF origin_;
};

}  // namespace strato
