#include "views/lessons/exercise_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "views/lessons/lesson_text.h"
#include "views/models/strategy_edits.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {

ExercisePage::ExercisePage(Session& session, LessonPlayer& player, QWidget* parent)
    : QWidget(parent), session_(session), player_(player), model_(session) {
  title_ = new QLabel(this);
  QFont bold = title_->font();
  bold.setWeight(QFont::DemiBold);
  title_->setFont(bold);
  title_->setWordWrap(true);
  text_ = new LessonText(this);
  points_ = new QProgressBar(this);
  points_->setRange(0, 100);
  points_->setMaximumHeight(fontMetrics().height());
  points_->setAccessibleName(tr("Score"));
  score_ = new QLabel(this);
  score_->setWordWrap(true);
  hint_label_ = new QLabel(this);
  hint_label_->setWordWrap(true);
  hint_label_->setFrameShape(QFrame::StyledPanel);
  hint_label_->setMargin(2 * style::kGrid);
  hint_ = new QPushButton(tr("H&int"), this);
  hint_->setToolTip(tr("First which group, then the best single change of it"));
  show_ = new QPushButton(tr("Show the &best"), this);
  show_->setToolTip(tr("Shows the best strategy found; undo takes it back"));
  leave_ = new QPushButton(tr("All lessons"), this);
  auto* help = new QHBoxLayout;
  help->addWidget(hint_);
  help->addWidget(show_, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2 * style::kGrid, 2 * style::kGrid, 2 * style::kGrid,
                             2 * style::kGrid);
  layout->setSpacing(2 * style::kGrid);
  layout->addWidget(title_);
  layout->addWidget(text_, 1);
  layout->addWidget(points_);
  layout->addWidget(score_);
  layout->addWidget(hint_label_);
  layout->addLayout(help);
  layout->addWidget(leave_);
  connect(hint_, &QPushButton::clicked, this, &ExercisePage::give_hint);
  connect(show_, &QPushButton::clicked, this, &ExercisePage::show_best);
  connect(leave_, &QPushButton::clicked, this, &ExercisePage::leave_wanted);
  connect(&model_, &ExerciseModel::changed, this, &ExercisePage::refresh);
  connect(&session_, &Session::strategy_changed, this, [this] {
    told_ = 0;
    refresh();
  });
  connect(&player_, &LessonPlayer::changed, this, [this] {
    const bool here = player_.active() && player_.lesson().is_exercise;
    const bool ready = here && !player_.opening() && !player_.broken();
    if (ready && !model_.active()) model_.begin();
    if (!ready && model_.active()) model_.leave();
    refresh();
  });
  refresh();
}

void ExercisePage::refresh() {
  if (!player_.active() || !player_.lesson().is_exercise) return;
  title_->setText(player_.lesson().title);
  text_->show_markdown(player_.opening()  ? tr("*Opening the model and the cluster…*")
                       : player_.broken() ? player_.error().toHtmlEscaped()
                                          : filled(player_.lesson().text, player_.moment()));
  const auto points = model_.points();
  points_->setValue(std::min(100, points.value_or(0)));
  points_->setFormat(points ? tr("%1 points").arg(*points) : QStringLiteral("…"));
  score_->setText(score_text());
  const QString hint = hint_text();
  hint_label_->setText(hint);
  hint_label_->setVisible(!hint.isEmpty());
  hint_->setEnabled(model_.active() && !model_.looking() && told_ < 2);
  hint_->setText(told_ == 1 ? tr("Another h&int") : tr("H&int"));
  show_->setEnabled(model_.active() && model_.final());
}

QString ExercisePage::space_text() const {
  const Optimum& best = *model_.optimum();
  if (!model_.final()) {
    return model_.strategies()
               ? tr("%1 of %2 strategies tried").arg(best.tried).arg(*model_.strategies())
               : tr("%1 strategies tried").arg(best.tried);
  }
  return best.proven ? tr("the best of all %1 strategies of the search").arg(*model_.strategies())
                     : tr("the best of %1 that were tried").arg(best.tried);
}

QString ExercisePage::score_text() const {
  if (!model_.active()) return {};
  if (!model_.optimum()) return tr("Looking for the best…");
  QString text =
      tr("To beat: %1, %2.").arg(style::time(model_.optimum()->score.step_time), space_text());
  const auto best = model_.best_points(), now = model_.points();
  if (best && *best > 0 && (!now || *best > *now))
    text += model_.was_shown() ? tr(" Your best before it was shown: %1 points.").arg(*best)
                               : tr(" Your best: %1 points.").arg(*best);
  if (model_.final() && best && *best > 100) {
    text += tr(" You are faster than the planner: it tries fewer shares than you.");
  } else if (model_.final() && best == 100) {
    text += tr(" You found it.");
  }
  return text;
}

QString ExercisePage::hint_text() const {
  if (model_.looking()) return tr("Trying every change of one group…");
  if (!model_.hint_known() || told_ == 0) return {};
  if (!model_.hint()) {
    return tr("No change of one group helps. Change two at once, or the shares.");
  }
  const Problem& problem = *session_.snapshot().problem;
  const SingleChange& change = *model_.hint();
  if (change.group.index() >= problem.grouping->size()) return {};
  const QString group = text(problem.grouping->group(change.group).name);
  if (told_ == 1) return tr("Look at %1, which is selected now.").arg(group);
  return tr("%1: %2 makes the step %3.")
      .arg(group, describe_shares(change.decision, *problem.cluster),
           style::time(change.score.step_time));
}

void ExercisePage::give_hint() {
  if (told_ < 2) ++told_;
  if (!model_.hint_known()) {
    model_.want_hint();
    connect(
        &model_, &ExerciseModel::hint_ready, this,
        [this] {
          if (model_.hint()) session_.selection().select_group(model_.hint()->group);
        },
        Qt::SingleShotConnection);
  }
  refresh();
}

void ExercisePage::show_best() { model_.show_best(tr("Best found")); }

}  // namespace strato
