#include "core/store/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

}  // namespace

RunLock::RunLock(const std::filesystem::path& workspace, RunRow run)
    : file_(workspace.string() + ".run-" + std::to_string(run) + ".lock") {
  const std::string place = "run " + std::to_string(run);
  while (handle_ < 0) {
    handle_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (handle_ < 0) {
      throw InputError(workspace.string(), place,
                       std::string("cannot be locked: ") + std::strerror(errno),
                       "check that its folder may be written to");
    }
    const bool locked = ::flock(handle_, LOCK_EX | LOCK_NB) == 0;
    const bool interrupted = !locked && errno == EINTR;
    if (locked && is_still_there(handle_, file_)) return;
    ::close(handle_);
    handle_ = -1;
    if (!locked && !interrupted) {
      throw InputError(workspace.string(), place, "is being searched or changed by another program",
                       "stop it there first, or wait until it is done");
    }
  }
}

RunLock::~RunLock() {
  ::unlink(file_.c_str());
  ::close(handle_);
}

}  // namespace strato
