// A read-only view of a whole file, which may be larger than the memory: only what is looked at is
// read. Safe from any thread. A file that somebody cuts short meanwhile ends the process, as with any
// mapping.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace strato {

class MappedFile {
 public:
  // `what`: "an ONNX file", for the error's remedy. Throws InputError for what cannot be opened, is
  // no regular file, or is empty.
  MappedFile(const std::filesystem::path& file, const char* what);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  [[noreturn]] void refuse(const std::string& name, const std::string& problem,
                           const std::string& remedy);

  int handle_ = -1;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace strato
