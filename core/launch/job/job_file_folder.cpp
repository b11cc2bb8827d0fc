#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/launch/job/job_file.h"
#include "core/launch/job/run_files.h"
#include "core/launch/process/process.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSecretDigits = 64;

[[noreturn]] void fail(const fs::path& path, const char* what, int code) {
  throw InputError(path.string(), "", std::string(what) + ": " + std::strerror(code),
                   "make room, or choose a job folder that you may write to");
}

std::string random_secret() {
  std::array<unsigned char, kSecretDigits / 2> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0)
    fail("/dev/urandom", "gives no random bytes", errno);
  return fmt::format("{:02x}", fmt::join(bytes, ""));
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

// Fills a folder beside the job's that gets its name in the end, or goes.
void fill_new(const fs::path& folder, const std::function<void(const fs::path&)>& write) {
  std::string target = folder.string();
  while (target.size() > 1 && target.back() == '/') target.pop_back();
  std::string fresh = target + ".tmp-XXXXXX";
  if (::mkdtemp(fresh.data()) == nullptr) fail(target, "cannot be made", errno);
  try {
    write(fresh);
    if (::rename(fresh.c_str(), target.c_str()) != 0) fail(target, "cannot be made", errno);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(fresh, ignored);
    throw;
  }
}

// What belongs to a job, of any kind. Without one of the headings, the first three, a folder is
// none.
constexpr std::array<std::string_view, 11> kJobFiles = {
    "job.json",        "measure.json", "discover.json", "secret",        "result.json",
    "tasks.bin",       "profile.json", "measured.json", "job-plan.json", "job-calibration.json",
    "job-profile.json"};
constexpr std::ptrdiff_t kHeadings = 3;
constexpr std::array<std::string_view, 4> kStarts = {"rank-", "log-", "graph", "machine-"};

// Removes what an earlier job left, but for its checkpoints. Its heading goes first: the folder is
// no job then.
void clear(const fs::path& folder) {
  bool known = fs::is_empty(folder);
  std::vector<fs::path> headings, old;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const auto starts = [&](std::string_view start) { return name.starts_with(start); };
    const auto at = std::ranges::find(kJobFiles, name);
    const bool heading = at - kJobFiles.begin() < kHeadings;
    known = known || heading || name == "graph.bin" || name.starts_with("checkpoint-");
    if (at != kJobFiles.end() || std::ranges::any_of(kStarts, starts))
      (heading ? headings : old).push_back(entry.path());
  }
  if (!known)
    throw InputError(folder.string(), "", "holds files that are no job's", "choose a new folder");
  for (const auto& files : {headings, old})
    for (const fs::path& file : files) fs::remove(file);
  for (const char* data : {"weights", "inputs"}) fs::remove_all(folder / data);
  clear_run_files(folder);
}

}  // namespace

void write_secret(const fs::path& folder) {
  const fs::path path = folder / "secret";
  ::unlink(path.c_str());
  const Handle file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  const std::string secret = random_secret();
  if (!file.open() || ::write(file.get(), secret.data(), secret.size()) != std::ssize(secret) ||
      ::fsync(file.get()) != 0)
    fail(path, "cannot be written", errno);
}

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
    fill_new(folder, write);
  } catch (const fs::filesystem_error& error) {
    throw InputError(folder.string(), "", "cannot be written: " + error.code().message(),
                     "choose a job folder that you may write to");
  }
}

}  // namespace strato
