// The planner "pipeline": blocks of consecutive layers as stages, micro-batches one behind the
// other, data and tensor parallelism within a stage.
//
// Stages as GPipe (Huang et al. 2019, section 2) and PipeDream-Flush (Narayanan et al. 2021,
// section 2.2) have them; which counts of stages and micro-batches are tried is Megatron-LM's habit
// (Narayanan et al. 2021, "Efficient large-scale language model training on GPU clusters using
// Megatron-LM", section 2): equal numbers of devices in neighbouring places for each stage, one to
// four micro-batches for each stage. With several chunks a stage has as many blocks, one for each
// turn around all stages (section 2.2), or for zb-v and dualpipe-v two, down and up again. Where
// micro-batches are asked for that any planner takes (PlannerOptions), they are these.
#pragma once

#include <array>
#include <span>

#include "core/search/api/option_table.h"
#include "core/search/api/planner.h"
#include "plugins/planners/baselines/fitting.h"

namespace strato::pipeline {

enum class StageSharding : std::uint8_t {
  Nothing,
  Updates,  // ZeRO's stage 1 (StateSharding), and so on
  Gradients,
  Parameters,
  Any,  // each of these is tried
};

inline constexpr std::array kShardings = {"nothing", "updates", "gradients", "parameters", "any"};

struct Settings {
  std::int32_t stages = 0, micro_batches = 0;  // 0: several are tried
  std::int32_t tensor = 1;                     // of every stage (MeshRoles); 0: see widths()
  std::int32_t pieces = 1;                     // MeshRoles::pieces; 0: as many as columns
  bool sequence = true;                        // MeshRoles::sequence
  std::int32_t expert = 1;                     // 0: see expert_rows()
  std::int32_t context = 1;                    // of every stage (MeshRoles)
  std::int32_t chunks = 0;                     // blocks of a stage; 0: see chunk_counts()
  PipelineSchedule schedule = PipelineSchedule::OneFOneB;
  StageSharding shard = StageSharding::Nothing;
  std::int32_t shard_rows = 0;  // StateSharding::rows
  Recomputing recompute = Recomputing::WhenNeeded;
  Offloading offload = Offloading::WhenNeeded;
  Bytes bucket{std::int64_t{64} << 20};
  bool whole_layers = false;  // of a transformer: what frameworks can be told
  bool equal_layers = false;  // as many in each block: what they do where they are told nothing

  OptionTable option_table();
};

// Of settings that leave nothing open: all of them positive, neither Any nor WhenNeeded.
// `block_of`: the block of each op, of stages * chunks; nothing: blocks of about equal work.
Strategy strategy_of(const Problem& problem, const Settings& whole,
                     std::span<const std::int32_t> block_of = {});
// Is there such a one, with a sample for each row at least?
bool is_possible(const Problem& problem, const Settings& whole);

// Roles that constraints forbid to every op are not tried. Throws InputError for a setting that
// asks for one, where the model cannot be computed in micro-batches, for a number of stages that
// does not divide the devices, for more chunks than there are layers or others than the schedule
// has, for rows that do not divide the devices of a stage, and where experts cannot be divided over
// rows.
PlanResult plan(const PlanRequest& request, const Settings& settings);

}  // namespace strato::pipeline
