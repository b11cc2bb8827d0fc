// Usage errors in one line, with the nearest name there is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace strato::cli {

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error, int argc,
                          const char* const* argv);

// The known name with the fewest typing errors from `word`; empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace strato::cli
