#include "core/strategy/value/schedule_csv.h"

#include <algorithm>

namespace strato {

std::string schedule_csv(const ScheduleTable& table) {
  std::string text;
  for (const std::string& row : schedule_rows(table)) text += row + "\n";
  std::ranges::replace(text, ' ', ',');
  return text;
}

}  // namespace strato
