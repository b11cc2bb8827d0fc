// The schedule of micro-batches in a file: a name ("1f1b"), or the rows of a table by hand, one for
// each stage: ["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"] (schedule_table.h).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/strategy/value/strategy.h"

namespace strato {

class JsonView;

nlohmann::ordered_json schedule_to_json(const MicroBatches& micro_batches);
// Where there is 1 micro-batch, as nothing was said: as many as a table has. Throws InputError with
// its place: neither a name nor a list of rows, or no such cell.
void read_schedule(const JsonView& view, MicroBatches& micro_batches);

}  // namespace strato
