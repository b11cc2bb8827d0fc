// Fuzzes what reads clusters from texts of machines and of Slurm: whatever the bytes, a cluster or
// an InputError, in little memory and time.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/read/machine_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const strato::GpuCatalogue& catalogue = strato::GpuCatalogue::bundled();
  try {
    const auto json = strato::described_cluster(text, "cluster", catalogue);
    strato::parse_cluster(json.value_or(text), "cluster", catalogue);
  } catch (const strato::InputError&) {
  }
  return 0;
}
