#include "core/cluster/spec/cluster_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace strato {
namespace {

// Wide enough for any hardware, narrow enough that every time fits in 64-bit nanoseconds.
constexpr double kMinGBps = 1e-6, kMaxGBps = 1e6, kMaxLatencyUs = 1e6;
constexpr double kMostPrice = 1e6;

constexpr const char* kGpuExample = R"({"type": "V100", "count": 8})";
constexpr const char* kLinkExample = R"({"bandwidth_GBps": 12.5, "latency_us": 5})";
constexpr const char* kLeafExample =
    R"({"name": "leaf1", "machines": ["a", "b"], "bandwidth_GBps": 50})";

// These fail with an example of what to write instead.
void expect_list(const JsonView& view, const std::string& example) {
  if (!view.is_array()) view.fail("is not a list", "write [" + example + "]");
}
void expect_object(const JsonView& view, const std::string& example) {
  if (!view.is_object()) view.fail("is not an object", "write " + example);
}

double read_bandwidth(const JsonView& view) {
  refuse_written(Written::Bandwidth, view);
  return positive_between(view, kMinGBps, kMaxGBps);
}

double read_latency(const JsonView& view) {
  refuse_written(Written::Latency, view);
  return view.number(0, kMaxLatencyUs);
}

LinkSpec read_link(const JsonView& view) {
  LinkSpec link;
  link.bandwidth_gbps = read_bandwidth(view.at("bandwidth_GBps"));
  if (const auto latency = view.find("latency_us")) link.latency_us = read_latency(*latency);
  if (const auto kind = view.find("kind")) link.kind = kind->string();
  if (const auto note = view.find("note")) link.note = note->string();
  return link;
}

std::optional<LinkSpec> find_link(const JsonView& machine, std::string_view key) {
  const auto view = machine.find(key);
  if (!view) return std::nullopt;
  expect_object(*view, kLinkExample);
  view->allow_only({"kind", "bandwidth_GBps", "latency_us", "note"});
  return read_link(*view);
}

std::string read_name(const JsonView& view) {
  std::string name = view.string();
  const bool separator = std::ranges::any_of(name, [](unsigned char c) {
    return c < ' ' || kNameSeparators.find(static_cast<char>(c)) != std::string::npos;
  });
  if (name.empty() || name.size() > 64 || separator)
    view.fail("is not a machine's name", "use 1 to 64 characters without : > / and comma");
  if (std::ranges::find(kLinkNames, name) != std::end(kLinkNames))
    view.fail(fmt::format("is \"{}\", a link's name", name), "choose another name");
  return name;
}

// Reads the parts in file order and remembers what later parts refer to.
class SpecReader {
 public:
  SpecReader(const JsonView& root, const GpuCatalogue& catalogue)
      : root_(root), catalogue_(catalogue) {}

  ClusterSpec read() {
    root_.expect_format("stratoscope-cluster", 1);
    root_.allow_only({"format", "version", "name", "source", "note", "gpu_types", "machines",
                      "network", "links"});
    spec_.name = root_.at("name").string();
    if (const auto source = root_.find("source")) spec_.source = source->string();
    if (const auto note = root_.find("note")) spec_.note = note->string();
    if (const auto types = root_.find("gpu_types")) read_types(*types);
    read_machines(root_.at("machines"));
    if (const auto network = root_.find("network")) read_network(*network);
    if (const auto links = root_.find("links")) read_links(*links);
    check_connected();
    return std::move(spec_);
  }

 private:
  void read_types(const JsonView& types) {
    for (const JsonView& entry : types.items()) {
      const GpuType gpu = gpu_from_json(entry);
      if (find_as_written(inline_types_.gpus(), gpu.name) != nullptr)
        entry.fail(fmt::format("repeats the name \"{}\"", gpu.name), "name each GPU type once");
      inline_types_.add(gpu);
    }
  }

  const GpuType& find_type(const JsonView& view) const {
    const std::string name = view.string();
    if (const GpuType* gpu = inline_types_.find(name)) return *gpu;
    if (const GpuType* gpu = catalogue_.find(name)) {
      const GpuType* replaced = inline_types_.find(gpu->name);
      return replaced != nullptr ? *replaced : *gpu;
    }
    const std::vector<std::string> near = catalogue_.nearest(name);
    view.fail(fmt::format("\"{}\" is not a known GPU", name.substr(0, 64)),
              near.empty()
                  ? "describe it in gpu_types"
                  : fmt::format("nearest: {}; or describe it in gpu_types", fmt::join(near, ", ")));
  }

  void read_machines(const JsonView& machines) {
    expect_list(machines, R"({"name": "node", "count": 2, "gpus": …, "nic": …})");
    const std::vector<JsonView> entries = machines.items();
    if (entries.empty()) machines.fail("has no machine", "give at least one");
    for (const JsonView& entry : entries) {
      MachineSpec machine = read_machine(entry);
      for (const std::string& name : machine.names()) {
        if (machines_.insert(name).second) continue;
        entry.at("name").fail(fmt::format("\"{}\" names two machines", name),
                              "give every machine a name of its own");
      }
      spec_.machines.push_back(std::move(machine));
    }
    check_prices(entries);
  }

  // A cluster with prices of some machines only would look cheaper than it is.
  void check_prices(const std::vector<JsonView>& entries) const {
    const auto has_price = [](const MachineSpec& m) { return m.price_per_hour.has_value(); };
    const auto priced = std::ranges::find_if(spec_.machines, has_price);
    const auto free = std::ranges::find_if_not(spec_.machines, has_price);
    if (priced == spec_.machines.end() || free == spec_.machines.end()) return;
    entries[static_cast<std::size_t>(free - spec_.machines.begin())].fail(
        fmt::format("has no \"price_per_hour\", and \"{}\" has one", priced->name),
        "give every machine one (0 is a price, too), or none");
  }

  MachineSpec read_machine(const JsonView& view) {
    view.allow_only({"name", "count", "gpus", "fabric", "host_link", "nic", "host_memory_bytes",
                     "note", "price_per_hour"});
    MachineSpec machine;
    machine.name = read_name(view.at("name"));
    if (const auto count = view.find("count")) machine.count = count->integer(1, kMaxDevices);
    const JsonView gpus = view.at("gpus");
    expect_list(gpus, kGpuExample);
    std::int64_t devices = 0;
    for (const JsonView& entry : gpus.items()) {
      machine.gpus.push_back(read_gpus(entry, machine.gpus));
      devices += machine.gpus.back().count;
    }
    if (devices == 0) gpus.fail("has no device", "give at least one GPU");
    devices_ += devices * machine.count;
    if (devices_ > kMaxDevices)
      view.fail(fmt::format("makes {} devices in all", devices_),
                fmt::format("a cluster has at most {}", kMaxDevices));
    machine.fabric = find_link(view, "fabric");
    machine.host_link = find_link(view, "host_link");
    machine.nic = find_link(view, "nic");
    if (const auto memory = view.find("host_memory_bytes")) {
      refuse_written(Written::Memory, *memory);
      machine.host_memory = Bytes(memory->integer(1, std::int64_t{1} << 50));
    }
    if (const auto note = view.find("note")) machine.note = note->string();
    if (const auto price = view.find("price_per_hour"))
      machine.price_per_hour = price->number(0, kMostPrice);
    if (devices > 1 && !machine.fabric)
      view.fail("has several GPUs and no \"fabric\"", "add the link that joins them");
    return machine;
  }

  GpuCount read_gpus(const JsonView& view, const std::vector<GpuCount>& before) {
    expect_object(view, kGpuExample);
    view.allow_only({"type", "count"});
    const JsonView type = view.at("type");
    const GpuType& gpu = find_type(type);
    if (std::ranges::find(before, gpu.name, &GpuCount::type) != before.end())
      type.fail(fmt::format("repeats \"{}\"", gpu.name), "give each GPU type of a machine once");
    if (std::ranges::find(spec_.gpus, gpu.name, &GpuType::name) == spec_.gpus.end())
      spec_.gpus.push_back(gpu);
    const auto count = view.find("count");
    return {gpu.name, count ? count->integer(1, kMaxDevices) : 1};
  }

  void read_network(const JsonView& view) {
    expect_object(view, R"({"latency_us": 1})");
    view.allow_only({"kind", "latency_us", "bandwidth_GBps", "note", "leaves"});
    NetworkSpec network;
    if (const auto latency = view.find("latency_us")) network.latency_us = read_latency(*latency);
    if (const auto bandwidth = view.find("bandwidth_GBps"))
      network.bandwidth_gbps = read_bandwidth(*bandwidth);
    if (const auto note = view.find("note")) network.note = note->string();
    if (const auto leaves = view.find("leaves")) {
      expect_list(*leaves, kLeafExample);
      for (const JsonView& entry : leaves->items()) network.leaves.push_back(read_leaf(entry));
    }
    spec_.network = std::move(network);
  }

  LeafSpec read_leaf(const JsonView& view) {
    expect_object(view, kLeafExample);
    view.allow_only({"name", "machines", "kind", "bandwidth_GBps", "latency_us", "note"});
    LeafSpec leaf;
    leaf.name = read_name(view.at("name"));
    if (machines_.contains(leaf.name) || !leaves_.insert(leaf.name).second)
      view.at("name").fail(fmt::format("\"{}\" names something else, too", leaf.name),
                           "give every leaf and machine a name of its own");
    for (const JsonView& machine : view.at("machines").items()) {
      leaf.machines.push_back(machine_name(machine));
      if (!in_leaves_.insert(leaf.machines.back()).second)
        machine.fail(fmt::format("\"{}\" is in two leaves", leaf.machines.back()),
                     "give each machine once");
    }
    leaf.uplink = read_link(view);
    return leaf;
  }

  std::string machine_name(const JsonView& view) const {
    std::string name = view.string();
    if (!machines_.contains(name))
      view.fail(fmt::format("\"{}\" is not a machine", name.substr(0, 64)),
                fmt::format("machines: {}", fmt::join(machines_, ", ")));
    return name;
  }

  void read_links(const JsonView& links) {
    expect_list(links, R"({"between": ["a", "b"], "bandwidth_GBps": 12.5})");
    for (const JsonView& entry : links.items()) {
      expect_object(entry, R"({"between": ["a", "b"], "bandwidth_GBps": 12.5})");
      entry.allow_only({"between", "kind", "bandwidth_GBps", "latency_us", "note"});
      const JsonView between = entry.at("between");
      const std::vector<JsonView> ends = between.items();
      if (ends.size() != 2) between.fail("does not name two machines", "write [\"a\", \"b\"]");
      PairSpec pair{machine_name(ends[0]), machine_name(ends[1]), read_link(entry)};
      if (pair.from == pair.to)
        between.fail(fmt::format("joins \"{}\" with itself", pair.from), "name two machines");
      if (!pairs_.insert(std::minmax(pair.from, pair.to)).second)
        between.fail(fmt::format("joins \"{}\" and \"{}\" again", pair.from, pair.to),
                     "give each pair once");
      spec_.links.push_back(std::move(pair));
    }
  }

  // Every two machines meet over a link of their own, or over their NICs and the network.
  void check_connected() const {
    const std::size_t all_pairs = machines_.size() * (machines_.size() - 1) / 2;
    if (pairs_.size() == all_pairs) return;
    if (!spec_.network)
      root_.fail("has several machines and no \"network\"",
                 "add \"network\": {\"latency_us\": 1}, or a link between each pair in \"links\"");
    const std::vector<JsonView> entries = root_.at("machines").items();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const MachineSpec& machine = spec_.machines[i];
      if (machine.nic) continue;
      for (const std::string& name : machine.names()) {
        const auto own = std::count_if(pairs_.begin(), pairs_.end(), [&](const auto& pair) {
          return pair.first == name || pair.second == name;
        });
        if (static_cast<std::size_t>(own) + 1 == machines_.size()) continue;
        entries[i].fail("has no \"nic\"", "add it: other machines are reached over the network");
      }
    }
  }

  const JsonView& root_;
  const GpuCatalogue& catalogue_;
  ClusterSpec spec_;
  GpuCatalogue inline_types_;
  std::set<std::string> machines_;
  std::set<std::pair<std::string, std::string>> pairs_;  // smaller name first
  std::set<std::string> leaves_, in_leaves_;
  std::int64_t devices_ = 0;
};

Json link_to_json(const LinkSpec& link) {
  Json json = Json::object();
  if (!link.kind.empty()) json["kind"] = link.kind;
  json["bandwidth_GBps"] = link.bandwidth_gbps;
  json["latency_us"] = link.latency_us;
  if (!link.note.empty()) json["note"] = link.note;
  return json;
}

Json machine_to_json(const MachineSpec& machine) {
  Json json = {{"name", machine.name}};
  if (machine.count > 1) json["count"] = machine.count;
  Json& gpus = json["gpus"] = Json::array();
  for (const GpuCount& gpu : machine.gpus)
    gpus.push_back(Json{{"type", gpu.type}, {"count", gpu.count}});
  if (machine.fabric) json["fabric"] = link_to_json(*machine.fabric);
  if (machine.host_link) json["host_link"] = link_to_json(*machine.host_link);
  if (machine.nic) json["nic"] = link_to_json(*machine.nic);
  if (machine.host_memory) json["host_memory_bytes"] = machine.host_memory->value;
  if (!machine.note.empty()) json["note"] = machine.note;
  if (machine.price_per_hour) json["price_per_hour"] = *machine.price_per_hour;
  return json;
}

}  // namespace

std::vector<std::string> MachineSpec::names() const {
  if (count == 1) return {name};
  std::vector<std::string> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(fmt::format("{}-{}", name, i));
  return result;
}

ClusterSpec read_spec(const JsonView& root, const GpuCatalogue& catalogue) {
  return SpecReader(root, catalogue).read();
}

ClusterSpec spec_of(const Cluster& cluster) {
  return read_spec(JsonView::parse(cluster.json(), cluster.name()), GpuCatalogue());
}

Json spec_to_json(const ClusterSpec& spec) {
  Json json = {{"format", "stratoscope-cluster"}, {"version", 1}, {"name", spec.name}};
  if (!spec.source.empty()) json["source"] = spec.source;
  if (!spec.note.empty()) json["note"] = spec.note;
  Json& types = json["gpu_types"] = Json::array();
  for (const GpuType& gpu : spec.gpus) types.push_back(gpu_to_json(gpu));
  Json& machines = json["machines"] = Json::array();
  for (const MachineSpec& machine : spec.machines) machines.push_back(machine_to_json(machine));
  if (spec.network) {
    json["network"]["latency_us"] = spec.network->latency_us;
    if (spec.network->bandwidth_gbps)
      json["network"]["bandwidth_GBps"] = *spec.network->bandwidth_gbps;
    if (!spec.network->note.empty()) json["network"]["note"] = spec.network->note;
    for (const LeafSpec& leaf : spec.network->leaves) {
      Json entry = {{"name", leaf.name}, {"machines", leaf.machines}};
      entry.update(link_to_json(leaf.uplink));
      json["network"]["leaves"].push_back(std::move(entry));
    }
  }
  for (const PairSpec& pair : spec.links) {
    Json link = {{"between", Json::array({pair.from, pair.to})}};
    link.update(link_to_json(pair.link));
    json["links"].push_back(std::move(link));
  }
  return json;
}

}  // namespace strato
