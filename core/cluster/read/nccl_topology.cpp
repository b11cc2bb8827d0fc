#include "core/cluster/read/nccl_topology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/cluster/read/discovered_cluster.h"
#include "core/cluster/read/gpu_ports.h"
#include "core/io/xml.h"

namespace strato {
namespace {

constexpr std::size_t kMostGpus = 256;
constexpr int kMostNvlinks = 64;      // of one element
constexpr double kMostMbps = 1e7;     // of a network card
constexpr double kMostC2cMBps = 1e7;  // of one C2C link
constexpr std::string_view kSwitchClass = "0x0680", kCpuClass = "0x068001", kGpuClass = "0x03";
constexpr const char* kGiveDump =
    "give the file that NCCL writes where NCCL_TOPO_DUMP_FILE says, or what nvidia-smi topo -m "
    "prints";

struct PciLink {
  int generation = 0, lanes = 0;  // 0: not told
  double rate() const { return std::ldexp(lanes, generation); }
};

struct Gpu {
  const XmlElement* pci;
  const XmlElement* gpu;  // null: left to be filled in
  PciLink link;           // the narrowest one to the CPU
  std::string key;        // of its host and bus
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// "16.0 GT/s PCIe": of what is written in powers of two from 2.5 (5 and 8 are but nearly that).
int generation_of(std::string_view speed) {
  const auto rate = number_from<double>(speed.substr(0, speed.find(' ')), 0, 1e3);
  if (!rate || *rate <= 0) return 0;
  constexpr double kRates[] = {2.5, 5, 8, 16, 32, 64};
  int generation = 0;
  for (const double known : kRates) generation += *rate >= known * 0.99;
  return generation;
}

// Of <!-- key: VALUE, ... -->; empty: there is none.
std::string noted(const std::vector<std::string>& comments, const std::string& key) {
  for (const std::string& comment : comments) {
    const std::size_t at = lower(comment).find(key + ":");
    if (at == std::string::npos) continue;
    std::string_view value = std::string_view(comment).substr(at + key.size() + 1);
    value = value.substr(0, value.find_first_of(",;\n"));
    const std::size_t first = value.find_first_not_of(' ');
    if (first == std::string_view::npos) continue;
    return std::string(value.substr(first, value.find_last_not_of(' ') + 1 - first));
  }
  return {};
}

class NcclReader {
 public:
  NcclReader(std::string_view xml, const std::string& file, const GpuCatalogue& catalogue)
      : document_(parse_xml(xml, file)), file_(file), catalogue_(catalogue) {}

  std::string cluster() {
    check_root();
    name_ = noted(document_.comments, "gpu");
    visit(document_.root, {});
    if (gpus_.empty()) refuse(document_.root, "has no GPU", kGiveDump);
    if (gpus_.size() > kMostGpus) refuse(document_.root, "has more than 256 GPUs", kGiveDump);
    order();
    MachineReport report;
    report.host = std::filesystem::path(file_).stem().string();
    for (const Gpu& gpu : gpus_) report.gpus.push_back(report_of(gpu));
    report.interfaces = interfaces();
    report.host_gbps = c2c();
    DiscoveryText text;
    text.name = report.host;
    text.source = source();
    text.pcie_source = untold_ ? "not told: 16 lanes of the generation of the GPU's architecture"
                               : "the narrowest link from a GPU to its CPU, as reported";
    return discovered_cluster({report}, text, catalogue_);
  }

 private:
  [[noreturn]] void refuse(const XmlElement& at, const std::string& problem,
                           const std::string& remedy) const {
    throw InputError(file_, fmt::format("line {}", at.line), problem, remedy);
  }

  void check_root() const {
    const std::string& root = document_.root.name;
    if (root == "system") return;
    const std::string what = root == "topology"         ? "is hwloc's topology"
                             : root == "nvidia_smi_log" ? "is what nvidia-smi -q -x prints"
                             : root == "graphs" ? "is a file of NCCL's search (NCCL_GRAPH_FILE)"
                             : root == "algo"   ? "is a collective of MSCCL"
                                                : "is XML of <" + root.substr(0, 64) + ">";
    refuse(document_.root, what + ", which does not tell how GPUs are joined", kGiveDump);
  }

  // A number that an attribute has, or none.
  template <class T>
  std::optional<T> number(const XmlElement& element, const char* key, T least, T most) const {
    const std::string_view text = element.at(key);
    if (text.empty()) return std::nullopt;
    const auto value = number_from<T>(text, least, most);
    if (!value)
      refuse(element,
             fmt::format("\"{}\" is \"{}\", not a number from {} to {}", key, text.substr(0, 64),
                         least, most),
             "give the file as NCCL wrote it");
    return value;
  }

  void visit(const XmlElement& element, PciLink narrowest) {
    if (element.name == "cpu") host_ = std::string(element.at("host_hash")) + "/";
    if (element.name == "pci") narrowest = narrowed(element, narrowest);
    const std::string key = host_ + lower(element.at("busid"));
    bool has_gpu = false;
    for (const XmlElement& child : element.children) {
      if (child.name == "gpu") {
        gpus_.push_back({&element, &child, narrowest, key});
        has_gpu = true;
      } else if (child.name == "net") {
        nets_.push_back(&child);
      } else {
        visit(child, narrowest);
      }
    }
    if (element.name != "pci") return;
    if (!has_gpu && is_gpu(element)) gpus_.push_back({&element, nullptr, narrowest, key});
    const std::string_view id = element.at("busid");  // RCCL repeats bridges
    if ((has_gpu || is_gpu(element)) && !id.empty() && !devices_.insert(key).second)
      refuse(element, fmt::format("has the bus id {} of another GPU", id.substr(0, 64)),
             "give every GPU once");
  }

  static bool is_gpu(const XmlElement& pci) {
    const std::string_view kind = pci.at("class"), vendor = pci.at("vendor");
    return kind.starts_with("0x0302") || kind.starts_with("0x0380") ||
           (kind.starts_with("0x1200") && vendor == "0x1002");
  }

  PciLink narrowed(const XmlElement& pci, PciLink narrowest) {
    PciLink own{generation_of(pci.at("link_speed")),
                number<int>(pci, "link_width", -1, 64).value_or(0)};
    if (own.generation == 0) return narrowest;
    if (own.generation == 1) {
      asleep_ = true;
      return narrowest;
    }
    if (own.lanes <= 0) own.lanes = 16;
    return narrowest.generation == 0 || own.rate() < narrowest.rate() ? own : narrowest;
  }

  // By rank where every GPU has one, else by the number of the device.
  void order() {
    for (const char* key : {"rank", "dev"}) {
      std::map<int, Gpu> ordered;
      for (const Gpu& gpu : gpus_) {
        const auto value = gpu.gpu ? number<int>(*gpu.gpu, key, -1, 1 << 24) : std::optional<int>();
        if (!value || *value < 0) break;
        if (!ordered.emplace(*value, gpu).second && key[0] == 'r')
          refuse(*gpu.gpu, fmt::format("is rank {}, as another GPU", *value),
                 "give every GPU a rank of its own");
      }
      if (ordered.size() != gpus_.size()) continue;
      const int first = ordered.begin()->first, last = ordered.rbegin()->first;
      gap_ = key[0] == 'r' && last - first >= static_cast<int>(gpus_.size());
      std::ranges::transform(ordered, gpus_.begin(), [](const auto& each) { return each.second; });
      return;
    }
  }

  std::string compute_of(const Gpu& gpu) const {
    if (gpu.gpu == nullptr) return {};
    std::string target(gpu.gpu->at("gcn"));
    target = target.substr(0, target.find(':'));
    if (!target.empty() && !target.starts_with("gfx")) target = "gfx" + target;
    if (target == "gfx910") return "gfx90a";  // as RCCL wrote it before it had letters
    if (target == "gfx940" || target == "gfx941") return "gfx942";
    if (!target.empty() || gpu.pci->at("vendor") == "0x1002") return target;
    const int sm = number<int>(*gpu.gpu, "sm", 0, 999).value_or(0);
    return sm == 0 ? "" : fmt::format("{}.{}", sm / 10, sm % 10);
  }

  const GpuType& type_of(const Gpu& gpu) const {
    const std::string compute = compute_of(gpu);
    if (!name_.empty()) return named_type(gpu, compute);
    const auto hex = [&](const char* key) {
      const std::string text = lower(gpu.pci->at(key));
      return text.starts_with("0x") ? text.substr(2) : text;
    };
    const std::string device = hex("vendor") + ":" + hex("device");
    std::vector<std::string> alike;
    const GpuType* only = nullptr;
    for (const GpuType& type : catalogue_.gpus()) {
      if (std::ranges::find(type.pci_devices, device) != type.pci_devices.end()) return type;
      if (compute.empty() || type.compute != compute) continue;
      only = &type;
      alike.push_back(type.name);
    }
    if (alike.size() == 1) return *only;
    std::string what = "nothing says which GPU it is";
    if (!compute.empty()) what += " (compute capability " + compute.substr(0, 64) + ")";
    if (alike.size() > 8) alike.resize(8);
    refuse(
        *gpu.pci, what,
        fmt::format("add a comment <!-- gpu: NAME --> with {}a name of stratoscope-cli list gpus",
                    alike.empty() ? "" : fmt::format("one of {}, or ", fmt::join(alike, ", "))));
  }

  const GpuType& named_type(const Gpu& gpu, const std::string& compute) const {
    const GpuType* type = catalogue_.find(name_);
    if (type == nullptr)
      refuse(*gpu.pci, fmt::format("the GPU \"{}\" is not known", name_.substr(0, 64)),
             fmt::format("nearest: {}; or another of stratoscope-cli list gpus",
                         fmt::join(catalogue_.nearest(name_), ", ")));
    if (!compute.empty() && !type->compute.empty() && compute != type->compute)
      refuse(*gpu.pci,
             fmt::format("has compute capability {}, and {} has {}", compute.substr(0, 64),
                         type->name, type->compute),
             "name the GPU that the machine has");
    return *type;
  }

  GpuReport report_of(const Gpu& gpu) {
    const GpuType& type = type_of(gpu);
    GpuReport report;
    report.name = type.name;
    report.bus = gpu.pci->at("busid");
    report.compute = type.compute;
    const bool told = gpu.link.generation > 0;
    report.pcie_generation = told ? gpu.link.generation : ports_of(type).pcie_generation;
    report.pcie_lanes = told ? gpu.link.lanes : 16;
    untold_ |= !told;
    report.nvlinks.resize(gpus_.size());
    if (gpu.gpu == nullptr) {
      report.switch_links = noted_nvlinks(gpu, type);
      return report;
    }
    const std::string host = gpu.key.substr(0, gpu.key.find('/') + 1);
    for (const XmlElement& link : gpu.gpu->children)
      if (link.name == "nvlink" || link.name == "xgmi") add_links(link, host, report);
    return report;
  }

  int noted_nvlinks(const Gpu& gpu, const GpuType& type) const {
    const std::string note = noted(document_.comments, "nvlinks");
    const auto links = number_from(note, 0, kMostNvlinks);
    if (links) return *links;
    if (type.name.find("PCIe") != std::string::npos || type.compute.find('.') == std::string::npos)
      return 0;
    refuse(*gpu.pci, "is left to be filled in, and has no NVLinks",
           "give the file that NCCL writes where NCCL_TOPO_DUMP_FILE says, or add a comment "
           "<!-- nvlinks: COUNT --> with those of each GPU to a switch (0: there are none)");
  }

  void add_links(const XmlElement& link, const std::string& host, GpuReport& report) {
    const int count = number<int>(link, "count", 0, kMostNvlinks).value_or(1);
    const std::string target = lower(link.at("target")), kind = lower(link.at("tclass"));
    if (kind == kCpuClass) {
      to_cpu_ = true;
      return;
    }
    const auto at = std::ranges::find(gpus_, host + target, &Gpu::key);
    if (at != gpus_.end())
      report.nvlinks[static_cast<std::size_t>(at - gpus_.begin())] += count;
    else if (kind.starts_with(kSwitchClass))
      report.switch_links += count;
    else if (!kind.starts_with(kGpuClass))
      refuse(link, fmt::format("leads to {}, which is no device of the file", target.substr(0, 64)),
             "give the whole file as NCCL wrote it");
    else
      missing_ = true;
    if (report.switch_links > kMostNvlinks)
      refuse(link, "has more than 64 NVLinks to switches", kGiveDump);
  }

  // All network cards together are the machine's network. One is there once, also where it is
  // listed under each CPU.
  std::vector<InterfaceReport> interfaces() {
    std::map<std::tuple<std::string_view, std::string_view, std::string_view>, double> cards;
    bool remote_memory = false;
    for (const XmlElement* net : nets_) {
      const double speed = number<double>(*net, "speed", 0, kMostMbps * 100).value_or(0);
      remote_memory |= net->at("gdr") == "1" || net->at("name").starts_with("mlx");
      cards[{net->at("name"), net->at("dev"), net->at("port")}] = std::min(speed, kMostMbps);
    }
    double sum = 0;
    for (const auto& [card, speed] : cards) sum += speed;
    if (sum <= 0) return {};
    cards_ = cards.size();
    const std::string name = cards.size() == 1
                                 ? std::string(std::get<0>(cards.begin()->first))
                                 : fmt::format("{} network cards together", cards.size());
    return {{name, remote_memory, sum}};
  }

  // Of the GPU that has least; 0: not all have C2C links.
  double c2c() const {
    double least = 0;
    for (const Gpu& gpu : gpus_) {
      double own = 0;
      if (gpu.gpu == nullptr) return 0;
      for (const XmlElement& link : gpu.gpu->children)
        if (link.name == "c2c")
          own += number<double>(link, "bw", 0, kMostC2cMBps).value_or(0) *
                 number<int>(link, "count", 0, kMostNvlinks).value_or(1) / 1e3;
      if (own <= 0) return 0;
      least = least == 0 ? own : std::min(least, own);
    }
    return least;
  }

  std::string source() const {
    std::set<std::string_view> hosts;
    for (const XmlElement& cpu : document_.root.children)
      if (cpu.name == "cpu") hosts.insert(cpu.at("host_hash"));
    std::string text = fmt::format("NCCL topology: {} GPUs", gpus_.size());
    if (!name_.empty()) text += ", named by a comment";
    if (cards_ == 0) text += "; no network card is told";
    if (hosts.size() > 1)
      text += fmt::format("; its {} hosts, an NVLink domain, count as one machine", hosts.size());
    if (asleep_) text += "; PCIe links of generation 1 (asleep, or a hypervisor's) are passed over";
    if (missing_) text += "; NVLinks to GPUs that are not in the file are left out";
    if (to_cpu_) text += "; NVLinks to CPUs are left out";
    if (gap_) text += "; ranks between those of its GPUs are not in the file";
    return text;
  }

  const XmlDocument document_;
  const std::string& file_;
  const GpuCatalogue& catalogue_;
  std::string name_;  // of all GPUs; empty: none is given
  std::vector<Gpu> gpus_;
  std::vector<const XmlElement*> nets_;
  std::set<std::string> devices_;  // with GPUs, of all hosts
  std::string host_;               // of the CPU that is visited
  std::size_t cards_ = 0;
  bool asleep_ = false, missing_ = false, to_cpu_ = false, gap_ = false, untold_ = false;
};

}  // namespace

std::string nccl_cluster(std::string_view xml, const std::string& file,
                         const GpuCatalogue& catalogue) {
  return NcclReader(xml, file, catalogue).cluster();
}

}  // namespace strato
