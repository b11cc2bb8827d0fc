#include "plugins/transports/meeting/parts.h"

#include <fmt/format.h>

#include <cstdint>

namespace strato::admission {
namespace {

constexpr std::uint64_t kLongestText = std::uint64_t{1} << 32;  // bytes

std::string receive_text(int rank, const MoveBytes& receive) {
  std::uint64_t size = 0;
  receive(rank, std::as_writable_bytes(std::span(&size, 1)));
  CHECK(size < kLongestText, fmt::format("rank {} reports too much", rank));
  std::string text(size, '\0');
  receive(rank, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace

std::vector<std::string> gather_texts(const Meeting& meeting, const std::string& own,
                                      const MoveBytes& send, const MoveBytes& receive) {
  std::vector<std::string> texts;
  if (meeting.rank != 0) {
    std::uint64_t size = own.size();
    std::string text = own;
    send(0, std::as_writable_bytes(std::span(&size, 1)));
    send(0, std::as_writable_bytes(std::span(text)));
    return texts;
  }
  texts.push_back(own);
  for (int rank = 1; rank < meeting.ranks; ++rank) texts.push_back(receive_text(rank, receive));
  return texts;
}

}  // namespace strato::admission
