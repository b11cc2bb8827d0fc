#include "core/store/workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/store/sqlite/connection.h"

namespace strato {
namespace {

template <class Stored>
const Stored* find_row(const std::vector<Stored>& rows, std::int64_t id) {
  const auto found = std::ranges::lower_bound(rows, id, {}, &Stored::id);
  return found != rows.end() && found->id == id ? &*found : nullptr;
}

// The last holder may have taken the file away between our open and our lock.
bool is_still_there(int handle, const std::filesystem::path& file) {
  struct stat ours {
  }, theirs{};
  return ::fstat(handle, &ours) == 0 && ::stat(file.c_str(), &theirs) == 0 &&
         ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

// The files that this program holds: people look for another one in vain then.
struct OwnLocks {
  std::mutex mutex;
  std::set<std::filesystem::path> files;
};

OwnLocks& own_locks() {
  static OwnLocks locks;
  return locks;
}

[[noreturn]] void fail_held(const std::filesystem::path& workspace, const std::string& place,
                            const std::filesystem::path& file) {
  const std::lock_guard lock(own_locks().mutex);
  if (own_locks().files.contains(file))
    throw InputError(workspace.string(), place,
                     "is being searched or changed by this program itself",
                     "stop it in the queue of searches, or wait until it is done");
  throw InputError(workspace.string(), place, "is being searched or changed by another program",
                   "stop it there first, or wait until it is done");
}

}  // namespace

Workspace::Workspace(const std::filesystem::path& file, bool read_only)
    : tables_(new Tables{std::make_unique<store::Connection>(file, read_only)}) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;

const std::filesystem::path& Workspace::file() const { return tables_->connection->file(); }

std::int64_t Workspace::data_version() const { return tables_->connection->data_version(); }

void Workspace::read_at_one_moment(const std::function<void()>& read) const {
  tables_->connection->read_at_one_moment(read);
}

WorkspaceLists::WorkspaceLists(std::filesystem::path file) : file_(std::move(file)) {}

WorkspaceLists::WorkspaceLists(const Workspace& workspace, std::string_view settings)
    : file_(workspace.file()) {
  workspace.read_at_one_moment([&] {
    version_ = workspace.data_version();
    models_ = workspace.problems().models();
    clusters_ = workspace.problems().clusters();
    strategies_ = workspace.strategies().all();
    runs_ = workspace.runs().all();
    launches_ = workspace.launches().all();
    annotations_ = workspace.annotations().all();
    settings_ = workspace.settings().with_prefix(settings);
  });
}

std::vector<const StoredStrategy*> WorkspaceLists::strategies_of(const Digest& model,
                                                                 const Digest& cluster) const {
  std::vector<ModelRow> models;
  for (const StoredModel& each : models_)
    if (each.digest == model) models.push_back(each.id);
  std::vector<const StoredStrategy*> found;
  for (const StoredStrategy& each : strategies_) {
    const StoredCluster* on = find_row(clusters_, each.cluster);
    if (on && on->digest == cluster && std::ranges::find(models, each.model) != models.end())
      found.push_back(&each);
  }
  return found;
}

const StoredRun* WorkspaceLists::run(RunRow id) const { return find_row(runs_, id); }

const StoredStrategy* WorkspaceLists::strategy(StrategyRow id) const {
  return find_row(strategies_, id);
}

const std::string* WorkspaceLists::setting(const std::string& key) const {
  const auto found = settings_.find(key);
  return found != settings_.end() ? &found->second : nullptr;
}

RunLock::RunLock(const std::filesystem::path& workspace, RunRow run)
    : file_(fmt::format("{}.run-{}.lock", workspace.string(), run)) {
  const std::string place = fmt::format("run {}", run);
  while (handle_ < 0) {
    handle_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (handle_ < 0) {
      throw InputError(workspace.string(), place,
                       std::string("cannot be locked: ") + std::strerror(errno),
                       "check that its folder may be written to");
    }
    const bool locked = ::flock(handle_, LOCK_EX | LOCK_NB) == 0;
    const bool held = !locked && errno != EINTR;
    if (locked && is_still_there(handle_, file_)) {
      const std::lock_guard lock(own_locks().mutex);
      own_locks().files.insert(file_);
      return;
    }
    ::close(handle_);
    handle_ = -1;
    if (held) fail_held(workspace, place, file_);
  }
}

RunLock::~RunLock() {
  {
    const std::lock_guard lock(own_locks().mutex);
    own_locks().files.erase(file_);
  }
  ::unlink(file_.c_str());
  ::close(handle_);
}

}  // namespace strato
