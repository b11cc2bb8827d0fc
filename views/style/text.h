// Names of the model and of its parts, which are UTF-8, as Qt has text.
#pragma once

#include <QString>
#include <string_view>

namespace strato {

inline QString text(std::string_view value) {
  return QString::fromUtf8(value.data(), static_cast<qsizetype>(value.size()));
}

}  // namespace strato
