#include "core/cluster/read/slurm_topology.h"

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
#include "core/cluster/read/hostlist.h"
#include "core/cluster/read/words.h"
#include "core/cluster/spec/cluster_spec.h"

namespace strato {
namespace {

constexpr std::string_view kSpaces = " \t\r";
constexpr std::size_t kMostNames = 4 * kMaxDevices;  // in all lists together
constexpr const char* kGiveGpus =
    "append the NodeName= lines of slurm.conf with Gres=gpu:TYPE:COUNT, or a line \"# gpu: NAME x "
    "COUNT\" with a name of stratoscope-cli list gpus";

bool begins_with(std::string_view text, std::string_view prefix) {
  return same_ignoring_case(text.substr(0, prefix.size()), prefix);
}

// What stands between two characters, or all that follows where the second one is not there.
std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// "8 x 400": a count and what it counts; the count is 1 where there is none.
std::pair<std::int64_t, std::string_view> counted_at(std::string_view text, bool behind) {
  const std::size_t at = behind ? text.rfind(" x ") : text.find(" x ");
  if (at == std::string_view::npos) return {1, text};
  const std::string_view before = trimmed_word(text.substr(0, at)),
                         after = trimmed_word(text.substr(at + 3));
  const auto count = number_from<std::int64_t>(behind ? after : before, 1, kMaxDevices);
  if (!count) return {0, text};
  return {*count, behind ? before : after};
}

struct Line {
  std::size_t number;  // from 1
  std::string text;
};

// Lines that end with a backslash go on in the next one.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  bool goes_on = false;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trimmed_word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const bool more = line.ends_with('\\');
    if (more) line.remove_suffix(1);
    if (!goes_on) lines.push_back({number, {}});
    lines.back().text += line;
    goes_on = more;
  }
  return lines;
}

// By key, in lower case; what stands in quotes may have spaces.
std::map<std::string, std::string> settings_in(std::string_view line) {
  std::map<std::string, std::string> settings;
  while (!(line = trimmed_word(line)).empty()) {
    const std::size_t equals = line.find_first_of("= \t");
    std::string key(line.substr(0, equals));
    std::ranges::transform(key, key.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    line.remove_prefix(std::min(key.size(), line.size()));
    if (!line.starts_with('=')) continue;
    line.remove_prefix(1);
    const bool quoted = line.starts_with('"');
    if (quoted) line.remove_prefix(1);
    const std::size_t end = std::min(line.find_first_of(quoted ? "\"" : kSpaces), line.size());
    settings[key] = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return settings;
}

struct Node {
  std::size_t line = 0;
  std::vector<GpuCount> gpus;
};

struct Switch {
  std::size_t line = 0;
  std::string name;
  bool block = false;
  std::vector<std::string> nodes, switches;
};

class SlurmReader {
 public:
  SlurmReader(std::string_view text, const std::string& file, const GpuCatalogue& catalogue)
      : file_(file), catalogue_(catalogue) {
    for (const Line& line : lines_of(text)) read_line(line);
  }

  std::string cluster() {
    check_switches();
    spec_.name = std::filesystem::path(file_).stem().string();
    for (const Switch& each : switches_) add_switch(each);
    for (const auto& [node, line] : order_)
      if (!placed_.contains(node)) add_node(node, line);
    if (spec_.machines.empty()) refuse(1, "has no node with GPUs", kGiveGpus);
    if (spec_.machines.size() > 1 && !nic_)
      refuse(1, "nothing says how fast the nodes' network is",
             "add a line \"# nic: 8 x 400 Gb/s\" with the network cards of a node");
    spec_.network = network_;
    spec_.network->latency_us = 1;
    spec_.network->note = "latency of the switches assumed";
    spec_.source = source();
    return json_text(spec_to_json(spec_), 2) + "\n";
  }

 private:
  [[noreturn]] void refuse(std::size_t line, const std::string& problem,
                           const std::string& remedy) const {
    throw InputError(file_, fmt::format("line {}", line), problem, remedy);
  }

  void read_line(const Line& line) {
    const std::size_t hash = line.text.find('#');
    const std::string_view all = line.text, before = trimmed_word(all.substr(0, hash));
    if (before.empty() && hash != std::string::npos) {
      read_note(trimmed_word(all.substr(hash + 1)), line.number);
      return;
    }
    if (read_note(before, line.number)) return;
    const auto settings = settings_in(before);
    const auto has = [&](const char* key) { return settings.contains(key); };
    if (has("switchname") || has("blockname")) return read_switch(settings, line.number);
    if (has("nodename")) read_nodes(settings, line.number);
  }

  // "gpu: NAME x COUNT" and others that Slurm does not have.
  bool read_note(std::string_view text, std::size_t line) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view key = text.substr(0, colon),
                           value = trimmed_word(text.substr(colon + 1));
    if (same_ignoring_case(key, "gpu")) {
      const auto [count, name] = counted_at(value, true);
      counted_ = name.size() != value.size();
      usual_ = {known_gpu(name, line), count};
    } else if (same_ignoring_case(key, "nic")) {
      nic_ = rate_from(value, line);
    } else if (same_ignoring_case(key, "uplinks")) {
      uplinks_ = rate_from(value, line);
    } else if (same_ignoring_case(key, "oversubscription")) {
      const auto factor = number_from<double>(value.substr(0, value.find_first_of(": ")), 1, 1024);
      if (!factor)
        refuse(line, "has no oversubscription from 1 to 1024", "write \"# oversubscription: 3\"");
      oversubscription_ = *factor;
    } else {
      return false;
    }
    return true;
  }

  // 10^6 bits per second.
  double rate_from(std::string_view text, std::size_t line) const {
    const auto [count, rate] = counted_at(text, false);
    const std::size_t end = std::min(rate.find_first_not_of("0123456789."), rate.size());
    const auto number = number_from<double>(rate.substr(0, end), 0, 1e6);
    const std::string_view unit = trimmed_word(rate.substr(end));
    const bool bytes = unit.starts_with("GB");
    if (count == 0 || !number || *number <= 0 || !begins_with(unit, "gb"))
      refuse(line, fmt::format("\"{}\" is no bandwidth", text.substr(0, 64)),
             "write \"8 x 400 Gb/s\", or the sum");
    return *number * static_cast<double>(count) * (bytes ? 8e3 : 1e3);
  }

  std::string known_gpu(std::string_view name, std::size_t line) const {
    if (const GpuType* type = catalogue_.find(name)) return type->name;
    refuse(line, fmt::format("the GPU \"{}\" is not known", name.substr(0, 64)),
           fmt::format("nearest: {}; or another of stratoscope-cli list gpus",
                       fmt::join(catalogue_.nearest(name), ", ")));
  }

  std::vector<std::string> hosts(std::string_view list, std::size_t line) {
    auto names = hosts_in(list, kMostNames - names_);
    if (!names)
      refuse(line,
             fmt::format("\"{}\" is no list of hosts, or one of too many", list.substr(0, 64)),
             fmt::format("write n[01-32,40]; a cluster has at most {} devices", kMaxDevices));
    names_ += names->size();
    return *std::move(names);
  }

  void read_switch(const std::map<std::string, std::string>& settings, std::size_t line) {
    Switch added;
    added.line = line;
    for (const auto& [key, value] : settings) {
      if (key == "switchname" || key == "blockname") added.name = value;
      if (key == "nodes") added.nodes = hosts(value, line);
      if (key == "switches") added.switches = hosts(value, line);
    }
    added.block = settings.contains("blockname");
    has_speeds_ |= settings.contains("linkspeed");
    if (!switch_names_.insert(added.name).second)
      refuse(line, fmt::format("has a second switch {}", added.name.substr(0, 64)),
             "give every switch once");
    // Slurm lets a node hang on several switches: the first one has it here.
    several_ |= std::erase_if(added.nodes, [&](const std::string& node) {
                  return !in_switch_.insert(node).second;
                }) > 0;
    switches_.push_back(std::move(added));
  }

  void read_nodes(const std::map<std::string, std::string>& settings, std::size_t line) {
    const std::string& list = settings.at("nodename");
    const auto gres = settings.find("gres");
    Node node{line, gres == settings.end() ? default_gpus_ : gpus_in(gres->second, line)};
    if (same_ignoring_case(list, "default")) {
      default_gpus_ = node.gpus;
      return;
    }
    for (const std::string& name : hosts(list, line)) {
      if (!nodes_.try_emplace(name, node).second)
        refuse(line, fmt::format("has a second node {}", name.substr(0, 64)),
               "give every node once");
      order_.emplace_back(name, line);
    }
  }

  // "gpu:h100:8(S:0-1),gpu:a100:2,nvme:4"; a bare "gpu:8" has an empty type.
  std::vector<GpuCount> gpus_in(std::string_view gres, std::size_t line) const {
    std::vector<GpuCount> gpus;
    int depth = 0;
    std::string plain;
    for (const char c : gres) {
      depth += (c == '(') - (c == ')');
      if (depth == 0 && c != ')') plain += c;
    }
    for (const std::string_view each : parts_of(plain, ",")) {
      const auto parts = parts_of(each, ":");
      if (parts.empty() || !same_ignoring_case(parts[0], "gpu")) continue;
      const auto count = number_from<std::int64_t>(parts.back());
      const bool typed = parts.size() > 2 || (parts.size() == 2 && !count);
      if (count && (*count < 0 || *count > kMaxDevices))
        refuse(line, fmt::format("has {} GPUs in a node", *count), "give the number there is");
      if (count.value_or(1) == 0) continue;
      gpus.push_back({typed ? known_gpu(parts[1], line) : std::string(), count.value_or(1)});
    }
    return gpus;
  }

  void check_switches() const {
    for (const Switch& each : switches_)
      for (const std::string& below : each.switches)
        if (!switch_names_.contains(below))
          refuse(each.line, fmt::format("switch {} is not there", below.substr(0, 64)),
                 "give the whole topology.conf");
  }

  // Empty: it has none. Several of one type become one entry.
  std::vector<GpuCount> gpus_of(const std::string& node, std::size_t line) const {
    const auto known = nodes_.find(node);
    std::vector<GpuCount> gpus =
        known == nodes_.end() ? std::vector<GpuCount>() : known->second.gpus;
    if (gpus.empty() && counted_) gpus = {*usual_};
    if (gpus.empty() && known == nodes_.end())
      refuse(line, fmt::format("nothing says which GPUs node {} has", node.substr(0, 64)),
             kGiveGpus);
    std::vector<GpuCount> merged;
    for (GpuCount& gpu : gpus) {
      if (gpu.type.empty() && !usual_)
        refuse(known->second.line, "Gres does not say which GPUs they are",
               "write Gres=gpu:TYPE:COUNT, or add a line \"# gpu: NAME\"");
      if (gpu.type.empty()) gpu.type = usual_->type;
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

  void add_switch(const Switch& each) {
    if (each.block && !each.nodes.empty() && spans_nodes(gpus_of(each.nodes[0], each.line)))
      return add_domain(each);
    LeafSpec leaf;
    leaf.name = each.name;
    for (const std::string& node : each.nodes) {
      placed_.insert(node);
      if (add_node(node, each.line)) leaf.machines.push_back(node);
    }
    if (leaf.machines.empty() || !nic_ || (!uplinks_ && !oversubscription_)) return;
    const double all = *nic_ * static_cast<double>(leaf.machines.size());
    leaf.uplink = {"uplinks",
                   uplinks_ ? *uplinks_ / 8e3 : all / oversubscription_.value_or(1) / 8e3, 0,
                   uplinks_ ? "given"
                            : fmt::format("the nodes' network cards, oversubscribed {:g} to 1",
                                          *oversubscription_)};
    network_.leaves.push_back(std::move(leaf));
  }

  void add_domain(const Switch& block) {
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
    if (nic_) report.interfaces = {{"the network cards given", true, *nic_ * nodes}};
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
    if (switches_.empty())
      text += "; no switches told, the network taken as wide enough";
    else if (network_.leaves.empty())
      text +=
          "; no uplinks told, the switches taken as wide enough (add a line \"# oversubscription: "
          "3\")";
    else
      text += "; uplinks of the leaf switches as a line says, those above taken as wide enough";
    if (several_) text += "; nodes of several switches count with the first";
    if (has_speeds_) text += "; LinkSpeed has no unit and is not used";
    return text;
  }

  const std::string& file_;
  const GpuCatalogue& catalogue_;
  std::vector<Switch> switches_;
  std::map<std::string, Node> nodes_;
  std::vector<std::pair<std::string, std::size_t>>
      order_;  // of nodes that have a line, and the line
  std::set<std::string> switch_names_, in_switch_, placed_;
  std::vector<GpuCount> default_gpus_;
  std::optional<GpuCount> usual_;
  bool counted_ = false;  // the usual ones have a count
  std::optional<double> nic_, uplinks_, oversubscription_;
  std::size_t names_ = 0, without_gpus_ = 0;
  std::int64_t devices_ = 0;
  bool has_speeds_ = false, domains_ = false, several_ = false;
  std::map<std::string, MachineSpec> kinds_;
  ClusterSpec spec_;
  NetworkSpec network_;
};

}  // namespace

bool is_slurm_configuration(std::string_view text) {
  for (const char* key : {"switchname=", "blockname=", "nodename="})
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      if (begins_with(trimmed_word(text.substr(begin, end - begin)), key)) return true;
      begin = end + 1;
    }
  return false;
}

std::string slurm_cluster(std::string_view text, const std::string& file,
                          const GpuCatalogue& catalogue) {
  return SlurmReader(text, file, catalogue).cluster();
}

}  // namespace strato
