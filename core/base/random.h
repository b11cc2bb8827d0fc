// Random numbers that are the same on every machine: the engine is fixed by the C++ standard, the
// distributions are ours (the standard's are not portable). One object per thread.
#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <utility>

namespace strato {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }
  // Uniform in [0, bound); bound > 0. Multiply-shift: the bias is below 2^-32 for bounds below
  // 2^32.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(engine_()) * bound) >> 64);
  }
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }  // in [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  // An index, as often as its weight says; weights are not negative, and not all 0.
  std::size_t weighted(std::span<const double> weights) {
    double rest = uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t i = 0; i + 1 < weights.size(); ++i)
      if ((rest -= weights[i]) < 0) return i;
    return weights.size() - 1;
  }

  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace strato
