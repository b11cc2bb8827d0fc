// What the tests of the whole window share.
#pragma once

#include <QString>
#include <string>

#include "tests/paths.h"

namespace strato {

constexpr int kPatience = 60'000;  // ms

// A bundled file: sample("models/lenet.onnx").
inline QString sample(const char* name) {
  return QString::fromStdString(std::string(kSourceFolder) + "/sample_graphs/" + name);
}

}  // namespace strato
