// How a transformer is laid out over devices, in the words that training frameworks share: a plain
// value between a strategy (recognise.h) and a framework's own arguments.
//
// Devices have numbers as ranks do: the columns of a row follow each other, then come the rows that
// have positions among them, then the rows with other samples, then the stages.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/value/offload.h"
#include "core/program/value/recompute.h"
#include "core/strategy/value/strategy.h"

namespace strato::frameworks {

// What a chunk of a stage computes: the layers behind those of the block before it.
struct Block {
  bool embedding = false;  // with what else stands in front of the layers
  std::int32_t layers = 0;
  bool head = false;  // all behind the layers, with the loss
  friend bool operator==(const Block&, const Block&) = default;
};

struct TrainingLayout {
  std::int32_t tensor = 1;   // columns
  std::int32_t pieces = 1;   // in which these exchange what products read and make
  bool sequence = true;      // they divide the positions of norms and sums (MeshRoles::sequence)
  std::int32_t context = 1;  // rows with the same samples, each its part of the positions
  std::int32_t stages = 1, chunks = 1;
  std::vector<Block> blocks = {};  // stages * chunks, along the model: b is on stage b % stages
  PipelineSchedule schedule = PipelineSchedule::OneFOneB;
  std::int32_t micro_batches = 1;
  std::int64_t micro_batch_size = 1;  // samples of a row in a micro-batch
  std::int32_t rows = 1;              // of a stage, with samples of their own: data parallelism
  std::int32_t expert = 1;            // rows that have the experts among them
  StateSharding states = {};          // rows, of all: 0 where all of a stage have them among them
  Recompute recompute = Recompute::None;
  std::int32_t recomputed_layers = 1;  // Blocks: layers between two results that are kept, about
  Offload offload = Offload::None;

  std::int64_t batch() const { return micro_batch_size * micro_batches * rows; }
  std::int32_t all_rows() const { return rows * context; }  // of a stage
  friend bool operator==(const TrainingLayout&, const TrainingLayout&) = default;
};

// So many blocks of as many layers each; their number divides that of the layers.
std::vector<Block> even_blocks(std::int32_t layers, std::int32_t blocks);
bool is_even(const std::vector<Block>& blocks);

}  // namespace strato::frameworks
