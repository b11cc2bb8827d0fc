#include "plugins/transports/gloo/mesh.h"

#include <fmt/format.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/error.h"

namespace strato::gloo_transport {
namespace {

// The addresses of Gloo's ports, by way of the admitted connections. Gloo sets its own and then asks
// for all the others.
class AddressBook final : public gloo::rendezvous::Store {
 public:
  AddressBook(const Meeting& meeting, const Roster& roster) : meeting_(meeting), roster_(roster) {}

  void set(const std::string&, const std::vector<char>& data) override {
    own_.assign(data.begin(), data.end());
  }
  std::vector<char> get(const std::string& rank) override {
    if (!all_) all_ = exchange(meeting_, roster_, own_);
    std::size_t number = all_->size();
    std::from_chars(rank.data(), rank.data() + rank.size(), number);
    CHECK(number < all_->size(), "Gloo asks for something else than a rank's address");
    const std::string& address = (*all_)[number];
    return {address.begin(), address.end()};
  }
  void wait(const std::vector<std::string>&) override {}
  void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) override {}

 private:
  const Meeting& meeting_;
  const Roster& roster_;
  std::string own_;
  std::optional<std::vector<std::string>> all_;
};

std::shared_ptr<gloo::Context> connect(const Meeting& meeting, const Roster& roster) {
  gloo::transport::tcp::attr address(roster.address.c_str());
  auto device = gloo::transport::tcp::CreateDevice(address);
  auto context = std::make_shared<gloo::rendezvous::Context>(meeting.rank, meeting.ranks);
  // Gloo waits five times as long for a connection.
  context->setTimeout(std::max(meeting.timeout / 5, std::chrono::milliseconds(1)));
  AddressBook book(meeting, roster);
  context->connectFullMesh(book, device);
  context->setTimeout(meeting.timeout);
  return context;
}

[[noreturn]] void stranger(const Meeting& meeting, int rank, const std::string& problem) {
  throw InputError("", fmt::format("rank {} of {}", meeting.rank, meeting.ranks),
                   fmt::format("rank {} {}", rank, problem),
                   fmt::format("see the log of rank {}", rank));
}

void verify(const Meeting& meeting, const Roster& roster, gloo::Context& context) {
  const std::uint64_t slot = slot_of(Lane::Token, 0);
  std::vector<std::string> own = roster.tokens;
  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> sent(own.size());
  for (int peer = 0; peer < meeting.ranks; ++peer) {
    if (peer == meeting.rank) continue;
    const auto at = static_cast<std::size_t>(peer);
    sent[at] = context.createUnboundBuffer(own[at].data(), own[at].size());
    sent[at]->send(peer, slot);
  }
  for (int peer = 0; peer < meeting.ranks; ++peer) {
    if (peer == meeting.rank) continue;
    const auto at = static_cast<std::size_t>(peer);
    std::string token(own[at].size(), '\0');
    const auto buffer = context.createUnboundBuffer(token.data(), token.size());
    try {
      buffer->recv(peer, slot);
      buffer->waitRecv(meeting.timeout);
    } catch (const std::exception&) {
      stranger(meeting, peer, "does not answer");
    }
    if (!equal(token, own[at])) stranger(meeting, peer, "is not of this job");
  }
  for (int peer = 0; peer < meeting.ranks; ++peer) {
    if (peer == meeting.rank) continue;
    try {
      sent[static_cast<std::size_t>(peer)]->waitSend(meeting.timeout);
    } catch (const std::exception&) {
      stranger(meeting, peer, "does not answer");
    }
  }
}

}  // namespace

std::shared_ptr<gloo::Context> connect_all(const Meeting& meeting, const Roster& roster) {
  std::shared_ptr<gloo::Context> context;
  try {
    context = connect(meeting, roster);
    verify(meeting, roster, *context);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception&) {
    throw InputError("", fmt::format("rank {} of {}", meeting.rank, meeting.ranks),
                     "cannot connect to all other ranks",
                     "see their logs, and whether a firewall is between the machines");
  }
  return context;
}

}  // namespace strato::gloo_transport
