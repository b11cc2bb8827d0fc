// A small language that picks ops by what is known about them:
//
//   type == "Conv" and bytes > 4MB
//   name ~ "layer1" and not (phase == backward or time < 10us)
//   device == v100:0, and a word alone: "attention" (in the name or the type)
//
//   query      := and-part ("or" and-part)*              also "||"
//   and-part   := factor ("and" factor)*                 also "&&"
//   factor     := "not" factor | "(" query ")" | text | field operator value      also "!"
//   operator   := == != ~ !~ (texts), == != < <= > >= (quantities)                = is ==
//   text field := name type phase family group mode device
//   quantity   := bytes parameters (B kB MB GB TB, KiB MiB GiB TiB), time (ns us ms s),
//                 flops (k M G T P, with or without FLOP)
//
// Texts compare without regard to case of ASCII letters; ~ finds a part, in which * stands for
// anything. Pure values; safe from any thread.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace strato {

// The facts that a query may ask for about one op. Texts are borrowed.
struct QueriedOp {
  std::string_view name, type, phase, family, group, mode;
  std::vector<std::string_view> devices;  // those that compute it, and their device groups
  double bytes = 0;                       // of its outputs
  double parameters = 0;                  // bytes of the parameters that it reads
  double time = 0;                        // seconds
  double flops = 0;
};

// place(): "column 9"; problem() and remedy(): what is there, and what was expected.
class QueryError : public InputError {
 public:
  QueryError(std::size_t at, std::size_t length, std::string problem, std::string remedy);
  std::size_t at() const { return at_; }  // byte of the text, and how many are meant, at least 1
  std::size_t length() const { return length_; }

 private:
  std::size_t at_, length_;
};

using OpCondition = std::function<bool(const QueriedOp&)>;

class OpQuery {
 public:
  // Throws QueryError. Nothing but blanks: picks nothing.
  static OpQuery parse(std::string_view text);

  bool matches(const QueriedOp& facts) const { return condition_ && condition_(facts); }
  bool is_empty() const { return !condition_; }
  bool asks_for(std::string_view field) const {  // whether a comparison names it
    return std::ranges::find(fields_, field) != fields_.end();
  }

 private:
  OpCondition condition_;
  std::vector<std::string_view> fields_;  // that comparisons name
};

}  // namespace strato
