#include "views/compare/change_table.h"

#include <QCoreApplication>
#include <algorithm>
#include <cstdlib>

#include "views/models/difference_model.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

QString words(const char* source) { return QCoreApplication::translate("ChangeTable", source); }

ChangeCell word_cell(const QString& value, const QString& tip = {}) {
  return {value, {}, tip.isEmpty() ? value : tip};
}

ChangeCell change_cell(Nanos from, Nanos to) {
  const Nanos change = to - from;
  return {signed_time(change), QVariant(qint64{std::abs(change.value)}),
          QStringLiteral("%1 → %2").arg(style::time(from), style::time(to))};
}

ChangeCell memory_cell(const std::optional<DeviceUse>& use) {
  if (!use) return {QStringLiteral("–"), QVariant(qint64{-1})};
  return {style::bytes(use->peak), QVariant(qint64{use->peak.value}),
          QStringLiteral("%1 / %2").arg(style::bytes(use->peak), style::bytes(use->capacity)),
          !use->fits()};
}

ChangeCell share_cell(const std::optional<DeviceUse>& use, Nanos time, Nanos step) {
  if (!use) return {QStringLiteral("–"), QVariant(-1.0)};
  const double share = step.value > 0 ? time / step : 0;
  return {style::percent(share), QVariant(share), style::time(time)};
}

ChangeCell bytes_cell(Bytes bytes) { return {style::bytes(bytes), QVariant(qint64{bytes.value})}; }
ChangeCell count_cell(std::int64_t count) {
  return {QString::number(count), QVariant(qint64{count})};
}

}  // namespace

ChangeContent group_rows(const PlanComparison& comparison) {
  ChangeContent content;
  content.columns = {
      {words("Op group"), text(comparison.plans.from.label), text(comparison.plans.to.label),
       words("Ops"), words("Step"), words("Busy")},
      {{},
       text(comparison.plans.from.label),
       text(comparison.plans.to.label),
       {},
       words("Change of the critical path while an op of the group runs; these add up to the "
             "change of the step time"),
       words("Change of the time that its ops compute, summed over devices")},
      3};
  for (const GroupChange& row : comparison.groups) {
    ChangeRow shown;
    shown.differs = row.differs;
    shown.group = row.group;
    const QString name = text(row.name);
    const QString tip =
        row.unmatched == 0
            ? name
            : words("%1: %2 of its ops are not in the other model").arg(name).arg(row.unmatched);
    shown.cells = {word_cell(name, tip),
                   word_cell(text(row.decision.from)),
                   word_cell(text(row.decision.to)),
                   count_cell(static_cast<std::int64_t>(row.ops)),
                   change_cell(row.on_path.from, row.on_path.to),
                   change_cell(row.busy.from, row.busy.to)};
    content.rows.push_back(std::move(shown));
  }
  return content;
}

ChangeContent variable_rows(const PlanComparison& comparison) {
  ChangeContent content;
  content.columns = {{words("Variable"), text(comparison.plans.from.label),
                      text(comparison.plans.to.label), words("Size"), words("Communication")},
                     {{},
                      text(comparison.plans.from.label),
                      text(comparison.plans.to.label),
                      {},
                      words("Change of the time that its value and its gradient travel")},
                     3};
  for (const VariableChange& row : comparison.variables) {
    ChangeRow shown;
    shown.differs = row.differs;
    shown.op = row.update;
    shown.cells = {word_cell(text(row.name)), word_cell(text(row.synchronised.from)),
                   word_cell(text(row.synchronised.to)), bytes_cell(row.bytes),
                   change_cell(row.communication.from, row.communication.to)};
    content.rows.push_back(std::move(shown));
  }
  return content;
}

ChangeContent device_rows(const PlanComparison& comparison) {
  ChangeContent content;
  const QString from = text(comparison.plans.from.label), to = text(comparison.plans.to.label);
  content.columns = {{words("Device"), words("Memory"), words("then"), words("Computes"),
                      words("then"), words("Communicates"), words("then"), words("Idle")},
                     {{},
                      words("Peak, %1").arg(from),
                      words("Peak, %1").arg(to),
                      words("Of the step, %1").arg(from),
                      words("Of the step, %1").arg(to),
                      words("Of the step, %1").arg(from),
                      words("Of the step, %1").arg(to),
                      words("Change of the time without computation")},
                     1};
  const Nanos step_from = comparison.plans.from.step_time, step_to = comparison.plans.to.step_time;
  for (const DeviceChange& row : comparison.devices) {
    ChangeRow shown;
    shown.device = row.device.to;
    const auto share = [](const std::optional<DeviceUse>& use, Nanos DeviceUse::*time, Nanos step) {
      return share_cell(use, use ? (*use).*time : Nanos(0), step);
    };
    shown.cells = {word_cell(text(row.name)),
                   memory_cell(row.use.from),
                   memory_cell(row.use.to),
                   share(row.use.from, &DeviceUse::compute_busy, step_from),
                   share(row.use.to, &DeviceUse::compute_busy, step_to),
                   share(row.use.from, &DeviceUse::communication_busy, step_from),
                   share(row.use.to, &DeviceUse::communication_busy, step_to),
                   row.use.from && row.use.to
                       ? change_cell(row.idle.from, row.idle.to)
                       : ChangeCell{QStringLiteral("–"), QVariant(qint64{-1})}};
    content.rows.push_back(std::move(shown));
  }
  return content;
}

ChangeContent traffic_rows(const PlanComparison& comparison) {
  ChangeContent content;
  const QString from = text(comparison.plans.from.label), to = text(comparison.plans.to.label);
  content.columns = {{words("Sent"), words("Where"), words("Bytes"), words("then"),
                      words("Messages"), words("then"), words("Time")},
                     {{},
                      words("Over any link between machines, or inside them only"),
                      from,
                      to,
                      from,
                      to,
                      words("Change of the durations, summed")},
                     2};
  for (const TrafficChange& row : comparison.traffic) {
    ChangeRow shown;
    shown.cells = {word_cell(text(row.what)),
                   word_cell(text(row.where)),
                   bytes_cell(row.bytes.from),
                   bytes_cell(row.bytes.to),
                   count_cell(row.messages.from),
                   count_cell(row.messages.to),
                   change_cell(row.time.from, row.time.to)};
    content.rows.push_back(std::move(shown));
  }
  return content;
}

ChangeContent plan_rows(const PlanMatrix& matrix) {
  ChangeContent content;
  content.columns = {
      {words("Plan"), words("Step"), words("To the best"), words("Samples/s"), words("Memory"),
       words("Sent"), words("$ a million"), words("Model"), words("Cluster")},
      {{},
       {},
       words("Time of a sample beside that of the fastest plan that fits"),
       {},
       words("Peak of the device that is filled most"),
       words("Bytes of messages between machines; those inside them are in the tip"),
       words("US dollars for a million samples, of all machines"),
       {},
       {}},
      1};
  for (std::size_t p = 0; p < matrix.plans.size(); ++p) {
    const MatrixPlan& plan = matrix.plans[p];
    const PlanFigures& figures = plan.figures;
    const double above = matrix.above_best(p);
    ChangeRow row;
    row.cells = {
        word_cell(text(figures.label)),
        {style::time(figures.step_time), QVariant(qint64{figures.step_time.value})},
        {p == matrix.best() ? words("best") : style::signed_percent(above), QVariant(above)},
        {style::significant(figures.samples_per_second()), QVariant(figures.samples_per_second())},
        {style::bytes(plan.peak),
         QVariant(plan.capacity > Bytes(0) ? plan.peak / plan.capacity : 0.0),
         figures.fits
             ? QStringLiteral("%1: %2 / %3")
                   .arg(text(plan.fullest), style::bytes(plan.peak), style::bytes(plan.capacity))
             : text(figures.why_not),
         !figures.fits},
        {style::bytes(plan.sent_between), QVariant(qint64{plan.sent_between.value}),
         words("%1 between machines, %2 inside them")
             .arg(style::bytes(plan.sent_between), style::bytes(plan.sent_inside))},
        {plan.price ? style::significant(plan.price->per_million_samples) : QStringLiteral("–"),
         QVariant(plan.price ? plan.price->per_million_samples : -1.0)},
        word_cell(text(figures.model)),
        word_cell(text(figures.cluster))};
    content.rows.push_back(std::move(row));
  }
  return content;
}

ChangeContent matrix_rows(const PlanMatrix& matrix, const std::vector<MatrixRow>& rows) {
  ChangeContent content;
  content.columns = {{words("Name")}, {{}}, static_cast<int>(matrix.plans.size()) + 1};
  for (const MatrixPlan& plan : matrix.plans) {
    content.columns.names << text(plan.figures.label);
    content.columns.tips << text(plan.figures.label);
  }
  for (const MatrixRow& row : rows) {
    ChangeRow shown;
    shown.differs = row.differs;
    shown.group = row.group;
    shown.op = row.update;
    shown.cells = {word_cell(text(row.name))};
    for (std::size_t p = 0; p < row.decisions.size(); ++p) {
      const QString decision = text(row.decisions[p]), time = style::time(row.times[p]);
      shown.cells.push_back({QStringLiteral("%1  %2").arg(time, decision),
                             QVariant(qint64{row.times[p].value}),
                             QStringLiteral("%1\n%2").arg(decision, time)});
    }
    content.rows.push_back(std::move(shown));
  }
  return content;
}

void ChangeTable::show(ChangeContent content) {
  beginResetModel();
  content_ = std::move(content);
  endResetModel();
}

int ChangeTable::differing() const {
  return static_cast<int>(std::ranges::count_if(content_.rows, &ChangeRow::differs));
}

int ChangeTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(content_.rows.size());
}
int ChangeTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(content_.columns.names.size());
}

QVariant ChangeTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
  const ChangeRow& row = at(index.row());
  const ChangeCell& cell = row.cells[static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole:
      return cell.text;
    case SortRole:
      return cell.key.isValid() ? cell.key : QVariant(cell.text);
    case Qt::ToolTipRole:
      return cell.tip.isEmpty() ? QVariant() : cell.tip;
    case Qt::TextAlignmentRole:
      return static_cast<int>(
          Qt::AlignVCenter |
          (index.column() < content_.columns.words ? Qt::AlignLeft : Qt::AlignRight));
    case DiffersRole:
      return row.differs;
    case TooMuchRole:
      return cell.too_much;
    default:
      return {};
  }
}

QVariant ChangeTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  switch (role) {
    case Qt::DisplayRole:
      return content_.columns.names[section];
    case Qt::ToolTipRole:
      return content_.columns.tips[section];
    case Qt::TextAlignmentRole:
      return static_cast<int>(Qt::AlignVCenter |
                              (section < content_.columns.words ? Qt::AlignLeft : Qt::AlignRight));
    default:
      return {};
  }
}

ChangeFilter::ChangeFilter(QObject* parent) : QSortFilterProxyModel(parent) {
  setSortRole(ChangeTable::SortRole);
  setSortCaseSensitivity(Qt::CaseInsensitive);
}

void ChangeFilter::show_all(bool all) {
  all_ = all;
  invalidateFilter();
}

bool ChangeFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  return all_ || sourceModel()->index(row, 0, parent).data(ChangeTable::DiffersRole).toBool();
}

}  // namespace strato
