#include "views/lessons/lesson_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "views/lessons/lesson_text.h"
#include "views/style/style.h"

namespace strato {
namespace {

QPushButton* lesson_button(const QString& text, const QString& tip, QWidget* parent) {
  auto* button = new QPushButton(text, parent);
  button->setToolTip(tip);
  button->setMinimumWidth(0);
  return button;
}

bool asks_for_view(const LessonStep& step, const QString& view) {
  return std::any_of(step.until.begin(), step.until.end(), [&](const Condition& condition) {
    return condition.kind == Condition::Kind::ViewShown && condition.name == view;
  });
}

}  // namespace

LessonPage::LessonPage(LessonPlayer& player, LessonStage& stage, QWidget* parent)
    : QWidget(parent), player_(player), stage_(stage) {
  build();
  connect(&player_, &LessonPlayer::changed, this, &LessonPage::refresh);
  connect(&player_, &LessonPlayer::numbers_changed, this, &LessonPage::refresh_texts);
  connect(leave_, &QPushButton::clicked, this, &LessonPage::leave_wanted);
  connect(back_, &QPushButton::clicked, &player_, &LessonPlayer::back);
  connect(next_, &QPushButton::clicked, &player_, &LessonPlayer::next);
  connect(do_, &QPushButton::clicked, &player_, &LessonPlayer::do_it);
  connect(hint_, &QPushButton::clicked, this, [this] {
    hint_shown_ = !hint_shown_;
    refresh_texts();
  });
  refresh();
}

void LessonPage::build() {
  title_ = new QLabel(this);
  QFont bold = title_->font();
  bold.setWeight(QFont::DemiBold);
  title_->setFont(bold);
  title_->setWordWrap(true);
  progress_ = new QProgressBar(this);
  progress_->setMaximumHeight(fontMetrics().height());
  progress_->setAccessibleName(tr("Progress of the lesson"));
  text_ = new LessonText(this);
  ask_ = new QLabel(this);
  ask_->setWordWrap(true);
  ask_->setTextFormat(Qt::MarkdownText);
  ask_->setFrameShape(QFrame::StyledPanel);
  ask_->setMargin(2 * style::kGrid);
  leave_ = lesson_button(tr("All lessons"), tr("Leaves this one; it is remembered how far you are"),
                         this);
  back_ = lesson_button(tr("&Back"), tr("The step before"), this);
  hint_ = lesson_button(tr("H&int"), tr("A word that helps"), this);
  do_ = lesson_button(tr("&Do it for me"), tr("Does what is asked for; undo takes it back"), this);
  next_ = lesson_button(tr("&Next"), QString(), this);
  auto* help = new QHBoxLayout;
  help->addWidget(hint_);
  help->addWidget(do_, 1);
  auto* steps = new QHBoxLayout;
  steps->addWidget(leave_);
  steps->addWidget(back_);
  steps->addWidget(next_, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2 * style::kGrid, 2 * style::kGrid, 2 * style::kGrid,
                             2 * style::kGrid);
  layout->setSpacing(2 * style::kGrid);
  layout->addWidget(title_);
  layout->addWidget(progress_);
  layout->addWidget(text_, 1);
  layout->addWidget(ask_);
  layout->addLayout(help);
  layout->addLayout(steps);
}

QString LessonPage::shown_text() const { return shown_; }

// Exercises have a page of their own.
bool LessonPage::has_step() const { return player_.active() && !player_.lesson().steps.empty(); }

void LessonPage::refresh() {
  if (!has_step()) {
    highlights_.clear();
    lesson_.clear();
    pointed_ = false;
    return;
  }
  if (lesson_ != player_.lesson().id || step_ != player_.step_number()) {
    lesson_ = player_.lesson().id;
    step_ = player_.step_number();
    hint_shown_ = pointed_ = false;
    highlights_.clear();
  }
  title_->setText(player_.lesson().title);
  const int count = static_cast<int>(player_.lesson().steps.size());
  progress_->setRange(0, count);
  progress_->setValue(static_cast<int>(step_) + 1);
  progress_->setFormat(tr("Step %1 of %2").arg(step_ + 1).arg(count));
  if (!pointed_ && !player_.opening() && !player_.broken()) point_at_places();
  refresh_texts();
  refresh_buttons();
}

void LessonPage::refresh_texts() {
  if (!has_step()) return;
  ask_->setVisible(player_.asks());
  if (player_.opening() || player_.broken()) {
    shown_ = player_.opening()
                 ? tr("*Opening the model and the cluster…*")
                 : tr("**The lesson cannot be shown.**\n\n") + player_.error().toHtmlEscaped();
    return text_->show_markdown(shown_);
  }
  const LessonStep& step = player_.step();
  const LessonMoment moment = player_.moment();
  shown_ = QStringLiteral("### ") + step.title + QStringLiteral("\n\n") + filled(step.text, moment);
  if (player_.done() && !step.afterwards.isEmpty()) {
    shown_ += QStringLiteral("\n\n---\n\n") + filled(step.afterwards, moment);
  }
  if (hint_shown_ && !step.hint.isEmpty() && !player_.done()) {
    shown_ += QStringLiteral("\n\n---\n\n") + tr("*Hint:* ") + filled(step.hint, moment);
  }
  text_->show_markdown(shown_);
  if (!player_.asks()) return;
  ask_->setText(player_.done() ? tr("**✓ Done.** ") + filled(step.ask, moment)
                               : tr("**Your turn.** ") + filled(step.ask, moment));
}

void LessonPage::refresh_buttons() {
  const bool ready = !player_.opening() && !player_.broken();
  const bool asks = player_.asks() && !player_.done();
  back_->setEnabled(ready && step_ > 0);
  next_->setEnabled(ready && (!player_.asks() || player_.done()));
  next_->setText(ready && player_.is_last() ? tr("Fi&nish") : tr("&Next"));
  next_->setDefault(next_->isEnabled());
  next_->setToolTip(next_->isEnabled() ? QString() : tr("Comes when what is asked for is done"));
  hint_->setEnabled(asks && !player_.step().hint.isEmpty());
  do_->setEnabled(asks);
}

// A view that is spoken of is shown, unless to show it is what is asked for.
void LessonPage::point_at_places() {
  pointed_ = true;
  const LessonStep& step = player_.step();
  std::vector<QWidget*> places;
  for (const QString& name : step.highlight) {
    if (!asks_for_view(step, name)) stage_.show_view(name);
    places.push_back(stage_.place(name));
  }
  highlights_.show(places);
}

}  // namespace strato
