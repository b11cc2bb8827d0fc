// Rules for ATen's layers: products, convolutions, normalisations, attention, lookups, pooling and
// losses. Internal to this room.
#pragma once

#include "plugins/importers/exported_program/translate/lowering.h"

namespace strato::exported_program_import {

Rules layer_rules();

}  // namespace strato::exported_program_import
