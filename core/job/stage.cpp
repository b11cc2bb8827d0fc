#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/graph/graph_file.h"
#include "core/job/job_file.h"
#include "core/job/run_files.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

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

// Nobody else can open it at any time.
void write_secret(const fs::path& path) {
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

void check(const Job& job, const std::string& name) {
  const std::size_t ranks = job.programs.ranks.size();
  CHECK(job.graph && job.programs.graph == job.graph, "a job of another graph");
  CHECK(ranks >= 1 && job.devices.size() == ranks && job.machines.size() == ranks,
        "a job with another number of devices than ranks");
  check_options(job.options, name);
  check_termination(job.programs, name);
}

void write_contents(const fs::path& folder, const Job& job) {
  JobFile file;
  file.name = job.name;
  file.options = job.options;
  file.predicted = job.predicted;
  const std::string graph = serialise(*job.graph);
  write_file(folder / "graph.bin", graph);
  file.graph = staged(graph);
  file.graph_digest = job.graph->digest();
  std::vector<Digest> digests;
  for (std::size_t r = 0; r < job.programs.ranks.size(); ++r) {
    const std::string program = write_rank_program(job.programs.ranks[r]);
    write_file(folder / rank_file(static_cast<int>(r)), program);
    file.ranks.push_back(
        {job.devices[r], job.programs.ranks[r].device, job.machines[r], staged(program)});
    digests.push_back(file.ranks.back().program.digest);
  }
  file.programs = digest_of_ranks(file.graph_digest, digests);
  write_secret(folder / "secret");
  write_file(folder / "job.json", to_json(file));  // last: the folder is whole then
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

bool belongs_to_job(const std::string& name) {
  return name == "job.json" || name == "graph.bin" || name == "secret" || name == "result.json" ||
         name == "tasks.bin" || name.starts_with("rank-") || name.starts_with("log-");
}

// What an earlier job left, but for its checkpoints. Without job.json the folder is no job any
// more.
void clear(const fs::path& folder) {
  bool known = fs::is_empty(folder);
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    known = known || name == "job.json" || name == "graph.bin" || name.starts_with("checkpoint-");
    if (belongs_to_job(name) && name != "job.json") old.push_back(entry.path());
  }
  if (!known)
    throw InputError(folder.string(), "", "holds files that are no job's", "choose a new folder");
  fs::remove(folder / "job.json");
  for (const fs::path& file : old) fs::remove(file);
  clear_run_files(folder);
}

}  // namespace

void stage_job(const fs::path& folder, const Job& job) {
  check(job, (folder / "job.json").string());
  try {
    if (fs::exists(folder)) {
      clear(folder);
      return write_contents(folder, job);
    }
    NewFolder fresh(folder);
    write_contents(fresh.path(), job);
    fresh.finish();
  } catch (const fs::filesystem_error& error) {
    throw InputError(folder.string(), "", "cannot be written: " + error.code().message(),
                     "choose a job folder that you may write to");
  }
}

}  // namespace strato
