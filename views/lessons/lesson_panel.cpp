#include "views/lessons/lesson_panel.h"

#include <QLabel>
#include <QListWidget>
#include <QSettings>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/error.h"
#include "views/style/style.h"

namespace strato {
namespace {

QString settings_key(const QString& id) { return QStringLiteral("lessons/") + id; }

QString state_text(const Lesson& lesson, int progress) {
  if (progress == LessonPanel::kDone) return QStringLiteral("✓ ");
  if (lesson.is_exercise || progress == 0) return {};
  return LessonPanel::tr("(%1 of %2) ").arg(progress).arg(lesson.steps.size());
}

}  // namespace

LessonPanel::LessonPanel(Session& session, LessonStage& stage, const QStringList& places,
                         bool remembers, QWidget* parent)
    : QWidget(parent),
      session_(session),
      remembers_(remembers),
      places_(places),
      lessons_(read_lessons(lessons_folder(), places)),
      player_(session, stage) {
  list_ = new QListWidget(this);
  list_->setWordWrap(true);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setSpacing(style::kGrid);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list_->setAccessibleName(tr("Lessons and exercises"));
  errors_label_ = new QLabel(this);
  errors_label_->setWordWrap(true);
  errors_label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  errors_label_->setMargin(2 * style::kGrid);
  auto* list_page = new QWidget(this);
  auto* column = new QVBoxLayout(list_page);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(list_, 1);
  column->addWidget(errors_label_);
  lesson_page_ = new LessonPage(player_, stage, this);
  exercise_page_ = new ExercisePage(session, player_, this);
  pages_ = new QStackedWidget(this);
  for (QWidget* page :
       {list_page, static_cast<QWidget*>(lesson_page_), static_cast<QWidget*>(exercise_page_)}) {
    pages_->addWidget(page);
  }
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(pages_);
  connect(list_, &QListWidget::itemActivated, this, [this] { choose(list_->currentRow()); });
  connect(list_, &QListWidget::itemClicked, this, [this] { choose(list_->currentRow()); });
  connect(lesson_page_, &LessonPage::leave_wanted, this, &LessonPanel::show_list);
  connect(exercise_page_, &ExercisePage::leave_wanted, this, &LessonPanel::show_list);
  connect(&player_, &LessonPlayer::changed, this, &LessonPanel::remember);
  connect(&player_, &LessonPlayer::finished, this, [this](const QString& id) {
    progress_[id] = kDone;
    if (remembers_) QSettings().setValue(settings_key(id), kDone);
    show_list();
  });
  fill_list();
}

int LessonPanel::progress(const QString& id) const {
  const auto known = progress_.find(id);
  if (known != progress_.end()) return known->second;
  if (!remembers_) return 0;
  return std::max<int>(kDone, QSettings().value(settings_key(id), 0).toInt());
}

void LessonPanel::remember() {
  if (!player_.active() || player_.opening() || player_.broken()) return;
  const QString& id = player_.lesson().id;
  const int step = static_cast<int>(player_.step_number());
  if (progress(id) == kDone || progress(id) >= step) return;  // begun again
  progress_[id] = step;
  if (remembers_) QSettings().setValue(settings_key(id), step);
}

void LessonPanel::fill_list() {
  const int row = list_->currentRow();
  list_->clear();
  for (const Lesson& lesson : lessons_.lessons) {
    auto* item = new QListWidgetItem(
        state_text(lesson, progress(lesson.id)) + lesson.title + QLatin1Char('\n') + lesson.summary,
        list_);
    item->setToolTip(lesson.summary);
  }
  list_->setCurrentRow(std::max(0, row));
  errors_label_->setText(lessons_.errors.join(QLatin1Char('\n')));
  errors_label_->setVisible(!lessons_.errors.isEmpty());
}

void LessonPanel::show_list() {
  const bool was_active = player_.active();
  player_.leave();
  fill_list();
  pages_->setCurrentIndex(0);
  list_->setFocus();
  if (was_active) emit left();
}

void LessonPanel::show_exercises() {
  show_list();
  const auto& all = lessons_.lessons;
  const auto first =
      std::find_if(all.begin(), all.end(), [](const Lesson& l) { return l.is_exercise; });
  if (first != all.end()) list_->setCurrentRow(static_cast<int>(first - all.begin()));
}

void LessonPanel::choose(int row) {
  if (row < 0 || row >= static_cast<int>(lessons_.lessons.size())) return;
  begin(lessons_.lessons[static_cast<std::size_t>(row)].id);
}

void LessonPanel::begin(const QString& id) {
  for (const Lesson& lesson : lessons_.lessons) {
    if (lesson.id != id) continue;
    // Steps build on those before, so that a lesson that was left begins at its first again.
    emit about_to_begin();
    pages_->setCurrentIndex(lesson.is_exercise ? 2 : 1);
    player_.begin(lesson);
    return;
  }
  show_list();
}

void LessonPanel::add_file(const QString& file) {
  try {
    Lesson lesson = read_lesson(file.toStdString(), places_);
    std::erase_if(lessons_.lessons, [&](const Lesson& known) { return known.id == lesson.id; });
    const QString id = lesson.id;
    lessons_.lessons.push_back(std::move(lesson));
    fill_list();
    begin(id);
  } catch (const InputError& error) {
    emit session_.failed(QString::fromUtf8(error.what()));
  }
}

}  // namespace strato
