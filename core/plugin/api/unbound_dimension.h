// Importers throw this where a model has a dimension without an extent and nobody said one: it can
// be asked for. As an InputError it is one line like all others.
#pragma once

#include <string>
#include <utility>

#include "core/base/error.h"

namespace strato {

class UnboundDimension : public InputError {
 public:
  UnboundDimension(std::string file, std::string place, std::string input, int axis,
                   const std::string& symbol)
      : InputError(std::move(file), std::move(place),
                   "the symbolic dimension \"" + symbol + "\" is not bound",
                   "give it with --set-dim " + symbol + "=N"),
        input_(std::move(input)),
        symbol_(symbol),
        axis_(axis) {}

  const std::string& input() const { return input_; }
  const std::string& symbol() const { return symbol_; }
  int axis() const { return axis_; }  // of the input, counted from 0

 private:
  std::string input_, symbol_;
  int axis_;
};

}  // namespace strato
