#include "views/models/edit_history.h"

#include <QFont>
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {

EditHistory::EditHistory(Session& session, QObject* parent)
    : QAbstractTableModel(parent), session_(session) {
  connect(&session_, &Session::problem_changed, this, &EditHistory::forget);
  connect(&session_, &Session::strategy_changed, this, &EditHistory::follow);
  connect(&session_, &Session::outcome_changed, this, &EditHistory::take_outcome);
  connect(&session_, &Session::workspace_changed, this, &EditHistory::take_workspace);
  connect(&session_, &Session::search_changed, this, [this] {
    if (session_.search().state == SearchPhase::Idle) follow();
  });
  connect(&session_.undo_stack(), &QUndoStack::indexChanged, this, &EditHistory::take_name);
  take_workspace();
  forget();
  follow();
}

EditHistory::~EditHistory() = default;

// Another model or cluster has another history; other groups of the same have not.
void EditHistory::forget() {
  const auto& opened = session_.snapshot().opened;
  if (!opened || (opened->graph == graph_ && opened->cluster == cluster_)) return;
  graph_ = opened->graph;
  cluster_ = opened->cluster;
  states_.clear();
  shown_.reset();
  version_ = -1;
  read_stored();
}

EditHistory::State& EditHistory::state_of(const Digest& digest) {
  const auto known = std::ranges::find(states_, digest, &State::digest);
  if (known != states_.end()) return *known;
  State& state = states_.emplace_back();
  state.digest = digest;
  return state;
}

void EditHistory::follow() {
  const Snapshot& snapshot = session_.snapshot();
  if (!snapshot.problem) return;
  const bool passing =  // a search shows what it finds, one after another
      session_.search().state != SearchPhase::Idle && !snapshot.by_hand;
  if (passing) return;
  const Digest digest = snapshot.strategy.digest();
  if (shown_ == digest) return;
  const bool is_new = std::ranges::find(states_, digest, &State::digest) == states_.end();
  State& state = state_of(digest);
  if (is_new && snapshot.by_hand) state.parent = shown_;
  if (is_new && !snapshot.by_hand) state.name = snapshot.label;
  if (!state.strategy) state.strategy = std::make_shared<const Strategy>(snapshot.strategy);
  shown_ = digest;
  arrange();
}

void EditHistory::take_name() {
  if (!shown_) return;
  State& state = state_of(*shown_);
  if (!state.name.isEmpty()) return;
  state.name = session_.undo_stack().undoText();
  arrange();
}

void EditHistory::take_outcome() {
  const Snapshot& snapshot = session_.snapshot();
  if (!shown_ || !snapshot.outcome || session_.simulation() != Simulation{}) return;
  if (snapshot.strategy.digest() != *shown_) return;
  State& state = state_of(*shown_);
  state.step_time = snapshot.outcome->score.step_time;
  state.feasible = snapshot.outcome->score.feasible;
  if (!rows_.empty())
    emit dataChanged(index(0, 0), index(static_cast<int>(rows_.size()) - 1, kColumns - 1));
}

// Rows of another workspace mean nothing; what is known without them stays.
void EditHistory::take_workspace() {
  const WorkspaceLists* workspace = session_.workspace();
  const std::filesystem::path file = workspace ? workspace->file() : std::filesystem::path();
  if (std::exchange(workspace_, file) != file) {
    version_ = -1;
    std::erase_if(states_, [](const State& state) { return !state.strategy; });
    for (State& state : states_) state.stored.reset();
  }
  read_stored();
}

// A name that was given before there was a row for it is the row's name.
void EditHistory::take_stored(State& state, const StoredStrategy& stored) {
  state.stored = stored.id;
  if (std::exchange(state.to_rename, false)) {
    session_.rename_strategy(stored.id, state.name);
  } else if (!stored.label.empty()) {
    state.name = QString::fromStdString(stored.label);
  }
}

void EditHistory::read_stored() {
  const WorkspaceLists* workspace = session_.workspace();
  if (workspace == nullptr || !graph_) return arrange();
  if (!workspace->is_read()) {
    version_ = -1;
    return arrange();
  }
  if (std::exchange(version_, workspace->version()) == workspace->version()) return;
  for (const StoredStrategy* each :
       workspace->strategies_of(graph_->digest(), cluster_->digest())) {
    const StoredStrategy& stored = *each;
    State& state = state_of(stored.digest);
    take_stored(state, stored);
    state.step_time = Nanos(stored.step_time_ns);
    state.feasible = stored.feasible;
    const StoredStrategy* parent = stored.parent ? workspace->strategy(*stored.parent) : nullptr;
    if (parent) state.parent = parent->digest;
  }
  // What is shown may be known before the workspace has been read.
  std::ranges::stable_sort(states_, {}, [](const State& state) {
    return state.stored.value_or(std::numeric_limits<StrategyRow>::max());
  });
  arrange();
}

// Where each one's parent is. Two workspaces may each have what is a parent in the other: a way
// around in a circle is cut where it is met.
std::vector<std::optional<std::size_t>> EditHistory::parents() const {
  std::unordered_map<Digest, std::size_t> place;
  for (std::size_t i = 0; i < states_.size(); ++i) place.emplace(states_[i].digest, i);
  std::vector<std::optional<std::size_t>> parents(states_.size());
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const auto parent = states_[i].parent ? place.find(*states_[i].parent) : place.end();
    if (parent != place.end()) parents[i] = parent->second;
  }
  std::vector<std::optional<std::size_t>> passed(states_.size());  // by whose way up, first
  for (std::size_t i = 0; i < states_.size(); ++i) {
    std::optional<std::size_t> at = i;
    for (; at && !passed[*at]; at = parents[*at]) passed[*at] = i;
    if (at && passed[*at] == i) parents[*at].reset();
  }
  return parents;
}

// From a state's row to that of its last child, past the branches between them.
void EditHistory::draw_line(std::size_t from, std::size_t to) {
  constexpr int kMostLevels = 32;
  if (rows_[from].level >= kMostLevels) return;
  const std::uint32_t level = std::uint32_t{1} << rows_[from].level;
  for (std::size_t i = from; i < to; ++i) {
    rows_[i].below |= level;
    rows_[i + 1].above |= level;
  }
}

// Branches first, the line itself last.
void EditHistory::add_rows(const std::vector<std::vector<std::size_t>>& children, std::size_t root,
                           int level) {
  std::size_t at = root;
  std::optional<std::size_t> last;  // row of the line
  for (;;) {
    rows_.push_back({at, level, level > 0 && !last});
    const std::size_t row = rows_.size() - 1;
    if (last) draw_line(*last, row);
    last = row;
    if (children[at].empty()) return;
    for (std::size_t i = 0; i + 1 < children[at].size(); ++i)
      add_rows(children, children[at][i], level + 1);
    at = children[at].back();
  }
}

void EditHistory::arrange() {
  beginResetModel();
  rows_.clear();
  const std::vector<std::optional<std::size_t>> parent = parents();
  std::vector<std::vector<std::size_t>> children(states_.size());
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < states_.size(); ++i)
    (parent[i] ? children[*parent[i]] : roots).push_back(i);
  for (const std::size_t root : roots)
    if (!children[root].empty() || states_[root].digest == shown_) add_rows(children, root, 0);
  endResetModel();
}

int EditHistory::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int EditHistory::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

int EditHistory::current_row() const {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (states_[rows_[i].state].digest == shown_) return static_cast<int>(i);
  return -1;
}

QVariant EditHistory::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  const State& state = states_[row.state];
  const bool current = shown_ == state.digest;
  const bool name = index.column() == Name;
  switch (role) {
    case Qt::DisplayRole:
      if (!name) return state.step_time == Nanos(0) ? QString() : style::time(state.step_time);
      return state.name.isEmpty() ? tr("edit") : state.name;
    case Qt::EditRole:
      return name ? QVariant(state.name) : QVariant();
    case Qt::ToolTipRole:
      return tr("%1%2\nEnter or click shows it, F2 renames it")
          .arg(state.name, state.feasible ? QString() : tr("\nDoes not fit in memory"));
    case Qt::TextAlignmentRole:
      return QVariant((name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case Qt::FontRole: {
      QFont font;
      font.setBold(current);
      return font;
    }
    case LevelRole:
      return row.level;
    case CurrentRole:
      return current;
    case BranchRole:
      return row.branch;
    case FeasibleRole:
      return state.feasible;
    case AboveRole:
      return row.above;
    case BelowRole:
      return row.below;
    default:
      return {};
  }
}

QVariant EditHistory::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant((section == Name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  return section == Name ? tr("State") : tr("Step");
}

Qt::ItemFlags EditHistory::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
  return index.isValid() && index.column() == Name ? flags | Qt::ItemIsEditable : flags;
}

bool EditHistory::setData(const QModelIndex& index, const QVariant& value, int role) {
  const QString name = value.toString().trimmed();
  if (role != Qt::EditRole || index.column() != Name || index.row() >= rowCount() || name.isEmpty())
    return false;
  State& state = states_[rows_[static_cast<std::size_t>(index.row())].state];
  state.name = name;
  state.to_rename = !state.stored;
  if (state.stored) session_.rename_strategy(*state.stored, name);
  emit dataChanged(index, index);
  return true;
}

void EditHistory::go_to(int row) {
  if (row < 0 || row >= rowCount()) return;
  const State state = states_[rows_[static_cast<std::size_t>(row)].state];
  if (state.digest == shown_) return;
  if (state.strategy) {
    session_.show_found(*state.strategy, state.name);
  } else if (state.stored) {
    session_.show_strategy(*state.stored);
  }
}

}  // namespace strato
