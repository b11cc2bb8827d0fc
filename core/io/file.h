// Whole files in and out, and views of them. Every failure is an InputError that names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace strato {

// One with more bytes than `most` is refused, if possible unread: somebody chose a disk image.
inline constexpr std::uintmax_t kMostOfAFile = std::uintmax_t{4} << 30;
inline constexpr std::uintmax_t kAnySize = UINTMAX_MAX;
std::string read_file(const std::filesystem::path& path, std::uintmax_t most = kMostOfAFile);

// Writes to a temporary name in the same folder, syncs, then renames: the file is never
// half-written. A device or pipe is written as it is, never replaced.
void write_file(const std::filesystem::path& path, std::string_view content);
// The same, of content that nobody has whole: `produce` hands over one part after another. What it
// throws leaves the file as it was.
using PutPart = std::function<void(std::string_view)>;
void write_file_in_parts(const std::filesystem::path& path,
                         const std::function<void(const PutPart&)>& produce);

// There, but neither a plain file nor a folder: a device, a pipe, /dev/stdout.
bool is_special_file(const std::filesystem::path& path);

// A read-only view of a whole file, which may be larger than the memory: only what is looked at is
// read. Holds no file handle, so that there may be any number of them; a file that is replaced or
// removed meanwhile is seen as it was. Safe from any thread. A file that somebody cuts short
// meanwhile ends the process, as with any mapping.
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

// Returns the folder of the program's own data: $STRATOSCOPE_HOME when set, else the folder above
// the executable's (build tree and installed tree look alike): resources/, plugins/,
// sample_graphs/.
std::filesystem::path home_directory();

}  // namespace strato
