// The points that the planner "meshes" (meshes.h) moves between: how many stages, columns, rows
// with experts or positions among them, micro-batches and chunks there are; what rows keep parts
// of; what is computed again or waits on hosts; and in which order stages work. Pure; safe from any
// thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/search/constraints/constraints.h"
#include "plugins/planners/baselines/pipeline.h"

namespace strato::meshes {

struct Point {
  std::int32_t stages = 1, tensor = 1, expert = 1, context = 1, micro_batches = 1, chunks = 1;
  pipeline::StageSharding shard = pipeline::StageSharding::Nothing;
  std::int32_t shard_rows = 0;  // StateSharding::rows
  Recomputing recompute = Recomputing::None;
  Offloading offload = Offloading::None;
  PipelineSchedule schedule = PipelineSchedule::OneFOneB;  // of several chunks: interleaved
  friend auto operator<=>(const Point&, const Point&) = default;
};

class Space {
 public:
  // What neighbours() goes through beside what frameworks do without being asked.
  struct Reach {
    bool hosts = false;        // what waits in the memory of hosts
    bool fewer_rows = false;   // rows of a machine that have all states among them
    bool zero_bubble = false;  // schedules that divide the backward pass
  };
  // What all of its strategies do, or no one does.
  struct Habits {
    bool whole_layers = true;  // stages begin with a layer, where the model has layers
    bool overlap = false;      // columns exchange in as many pieces as there are
  };

  // Refers to both. Keeps out of roles that the constraints forbid to every op, and to `given`,
  // which any planner is asked for.
  Space(const Problem& problem, const Constraints* constraints, std::optional<MicroBatches> given,
        Habits habits);

  // Data parallelism, the same with everything in parts (FSDP), and Megatron-LM's habit of as many
  // columns as a machine has devices; with as many columns, stages and rows that have positions
  // together as leave a sample for each row. The first one is there, possible or not.
  std::vector<Point> beginnings() const;
  // Up and down along each dimension, and along two that make up for each other. Ascending.
  // `fits`: in memory.
  std::vector<Point> neighbours(const Point& at, bool fits, const Reach& reach) const;
  bool is_possible(const Point& point) const;

  bool are_many() const { return are_many_; }       // devices: an evaluation may take seconds
  const Habits& habits() const { return habits_; }  // those that the model allows
  // Throws InputError where the model cannot be computed so.
  Strategy strategy_of(const Point& point) const { return strategy_of(point, habits_); }
  Strategy strategy_of(const Point& point, const Habits& habits) const;

 private:
  pipeline::Settings settings_of(const Point& point, const Habits& habits) const;
  Point with_samples() const;
  std::vector<Point> possible(std::vector<Point> points) const;
  bool needs_context(const Point& at, bool fits) const;
  bool is_allowed(const Point& point) const;
  std::int32_t rows_of(const Point& point) const;
  std::int32_t rows_of_machine(const Point& point) const;
  bool has_samples(const Point& point) const;
  bool is_foldable(const Point& point) const;
  bool may_share(const Point& point) const;
  bool may_be(const Point& point) const;

  const Problem& problem_;
  const Constraints* constraints_;
  const std::optional<MicroBatches> given_;
  const Habits habits_;
  const bool are_many_;
  const std::int64_t experts_;
  const bool has_attention_;
  const Point plain_;         // data parallelism
  const bool needs_samples_;  // each row
};

}  // namespace strato::meshes
