// Data parallelism over oneTBB, behind one function so that its headers stay in one file.
#pragma once

#include <cstddef>
#include <functional>

namespace strato {

// Calls body(i) once for every i in [0, count), on at most `threads` threads (0: one per core).
// Returns when all calls have ended; the first exception is rethrown. Order is unspecified, so
// body(i) writes only what belongs to i.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& body);

}  // namespace strato
