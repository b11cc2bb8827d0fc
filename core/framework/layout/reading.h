// What readers of frameworks' configurations have in common (internal to core/framework).
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/framework/layout/read_layout.h"

namespace strato::frameworks {

class Reading {
 protected:
  Reading(GivenArguments given, const Training& training)
      : training_(training), given_(std::move(given)) {}

  TrainingLayout& layout() { return read_.layout; }
  template <class... Values>
  void remark(fmt::format_string<Values...> text, Values&&... values) {
    read_.remarks.push_back(fmt::format(text, std::forward<Values>(values)...));
  }
  void remark_on_positions() {
    if (layout().context > 1)
      remark(
          "positions: here keys and values are gathered, or positions swapped for heads where that "
          "takes less");
  }
  ReadLayout finished() {
    read_.passed_over = given_.unread();
    return std::move(read_);
  }

  const Training& training_;
  GivenArguments given_;
  ReadLayout read_ = {};
};

}  // namespace strato::frameworks
