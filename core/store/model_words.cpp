#include "core/store/model_words.h"

#include <fmt/format.h>

#include "core/io/json.h"

namespace strato {

std::string words_of(const StoredModel& model) {
  const Json options = Json::parse(model.options, nullptr, false);
  std::string words = model.name;
  if (!options.is_object()) return words;
  const auto text = [&](const char* key) {
    const auto found = options.find(key);
    return found != options.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const auto batch = options.find("batch"), training = options.find("training");
  if (batch != options.end() && batch->is_number_integer())
    words += fmt::format(", batch {}", batch->get<std::int64_t>());
  if (const std::string precision = text("precision"); !precision.empty())
    words += ", " + precision;
  if (training != options.end() && training->is_boolean() && !training->get<bool>())
    return words + ", inference";
  const std::string optimizer = text("optimizer");
  if (!optimizer.empty() && optimizer != "adam") words += ", " + optimizer;
  return words;
}

}  // namespace strato
