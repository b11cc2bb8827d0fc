#include "views/inspector/sync_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QVBoxLayout>
#include <algorithm>
#include <optional>
#include <set>

#include "views/inspector/device_field.h"
#include "views/inspector/facts.h"
#include "views/inspector/merge_field.h"
#include "views/inspector/part_list.h"
#include "views/inspector/ring_field.h"
#include "views/inspector/sync_choices.h"
#include "views/models/edit_preview.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kMostParts = 4096, kMostStale = 1000;
constexpr Encoding kEncodings[] = {Encoding::None, Encoding::SparseRows,        Encoding::Half,
                                   Encoding::TopK, Encoding::SufficientFactors, Encoding::LowRank};

// What all have in common; nothing where they differ.
template <class Values>
auto common(const Values& values) -> std::optional<typename Values::value_type> {
  if (values.size() != 1) return {};
  return *values.begin();
}

}  // namespace

struct SyncForm::Common {
  std::set<int> choices, parts, axes, encodings, merges, staleness, two_level;
  std::set<DeviceId> servers, stations;
  std::set<std::vector<DeviceId>> sequences, replicas;
  std::set<QString> partitions;
  bool reduced = false, served = false, any_served = false;
};

SyncForm::SyncForm(Session& session, bool compact, QWidget* parent)
    : QWidget(parent),
      session_(session),
      compact_(compact),
      preview_(new EditPreview(session, this)) {
  build();
  connect(&session_, &Session::strategy_changed, this, &SyncForm::refresh);
  refresh();
}

QToolButton& SyncForm::servers() { return *servers_; }
QString SyncForm::effect_text() const { return effect_line_->text(); }
QString SyncForm::refusal() const { return refused_->text(); }

QWidget* SyncForm::add_line(const QString& name, QWidget* field, const QString& tip) {
  return add_line(name, field, field, tip);
}

QWidget* SyncForm::add_line(const QString& name, QWidget* field, QWidget* labelled,
                            const QString& tip) {
  auto* label = new QLabel(name, this);
  label->setBuddy(labelled);
  label->setToolTip(tip);
  labelled->setToolTip(tip);
  labelled->setAccessibleName(name);
  const int line = grid_->rowCount();
  grid_->addWidget(label, line, 0, field == labelled ? Qt::AlignVCenter : Qt::AlignTop);
  grid_->addWidget(field, line, 1);
  lines_.insert(lines_.end(), {label, field});
  return label;
}

SyncForm::~SyncForm() {
  for (QObject* field : findChildren<QObject*>()) field->disconnect(this);
}

void SyncForm::build() {
  grid_ = new QGridLayout(this);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(2 * style::kGrid);
  grid_->setVerticalSpacing(style::kGrid);
  grid_->setColumnStretch(1, 1);
  build_parts();
  synchroniser_ = make_choice({tr("As the group"), tr("AllReduce"), tr("Parameter server")},
                              tr("differs"), this);
  add_line(
      tr("Synchronised"), synchroniser_,
      tr("AllReduce: the replicas sum gradients among each other. Parameter server: one device "
         "sums, updates and sends the new value back."));
  build_message();
  build_reduction();
  // Below all fields: none of them moves away from under the cursor.
  note_ = make_note(this);
  grid_->addWidget(note_, grid_->rowCount(), 0, 1, 2);
  messages_ = new QWidget(this);
  grid_->addWidget(messages_, grid_->rowCount(), 0, 1, 2);
  auto* column = new QVBoxLayout(messages_);
  column->setContentsMargins(0, 0, 0, 0);
  for (QLabel** line : {&effect_line_, &refused_}) {
    *line = make_note(messages_);
    column->addWidget(*line);
    (*line)->hide();
  }
  connect_fields();
}

void SyncForm::build_parts() {
  parts_ = make_number(0, kMostParts, tr("differs"), this);
  add_line(tr("Parts"), parts_, tr("The variable is divided, and each part goes its own way"));
  axis_ = make_number(-1, 15, tr("differs"), this);
  add_line(tr("Along axis"), axis_, tr("Counted from 0"));
  partition_ = new QLineEdit(this);
  partition_->setMaxLength(80);
  add_line(tr("Parts by axis"), partition_,
           tr("Parts along each axis of the variable: 2 × 3 makes six, each with its own way"));
  scope_ = make_note(this);
  grid_->addWidget(scope_, grid_->rowCount(), 0, 1, 2);
  part_list_ = new PartList(this);
  grid_->addWidget(part_list_, grid_->rowCount(), 0, 1, 2);
  part_list_->setToolTip(tr("Select parts to change them alone; Esc: all again"));
  part_lines_ = {scope_, part_list_};
}

void SyncForm::build_message() {
  servers_ = new DeviceField(tr("Balanced over the replicas"), DeviceField::Of::Cluster, this);
  add_line(tr("Servers"), servers_, tr("Of a parameter server; parts take turns on several"));
  stations_ = new QCheckBox(tr("Two-level"), this);
  stations_->setToolTip(
      tr("In each machine with several replicas one of them sums first, and passes on new values"));
  grid_->addWidget(stations_, grid_->rowCount(), 1);
  lines_.push_back(stations_);
  stations_at_ =
      new DeviceField(tr("None: straight to the server"), DeviceField::Of::EachMachine, this);
  stations_label_ =
      add_line(tr("Stations"), stations_at_,
               tr("Where gradients are summed first and new values passed on: one in a machine"));
  staleness_ = make_number(-1, kMostStale, tr("differs"), this);
  add_line(tr("Staleness"), staleness_,
           tr("Steps by which values may lag behind, of a parameter server. 0: synchronous, the "
              "only one that keeps the results of training."));
  QStringList words;
  for (const Encoding encoding : kEncodings) words << encoding_words(encoding);
  encoding_ = make_choice(words, tr("differs"), this);
  add_line(tr("Encoding"), encoding_,
           tr("Of gradients as they travel. What is lossy changes the results of training; sparse "
              "rows and sufficient factors are exact."));
}

void SyncForm::build_reduction() {
  merge_ = new MergeField(this);
  add_line(tr("Merge group"), merge_,
           tr("AllReduced parts with the same number are one message; none: on its own, or in the "
              "strategy's buckets"));
  ring_ = new RingField(this);
  add_line(tr("Ring order"), ring_, &ring_->choice(),
           tr("Of an AllReduce: the order in which the replicas pass on what they summed"));
}

void SyncForm::show_variables(std::vector<OpId> updates) {
  if (updates != updates_) {
    const QSignalBlocker block(part_list_);
    partition_->setModified(false);
    part_list_->clearSelection();
    refused_->hide();
    refused_->clear();
  }
  updates_ = std::move(updates);
  refresh();
}

void SyncForm::refresh() {
  preview_->forget();
  const Snapshot& snapshot = session_.snapshot();
  const bool open =
      snapshot.problem && snapshot.strategy.groups.size() == snapshot.problem->grouping->size();
  std::vector<VariableSync> syncs;
  if (open) {
    for (const OpId update : updates_) {
      if (!is_synchronised(snapshot.strategy, *snapshot.problem, update)) continue;
      const VariableSync* known = sync_of(snapshot.strategy, update);
      syncs.push_back(known ? *known : sync_as_group(snapshot.strategy, *snapshot.problem, update));
    }
  }
  for (QWidget* field : std::initializer_list<QWidget*>{synchroniser_, parts_, axis_, partition_,
                                                        servers_, stations_, stations_at_,
                                                        encoding_, merge_, ring_, staleness_})
    field->setEnabled(!syncs.empty());
  if (compact_)
    for (QWidget* line : lines_) line->setVisible(!syncs.empty());
  note_->setVisible(syncs.empty());
  note_->setText(updates_.empty()
                     ? tr("Select variables to change how they are synchronised.")
                     : tr("Nothing to synchronise: only where an op group is replicated over "
                          "several devices do its variables have gradients to sum."));
  if (syncs.empty()) {
    show_nothing();
  } else {
    show_syncs(syncs);
  }
}

void SyncForm::show_nothing() {
  const QSignalBlocker b1(parts_), b2(axis_), b3(merge_), b4(staleness_), b5(part_list_);
  synchroniser_->setCurrentIndex(AsGroup);
  encoding_->setCurrentIndex(0);
  parts_->setValue(1);
  axis_->setValue(0);
  partition_->clear();
  partition_->setPlaceholderText(QString());
  merge_->setValue(-1);
  staleness_->setValue(0);
  stations_->setChecked(false);
  servers_->clear();
  stations_at_->clear();
  stations_at_->hide();
  stations_label_->hide();
  part_list_->clear();
  for (QWidget* line : part_lines_) line->hide();
  ring_->show_sequence(Cluster(), {}, {}, false);
  for (QLabel* line : {effect_line_, refused_}) line->hide();
}

void SyncForm::show_syncs(const std::vector<VariableSync>& syncs) {
  const Snapshot& snapshot = session_.snapshot();
  part_list_->show_parts(syncs, *snapshot.problem);
  const std::vector<int> only = part_list_->only();
  Common all;
  for (const VariableSync& sync : syncs) {
    all.parts.insert(static_cast<int>(sync.parts.size()));
    all.axes.insert(sync.partition.empty() ? sync.axis : -1);
    all.partitions.insert(partition_words(sync, *snapshot.problem->graph));
    all.staleness.insert(sync.staleness);
    const bool by_hand = sync_of(snapshot.strategy, sync.update) != nullptr;
    std::vector<DeviceId> replicas;
    const auto group = snapshot.problem->grouping->group_of(sync.update);
    for (const DeviceShare& share : snapshot.strategy.groups[group]->devices)
      replicas.push_back(share.device);
    all.replicas.insert(std::move(replicas));
    for (std::size_t i = 0; i < sync.parts.size(); ++i) {
      const SyncPart& part = sync.parts[i];
      const bool ps = part.synchroniser == Synchroniser::Ps;
      all.any_served |= ps;
      if (!only.empty() && !std::ranges::binary_search(only, static_cast<int>(i))) continue;
      all.choices.insert(!by_hand ? AsGroup : ps ? ByPs : ByAllReduce);
      all.encodings.insert(static_cast<int>(part.encoding));
      if (part.server.valid()) all.servers.insert(part.server);
      all.stations.insert(part.stations.begin(), part.stations.end());
      if (!ps) all.merges.insert(part.merge_group);
      if (!ps) all.sequences.insert(part.sequence);
      all.two_level.insert(!part.stations.empty());
      (ps ? all.served : all.reduced) = true;
    }
  }
  const QSignalBlocker b1(parts_), b2(axis_), b3(staleness_);
  synchroniser_->setCurrentIndex(common(all.choices).value_or(-1));
  parts_->setValue(common(all.parts).value_or(0));
  axis_->setValue(common(all.axes).value_or(-1));
  axis_->setEnabled(*all.parts.rbegin() > 1);
  if (!partition_->isModified())  // else it is being typed
    partition_->setText(common(all.partitions).value_or(QString()));
  partition_->setPlaceholderText(tr("differs"));
  staleness_->setValue(common(all.staleness).value_or(-1));
  staleness_->setEnabled(all.any_served);
  for (QWidget* line : part_lines_) line->setVisible(*all.parts.rbegin() > 1);
  scope_->setText(only.empty()       ? tr("Below: all parts")
                  : only.size() == 1 ? tr("Below: part %1 alone").arg(only.front())
                                     : tr("Below: %1 parts").arg(only.size()));
  // What is as its group is so in all parts.
  set_item_enabled(*synchroniser_, AsGroup, only.empty(), tr("Of all parts of a variable"));
  show_reduction(syncs, all);
  show_encodings();
}

void SyncForm::show_reduction(const std::vector<VariableSync>& syncs, const Common& all) {
  const Snapshot& snapshot = session_.snapshot();
  const QSignalBlocker block(merge_);
  encoding_->setCurrentIndex(common(all.encodings).value_or(-1));
  merge_->setValue(common(all.merges).value_or(all.merges.empty() ? -1 : MergeField::kDiffer));
  merge_->setEnabled(all.reduced);
  stations_->setEnabled(all.served);
  // Of three-state boxes only this code makes the third state.
  stations_->setCheckState(all.two_level.size() > 1    ? Qt::PartiallyChecked
                           : all.two_level.contains(1) ? Qt::Checked
                                                       : Qt::Unchecked);
  stations_->setTristate(false);
  const auto& cluster = snapshot.problem->cluster;
  servers_->show_devices(cluster, {all.servers.begin(), all.servers.end()});
  stations_at_->show_devices(cluster, {all.stations.begin(), all.stations.end()});
  stations_at_->setVisible(all.served);
  stations_label_->setVisible(all.served);
  const auto sequence = common(all.sequences);
  const auto replicas = common(all.replicas);
  ring_->setEnabled(all.reduced && !syncs.empty() && replicas.has_value());
  ring_->show_sequence(*cluster, replicas.value_or(std::vector<DeviceId>()),
                       sequence.value_or(std::vector<DeviceId>()), all.sequences.size() > 1);
}

// Of very many variables the form says afterwards what some of them cannot have.
void SyncForm::show_encodings() {
  constexpr std::size_t kMostAsked = 500;
  const Snapshot& snapshot = session_.snapshot();
  const bool ask = updates_.size() <= kMostAsked;
  for (const Encoding encoding : kEncodings) {
    const QString why = encoding == Encoding::None || !ask
                            ? QString()
                            : why_not_encoded(snapshot.strategy, *snapshot.problem, updates_,
                                              encoding, part_list_->only());
    set_item_enabled(*encoding_, static_cast<int>(encoding), why.isEmpty(), why);
  }
}

}  // namespace strato
