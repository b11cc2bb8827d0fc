#include "app/explorer/places/place_switch.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPainter>
#include <QPainterPath>

#include "views/style/style.h"

namespace strato {
namespace {

// A segment of the row: its outer corners are round, the one that is shown is filled.
class Segment : public QAbstractButton {
 public:
  Segment(Place place, QWidget* parent) : QAbstractButton(parent), place_(place) {
    const int number = static_cast<int>(place) + 1;
    setText(name_of(place));
    setCheckable(true);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAttribute(Qt::WA_Hover);
    setToolTip(QStringLiteral("%1 (%2)").arg(
        question_of(place),
        QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + number)).toString()));
    QFont strong = font();
    strong.setWeight(QFont::DemiBold);
    setFont(strong);
  }
  QSize sizeHint() const override {
    return {fontMetrics().horizontalAdvance(text()) + 6 * style::kGrid,
            fontMetrics().height() + 2 * style::kGrid};
  }
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor ink =
        palette().color(isChecked() ? QPalette::HighlightedText : QPalette::ButtonText);
    QColor border = palette().color(QPalette::WindowText);
    border.setAlphaF(0.35f);
    QColor fill = palette().color(isChecked() ? QPalette::Highlight : QPalette::Button);
    if (underMouse() && !isChecked()) fill = fill.lighter(style::is_dark(palette()) ? 130 : 104);
    painter.setPen(border);
    painter.setBrush(fill);
    painter.drawPath(outline(0));
    if (hasFocus()) {
      painter.setPen(QPen(ink, 1, Qt::DotLine));
      painter.setBrush(Qt::NoBrush);
      painter.drawPath(outline(3));
    }
    painter.setPen(ink);
    painter.drawText(rect(), Qt::AlignCenter, text());
  }

 private:
  // `inset` from the edge; segments share their borders.
  QPainterPath outline(double inset) const {
    const double radius = style::kGrid - inset / 2;
    const bool first = place_ == Place::Understand, last = place_ == Place::Ship;
    const QRectF box = QRectF(rect()).adjusted(0.5 + inset, 0.5 + inset,
                                               (last ? -0.5 : 0.5) - inset, -0.5 - inset);
    QPainterPath whole, rest;
    whole.setFillRule(Qt::WindingFill);
    whole.addRoundedRect(box, first || last ? radius : 0, first || last ? radius : 0);
    if (first) rest.addRect(box.adjusted(radius, 0, 0, 0));
    if (last) rest.addRect(box.adjusted(0, 0, -radius, 0));
    return rest.isEmpty() ? whole : whole.united(rest);
  }

  Place place_;
};

}  // namespace

PlaceSwitch::PlaceSwitch(QWidget* parent) : QWidget(parent), buttons_(new QButtonGroup(this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  for (std::size_t i = 0; i < places().size(); ++i) {
    auto* button = new Segment(static_cast<Place>(i), this);
    buttons_->addButton(button, static_cast<int>(i));
    row->addWidget(button);
  }
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  show_place(Place::Understand);
  connect(buttons_, &QButtonGroup::idClicked, this,
          [this](int id) { emit chosen(static_cast<Place>(id)); });
}

void PlaceSwitch::show_place(Place place) {
  buttons_->button(static_cast<int>(place))->setChecked(true);
}

}  // namespace strato
