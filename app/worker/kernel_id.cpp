#include "app/worker/kernel_id.h"

#include <fstream>

namespace strato::worker {

std::string kernel_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace strato::worker
