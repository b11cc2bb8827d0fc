#include "plugins/transports/gloo/mesh.h"

#include <fmt/format.h>
#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>

#include "core/base/error.h"

namespace strato::gloo_transport {
namespace {

using admission::equal;
using admission::exchange;
using admission::packed;
using admission::unpacked;

// Gloo's own way to meet asks a store that all ranks reach: here the admitted connections are one.
class Mesh final : public gloo::Context {
 public:
  Mesh(const Meeting& meeting, const Roster& roster) : gloo::Context(meeting.rank, meeting.ranks) {
    const gloo::transport::tcp::attr address(roster.address.c_str());
    device_ = gloo::transport::tcp::CreateDevice(address);
    transportContext_ = device_->createContext(meeting.rank, meeting.ranks);
    // All listen by now. Gloo waits five times as long for a connection.
    const auto most = std::min(meeting.connect, meeting.timeout);
    transportContext_->setTimeout(std::max(most / 5, std::chrono::milliseconds(1)));
    const std::vector<std::string> ports = exchange(meeting, roster, packed(own_ports()));
    for (int peer = 0; peer < size; ++peer) {
      if (peer != rank) connect(peer, unpacked(ports.at(static_cast<std::size_t>(peer))));
    }
    transportContext_->setTimeout(meeting.patience());
    setTimeout(meeting.patience());
  }

 private:
  // Returns, for each peer, the address where this rank waits for it.
  std::vector<std::string> own_ports() {
    std::vector<std::string> ports(static_cast<std::size_t>(size));
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const std::vector<char> bytes = transportContext_->createPair(peer)->address().bytes();
      ports[static_cast<std::size_t>(peer)].assign(bytes.begin(), bytes.end());
    }
    return ports;
  }

  void connect(int peer, const std::vector<std::string>& theirs) {
    const std::string& port = theirs.at(static_cast<std::size_t>(rank));
    transportContext_->getPair(peer)->connect({port.begin(), port.end()});
  }
};

// Leaves out where in Gloo's sources an error comes from.
std::string reason_of(const std::exception& error) {
  const std::string text = error.what();
  const std::size_t place = text.find("] ");
  return text.substr(text.starts_with('[') && place != std::string::npos ? place + 2 : 0);
}

[[noreturn]] void refuse_peer(const Meeting& meeting, int rank, const std::string& problem) {
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
      refuse_peer(meeting, peer, "does not answer");
    }
    if (!equal(token, own[at])) refuse_peer(meeting, peer, "is not of this job");
  }
  for (int peer = 0; peer < meeting.ranks; ++peer) {
    if (peer == meeting.rank) continue;
    try {
      sent[static_cast<std::size_t>(peer)]->waitSend(meeting.timeout);
    } catch (const std::exception&) {
      refuse_peer(meeting, peer, "does not answer");
    }
  }
}

}  // namespace

std::shared_ptr<gloo::Context> connect_all(const Meeting& meeting, const Roster& roster) {
  std::shared_ptr<gloo::Context> context;
  try {
    context = std::make_shared<Mesh>(meeting, roster);
    verify(meeting, roster, *context);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError("", fmt::format("rank {} of {}", meeting.rank, meeting.ranks),
                     "cannot connect to all other ranks: " + reason_of(error),
                     "see their logs, and whether a firewall is between the machines");
  }
  return context;
}

}  // namespace strato::gloo_transport
