// Rules for ATen's ops that work element by element. Internal to this room.
#pragma once

#include "plugins/importers/exported_program/translate/lowering.h"

namespace strato::exported_program_import {

Rules elementwise_rules();

}  // namespace strato::exported_program_import
