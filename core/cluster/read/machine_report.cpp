#include "core/cluster/read/machine_report.h"

#include <fmt/format.h>

#include "core/io/json.h"

namespace strato {
namespace {

constexpr const char* kReportFormat = "stratoscope-machine";
constexpr std::size_t kMostGpus = 256, kMostInterfaces = 256;
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

template <class T, class Read>
std::vector<T> list_from(const JsonView& view, std::size_t most, Read read) {
  const std::vector<JsonView> items = view.items();
  if (items.size() > most)
    view.fail(fmt::format("has {} entries", items.size()), "no machine has so many");
  std::vector<T> result;
  for (const JsonView& item : items) result.push_back(read(item));
  return result;
}

InterfaceReport interface_from(const JsonView& view) {
  return {view.at("name").string(), view.at("infiniband").boolean(),
          view.at("Mbps").number(0, 1e9)};
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
  for (const InterfaceReport& each : report.interfaces) {
    interfaces.push_back(
        Json{{"name", each.name}, {"infiniband", each.infiniband}, {"Mbps", each.mbps}});
  }
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
  report.gpus = list_from<GpuReport>(root.at("gpus"), kMostGpus, gpu_report_from);
  report.interfaces =
      list_from<InterfaceReport>(root.at("interfaces"), kMostInterfaces, interface_from);
  return report;
}

}  // namespace strato
