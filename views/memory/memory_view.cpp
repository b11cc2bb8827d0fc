#include "views/memory/memory_view.h"

#include <QEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "views/memory/memory_bars.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr std::size_t kShown = 12;

void set_bold(QLabel& label) {
  QFont font = label.font();
  font.setWeight(QFont::DemiBold);
  label.setFont(font);
}

QLabel* figure(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  return label;
}

}  // namespace

MemoryView::MemoryView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      use_(new MemoryUse(session, this)),
      fitting_(new Fitting(session, this)),
      bars_(new MemoryBars),
      headline_(new QLabel),
      moment_(new QLabel),
      legend_(new QLabel),
      heading_(new QLabel),
      note_(new QLabel),
      look_(new QPushButton(tr("Look"))),
      stop_(new QPushButton(tr("Stop"))),
      grid_(new QGridLayout) {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(4 * style::kGrid, 3 * style::kGrid, 4 * style::kGrid,
                             3 * style::kGrid);
  column->setSpacing(2 * style::kGrid);
  set_bold(*headline_);
  set_bold(*heading_);
  for (QLabel* label : {headline_, moment_, note_}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
  }
  legend_->setWordWrap(true);
  for (QWidget* widget : std::initializer_list<QWidget*>{headline_, bars_, legend_, moment_})
    column->addWidget(widget);
  column->addSpacing(2 * style::kGrid);
  auto* line = new QHBoxLayout;
  line->addWidget(heading_);
  line->addWidget(look_);
  line->addWidget(stop_);
  line->addStretch();
  column->addLayout(line);
  column->addWidget(note_);
  grid_->setHorizontalSpacing(4 * style::kGrid);
  grid_->setVerticalSpacing(style::kGrid);
  column->addLayout(grid_);
  column->addStretch();
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(page);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(scroll);
  connect(use_, &MemoryUse::changed, this, &MemoryView::refresh_use);
  connect(fitting_, &Fitting::changed, this, &MemoryView::refresh_fitting);
  connect(look_, &QPushButton::clicked, fitting_, &Fitting::look);
  connect(stop_, &QPushButton::clicked, fitting_, &Fitting::stop);
  connect(bars_, &MemoryBars::clicked, this,
          [this](DeviceId device) { session_.selection().select_device(device); });
  connect(&session_.selection(), &Selection::changed, this,
          [this] { bars_->mark(session_.selection().device()); });
  refresh_use();
}

void MemoryView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  use_->watch(true);
}

void MemoryView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  use_->watch(false);
}

void MemoryView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) refresh_use();
}

QString MemoryView::headline() const {
  const auto& outcome = session_.snapshot().outcome;
  if (!outcome) return tr("Nothing is open");
  const MemoryRow* fullest = use_->fullest();
  if (fullest == nullptr)
    return use_->looking() ? tr("Looking at all devices…") : tr("No memory is known of this step");
  if (!fullest->fits())
    return tr("Does not fit: %1: %2, %3 more than there are")
        .arg(fullest->name, style::bytes_of(fullest->peak.peak, fullest->capacity),
             style::bytes(fullest->peak.peak - fullest->capacity));
  if (!outcome->timeline->feasible) return tr("Does not fit: hosts would keep more than they have");
  return tr("Fits: at most %1, in %2")
      .arg(style::bytes_of(fullest->peak.peak, fullest->capacity), fullest->name);
}

void MemoryView::refresh_use() {
  const bool dark = style::is_dark(palette());
  const auto& outcome = session_.snapshot().outcome;
  const bool fits = !outcome || outcome->timeline->feasible;
  headline_->setText(headline());
  QPalette colours = palette();
  if (!fits) colours.setColor(QPalette::WindowText, style::infeasible(dark));
  headline_->setPalette(colours);
  bars_->show_rows(use_->rows());
  legend_->setText(legend_of(use_->rows(), dark));
  const MemoryRow* fullest = use_->fullest();
  moment_->setText(fullest != nullptr ? tr("%1 has most %2").arg(fullest->name, fullest->moment)
                                      : QString());
  for (QWidget* widget : std::initializer_list<QWidget*>{bars_, legend_, moment_, heading_})
    widget->setVisible(fullest != nullptr);
  heading_->setText(fits ? tr("What is faster, and still fits") : tr("What makes it fit"));
  refresh_fitting();
}

MemoryView::Row& MemoryView::row(std::size_t number) {
  while (rows_.size() <= number) {
    const auto at = static_cast<int>(rows_.size());
    auto* words = new QLabel;
    words->setTextFormat(Qt::PlainText);
    words->setWordWrap(true);
    Row row{words, figure(this), figure(this), figure(this), new QPushButton(tr("Apply"))};
    const std::initializer_list<QWidget*> cells = {row.words, row.time, row.price, row.peak,
                                                   row.apply};
    int place = 0;
    for (QWidget* cell : cells) grid_->addWidget(cell, at, place++);
    grid_->setColumnStretch(0, 1);
    connect(row.apply, &QPushButton::clicked, this,
            [this, at] { fitting_->apply(static_cast<std::size_t>(at)); });
    rows_.push_back(row);
  }
  return rows_[number];
}

void MemoryView::show_row(const Row& row, const ChangedPlan& plan, bool fits) {
  const Nanos now = fitting_->found()->now.step_time;
  row.words->setText(words_of(plan));
  row.time->setText(fits ? style::time(plan.score.step_time) : QString());
  row.price->setText(fits ? style::signed_percent(plan.score.step_time / now - 1) : QString());
  row.peak->setText(fits ? tr("%1 at most").arg(style::bytes(plan.peak))
                         : tr("%1 too many").arg(style::bytes(plan.score.overflow)));
  row.apply->setVisible(fits);
  row.apply->setAccessibleName(tr("Apply: %1").arg(words_of(plan)));
}

QString MemoryView::note() const {
  if (fitting_->looking())
    return fitting_->all() == 0
               ? tr("Trying changes…")
               : tr("%1 of %2 changes tried…").arg(fitting_->done()).arg(fitting_->all());
  if (!fitting_->trouble().isEmpty()) return fitting_->trouble();
  const auto& found = fitting_->found();
  if (!found)
    return tr(
        "Recomputation, micro-batches, ZeRO, hosts and columns are tried, one or two at a time.");
  QString text = found->stopped ? tr("Stopped: not all changes were tried.") : QString();
  if (!found->plans.empty()) return text;
  if (!text.isEmpty()) text += QLatin1Char(' ');
  if (found->now.feasible)
    return text + tr("None of %1 changes is faster and fits.").arg(found->evaluations);
  return text + tr("None of %1 changes makes it fit; these come nearest, over all devices.")
                    .arg(found->evaluations);
}

void MemoryView::refresh_fitting() {
  const auto& found = fitting_->found();
  const bool known = use_->fullest() != nullptr;
  look_->setVisible(known && !found && !fitting_->looking());
  stop_->setVisible(known && fitting_->looking());
  note_->setText(note());
  note_->setVisible(known && !note_->text().isEmpty());
  std::size_t shown = 0;
  if (known && found) {
    const bool fits = !found->plans.empty();
    for (const ChangedPlan& plan : fits ? found->plans : found->nearest)
      if (shown < kShown) show_row(row(shown++), plan, fits);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i)
    for (QWidget* cell : std::initializer_list<QWidget*>{rows_[i].words, rows_[i].time,
                                                         rows_[i].price, rows_[i].peak})
      cell->setVisible(i < shown);
  for (std::size_t i = shown; i < rows_.size(); ++i) rows_[i].apply->hide();
}

}  // namespace strato
