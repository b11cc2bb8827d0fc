// A read-only view of a whole file, which may be larger than the memory: only what is looked at is
// read. Holds no file handle, so that there may be any number of them; a file that is replaced or
// removed meanwhile is seen as it was. Safe from any thread. A file that somebody cuts short
// meanwhile ends the process, as with any mapping.
#pragma once

#include <cstddef>
#include <filesystem>
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
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace strato
