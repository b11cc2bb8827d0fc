// Fuzzes the ONNX importer: whatever the bytes, a graph or an InputError, in little memory and
// time.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/plugin/api/plugin.h"

extern "C" strato::Importer* stratoscope_make_importer(const char* name);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<strato::Importer> importer(stratoscope_make_importer("onnx"));
  const int file = ::memfd_create("model.onnx", 0);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) return 0;
  strato::ImportOptions options;
  if (size % 4 != 0) options.batch = 1 + static_cast<std::int64_t>(size % 3);
  try {
    importer->import("/proc/self/fd/" + std::to_string(file), options);
  } catch (const strato::InputError&) {
  }
  ::close(file);
  return 0;
}
