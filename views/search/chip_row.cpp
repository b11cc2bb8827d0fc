#include "views/search/chip_row.h"

#include <QMenu>
#include <QPainter>
#include <QToolButton>
#include <algorithm>

#include "views/style/marks.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kMostText = 160;  // px of a chip's words

// A click, or space, removes what it stands for.
class ChipButton : public QToolButton {
 public:
  ChipButton(const Chip& chip, QWidget* parent) : QToolButton(parent), pin_(chip.pin) {
    setText(fontMetrics().elidedText(chip.text, Qt::ElideMiddle, kMostText));
    setToolTip(chip.tip.isEmpty() ? chip.text : chip.tip);
    setAccessibleName(tr("Remove %1").arg(chip.text));
    setFocusPolicy(Qt::TabFocus);
  }

  QSize sizeHint() const override {
    return {fontMetrics().horizontalAdvance(text()) + (pin_ ? 15 : 0) + 34,
            fontMetrics().height() + 6};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool dark = style::is_dark(palette());
    QColor fill = style::selection(dark);
    fill.setAlphaF(underMouse() ? 0.34f : 0.18f);
    painter.setPen(hasFocus() ? QPen(style::selection(dark), 1.5) : QPen(Qt::NoPen));
    painter.setBrush(fill);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
    int left = 2 * style::kGrid;
    const QColor colour = palette().color(QPalette::WindowText);
    if (pin_) {
      style::draw_pin(painter, QRectF(left, height() / 2.0 - 6, 11, 12), colour);
      left += 15;
    }
    painter.setPen(colour);
    painter.drawText(QRect(left, 0, width() - left - 18, height()), Qt::AlignVCenter, text());
    painter.setPen(QPen(colour, 1.4));
    const QPointF cross(width() - 12, height() / 2.0);
    painter.drawLine(cross + QPointF(-3, -3), cross + QPointF(3, 3));
    painter.drawLine(cross + QPointF(-3, 3), cross + QPointF(3, -3));
  }

 private:
  const bool pin_;
};

}  // namespace

ChipRow::ChipRow(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  hide();
}

QSize ChipRow::sizeHint() const { return {200, fontMetrics().height() + 6 + 2 * style::kGrid}; }
QSize ChipRow::minimumSizeHint() const { return {80, sizeHint().height()}; }

void ChipRow::show_chips(std::vector<Chip> chips, std::function<void()> remove_all) {
  chips_ = std::move(chips);
  remove_all_ = std::move(remove_all);
  setVisible(!chips_.empty());
  lay_out();
}

QWidget* ChipRow::make_chip(const Chip& chip) {
  auto* button = new ChipButton(chip, this);
  connect(button, &QToolButton::clicked, this, [remove = chip.remove] { remove(); });
  return button;
}

void ChipRow::resizeEvent(QResizeEvent*) { lay_out(); }

// As many as there is room for; the rest, and removing all, in the menu at the end.
void ChipRow::lay_out() {
  for (QWidget* widget : widgets_) {
    widget->hide();
    widget->deleteLater();
  }
  widgets_.clear();
  if (chips_.empty()) return;
  auto* more = new QToolButton(this);
  more->setPopupMode(QToolButton::InstantPopup);
  more->setAutoRaise(true);
  more->setMenu(new QMenu(more));
  const int end = width() - more->fontMetrics().horizontalAdvance(tr("and 88 more")) - 24;
  int left = 2 * style::kGrid;
  std::size_t shown = 0;
  for (; shown < chips_.size(); ++shown) {
    QWidget* chip = make_chip(chips_[shown]);
    const QSize size = chip->sizeHint();
    if (shown > 0 && left + size.width() > end) {
      delete chip;
      break;
    }
    chip->setGeometry(left, style::kGrid, size.width(), size.height());
    chip->show();
    widgets_.push_back(chip);
    left += size.width() + style::kGrid;
  }
  for (std::size_t i = shown; i < chips_.size(); ++i) {
    more->menu()->addAction(tr("Remove: %1").arg(chips_[i].text), this,
                            [remove = chips_[i].remove] { remove(); });
  }
  if (shown < chips_.size()) more->menu()->addSeparator();
  more->menu()->addAction(tr("Remove all"), this, [this] { remove_all_(); });
  more->setText(shown < chips_.size() ? tr("and %1 more").arg(chips_.size() - shown) : tr("all"));
  more->setVisible(chips_.size() > 1);
  more->setGeometry(left, style::kGrid, more->sizeHint().width(), fontMetrics().height() + 6);
  widgets_.push_back(more);
}

}  // namespace strato
