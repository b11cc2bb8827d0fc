#include "plugins/launchers/mpi/command.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/plugin/use/launch_request.h"

namespace strato::mpi {
namespace {

constexpr const char* kHosts = "mpi-hosts.txt";

// mpirun maps ranks to this machine only by its own name.
std::string this_machine() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

std::vector<std::string> hosts_of(const LaunchRequest& request) {
  const std::string file = setting_of(request, "hostfile");
  if (file.empty()) return {};
  const std::vector<std::string> hosts = hosts_in(read_file(file));
  if (hosts.empty()) throw InputError(file, "", "names no host", "write one a line: node1 slots=4");
  return hosts;
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& settings() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"hostfile", "hosts, one a line, in the order of the plan's machines; else this machine"},
      {"plm_rsh_agent", "how hosts are reached: ssh -p 2222 -i key"},
      {"interface", "network that ranks use: ib0, eth0, or an address"},
  };
  return all;
}

std::vector<std::string> hosts_in(const std::string& text) {
  std::vector<std::string> hosts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string host;
    if (!(words >> host)) continue;
    if (is_this_machine(host)) host = this_machine();
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  }
  return hosts;
}

std::string host_of_each_rank(const LaunchRequest& request, const std::vector<std::string>& hosts) {
  std::string text;
  for (const int node : nodes_of(request, std::max<int>(1, static_cast<int>(hosts.size()))))
    text += (hosts.empty() ? this_machine() : hosts[static_cast<std::size_t>(node)]) + "\n";
  return text;
}

std::vector<std::string> prepare(const LaunchRequest& request) {
  const std::vector<std::string> hosts = hosts_of(request);
  write_file(request.folder / kHosts, host_of_each_rank(request, hosts));
  std::vector<std::string> result = {"mpirun",   "-np",        std::to_string(request.ranks),
                                     "--map-by", "seq",        "--bind-to",
                                     "none",     "--hostfile", (request.folder / kHosts).string()};
  const auto add = [&](std::initializer_list<std::string> more) {
    result.insert(result.end(), more.begin(), more.end());
  };
  if (::geteuid() == 0) add({"--allow-run-as-root"});
  if (const std::string agent = setting_of(request, "plm_rsh_agent"); !agent.empty())
    add({"--mca", "plm_rsh_agent", agent});
  add({request.worker.string(), "--job", request.folder.string(), "--leash"});
  std::string interface = setting_of(request, "interface");
  if (interface.empty() && hosts.empty()) interface = "127.0.0.1";
  if (!interface.empty()) add({"--interface", interface});
  return result;
}

}  // namespace strato::mpi
