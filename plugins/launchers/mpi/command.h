// Makes the command line of mpirun for a staged job.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/plugin/api/launcher.h"

namespace strato::mpi {

const std::vector<std::pair<std::string, std::string>>& settings();

// Host names of a host file of Open MPI ("node1 slots=4 # old"), each once, in its order.
std::vector<std::string> hosts_in(const std::string& text);

// One line a rank, for mpirun's sequential mapping. Without hosts: this machine.
std::string host_of_each_rank(const LaunchRequest& request, const std::vector<std::string>& hosts);

// Writes mpi-hosts.txt into the job's folder. Throws InputError when the host file cannot be read
// or has no host.
std::vector<std::string> prepare(const LaunchRequest& request);

}  // namespace strato::mpi
