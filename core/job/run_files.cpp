#include "core/job/run_files.h"

#include <unistd.h>

#include <fstream>
#include <system_error>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMeeting = "meeting.json";
constexpr const char* kFailure = "failure.json";
constexpr std::int64_t kMaxRank = 1'000'000;
constexpr std::streamoff kLogTail = 4096;

// The text as it may stand in JSON: what a library says need not be UTF-8.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A link fails when there is such a name: the first one stays.
void write_first(const fs::path& folder, const std::string& name, const std::string& content) {
  const fs::path own = folder / (name + "." + std::to_string(::getpid()));
  write_file(own, content);
  std::error_code ignored;
  fs::create_hard_link(own, folder / name, ignored);
  fs::remove(own, ignored);
}

}  // namespace

void write_meeting(const fs::path& folder, const MeetingPlace& place) {
  write_file(folder / kMeeting, dump(Json{{"host", place.host}, {"port", place.port}}));
}

std::optional<MeetingPlace> find_meeting(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / kMeeting, ignored)) return std::nullopt;
  const JsonView json =
      JsonView::parse(read_file(folder / kMeeting), (folder / kMeeting).string());
  return MeetingPlace{json.at("host").string(),
                      static_cast<std::uint16_t>(json.at("port").integer(1, 65'535))};
}

void record_failure(const fs::path& folder, const RankFailure& failure) noexcept {
  try {
    write_first(folder, kFailure, dump(Json{{"rank", failure.rank}, {"text", failure.text}}));
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
  std::ifstream log(folder / ("log-" + std::to_string(rank) + ".txt"), std::ios::binary);
  log.seekg(0, std::ios::end);
  const std::streamoff size = log.tellg();
  if (size <= 0) return "";
  log.seekg(size > kLogTail ? size - kLogTail : 0);
  std::string line, last;
  while (std::getline(log, line)) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return last;
}

void clear_run_files(const fs::path& folder) {
  for (const char* name : {kMeeting, kFailure}) {
    std::error_code error;
    fs::remove(folder / name, error);
    if (error) {
      throw InputError((folder / name).string(), "", "cannot be removed: " + error.message(),
                       "choose a job folder that you may write to");
    }
  }
}

}  // namespace strato
