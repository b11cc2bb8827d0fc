#include "app/cli/throughput/throughput_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/base/quantity_text.h"

namespace strato::cli {
namespace {

constexpr const char* kWrite =
    "write seconds (\"1.93 s\", \"850 ms\"), \"52300 tokens/s\", \"5762 tokens/s/GPU\", "
    "\"12 samples/s\", \"410 TFLOP/s\" (of a GPU) or \"41 % MFU\"";

[[noreturn]] void refuse_figure(const std::string& text, const std::string& problem) {
  throw InputError("", "--measured", fmt::format("\"{}\" {}", text, problem), kWrite);
}

// In small letters, without blanks and the commas between thousands.
std::string squeezed(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != ',')
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

struct FigureUnit {
  std::string_view name;
  double (*seconds)(double value, const StepWork& work);
};
double by_tokens(double value, const StepWork& work) {
  return static_cast<double>(work.tokens) / value;
}
double by_tokens_of_gpu(double value, const StepWork& work) {
  return by_tokens(value, work) / static_cast<double>(work.devices);
}
double by_samples(double value, const StepWork& work) {
  return static_cast<double>(work.samples) / value;
}
double by_tera(double value, const StepWork& work) {
  return work.flops / (value * 1e12 * static_cast<double>(work.devices));
}
double by_use(double value, const StepWork& work) { return work.flops / (value / 100 * work.peak); }
constexpr std::array kUnits = {
    FigureUnit{"s", [](double value, const StepWork&) { return value; }},
    FigureUnit{"ms", [](double value, const StepWork&) { return value * 1e-3; }},
    FigureUnit{"s/step", [](double value, const StepWork&) { return value; }},
    FigureUnit{"ms/step", [](double value, const StepWork&) { return value * 1e-3; }},
    FigureUnit{"tokens/s", by_tokens},
    FigureUnit{"tokens/s/gpu", by_tokens_of_gpu},
    FigureUnit{"tokens/gpu/s", by_tokens_of_gpu},
    FigureUnit{"samples/s", by_samples},
    FigureUnit{"tflop/s", by_tera},
    FigureUnit{"tflops", by_tera},
    FigureUnit{"tflop/s/gpu", by_tera},
    FigureUnit{"tflops/gpu", by_tera},
    FigureUnit{"%mfu", by_use},
    FigureUnit{"%", by_use}};

}  // namespace

double step_seconds(const std::string& text, const StepWork& work) {
  const std::string figure = squeezed(text);
  const std::size_t end = figure.find_first_not_of("0123456789.e+-");
  // "1e-3s": the unit begins behind the exponent; "1.5e" is none.
  const auto number = number_from<double>(std::string_view(figure).substr(0, end), 1e-9, 1e18);
  if (!number) refuse_figure(text, "does not begin with a number above zero");
  const std::string_view name =
      end == std::string::npos ? "" : std::string_view(figure).substr(end);
  const auto* unit = std::ranges::find(kUnits, name, &FigureUnit::name);
  if (unit == kUnits.end())
    refuse_figure(text, name.empty() ? "has no unit" : "has a unit that is not known");
  if (name.starts_with("tokens") && work.tokens == 0)
    refuse_figure(text, "is of tokens, and the model's samples are none");
  const double seconds = unit->seconds(*number, work);
  if (!std::isfinite(seconds) || seconds <= 0 || seconds > 1e9)
    refuse_figure(text, "is no step that anybody has waited for");
  return seconds;
}

std::string throughput_text(double seconds, const StepWork& work) {
  const auto devices = static_cast<double>(work.devices);
  std::string text;
  if (work.tokens > 0)
    text += fmt::format("{} tokens/s/GPU, ",
                        significant_text(static_cast<double>(work.tokens) / seconds / devices, 4));
  else
    text += fmt::format("{} samples/s, ",
                        significant_text(static_cast<double>(work.samples) / seconds, 4));
  return text + fmt::format("{} TFLOP/s/GPU, {} MFU",
                            significant_text(work.flops / seconds / devices * 1e-12),
                            percent_text(work.flops / seconds / work.peak));
}

}  // namespace strato::cli
