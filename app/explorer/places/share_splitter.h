// Two widgets whose shares of the room stay while it is resized, until a person moves the border.
#pragma once

#include <QResizeEvent>
#include <QSplitter>
#include <cmath>

namespace strato {

class ShareSplitter : public QSplitter {
 public:
  explicit ShareSplitter(Qt::Orientation orientation, QWidget* parent = nullptr)
      : QSplitter(orientation, parent) {
    setChildrenCollapsible(false);
    connect(this, &QSplitter::splitterMoved, this, [this] {
      const QList<int> now = sizes();
      if (now.size() == 2 && now[0] > 0 && now[1] > 0)
        share_ = static_cast<double>(now[0]) / (now[0] + now[1]);
    });
  }

  double share() const { return share_; }  // of the first, in [0, 1]
  void set_share(double share) {
    share_ = share;
    if (isVisible()) apply();
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QSplitter::resizeEvent(event);
    apply();
  }
  void showEvent(QShowEvent* event) override {
    QSplitter::showEvent(event);
    apply();
  }

 private:
  void apply() {
    const int room = (orientation() == Qt::Vertical ? height() : width()) - handleWidth();
    const int first = static_cast<int>(std::lround(room * share_));
    setSizes({first, room - first});
  }

  double share_ = 0.5;
};

}  // namespace strato
