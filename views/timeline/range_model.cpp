#include "views/timeline/range_model.h"

#include <QCoreApplication>
#include <cmath>
#include <limits>

#include "core/sim/explain/path_pieces.h"
#include "views/models/explanation.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/timeline/slice_colours.h"

namespace strato {
namespace {

using TableRows = std::vector<RangeModel::Row>;
constexpr double kNoShare = std::numeric_limits<double>::quiet_NaN();

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kNoShare;
}

TableRows idle_rows(const RangeTotals& totals) {
  TableRows rows;
  const auto add = [&](const QString& name, std::int64_t time) {
    if (time > 0) rows.push_back({name, time, share_of(time, totals.idle), 0, {}, {}});
  };
  for (std::size_t r = 0; r < kReasons; ++r) {
    const auto reason = static_cast<Reason>(r);
    const QString name = QCoreApplication::translate("Explanation", label_of(reason)).toLower();
    add(is_waiting(reason) ? name : RangeModel::tr("waits for %1").arg(name), totals.idle_by[r]);
  }
  add(RangeModel::tr("done, others still work"), totals.after_the_last);
  add(RangeModel::tr("not explained yet"), totals.not_explained);
  return rows;
}

TableRows rows_of(const RangeTotals& totals, const Program& program, const Grouping* grouping,
                  RangePage page) {
  TableRows rows;
  const std::int64_t all = totals.length().value * static_cast<std::int64_t>(totals.devices);
  const auto add = [&](const QString& name, const RangeTotals::Part& part, std::int64_t whole,
                       std::size_t amount) -> RangeModel::Row& {
    return rows.emplace_back(RangeModel::Row{
        name, part.time, share_of(part.time, whole), static_cast<std::int64_t>(amount), {}, {}});
  };
  switch (page) {
    case RangePage::Kind:
      for (std::size_t k = 0; k < kTaskKinds; ++k) {
        const RangeTotals::Part& part = totals.kinds[k];
        if (part.slices > 0) add(kind_label(static_cast<TaskKind>(k)), part, all, part.slices);
      }
      break;
    case RangePage::Type:
      for (const auto& part : totals.types) add(text(part.type), part, all, part.slices);
      break;
    case RangePage::Group:
      for (const auto& part : totals.groups) {
        const bool known = grouping && part.group.index() < grouping->size();
        if (known)
          add(text(grouping->group(part.group).name), part, all, part.slices).group = part.group;
      }
      break;
    case RangePage::Link:
      for (const auto& part : totals.links) {
        add(text(program.cluster->links()[part.link].name), part, totals.length().value,
            static_cast<std::size_t>(part.bytes))
            .link = part.link;
      }
      break;
    case RangePage::Idle:
      rows = idle_rows(totals);
  }
  return rows;
}

}  // namespace

void RangeModel::show(const RangeTotals& totals, const Program& program, const Grouping* grouping,
                      RangePage page) {
  beginResetModel();
  page_ = page;
  rows_ = rows_of(totals, program, grouping, page);
  endResetModel();
}

void RangeModel::clear() {
  beginResetModel();
  rows_.clear();
  endResetModel();
}

int RangeModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RangeModel::columnCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  return page_ == RangePage::Idle ? static_cast<int>(Amount) : static_cast<int>(ColumnCount);
}

QVariant RangeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
  const Row& row = at(index.row());
  if (role == Qt::TextAlignmentRole) {
    return QVariant((index.column() == Name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  if (role == Qt::ToolTipRole && index.column() == Name) return row.name.toHtmlEscaped();
  if (role != Qt::DisplayRole && role != SortRole) return {};
  const bool sorts = role == SortRole;
  switch (index.column()) {
    case Name:
      return row.name;
    case Time:
      return sorts ? QVariant(qlonglong(row.time)) : style::time(Nanos(row.time));
    case Share:
      if (sorts) return std::isnan(row.share) ? -1.0 : row.share;
      return std::isnan(row.share) ? QString() : style::percent(row.share);
    default:
      if (sorts) return QVariant(qlonglong(row.amount));
      return page_ == RangePage::Link ? style::bytes(Bytes(row.amount))
                                      : style::count(static_cast<double>(row.amount));
  }
}

QVariant RangeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant((section == Name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  const bool link = page_ == RangePage::Link, idle = page_ == RangePage::Idle;
  if (role == Qt::ToolTipRole && section == Share) {
    return idle   ? tr("Of the idle time")
           : link ? tr("Of the range: at least one transfer or collective is on the link")
                  : tr("Of the time of all devices in the range");
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Name: {
      static constexpr std::array<const char*, kRangePages> names = {
          QT_TR_NOOP("Kind"), QT_TR_NOOP("Op type"), QT_TR_NOOP("Group"), QT_TR_NOOP("Link"),
          QT_TR_NOOP("Cause")};
      return tr(names[static_cast<std::size_t>(page_)]);
    }
    case Time:
      return link ? tr("Busy") : tr("Time");
    case Share:
      return tr("Share");
    default:
      return link ? tr("Sent") : tr("Slices");
  }
}

}  // namespace strato
