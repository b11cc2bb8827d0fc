#include "core/launch/job/run_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <mutex>
#include <sstream>
#include <system_error>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/io/read_part.h"
#include "core/launch/process/process.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMeeting = "meeting.json";
constexpr const char* kFailure = "failure.json";
constexpr std::int64_t kMaxRank = 1'000'000;
constexpr std::size_t kLogTail = 4096;

// A link fails when there is such a name: the first one stays.
void write_first(const fs::path& folder, const std::string& name, const std::string& content) {
  const fs::path own = folder / fmt::format("{}.{}", name, ::getpid());
  write_file(own, content);
  std::error_code ignored;
  fs::create_hard_link(own, folder / name, ignored);
  fs::remove(own, ignored);
}

// A file without a name: whatever happens to the process, it leaves none behind.
class Reserve {
 public:
  void take(const fs::path& folder) {
    const std::lock_guard lock(mutex_);
    file_ = Handle(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644));
    if (file_.open() && ::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, 0, kBytes) != 0)
      file_.close();
  }
  // Its own process's first failure counts.
  void become(const fs::path& name, const std::string& content) {
    const std::lock_guard lock(mutex_);
    if (!file_.open() || content.size() > kBytes) return;
    const std::string link = fmt::format("/proc/self/fd/{}", file_.get());
    if (::write(file_.get(), content.data(), content.size()) == std::ssize(content))
      (void)::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
    file_.close();
  }

 private:
  static constexpr std::size_t kBytes = 16384;

  std::mutex mutex_;
  Handle file_;
};

Reserve& reserve() {
  static Reserve one;
  return one;
}

}  // namespace

void write_meeting(const fs::path& folder, const MeetingPlace& place) {
  write_file(folder / kMeeting, json_text(Json{{"host", place.host}, {"port", place.port}}));
}

std::optional<MeetingPlace> find_meeting(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / kMeeting, ignored)) return std::nullopt;
  const JsonView json = JsonView::parse(read_file(folder / kMeeting), (folder / kMeeting).string());
  return MeetingPlace{json.at("host").string(),
                      static_cast<std::uint16_t>(json.at("port").integer(1, 65'535))};
}

void reserve_failure(const fs::path& folder) noexcept {
  try {
    reserve().take(folder);
  } catch (const std::exception&) {
  }
}

void record_failure(const fs::path& folder, const RankFailure& failure) noexcept {
  try {
    const std::string content = json_text(Json{{"rank", failure.rank}, {"text", failure.text}});
    try {
      write_first(folder, kFailure, content);
    } catch (const InputError&) {
      reserve().become(folder / kFailure, content);
    }
  } catch (const std::exception&) {
  }
}

std::optional<RankFailure> find_failure(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / kFailure, ignored)) return std::nullopt;
  try {
    const JsonView json = JsonView::parse(read_file(folder / kFailure), kFailure);
    return RankFailure{static_cast<int>(json.at("rank").integer(0, kMaxRank)),
                       json.at("text").string()};
  } catch (const InputError& error) {
    return RankFailure{0, error.what()};
  }
}

std::string last_log_line(const fs::path& folder, int rank) {
  const fs::path file = folder / fmt::format("log-{}.txt", rank);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) return "";
  std::istringstream log(read_part(file, size > kLogTail ? size - kLogTail : 0, kLogTail));
  std::string line, last;
  while (std::getline(log, line))
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  return last;
}

void clear_run_files(const fs::path& folder) {
  for (const char* name : {kMeeting, kFailure}) {
    std::error_code error;
    fs::remove(folder / name, error);
    if (error)
      throw InputError((folder / name).string(), "", "cannot be removed: " + error.message(),
                       "choose a job folder that you may write to");
  }
}

}  // namespace strato
