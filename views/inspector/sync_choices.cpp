#include "views/inspector/sync_choices.h"

#include <QComboBox>
#include <QEvent>
#include <QSpinBox>
#include <QStandardItemModel>

namespace strato {
namespace {

// Whoever scrolls the page that a choice is on does not mean to change it.
class LeaveWheel : public QObject {
 public:
  explicit LeaveWheel(QWidget* of) : QObject(of) { of->installEventFilter(this); }
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::Wheel || static_cast<QWidget*>(watched)->hasFocus()) return false;
    event->ignore();
    return true;
  }
};

}  // namespace

QComboBox* make_choice(const QStringList& items, const QString& differs, QWidget* parent) {
  auto* box = new QComboBox(parent);
  box->addItems(items);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(8);
  box->setPlaceholderText(differs);
  box->setFocusPolicy(Qt::StrongFocus);  // not by the wheel
  new LeaveWheel(box);
  return box;
}

void open_below(QComboBox& box) {
  box.setStyleSheet(QStringLiteral("QComboBox { combobox-popup: 0; }"));
}

QSpinBox* make_number(int least, int most, const QString& lowest, QWidget* parent) {
  auto* box = new QSpinBox(parent);
  box->setRange(least, most);
  box->setSpecialValueText(lowest);
  box->setKeyboardTracking(false);
  return box;
}

void set_item_enabled(QComboBox& box, int item, bool enabled, const QString& why) {
  auto* items = qobject_cast<QStandardItemModel*>(box.model());
  if (!items || !items->item(item)) return;
  items->item(item)->setEnabled(enabled);
  items->item(item)->setToolTip(enabled ? QString() : why);
}

}  // namespace strato
