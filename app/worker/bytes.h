// Plain numbers packed into texts that ranks of one job and one version send each other.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/error.h"

namespace strato::worker {

template <class T>
requires std::is_trivially_copyable_v<T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Takes values off the front. `what`: named by the InputError when there is too little.
class Taker {
 public:
  Taker(std::string_view bytes, std::string what) : rest_(bytes), what_(std::move(what)) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T take() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view take(std::size_t size) {
    if (size > rest_.size())
      throw InputError(what_, "", "is cut off", "run the job again; its folder may be damaged");
    const std::string_view front = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return front;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  std::string what_;
};

}  // namespace strato::worker
