// This settles all of the transport that needs no GPU: in which order pairs of ranks get their
// channels, how wide these are, which network interface NCCL may use, and how it names element
// types.
#pragma once

#include <nccl.h>

#include <string>

#include "core/graph/value/graph.h"

namespace strato::nccl_transport {

// Every rank meets every other one in exactly one of so many rounds, and each round's pairs have no
// rank in common (a tournament by the circle method).
int round_count(int ranks);
// Whom this rank meets in the round; -1: nobody.
int partner_in(int round, int rank, int ranks);

// Blocks of the GPU that one channel between two ranks may use: all of them together at most half
// of the multiprocessors, so that a kernel that waits for its peer never keeps another from
// starting.
int blocks_of_channel(int ranks, int multiprocessors);

// The name of the interface with this numeric address, "eth0"; empty: none has it.
std::string interface_with(const std::string& address);

// Throws InputError for a type that NCCL does not sum (Bool, I16).
ncclDataType_t sum_type_of(DataType type);

}  // namespace strato::nccl_transport
