// Why a step takes as long as it does: `simulate --explain`.
#pragma once

#include <string>

#include "app/cli/report.h"
#include "core/sim/explain/memory_report.h"
#include "core/sim/explain/path_pieces.h"
#include "core/sim/explain/what_if.h"
#include "core/sim/explain/why.h"

namespace strato::cli {

struct Explanation {
  const Verdict* verdict = nullptr;
  std::vector<PathPiece> path;
  IdVector<DeviceId, std::vector<Gap>> gaps;
  std::vector<WhatIf> what_ifs;
  std::vector<MemoryReport> memory;  // of the fullest device, or of all that are overfull
  Why why;
};

Explanation explain(const Verdict& verdict);
Json explanation_json(const Explanation& explanation);
std::string explanation_text(const Explanation& explanation);

}  // namespace strato::cli
