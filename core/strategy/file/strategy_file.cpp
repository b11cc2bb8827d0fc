#include "core/strategy/file/strategy_file.h"

#include "core/io/file.h"
#include "core/strategy/file/strategy_json.h"

namespace strato {

std::string strategy_json(const NamedStrategy& strategy) {
  Json json = {{"format", "stratoscope-strategy"}, {"version", 1}};
  add_strategy(json, strategy);
  return json_text(json, 2) + "\n";
}

void write_strategy(const std::filesystem::path& file, const NamedStrategy& strategy) {
  write_file(file, strategy_json(strategy));
}

NamedStrategy parse_strategy(std::string_view json, const std::string& file) {
  const JsonView root = JsonView::parse(json, file);
  root.expect_format("stratoscope-strategy", 1);
  root.allow_only({"format", "version", "note", "bucket_bytes", "groups", "duplicated", "splits",
                   "variables", "order"});
  return strategy_from_json(root);
}

NamedStrategy read_strategy(const std::filesystem::path& file) {
  return parse_strategy(read_file(file), file.string());
}

}  // namespace strato
