// What machines and schedulers write of themselves, told apart by content: NCCL's topology XML
// (nccl_topology.h), what nvidia-smi prints (cluster_reader.h), `rocm-smi --showtopo`, Slurm's
// topology.conf and slurm.conf (slurm_topology.h).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/cluster/spec/gpu_catalogue.h"

namespace strato {

// The text of a cluster file that says the same; nothing for JSON, which is read as it is. Throws
// InputError (file: `file`) for a text that is none of these, with what to give instead.
std::optional<std::string> described_cluster(std::string_view text, const std::string& file,
                                             const GpuCatalogue& catalogue);

// Is the text one of those above, or one that people give for them? No: JSON, and anything else.
bool describes_machines(std::string_view text);
// Is it to be read as a cluster, by its content, also with mistakes in it? The reader tells these.
// One that is binary or larger than 64 MB is not looked into. Of JSON it is a text that says so
// ("stratoscope-cluster").
bool is_cluster_text(const std::filesystem::path& file);

// What `rocm-smi --showtopo` prints: GPUs with an XGMI link between them, or none. It names no GPU:
// `rocm-smi --showproductname` before or behind it does, or a line "gpu: NAME".
bool is_rocm_topology(std::string_view text);
std::string rocm_cluster(std::string_view text, const std::string& file,
                         const GpuCatalogue& catalogue);

}  // namespace strato
