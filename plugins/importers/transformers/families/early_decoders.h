// Decoders of 2022 and 2023, before most were like Llama: OPT, BLOOM and Falcon.
#pragma once

#include "plugins/importers/transformers/families/keys.h"

namespace strato::transformers_import {

Description read_opt(Keys& keys);
Description read_bloom(Keys& keys);
Description read_falcon(Keys& keys);

}  // namespace strato::transformers_import
