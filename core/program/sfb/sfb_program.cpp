#include "core/program/sfb/sfb_program.h"

#include <algorithm>
#include <cstddef>

namespace strato {

double objective(const SfbProgram& program, const SfbChoice& choice) {
  double sum = 0;
  for (std::size_t i = 0; i < program.time.size(); ++i)
    if (choice[i]) sum += program.time[i];
  for (const SfbTensor& tensor : program.tensors) {
    if (tensor.maker >= 0 && choice[static_cast<std::size_t>(tensor.maker)]) continue;
    const bool read = std::ranges::any_of(
        tensor.readers, [&](int reader) { return choice[static_cast<std::size_t>(reader)] != 0; });
    if (read) sum += tensor.cost;
  }
  return choice[SfbProgram::kGradient] ? sum - program.gain : sum;
}

bool is_feasible(const SfbProgram& program, const SfbChoice& choice) {
  std::vector<char> wanted(program.time.size(), 0);
  wanted[SfbProgram::kUpdate] = 1;
  wanted[SfbProgram::kGradient] = choice[SfbProgram::kUpdate];
  for (const SfbTensor& tensor : program.tensors)
    for (const int reader : tensor.readers)
      if (tensor.maker >= 0 && choice[static_cast<std::size_t>(reader)])
        wanted[static_cast<std::size_t>(tensor.maker)] = 1;
  for (std::size_t i = 0; i < choice.size(); ++i)
    if (choice[i] && !wanted[i]) return false;
  return true;
}

}  // namespace strato
