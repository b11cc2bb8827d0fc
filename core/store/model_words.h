// What tells models of one name apart: for lists of what a workspace has. Pure.
#pragma once

#include <string>

#include "core/store/tables.h"

namespace strato {

// "vit_b_16, batch 32, f16, momentum"; options that are not known are left out.
std::string words_of(const StoredModel& model);

}  // namespace strato
