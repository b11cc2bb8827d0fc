// Files that hold more of a training step than its forward pass, as ONNX Runtime writes them
// (gradient graphs with YieldOp, training and optimizer models) and as ONNX's preview of training
// has them; and the forms that forward ops have in such files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugins/importers/onnx/read/read_model.h"

namespace strato::onnx_import {

// Reads the model's forward pass: read_model(), and both of these. `remarks` get what was left out.
Model read_forward_model(const std::filesystem::path& file, std::vector<std::string>& remarks);

// Leaves out the file's own backward pass and updates, with the inputs that only these read: the
// training graph has one of its own. What is left has as results what YieldOp hands out, or the
// file's results that are no gradients; the model then knows what is trained. Tells in sentences
// what was left out; nothing: the file holds no such thing. Throws InputError where no forward pass
// is left, as in the file of an optimizer.
std::vector<std::string> leave_out_training(Model& model);

// Writes ops that only training files have as ONNX's own ones: ConcatTraining, BatchNormInternal,
// BiasDropout and its kin, SoftmaxCrossEntropyLossInternal, embeddings of ATen.
void write_plain_forms(Model& model);

}  // namespace strato::onnx_import
