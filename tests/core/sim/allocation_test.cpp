// A simulator and a timeline that are used again allocate nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/core/program/toy.h"

namespace {
std::atomic<long> allocations = 0;
}

#pragma GCC diagnostic ignored \
    "-Wmismatched-new-delete"  // new and free are inlined into each other

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace strato {
namespace {

TEST(Allocation, NoneInTheSteadyState) {
  toy::Bench bench(toy::training_chain(4, 20, 8), toy::cluster(2, 2));
  const auto program = bench.lower(bench.everywhere(Mode::ReplicateAllReduce, {0, 1, 2, 3}));
  auto other = std::make_shared<Program>(*program);
  other->tasks.front().priority = 1;  // simulated by events
  Simulator simulator;
  Timeline timeline;
  const SimulateOptions exclusive, fair = {.priorities = false, .fair_links = true};
  for (int i = 0; i < 5; ++i) {
    const long before = allocations;
    simulator.simulate(program, exclusive, timeline);
    const long fifo = allocations;
    simulator.simulate(other, exclusive, timeline);
    const long events = allocations;
    simulator.simulate(program, fair, timeline);
    if (i < 2) continue;  // arrays grow
    EXPECT_EQ(fifo - before, 0);
    EXPECT_EQ(events - fifo, 0);
    EXPECT_EQ(allocations - events, 0);
  }
}

}  // namespace
}  // namespace strato
