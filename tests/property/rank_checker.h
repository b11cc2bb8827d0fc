// Looks at rank programs with nothing but their own rows.
#pragma once

#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/program/rank/rank_program.h"

namespace strato {

// Empty, or the first thing that is wrong: two instructions that touch the same memory, one of them
// changing it, while neither is known to have ended when the other starts; a value that is read
// before it is written, or not released just once after its last use; a trained parameter that
// nobody updates.
std::string problem_of(const RankPrograms& programs, std::size_t rank);

// Executes the ranks, every instruction blocking what is behind it until it is done: a send until
// it meets its receive, a collective until all members are at it. False when they get stuck.
enum class Behind {
  InOrder,  // what is computed, or all that communicates
  OnStream
};
bool ends_when_blocking(const RankPrograms& programs, Behind behind = Behind::InOrder);

// The same instructions in another order, without those that `order` leaves out.
RankProgram reordered(const RankProgram& program, const std::vector<std::size_t>& order);
// Two instructions of a rank swapped (near ones mostly), one left out, or one sent elsewhere or put
// on another stream.
RankPrograms tampered(const RankPrograms& programs, Random& random);

}  // namespace strato
