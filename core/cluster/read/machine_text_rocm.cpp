#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/base/words.h"
#include "core/cluster/read/discovered_cluster.h"
#include "core/cluster/read/gpu_ports.h"
#include "core/cluster/read/machine_text.h"

namespace strato {
namespace {

constexpr std::string_view kLinks = "Link Type between two GPUs";
constexpr const char* kPrintRocm = "give the whole output of rocm-smi --showtopo --showproductname";
constexpr std::size_t kMostRocmGpus = 256;

// Of "GPU3" or "GPU[3]".
std::optional<int> rocm_gpu(std::string_view word) {
  if (!word.starts_with("GPU")) return std::nullopt;
  word.remove_prefix(3);
  if (word.starts_with('[') && word.ends_with(']')) word = word.substr(1, word.size() - 2);
  return number_from(word, 0, static_cast<int>(kMostRocmGpus) - 1);
}

class RocmReader {
 public:
  RocmReader(std::string_view text, const std::string& file, const GpuCatalogue& catalogue)
      : lines_(split(text, '\n')), file_(file), catalogue_(catalogue) {}

  std::string cluster() {
    read_links();
    read_names();
    MachineReport report;
    report.host = std::filesystem::path(file_).stem().string();
    for (std::size_t gpu = 0; gpu < rows_.size(); ++gpu) report.gpus.push_back(report_of(gpu));
    DiscoveryText text;
    text.name = report.host;
    text.source = "rocm-smi --showtopo; one xGMI link between two GPUs assumed where it tells any";
    text.pcie_source = "16 lanes of the generation that the GPU's architecture has";
    return discovered_cluster({report}, text, catalogue_);
  }

 private:
  [[noreturn]] void refuse(const std::string& place, const std::string& problem,
                           const std::string& remedy = kPrintRocm) const {
    throw InputError(file_, place, problem, remedy);
  }

  void read_links() {
    std::size_t line = 0;
    while (lines_[line].find(kLinks) == std::string_view::npos) ++line;  // is_rocm_topology()
    std::size_t columns = 0;
    for (++line; line < lines_.size() && !lines_[line].starts_with('='); ++line) {
      const Words words = words_in(lines_[line]);
      if (words.empty() || !rocm_gpu(words[0])) continue;
      if (columns == 0) {
        columns = words.size();
        continue;
      }
      if (words.size() != columns + 1 || rows_.size() == columns)
        refuse(std::string(words[0].substr(0, 64)), "has a row that is cut off");
      rows_.emplace_back(words.begin() + 1, words.end());
    }
    if (rows_.empty() || rows_.size() != columns || columns > kMostRocmGpus)
      refuse("", "has a matrix that is not whole");
  }

  // "GPU[0] : Card Series: AMD Instinct MI300X OAM", "Card Model: 0x74a1", or a line "gpu: NAME".
  void read_names() {
    for (std::string_view line : lines_) {
      line = trimmed_word(line);
      if (line.starts_with("gpu:")) every_ = trimmed_word(line.substr(4));
      const Words words = words_in(line);
      const auto gpu = words.empty() ? std::nullopt : rocm_gpu(words[0]);
      if (!gpu) continue;
      const Words parts = split(line, ':');
      if (parts.size() < 3) continue;
      const std::string_view key = trimmed_word(parts[1]), value = trimmed_word(parts[2]);
      if (same_ignoring_case(key, "card series")) series_[*gpu] = value;
      if (same_ignoring_case(key, "card model") && value.starts_with("0x"))
        device_[*gpu] = fmt::format("1002:{}", value.substr(2));
    }
  }

  const GpuType* known_device(int gpu) const {
    const auto device = device_.find(gpu);
    if (device == device_.end()) return nullptr;
    for (const GpuType& type : catalogue_.gpus())
      if (std::ranges::find(type.pci_devices, device->second) != type.pci_devices.end())
        return &type;
    return nullptr;
  }

  const GpuType& type_of(int gpu) const {
    const auto series = series_.find(gpu);
    std::string_view name = every_.empty() && series != series_.end() ? series->second : every_;
    if (name.ends_with(" OAM")) name.remove_suffix(4);
    if (const GpuType* type = catalogue_.find(name)) return *type;
    if (const GpuType* type = every_.empty() ? known_device(gpu) : nullptr) return *type;
    if (name.empty())
      refuse(fmt::format("GPU{}", gpu), "nothing says which GPU it is",
             "append what rocm-smi --showproductname prints, or a line \"gpu: NAME\" with a name "
             "of stratoscope-cli list gpus");
    refuse(
        fmt::format("GPU{}", gpu), fmt::format("the GPU \"{}\" is not known", name.substr(0, 64)),
        fmt::format("put a line \"gpu: NAME\", with one of {} or another of stratoscope-cli list "
                    "gpus",
                    fmt::join(catalogue_.nearest(name), ", ")));
  }

  GpuReport report_of(std::size_t gpu) const {
    const GpuType& type = type_of(static_cast<int>(gpu));
    GpuReport report;
    report.name = type.name;
    report.compute = type.compute;
    report.pcie_generation = ports_of(type).pcie_generation;
    report.pcie_lanes = 16;
    for (std::size_t other = 0; other < rows_.size(); ++other) {
      const std::string_view kind = rows_[gpu][other];
      if (other != gpu && kind != "XGMI" && kind != "PCIE")
        refuse(fmt::format("GPU{} to GPU{}", gpu, other),
               fmt::format("\"{}\" is no kind of link", kind.substr(0, 64)));
      report.nvlinks.push_back(other != gpu && kind == "XGMI" ? 1 : 0);
    }
    return report;
  }

  const Words lines_;
  const std::string& file_;
  const GpuCatalogue& catalogue_;
  std::vector<Words> rows_;  // of each GPU, to the others
  std::map<int, std::string_view> series_;
  std::map<int, std::string> device_;
  std::string_view every_;
};

}  // namespace

bool is_rocm_topology(std::string_view text) { return text.find(kLinks) != std::string_view::npos; }

std::string rocm_cluster(std::string_view text, const std::string& file,
                         const GpuCatalogue& catalogue) {
  return RocmReader(text, file, catalogue).cluster();
}

}  // namespace strato
