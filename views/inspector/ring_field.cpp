#include "views/inspector/ring_field.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QListWidget>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kPlacesShown = 6;
enum RingOrder { AsNetwork, ByHand };

}  // namespace

RingField::RingField(QWidget* parent)
    : QWidget(parent),
      choice_(new QComboBox(this)),
      order_(new QListWidget(this)),
      up_(new QToolButton(this)),
      down_(new QToolButton(this)),
      list_(new QWidget(this)) {
  choice_->addItems({tr("As the network suits"), tr("In this order")});
  choice_->setPlaceholderText(tr("differs"));
  choice_->setAccessibleName(tr("Reduction order"));
  choice_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  // Counted in letters as wide as X.
  const QFontMetrics metrics(choice_->font());
  const int letter = std::max(1, metrics.horizontalAdvance(QLatin1Char('X')));
  choice_->setMinimumContentsLength(
      metrics.horizontalAdvance(choice_->itemText(AsNetwork)) / letter + 1);
  order_->setDragDropMode(QAbstractItemView::InternalMove);
  order_->setAccessibleName(tr("Replicas in the order of the ring"));
  order_->setToolTip(tr("Drag, or Alt+Up and Alt+Down, to change the order"));
  order_->installEventFilter(this);
  up_->setArrowType(Qt::UpArrow);
  down_->setArrowType(Qt::DownArrow);
  up_->setToolTip(tr("Earlier in the ring (Alt+Up)"));
  down_->setToolTip(tr("Later in the ring (Alt+Down)"));
  for (QToolButton* button : {up_, down_}) {
    button->setAccessibleName(button->toolTip());
    button->setFocusPolicy(Qt::TabFocus);
    button->installEventFilter(this);
  }
  auto* buttons = new QVBoxLayout;
  buttons->setSpacing(style::kGrid);
  buttons->addWidget(up_);
  buttons->addWidget(down_);
  buttons->addStretch();
  auto* row = new QHBoxLayout(list_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(style::kGrid);
  row->addWidget(order_, 1);
  row->addLayout(buttons);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(style::kGrid);
  column->addWidget(choice_);
  column->addWidget(list_);
  connect(choice_, &QComboBox::activated, this, [this](int index) {
    emit chosen(index == ByHand ? replicas_ : std::vector<DeviceId>());
  });
  connect(choice_, &QComboBox::highlighted, this, [this](int index) {
    emit considered(index == ByHand ? replicas_ : std::vector<DeviceId>());
  });
  connect(up_, &QToolButton::clicked, this, [this] { move(-1); });
  connect(down_, &QToolButton::clicked, this, [this] { move(1); });
  connect(order_, &QListWidget::currentRowChanged, this, &RingField::refresh_buttons);
  // After a drop; the list is shown anew by its answer.
  connect(
      order_->model(), &QAbstractItemModel::rowsMoved, this, [this] { emit chosen(sequence()); },
      Qt::QueuedConnection);
  list_->hide();
}

void RingField::show_sequence(const Cluster& cluster, const std::vector<DeviceId>& replicas,
                              const std::vector<DeviceId>& sequence, bool differs) {
  replicas_ = sequence.empty() ? replicas : sequence;
  choice_->setCurrentIndex(differs ? -1 : sequence.empty() ? AsNetwork : ByHand);
  const QSignalBlocker block(order_);
  const int row = order_->currentRow();
  order_->clear();
  const bool listed = !differs && !sequence.empty();
  list_->setVisible(listed);
  if (!listed) return refresh_buttons();
  for (const DeviceId device : sequence) {
    auto* item = new QListWidgetItem(text(cluster.device(device).name), order_);
    item->setData(Qt::UserRole, static_cast<int>(device.index()));
    item->setFlags(item->flags() & ~Qt::ItemIsDropEnabled);
  }
  const int rows = static_cast<int>(sequence.size());
  order_->setFixedHeight(std::clamp(rows, 2, kPlacesShown) * order_->sizeHintForRow(0) +
                         2 * order_->frameWidth());
  order_->setCurrentRow(std::clamp(row, 0, rows - 1));
  refresh_buttons();
}

std::vector<DeviceId> RingField::sequence() const {
  std::vector<DeviceId> result;
  for (int row = 0; row < order_->count(); ++row)
    result.emplace_back(static_cast<std::size_t>(order_->item(row)->data(Qt::UserRole).toInt()));
  return result;
}

std::vector<DeviceId> RingField::moved(int by) const {
  std::vector<DeviceId> result = sequence();
  const int row = order_->currentRow(), to = row + by;
  if (row < 0 || to < 0 || to >= static_cast<int>(result.size())) return {};
  std::swap(result[static_cast<std::size_t>(row)], result[static_cast<std::size_t>(to)]);
  return result;
}

void RingField::move(int by) {
  const std::vector<DeviceId> result = moved(by);
  if (result.empty()) return;
  {
    const QSignalBlocker block(order_);
    order_->setCurrentRow(order_->currentRow() + by);  // goes along with its device
  }
  emit chosen(result);
}

void RingField::refresh_buttons() {
  const int row = order_->currentRow();
  up_->setEnabled(row > 0);
  down_->setEnabled(row >= 0 && row + 1 < order_->count());
}

bool RingField::eventFilter(QObject* watched, QEvent* event) {
  if (watched == order_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool up = key->key() == Qt::Key_Up, down = key->key() == Qt::Key_Down;
    if ((up || down) && key->modifiers().testFlag(Qt::AltModifier)) {
      move(up ? -1 : 1);
      return true;
    }
  }
  if (watched == up_ || watched == down_) {
    const bool on = event->type() == QEvent::Enter || event->type() == QEvent::FocusIn;
    const bool off = event->type() == QEvent::Leave || event->type() == QEvent::FocusOut;
    const std::vector<DeviceId> next =
        on ? moved(watched == up_ ? -1 : 1) : std::vector<DeviceId>();
    if (!next.empty()) emit considered(next);
    if (off) emit left();
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace strato
