// All-gather and reduce-scatter around a ring: every member sends to its next one only, n - 1 times
// a piece, so that each link carries what the cost of a ring says, and all links do so at once.
// Direct messages between all of them move no less, and get into each other's way.
#pragma once

#include <gloo/context.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato::gloo_transport {

// ---- element-wise sums, also for Gloo's own collectives

// to = a + b, for so many elements; `to` may be `a` or `b`. Halves are added as floats and rounded
// to the nearest, ties to even.
using SumFunction = std::function<void(void* to, const void* a, const void* b, std::size_t)>;

// Throws InputError for a type that nothing sums (Bool).
SumFunction sum_of(DataType type);

// ---- the ring

// A ring has the members of one collective, and what tells their messages apart.
struct Ring {
  gloo::Context& context;
  const std::vector<int>& members;  // ranks
  std::size_t own;                  // this rank's place among them
  std::uint64_t slot;               // the low 8 bits are free
  std::chrono::milliseconds timeout;
};

// Both block, and throw what Gloo throws. `pieces`: one a member, some may be empty.
void ring_all_gather(const Ring& ring, std::span<const std::span<std::byte>> pieces);
// Adds into the pieces: our own one is whole in the end, the others are in between. The order of
// the additions depends on the members alone: the same bits in every run.
void ring_reduce_scatter(const Ring& ring, std::span<const std::span<std::byte>> pieces,
                         const SumFunction& sum, std::size_t element_size);

}  // namespace strato::gloo_transport
