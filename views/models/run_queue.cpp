#include "views/models/run_queue.h"

#include <algorithm>

#include "core/search/constraints/bound_constraints.h"
#include "core/search/constraints/constraints.h"
#include "views/style/text.h"

namespace strato {

RunQueue::RunQueue(Session& session, PlannerFactory make_planner, QObject* parent)
    : QAbstractTableModel(parent), session_(session), make_planner_(std::move(make_planner)) {
  connect(&session_, &Session::workspace_changed, this, &RunQueue::look_for_left);
  look_for_left();
}

RunQueue::~RunQueue() {
  stop_.request_stop();
  for (int row = 0; row < rowCount(); ++row)
    if (is_to_come(row)) leave(at(row));
}

// --- what was left from another time
// ---------------------------------------------------------------------------------

void RunQueue::look_for_left() {
  const WorkspaceLists* workspace = session_.workspace();
  forget_left_of_others();
  if (!workspace || !workspace->is_read()) {
    looked_into_.clear();
    return;
  }
  if (std::exchange(looked_into_, workspace->file()) == workspace->file()) return;
  session_.ask_workspace(this, [this](const Workspace& read) -> std::function<void()> {
    std::vector<LeftSearch> left = left_searches(read);
    if (left.empty()) return {};
    return [this, left = std::move(left)] { offer(left); };
  });
}

// They are still in their workspace.
void RunQueue::forget_left_of_others() {
  bool some = false;
  for (int row = rowCount(); row-- > 0;) {
    if (state(row) != RowState::Left || is_in_open_workspace(row)) continue;
    some = true;
    leave(at(row));
    beginRemoveRows({}, row, row);
    entries_.erase(entries_.begin() + row);
    endRemoveRows();
  }
  if (some) emit changed();
}

void RunQueue::offer(const std::vector<LeftSearch>& left) {
  const int row = rowCount(), more = static_cast<int>(left.size());
  beginInsertRows({}, row, row + more - 1);
  for (const LeftSearch& one : left) {
    entries_.push_back({++last_job_,
                        one.search,
                        one.trouble.empty() ? RowState::Left : RowState::Failed,
                        {},
                        false,
                        strato::text(one.trouble)});
  }
  endInsertRows();
  emit changed();
  emit session_.message(
      more == 1 ? tr("A search was left in the queue from before: start or remove it there")
                : tr("%1 searches were left in the queue from before: start or remove them there")
                      .arg(more));
}

// To whoever opens the workspace next.
void RunQueue::leave(const Entry& entry) {
  session_.ask_workspace(&session_, [place = entry.search->place](const Workspace&) {
    place->leave();
    return std::function<void()>();
  });
}

bool RunQueue::start(int row) {
  if (row < 0 || row >= rowCount() || state(row) != RowState::Left) return false;
  entries_[static_cast<std::size_t>(row)].state = RowState::Waiting;
  tell_row(row);
  begin_next();
  emit changed();
  return true;
}

void RunQueue::start_left() {
  for (int row = 0; row < rowCount(); ++row) start(row);
}

// --- the queue
// ------------------------------------------------------------------------------------------------------

QString RunQueue::add(const QString& planner, const PlannerOptions& options) {
  const Snapshot& snapshot = session_.snapshot();
  const ModelSource* model = session_.model_source();
  if (!snapshot.opened || !model) return tr("Open a model first: a search is about one");
  if (!session_.workspace())
    return tr("Open a workspace first: File > New Workspace makes one, and results go there");
  if (!session_.workspace()->is_read())  // what a person demands of this problem is in there
    return tr("The workspace is still being opened: add it in a moment");
  auto search = std::make_shared<QueuedSearch>();
  search->planner = planner.toStdString();
  search->options = {options, run_costs(snapshot.cost_files, snapshot.costs)};
  if (!options.constraints && session_.bound_constraints())
    search->options.planner.constraints = session_.constraints();
  search->model = *model;
  search->cluster.cluster = snapshot.opened->cluster;
  search->problem = snapshot.opened;
  search->workspace = session_.workspace()->file();
  search->place = std::make_shared<QueuedPlace>();
  session_.in_workspace(
      [search](Workspace& workspace) { search->place->store(workspace, *search); },
      search->workspace);
  const int row = rowCount();
  beginInsertRows({}, row, row);
  entries_.push_back({++last_job_, std::move(search), RowState::Waiting, {}, false, {}});
  endInsertRows();
  begin_next();
  emit changed();
  return {};
}

void RunQueue::begin_next() {
  if (running_row() >= 0) return;
  const auto next = std::ranges::find(entries_, RowState::Waiting, &Entry::state);
  if (next == entries_.end()) return;
  next->state = RowState::Running;
  stop_ = std::stop_source();
  worker_.post([this, job = next->job, search = next->search, token = stop_.get_token()] {
    const auto send = [this](auto function) {
      QMetaObject::invokeMethod(this, std::move(function), Qt::QueuedConnection);
    };
    const QueuedResult result = run_and_store(
        *search, make_planner_,
        [&](const QueuedProgress& progress) {
          send([this, job, progress] { progressed(job, progress); });
        },
        [&] {
          send([this, file = search->workspace] {
            if (session_.workspace() && session_.workspace()->file() == file)
              session_.look_at_workspace();
          });
        },
        token);
    send([this, job, result] { ended(job, result); });
  });
  tell_row(static_cast<int>(next - entries_.begin()));
}

int RunQueue::row_of_job(std::uint64_t job) const {
  return static_cast<int>(std::ranges::find(entries_, job, &Entry::job) - entries_.begin());
}

void RunQueue::progressed(std::uint64_t job, const QueuedProgress& progress) {
  const int row = row_of_job(job);  // one that runs is never removed
  Entry& entry = entries_[static_cast<std::size_t>(row)];
  const bool begins = entry.now.run == 0;
  entry.now = progress;
  tell_row(row);
  if (begins) emit changed();
}

void RunQueue::ended(std::uint64_t job, const QueuedResult& result) {
  const int row = row_of_job(job);
  Entry& entry = entries_[static_cast<std::size_t>(row)];
  entry.now = {result.run, result.baseline, result.progress};
  entry.words = strato::text(result.error.empty() ? result.note : result.error);
  entry.state = !result.error.empty() ? RowState::Failed
                : result.stopped      ? RowState::Stopped
                                      : RowState::Done;
  tell_row(row);
  if (entry.state == RowState::Failed) {
    emit session_.message(tr("In the queue, %1 failed: %2").arg(name(entry), entry.words));
  } else {
    emit session_.message(tr("In the queue, %1 is done: %2").arg(name(entry), text(entry, Best)));
  }
  begin_next();
  emit changed();
}

void RunQueue::stop(int row) {
  if (row < 0 || row >= rowCount() || state(row) != RowState::Running) return;
  entries_[static_cast<std::size_t>(row)].stopping = true;
  stop_.request_stop();
  tell_row(row);
  emit changed();
}

bool RunQueue::remove(int row) {
  if (row < 0 || row >= rowCount() || state(row) == RowState::Running) return false;
  if (is_to_come(row) || state(row) == RowState::Failed) {
    const QueuedSearch& search = *at(row).search;
    session_.in_workspace([place = search.place](Workspace& workspace) { place->end(workspace); },
                          search.workspace);
  }
  beginRemoveRows({}, row, row);
  entries_.erase(entries_.begin() + row);
  endRemoveRows();
  emit changed();
  return true;
}

bool RunQueue::move(int row, int by) {
  const int to = row + by;
  if (by == 0 || row < 0 || row >= rowCount() || to < 0 || to >= rowCount()) return false;
  if (!is_to_come(row) || !is_to_come(to)) return false;
  beginMoveRows({}, row, row, {}, by > 0 ? to + 1 : to);
  const auto begin = entries_.begin();
  if (by > 0) {
    std::rotate(begin + row, begin + row + 1, begin + to + 1);
  } else {
    std::rotate(begin + to, begin + row, begin + row + 1);
  }
  endMoveRows();
  store_order(at(to).search->workspace);
  emit changed();
  return true;
}

void RunQueue::store_order(const std::filesystem::path& workspace) {
  std::vector<std::shared_ptr<const QueuedSearch>> order;
  for (int row = 0; row < rowCount(); ++row)
    if (is_to_come(row) && at(row).search->workspace == workspace) order.push_back(at(row).search);
  session_.in_workspace(
      [order](Workspace& stored) {
        std::vector<QueuedRow> rows;
        for (const auto& search : order)
          if (const QueuedRow row = search->place->row(); row > 0) rows.push_back(row);
        stored.queue().order(rows);
      },
      workspace);
}

void RunQueue::remove_waiting() {
  for (int row = rowCount(); row-- > 0;)
    if (is_to_come(row)) remove(row);
}

void RunQueue::remove_done() {
  for (int row = rowCount(); row-- > 0;)
    if (state(row) < RowState::Running) remove(row);
}

bool RunQueue::is_in_open_workspace(int row) const {
  return session_.workspace() && session_.workspace()->file() == at(row).search->workspace;
}

int RunQueue::waiting() const {
  return static_cast<int>(std::ranges::count(entries_, RowState::Waiting, &Entry::state));
}

int RunQueue::left() const {
  return static_cast<int>(std::ranges::count(entries_, RowState::Left, &Entry::state));
}

bool RunQueue::is_to_come(int row) const {
  return state(row) == RowState::Waiting || state(row) == RowState::Left;
}

int RunQueue::running_row() const {
  const auto found = std::ranges::find(entries_, RowState::Running, &Entry::state);
  return found == entries_.end() ? -1 : static_cast<int>(found - entries_.begin());
}

QString RunQueue::status() const {
  const int row = running_row();
  if (row < 0) return {};
  const int more = waiting();
  return more == 0 ? tr("%1 runs").arg(name(at(row)))
                   : tr("%1 runs, %2 wait").arg(name(at(row))).arg(more);
}

void RunQueue::tell_row(int row) { emit dataChanged(index(row, 0), index(row, kColumns - 1)); }

}  // namespace strato
