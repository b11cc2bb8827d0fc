// Fuzzes what reads training frameworks' configurations, of every syntax: whatever the bytes, a
// layout or an InputError, in little memory and time.
#include "core/base/error.h"
#include "core/framework/configuration/configuration_file.h"
#include "tests/fuzz/fuzzed_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static strato::fuzz::FuzzedFile file(".configuration");
  const strato::frameworks::Training training{24, 16, 32, 8, {}, {}};
  try {
    strato::frameworks::read_configuration(file.with(data, size), training);
  } catch (const strato::InputError&) {
  }
  return 0;
}
