// Rules for ATen's ops that take many elements together. Internal to this room.
#pragma once

#include "plugins/importers/exported_program/translate/lowering.h"

namespace strato::exported_program_import {

Rules reduction_rules();

}  // namespace strato::exported_program_import
