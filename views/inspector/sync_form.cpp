#include "views/inspector/sync_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QToolButton>
#include <algorithm>
#include <optional>
#include <set>

#include "core/strategy/variable_check.h"
#include "views/inspector/facts.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

enum Choice { AsGroup, ByAllReduce, ByPs };
constexpr int kMostParts = 4096;
constexpr int kDiffer = -2;  // of the merge group's field

// A number from 0, or "none".
class MergeField : public QSpinBox {
 public:
  using QSpinBox::QSpinBox;

 protected:
  QString textFromValue(int value) const override {
    return value == -1 ? none() : QSpinBox::textFromValue(value);
  }
  int valueFromText(const QString& text) const override {
    return text == none() ? -1 : QSpinBox::valueFromText(text);
  }
  QValidator::State validate(QString& text, int& place) const override {
    if (text == none()) return QValidator::Acceptable;
    if (none().startsWith(text)) return QValidator::Intermediate;
    return QSpinBox::validate(text, place);
  }

 private:
  static QString none() { return QStringLiteral("none"); }
};

// What all have in common; nothing where they differ.
template <class Values>
auto common(const Values& values) -> std::optional<typename Values::value_type> {
  if (values.size() != 1) return {};
  return *values.begin();
}

QString name_of_variables(const Problem& problem, const std::vector<OpId>& updates) {
  if (updates.size() != 1) return QStringLiteral("%1 variables").arg(updates.size());
  return text(problem.graph->tensor(parameter_of(*problem.graph, updates[0])).name);
}

}  // namespace

SyncForm::SyncForm(Session& session, bool compact, QWidget* parent)
    : QWidget(parent), session_(session), compact_(compact) {
  build();
  connect(&session_, &Session::strategy_changed, this, &SyncForm::refresh);
  refresh();
}

void SyncForm::add_line(const QString& name, QWidget* field, const QString& tip) {
  auto* label = new QLabel(name, this);
  label->setBuddy(field);
  label->setToolTip(tip);
  field->setToolTip(tip);
  field->setAccessibleName(name);
  const int line = grid_->rowCount();
  grid_->addWidget(label, line, 0);
  grid_->addWidget(field, line, 1);
  lines_.insert(lines_.end(), {label, field});
}

void SyncForm::build() {
  grid_ = new QGridLayout(this);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(2 * style::kGrid);
  grid_->setVerticalSpacing(style::kGrid);
  grid_->setColumnStretch(1, 1);
  note_ = make_note(this);
  grid_->addWidget(note_, 0, 0, 1, 2);
  const auto combo = [this](const QStringList& items) {
    auto* box = new QComboBox(this);
    box->addItems(items);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(8);
    box->setPlaceholderText(tr("differs"));
    return box;
  };
  const auto spin = [this](int low, int high, const QString& lowest) {
    auto* box = new QSpinBox(this);
    box->setRange(low, high);
    box->setSpecialValueText(lowest);
    box->setKeyboardTracking(false);
    return box;
  };
  synchroniser_ = combo({tr("As the group"), tr("AllReduce"), tr("Parameter server")});
  add_line(
      tr("Synchronised"), synchroniser_,
      tr("AllReduce: the replicas sum gradients among each other. Parameter server: one device "
         "sums, updates and sends the new value back."));
  parts_ = spin(0, kMostParts, tr("differs"));
  add_line(tr("Parts"), parts_, tr("The variable is divided, and each part goes its own way"));
  axis_ = spin(-1, 15, tr("differs"));
  add_line(tr("Along axis"), axis_, tr("Counted from 0"));
  build_servers();
  stations_ = new QCheckBox(tr("Two-level"), this);
  stations_->setToolTip(
      tr("In each machine with several replicas one of them sums first, and passes on new values"));
  grid_->addWidget(stations_, grid_->rowCount(), 1);
  lines_.push_back(stations_);
  encoding_ = combo({encoding_words(Encoding::None), encoding_words(Encoding::SparseRows),
                     encoding_words(Encoding::Half), encoding_words(Encoding::TopK)});
  add_line(tr("Encoding"), encoding_,
           tr("Of gradients as they travel. What is lossy changes the results of training; sparse "
              "rows is exact, for variables that are only looked up."));
  merge_ = new MergeField(this);
  merge_->setRange(kDiffer, 1 << 20);
  merge_->setSpecialValueText(tr("differs"));
  merge_->setKeyboardTracking(false);
  add_line(tr("Merge group"), merge_,
           tr("AllReduced parts with the same number are one message; none: on its own, or in the "
              "strategy's buckets"));
  connect(synchroniser_, &QComboBox::activated, this, &SyncForm::choose_synchroniser);
  connect(parts_, &QSpinBox::valueChanged, this, [this](int parts) {
    if (parts < 1) return refresh();
    SyncChoice choice;
    choice.parts = parts;
    this->choose(choice, tr("%n part(s)", nullptr, parts));
  });
  connect(axis_, &QSpinBox::valueChanged, this, [this](int axis) {
    if (axis < 0) return refresh();
    SyncChoice choice;
    choice.axis = axis;
    this->choose(choice, tr("along axis %1").arg(axis));
  });
  connect(stations_, &QCheckBox::clicked, this, [this](bool on) {
    SyncChoice choice;
    choice.stations = on;
    this->choose(choice, on ? tr("two-level") : tr("one level"));
  });
  connect(encoding_, &QComboBox::activated, this, [this](int encoding) {
    SyncChoice choice;
    choice.encoding = static_cast<Encoding>(encoding);
    this->choose(choice, tr("encoding %1").arg(encoding_words(*choice.encoding)));
  });
  connect(merge_, &QSpinBox::valueChanged, this, [this](int group) {
    if (group == kDiffer) return refresh();
    SyncChoice choice;
    choice.merge_group = group;
    this->choose(choice, group < 0 ? tr("no merge group") : tr("merge group %1").arg(group));
  });
}

void SyncForm::build_servers() {
  servers_ = new QToolButton(this);
  servers_->setPopupMode(QToolButton::InstantPopup);
  servers_->setToolButtonStyle(Qt::ToolButtonTextOnly);
  servers_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  server_menu_ = new QMenu(servers_);
  servers_->setMenu(server_menu_);
  add_line(tr("Servers"), servers_, tr("Of a parameter server; parts take turns on several"));
}

void SyncForm::show_variables(std::vector<OpId> updates) {
  updates_ = std::move(updates);
  refresh();
}

void SyncForm::refresh() {
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
  for (QWidget* field : std::initializer_list<QWidget*>{synchroniser_, parts_, axis_, servers_,
                                                        stations_, encoding_, merge_})
    field->setEnabled(!syncs.empty());
  if (compact_)
    for (QWidget* line : lines_) line->setVisible(!syncs.empty());
  note_->setVisible(syncs.empty());
  note_->setText(updates_.empty()
                     ? tr("Select variables to change how they are synchronised.")
                     : tr("Nothing to synchronise: only where an op group is replicated over "
                          "several devices do its variables have gradients to sum."));
  if (!syncs.empty()) {
    show_syncs(syncs);
    return;
  }
  const QSignalBlocker b1(parts_), b2(axis_), b3(merge_);
  synchroniser_->setCurrentIndex(AsGroup);
  encoding_->setCurrentIndex(0);
  parts_->setValue(1);
  axis_->setValue(0);
  merge_->setValue(-1);
  stations_->setChecked(false);
  servers_->setText(tr("none"));
}

void SyncForm::show_syncs(const std::vector<VariableSync>& syncs) {
  const Snapshot& snapshot = session_.snapshot();
  std::set<int> choices, parts, axes, encodings, merges, two_level;
  std::set<DeviceId> servers;
  bool looked_up = false, reduced = false, served = false;
  for (const VariableSync& sync : syncs) {
    parts.insert(static_cast<int>(sync.parts.size()));
    axes.insert(sync.axis);
    looked_up |= looked_up_rows(*snapshot.problem->graph, sync.update) > 0;
    const bool by_hand = sync_of(snapshot.strategy, sync.update) != nullptr;
    for (const SyncPart& part : sync.parts) {
      const bool ps = part.synchroniser == Synchroniser::Ps;
      choices.insert(!by_hand ? AsGroup : ps ? ByPs : ByAllReduce);
      encodings.insert(static_cast<int>(part.encoding));
      if (part.server.valid()) servers.insert(part.server);
      if (!ps) merges.insert(part.merge_group);
      two_level.insert(!part.stations.empty());
      (ps ? served : reduced) = true;
    }
  }
  const QSignalBlocker b1(parts_), b2(axis_), b3(merge_);
  synchroniser_->setCurrentIndex(common(choices).value_or(-1));
  parts_->setValue(common(parts).value_or(0));
  axis_->setValue(common(axes).value_or(-1));
  encoding_->setCurrentIndex(common(encodings).value_or(-1));
  merge_->setValue(common(merges).value_or(merges.empty() ? -1 : kDiffer));
  merge_->setEnabled(reduced);
  axis_->setEnabled(*parts.rbegin() > 1);
  stations_->setEnabled(served);
  // Of three-state boxes only this code makes the third state.
  stations_->setCheckState(two_level.size() > 1    ? Qt::PartiallyChecked
                           : two_level.contains(1) ? Qt::Checked
                                                   : Qt::Unchecked);
  stations_->setTristate(false);
  auto* items = qobject_cast<QStandardItemModel*>(encoding_->model());
  items->item(static_cast<int>(Encoding::SparseRows))->setEnabled(looked_up);

  const Cluster& cluster = *snapshot.problem->cluster;
  server_menu_->clear();
  server_actions_.clear();
  balanced_ = server_menu_->addAction(tr("Balanced over the replicas"));
  connect(balanced_, &QAction::triggered, this, [this] {
    SyncChoice choice;
    choice.servers.emplace();
    this->choose(choice, tr("servers balanced"));
  });
  server_menu_->addSeparator();
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    QAction* action = server_menu_->addAction(text(cluster.device(DeviceId(d)).name));
    action->setCheckable(true);
    action->setChecked(servers.contains(DeviceId(d)));
    server_actions_.push_back(action);
    connect(action, &QAction::triggered, this, &SyncForm::choose_servers);
  }
  servers_->setText(servers.empty() ? tr("none")
                    : servers.size() <= 2
                        ? [&] {
                            QStringList names;
                            for (const DeviceId server : servers)
                              names << text(cluster.device(server).name);
                            return names.join(QStringLiteral(", "));
                          }()
                        : tr("%1 devices").arg(servers.size()));
}

void SyncForm::choose_synchroniser(int index) {
  if (index == AsGroup) {
    edit(with_sync_of_group(session_.snapshot().strategy, updates_), tr("as the group"));
    return;
  }
  SyncChoice choice;
  choice.synchroniser = index == ByPs ? Synchroniser::Ps : Synchroniser::AllReduce;
  choose(choice, synchroniser_->itemText(index));
}

void SyncForm::choose_servers() {
  SyncChoice choice;
  choice.servers.emplace();
  for (std::size_t d = 0; d < server_actions_.size(); ++d)
    if (server_actions_[d]->isChecked()) choice.servers->emplace_back(d);
  choose(choice, tr("servers"));
}

void SyncForm::choose(const SyncChoice& choice, const QString& what) {
  const Snapshot& snapshot = session_.snapshot();
  if (snapshot.problem)
    edit(with_sync(snapshot.strategy, *snapshot.problem, updates_, choice), what);
}

// What a variable cannot have was left out: the fields say what holds.
void SyncForm::edit(const Strategy& strategy, const QString& what) {
  const Snapshot& snapshot = session_.snapshot();
  if (strategy == snapshot.strategy) {
    emit session_.message(tr("Nothing changes: %1").arg(what));
  } else {
    session_.edit(strategy, QStringLiteral("%1: %2").arg(
                                name_of_variables(*snapshot.problem, updates_), what));
  }
  refresh();
}

}  // namespace strato
