// The model families that are read, and which of them a config.json is of. Source of keys, usual
// values and names: the configuration and model classes of Hugging Face's library "transformers".
//
// What changes no shape and no work worth naming is read over: how positions are scaled
// (rope_scaling), caps on scores, losses of routers, which groups of experts are looked at first,
// layers that predict further tokens and are left out when models are loaded. A window of attention
// (sliding_window) is not built: where it is shorter than the sequence, the work of attention is an
// upper bound. Decoders score words, also where their class ("LlamaModel") has no head.
#pragma once

#include <string>

#include "core/io/json.h"
#include "plugins/importers/transformers/description/description.h"

namespace strato::transformers_import {

// Throws InputError for what is no configuration, a family that is not known, wrong values, and
// keys that are not known.
Description describe_config(const JsonView& config);

}  // namespace strato::transformers_import
