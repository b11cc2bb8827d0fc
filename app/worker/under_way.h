// Gradients that are kept for the next step (VariableSync::staleness), in checkpoints. There are
// two kinds: terms, of which every replica has its own samples' and which add up; and sums of all
// of them, which a server has of its part of the variable.
//
// Ranks with other shares of the batch take terms as a whole: each those that begin with one of its
// samples, so that no term is lost or taken twice, and ranks of the same shares go on with the same
// bits. Ranks with other parts of a variable cut the sums anew. Terms and sums that a plan does not
// keep (a smaller staleness) are lost, and those that a checkpoint lacks are zeros.
#pragma once

#include <string>

#include "app/worker/checkpoint.h"
#include "core/data/tensor_folder.h"

namespace strato::worker {

bool is_under_way(const Tensor& tensor);  // of a resident value

// As what a value of it is written: a term as Partial, a sum as Whole or a Slice.
Part part_under_way(const CheckpointRank& rank, ValueId value);
// What a term, or a sum in one piece, is called in the checkpoint.
std::string name_under_way(const Tensor& tensor, const Part& part);

// Fills what this rank keeps. Throws InputError when a file is of another model, a sum is in the
// parts that older versions wrote, or terms have to be added that are of no type that is added here
// (16 bits).
void fill_under_way(const CheckpointRank& rank, const TensorFolder& index);

}  // namespace strato::worker
