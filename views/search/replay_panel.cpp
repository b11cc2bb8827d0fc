#include "views/search/replay_panel.h"

#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/search/tree/search_tree.h"
#include "views/style/own_escape.h"
#include "views/style/style.h"
#include "views/style/transport_bar.h"

namespace strato {

ReplayPanel::ReplayPanel(QWidget* parent)
    : QWidget(parent), bar_(new style::TransportBar(this)), story_(new QLabel(this)) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Replay of the search"));
  bar_->set_slider_tip(tr("The step of the search that is shown"));
  auto* close = new QToolButton(this);
  close->setIcon(QWidget::style()->standardIcon(QStyle::SP_TitleBarCloseButton));
  close->setAutoRaise(true);
  close->setToolTip(tr("End the replay (Esc)"));
  close->setAccessibleName(close->toolTip());
  close->setFocusPolicy(Qt::NoFocus);  // the panel has the keys
  bar_->add_at_end(close);
  story_->setTextFormat(Qt::RichText);
  story_->setWordWrap(true);
  story_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  // Room for the longest story, so that nothing jumps while it plays.
  story_->setMinimumHeight(3 * fontMetrics().lineSpacing() + 2);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  layout->setSpacing(style::kGrid);
  layout->addWidget(bar_);
  layout->addWidget(story_);
  connect(bar_, &style::TransportBar::moved, this, &ReplayPanel::show_step);
  connect(close, &QToolButton::clicked, this, &ReplayPanel::close_wanted);
}

void ReplayPanel::begin(std::shared_ptr<const SearchTree> tree) {
  before_ = std::make_unique<TreeReplay>(tree);
  after_ = std::make_unique<TreeReplay>(std::move(tree));
  bar_->begin(after_->steps(), after_->steps());
  show_step();
}

void ReplayPanel::end() {
  play(false);
  before_.reset();
  after_.reset();
}

void ReplayPanel::show_step() {
  if (!after_) return;
  after_->seek(bar_->position());
  before_->seek(after_->step() > 0 ? after_->step() - 1 : 0);
  emit stepped();
}

void ReplayPanel::seek(std::size_t step) {
  if (after_) bar_->seek(step);
}

void ReplayPanel::move(std::int64_t steps) {
  if (after_) bar_->move(steps);
}

bool ReplayPanel::playing() const { return bar_->playing(); }

void ReplayPanel::play(bool on) { bar_->play(on && after_); }

void ReplayPanel::tell(const QString& story) { story_->setText(story); }

// Esc ends the replay, whatever it means in the window.
bool ReplayPanel::event(QEvent* event) {
  if (is_own_escape(*event)) {
    event->accept();
    return true;
  }
  return QWidget::event(event);
}

void ReplayPanel::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    emit close_wanted();
  } else if (!after_ || !bar_->take_key(*event)) {
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
