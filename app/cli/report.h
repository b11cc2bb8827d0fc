// What a strategy is worth, for a person and for a script: beside data parallelism and beside the
// lower bound.
#pragma once

#include <string>
#include <vector>

#include "core/io/json.h"
#include "core/search/verdict/verdict.h"

namespace strato::cli {

// One line for every device that is too small: how much it lacks, when, and the largest tensors
// alive then. Of many devices one for those that follow each other and lack as much, and few.
std::vector<std::string> infeasible_reasons(const Timeline& timeline);

Json verdict_json(const Verdict& verdict, double wall_seconds);
std::string verdict_text(const Verdict& verdict, double wall_seconds);

}  // namespace strato::cli
