// Writes the forward graph of a model that is described. Its only result is what the head makes:
// scores [batch, sequence, vocabulary], or [batch, classes], or a sentence's vector.
#pragma once

#include <string>

#include "core/graph/value/graph.h"
#include "plugins/importers/transformers/description/description.h"

namespace strato::transformers_import {

struct Sizes {
  std::int64_t batch = 1;
  std::int64_t sequence = 1;         // of "input_ids"; not read of a model of pixels
  std::int64_t target_sequence = 1;  // of "decoder_input_ids", where there is an encoder
  // Attention is one op. Else it is written out as a product, a softmax and a product; so it is
  // always where the bias of the scores is learned, which no such op trains.
  bool flash = true;
  std::int64_t adapter_rank =
      0;  // of LoRA: adapters of all linear layers are trained, and only they
};

// `file` is named in errors. Throws InputError for more ops or larger tensors than graphs may have.
Graph write_model(const Description& model, const Sizes& sizes, const std::string& name,
                  const std::string& file);

}  // namespace strato::transformers_import
