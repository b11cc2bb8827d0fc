// A libnvidia-ml.so.1 that tells of the machine named by STRATO_FAKE_NVML:
//
//   v100      8 x V100 joined by NVLink 2 in a hybrid cube mesh
//   a100      2 x A100 on NVLink switches; MIG can be switched on and is off
//   mig       the same with MIG on
//   unknown   2 GPUs that no catalogue has, and a driver that lacks what newer ones have
//   island    4 GPUs of which two and two are joined
//   silent    1 GPU of which the driver tells the name only
//   none      a driver without GPUs
//   else      a driver that does not start
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "app/worker/nvml_abi.h"

namespace nvml = strato::worker::nvml;

namespace strato::worker::nvml {
struct DeviceTag {
  unsigned index;
};
}  // namespace strato::worker::nvml

namespace {

constexpr nvml::Return kNotSupported = 3, kNotFound = 6, kDriverNotLoaded = 9;

std::string machine() {
  const char* name = std::getenv("STRATO_FAKE_NVML");
  return name == nullptr ? "" : name;
}
bool is(const char* name) { return machine() == name; }
bool a100() { return is("a100") || is("mig"); }

unsigned count() {
  if (is("v100")) return 8;
  if (a100() || is("unknown")) return 2;
  if (is("island")) return 4;
  return is("silent") ? 1 : 0;
}

// The GPU at the other end of each link of the hybrid cube mesh of a DGX-1 with V100.
const std::vector<std::vector<unsigned>> kMesh = {
    {1, 2, 3, 3, 4, 4}, {0, 2, 2, 3, 5, 5}, {0, 1, 1, 3, 6, 6}, {0, 0, 1, 2, 7, 7},
    {5, 6, 7, 7, 0, 0}, {4, 6, 6, 7, 1, 1}, {4, 5, 5, 7, 2, 2}, {4, 4, 5, 6, 3, 3}};

nvml::DeviceTag devices[8] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};

void write_bus(unsigned index, nvml::PciInfo* info) {
  std::memset(info, 0, sizeof *info);
  std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", 0xA0 + index);
}

template <class T>
nvml::Return answer(T* to, T value) {
  *to = value;
  return nvml::kSuccess;
}

}  // namespace

extern "C" {

nvml::Return nvmlInit_v2() { return count() == 0 && !is("none") ? kDriverNotLoaded : 0; }
nvml::Return nvmlShutdown() { return 0; }
const char* nvmlErrorString(nvml::Return) { return "Driver Not Loaded"; }
nvml::Return nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "535.54.03");
  return 0;
}
nvml::Return nvmlDeviceGetCount_v2(unsigned* number) { return answer(number, count()); }
nvml::Return nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml::Device* device) {
  if (index >= count()) return kNotFound;
  return answer(device, &devices[index]);
}
nvml::Return nvmlDeviceGetName(nvml::Device, char* text, unsigned size) {
  const char* name = is("v100")      ? "Tesla V100-SXM2-32GB"
                     : a100()        ? "NVIDIA A100-SXM4-40GB"
                     : is("unknown") ? "NVIDIA Z9000 \"Sample\""
                     : is("silent")  ? "Graphics Device"
                                     : "NVIDIA GeForce RTX 3090";
  std::snprintf(text, size, "%s", name);
  return 0;
}
nvml::Return nvmlDeviceGetMemoryInfo(nvml::Device, nvml::Memory* memory) {
  if (is("silent")) return kNotSupported;
  const unsigned long long gib = is("v100") ? 32 : a100() ? 40 : is("unknown") ? 7 : 24;
  memory->total = (gib << 30) - 200'000'000;
  return 0;
}
nvml::Return nvmlDeviceGetPciInfo_v3(nvml::Device device, nvml::PciInfo* info) {
  write_bus(device->index, info);
  return 0;
}
nvml::Return nvmlDeviceGetNumGpuCores(nvml::Device, unsigned* cores) {
  return is("silent") ? kNotSupported : answer(cores, 1000U);
}
nvml::Return nvmlDeviceGetMaxClockInfo(nvml::Device, int clock, unsigned* mhz) {
  return is("silent") ? kNotSupported : answer(mhz, clock == nvml::kClockSm ? 1500U : 5000U);
}
nvml::Return nvmlDeviceGetMemoryBusWidth(nvml::Device, unsigned* bits) {
  return is("silent") ? kNotSupported : answer(bits, 256U);
}
nvml::Return nvmlDeviceGetCudaComputeCapability(nvml::Device, int* major, int* minor) {
  *minor = 0;
  return is("silent") ? kNotSupported : answer(major, is("v100") ? 7 : 8);
}
nvml::Return nvmlDeviceGetMaxPcieLinkGeneration(nvml::Device, unsigned* generation) {
  return is("silent") ? kNotSupported : answer(generation, is("v100") ? 3U : 4U);
}
nvml::Return nvmlDeviceGetMaxPcieLinkWidth(nvml::Device, unsigned* lanes) {
  return is("silent") ? kNotSupported : answer(lanes, 16U);
}
nvml::Return nvmlDeviceGetMigMode(nvml::Device, unsigned* now, unsigned* pending) {
  *pending = 0;
  return a100() ? answer(now, is("mig") ? 1U : 0U) : kNotSupported;
}
nvml::Return nvmlDeviceGetNvLinkState(nvml::Device, unsigned link, int* active) {
  const unsigned links = is("v100") ? 6 : a100() ? 12 : is("island") ? 1 : 0;
  if (links == 0) return kNotSupported;
  return answer(active, link < links ? 1 : 0);
}
nvml::Return nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml::Device device, unsigned link,
                                                 nvml::PciInfo* info) {
  if (a100()) return kNotSupported;
  write_bus(is("v100") ? kMesh[device->index][link] : device->index ^ 1U, info);
  return 0;
}
nvml::Return nvmlDeviceGetNvLinkRemoteDeviceType(nvml::Device, unsigned, int* type) {
  return a100() ? answer(type, nvml::kRemoteSwitch) : answer(type, 0);
}
nvml::Return nvmlDeviceGetFieldValues(nvml::Device, int number, nvml::FieldValue* values) {
  for (int i = 0; i < number; ++i) {
    const bool known = values[i].field == nvml::kFieldLinkSpeed && !is("island");
    values[i].result = known ? nvml::kSuccess : kNotSupported;
    values[i].value.integer = 25'781;
  }
  return 0;
}

}  // extern "C"
