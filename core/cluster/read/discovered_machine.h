// One machine's report as an entry of a cluster file. Private to this folder.
#pragma once

#include <set>
#include <string>

#include "core/cluster/read/discovered_cluster.h"
#include "core/cluster/read/discovered_types.h"
#include "core/cluster/spec/cluster_spec.h"

namespace strato {

// `name`: of the machine.
MachineSpec discovered_machine(const MachineReport& report, const std::string& name,
                               const DiscoveryText& text, DiscoveredTypes& types);

// A name that the file may have, and that is not in `taken`: adds it there.
std::string machine_name_of(const std::string& host, std::set<std::string>& taken);

}  // namespace strato
