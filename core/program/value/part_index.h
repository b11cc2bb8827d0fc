// Gives the parts of a program their ids, each one once. Asked for every buffer that lowering
// writes, so the parts with one range of samples are found without hashing the whole part. Not
// thread safe.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "core/program/value/program.h"

namespace strato {

class PartIndex {
 public:
  // From here on ids are of this program, which has no part yet but the whole.
  void start(Program& program) {
    program_ = &program;
    program.parts.assign(1, Part());
    ids_ = {{Part(), kWhole}};
    recent_.fill(Recent());
  }
  PartId find(const Part& part) {
    const auto [at, fresh] = ids_.try_emplace(part, program_->parts.next_id());
    if (fresh) program_->parts.push_back(part);
    return at->second;
  }
  PartId samples(std::int32_t begin, std::int32_t end) { return recent(begin, end, false); }
  PartId partial_sum(std::int32_t begin, std::int32_t end) { return recent(begin, end, true); }

 private:
  struct Recent {
    std::int32_t begin = -1, end = -1;
    bool partial_sum = false;
    PartId id;
  };
  PartId recent(std::int32_t begin, std::int32_t end, bool partial_sum) {
    Recent& known = recent_[(static_cast<std::uint32_t>(begin) * 31 +
                             static_cast<std::uint32_t>(end) * 2 + partial_sum) %
                            kRecent];
    if (known.begin != begin || known.end != end || known.partial_sum != partial_sum)
      known = {begin, end, partial_sum,
               find(partial_sum ? Part::partial_sum(begin, end) : Part::samples(begin, end))};
    return known.id;
  }

  static constexpr std::size_t kRecent = 256;
  Program* program_ = nullptr;
  std::unordered_map<Part, PartId, PartHash> ids_;
  std::array<Recent, kRecent> recent_;
};

}  // namespace strato
