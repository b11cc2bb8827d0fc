// What tells models of one name apart: for lists of what a workspace has. Pure.
#pragma once

#include <string>

#include "core/store/tables.h"

namespace strato {

// "vit_b_16, batch 32, f16, momentum"; what is as it is without options is left out, as adam is.
std::string words_of(const StoredModel& model);

}  // namespace strato
