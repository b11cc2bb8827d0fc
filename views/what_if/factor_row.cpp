#include "views/what_if/factor_row.h"

#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <algorithm>
#include <cmath>

namespace strato {
namespace {

constexpr int kSteps = 12;     // of the slider, for a factor of two
constexpr int kDoublings = 3;  // to each side
constexpr double kMostFactor = 1024;

}  // namespace

FactorRow::FactorRow(const QString& name, const QString& tip, bool whole, QGridLayout* grid,
                     QWidget* parent)
    : QObject(parent),
      whole_(whole),
      label_(new QLabel(name, parent)),
      slider_(new QSlider(Qt::Horizontal, parent)),
      field_(new QDoubleSpinBox(parent)) {
  slider_->setRange(-kDoublings * kSteps, kDoublings * kSteps);
  slider_->setSingleStep(kSteps / 4);
  slider_->setPageStep(kSteps);
  slider_->setTickInterval(kSteps);
  slider_->setTickPosition(QSlider::TicksBelow);
  slider_->setMinimumWidth(56);
  slider_->setAccessibleName(name);
  QPalette plain;  // the way to today is no progress: its groove is of one colour
  plain.setColor(QPalette::Highlight, QColor(128, 128, 128, 60));
  slider_->setPalette(plain);
  field_->setKeyboardTracking(false);
  field_->setAccessibleName(name);
  field_->setAlignment(Qt::AlignRight);
  if (whole) {
    field_->setDecimals(0);
    field_->setRange(1, 1 << 24);
  } else {
    field_->setPrefix(QStringLiteral("× "));
    field_->setDecimals(2);
    field_->setSingleStep(0.25);
    field_->setRange(0.01, kMostFactor);
  }
  label_->setBuddy(field_);
  set_tip(tip);
  show_value(1);
  const int line = grid->rowCount();
  grid->addWidget(label_, line, 0);
  grid->addWidget(slider_, line, 1);
  grid->addWidget(field_, line, 2);
  connect(slider_, &QSlider::valueChanged, this, &FactorRow::slide);
  connect(field_, &QDoubleSpinBox::valueChanged, this, &FactorRow::type);
}

void FactorRow::set_tip(const QString& tip) {
  label_->setToolTip(tip);
  slider_->setToolTip(tip);
  field_->setToolTip(tip);
}

void FactorRow::set_today(double today) {
  today_ = today;
  mark();
}

double FactorRow::value() const { return field_->value(); }

void FactorRow::show_value(double value) {
  const QSignalBlocker fields(field_), sliders(slider_);
  field_->setValue(value);
  slider_->setValue(static_cast<int>(std::lround(std::log2(value / today_) * kSteps)));
  mark();
}

// A thick name: not as today.
void FactorRow::mark() {
  QFont font = label_->font();
  font.setBold(std::abs(value() - today_) > 1e-9);
  label_->setFont(font);
}

void FactorRow::slide(int position) {
  double value = today_ * std::exp2(static_cast<double>(position) / kSteps);
  value = whole_ ? std::max(1.0, std::round(value)) : std::round(value * 100) / 100;
  const QSignalBlocker fields(field_);
  field_->setValue(value);
  mark();
  emit moved(value);
}

void FactorRow::type(double value) {
  const QSignalBlocker sliders(slider_);
  slider_->setValue(static_cast<int>(std::lround(std::log2(value / today_) * kSteps)));
  mark();
  emit moved(value);
}

}  // namespace strato
