// Inside core/trace only: the objects of a JSON text one after the other, however long it is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/trace/text/record.h"

namespace strato::trace {

// Where and why reading came to its end.
struct ReadingEnd {
  std::size_t records = 0;
  bool whole = true;       // the text is valid JSON from its beginning to its end
  bool cut_short = false;  // it ends too soon; otherwise, if not whole, it is wrong at `at`
  bool in_record = false;  // inside an object, which was not handed over
  std::size_t at = 0;      // bytes into the text, as it was mended
  std::size_t mended = 0;  // places (CleanText)
};

// Calls take(section, record) for
//   each object in the text's list (section "") or in a list of its object ("traceEvents"),
//   each object of its object ("distributedInfo"), as one record, and
//   each other value of its object (section ""), as a record of one value.
// Throws InputError for a file that cannot be read, and what `take` throws.
using TakeRecord = std::function<void(std::string_view section, const Record& record)>;
ReadingEnd read_records(const std::filesystem::path& file, const TakeRecord& take);

}  // namespace strato::trace
