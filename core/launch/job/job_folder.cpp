#include "core/launch/job/job_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/launch/job/run_files.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSecretDigits = 64;

[[noreturn]] void fail(const fs::path& path, const char* what, int code) {
  throw InputError(path.string(), "", std::string(what) + ": " + std::strerror(code),
                   "make room, or choose a job folder that you may write to");
}

std::string random_secret() {
  std::array<unsigned char, 32> bytes{};
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got < 0 && errno != EINTR) fail("/dev/urandom", "gives no random bytes", errno);
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  std::string hex;
  for (const unsigned char byte : bytes) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

void write_secret_file(const fs::path& path) {
  ::unlink(path.c_str());
  const int handle =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (handle < 0) fail(path, "cannot be written", errno);
  const std::string secret = random_secret();
  const ssize_t written = ::write(handle, secret.data(), secret.size());
  const int code =
      written == static_cast<ssize_t>(secret.size()) && ::fsync(handle) == 0 ? 0 : errno;
  ::close(handle);
  if (code != 0) fail(path, "cannot be written", code);
}

struct stat status_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail(path, "cannot be read", errno);
  return status;
}

// Whoever may write to it decides what runs, and where logs go. A group may: people share projects.
void check_owner(const fs::path& folder) {
  const struct stat status = status_of(folder);
  if ((status.st_mode & S_IWOTH) != 0)
    throw InputError(folder.string(), "", "may be written by everybody",
                     "take that away (chmod o-w), or choose another job folder");
  if (status.st_uid != ::geteuid() && status.st_uid != 0 && ::geteuid() != 0)
    throw InputError(folder.string(), "", "belongs to another user", "choose another job folder");
}

// A folder beside the job's that gets its name in the end, or goes.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& target) : target_(target), name_(target.string()) {
    while (name_.size() > 1 && name_.back() == '/') name_.pop_back();
    target_ = name_;
    name_ += ".tmp-XXXXXX";
    if (::mkdtemp(name_.data()) == nullptr) fail(target_, "cannot be made", errno);
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!done_) fs::remove_all(name_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  fs::path path() const { return name_; }
  void finish() {
    if (::rename(name_.c_str(), target_.c_str()) != 0) fail(target_, "cannot be made", errno);
    done_ = true;
  }

 private:
  fs::path target_;
  std::string name_;
  bool done_ = false;
};

// The file without which a folder is no job, of any kind.
bool is_heading(const std::string& name) {
  return name == "job.json" || name == "measure.json" || name == "discover.json";
}

bool belongs_to_job(const std::string& name) {
  constexpr std::array<std::string_view, 8> kNames = {
      "secret",        "result.json",          "tasks.bin",       "profile.json", "measured.json",
      "job-plan.json", "job-calibration.json", "job-profile.json"};
  constexpr std::array<std::string_view, 4> kStarts = {"rank-", "log-", "graph", "machine-"};
  const auto starts = [&](std::string_view start) { return name.starts_with(start); };
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kStarts.begin(), kStarts.end(), starts);
}

// Removes what an earlier job left, but for its checkpoints. Its heading goes first: the folder is
// no job then.
void clear(const fs::path& folder) {
  bool known = fs::is_empty(folder);
  std::vector<fs::path> headings, old;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    known = known || is_heading(name) || name == "graph.bin" || name.starts_with("checkpoint-");
    if (is_heading(name)) headings.push_back(entry.path());
    if (belongs_to_job(name)) old.push_back(entry.path());
  }
  if (!known)
    throw InputError(folder.string(), "", "holds files that are no job's", "choose a new folder");
  for (const fs::path& file : headings) fs::remove(file);
  for (const fs::path& file : old) fs::remove(file);
  for (const char* data : {"weights", "inputs"}) fs::remove_all(folder / data);
  clear_run_files(folder);
}

}  // namespace

void write_secret(const fs::path& folder) { write_secret_file(folder / "secret"); }

std::string read_secret(const fs::path& folder) {
  check_owner(folder);
  const fs::path file = folder / "secret";
  const std::string secret = read_file(file);
  if ((status_of(file).st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw InputError(file.string(), "", "is not for its owner alone", "stage the job again");
  const bool whole = secret.size() == kSecretDigits &&
                     secret.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!whole) throw InputError(file.string(), "", "is not a job's secret", "stage the job again");
  return secret;
}

void stage_folder(const fs::path& folder, const std::function<void(const fs::path&)>& write) {
  try {
    if (fs::exists(folder)) {
      check_owner(folder);
      clear(folder);
      return write(folder);
    }
    NewFolder fresh(folder);
    write(fresh.path());
    fresh.finish();
  } catch (const fs::filesystem_error& error) {
    throw InputError(folder.string(), "", "cannot be written: " + error.code().message(),
                     "choose a job folder that you may write to");
  }
}

}  // namespace strato
