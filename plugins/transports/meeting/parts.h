// Parts of every transport: a job of one rank, and texts of all ranks at rank 0.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plugin/api/rank_engine.h"

namespace strato::admission {

// Nothing is left to wait for.
class Done final : public Pending {
 public:
  void wait() override {}
};

// A job of one rank: nobody to talk to.
class AloneTransport final : public Transport {
 public:
  using Bytes = std::span<std::byte>;
  std::unique_ptr<Pending> send(int, std::uint32_t, Bytes) override { return nobody(); }
  std::unique_ptr<Pending> receive(int, std::uint32_t, Bytes) override { return nobody(); }
  std::unique_ptr<Pending> all_reduce(std::span<const int>, std::uint32_t, DataType,
                                      std::vector<Bytes>) override {
    return std::make_unique<Done>();
  }
  std::unique_ptr<Pending> all_gather(std::span<const int>, std::uint32_t,
                                      std::vector<Bytes>) override {
    return std::make_unique<Done>();
  }
  std::unique_ptr<Pending> reduce_scatter(std::span<const int>, std::uint32_t, DataType,
                                          std::vector<Bytes>) override {
    return std::make_unique<Done>();
  }
  void barrier() override {}
  std::vector<std::string> gather(const std::string& text) override { return {text}; }

 private:
  [[noreturn]] static std::unique_ptr<Pending> nobody() { CHECK(false, "a job of one rank"); }
};

// A job of more ranks has a transport of this class.
template <class Many>
std::unique_ptr<Transport> make_transport(const Meeting& meeting) {
  if (meeting.ranks == 1) return std::make_unique<AloneTransport>();
  return std::make_unique<Many>(meeting);
}

// Moves bytes to a rank or from it and blocks until that is done; of no bytes, nothing happens.
using MoveBytes = std::function<void(int peer, std::span<std::byte> bytes, bool sends)>;

// By rank; on other ranks than 0 none. Every rank calls it. A text goes after its size.
inline std::vector<std::string> gather_texts(const Meeting& meeting, const std::string& own,
                                             const MoveBytes& move) {
  constexpr std::uint64_t kLongestText = std::uint64_t{1} << 32;  // bytes
  std::uint64_t size = own.size();
  std::string text = own;
  if (meeting.rank != 0) {
    move(0, std::as_writable_bytes(std::span(&size, 1)), true);
    move(0, std::as_writable_bytes(std::span(text)), true);
    return {};
  }
  std::vector<std::string> texts = {own};
  for (int rank = 1; rank < meeting.ranks; ++rank) {
    move(rank, std::as_writable_bytes(std::span(&size, 1)), false);
    CHECK(size < kLongestText, fmt::format("rank {} reports too much", rank));
    text.resize(size);
    move(rank, std::as_writable_bytes(std::span(text)), false);
    texts.push_back(text);
  }
  return texts;
}

}  // namespace strato::admission
