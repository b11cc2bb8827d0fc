#include "core/cluster/read/machine_text.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/read/nccl_topology.h"
#include "core/cluster/read/slurm_topology.h"
#include "core/cluster/slurm/slurm_configuration.h"
#include "core/io/file.h"

namespace strato {
namespace {

constexpr const char* kGive =
    "give a cluster file (sample_graphs/clusters/README.md), what nvidia-smi topo -m and "
    "nvidia-smi "
    "-L print, what rocm-smi --showtopo --showproductname prints, the XML that NCCL writes where "
    "NCCL_TOPO_DUMP_FILE says, or Slurm's topology.conf with the NodeName= lines of slurm.conf";

constexpr const char* kNothing = "describes no cluster";

using Reader = std::string (*)(std::string_view, const std::string&, const GpuCatalogue&);

char first_of(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? '\0' : text[first];
}

Reader reader_of(std::string_view text) {
  if (first_of(text) == '{' || first_of(text) == '[') return nullptr;
  if (first_of(text) == '<') return &nccl_cluster;
  if (is_rocm_topology(text)) return &rocm_cluster;
  if (is_topology(text) || is_gpu_list(text)) return &topology_cluster;
  return is_slurm_configuration(text) ? &slurm_cluster : nullptr;
}

bool has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// What it may be, of what people give for one of those.
std::string other_text(std::string_view text) {
  if (has(text, "- topology:") || has(text, "switches:\n") || has(text, "block_sizes"))
    return "is Slurm's topology.yaml, which is not read";
  if (has(text, "VGA compatible controller") || has(text, "3D controller") ||
      has(text, "Processing accelerators"))
    return "is what lspci prints, which does not tell how GPUs are joined";
  if (has(text, "NVIDIA-SMI"))
    return "is the table of nvidia-smi, which does not tell how GPUs are joined";
  if (has(text, "ROCm System Management Interface") || has(text, "GPU[0]"))
    return "is what rocm-smi prints, without the links between GPUs";
  if (has(text, "Name=gpu")) return "is Slurm's gres.conf, which does not name the nodes' network";
  return kNothing;
}

}  // namespace

std::optional<std::string> described_cluster(std::string_view text, const std::string& file,
                                             const GpuCatalogue& catalogue) {
  if (const Reader reader = reader_of(text)) return reader(text, file, catalogue);
  const bool json = std::filesystem::path(file).extension() == ".json";
  if (json || first_of(text) == '{' || first_of(text) == '[') return std::nullopt;
  throw InputError(file, "", text.empty() ? "is empty" : other_text(text), kGive);
}

bool describes_machines(std::string_view text) {
  if (first_of(text) == '{' || first_of(text) == '[') return false;
  return reader_of(text) != nullptr || other_text(text) != kNothing;
}

bool is_cluster_text(const std::filesystem::path& file) {
  constexpr std::uintmax_t kMost = 64 << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;
  if (std::filesystem::file_size(file, error) > kMost || error) return false;
  const std::string text = read_file(file, kMost);
  const bool binary = text.find('\0') != std::string::npos;
  return !binary && (describes_machines(text) || has(text, "\"stratoscope-cluster\""));
}

}  // namespace strato
