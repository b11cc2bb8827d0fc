#include "core/store/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "core/base/error.h"

namespace strato {
namespace {

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
