#include "views/inspector/role_field.h"

#include <QComboBox>
#include <QEnterEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <algorithm>
#include <array>
#include <set>

#include "core/graph/axes/expert_letters.h"
#include "views/inspector/sync_choices.h"
#include "views/models/edit_preview.h"
#include "views/style/style.h"

namespace strato {
namespace {

struct RoleTexts {
  const char *label, *name, *tip, *needs;
};
constexpr std::array<RoleTexts, 5> kTexts = {{
    // by MeshRole
    {QT_TRANSLATE_NOOP("RoleField", "Compute ops"),
     QT_TRANSLATE_NOOP("RoleField", "Devices that compute each op together"),
     QT_TRANSLATE_NOOP("RoleField",
                       "Tensor parallelism: so many devices, which follow each other, compute each "
                       "op of their samples together, each a part of it"),
     QT_TRANSLATE_NOOP("RoleField",
                       "Tensor parallelism needs AllReduce on several devices, with equal shares "
                       "in each row")},
    {QT_TRANSLATE_NOOP("RoleField", "Have experts"),
     QT_TRANSLATE_NOOP("RoleField", "Rows that have the experts among them"),
     QT_TRANSLATE_NOOP("RoleField",
                       "Expert parallelism: so many rows of devices have the experts among them, "
                       "and exchange their tokens"),
     QT_TRANSLATE_NOOP("RoleField",
                       "Expert parallelism needs AllReduce on several rows of devices")},
    {QT_TRANSLATE_NOOP("RoleField", "Have positions"),
     QT_TRANSLATE_NOOP("RoleField", "Rows that have the positions of a sample among them"),
     QT_TRANSLATE_NOOP("RoleField",
                       "Context parallelism: so many rows of devices have the same samples, each "
                       "its part of the positions; attention exchanges keys and values"),
     QT_TRANSLATE_NOOP("RoleField",
                       "Context parallelism needs AllReduce on several rows of devices, with equal "
                       "shares among those that have the same samples")},
    {QT_TRANSLATE_NOOP("RoleField", "Keep states"),
     QT_TRANSLATE_NOOP("RoleField", "What rows keep a part of each (ZeRO)"),
     QT_TRANSLATE_NOOP("RoleField",
                       "ZeRO: each row of devices keeps, and updates, its part of parameters and "
                       "optimizer states (1), adds up its part of gradients (2), and has "
                       "parameters whole only while a pass reads them (3)"),
     QT_TRANSLATE_NOOP("RoleField", "ZeRO needs AllReduce on several rows of devices")},
    {QT_TRANSLATE_NOOP("RoleField", "Shared by"),
     QT_TRANSLATE_NOOP("RoleField", "Rows that have all states among them"),
     QT_TRANSLATE_NOOP("RoleField",
                       "Hybrid sharding: so many rows, which follow each other, have all states "
                       "among them, and the next ones again"),
     QT_TRANSLATE_NOOP("RoleField", "All rows share the states")},
}};
const RoleTexts& texts_of(MeshRole role) { return kTexts[static_cast<std::size_t>(role)]; }

QString words_of(MeshRole role, std::int32_t number) {
  switch (role) {
    case MeshRole::Tensor:
      return number == 1 ? RoleField::tr("each device by itself")
                         : RoleField::tr("%1 devices together").arg(number);
    case MeshRole::Expert:
      return number == 1 ? RoleField::tr("each row all of them")
                         : RoleField::tr("among %1 rows").arg(number);
    case MeshRole::Context:
      return number == 1 ? RoleField::tr("each row all of them")
                         : RoleField::tr("among %1 rows").arg(number);
    case MeshRole::States:
      return number == 0 ? RoleField::tr("each row all of them")
                         : RoleField::tr("in parts, as ZeRO %1").arg(number);
    case MeshRole::StateRows:
      return number == 0 ? RoleField::tr("all rows") : RoleField::tr("%1 rows").arg(number);
  }
  return {};
}

}  // namespace

RoleField::RoleField(MeshRole role, Session& session, EditPreview& preview, QWidget* parent)
    : QWidget(parent),
      role_(role),
      session_(session),
      preview_(preview),
      choice_(make_choice({}, tr("differs"), this)) {
  choice_->setAccessibleName(tr(texts_of(role).name));
  open_below(*choice_);
  auto* label = new QLabel(tr(texts_of(role).label), this);
  label->setBuddy(choice_);
  int widest = 0;  // the choices stand below each other
  for (const RoleTexts& texts : kTexts)
    widest = std::max(widest, label->fontMetrics().horizontalAdvance(tr(texts.label)));
  label->setMinimumWidth(widest);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, style::kGrid, 0, 0);
  row->setSpacing(2 * style::kGrid);
  row->addWidget(label);
  row->addWidget(choice_, 1);
  connect(choice_, &QComboBox::activated, this, &RoleField::choose);
  connect(choice_, &QComboBox::highlighted, this,
          [this](int index) { preview_.ask(chosen(index)); });
}

// Has the model experts, and is there anything that rows share?
bool RoleField::concerns_selection() const {
  const Snapshot& now = session_.snapshot();
  if (role_ == MeshRole::Expert) return experts_of(*now.problem->graph) > 0;
  return role_ != MeshRole::StateRows ||
         std::ranges::any_of(session_.selection().groups(), [&](GroupId group) {
           const std::optional<Decision>& decision = now.strategy.groups[group];
           return decision && state_rows_of(*decision) > 1;
         });
}

void RoleField::refresh() {
  const Strategy& strategy = session_.snapshot().strategy;
  const auto& groups = session_.selection().groups();
  setVisible(concerns_selection());
  numbers_ = possible_numbers(strategy, groups, *session_.snapshot().problem->graph, role_);
  std::set<std::int32_t> now;
  for (const GroupId group : groups)
    if (const auto& decision = strategy.groups[group]) now.insert(number_of(*decision, role_));
  choice_->clear();
  for (const std::int32_t number : numbers_) choice_->addItem(words_of(role_, number));
  const auto at = now.size() == 1 ? std::ranges::find(numbers_, *now.begin()) : numbers_.end();
  choice_->setCurrentIndex(at == numbers_.end() ? -1 : static_cast<int>(at - numbers_.begin()));
  const bool some = numbers_.size() > 1 || now.size() > 1;
  setEnabled(some);
  setToolTip(tr(some ? texts_of(role_).tip : texts_of(role_).needs));
}

Strategy RoleField::chosen(int index) const {
  return with_role(session_.snapshot().strategy, session_.selection().groups(), role_,
                   numbers_[static_cast<std::size_t>(index)]);
}

void RoleField::choose(int index) {
  preview_.forget();
  session_.edit(chosen(index),
                QStringLiteral("%1: %2").arg(
                    names_of(session_.selection().groups(), *session_.snapshot().problem->grouping),
                    role_ == MeshRole::Tensor ? choice_->itemText(index)
                                              : tr("%1 %2").arg(tr(texts_of(role_).label).toLower(),
                                                                choice_->itemText(index))));
}

void RoleField::enterEvent(QEnterEvent* event) {
  preview_.forget();
  QWidget::enterEvent(event);
}

void RoleField::leaveEvent(QEvent* event) {
  preview_.forget();
  QWidget::leaveEvent(event);
}

}  // namespace strato
