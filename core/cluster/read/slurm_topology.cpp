#include "core/cluster/read/slurm_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/cluster/read/discovered_cluster.h"
#include "core/cluster/read/gpu_ports.h"
#include "core/cluster/slurm/slurm_configuration.h"
#include "core/cluster/spec/cluster_spec.h"

namespace strato {
namespace {

// Machines and leaves of what Slurm's configuration says.
class SlurmCluster {
 public:
  SlurmCluster(const SlurmConfiguration& given, const std::string& file,
               const GpuCatalogue& catalogue)
      : given_(given), file_(file), catalogue_(catalogue) {}

  ClusterSpec make() && {
    spec_.name = std::filesystem::path(file_).stem().string();
    for (const SlurmSwitch& each : given_.switches) add_switch(each);
    for (const auto& [node, line] : given_.order)
      if (!placed_.contains(node)) add_node(node, line);
    if (spec_.machines.empty()) refuse(1, "has no node with GPUs", kGiveSlurmGpus);
    if (spec_.machines.size() > 1 && !given_.nic)
      refuse(1, "nothing says how fast the nodes' network is",
             "add a line \"# nic: 8 x 400 Gb/s\" with the network cards of a node");
    spec_.network = network_;
    spec_.network->latency_us = 1;
    spec_.network->note = "latency of the switches assumed";
    spec_.source = source();
    return std::move(spec_);
  }

 private:
  [[noreturn]] void refuse(std::size_t line, const std::string& problem,
                           const std::string& remedy) const {
    throw InputError(file_, fmt::format("line {}", line), problem, remedy);
  }

  // Empty: it has none. Several of one type become one entry.
  std::vector<GpuCount> gpus_of(const std::string& node, std::size_t line) const {
    const auto known = given_.nodes.find(node);
    std::vector<GpuCount> gpus =
        known == given_.nodes.end() ? std::vector<GpuCount>() : known->second.gpus;
    if (gpus.empty() && given_.counted) gpus = {*given_.usual};
    if (gpus.empty() && known == given_.nodes.end())
      refuse(line, fmt::format("nothing says which GPUs node {} has", node.substr(0, 64)),
             kGiveSlurmGpus);
    std::vector<GpuCount> merged;
    for (GpuCount& gpu : gpus) {
      if (gpu.type.empty() && !given_.usual)
        refuse(known->second.line, "Gres does not say which GPUs they are",
               "write Gres=gpu:TYPE:COUNT, or add a line \"# gpu: NAME\"");
      if (gpu.type.empty()) gpu.type = given_.usual->type;
      const auto same = std::ranges::find(merged, gpu.type, &GpuCount::type);
      if (same == merged.end())
        merged.push_back(gpu);
      else
        same->count += gpu.count;
    }
    return merged;
  }

  // Multi-node NVLink joins the trays of a rack.
  static bool spans_nodes(const std::vector<GpuCount>& gpus) {
    return gpus.size() == 1 &&
           (gpus[0].type.starts_with("GB200") || gpus[0].type.starts_with("GB300"));
  }

  void add_switch(const SlurmSwitch& each) {
    if (each.block && !each.nodes.empty() && spans_nodes(gpus_of(each.nodes[0], each.line)))
      return add_domain(each);
    LeafSpec leaf;
    leaf.name = each.name;
    for (const std::string& node : each.nodes) {
      placed_.insert(node);
      if (add_node(node, each.line)) leaf.machines.push_back(node);
    }
    if (leaf.machines.empty() || !given_.nic || (!given_.uplinks && !given_.oversubscription))
      return;
    const double all = *given_.nic * static_cast<double>(leaf.machines.size());
    leaf.uplink = {
        "uplinks",
        given_.uplinks ? *given_.uplinks / 8e3 : all / given_.oversubscription.value_or(1) / 8e3, 0,
        given_.uplinks ? "given"
                       : fmt::format("the nodes' network cards, oversubscribed {:g} to 1",
                                     *given_.oversubscription)};
    network_.leaves.push_back(std::move(leaf));
  }

  void add_domain(const SlurmSwitch& block) {
    std::vector<GpuCount> all = {{gpus_of(block.nodes[0], block.line)[0].type, 0}};
    for (const std::string& node : block.nodes) {
      placed_.insert(node);
      const auto gpus = gpus_of(node, block.line);
      if (!spans_nodes(gpus) || gpus[0].type != all[0].type)
        refuse(block.line,
               fmt::format("block {} has several kinds of nodes", block.name.substr(0, 64)),
               "give each kind a block of its own");
      all[0].count += gpus[0].count;
    }
    add_machine(block.name, all, static_cast<double>(block.nodes.size()), block.line);
    domains_ = true;
  }

  // False: it has no GPUs.
  bool add_node(const std::string& node, std::size_t line) {
    const auto gpus = gpus_of(node, line);
    if (gpus.empty()) {
      ++without_gpus_;
      return false;
    }
    add_machine(node, gpus, 1, line);
    return true;
  }

  // With the network cards of as many nodes.
  void add_machine(const std::string& name, const std::vector<GpuCount>& gpus, double nodes,
                   std::size_t line) {
    for (const GpuCount& gpu : gpus) devices_ += gpu.count;
    if (devices_ > kMaxDevices)
      refuse(line, fmt::format("makes more than {} devices", kMaxDevices),
             "give a part of the cluster");
    const std::string key = fmt::format("{} {}", nodes, describe(gpus));
    auto known = kinds_.find(key);
    if (known == kinds_.end()) known = kinds_.emplace(key, kind_of(gpus, nodes)).first;
    spec_.machines.push_back(known->second);
    spec_.machines.back().name = name;
  }

  static std::string describe(const std::vector<GpuCount>& gpus) {
    std::string text;
    for (const GpuCount& gpu : gpus) text += fmt::format("{} x {} ", gpu.count, gpu.type);
    return text;
  }

  MachineSpec kind_of(const std::vector<GpuCount>& gpus, double nodes) {
    MachineReport report;
    report.host = "node";
    for (const GpuCount& gpu : gpus)
      report.gpus.insert(report.gpus.end(), static_cast<std::size_t>(gpu.count),
                         assumed_report(*catalogue_.find(gpu.type)));
    for (GpuReport& gpu : report.gpus) spread_links(gpu, report.gpus.size());
    if (given_.nic) report.interfaces = {{"the network cards given", true, *given_.nic * nodes}};
    DiscoveryText text;
    text.pcie_source = "16 lanes of the generation that the GPU's architecture has";
    ClusterSpec scratch;
    scratch.gpus = spec_.gpus;
    strato::add_machine(report, text, catalogue_, scratch);
    spec_.gpus = scratch.gpus;
    scratch.machines[0].note =
        "described by Slurm; how its GPUs are joined follows from their kind";
    return scratch.machines[0];
  }

  static GpuReport assumed_report(const GpuType& type) {
    GpuReport report;
    report.name = type.name;
    report.compute = type.compute;
    report.pcie_generation = ports_of(type).pcie_generation;
    report.pcie_lanes = 16;
    report.switch_links = board_links_of(type);
    return report;
  }

  // AMD's boards have no switch: each GPU's links go to the other ones.
  static void spread_links(GpuReport& gpu, std::size_t gpus) {
    if (!gpu.compute.starts_with("gfx") || gpus < 2) return;
    gpu.nvlinks.assign(gpus, gpu.switch_links / static_cast<int>(gpus - 1));
    gpu.switch_links = 0;
  }

  std::string source() const {
    std::string text =
        fmt::format("Slurm's configuration: {} nodes with GPUs", spec_.machines.size());
    if (domains_)
      text += " (the nodes of a block of GB200 or GB300, an NVLink domain, count as one)";
    if (without_gpus_ > 0) text += fmt::format("; {} without GPUs left out", without_gpus_);
    if (given_.switches.empty())
      text += "; no switches told, the network taken as wide enough";
    else if (network_.leaves.empty())
      text +=
          "; no uplinks told, the switches taken as wide enough (add a line \"# oversubscription: "
          "3\")";
    else
      text += "; uplinks of the leaf switches as a line says, those above taken as wide enough";
    if (given_.several) text += "; nodes of several switches count with the first";
    if (given_.has_speeds) text += "; LinkSpeed has no unit and is not used";
    return text;
  }

  const SlurmConfiguration& given_;
  const std::string& file_;
  const GpuCatalogue& catalogue_;
  std::set<std::string> placed_;
  std::map<std::string, MachineSpec> kinds_;
  std::size_t without_gpus_ = 0;
  std::int64_t devices_ = 0;
  bool domains_ = false;
  ClusterSpec spec_;
  NetworkSpec network_;
};

}  // namespace

std::string slurm_cluster(std::string_view text, const std::string& file,
                          const GpuCatalogue& catalogue) {
  const SlurmConfiguration given = parse_slurm_configuration(text, file, catalogue);
  return json_text(spec_to_json(SlurmCluster(given, file, catalogue).make()), 2) + "\n";
}

}  // namespace strato
