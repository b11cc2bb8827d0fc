// Tables of measured training steps, in the formats in which they were published.
#pragma once

#include <filesystem>

#include "app/cli/study/measured/measured_row.h"

namespace strato::cli {

// Which format it is, the header tells. Throws InputError for one that is not known, and for values
// that mean nothing; a row that says too little to be predicted is left out, with why.
MeasuredTable read_measured_table(const std::filesystem::path& file);

// Those of resources/studies/llm, by name.
std::vector<std::filesystem::path> bundled_measured_tables();

}  // namespace strato::cli
