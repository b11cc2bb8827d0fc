#include "plugins/launchers/local/rank_process.h"

#include <utility>

namespace strato {

RankProcess start_rank(const std::vector<std::string>& arguments, const std::filesystem::path& log,
                       int output) {
  const Handle file = open_log(log);
  Pipe leash = Pipe::make();
  return {
      ChildProcess(arguments, {leash.read.get(), output >= 0 ? output : file.get(), file.get()}),
      std::move(leash.write),
      {}};
}

}  // namespace strato
