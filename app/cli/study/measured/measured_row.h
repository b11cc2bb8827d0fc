// What somebody measured of a training step, and all that is needed to predict it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/io/json.h"

namespace strato::cli {

// Machines with equal GPUs, as published measurements name them.
struct MeasuredMachines {
  std::string gpu;  // of the catalogue
  std::int32_t count = 1, gpus_per_machine = 8;
  double fabric_gbps = 300;   // 10^9 bytes a second, of a GPU and direction
  double network_gbps = 100;  // the same of a machine
  std::optional<double> memory_gbps = {}, memory_gib = {};  // where it is not the catalogue's
  std::string name() const;                                 // "8 x A100-SXM4-80GB"
};

// Of the framework that ran it, which a calibration stands for.
enum class MeasuredFramework : std::uint8_t {
  MegatronDeepSpeed,  // 2022 to 2023
  Megatron,
  TorchTitan,
  TorchTitanCompiled,
};

struct MeasuredRow {
  std::string label;
  std::string model;                          // of rows that are ranked against each other
  Json config;                                // of Hugging Face
  std::int64_t sequence = 0;                  // of positions
  bool flash = true;                          // attention in one kernel
  bool fp8 = false;                           // products of layers in 8 bits
  std::int64_t batch = 1;                     // samples of a step
  std::map<std::string, std::string> layout;  // options of the planner "pipeline"
  MeasuredMachines machines;
  MeasuredFramework framework = MeasuredFramework::Megatron;
  std::optional<double> seconds, bytes;  // of a step; of the device that has most
  std::optional<double> others_seconds;  // what somebody else's tool predicts
};

// Time of a collective alone.
struct MeasuredCollective {
  MeasuredMachines machine;  // all of one are members
  std::int64_t bytes = 0;
  double seconds = 0;
};

struct MeasuredTable {
  std::string name;  // of its file
  std::vector<MeasuredRow> rows;
  std::vector<MeasuredCollective> collectives;
  std::vector<std::string> left_out;  // rows, with why, a sentence each
};

}  // namespace strato::cli
