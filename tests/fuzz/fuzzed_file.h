// The bytes of one round as a file, for readers that open one.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace strato::fuzz {

class FuzzedFile {
 public:
  explicit FuzzedFile(const std::string& suffix)
      : path_(std::filesystem::temp_directory_path() /
              ("strato-fuzz-" + std::to_string(::getpid()) + suffix)) {}
  ~FuzzedFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  FuzzedFile(const FuzzedFile&) = delete;
  FuzzedFile& operator=(const FuzzedFile&) = delete;

  const std::filesystem::path& with(const std::uint8_t* data, std::size_t size) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    return path_;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace strato::fuzz
