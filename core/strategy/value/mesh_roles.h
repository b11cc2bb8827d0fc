// How the devices of a decision share the work of its op group beside the batch: as a mesh of rows,
// which follow each other and have samples of their own (or of these some positions), and of
// columns, the devices of a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/digest.h"
#include "core/base/units.h"

namespace strato {

// Of what rows keep, and update, a part of each between steps (ZeRO: Rajbhandari, Rasley, Ruwase,
// He 2020, "ZeRO: memory optimizations toward training trillion parameter models", section 5).
struct StateSharding {
  // 0: of nothing, each row has all. From 1 on of optimizer states and parameters: these are
  // gathered when a step begins, and gradients reduced and scattered once a step. 2: of gradients,
  // too: those of each micro-batch are scattered as they are made. 3: parameters are gathered in
  // each micro-batch's forward and backward pass anew, just before they are read, and dropped
  // behind it (Zhao et al. 2023, "PyTorch FSDP: experiences on scaling fully sharded data
  // parallel", section 3.3).
  std::int32_t stage = 0;
  // So many rows, which follow each other, have all of it among them, and the next ones again, so
  // that what is gathered stays near (hybrid sharding: Zhao et al. 2023, section 3.2.2). 0: all.
  std::int32_t rows = 0;
  // Smaller parameters stay whole: collectives of their own cost more than the memory is worth.
  Bytes smallest = kSmallest;

  static constexpr Bytes kSmallest{std::int64_t{64} << 10};
  static constexpr std::int32_t kMostStage = 3;
  friend bool operator==(const StateSharding&, const StateSharding&) = default;
};

struct MeshRoles {
  // Tensor parallelism: rows are of this many devices. Rows share the batch; the columns of a row
  // compute each op of its samples together, in equal parts along one of the op's letters where
  // that pays (core/program/place/tensor_letters.h).
  std::int32_t tensor = 1;
  // Expert parallelism: so many rows have the experts of a mixture among them, each an equal part,
  // and compute those for the samples of all of them (core/graph/axes/expert_letters.h; GShard,
  // Lepikhin et al. 2020, 3.2).
  std::int32_t expert = 1;
  // Context parallelism: so many rows, which follow each other, have the same samples, and of these
  // each its part of the positions; attention gathers keys and values from all of them, or swaps
  // positions for heads. What is divided of each op is a letter that no weight has, chosen as
  // columns choose theirs (Llama 3: Dubey et al. 2024, 3.3.2; Jacobs et al. 2023,
  // DeepSpeed-Ulysses). Experts are those of rows with the same positions. Parts of causal
  // attention count as equal, as they are where frameworks deal out positions from both ends.
  std::int32_t context = 1;
  // What columns gather before a product, or scatter behind one, they exchange in so many pieces,
  // each while the product computes another: its time hides all but the first, or more where it is
  // shorter (Megatron-LM's --tp-comm-overlap; Wang et al. 2023, "Overlap communication with
  // dependent computation via decomposition in large deep learning models"). Just times change.
  std::int32_t pieces = 1;
  // Sequence parallelism (Korthikanti et al. 2022, section 4.2.2): what columns add up may be
  // scattered among them, so that each computes its positions of what is between two pairs of
  // products (norms, residuals). Without, sums are all-reduced, and each computes all of it.
  bool sequence = true;
  StateSharding states{};

  // Is none of them 0 or less, or no stage of ZeRO?
  bool is_sane() const;
  friend bool operator==(const MeshRoles&, const MeshRoles&) = default;
};

// Takes roles from the front of a text, and the colon behind them: "tensor:2:expert:4:zero:3",
// "zero:3:zero_rows:8:v100" (which leaves "v100"). Nothing: it begins with none. Throws InputError,
// of this place, where a role has no number.
std::optional<MeshRoles> take_roles(std::string_view& text, const std::string& place);

// ", tensor 4, expert 8, ZeRO 3 in 8 rows,"; nothing where there is none.
std::string describe(const MeshRoles& roles);

void add_to(Hasher& hasher, const MeshRoles& roles);  // nothing of what is not set

}  // namespace strato
