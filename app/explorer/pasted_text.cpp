#include "app/explorer/pasted_text.h"

#include <fmt/format.h>

#include <cctype>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/plugin/use/model_file.h"

namespace strato {
namespace {

constexpr const char* kGiveModel =
    "paste a model's config.json, or a command line with Megatron-LM's arguments of the model "
    "(--num-layers, --hidden-size, ...) or torchtitan's Llama 3 of 8B, 70B or 405B";

[[noreturn]] void refuse_pasted(std::string problem, std::string remedy = kGiveModel) {
  throw InputError("", "", std::move(problem), std::move(remedy));
}

bool begins_as_json(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

std::string text_at(const JsonView& root, const char* name) {
  const auto value = root.find(name);
  return value && value->is_string() ? value->string() : std::string();
}

// What follows the last slash, as the name of a file.
std::string plain_file_name(const std::string& name) {
  constexpr std::size_t kLongestName = 64;
  std::string plain;
  for (const char c : name.substr(name.rfind('/') + 1))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
        (c == '.' && !plain.empty()))
      plain += c;
  return plain.empty() ? "model" : plain.substr(0, kLongestName);
}

std::string name_in(const JsonView& config) {
  const std::string given = text_at(config, "_name_or_path");
  return given.empty() ? text_at(config, "model_type") : given;
}

}  // namespace

void check_pasted_size(std::size_t bytes) {
  if (bytes > kMostPasted)
    refuse_pasted(fmt::format("The text has {:.1f} MB", static_cast<double>(bytes) / 1e6),
                  "at most 1 MB can be pasted: open it as a file");
}

PastedText read_pasted(const std::string& text) {
  check_pasted_size(text.size());
  if (begins_as_json(text)) {
    const JsonView root = JsonView::parse(text, "");
    if (describes_model(root)) return {text, plain_file_name(name_in(root)), {}};
    if (const std::string format = text_at(root, "format"); !format.empty())
      refuse_pasted(fmt::format("This is a file of the format {}", format),
                    "save it, and open the file");
  }
  auto job = frameworks::training_job(text, "");
  if (!job) refuse_pasted("The text describes no model");
  if (!job->model)
    refuse_pasted(fmt::format("{}: the text leaves the model to the program", job->framework));
  std::string name = plain_file_name(job->model->name);
  return {text, std::move(name), std::move(job)};
}

std::filesystem::path keep_pasted(const PastedText& pasted, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);  // writing tells what is wrong
  const char* extension = pasted.job ? ".sh" : ".json";
  for (int number = 1;; ++number) {
    const std::string name = number == 1 ? pasted.name : fmt::format("{}-{}", pasted.name, number);
    std::filesystem::path file = folder / (name + extension);
    if (!std::filesystem::exists(file, error)) {
      write_file(file, pasted.text);
      return file;
    }
    if (std::filesystem::file_size(file, error) == pasted.text.size() &&
        read_file(file, kMostPasted) == pasted.text)
      return file;
  }
}

}  // namespace strato
