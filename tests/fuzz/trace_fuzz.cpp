// Fuzzes what reads recorded traces, of every format: whatever the bytes, traces that can be
// analysed or an InputError, in little memory and time.
#include "core/base/error.h"
#include "core/trace/analyse/analysis.h"
#include "core/trace/read/read_trace.h"
#include "tests/fuzz/fuzzed_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static strato::fuzz::FuzzedFile file(".trace");
  try {
    strato::trace::analyse(strato::trace::read_traces(file.with(data, size)).traces);
  } catch (const strato::InputError&) {
  }
  return 0;
}
