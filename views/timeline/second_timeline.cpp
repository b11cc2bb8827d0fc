#include "views/timeline/second_timeline.h"

#include <QLabel>
#include <QMenu>
#include <QScrollBar>
#include <QVBoxLayout>

#include "views/second/plan_menu.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr std::size_t kTasksComparedAtOnce = 15'000;

}  // namespace

SecondTimeline::SecondTimeline(Session& session, TimelineCanvas& first, QLabel& first_title,
                               QWidget* parent)
    : QWidget(parent),
      session_(session),
      first_(first),
      first_title_(first_title),
      title_(new QLabel(this)),
      canvas_(new TimelineCanvas(session, this)),
      job_([this](const Made& made) { show_made(made); }) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(title_);
  column->addWidget(canvas_, 1);
  for (QLabel* title : {&first_title_, title_}) {
    title->setContentsMargins(8, 2, 8, 2);
    title->setTextFormat(Qt::PlainText);
    title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    title->setAutoFillBackground(true);
    QFont bold = title->font();
    bold.setBold(true);
    title->setFont(bold);
  }
  first_title_.hide();
  canvas_->set_other(true);
  canvas_->setAccessibleName(tr("Timeline of the other plan"));
  link(first_, *canvas_);
  link(*canvas_, first_);
  for (TimelineCanvas* canvas : {&first_, canvas_}) {
    connect(canvas, &TimelineCanvas::resized, this, [this] {
      if (mode_ != Mode::Alone && first_.rows()) canvas_->take_view_of(first_);
    });
  }
  hide();
}

// What one of them is moved to, the other one shows, too.
void SecondTimeline::link(TimelineCanvas& from, TimelineCanvas& to) {
  const auto follow = [this, &from, &to](auto change) {
    if (linking_ || mode_ == Mode::Alone || !from.rows() || !to.rows()) return;
    linking_ = true;
    change(from, to);
    linking_ = false;
  };
  connect(&from, &TimelineCanvas::mapping_changed, this,
          [follow] { follow([](TimelineCanvas& a, TimelineCanvas& b) { b.take_view_of(a); }); });
  connect(&from, &TimelineCanvas::rows_in_sight_changed, this,
          [follow] { follow([](TimelineCanvas& a, TimelineCanvas& b) { b.take_filter_of(a); }); });
  connect(from.verticalScrollBar(), &QScrollBar::valueChanged, this, [follow](int value) {
    follow([value](TimelineCanvas&, TimelineCanvas& b) { b.verticalScrollBar()->setValue(value); });
  });
}

void SecondTimeline::set_second_plan(SecondPlan& second) {
  second_ = &second;
  connect(&second, &SecondPlan::changed, this, &SecondTimeline::refresh);
}

void SecondTimeline::set_mode(Mode mode) {
  if (!second_ || mode == mode_) return;
  mode_ = mode;
  second_in_front_ = mode == Mode::Blink;
  second_->use(this, mode != Mode::Alone);
  if (mode == Mode::Alone) {
    job_.drop();
    plan_.reset();
    compared_.reset();
    if (first_.colour_mode() == ColourMode::Change) first_.set_colour_mode(colours_alone_);
    first_.show_changes(nullptr);
    first_.set_least_whole(Nanos(0));
  }
  apply_mode();
  refresh();
}

void SecondTimeline::toggle_below() { set_mode(mode_ == Mode::Below ? Mode::Alone : Mode::Below); }

void SecondTimeline::blink() {
  if (mode_ != Mode::Blink) return set_mode(Mode::Blink);
  second_in_front_ = !second_in_front_;
  apply_mode();
}

void SecondTimeline::apply_mode() {
  const bool first = mode_ != Mode::Blink || !second_in_front_;
  const bool second = mode_ == Mode::Below || (mode_ == Mode::Blink && second_in_front_);
  const bool focus = first_.hasFocus() || canvas_->hasFocus();
  setVisible(second);
  emit shown_changed();
  refresh_titles();
  if (focus) (first ? first_ : *canvas_).setFocus();
  if (second) {
    canvas_->take_filter_of(first_);
    canvas_->take_view_of(first_);
  }
}

void SecondTimeline::refresh() {
  if (!second_ || mode_ == Mode::Alone) return;
  const auto plan = second_->plan();
  const auto rows = first_.rows();
  if (!plan || !rows) {
    return clear(!rows                          ? QString()
                 : second_->busy()              ? tr("Simulating…")
                 : second_->problem().isEmpty() ? tr("There is no other plan yet")
                                                : second_->problem());
  }
  if (plan == plan_ && canvas_->rows() && canvas_->rows()->timeline == plan->outcome->timeline) {
    canvas_->show_explanation(plan->explanation);
    if (rows == compared_) return job_.drop();  // it is drawn already
  }
  const std::size_t tasks = plan->outcome->timeline->tasks.size() + rows->timeline->tasks.size();
  job_.ask(
      [plan, rows, known = canvas_->rows()] {
        const auto& timeline = plan->outcome->timeline;
        const bool same = known && known->timeline == timeline;
        return Made{rows, same ? known : std::make_shared<const TimelineRows>(make_rows(timeline)),
                    compare_tasks(*rows->timeline, *timeline), plan};
      },
      tasks <= kTasksComparedAtOnce);
}

void SecondTimeline::show_made(const Made& made) {
  if (mode_ == Mode::Alone || made.first != first_.rows()) return;
  const bool came = !plan_;
  plan_ = made.plan;
  compared_ = made.first;
  why_none_.clear();
  linking_ = true;
  const Nanos whole = std::max(made.first->timeline->step_time, made.rows->timeline->step_time);
  if (canvas_->rows() != made.rows) canvas_->show_rows(made.rows, Nanos(0));
  canvas_->show_explanation(plan_->explanation);
  first_.set_least_whole(whole);
  canvas_->set_least_whole(whole);
  first_.show_changes(made.changes.here);
  canvas_->show_changes(made.changes.there);
  if (came && made.changes.here && first_.colour_mode() != ColourMode::Change) {
    colours_alone_ = first_.colour_mode();
    first_.set_colour_mode(ColourMode::Change);
  }
  canvas_->set_colour_mode(first_.colour_mode());
  canvas_->take_filter_of(first_);
  canvas_->take_view_of(first_);
  linking_ = false;
  refresh_titles();
}

void SecondTimeline::clear(const QString& why) {
  job_.drop();
  plan_.reset();
  compared_.reset();
  why_none_ = why;
  canvas_->show_rows(nullptr, Nanos(0));
  first_.show_changes(nullptr);
  for (TimelineCanvas* canvas : {&first_, canvas_}) canvas->set_least_whole(Nanos(0));
  refresh_titles();
}

void SecondTimeline::refresh_titles() {
  first_title_.setVisible(mode_ == Mode::Below || (mode_ == Mode::Blink && !second_in_front_));
  const auto rows = first_.rows();
  const QString hint = mode_ == Mode::Blink ? tr("   (B: the other one)") : QString();
  if (rows) {
    first_title_.setText(
        tr("Shown: %1 · %2")
            .arg(session_.snapshot().label, style::time(rows->timeline->step_time)) +
        hint);
  }
  if (!plan_ || !rows) return title_->setText(why_none_ + hint);
  const Nanos other = plan_->outcome->timeline->step_time;
  title_->setText(tr("Other: %1 · %2 (%3)")
                      .arg(plan_->label, style::time(other),
                           style::signed_percent(other / rows->timeline->step_time - 1)) +
                  hint);
}

void SecondTimeline::fill(QMenu& menu) {
  menu.clear();
  if (!second_) {
    menu.addAction(tr("Nothing to compare with"))->setEnabled(false);
    return;
  }
  const auto how = [&](const QString& text, const QString& tip, Mode mode) {
    QAction* action =
        menu.addAction(text, this, [this, mode](bool on) { set_mode(on ? mode : Mode::Alone); });
    action->setCheckable(true);
    action->setChecked(mode_ == mode);
    action->setToolTip(tip);
  };
  how(tr("One above the Other (C)"), tr("The other plan's timeline below, on the same time scale"),
      Mode::Below);
  how(tr("Blink (B)"), tr("Both in the same place; B brings the other one to the front"),
      Mode::Blink);
  menu.addSection(tr("With"));
  add_plans(menu, *second_, [this] {
    if (mode_ == Mode::Alone) set_mode(Mode::Below);
  });
}

}  // namespace strato
