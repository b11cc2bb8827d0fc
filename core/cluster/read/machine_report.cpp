#include "core/cluster/read/machine_report.h"

#include <fmt/format.h>

#include "core/io/json.h"

namespace strato {
namespace {

constexpr const char* kReportFormat = "stratoscope-machine";
constexpr std::size_t kMostEntries = 256;  // GPUs, and interfaces
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

Json gpu_report_json(const GpuReport& gpu) {
  return {{"name", gpu.name},
          {"bus", gpu.bus},
          {"memory_bytes", gpu.memory.value},
          {"cores", gpu.cores},
          {"clock_MHz", gpu.clock_mhz},
          {"memory_clock_MHz", gpu.memory_clock_mhz},
          {"memory_bus_bits", gpu.memory_bus_bits},
          {"compute", gpu.compute},
          {"pcie_generation", gpu.pcie_generation},
          {"pcie_lanes", gpu.pcie_lanes},
          {"nvlink_GBps", gpu.nvlink_gbps},
          {"nvlinks", gpu.nvlinks},
          {"switch_links", gpu.switch_links},
          {"mig", gpu.mig}};
}

GpuReport gpu_report_from(const JsonView& view) {
  GpuReport gpu;
  gpu.name = view.at("name").string();
  gpu.bus = view.at("bus").string();
  gpu.memory = Bytes(view.at("memory_bytes").integer(0, kMostBytes));
  gpu.cores = static_cast<int>(view.at("cores").integer(0, 1'000'000));
  gpu.clock_mhz = view.at("clock_MHz").number(0, 1e5);
  gpu.memory_clock_mhz = view.at("memory_clock_MHz").number(0, 1e6);
  gpu.memory_bus_bits = static_cast<int>(view.at("memory_bus_bits").integer(0, 1'000'000));
  gpu.compute = view.at("compute").string();
  gpu.pcie_generation = static_cast<int>(view.at("pcie_generation").integer(0, 100));
  gpu.pcie_lanes = static_cast<int>(view.at("pcie_lanes").integer(0, 1024));
  gpu.nvlink_gbps = view.at("nvlink_GBps").number(0, 1e5);
  for (const JsonView& links : view.at("nvlinks").items())
    gpu.nvlinks.push_back(static_cast<int>(links.integer(0, 1024)));
  gpu.switch_links = static_cast<int>(view.at("switch_links").integer(0, 1024));
  gpu.mig = view.at("mig").boolean();
  return gpu;
}

InterfaceReport interface_from(const JsonView& view) {
  return {view.at("name").string(), view.at("infiniband").boolean(),
          view.at("Mbps").number(0, 1e9)};
}

std::vector<JsonView> entries_of(const JsonView& view) {
  std::vector<JsonView> entries = view.items();
  if (entries.size() > kMostEntries)
    view.fail(fmt::format("has {} entries", entries.size()), "no machine has so many");
  return entries;
}

}  // namespace

std::string to_json(const MachineReport& report) {
  Json json = {{"format", kReportFormat},
               {"version", MachineReport::kVersion},
               {"host", report.host},
               {"cpu", report.cpu},
               {"cores", report.cores},
               {"cpu_MHz", report.cpu_mhz},
               {"fp32_lanes", report.fp32_lanes},
               {"memory_bytes", report.memory.value},
               {"driver", report.driver},
               {"gpu_problem", report.gpu_problem}};
  Json& gpus = json["gpus"] = Json::array();
  for (const GpuReport& gpu : report.gpus) gpus.push_back(gpu_report_json(gpu));
  Json& interfaces = json["interfaces"] = Json::array();
  for (const InterfaceReport& each : report.interfaces)
    interfaces.push_back(
        {{"name", each.name}, {"infiniband", each.infiniband}, {"Mbps", each.mbps}});
  return json_text(json);  // drivers need not say UTF-8
}

MachineReport parse_machine_report(std::string_view json, const std::string& name) {
  const JsonView root = JsonView::parse(json, name);
  root.expect_format(kReportFormat, MachineReport::kVersion);
  MachineReport report;
  report.host = root.at("host").string();
  report.cpu = root.at("cpu").string();
  report.cores = static_cast<int>(root.at("cores").integer(0, 1'000'000));
  report.cpu_mhz = root.at("cpu_MHz").number(0, 1e5);
  report.fp32_lanes = static_cast<int>(root.at("fp32_lanes").integer(0, 1024));
  report.memory = Bytes(root.at("memory_bytes").integer(0, kMostBytes));
  report.driver = root.at("driver").string();
  report.gpu_problem = root.at("gpu_problem").string();
  for (const JsonView& gpu : entries_of(root.at("gpus")))
    report.gpus.push_back(gpu_report_from(gpu));
  for (const JsonView& each : entries_of(root.at("interfaces")))
    report.interfaces.push_back(interface_from(each));
  return report;
}

}  // namespace strato
