#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/base/words.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/read/discovered_cluster.h"
#include "core/cluster/read/gpu_ports.h"
#include "core/cluster/read/mig_slice.h"

namespace strato {
namespace {

constexpr std::size_t kMostColumns = 256;
constexpr int kMostLinks = 64;  // of a pair
constexpr const char* kPrintAgain = "give the whole output of nvidia-smi topo -m";

// Removes what colours and underlines text on a terminal: ESC [ ... and a letter.
std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) != "\x1b[") {
      plain += text[i];
      continue;
    }
    i = text.find_first_not_of("0123456789;?", i + 2);
    if (i == std::string_view::npos) break;
  }
  return plain;
}

Words cells_in(std::string_view line) {
  Words cells = split(line, ',');
  std::ranges::transform(cells, cells.begin(), trimmed_word);
  return cells;
}

std::optional<int> number_after(std::string_view prefix, std::string_view word) {
  return word.starts_with(prefix) ? number_from(word.substr(prefix.size()), 0) : std::nullopt;
}

// The columns of devices; behind them are those of affinities. Empty: the line is no header.
Words header_of(std::string_view line) {
  Words words = words_in(line);
  if (words.empty() || !number_after("GPU", words.front())) return {};
  const auto end = std::ranges::find_if(words, [](std::string_view word) {
    return word == "CPU" || word == "NUMA" || word == "GPU";
  });
  const bool has_cells = std::find(words.begin(), end, "X") != end;
  const bool named = end != words.end() || words.size() > 1;
  words.erase(end, words.end());
  return has_cells || !named ? Words() : words;
}

class TopologyReader {
 public:
  TopologyReader(std::string_view text, const std::string& file, const GpuCatalogue& catalogue)
      : lines_(split(text, '\n')), file_(file), catalogue_(catalogue) {}

  std::string cluster() {
    read_names();
    read_matrix();
    MachineReport report;
    report.host = std::filesystem::path(file_).stem().string();
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) add_reports(gpu, report.gpus);
    if (report.gpus.size() > kMostColumns) refuse("", "has more than 256 GPUs and slices");
    DiscoveryText text;
    text.name = report.host;
    text.source = kinds_.empty() ? "nvidia-smi -L"
                                 : fmt::format("nvidia-smi topo -m: GPUs are joined by {}",
                                               fmt::join(kinds_, ", "));
    if (!slices_.empty())
      text.source +=
          "; instances of a GPU (MIG) are devices of their own, without NVLinks, and share its "
          "PCIe";
    if (kinds_.contains("SYS") || kinds_.contains("SOC"))
      text.source += "; what the way between sockets (SYS) costs is not known, and not counted";
    text.pcie_source = "16 lanes of the generation that the GPU's architecture has";
    return discovered_cluster({report}, text, catalogue_);
  }

 private:
  [[noreturn]] void refuse(const std::string& place, const std::string& problem,
                           const std::string& remedy = kPrintAgain) const {
    throw InputError(file_, place, problem, remedy);
  }

  void read_matrix() {
    std::size_t line = 0;
    Words columns;
    while (columns.empty() && line < lines_.size()) columns = header_of(lines_[line++]);
    if (columns.empty()) return take_listed();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto gpu = number_after("GPU", columns[c]);
      if (!gpu) continue;
      gpus_.push_back(*gpu);
      column_.push_back(c);
    }
    if (gpus_.size() > kMostColumns) refuse("", "has more than 256 GPUs");
    cells_.resize(gpus_.size());
    for (; line < lines_.size(); ++line) read_row(words_in(lines_[line]), columns);
    for (std::size_t a = 0; a < gpus_.size(); ++a) check_row(a);
  }

  // Without a matrix: what needs none.
  void take_listed() {
    if (names_.empty()) refuse("", "lists no GPU", "give the whole output of nvidia-smi -L");
    for (const auto& [gpu, name] : names_) {
      if (names_.size() > 1 && !slices_.contains(gpu))
        refuse(fmt::format("GPU{}", gpu), "nothing says how it is joined with the other GPUs",
               "append what nvidia-smi topo -m prints");
      gpus_.push_back(gpu);
    }
    cells_.resize(gpus_.size(), Words(gpus_.size(), "X"));
  }

  void read_row(const Words& words, const Words& columns) {
    const auto gpu = words.empty() ? std::nullopt : number_after("GPU", words.front());
    if (!gpu || words.size() < 2) return;
    const std::string place(words.front());
    const auto at = std::ranges::find(gpus_, *gpu);
    if (at == gpus_.end()) refuse(place, "has a row and no column");
    Words& cells = cells_[static_cast<std::size_t>(at - gpus_.begin())];
    if (!cells.empty()) refuse(place, "has two rows");
    if (words.size() <= columns.size()) refuse(place, "has a row that is cut off");
    for (const std::size_t column : column_) cells.push_back(words[column + 1]);
  }

  std::string pair(std::size_t a, std::size_t b) const {
    return fmt::format("GPU{} to GPU{}", gpus_[a], gpus_[b]);
  }

  void check_row(std::size_t a) {
    if (cells_[a].empty()) refuse(fmt::format("GPU{}", gpus_[a]), "has a column and no row");
    for (std::size_t b = 0; b < gpus_.size(); ++b) {
      const std::string kind(cells_[a][b]);
      const bool is_link =
          (links_in(kind) > 0 && links_in(kind) <= kMostLinks) || kPcieKinds.contains(kind);
      if (a == b ? kind != "X" : !is_link)
        refuse(pair(a, b), fmt::format("\"{}\" is no kind of link", kind));
      if (b < a && cells_[b][a] != kind)
        refuse(pair(a, b), fmt::format("is {}, and {} the other way", kind, cells_[b][a]));
      if (a != b) kinds_.insert(kind);
    }
  }

  static int links_in(std::string_view kind) { return number_after("NV", kind).value_or(0); }

  void read_names() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view line = trimmed_word(lines_[i]);
      if (line.starts_with("GPU ")) read_listed(line.substr(4));
      if (line.starts_with("MIG ")) read_slice(line);
      const std::size_t colon = line.find(':');
      if (colon == 3 && (line.starts_with("gpu") || line.starts_with("GPU")))
        every_ = trimmed_word(line.substr(4));
      if (line.starts_with("name,") || line.starts_with("index,") || line == "name")
        i = read_table(i) - 1;
    }
  }

  // "0: NVIDIA A100-SXM4-80GB (UUID: GPU-...)"
  void read_listed(std::string_view line) {
    const std::size_t colon = line.find(':');
    const auto gpu = number_from(line.substr(0, colon), 0);
    if (colon == std::string_view::npos || !gpu) return;
    line.remove_prefix(colon + 1);
    if (names_.size() > kMostColumns) refuse("", "lists more than 256 GPUs");
    names_[*gpu] = trimmed_word(line.substr(0, line.find("(UUID")));
    listed_ = *gpu;
  }

  // "MIG 3g.20gb     Device  0: (UUID: MIG-...)"
  void read_slice(std::string_view line) {
    const std::string_view profile = words_in(line)[1 < words_in(line).size() ? 1 : 0];
    const auto slice = mig_slice_from(profile);
    const std::string place = fmt::format("GPU{}", listed_);
    if (profile.find("c.") != std::string_view::npos)
      refuse(place,
             fmt::format("has the compute instance {}, which shares its memory with others",
                         profile.substr(0, 64)),
             "describe GPU instances, such as 3g.20gb");
    if (!slice || listed_ < 0)
      refuse(place, fmt::format("\"{}\" is no instance of a GPU", profile.substr(0, 64)),
             "give the whole output of nvidia-smi -L");
    slices_[listed_].push_back(*slice);
  }

  // The first line behind it.
  std::size_t read_table(std::size_t line) {
    const Words heads = cells_in(lines_[line]);
    for (int row = 0; ++line < lines_.size(); ++row) {
      const Words cells = cells_in(lines_[line]);
      if (cells.size() != heads.size() || trimmed_word(lines_[line]).empty()) return line;
      int gpu = row;
      for (std::size_t c = 0; c < cells.size(); ++c)
        if (heads[c] == "index") gpu = number_from(cells[c], 0).value_or(row);
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const std::string_view head = heads[c], cell = cells[c];
        if (head == "name") names_[gpu] = cell;
        if (head.starts_with("memory.total"))
          mebibytes_[gpu] = number_from(cell.substr(0, cell.find(' ')), 0).value_or(0);
      }
    }
    return line;
  }

  const GpuType& type_of(int gpu) const {
    const std::string place = fmt::format("GPU{}", gpu);
    const auto named = names_.find(gpu);
    const std::string_view name = named != names_.end() ? named->second : every_;
    if (name.empty())
      refuse(place, "nothing says which GPU it is",
             "append what nvidia-smi -L prints, or a line \"gpu: NAME\" with a name of "
             "stratoscope-cli list gpus");
    const GpuType* type = catalogue_.find(name);
    if (type == nullptr)
      refuse(
          place, fmt::format("the GPU \"{}\" is not known", name),
          fmt::format("put a line \"gpu: NAME\" in place of the names, with one of {} or another "
                      "of stratoscope-cli list gpus",
                      fmt::join(catalogue_.nearest(name), ", ")));
    const auto told = mebibytes_.find(gpu);
    const double bytes = told == mebibytes_.end() ? 0 : told->second * 1048576.0;
    if (bytes > 0 && std::abs(bytes / static_cast<double>(type->memory.value) - 1) > 0.15)
      refuse(
          place, fmt::format("has {} MiB, which {} has not", told->second, type->name),
          "put a line \"gpu: NAME\" in place of the names, with one of stratoscope-cli list gpus");
    return *type;
  }

  // Of the GPU, or of each of its slices.
  void add_reports(std::size_t gpu, std::vector<GpuReport>& reports) const {
    GpuReport whole = report_of(gpu);
    if (!slices_.empty()) {  // NCCL has no way between GPUs over NVLink once one is split
      whole.nvlinks.clear();
      whole.switch_links = 0;
    }
    const auto split = slices_.find(gpus_[gpu]);
    if (split == slices_.end()) return reports.push_back(whole);
    whole.pcie_lanes = std::max(1, whole.pcie_lanes / static_cast<int>(split->second.size()));
    for (const MigSlice& slice : split->second) {
      whole.type = type_of_slice(type_of(gpus_[gpu]), slice);
      if (!whole.type)
        refuse(fmt::format("GPU{}", gpus_[gpu]), fmt::format("has no instance {}", slice.profile),
               "name the GPU that it is of");
      whole.name = whole.type->name;
      reports.push_back(whole);
    }
  }

  GpuReport report_of(std::size_t gpu) const {
    const GpuType& type = type_of(gpus_[gpu]);
    GpuReport report;
    report.name = type.name;
    for (const std::string_view kind : cells_[gpu]) report.nvlinks.push_back(links_in(kind));
    const GpuPorts ports = ports_of(type);
    if (ports.pcie_generation == 0) return report;
    report.compute = type.compute;
    report.pcie_generation = ports.pcie_generation;
    report.pcie_lanes = 16;
    const int links = std::accumulate(report.nvlinks.begin(), report.nvlinks.end(), 0);
    if (links <= ports.nvlinks) return report;
    report.switch_links = std::ranges::max(report.nvlinks);
    report.nvlinks.assign(report.nvlinks.size(), 0);
    return report;
  }

  inline static const std::set<std::string> kPcieKinds = {"PIX",  "PXB", "PHB",
                                                          "NODE", "SYS", "SOC"};

  const Words lines_;
  const std::string& file_;
  const GpuCatalogue& catalogue_;
  std::vector<int> gpus_;            // their numbers, in the order of columns
  std::vector<std::size_t> column_;  // where they stand among all devices
  std::vector<Words> cells_;         // of each GPU, to the others
  std::set<std::string> kinds_;
  std::map<int, std::string_view> names_;
  std::map<int, int> mebibytes_;
  std::map<int, std::vector<MigSlice>> slices_;  // of GPUs that are split into instances
  std::string_view every_;
  int listed_ = -1;
};

}  // namespace

bool is_topology(std::string_view text) {
  const std::string plain = without_escapes(text);
  return std::ranges::any_of(split(plain, '\n'),
                             [](std::string_view line) { return !header_of(line).empty(); });
}

bool is_gpu_list(std::string_view text) {
  return std::ranges::any_of(split(text, '\n'), [](std::string_view line) {
    line = trimmed_word(line);
    return line.starts_with("GPU ") && line.find("(UUID: GPU-") != std::string_view::npos;
  });
}

std::string topology_cluster(std::string_view text, const std::string& file,
                             const GpuCatalogue& catalogue) {
  const std::string plain = without_escapes(text);
  return TopologyReader(plain, file, catalogue).cluster();
}

}  // namespace strato
