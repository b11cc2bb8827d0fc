#include "core/io/mapped_file.h"

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
    throw InputError(name, "", std::string(problem) + ": " + std::strerror(errno),
                     "check the name and the permissions");
  };
  const int handle = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (handle < 0) fail("cannot be opened");
  const struct Closer {
    int handle;
    ~Closer() { ::close(handle); }
  } closer{handle};
  struct stat status {};
  if (::fstat(handle, &status) != 0) fail("cannot be opened");
  if (!S_ISREG(status.st_mode))
    throw InputError(name, "", "is not a regular file", std::string("give ") + what);
  if (status.st_size == 0) throw InputError(name, "", "is empty", "copy or export the file again");
  size_ = static_cast<std::size_t>(status.st_size);
  data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, handle, 0);
  if (data_ == MAP_FAILED) fail("cannot be read");
}

MappedFile::~MappedFile() { ::munmap(data_, size_); }

}  // namespace strato
