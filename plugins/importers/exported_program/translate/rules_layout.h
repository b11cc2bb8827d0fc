// Rules for ATen's ops that move elements, look them up or make them of nothing. Internal to this
// room.
#pragma once

#include "plugins/importers/exported_program/translate/lowering.h"

namespace strato::exported_program_import {

Rules layout_rules();

}  // namespace strato::exported_program_import
