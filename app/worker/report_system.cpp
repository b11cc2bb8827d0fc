#include "app/worker/report_system.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>

namespace strato::worker {
namespace {

namespace fs = std::filesystem;

// The first line; empty when there is none, as of an interface that is down.
std::string first_line_of(const fs::path& file) {
  std::ifstream input(file);
  std::string line;
  std::getline(input, line);
  return line;
}

double number_in(const fs::path& file) { return std::atof(first_line_of(file).c_str()); }

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

struct Processor {
  std::string model, flags;
  double mhz = 0;
  int siblings = 0, cores = 0;  // threads and cores of one package
};

// Of the first processor: "model name	: AMD EPYC"
Processor read_cpuinfo(const fs::path& file) {
  Processor processor;
  std::ifstream input(file);
  for (std::string line; std::getline(input, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    if (key == "model name") processor.model = value;
    if (key == "flags" || key == "Features") processor.flags = " " + value + " ";
    if (key == "cpu MHz") processor.mhz = std::atof(value.c_str());
    if (key == "siblings") processor.siblings = std::atoi(value.c_str());
    if (key == "cpu cores") processor.cores = std::atoi(value.c_str());
  }
  return processor;
}

// Multiply-adds of fp32 in a cycle of one core: two units of the widest vectors there are.
int lanes_of(const std::string& flags) {
  const auto has = [&](const char* flag) {
    return flags.find(std::string(" ") + flag + " ") != std::string::npos;
  };
  if (has("avx512f")) return 32;
  if (has("avx2") || has("fma")) return 16;
  return has("avx") || has("asimd") ? 8 : flags.empty() ? 0 : 4;
}

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// "MemTotal:       16316412 kB", "inactive_file 8192": the number after the word, where it is
// there.
std::optional<std::int64_t> entry_of(const fs::path& file, const std::string& word) {
  std::ifstream input(file);
  for (std::string line; std::getline(input, line);) {
    std::istringstream words(line);
    std::string first;
    std::int64_t number = 0;
    if (words >> first >> number && first == word) return number;
  }
  return std::nullopt;
}

std::optional<std::int64_t> memory_of_machine(const fs::path& proc, const char* word) {
  const auto kilobytes = entry_of(proc / "meminfo", word);
  return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
}

// Of a container, by both versions of control groups; "max" or a giant number without a limit.
struct MemoryGroup {
  const char *limit, *used, *stat, *unused_files;
};
constexpr MemoryGroup kMemoryGroups[] = {
    {"fs/cgroup/memory.max", "fs/cgroup/memory.current", "fs/cgroup/memory.stat", "inactive_file"},
    {"fs/cgroup/memory/memory.limit_in_bytes", "fs/cgroup/memory/memory.usage_in_bytes",
     "fs/cgroup/memory/memory.stat", "total_inactive_file"}};

std::int64_t limit_of(const fs::path& sys, const MemoryGroup& group) {
  const double limit = number_in(sys / group.limit);
  return limit > 0 && limit < 1e15 ? static_cast<std::int64_t>(limit) : kUnlimited;
}

std::int64_t memory_limit(const fs::path& sys) {
  std::int64_t least = kUnlimited;
  for (const MemoryGroup& group : kMemoryGroups) least = std::min(least, limit_of(sys, group));
  return least;
}

std::int64_t left_in(const fs::path& sys, const MemoryGroup& group) {
  const std::int64_t limit = limit_of(sys, group);
  if (limit == kUnlimited) return kUnlimited;
  const auto used = static_cast<std::int64_t>(number_in(sys / group.used));
  return limit - used + entry_of(sys / group.stat, group.unused_files).value_or(0);
}

// "100 Gb/sec (4X EDR)"
void add_infiniband(const fs::path& sys, std::vector<InterfaceReport>& interfaces) {
  for (const fs::path& device : entries_of(sys / "class/infiniband")) {
    for (const fs::path& port : entries_of(device / "ports")) {
      if (first_line_of(port / "state").find("ACTIVE") == std::string::npos) continue;
      if (first_line_of(port / "link_layer").find("Ethernet") != std::string::npos) continue;
      const double mbps = number_in(port / "rate") * 1000;
      if (mbps > 0)
        interfaces.push_back(
            {device.filename().string() + ":" + port.filename().string(), true, mbps});
    }
  }
}

}  // namespace

void ask_processor(const SystemPlaces& places, MachineReport& report) {
  const Processor processor = read_cpuinfo(places.proc / "cpuinfo");
  report.cpu = processor.model;
  report.fp32_lanes = lanes_of(processor.flags);
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const bool shared = processor.cores > 0 && processor.siblings > processor.cores;
  report.cores = shared ? std::max(1, threads * processor.cores / processor.siblings) : threads;
  const double most = number_in(places.sys / "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  report.cpu_mhz = most > 0 ? most / 1000 : processor.mhz;
  const std::int64_t limit = memory_limit(places.sys);
  const std::int64_t total = memory_of_machine(places.proc, "MemTotal:").value_or(kUnlimited);
  const std::int64_t memory = std::min(limit, total);
  report.memory = Bytes(memory == kUnlimited ? 0 : memory);
}

Bytes memory_at_hand(const SystemPlaces& places) {
  std::int64_t left = memory_of_machine(places.proc, "MemAvailable:").value_or(kUnlimited);
  for (const MemoryGroup& group : kMemoryGroups) left = std::min(left, left_in(places.sys, group));
  return Bytes(std::max<std::int64_t>(0, left));
}

// Bridges and the like have no device, and make their speed up.
std::vector<InterfaceReport> ask_interfaces(const SystemPlaces& places) {
  std::vector<InterfaceReport> interfaces;
  std::error_code ignored;
  for (const fs::path& each : entries_of(places.sys / "class/net")) {
    const std::string name = each.filename().string();
    if (!fs::exists(each / "device", ignored) || first_line_of(each / "operstate") == "down")
      continue;
    const double mbps = number_in(each / "speed");  // -1: not known
    if (mbps > 0) interfaces.push_back({name, false, mbps});
  }
  add_infiniband(places.sys, interfaces);
  return interfaces;
}

}  // namespace strato::worker
