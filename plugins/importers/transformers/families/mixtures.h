// Llama's descendants with experts, of which each token goes to a few.
#pragma once

#include "plugins/importers/transformers/families/keys.h"

namespace strato::transformers_import {

Description read_mixtral(Keys& keys);
Description read_qwen2_moe(Keys& keys);
Description read_qwen3_moe(Keys& keys);
Description read_deepseek_v2(Keys& keys);
Description read_deepseek_v3(Keys& keys);

}  // namespace strato::transformers_import
