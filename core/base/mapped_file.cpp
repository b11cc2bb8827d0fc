#include "core/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace strato {

MappedFile::MappedFile(const std::filesystem::path& file, const char* what) {
  const std::string name = file.string();
  const auto fail = [&](const char* problem) {
    const std::string reason = std::strerror(errno);
    refuse(name, std::string(problem) + ": " + reason, "check the name and the permissions");
  };
  handle_ = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (handle_ < 0) fail("cannot be opened");
  struct stat status {};
  if (::fstat(handle_, &status) != 0) fail("cannot be opened");
  if (!S_ISREG(status.st_mode))
    refuse(name, "is not a regular file", std::string("give ") + what);
  if (status.st_size == 0) refuse(name, "is empty", "copy or export the file again");
  size_ = static_cast<std::size_t>(status.st_size);
  data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, handle_, 0);
  if (data_ == MAP_FAILED) fail("cannot be read");
}

MappedFile::~MappedFile() {
  ::munmap(data_, size_);
  ::close(handle_);
}

// A constructor that throws runs no destructor: the handle is closed here.
void MappedFile::refuse(const std::string& name, const std::string& problem,
                        const std::string& remedy) {
  if (handle_ >= 0) ::close(handle_);
  throw InputError(name, "", problem, remedy);
}

}  // namespace strato
