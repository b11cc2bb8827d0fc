#include "app/worker/report_nvml.h"

#include <dlfcn.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <memory>

#include "app/worker/nvml_abi.h"

namespace strato::worker {
namespace {

using nvml::kSuccess;

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
}

nvml::Functions functions_of(void* library) {
  nvml::Functions f{};
  find(library, "nvmlInit_v2", f.init);
  find(library, "nvmlShutdown", f.shutdown);
  find(library, "nvmlErrorString", f.error_text);
  find(library, "nvmlSystemGetDriverVersion", f.driver_version);
  find(library, "nvmlDeviceGetCount_v2", f.count);
  find(library, "nvmlDeviceGetHandleByIndex_v2", f.device);
  find(library, "nvmlDeviceGetName", f.name);
  find(library, "nvmlDeviceGetMemoryInfo", f.memory);
  find(library, "nvmlDeviceGetPciInfo_v3", f.pci);
  find(library, "nvmlDeviceGetNumGpuCores", f.cores);
  find(library, "nvmlDeviceGetMaxClockInfo", f.max_clock);
  find(library, "nvmlDeviceGetMemoryBusWidth", f.bus_width);
  find(library, "nvmlDeviceGetCudaComputeCapability", f.compute);
  find(library, "nvmlDeviceGetMaxPcieLinkGeneration", f.pcie_generation);
  find(library, "nvmlDeviceGetMaxPcieLinkWidth", f.pcie_lanes);
  find(library, "nvmlDeviceGetMigMode", f.mig);
  find(library, "nvmlDeviceGetNvLinkState", f.link_state);
  find(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2", f.link_remote);
  find(library, "nvmlDeviceGetNvLinkRemoteDeviceType", f.link_remote_type);
  find(library, "nvmlDeviceGetFieldValues", f.fields);
  return f;
}

// Of one GPU. What the driver refuses stays as it is.
class GpuQuestion {
 public:
  GpuQuestion(const nvml::Functions& functions, nvml::Device device)
      : f_(functions), device_(device) {}

  GpuReport ask() {
    GpuReport gpu;
    gpu.name = text(f_.name);
    if (nvml::Memory memory{}; told(f_.memory, &memory))
      gpu.memory = Bytes(static_cast<std::int64_t>(memory.total));
    gpu.bus = bus();
    gpu.cores = static_cast<int>(number(f_.cores));
    gpu.clock_mhz = clock(nvml::kClockSm);
    gpu.memory_clock_mhz = clock(nvml::kClockMemory);
    gpu.memory_bus_bits = static_cast<int>(number(f_.bus_width));
    if (int major = 0, minor = 0; told(f_.compute, &major, &minor))
      gpu.compute = std::to_string(major) + "." + std::to_string(minor);
    gpu.pcie_generation = static_cast<int>(number(f_.pcie_generation));
    gpu.pcie_lanes = static_cast<int>(number(f_.pcie_lanes));
    if (unsigned now = 0, pending = 0; told(f_.mig, &now, &pending)) gpu.mig = now != 0;
    gpu.nvlink_gbps = link_speed();
    return gpu;
  }

  std::string bus() {
    nvml::PciInfo pci{};
    if (!told(f_.pci, &pci)) return "";
    pci.bus_id[sizeof pci.bus_id - 1] = '\0';
    return pci.bus_id;
  }

  // Fills nvlinks and switch_links; `buses`: of all GPUs, by their index.
  void ask_links(const std::vector<std::string>& buses, GpuReport& gpu) {
    gpu.nvlinks.assign(buses.size(), 0);
    for (unsigned link = 0; link < nvml::kMostLinks; ++link) {
      int active = 0;
      if (!told(f_.link_state, link, &active) || active == 0) continue;
      if (is_switch(link)) {
        ++gpu.switch_links;
      } else if (nvml::PciInfo remote{}; told(f_.link_remote, link, &remote)) {
        remote.bus_id[sizeof remote.bus_id - 1] = '\0';
        const auto other = std::find_if(buses.begin(), buses.end(), [&](const std::string& bus) {
          return ::strcasecmp(bus.c_str(), remote.bus_id) == 0;
        });
        if (other != buses.end()) ++gpu.nvlinks[static_cast<std::size_t>(other - buses.begin())];
      }
    }
  }

 private:
  template <class... Parameters, class... Arguments>
  bool told(nvml::Return (*function)(nvml::Device, Parameters...), Arguments... arguments) {
    return function != nullptr && function(device_, arguments...) == kSuccess;
  }
  unsigned number(nvml::Return (*function)(nvml::Device, unsigned*)) {
    unsigned value = 0;
    return told(function, &value) && value < 1'000'000 ? value : 0;
  }
  double clock(int which) {
    unsigned mhz = 0;
    return told(f_.max_clock, which, &mhz) && mhz < 100'000 ? mhz : 0;
  }
  std::string text(nvml::Return (*function)(nvml::Device, char*, unsigned)) {
    std::array<char, nvml::kTextSize> text{};
    return told(function, text.data(), nvml::kTextSize - 1U) ? text.data() : "";
  }
  // Drivers that do not tell what is at the other end have no switches that they know of.
  bool is_switch(unsigned link) {
    int type = 0;
    return told(f_.link_remote_type, link, &type) && type == nvml::kRemoteSwitch;
  }
  double link_speed() {
    nvml::FieldValue value{};
    value.field = nvml::kFieldLinkSpeed;
    if (!told(f_.fields, 1, &value) || value.result != kSuccess) return 0;
    return value.value.integer < 100'000'000 ? value.value.integer / 1000.0 : 0;
  }

  const nvml::Functions& f_;
  nvml::Device device_;
};

std::vector<GpuReport> gpus_of(const nvml::Functions& f) {
  unsigned count = 0;
  f.count(&count);
  std::vector<GpuQuestion> questions;
  for (unsigned i = 0; i < std::min(count, 256U); ++i) {
    nvml::Device device = nullptr;  // one that may not be used here is left out
    if (f.device(i, &device) == kSuccess) questions.emplace_back(f, device);
  }
  std::vector<std::string> buses;
  for (GpuQuestion& question : questions) buses.push_back(question.bus());
  std::vector<GpuReport> gpus;
  for (GpuQuestion& question : questions) {
    gpus.push_back(question.ask());
    question.ask_links(buses, gpus.back());
  }
  return gpus;
}

std::string text_of_error(const nvml::Functions& f, nvml::Return error) {
  const char* text = f.error_text != nullptr ? f.error_text(error) : nullptr;
  return text != nullptr ? text : "error " + std::to_string(error);
}

}  // namespace

NvmlAnswer ask_nvml(const std::string& name) {
  const Library library(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library) return {"", name + " is not installed", {}};
  const nvml::Functions f = functions_of(library.get());
  if (f.init == nullptr || f.shutdown == nullptr || f.count == nullptr || f.device == nullptr)
    return {"", name + " is not NVIDIA's management library", {}};
  if (const nvml::Return error = f.init(); error != kSuccess)
    return {"", "the driver cannot be used: " + text_of_error(f, error), {}};
  NvmlAnswer answer;
  std::array<char, nvml::kTextSize> version{};
  if (f.driver_version != nullptr &&
      f.driver_version(version.data(), version.size() - 1) == kSuccess)
    answer.driver = version.data();
  answer.gpus = gpus_of(f);
  f.shutdown();
  if (answer.gpus.empty()) answer.problem = "the driver finds none";
  return answer;
}

}  // namespace strato::worker
