#include "views/models/placement_model.h"

#include <set>

#include "views/models/drop_place.h"
#include "views/models/explanation.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {

PlacementModel::PlacementModel(Session& session, QObject* parent)
    : QAbstractTableModel(parent), session_(session) {
  connect(&session_, &Session::problem_changed, this, &PlacementModel::reset);
  connect(&session_, &Session::strategy_changed, this, &PlacementModel::refresh);
  connect(&session_, &Session::outcome_changed, this, [this] {
    take_times();
    if (rows_ == 0) return;
    emit dataChanged(index(0, Name), index(rows_ - 1, Time));
    emit headerDataChanged(Qt::Horizontal, Time, Time);
  });
  connect(&session_, &Session::tree_changed, this, &PlacementModel::refresh_pins);
  connect(&session_, &Session::constraints_changed, this, &PlacementModel::refresh_constraints);
  reset();
}

void PlacementModel::reset() {
  beginResetModel();
  const Problem* problem = this->problem();
  rows_ = problem ? static_cast<int>(problem->grouping->size()) : 0;
  columns_ = FirstDeviceGroup + (problem ? static_cast<int>(problem->cluster->groups().size()) : 0);
  Nanos total;
  if (problem) {
    for (const OpGroup& group : problem->grouping->groups()) total += group.compute_time;
  }
  total_seconds_ = to_seconds(total);
  constraints_ = constraints_by_group(session_);
  take_times();
  endResetModel();
}

// Summed over devices, as the inspector has it; without an outcome the estimates on one device.
void PlacementModel::take_times() {
  times_.clear();
  total_ = Nanos(0);
  const auto& outcome = session_.snapshot().outcome;
  const Problem* problem = this->problem();
  if (!problem) return;
  if (outcome && outcome->program->graph == problem->graph) {
    times_ = computing_times(*outcome->timeline, *problem->grouping);
  } else {
    for (const OpGroup& group : problem->grouping->groups()) times_.push_back(group.compute_time);
  }
  for (const Nanos time : times_) total_ += time;
}

void PlacementModel::refresh() {
  if (rows_ == 0) return;
  if (!constraints_.empty()) return refresh_constraints();
  emit dataChanged(index(0, ModeOfGroup), index(rows_ - 1, columns_ - 1));
  emit headerDataChanged(Qt::Horizontal, FirstDeviceGroup, columns_ - 1);
}

void PlacementModel::refresh_pins() {
  if (rows_ > 0) emit dataChanged(index(0, Name), index(rows_ - 1, Name), {PinnedRole});
}

void PlacementModel::refresh_constraints() {
  const auto& problem = session_.snapshot().problem;
  const bool same =
      problem && problem->grouping->size() == static_cast<std::size_t>(rows_) &&
      problem->cluster->groups().size() == static_cast<std::size_t>(columns_ - FirstDeviceGroup);
  if (!same) return;  // another problem: reset() follows
  constraints_ = constraints_by_group(session_);
  if (rows_ == 0) return;
  emit dataChanged(index(0, Name), index(rows_ - 1, columns_ - 1));
  emit headerDataChanged(Qt::Horizontal, FirstDeviceGroup, columns_ - 1);
}

const GroupConstraints& PlacementModel::constraints(int row) const {
  static const GroupConstraints none;
  const auto at = static_cast<std::size_t>(row);
  return at < constraints_.size() ? constraints_[at] : none;
}

QString PlacementModel::with_constraints(QString tip, int row) const {
  for (const QString& line : constraints(row).lines) tip += QLatin1Char('\n') + line;
  return tip;
}

bool PlacementModel::is_pinned(int row) const {
  if (constraints(row).pinned) return true;
  const auto tree = session_.tree();
  return tree && !session_.snapshot().has_own_groups() &&
         static_cast<std::size_t>(row) < tree->pinned.size() &&
         tree->pinned[group_at(row)].has_value();
}

int PlacementModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : rows_;
}
int PlacementModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : columns_;
}

DeviceGroupId PlacementModel::device_group_at(int column) const {
  if (column < FirstDeviceGroup || column >= columns_) return {};
  return DeviceGroupId(static_cast<std::size_t>(column - FirstDeviceGroup));
}

const Decision* PlacementModel::decision(int row) const {
  const auto& groups = session_.snapshot().strategy.groups;
  if (row < 0 || row >= static_cast<int>(groups.size())) return nullptr;
  const auto& decision = groups[group_at(row)];
  return decision ? &*decision : nullptr;
}

QVariant PlacementModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rows_ || index.column() >= columns_) return {};
  if (role == GroupRole) return index.row();
  const DeviceGroupId device_group = device_group_at(index.column());
  return device_group.valid() ? cell_data(index.row(), device_group, role)
                              : group_data(index.row(), index.column(), role);
}

QVariant PlacementModel::group_data(int row, int column, int role) const {
  const OpGroup& group = problem()->grouping->group(group_at(row));
  const Decision* decision = this->decision(row);
  if (role == TimeShareRole) {
    return total_ > Nanos(0) ? times_[group_at(row)] / total_ : 0.0;
  }
  if (role == PinnedRole) return column == Name && is_pinned(row);
  if (role == TogetherRole) return column == Name && constraints(row).together;
  if (role == ViolatedRole) return column == Name && constraints(row).violated;
  if (role == ModeRole) return decision ? static_cast<int>(decision->mode) : -1;
  if (role == Qt::TextAlignmentRole) {
    const bool number = column == Ops || column == Time || column == Parameters;
    return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role == Qt::ToolTipRole && column == Name) {
    const QString facts = tr("%1: %2 ops, %3 of compute in the mean over the cluster's devices")
                              .arg(text(group.name))
                              .arg(group.ops.size())
                              .arg(style::time(group.compute_time));
    return with_constraints(
        is_pinned(row) ? facts + tr("\nPinned: searches keep to its decision") : facts, row);
  }
  if (role == Qt::ToolTipRole && column == ModeOfGroup && decision)
    return describe_shares(*decision, *problem()->cluster);
  const bool sort = role == SortRole;
  if (!sort && role != Qt::DisplayRole && role != Qt::EditRole) return {};
  switch (column) {
    case Name:
      return text(group.name);
    case Ops:
      return static_cast<qlonglong>(group.ops.size());
    case Time:
      return sort ? QVariant(static_cast<qlonglong>(times_[group_at(row)].value))
                  : style::time(times_[group_at(row)]);
    case Parameters:
      if (sort) return static_cast<qlonglong>(group.parameter_bytes.value);
      return group.parameter_bytes.value ? style::bytes(group.parameter_bytes)
                                         : QStringLiteral("–");
    case ModeOfGroup:
      if (!decision) return {};
      if (role == Qt::EditRole) return static_cast<int>(decision->mode);
      return short_mode_words(*decision);
    default:
      return {};
  }
}

QString PlacementModel::cell_text(const DeviceGroupShare& share, const Decision& decision) const {
  if (share.devices == 0) return {};
  const QString part = share.devices < share.of
                           ? QStringLiteral("%1/%2").arg(share.devices).arg(share.of)
                           : QString();
  if (decision.mode == Mode::Duplicate) return part.isEmpty() ? tr("all") : part;
  const QString percent = QString::number(qRound(share.share * 100)) + QStringLiteral(" %");
  return part.isEmpty() ? percent : percent + QStringLiteral(" · ") + part;
}

QVariant PlacementModel::cell_data(int row, DeviceGroupId group, int role) const {
  if (role == DeviceGroupRole) return group.value();
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignCenter);
  const Decision* decision = this->decision(row);
  if (!decision) return {};
  const Cluster& cluster = *problem()->cluster;
  const DeviceGroupShare share = share_on(*decision, cluster, group);
  const bool even = share.devices > 0 && share.weight % share.devices == 0;
  switch (role) {
    case Qt::DisplayRole:
      return cell_text(share, *decision);
    case SortRole:
    case ShareRole:
      return share.share;
    case UsedRole:
      return share.devices;
    case OfRole:
      return share.of;
    case SplitsRole:
      return splits_batch(decision->mode);
    case ForbiddenRole:
      return group.index() < constraints(row).forbidden.size() &&
             constraints(row).forbidden[group.index()] != 0;
    case Qt::EditRole:
    case WeightRole:
      return even ? share.weight / share.devices : 0;
    case Qt::ToolTipRole:
      return with_constraints(
          tr("%1: %2\nClick: use %3 or not. Double-click or F2: change its weight.")
              .arg(text(problem()->grouping->group(group_at(row)).name),
                   describe_shares(*decision, cluster), text(cluster.groups()[group].name)),
          row);
    default:
      return {};
  }
}

// The compute time of the groups, weighted with the share that the device group does.
QString PlacementModel::load_of(DeviceGroupId device_group) const {
  double seconds = 0;
  for (int row = 0; row < rows_; ++row) {
    if (const Decision* decision = this->decision(row)) {
      seconds += share_on(*decision, *problem()->cluster, device_group).share *
                 to_seconds(problem()->grouping->group(group_at(row)).compute_time);
    }
  }
  return total_seconds_ > 0
             ? QString::number(qRound(100 * seconds / total_seconds_)) + QStringLiteral(" %")
             : QString();
}

QVariant PlacementModel::device_group_header(DeviceGroupId group, int role) const {
  const DeviceGroup& info = problem()->cluster->groups()[group];
  const QString gpu = text(problem()->cluster->gpu_types()[info.type].name);
  switch (role) {
    case Qt::DisplayRole:
      return text(info.name);
    case DeviceGroupRole:
      return group.value();
    case SummaryRole:
      return load_of(group);
    case Qt::ToolTipRole:
      return tr("%1: %2 × %3, does %4 of the compute time")
          .arg(text(info.name))
          .arg(info.devices.size())
          .arg(gpu, load_of(group));
    default:
      return {};
  }
}

QVariant PlacementModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) {
    return role == Qt::DisplayRole ? QVariant(section + 1) : QVariant();
  }
  const DeviceGroupId group = device_group_at(section);
  if (group.valid() && problem()) return device_group_header(group, role);
  if (role == Qt::TextAlignmentRole) {
    const bool number = section == Ops || section == Time || section == Parameters;
    return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role == SummaryRole && problem()) {
    if (section == Name) return tr("%1 groups").arg(rows_);
    if (section == Ops) return QString::number(problem()->graph->op_count());
    if (section == Time) return style::time(total_);
    if (section == Parameters) return style::bytes(problem()->graph->parameter_bytes());
  }
  if (role == Qt::ToolTipRole && section == Time)
    return tr("What the group's ops take in the step shown, summed over devices");
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Name:
      return tr("Group");
    case Ops:
      return tr("Ops");
    case Time:
      return tr("Computing");
    case Parameters:
      return tr("Params");
    case ModeOfGroup:
      return tr("Mode");
    default:
      return {};
  }
}

Qt::ItemFlags PlacementModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = QAbstractTableModel::flags(index);
  // A view without a drop indicator asks about the empty index whether anything can be dropped.
  if (!index.isValid()) return problem() ? flags | Qt::ItemIsDropEnabled : flags;
  const bool weight = device_group_at(index.column()).valid() && index.data(SplitsRole).toBool() &&
                      index.data(UsedRole).toInt() > 0;
  if (weight || index.column() == ModeOfGroup) flags |= Qt::ItemIsEditable;
  flags |= device_group_at(index.column()).valid() ? Qt::ItemIsDropEnabled : Qt::ItemIsDragEnabled;
  return flags;
}

QStringList PlacementModel::mimeTypes() const { return {drag_type()}; }

QMimeData* PlacementModel::mimeData(const QModelIndexList& indexes) const {
  if (!problem()) return nullptr;
  std::set<GroupId> groups;
  for (const QModelIndex& index : indexes) groups.insert(group_at(index.row()));
  return drag_of({{groups.begin(), groups.end()}, {}}, *problem());
}

bool PlacementModel::canDropMimeData(const QMimeData* data, Qt::DropAction, int, int,
                                     const QModelIndex& parent) const {
  return data && problem() && parent.isValid() && device_group_at(parent.column()).valid() &&
         !dragged(*data, *problem()).is_empty();
}

// False: the rows that were dragged stay where they are, whatever the action is called.
bool PlacementModel::dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                                  const QModelIndex& parent) {
  if (!canDropMimeData(data, action, row, column, parent)) return false;
  drop_on(session_, dragged(*data, *problem()),
          place_of(*problem()->cluster, device_group_at(parent.column())));
  return false;
}

bool PlacementModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || !(flags(index) & Qt::ItemIsEditable)) return false;
  bool ok = false;
  const int number = value.toInt(&ok);
  if (!ok) return false;
  const std::vector<GroupId> groups = {group_at(index.row())};
  const DeviceGroupId device_group = device_group_at(index.column());
  if (!device_group.valid()) {
    if (number < 0 || number > static_cast<int>(Mode::ModelParallel)) return false;
    set_mode(groups, static_cast<Mode>(number));
    return true;
  }
  if (number < 1 || number > 1000) return false;
  const Cluster& cluster = *problem()->cluster;
  session_.edit(with_weight(session_.snapshot().strategy, groups, cluster, device_group, number),
                tr("%1: weight %2 on %3")
                    .arg(names_of(groups, *problem()->grouping))
                    .arg(number)
                    .arg(text(cluster.groups()[device_group].name)));
  return true;
}

Strategy PlacementModel::toggled(const std::vector<GroupId>& groups, DeviceGroupId device_group,
                                 bool used) const {
  return with_device_group(session_.snapshot().strategy, groups, *problem()->cluster, device_group,
                           used);
}

void PlacementModel::toggle(const std::vector<GroupId>& groups, DeviceGroupId device_group,
                            bool used) {
  const Cluster& cluster = *problem()->cluster;
  const Strategy changed = toggled(groups, device_group, used);
  if (changed == session_.snapshot().strategy) {
    if (!used) emit session_.message(tr("An op group needs at least one device"));
    return;
  }
  session_.edit(changed,
                QStringLiteral("%1: %2 %3")
                    .arg(names_of(groups, *problem()->grouping), used ? tr("use") : tr("leave"),
                         text(cluster.groups()[device_group].name)));
}

void PlacementModel::set_mode(const std::vector<GroupId>& groups, Mode mode) {
  session_.edit(with_mode(session_.snapshot().strategy, groups, mode),
                QStringLiteral("%1: %2").arg(names_of(groups, *problem()->grouping),
                                             text(std::string(label_of(mode)))));
}

}  // namespace strato
