#include "core/io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/base/error.h"

namespace strato {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, const char* what, int code, const char* remedy) {
  throw InputError(path.string(), "", fmt::format("{}: {}", what, std::strerror(code)), remedy);
}

constexpr std::size_t kBlock = 1 << 16;

void check_size(const fs::path& path, std::uintmax_t bytes, std::uintmax_t most) {
  if (bytes > most)
    throw InputError(path.string(), "",
                     fmt::format("has more than the {:.4g} MB that such a file may have",
                                 static_cast<double>(most) / 1e6),
                     "give another file");
}

// `size` is a guess: a device and a pipe have none, what is in /proc a wrong one.
std::string read_all(std::istream& stream, const fs::path& path, std::uintmax_t size,
                     std::uintmax_t most) {
  std::string content;
  for (auto block = std::size_t(size) + 1; stream; block = std::max(content.size(), kBlock)) {
    const std::size_t had = content.size();
    if (most - had < block) block = most - had + 1;
    content.resize(had + block);
    stream.read(content.data() + had, static_cast<std::streamsize>(block));
    content.resize(had + static_cast<std::size_t>(stream.gcount()));
    check_size(path, content.size(), most);
  }
  return content;
}

void write_all(int handle, const fs::path& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(handle, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "cannot be written", errno, "free some space and try again");
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

// An open file, closed at the end.
struct Handle {
  explicit Handle(int opened) : value(opened) {}
  ~Handle() { ::close(value); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  const int value;
};

// A device or pipe stays what it is: a rename would put a plain file in its place.
void write_into(const fs::path& path, const std::function<void(const PutPart&)>& produce) {
  const Handle handle(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (handle.value < 0) fail(path, "cannot be written", errno, "choose another file name");
  produce([&](std::string_view part) { write_all(handle.value, path, part); });
}

// Owns a temporary file until it is renamed to its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : target_(target), name_(target.string() + ".tmp-XXXXXX"), handle_(::mkstemp(name_.data())) {
    if (handle_.value < 0)
      fail(target_, "cannot be written", errno, "choose a folder that you may write to");
    ::fchmod(handle_.value, 0644);
  }
  ~TemporaryFile() {
    if (!renamed_) ::unlink(name_.c_str());
  }

  void put(std::string_view part) { write_all(handle_.value, target_, part); }

  void rename() {
    if (::fsync(handle_.value) != 0)
      fail(target_, "cannot be written", errno, "free some space and try again");
    if (::rename(name_.c_str(), target_.c_str()) != 0)
      fail(target_, "cannot be replaced", errno, "choose another file name");
    renamed_ = true;
  }

 private:
  fs::path target_;
  std::string name_;
  Handle handle_;
  bool renamed_ = false;
};

}  // namespace

std::string read_file(const fs::path& path, std::uintmax_t most) {
  std::error_code error;
  if (fs::is_directory(path, error))
    throw InputError(path.string(), "", "is a folder", "give a file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(path, "cannot be opened", errno, "check the name and the permissions");
  std::uintmax_t size = fs::file_size(path, error);
  if (error) size = 0;
  check_size(path, size, most);
  std::string content = read_all(stream, path, size, most);
  if (stream.bad()) fail(path, "cannot be read", errno, "check the disk");
  return content;
}

bool is_special_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status) || fs::is_directory(status)) return false;
  // /dev/stdout is a link, and may lead to a plain file.
  const fs::path folder = fs::canonical(fs::absolute(path).parent_path(), error);
  return !fs::is_regular_file(status) || folder == "/dev" || folder.string().starts_with("/proc/");
}

void write_file(const fs::path& path, std::string_view content) {
  write_file_in_parts(path, [content](const PutPart& put) { put(content); });
}

void write_file_in_parts(const fs::path& path, const std::function<void(const PutPart&)>& produce) {
  if (is_special_file(path)) return write_into(path, produce);
  TemporaryFile file(path);
  produce([&file](std::string_view part) { file.put(part); });
  file.rename();
}

MappedFile::MappedFile(const fs::path& file, const char* what) {
  const char* remedy = "check the name and the permissions";
  const Handle handle(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (handle.value < 0 || ::fstat(handle.value, &status) != 0)
    fail(file, "cannot be opened", errno, remedy);
  if (!S_ISREG(status.st_mode))
    throw InputError(file.string(), "", "is not a regular file", fmt::format("give {}", what));
  if (status.st_size == 0)
    throw InputError(file.string(), "", "is empty", "copy or export the file again");
  size_ = static_cast<std::size_t>(status.st_size);
  data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, handle.value, 0);
  if (data_ == MAP_FAILED) fail(file, "cannot be read", errno, remedy);
}

MappedFile::~MappedFile() { ::munmap(data_, size_); }

fs::path home_directory() {
  if (const char* home = std::getenv("STRATOSCOPE_HOME"); home != nullptr && *home != '\0')
    return home;
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path() : executable.parent_path().parent_path();
}

}  // namespace strato
