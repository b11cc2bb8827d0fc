// GPT-2 and the open models after it: GPT-J and GPT-NeoX.
#pragma once

#include "plugins/importers/transformers/families/keys.h"

namespace strato::transformers_import {

Description read_gpt2(Keys& keys);
Description read_gptj(Keys& keys);
Description read_gpt_neox(Keys& keys);

}  // namespace strato::transformers_import
