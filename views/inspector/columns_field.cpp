#include "views/inspector/columns_field.h"

#include <QComboBox>
#include <QEnterEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <algorithm>
#include <set>

#include "views/inspector/sync_choices.h"
#include "views/models/edit_preview.h"
#include "views/models/strategy_edits.h"
#include "views/style/style.h"

namespace strato {
namespace {

QString words_of(std::int32_t width) {
  return width == 1 ? ColumnsField::tr("each device by itself")
                    : ColumnsField::tr("%1 devices together").arg(width);
}

}  // namespace

ColumnsField::ColumnsField(Session& session, EditPreview& preview, QWidget* parent)
    : QWidget(parent),
      session_(session),
      preview_(preview),
      choice_(make_choice({}, tr("differs"), this)) {
  choice_->setAccessibleName(tr("Devices that compute each op together"));
  open_below(*choice_);
  auto* label = new QLabel(tr("Compute ops"), this);
  label->setBuddy(choice_);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, style::kGrid, 0, 0);
  row->setSpacing(2 * style::kGrid);
  row->addWidget(label);
  row->addWidget(choice_, 1);
  connect(choice_, &QComboBox::activated, this, &ColumnsField::choose);
  connect(choice_, &QComboBox::highlighted, this,
          [this](int index) { preview_.ask(chosen(index)); });
}

void ColumnsField::refresh() {
  const Strategy& strategy = session_.snapshot().strategy;
  const auto& groups = session_.selection().groups();
  widths_ = possible_columns(strategy, groups);
  std::set<std::size_t> now;
  for (const GroupId group : groups)
    if (const auto& decision = strategy.groups[group]) now.insert(columns_of(*decision));
  choice_->clear();
  for (const std::int32_t width : widths_) choice_->addItem(words_of(width));
  const auto at = now.size() == 1
                      ? std::ranges::find(widths_, static_cast<std::int32_t>(*now.begin()))
                      : widths_.end();
  choice_->setCurrentIndex(at == widths_.end() ? -1 : static_cast<int>(at - widths_.begin()));
  const bool some = widths_.size() > 1 || now.size() > 1;
  setEnabled(some);
  setToolTip(some ? tr("Tensor parallelism: so many devices, which follow each other, compute each "
                       "op of their samples together, each a part of it")
                  : tr("Tensor parallelism needs AllReduce on several devices, with equal shares "
                       "in each row"));
}

Strategy ColumnsField::chosen(int index) const {
  return with_tensor(session_.snapshot().strategy, session_.selection().groups(),
                     widths_[static_cast<std::size_t>(index)]);
}

void ColumnsField::choose(int index) {
  preview_.forget();
  session_.edit(chosen(index),
                QStringLiteral("%1: %2").arg(
                    names_of(session_.selection().groups(), *session_.snapshot().problem->grouping),
                    choice_->itemText(index)));
}

void ColumnsField::enterEvent(QEnterEvent* event) {
  preview_.forget();
  QWidget::enterEvent(event);
}

void ColumnsField::leaveEvent(QEvent* event) {
  preview_.forget();
  QWidget::leaveEvent(event);
}

}  // namespace strato
