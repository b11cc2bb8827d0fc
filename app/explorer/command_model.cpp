#include "app/explorer/command_model.h"

#include <algorithm>

namespace strato {
namespace {

constexpr int kMostRecent = 12;
// A little for what was used before: it wins among equals and near equals.
constexpr int kRecentWorth = 3, kPathPenalty = 12;

std::optional<CommandKind> kind_asked(const QString& query) {
  for (const CommandKind kind :
       {CommandKind::Action, CommandKind::Planner, CommandKind::Device, CommandKind::Group}) {
    if (query.startsWith(prefix_of(kind))) return kind;
  }
  return std::nullopt;
}

}  // namespace

CommandModel::CommandModel(std::vector<Command> commands, QStringList recent, QObject* parent)
    : QAbstractListModel(parent), commands_(std::move(commands)), recent_(std::move(recent)) {
  age_.reserve(commands_.size());
  for (const Command& command : commands_) {
    const qsizetype at = recent_.indexOf(command.id);
    age_.push_back(static_cast<int>(at < 0 ? recent_.size() : at));
  }
  fill({});
}

void CommandModel::set_query(const QString& query) {
  beginResetModel();
  fill(query);
  endResetModel();
}

void CommandModel::fill(const QString& query) {
  rows_.clear();
  const QString trimmed = query.trimmed();
  const auto kind = kind_asked(trimmed);
  const QString letters = kind ? trimmed.mid(1) : trimmed;
  for (std::size_t c = 0; c < commands_.size(); ++c) {
    const Command& command = commands_[c];
    if (kind && command.kind != *kind) continue;
    auto match = fuzzy_match(letters, command.title);
    if (!match) {  // "file open" finds "Open…" in the menu File
      match = fuzzy_match(letters, command.path + QLatin1Char(' ') + command.title);
      if (!match) continue;
      match->score -= kPathPenalty;
      match->positions.clear();
    }
    const bool recent = age_[c] < recent_.size();
    rows_.push_back({c, match->score + (recent ? kRecentWorth : 0), std::move(match->positions)});
  }
  found_ = rows_.size();
  const bool empty = letters.isEmpty();
  std::stable_sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) {
    if (empty) return age_[a.command] < age_[b.command];
    if (a.score != b.score) return a.score > b.score;
    if (age_[a.command] != age_[b.command]) return age_[a.command] < age_[b.command];
    return commands_[a.command].title.size() < commands_[b.command].title.size();
  });
  if (rows_.size() > kMostRows) rows_.resize(kMostRows);
}

const Command& CommandModel::command(int row) const {
  return commands_[rows_[static_cast<std::size_t>(row)].command];
}

const QVector<int>& CommandModel::matched(int row) const {
  return rows_[static_cast<std::size_t>(row)].matched;
}

bool CommandModel::is_recent(int row) const {
  return age_[rows_[static_cast<std::size_t>(row)].command] < recent_.size();
}

int CommandModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant CommandModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Command& shown = command(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return shown.title;
    case Qt::ToolTipRole:
      return shown.path;
    case Qt::AccessibleDescriptionRole:
      return shown.enabled ? shown.keys : shown.why_disabled;
    default:
      return {};
  }
}

Qt::ItemFlags CommandModel::flags(const QModelIndex& index) const {
  return index.isValid() ? Qt::ItemIsSelectable | Qt::ItemIsEnabled | Qt::ItemNeverHasChildren
                         : Qt::NoItemFlags;  // greyed ones may be chosen, to read why
}

QStringList with_used(const QStringList& recent, const QString& id) {
  QStringList used = recent;
  used.removeAll(id);
  used.prepend(id);
  return used.mid(0, kMostRecent);
}

}  // namespace strato
