// A cluster of equal machines from a few words: how many of which GPU, and by which network. Pure;
// safe from any thread.
//
// "h100-8x8" are 8 machines of 8 H100, "a100-80gb-4x8-100GbE" 4 machines of 8 A100 whose network
// cards take 100 Gb/s a machine. All else is assumed, and the cluster's notes say so: NVLink or
// xGMI on boards that have it, else PCIe, both as the GPU's data sheet says (gpu_ports.h); a
// network without a bottleneck; 256 GiB of host memory for each GPU on a board.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/cluster/spec/gpu_catalogue.h"

namespace strato {

struct NetworkKind {
  std::string_view name;   // at the end of a cluster's name: "400G-IB"
  std::string_view words;  // for people: "400 Gb/s InfiniBand per GPU"
  double gigabits = 0;     // per second and direction
  bool of_each_gpu = true;
};
std::span<const NetworkKind> network_kinds();      // the fastest first
std::size_t usual_network_of(const GpuType& gpu);  // among these: what such machines are sold with

struct EqualMachines {
  std::string gpu;                          // a name or an alias of the catalogue, in any spelling
  std::int64_t machines = 1, gpus = 8;      // gpus: of each machine
  std::optional<std::size_t> network = {};  // of network_kinds(); nothing: the usual one
  friend bool operator==(const EqualMachines&, const EqualMachines&) = default;
};

// By its form alone; nothing: it is no such name. Numbers may be impossible, the GPU unknown.
std::optional<EqualMachines> equal_machines_from(std::string_view name);
// A path that stands for a cluster of that name: there is no such file, nor folders or an ending in
// it.
bool names_equal_machines(const std::filesystem::path& path);
std::string name_of(const EqualMachines& machines, const GpuCatalogue& catalogue);  // "h100-8x8"

// The text of the cluster's file. Throws InputError, about `file`, for a GPU that the catalogue
// does not know, and for no or too many machines or GPUs.
std::string equal_machines_cluster(const EqualMachines& machines, const std::string& file,
                                   const GpuCatalogue& catalogue);
// As people call a GPU: the shortest of its names, "H100" of "H100-SXM5-80GB".
std::string short_name_of(const GpuType& gpu);

}  // namespace strato
