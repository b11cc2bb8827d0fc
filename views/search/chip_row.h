// A row of small removable labels: "conv4 → AllReduce on v100 ×". What has no room is in a menu at
// its end. Hidden while there is none.
#pragma once

#include <QWidget>
#include <functional>
#include <vector>

class QHBoxLayout;

namespace strato {

struct Chip {
  QString text, tip;
  bool pin = false;              // shows the pin
  std::function<void()> remove;  // by its cross
};

class ChipRow : public QWidget {
  Q_OBJECT
 public:
  explicit ChipRow(QWidget* parent = nullptr);
  void show_chips(std::vector<Chip> chips, std::function<void()> remove_all);
  const std::vector<Chip>& chips() const { return chips_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void lay_out();
  QWidget* make_chip(const Chip& chip);

  std::vector<Chip> chips_;
  std::function<void()> remove_all_;
  std::vector<QWidget*> widgets_;
};

}  // namespace strato
