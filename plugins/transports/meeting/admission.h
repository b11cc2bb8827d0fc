// Admits ranks to a job: before a rank opens anything of a transport's, it presents the job's
// secret at rank 0, on a connection that stays open until the end and tells when a rank dies.
//
// The means to connect a transport (ports, a fresh random token for each pair of ranks, NCCL's
// unique id) are handed out on the admitted connections only.
//
// This excludes others who can reach the ports: other users of the machines, other jobs, port
// scanners, a stale worker of an earlier job. It does not hide or sign what is sent: whoever reads
// or alters the traffic between the machines sees the secret and the data. Use it on a network that
// you trust, or through a tunnel.
#pragma once

#include <string>
#include <vector>

#include "core/plugin/api/rank_engine.h"
#include "plugins/transports/meeting/socket.h"

namespace strato::admission {

struct Roster {
  std::string address;              // on which the others reach this rank
  std::vector<Socket> connections;  // rank 0: by rank, its own not open; others: to rank 0 alone
  std::vector<std::string> tokens;  // by rank: of the pair of it and this rank
};

// Blocks until all ranks are there. Throws InputError: the port is taken, rank 0 does not answer
// within the timeout, ranks that did not come (by number), the secret is refused.
Roster admit(const Meeting& meeting);

// All ranks' texts, by rank; every rank calls it.
std::vector<std::string> exchange(const Meeting& meeting, const Roster& roster,
                                  const std::string& own);

// Both throw InputError of this rank, the second about another one.
[[noreturn]] void refuse(const Meeting& meeting, const std::string& problem,
                         const std::string& remedy);
[[noreturn]] void refuse_rank(const Meeting& meeting, int rank, const std::string& problem);

// Takes as long for texts that differ early as for equal ones.
bool equal(const std::string& a, const std::string& b);

}  // namespace strato::admission
