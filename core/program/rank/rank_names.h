// An instruction in words where no cluster is at hand (internal to core/program).
#pragma once

#include <functional>
#include <string>

#include "core/program/rank/rank_program.h"

namespace strato {

using DeviceNames = std::function<std::string(DeviceId)>;

std::string describe_instruction(const RankPrograms& programs, std::size_t rank,
                                 std::size_t instruction, const DeviceNames& device);

}  // namespace strato
