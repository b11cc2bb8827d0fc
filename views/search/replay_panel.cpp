#include "views/search/replay_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QSlider>
#include <QStyle>
#include <QTimer>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr double kSpeeds[] = {0.5, 1, 2, 5, 20, 100, 1000};
constexpr int kUsualSpeed = 2;
constexpr int kTick = 40;  // ms: faster replays go several steps a tick

QToolButton* make_button(QWidget* parent, QStyle::StandardPixmap icon, const QString& tip) {
  auto* button = new QToolButton(parent);
  button->setIcon(parent->style()->standardIcon(icon));
  button->setAutoRaise(true);
  button->setToolTip(tip);
  button->setAccessibleName(tip);
  button->setFocusPolicy(Qt::NoFocus);  // the panel has the keys
  return button;
}

}  // namespace

ReplayPanel::ReplayPanel(QWidget* parent)
    : QWidget(parent),
      first_(make_button(this, QStyle::SP_MediaSkipBackward, tr("To the start (Home)"))),
      back_(make_button(this, QStyle::SP_MediaSeekBackward, tr("One step back (Left)"))),
      play_(make_button(this, QStyle::SP_MediaPlay, tr("Play, pause (Space)"))),
      forward_(make_button(this, QStyle::SP_MediaSeekForward, tr("One step forward (Right)"))),
      last_(make_button(this, QStyle::SP_MediaSkipForward, tr("To the end (End)"))),
      slider_(new QSlider(Qt::Horizontal, this)),
      step_(new QLabel(this)),
      story_(new QLabel(this)),
      speed_(new QComboBox(this)),
      timer_(new QTimer(this)) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Replay of the search"));
  for (QWidget* widget : std::initializer_list<QWidget*>{slider_, speed_}) {
    widget->setFocusPolicy(Qt::NoFocus);
  }
  slider_->setToolTip(tr("The step of the search that is shown"));
  for (const double speed : kSpeeds) speed_->addItem(tr("%1 / s").arg(speed));
  speed_->setCurrentIndex(kUsualSpeed);
  speed_->setToolTip(tr("Steps a second (+ and −)"));
  auto* close = make_button(this, QStyle::SP_TitleBarCloseButton, tr("End the replay (Esc)"));
  story_->setTextFormat(Qt::RichText);
  story_->setWordWrap(true);
  story_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  // Room for the longest story, so that nothing jumps while it plays.
  story_->setMinimumHeight(3 * fontMetrics().lineSpacing() + 2);
  auto* strip = new QHBoxLayout;
  strip->setSpacing(style::kGrid / 2);
  for (QToolButton* button : {first_, back_, play_, forward_, last_}) strip->addWidget(button);
  strip->addSpacing(style::kGrid);
  strip->addWidget(slider_, 1);
  strip->addSpacing(style::kGrid);
  strip->addWidget(step_);
  strip->addSpacing(style::kGrid);
  strip->addWidget(speed_);
  strip->addWidget(close);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  layout->setSpacing(style::kGrid);
  layout->addLayout(strip);
  layout->addWidget(story_);
  timer_->setInterval(kTick);
  connect(timer_, &QTimer::timeout, this, &ReplayPanel::tick);
  connect(first_, &QToolButton::clicked, this, [this] { seek(0); });
  connect(back_, &QToolButton::clicked, this, [this] { move(-1); });
  connect(play_, &QToolButton::clicked, this, [this] { play(!playing()); });
  connect(forward_, &QToolButton::clicked, this, [this] { move(1); });
  connect(last_, &QToolButton::clicked, this, [this] { seek(after_->steps()); });
  connect(slider_, &QSlider::valueChanged, this, [this](int step) {
    if (after_ && static_cast<std::size_t>(step) != after_->step())
      seek(static_cast<std::size_t>(step));
  });
  connect(close, &QToolButton::clicked, this, &ReplayPanel::close_wanted);
}

void ReplayPanel::begin(std::shared_ptr<const SearchTree> tree) {
  before_ = std::make_unique<TreeReplay>(tree);
  after_ = std::make_unique<TreeReplay>(std::move(tree));
  const int steps = static_cast<int>(after_->steps());
  slider_->setRange(0, steps);
  slider_->setPageStep(std::max(1, steps / 100));
  const QString widest = tr("step %1 of %1").arg(steps);
  step_->setMinimumWidth(fontMetrics().horizontalAdvance(widest) + 2);
  step_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  seek(after_->steps());
}

void ReplayPanel::end() {
  play(false);
  before_.reset();
  after_.reset();
}

void ReplayPanel::seek(std::size_t step) {
  if (!after_) return;
  after_->seek(step);
  before_->seek(after_->step() > 0 ? after_->step() - 1 : 0);
  if (after_->step() == after_->steps()) play(false);
  refresh();
  emit stepped();
}

void ReplayPanel::move(std::int64_t steps) {
  if (!after_) return;
  const std::int64_t to = static_cast<std::int64_t>(after_->step()) + steps;
  seek(static_cast<std::size_t>(
      std::clamp<std::int64_t>(to, 0, static_cast<std::int64_t>(after_->steps()))));
}

bool ReplayPanel::playing() const { return timer_->isActive(); }

void ReplayPanel::play(bool on) {
  if (on && after_ && after_->step() == after_->steps()) seek(0);
  due_ = 0;
  if (on && after_ && after_->steps() > 0) {
    timer_->start();
  } else {
    timer_->stop();
  }
  play_->setIcon(style()->standardIcon(playing() ? QStyle::SP_MediaPause : QStyle::SP_MediaPlay));
}

double ReplayPanel::speed() const {
  return kSpeeds[std::clamp(speed_->currentIndex(), 0, static_cast<int>(std::size(kSpeeds)) - 1)];
}

void ReplayPanel::tick() {
  due_ += speed() * kTick / 1000;
  const double whole = std::floor(due_);
  if (whole < 1) return;
  due_ -= whole;
  move(static_cast<std::int64_t>(whole));
}

void ReplayPanel::refresh() {
  const bool any = after_ && after_->steps() > 0;
  slider_->setValue(after_ ? static_cast<int>(after_->step()) : 0);
  step_->setText(tr("step %1 of %2").arg(after_->step()).arg(after_->steps()));
  for (QToolButton* button : {first_, back_}) button->setEnabled(any && after_->step() > 0);
  for (QToolButton* button : {forward_, last_})
    button->setEnabled(any && after_->step() < after_->steps());
  play_->setEnabled(any);
  slider_->setEnabled(any);
}

void ReplayPanel::tell(const QString& story) { story_->setText(story); }

// Esc ends the replay, whatever it means in the window.
bool ReplayPanel::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();
    return true;
  }
  return QWidget::event(event);
}

void ReplayPanel::keyPressEvent(QKeyEvent* event) {
  const std::int64_t page = slider_->pageStep();
  switch (event->key()) {
    case Qt::Key_Space:
      return play(!playing());
    case Qt::Key_Left:
    case Qt::Key_Comma:
      return move(-1);
    case Qt::Key_Right:
    case Qt::Key_Period:
      return move(1);
    case Qt::Key_PageUp:
      return move(-page);
    case Qt::Key_PageDown:
      return move(page);
    case Qt::Key_Home:
      return seek(0);
    case Qt::Key_End:
      return seek(after_ ? after_->steps() : 0);
    case Qt::Key_Plus:
      return speed_->setCurrentIndex(std::min(speed_->count() - 1, speed_->currentIndex() + 1));
    case Qt::Key_Minus:
      return speed_->setCurrentIndex(std::max(0, speed_->currentIndex() - 1));
    case Qt::Key_Escape:
      emit close_wanted();
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void ReplayPanel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (!hasFocus()) return;
  painter.setPen(QPen(style::selection(style::is_dark(palette())), 1));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

}  // namespace strato
