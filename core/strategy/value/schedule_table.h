// A schedule of a pipeline by hand: for each stage the cells in its order. As text a row is
// "0F0 0F1 1F0 1B0 ...", a cell the number of a chunk, what is done of it, and a micro-batch.
//
// This is the form of PyTorch's pipeline schedules (torch.distributed.pipelining, compute_only
// files as PipelineScheduleMulti._load_csv reads them): rows of ranks, cells apart by commas,
// empty ones where a rank waits. Chunks have numbers along the pipeline, as PyTorch's stages do.
// There I is the backward pass for inputs alone, B all of it, or where a W of the same chunk and
// micro-batch is in the table, the same as I. Here, too: I is read as B, and where any backward
// pass of a table is in two, a B without its W is both, one behind the other.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"

namespace strato {

enum class PassKind : std::uint8_t {
  Forward,   // "F"
  Backward,  // "B": all of it, or what other chunks wait for
  Weights,   // "W": the rest of the backward pass
};

struct ScheduleCell {
  std::int32_t chunk = 0;
  PassKind pass = PassKind::Forward;
  std::int32_t micro = 0;
  friend auto operator<=>(const ScheduleCell&, const ScheduleCell&) = default;
};
std::string name_of(const ScheduleCell& cell);  // "1B0"

using ScheduleTable = std::vector<std::vector<ScheduleCell>>;

// Throw InputError with the row and the cell, counted from 1. Empty lines at the end are no rows.
ScheduleTable parse_schedule_csv(std::string_view text, const std::string& file);
ScheduleTable parse_schedule_rows(const std::vector<std::string>& rows);
std::vector<std::string> schedule_rows(const ScheduleTable& table);

// Of the highest micro-batch; 0 of an empty table.
std::int32_t micro_batch_count(const ScheduleTable& table);
// Is any backward pass in two?
bool splits_backward(const ScheduleTable& table);
// Throws InputError where a cell is missing or is there twice, is of a micro-batch that there is
// not, or comes before an earlier one's in its pass, or where a chunk is in two rows. Whether rows
// fit a strategy, and can go on, lowering knows (Pipeline).
void check_table(const ScheduleTable& table, std::int32_t micro_batches);

void add_to(Hasher& hasher, const ScheduleTable& table);  // nothing of an empty one

}  // namespace strato
