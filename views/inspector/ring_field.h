// The reduction sequence of AllReduced parts: as the network suits, or an order of the replicas
// that is changed by buttons, keys (Alt+Up, Alt+Down) or by dragging.
#pragma once

#include <QWidget>
#include <vector>

#include "core/cluster/value/cluster.h"

class QComboBox;
class QListWidget;
class QToolButton;

namespace strato {

class RingField : public QWidget {
  Q_OBJECT
 public:
  explicit RingField(QWidget* parent = nullptr);

  // `sequence`: what all have, empty: as the network suits. `differs`: they have several.
  // `replicas`: those to be ordered; empty: there is no one list of them.
  void show_sequence(const Cluster& cluster, const std::vector<DeviceId>& replicas,
                     const std::vector<DeviceId>& sequence, bool differs);

  QComboBox& choice() { return *choice_; }
  QListWidget& order() { return *order_; }
  QToolButton& up() { return *up_; }
  QToolButton& down() { return *down_; }

 signals:
  void chosen(const std::vector<DeviceId>& sequence);      // empty: as the network suits
  void considered(const std::vector<DeviceId>& sequence);  // under the cursor
  void left();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  std::vector<DeviceId> sequence() const;  // as the list has it
  std::vector<DeviceId> moved(int by) const;
  void move(int by);
  void refresh_buttons();

  QComboBox* choice_;
  QListWidget* order_;
  QToolButton *up_, *down_;
  QWidget* list_;  // with its buttons
  std::vector<DeviceId> replicas_;
};

}  // namespace strato
