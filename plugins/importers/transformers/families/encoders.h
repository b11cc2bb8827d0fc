// Encoders of words and of images: BERT, RoBERTa and ViT.
#pragma once

#include "plugins/importers/transformers/families/keys.h"

namespace strato::transformers_import {

Description read_bert(Keys& keys);
Description read_roberta(Keys& keys);
Description read_vit(Keys& keys);

}  // namespace strato::transformers_import
