#include "core/plugin/use/export.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "core/base/error.h"
#include "core/io/file.h"

namespace strato {
namespace fs = std::filesystem;

namespace {

// A folder of a temporary name beside `target`, which goes unless it gets that name.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path target)
      : target_(std::move(target)), name_(target_.string() + ".tmp-XXXXXX") {
    if (::mkdtemp(name_.data()) == nullptr)
      fail("cannot be written", errno, "choose a folder that you may write to");
    ::chmod(name_.c_str(), 0755);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(name_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  void write(const ExportedFile& file) {
    const fs::path relative = fs::path(file.name).lexically_normal();
    CHECK(!relative.empty() && relative.is_relative() && *relative.begin() != ".." &&
              relative.has_filename() && relative != ".",
          "an exported file would lie outside its folder: " + file.name);
    const fs::path path = name_ / relative;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) fail("cannot be written", error.value(), "free some space and try again");
    write_file(path, file.content);
  }

  void rename() {  // over an empty folder, if there is one
    if (::rename(name_.c_str(), target_.c_str()) != 0)
      fail("cannot be replaced", errno, "choose another folder");
  }

 private:
  [[noreturn]] void fail(const char* what, int code, const char* remedy) const {
    throw InputError(target_.string(), "", std::string(what) + ": " + std::strerror(code), remedy);
  }

  fs::path target_;
  std::string name_;
};

// "out/" is "out".
fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

void refuse_what_is_there(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return;
  if (fs::is_symlink(folder, error) || !fs::is_directory(folder, error)) {
    throw InputError(folder.string(), "", "is there already and no folder",
                     "choose the name of a new folder");
  }
  if (!fs::is_empty(folder, error) || error) {
    throw InputError(folder.string(), "", "is a folder that is not empty",
                     "choose a new or an empty folder");
  }
}

}  // namespace

void check_export_folder(const fs::path& folder) {
  refuse_what_is_there(without_slash(folder));
  TemporaryFolder probe(without_slash(folder));
}

Exported write_export(Exporter& exporter, const ExportInput& input, const fs::path& path) {
  if (!exporter.makes_folder()) {
    const std::string content = exporter.write(input);
    write_file(path, content);
    return {1, content.size()};
  }
  const fs::path folder = without_slash(path);
  refuse_what_is_there(folder);
  Exported exported;
  TemporaryFolder temporary(folder);
  for (const ExportedFile& file : exporter.write_folder(input)) {
    temporary.write(file);
    ++exported.files;
    exported.bytes += file.content.size();
  }
  temporary.rename();
  return exported;
}

}  // namespace strato
