// Encoders of words and of images, and T5's encoder and decoder.
#pragma once

#include "plugins/importers/transformers/families/keys.h"

namespace strato::transformers_import {

Description read_bert(Keys& keys);
Description read_roberta(Keys& keys);
Description read_vit(Keys& keys);
Description read_t5(Keys& keys);

}  // namespace strato::transformers_import
