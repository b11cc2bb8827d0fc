// What the form's fields do: an edit of the session, or what one would do.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>

#include "core/strategy/value/variable_check.h"
#include "views/inspector/device_field.h"
#include "views/inspector/merge_field.h"
#include "views/inspector/part_list.h"
#include "views/inspector/ring_field.h"
#include "views/inspector/sync_choices.h"
#include "views/inspector/sync_form.h"
#include "views/models/edit_preview.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

QString name_of_variables(const Problem& problem, const std::vector<OpId>& updates) {
  if (updates.size() != 1)
    return SyncForm::tr("%n variables", nullptr, static_cast<int>(updates.size()));
  return text(problem.graph->tensor(parameter_of(*problem.graph, updates[0])).name);
}

// The first reason, and how many variables have one.
QString reasons(const QStringList& refused) {
  if (refused.size() < 2) return refused.join(QString());
  return SyncForm::tr("Not for %n variables: ", nullptr, static_cast<int>(refused.size())) +
         refused.first();
}

SyncChoice by_synchroniser(int index) {
  SyncChoice choice;
  choice.synchroniser = index == ByPs ? Synchroniser::Ps : Synchroniser::AllReduce;
  return choice;
}

// Parts along each axis, as typed.
struct TypedPartition {
  SyncChoice choice;
  QString why_too_many;  // empty: it can be asked for
};

TypedPartition typed_partition(const QString& typed) {
  constexpr std::int64_t kMostParts = 4096;
  TypedPartition result;
  result.choice.partition = partition_from(typed);
  std::int64_t parts = 1;
  for (const std::int32_t along : *result.choice.partition)
    if (parts <= kMostParts) parts *= along;
  if (parts > kMostParts)
    result.why_too_many = SyncForm::tr("\"%1\" is more than %2 parts").arg(typed).arg(kMostParts);
  return result;
}

SyncChoice by_encoding(int index) {
  SyncChoice choice;
  choice.encoding = static_cast<Encoding>(index);
  return choice;
}

}  // namespace

void SyncForm::connect_fields() {
  connect(part_list_, &QListWidget::itemSelectionChanged, this, &SyncForm::refresh);
  connect(synchroniser_, &QComboBox::activated, this, &SyncForm::choose_synchroniser);
  connect(synchroniser_, &QComboBox::highlighted, this, [this](int index) {
    if (index == AsGroup) return forget();
    preview_choice(by_synchroniser(index));
  });
  connect(encoding_, &QComboBox::highlighted, this,
          [this](int index) { preview_choice(by_encoding(index)); });
  connect(encoding_, &QComboBox::activated, this, [this](int index) {
    choose(by_encoding(index), tr("encoding %1").arg(encoding_->itemText(index)));
  });
  const auto on_number = [this](QSpinBox* box, std::optional<int> SyncChoice::*number, int least,
                                auto words) {
    connect(box, &QSpinBox::valueChanged, this, [this, number, least, words](int value) {
      if (value < least) return refresh();
      SyncChoice choice;
      choice.*number = value;
      this->choose(choice, words(value));
    });
    preview_number(box, number, least);
  };
  on_number(parts_, &SyncChoice::parts, 1,
            [](int n) { return n == 1 ? tr("one part") : tr("%1 parts").arg(n); });
  on_number(axis_, &SyncChoice::axis, 0, [](int axis) { return tr("along axis %1").arg(axis); });
  connect(partition_, &QLineEdit::editingFinished, this, &SyncForm::choose_partition);
  connect(partition_, &QLineEdit::textEdited, this, [this](const QString& typed) {
    const TypedPartition wanted = typed_partition(typed);
    if (!wanted.why_too_many.isEmpty()) return tell(wanted.why_too_many);
    wanted.choice.partition->empty() ? forget() : preview_choice(wanted.choice);
  });
  on_number(staleness_, &SyncChoice::staleness, 0,
            [](int steps) { return tr("staleness %1").arg(steps); });
  on_number(merge_, &SyncChoice::merge_group, -1, [](int group) {
    return group < 0 ? tr("no merge group") : tr("merge group %1").arg(group);
  });
  connect_devices();
  connect(preview_, &EditPreview::changed, this, [this] {
    effect_line_->setText(preview_->text());
    effect_line_->setVisible(!effect_line_->text().isEmpty());
  });
}

void SyncForm::connect_devices() {
  connect(stations_, &QCheckBox::clicked, this, [this](bool on) {
    SyncChoice choice;
    choice.stations = on;
    this->choose(choice, on ? tr("two-level") : tr("one level"));
  });
  const auto on_devices = [this](auto* field, std::optional<std::vector<DeviceId>> SyncChoice::*of,
                                 const QString& some, const QString& none) {
    using Field = std::remove_pointer_t<decltype(field)>;
    const auto choice_of = [of](const std::vector<DeviceId>& devices) {
      SyncChoice choice;
      choice.*of = devices;
      return choice;
    };
    connect(field, &Field::chosen, this,
            [this, choice_of, some, none](const std::vector<DeviceId>& devices) {
              choose(choice_of(devices), devices.empty() ? none : some);
            });
    connect(field, &Field::considered, this,
            [this, choice_of](const std::vector<DeviceId>& devices) {
              preview_choice(choice_of(devices));
            });
    connect(field, &Field::left, this, &SyncForm::forget);
  };
  on_devices(servers_, &SyncChoice::servers, tr("servers"), tr("servers balanced"));
  on_devices(stations_at_, &SyncChoice::stations_at, tr("stations"), tr("one level"));
  on_devices(ring_, &SyncChoice::sequence, tr("ring order"), tr("order as the network suits"));
}

// While it is typed.
void SyncForm::preview_number(QSpinBox* box, std::optional<int> SyncChoice::*number, int least) {
  auto* line = box->findChild<QLineEdit*>();
  connect(line, &QLineEdit::textEdited, this, [this, number, least](const QString& typed) {
    bool is_number = false;
    const int value = typed.toInt(&is_number);
    if (!is_number || value < least) return forget();
    SyncChoice choice;
    choice.*number = value;
    preview_choice(choice);
  });
}

void SyncForm::forget() {
  preview_->forget();
  effect_line_->clear();
  effect_line_->hide();
}

void SyncForm::enterEvent(QEnterEvent* event) {
  forget();
  QWidget::enterEvent(event);
}

void SyncForm::leaveEvent(QEvent* event) {
  forget();
  QWidget::leaveEvent(event);
}

void SyncForm::preview_choice(SyncChoice choice) {
  const Snapshot& snapshot = session_.snapshot();
  if (!snapshot.problem || updates_.empty()) return;
  choice.only = part_list_->only();
  QStringList refused;
  const Strategy strategy =
      with_sync(snapshot.strategy, *snapshot.problem, updates_, choice, &refused);
  const QString invalid =
      refused.isEmpty() ? why_invalid(strategy, *snapshot.problem) : reasons(refused);
  if (!invalid.isEmpty()) return tell(invalid);
  preview_->forget();
  preview_->ask(strategy);
}

// Instead of an effect.
void SyncForm::tell(const QString& why_none) {
  preview_->forget();
  effect_line_->setText(why_none);
  effect_line_->show();
}

void SyncForm::choose_synchroniser(int index) {
  if (index != AsGroup) return choose(by_synchroniser(index), synchroniser_->itemText(index));
  edit(with_sync_of_group(session_.snapshot().strategy, updates_), tr("as the group"));
}

void SyncForm::choose(SyncChoice choice, const QString& what) {
  const Snapshot& snapshot = session_.snapshot();
  if (!snapshot.problem) return;
  choice.only = part_list_->only();
  QStringList refused;
  const Strategy strategy =
      with_sync(snapshot.strategy, *snapshot.problem, updates_, choice, &refused);
  edit(strategy, what_is_changed(what), refused);
}

void SyncForm::choose_partition() {
  if (!partition_->isModified()) return;
  partition_->setModified(false);
  const QString typed = partition_->text();
  const TypedPartition wanted = typed_partition(typed);
  QString why = wanted.why_too_many;
  if (wanted.choice.partition->empty())
    why = tr("\"%1\" is no partition: write parts along each axis, such as 2 × 3").arg(typed);
  if (why.isEmpty()) return choose(wanted.choice, tr("parts %1").arg(typed));
  edit(session_.snapshot().strategy, tr("parts %1").arg(typed), {why});
}

// With the parts, when some are selected.
QString SyncForm::what_is_changed(const QString& what) const {
  const std::vector<int> only = part_list_->only();
  if (only.empty()) return what;
  QStringList numbers;
  for (const int part : only) numbers << QString::number(part);
  constexpr qsizetype kMost = 4;
  return tr("part %1: %2")
      .arg(numbers.size() > kMost ? numbers.first() + QStringLiteral(" … ") + numbers.last()
                                  : numbers.join(QStringLiteral(", ")),
           what);
}

// What a variable cannot have was left out: the fields say what holds, and the line below them why.
void SyncForm::edit(const Strategy& strategy, const QString& what, const QStringList& refused) {
  const Snapshot& snapshot = session_.snapshot();
  QString why = reasons(refused);
  if (strategy == snapshot.strategy) {
    emit session_.message(tr("Nothing changes: %1").arg(what));
  } else if (const QString invalid = why_invalid(strategy, *snapshot.problem); !invalid.isEmpty()) {
    why = invalid;
  } else {
    session_.edit(strategy, QStringLiteral("%1: %2").arg(
                                name_of_variables(*snapshot.problem, updates_), what));
  }
  refresh();
  forget();
  QPalette colours = palette();
  colours.setColor(QPalette::WindowText, style::infeasible(style::is_dark(colours)));
  refused_->setPalette(colours);
  refused_->setText(why);
  refused_->setVisible(!why.isEmpty());
}

}  // namespace strato
