#include "views/inspector/micro_batch_field.h"

#include <QComboBox>
#include <QEnterEvent>
#include <QLabel>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

#include "views/inspector/facts.h"
#include "views/inspector/sync_choices.h"
#include "views/models/edit_preview.h"
#include "views/models/micro_batch_edits.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

QString label_of_edit(const MicroBatches& wanted) {
  if (wanted.count == 1) return MicroBatchField::tr("one micro-batch");
  return MicroBatchField::tr("micro-batches: %1").arg(text(describe(wanted)));
}

}  // namespace

MicroBatchField::MicroBatchField(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      preview_(new EditPreview(session, this)),
      count_(make_choice({}, {}, this)),
      schedule_(make_choice({}, {}, this)),
      effect_line_(make_note(this)) {
  count_->setAccessibleName(tr("Micro-batches"));
  count_->setToolTip(
      tr("Equal parts of the batch that follow each other; op groups on different devices are "
         "stages of a pipeline then. Those that divide the batch"));
  schedule_->setAccessibleName(tr("Schedule of the micro-batches"));
  schedule_->setToolTip(tr("What a stage does next of its micro-batches"));
  for (QComboBox* box : {count_, schedule_}) open_below(*box);
  auto* row = new QHBoxLayout;
  row->setSpacing(2 * style::kGrid);
  row->addWidget(count_, 1);
  row->addWidget(schedule_, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(style::kGrid);
  column->addWidget(effect_line_);  // above: the lists open below
  column->addLayout(row);
  show_effect();
  connect(count_, &QComboBox::activated, this, [this](int i) { choose(with_count(i)); });
  connect(schedule_, &QComboBox::activated, this, [this](int i) { choose(with_schedule(i)); });
  connect(count_, &QComboBox::highlighted, this, [this](int i) { preview_choice(with_count(i)); });
  connect(schedule_, &QComboBox::highlighted, this,
          [this](int i) { preview_choice(with_schedule(i)); });
  connect(preview_, &EditPreview::changed, this, &MicroBatchField::show_effect);
}

void MicroBatchField::show_effect() {
  const QString told = preview_->text();
  effect_line_->setText(
      told.isEmpty()
          ? tr("Equal parts of the batch, one after another: a pipeline where devices differ")
          : told);
}

void MicroBatchField::refresh() {
  const Snapshot& snapshot = session_.snapshot();
  if (!snapshot.problem) return;
  const MicroBatches& now = snapshot.strategy.micro_batches;
  const QSignalBlocker first(count_), second(schedule_);
  counts_ = possible_micro_batches(snapshot.problem->graph->batch(), now.count);
  count_->clear();
  for (const std::int32_t count : counts_) count_->addItem(QString::number(count));
  count_->setCurrentIndex(
      static_cast<int>(std::ranges::find(counts_, now.count) - counts_.begin()));
  schedule_->clear();
  for (const std::string_view name : kPipelineSchedules)
    schedule_->addItem(tr("by %1").arg(text(std::string(name))));
  const bool by_hand = now.schedule == PipelineSchedule::ByHand;
  if (by_hand) schedule_->addItem(tr("by hand"));
  schedule_->setCurrentIndex(static_cast<int>(now.schedule));
  schedule_->setEnabled(now.count > 1);
}

MicroBatches MicroBatchField::with_count(int index) const {
  MicroBatches wanted = session_.snapshot().strategy.micro_batches;
  wanted.count = counts_[static_cast<std::size_t>(index)];
  return wanted;
}

MicroBatches MicroBatchField::with_schedule(int index) const {
  const MicroBatches& now = session_.snapshot().strategy.micro_batches;
  const auto schedule = static_cast<PipelineSchedule>(index);
  if (schedule == now.schedule) return now;  // with its table
  return {now.count, schedule};
}

void MicroBatchField::preview_choice(const MicroBatches& wanted) {
  Strategy strategy = session_.snapshot().strategy;
  strategy.micro_batches = wanted.count == 1 ? MicroBatches() : wanted;
  preview_->ask(strategy);
}

// The fields show what there is until it has changed.
void MicroBatchField::choose(const MicroBatches& wanted) {
  preview_->forget();
  const bool is_new = wanted != session_.snapshot().strategy.micro_batches;
  refresh();
  if (is_new) session_.edit_later(with_micro_batches(wanted), label_of_edit(wanted));
}

void MicroBatchField::enterEvent(QEnterEvent* event) {
  preview_->forget();
  QWidget::enterEvent(event);
}

void MicroBatchField::leaveEvent(QEvent* event) {
  preview_->forget();
  QWidget::leaveEvent(event);
}

}  // namespace strato
