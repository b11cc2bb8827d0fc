// T5: an encoder, a decoder that attends to it, and biases by distance in place of positions.
#pragma once

#include "plugins/importers/transformers/families/keys.h"

namespace strato::transformers_import {

Description read_t5(Keys& keys);

}  // namespace strato::transformers_import
