#include "plugins/transports/meeting/texts.h"

#include <fmt/format.h>

#include <cstdint>

#include "core/base/error.h"

namespace strato::admission {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;

template <class T>
std::span<std::byte> bytes_of(std::span<T> elements) {
  return std::as_writable_bytes(elements);
}

std::string receive_text(int rank, const MoveBytes& receive) {
  std::uint64_t size = 0;
  receive(rank, bytes_of(std::span(&size, 1)));
  CHECK(size < kMostBytes, fmt::format("rank {} reports too much", rank));
  std::string text(size, '\0');
  receive(rank, bytes_of(std::span(text)));
  return text;
}

}  // namespace

std::vector<std::string> gather_texts(const Meeting& meeting, const std::string& own,
                                      const MoveBytes& send, const MoveBytes& receive) {
  std::vector<std::string> texts;
  if (meeting.rank != 0) {
    std::uint64_t size = own.size();
    std::string text = own;
    send(0, bytes_of(std::span(&size, 1)));
    send(0, bytes_of(std::span(text)));
    return texts;
  }
  texts.push_back(own);
  for (int rank = 1; rank < meeting.ranks; ++rank) texts.push_back(receive_text(rank, receive));
  return texts;
}

}  // namespace strato::admission
