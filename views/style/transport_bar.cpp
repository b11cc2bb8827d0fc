#include "views/style/transport_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QSlider>
#include <QTimer>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <utility>

#include "views/style/style.h"

namespace strato::style {
namespace {

constexpr double kSpeeds[] = {0.5, 1, 2, 5, 20, 100, 1000};
constexpr int kUsualSpeed = 2;
constexpr int kTick = 40;  // ms: faster replays go several steps a tick

QToolButton* make_button(QWidget* parent, const QString& tip) {
  auto* button = new QToolButton(parent);
  button->setAutoRaise(true);
  button->setToolTip(tip);
  button->setAccessibleName(tip);
  button->setFocusPolicy(Qt::NoFocus);  // the owner has the keys
  return button;
}

// Marks from left to right: ">" a triangle forward, "<" one back, "|" a bar.
void draw(QPainter& painter, const QString& marks, const QColor& colour) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  const bool single = marks.size() == 1;  // play: larger
  const auto width_of = [&](QChar mark) {
    return mark == QLatin1Char('|') ? 4.0 : single ? 10.0 : 6.0;
  };
  double width = 0;
  for (const QChar mark : marks) width += width_of(mark);
  double x = (16 - width) / 2;
  const double top = single ? 2.5 : 4, bottom = 16 - top;
  for (const QChar mark : marks) {
    const double right = x + width_of(mark);
    if (mark == QLatin1Char('|')) {
      painter.drawRect(QRectF(x + 1, top, 2, bottom - top));
    } else if (mark == QLatin1Char('>')) {
      painter.drawPolygon(QPolygonF{{x, top}, {right, 8}, {x, bottom}});
    } else {
      painter.drawPolygon(QPolygonF{{right, top}, {x, 8}, {right, bottom}});
    }
    x = right;
  }
}

// In the palette's colours, which the style's own icons do not follow.
QIcon make_icon(const QWidget& widget, const QString& marks) {
  QIcon icon;
  for (const auto& [mode, group] : {std::pair{QIcon::Normal, QPalette::Active},
                                    std::pair{QIcon::Disabled, QPalette::Disabled}}) {
    const double scale = widget.devicePixelRatioF();
    QPixmap pixmap((QSizeF(16, 16) * scale).toSize());
    pixmap.setDevicePixelRatio(scale);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    draw(painter, marks, widget.palette().color(group, QPalette::ButtonText));
    painter.end();
    icon.addPixmap(pixmap, mode);
  }
  return icon;
}

}  // namespace

TransportBar::TransportBar(QWidget* parent)
    : QWidget(parent),
      first_(make_button(this, tr("To the start (Home)"))),
      back_(make_button(this, tr("One step back (Left)"))),
      play_(make_button(this, tr("Play, pause (Space)"))),
      forward_(make_button(this, tr("One step forward (Right)"))),
      last_(make_button(this, tr("To the end (End)"))),
      slider_(new QSlider(Qt::Horizontal, this)),
      step_(new QLabel(this)),
      speed_(new QComboBox(this)),
      timer_(new QTimer(this)),
      layout_(new QHBoxLayout(this)) {
  build();
  timer_->setInterval(kTick);
  connect(timer_, &QTimer::timeout, this, &TransportBar::tick);
  connect(first_, &QToolButton::clicked, this, [this] { seek(0); });
  connect(back_, &QToolButton::clicked, this, [this] { move(-1); });
  connect(play_, &QToolButton::clicked, this, [this] { play(!playing()); });
  connect(forward_, &QToolButton::clicked, this, [this] { move(1); });
  connect(last_, &QToolButton::clicked, this, [this] { seek(steps_); });
  connect(slider_, &QSlider::valueChanged, this, [this](int step) {
    if (static_cast<std::size_t>(step) != position_) seek(static_cast<std::size_t>(step));
  });
}

void TransportBar::build() {
  for (QWidget* widget : std::initializer_list<QWidget*>{slider_, speed_}) {
    widget->setFocusPolicy(Qt::NoFocus);
  }
  for (const double speed : kSpeeds) speed_->addItem(tr("%1 / s").arg(speed));
  speed_->setCurrentIndex(kUsualSpeed);
  speed_->setToolTip(tr("Steps a second (+ and −)"));
  layout_->setContentsMargins(0, 0, 0, 0);
  layout_->setSpacing(kGrid / 2);
  for (QToolButton* button : {first_, back_, play_, forward_, last_}) layout_->addWidget(button);
  layout_->addSpacing(kGrid);
  layout_->addWidget(slider_, 1);
  layout_->addSpacing(kGrid);
  layout_->addWidget(step_);
  layout_->addSpacing(kGrid);
  layout_->addWidget(speed_);
  draw_icons();
}

void TransportBar::draw_icons() {
  first_->setIcon(make_icon(*this, QStringLiteral("|<")));
  back_->setIcon(make_icon(*this, QStringLiteral("<<")));
  play_->setIcon(make_icon(*this, playing() ? QStringLiteral("||") : QStringLiteral(">")));
  forward_->setIcon(make_icon(*this, QStringLiteral(">>")));
  last_->setIcon(make_icon(*this, QStringLiteral(">|")));
}

void TransportBar::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) draw_icons();
  QWidget::changeEvent(event);
}

void TransportBar::set_slider_tip(const QString& tip) { slider_->setToolTip(tip); }

void TransportBar::add_at_end(QWidget* widget) { layout_->addWidget(widget); }

void TransportBar::begin(std::size_t steps, std::size_t position) {
  play(false);
  steps_ = steps;
  position_ = std::min(position, steps);
  const QSignalBlocker quiet(slider_);
  slider_->setRange(0, static_cast<int>(steps));
  slider_->setPageStep(std::max(1, static_cast<int>(steps) / 100));
  const QString widest = tr("step %1 of %1").arg(steps);
  step_->setMinimumWidth(fontMetrics().horizontalAdvance(widest) + 2);
  step_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  refresh();
}

void TransportBar::seek(std::size_t position) {
  position_ = std::min(position, steps_);
  if (position_ == steps_) play(false);
  refresh();
  emit moved();
}

void TransportBar::move(std::int64_t steps) {
  const std::int64_t to = static_cast<std::int64_t>(position_) + steps;
  seek(
      static_cast<std::size_t>(std::clamp<std::int64_t>(to, 0, static_cast<std::int64_t>(steps_))));
}

bool TransportBar::playing() const { return timer_->isActive(); }

void TransportBar::play(bool on) {
  if (on && steps_ > 0 && position_ == steps_) seek(0);
  due_ = 0;
  if (on && steps_ > 0) {
    timer_->start();
  } else {
    timer_->stop();
  }
  draw_icons();
}

double TransportBar::speed() const {
  return kSpeeds[std::clamp(speed_->currentIndex(), 0, static_cast<int>(std::size(kSpeeds)) - 1)];
}

void TransportBar::tick() {
  due_ += speed() * kTick / 1000;
  const double whole = std::floor(due_);
  if (whole < 1) return;
  due_ -= whole;
  move(static_cast<std::int64_t>(whole));
}

void TransportBar::refresh() {
  slider_->setValue(static_cast<int>(position_));
  step_->setText(tr("step %1 of %2").arg(position_).arg(steps_));
  for (QToolButton* button : {first_, back_}) button->setEnabled(position_ > 0);
  for (QToolButton* button : {forward_, last_}) button->setEnabled(position_ < steps_);
  play_->setEnabled(steps_ > 0);
  slider_->setEnabled(steps_ > 0);
}

bool TransportBar::take_key(const QKeyEvent& event) {
  const std::int64_t page = slider_->pageStep();
  switch (event.key()) {
    case Qt::Key_Space:
      return play(!playing()), true;
    case Qt::Key_Left:
    case Qt::Key_Comma:
      return move(-1), true;
    case Qt::Key_Right:
    case Qt::Key_Period:
      return move(1), true;
    case Qt::Key_PageUp:
      return move(-page), true;
    case Qt::Key_PageDown:
      return move(page), true;
    case Qt::Key_Home:
      return seek(0), true;
    case Qt::Key_End:
      return seek(steps_), true;
    case Qt::Key_Plus:
      speed_->setCurrentIndex(std::min(speed_->count() - 1, speed_->currentIndex() + 1));
      return true;
    case Qt::Key_Minus:
      speed_->setCurrentIndex(std::max(0, speed_->currentIndex() - 1));
      return true;
    default:
      return false;
  }
}

}  // namespace strato::style
