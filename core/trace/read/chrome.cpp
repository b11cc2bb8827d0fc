#include "core/trace/read/chrome_reader.h"
#include "core/trace/read/formats.h"

namespace strato::trace {

Trace read_chrome(const std::filesystem::path& file) {
  ChromeReader reader(file.string());
  const ReadingEnd end = read_records(
      file, [&](std::string_view section, const Record& record) { reader.take(section, record); });
  return reader.finish(end);
}

}  // namespace strato::trace
